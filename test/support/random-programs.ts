// Random bpftrace programs for the differential suite: well-typed, bounded, and with a result that depends on nothing but
// the script and its arguments. A program is a tree of statements, so that a failing one can be made smaller.

import { Random } from "./random.ts";
import {
  aggregateMaps, arithmetic, comparisons, composites, integerTypes, members, negatives, numbers, plainMaps, words, type Kind, type MapShape,
} from "./random-shapes.ts";

/** Statements with their texts in between: `["if (x) {", [ … ], "} else {", [ … ], "}"]`. */
export interface Piece { readonly parts: readonly (string | readonly Piece[])[] }

export interface RandomProgram {
  readonly pieces: readonly Piece[];
  /** Events come from a loop over a map, in whatever order the map has. */
  readonly unordered: boolean;
}

interface LocalVariable { readonly name: string; readonly kind: Kind; readonly fixed: boolean }
interface ScriptFunction { readonly name: string; readonly parameters: readonly ("int" | "string")[]; readonly result: "int" | "string" | "bool" }

/** What an expression may do. In a loop over a map nothing may depend on the order of its rounds. */
interface Leaves { readonly variables: readonly LocalVariable[] }

const piece = (...parts: (string | readonly Piece[])[]): Piece => ({ parts });

export function randomProgram(seed: number): RandomProgram {
  return new ProgramWriter(seed).program();
}

class ProgramWriter {
  readonly #random: Random;
  readonly #scopes: LocalVariable[][] = [];
  readonly #functions: ScriptFunction[] = [];
  readonly #used = new Set<MapShape>();
  #names = 0;
  #unordered = false;
  #inFunction = false;
  /** Inside of a loop over a map, only what `#leaves` has is read, and nothing is changed by an expression. */
  #leaves: Leaves | undefined;
  #loops = 0;
  #nesting = 0;
  /** Statements left to write: keeps programs within what the verifier can follow. */
  #budget: number;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#budget = this.#random.between(3, 16);
  }

  program(): RandomProgram {
    const random = this.#random;
    const functions: Piece[] = [];
    for (let i = random.chance(0.3) ? random.between(1, 2) : 0; i > 0; i--) functions.push(this.#function());
    this.#scopes.push([]);
    const predicate = random.chance(0.1) ? `/${this.#bool(2)}/ ` : "";
    const body = this.#statements(random.between(2, 8));
    const looked = this.#look();
    // Types come from assignments: each map has one that never runs.
    this.#leaves = { variables: [] };
    const setup = piece("if (arg5 == 24301) {", [...this.#used].map((map) => piece(this.#mapStore(map, 0))), "}");
    return {
      pieces: [
        piece("config = { max_map_keys=256; max_strlen=64 }"), ...functions,
        piece(`rawtracepoint:differential ${predicate}{`, [...body, ...looked, setup], "}"),
      ],
      unordered: this.#unordered,
    };
  }

  /** What became of the variables. */
  #look(): Piece[] {
    return this.#visible().filter(({ fixed }) => !fixed).slice(0, 6).map(({ name, kind }, i) => (
      kind === "int" || kind === "bool" ? piece(`@end_${kind}[${i}] = ${name};`) : piece(`print(${name});`)));
  }

  // ── names ──

  #visible(): LocalVariable[] { return this.#leaves === undefined ? this.#scopes.flat() : [...this.#leaves.variables]; }

  #variable(kind: Kind): string | undefined {
    const found = this.#visible().filter((v) => v.kind === kind);
    return found.length > 0 ? this.#random.pick(found).name : undefined;
  }

  #assignable(kind: Kind): string | undefined {
    const found = this.#scopes.flat().filter((v) => v.kind === kind && !v.fixed);
    return found.length > 0 ? this.#random.pick(found).name : undefined;
  }

  #newVariable(kind: Kind, fixed = false): string {
    const name = `$${{ int: "i", bool: "b", string: "s", pair: "p", labelled: "l", nested: "t", record: "r" }[kind]}${this.#names++}`;
    this.#scopes.at(-1)?.push({ name, kind, fixed });
    return name;
  }

  #mapOf(choose: (map: MapShape) => boolean, from: readonly MapShape[] = plainMaps): MapShape {
    // Maps that are there already are met again, more often than not.
    const known = [...this.#used].filter((map) => from.includes(map) && choose(map));
    const map = known.length > 0 && this.#random.chance(0.7) ? this.#random.pick(known) : this.#random.pick(from.filter(choose));
    this.#used.add(map);
    return map;
  }

  #access(map: MapShape, depth = 1): string {
    return map.keys.length === 0 ? map.name : `${map.name}[${this.#keys(map, depth)}]`;
  }

  #keys(map: MapShape, depth: number): string {
    return map.keys.map((kind) => this.#key(kind, depth)).join(", ");
  }

  /** Few different ones, so that they meet. */
  #key(kind: Kind, depth: number): string {
    const random = this.#random;
    if (kind === "int") {
      if (random.chance(0.4)) return random.pick(["0", "1", "2", "-1", "255", "(uint8)1", "(int8)255", "4294967295"]);
      return `(${this.#int(depth)}) & ${random.pick(["1", "3", "7"])}`;
    }
    if (kind === "pair") return `(${this.#key("int", depth)}, ${this.#key("int", depth)})`;
    return this.#value(kind, depth);
  }

  // ── expressions ──

  #value(kind: Kind, depth: number): string {
    const random = this.#random;
    if (kind === "int") return this.#int(depth);
    if (kind === "bool") return this.#bool(depth);
    if (kind === "string") return this.#string(depth);
    const known = this.#variable(kind);
    if (known !== undefined && random.chance(0.35)) return known;
    if (this.#leaves === undefined && kind !== "pair" && random.chance(0.15)) return this.#access(this.#mapOf((map) => map.value === kind), 1);
    if (depth > 0 && random.chance(0.12)) return `(${this.#bool(depth - 1)} ? ${this.#value(kind, depth - 1)} : ${this.#value(kind, depth - 1)})`;
    return this.#literal(kind, depth);
  }

  #literal(kind: Kind, depth: number): string {
    const inner = Math.max(0, depth - 1);
    switch (kind) {
      case "pair": return `(${this.#int(inner)}, ${this.#int(inner)})`;
      case "labelled": return `(${this.#int(inner)}, ${this.#string(inner)})`;
      case "nested": return `(${this.#bool(inner)}, ${this.#value("labelled", inner)}, ${this.#int(inner)})`;
      case "record": return `(size = ${this.#int(inner)}, name = ${this.#string(inner)})`;
      default: return this.#value(kind, depth);
    }
  }

  /** An element of a composite variable. */
  #element(kind: Kind): string | undefined {
    const found = this.#visible().flatMap((v) => (members[v.kind] ?? []).filter((m) => m[1] === kind).map(([access]) => v.name + access));
    return found.length > 0 ? this.#random.pick(found) : undefined;
  }

  #argument(): string | undefined {
    return this.#inFunction ? undefined : `arg${this.#random.below(5)}`;
  }

  #intLeaf(): string {
    const random = this.#random;
    const literal = (): string => (random.chance(0.25) ? random.pick(negatives) : random.pick(numbers));
    switch (random.below(this.#leaves === undefined ? 8 : 5)) {
      case 0:
      case 1: return this.#variable("int") ?? literal();
      case 2: return this.#argument() ?? literal();
      case 3: return this.#element("int") ?? this.#variable("int") ?? literal();
      case 4: return literal();
      case 5: return `(${random.pick(integerTypes)})${this.#argument() ?? literal()}`;
      case 6: return this.#mapOf((map) => map.value === "int" && map.keys.length === 0).name;
      default: {
        if (random.chance(0.5)) return this.#access(this.#mapOf((map) => map.value === "int" && map.keys.length > 0), 0);
        if (random.chance(0.7)) {
          return this.#access(this.#mapOf((map) => ["count", "sum", "avg", "min", "max"].includes(map.value), aggregateMaps), 0);
        }
        return `len(${this.#mapOf((map) => map.keys.length > 0).name})`;
      }
    }
  }

  #int(wanted: number): string {
    const random = this.#random;
    const depth = this.#nesting > 0 ? Math.min(wanted, 1) : wanted;
    if (depth <= 0) return this.#intLeaf();
    const pure = this.#leaves !== undefined;
    const inner = depth - 1;
    switch (random.below(pure ? 16 : 22)) {
      case 0: case 1: case 2: case 3: case 4: case 5: {
        const operator = random.pick(arithmetic);
        // A constant 0 is refused; what merely may be 0 is not.
        const right = operator === "/" || operator === "%"
          ? random.chance(0.5) ? random.pick(["1", "2", "3", "7", "8", "10", "100", "-1", "-2", "4294967296", "(int8)-1", "(uint8)200"]) : `(${this.#opaque()} & ${this.#int(inner)})`
          : this.#operand(inner);
        return `(${this.#operand(inner)} ${operator} ${shifted(operator, right)})`;
      }
      case 6: case 7: return `(${random.pick(integerTypes)})(${this.#operand(inner)})`;
      case 8: return `(${random.pick(["-", "~"])}(${this.#int(inner)}))`;
      case 9: case 10: return `(${this.#bool(inner)} ? ${this.#int(inner)} : ${this.#int(inner)})`;
      case 11: return this.#element("int") ?? this.#intLeaf();
      case 12: return `strlen(${this.#string(inner)})`;
      case 13: return `strncmp(${this.#string(inner)}, ${this.#string(inner)}, ${random.between(0, 12)})`;
      case 14: return `strstr(${this.#string(inner)}, ${this.#string(inner)})`;
      case 15: return `bswap((${random.pick(integerTypes)})(${this.#int(inner)}))`;
      case 16: {
        const target = this.#assignable("int");
        if (target === undefined) return this.#intLeaf();
        return random.pick([`${target}++`, `++${target}`, `${target}--`, `--${target}`]);
      }
      case 17: {
        const target = this.#access(this.#mapOf((map) => map.value === "int"), inner);
        return random.pick([`${target}++`, `++${target}`, `${target}--`, `--${target}`]);
      }
      case 18: return this.#call("int", inner) ?? this.#int(inner);
      case 19: {
        this.#scopes.push([]);
        const value = this.#int(inner);
        const name = this.#newVariable("int");
        const result = this.#int(inner);
        this.#scopes.pop();
        return `({ let ${name} = ${value}; ${name} ${random.pick(["+=", "^=", "*="])} ${this.#intLeaf()}; ${result} })`;
      }
      case 20: return `(if (${this.#bool(inner)}) { ${this.#int(inner)} } else { ${this.#int(inner)} })`;
      default: return this.#intLeaf();
    }
  }

  /** Something whose value the checker does not know. */
  #opaque(): string {
    return this.#argument() ?? this.#variable("int") ?? this.#mapOf((map) => map.name === "@n").name;
  }

  /** An operand of arithmetic may be a truth value too. */
  #operand(depth: number): string {
    return this.#random.chance(0.06) ? `(${this.#bool(depth)})` : this.#int(depth);
  }

  #bool(wanted: number): string {
    const random = this.#random;
    const depth = this.#nesting > 0 ? Math.min(wanted, 1) : wanted;
    const inner = depth - 1;
    const comparison = (): string => `(${this.#int(Math.max(0, inner))} ${random.pick(comparisons)} ${this.#int(Math.max(0, inner))})`;
    if (depth <= 0) return random.pick([() => this.#variable("bool"), () => this.#element("bool"), comparison, comparison, () => random.pick(["true", "false"])])() ?? comparison();
    switch (random.below(this.#leaves !== undefined ? 11 : 15)) {
      case 0: case 1: case 2: case 3: return comparison();
      case 4: return `(${this.#string(inner)} ${random.pick(["==", "!="])} ${this.#string(inner)})`;
      case 5: return `strcontains(${this.#string(inner)}, ${this.#string(inner)})`;
      case 6: case 7: return `(${this.#condition(inner)} ${random.pick(["&&", "||"])} ${this.#condition(inner)})`;
      case 8: return `(!(${this.#condition(inner)}))`;
      case 9: {
        const kind = random.pick(["pair", "labelled"] as const);
        return `(${this.#value(kind, inner)} ${random.pick(["==", "!="])} ${this.#value(kind, inner)})`;
      }
      case 10: return this.#variable("bool") ?? comparison();
      case 11: {
        const map = this.#mapOf((m) => m.keys.length > 0, random.chance(0.6) ? plainMaps : aggregateMaps);
        return `has_key(${map.name}, ${map.keys.length > 1 ? `(${this.#keys(map, inner)})` : this.#keys(map, inner)})`;
      }
      case 12: {
        const map = this.#mapOf((m) => m.keys.length > 0, random.chance(0.6) ? plainMaps : aggregateMaps);
        return `delete(${map.name}, ${map.keys.length > 1 ? `(${this.#keys(map, inner)})` : this.#keys(map, inner)})`;
      }
      case 13: return this.#call("bool", inner) ?? comparison();
      default: return this.#access(this.#mapOf((map) => map.value === "bool"), inner);
    }
  }

  #condition(depth: number): string {
    return this.#random.chance(0.2) ? this.#int(depth) : this.#bool(depth);
  }

  #string(depth: number): string {
    const random = this.#random;
    const literal = (): string => `"${random.pick(words)}"`;
    switch (random.below(depth <= 0 ? 6 : this.#leaves !== undefined ? 8 : 10)) {
      case 0: case 1: case 2: return literal();
      case 3: case 4: return this.#variable("string") ?? literal();
      case 5: return this.#element("string") ?? literal();
      case 6: case 7: return `(${this.#bool(depth - 1)} ? ${this.#string(depth - 1)} : ${this.#string(depth - 1)})`;
      case 8: return this.#access(this.#mapOf((map) => map.value === "string"), depth - 1);
      default: return this.#call("string", depth - 1) ?? literal();
    }
  }

  #call(result: ScriptFunction["result"], depth: number): string | undefined {
    const found = this.#functions.filter((f) => f.result === result);
    if (found.length === 0) return undefined;
    const { name, parameters } = this.#random.pick(found);
    return `${name}(${parameters.map((kind) => this.#value(kind, depth)).join(", ")})`;
  }

  // ── statements ──

  #statements(count: number): Piece[] {
    this.#scopes.push([]);
    const list: Piece[] = [];
    for (let i = 0; i < count && this.#budget > 0; i++) list.push(this.#statement());
    // The outermost scope stays open: what it declared is looked at.
    const scope = this.#scopes.pop() ?? [];
    if (this.#scopes.length === 1 && !this.#inFunction) this.#scopes[0]?.push(...scope);
    return list;
  }

  #block(): Piece[] { return this.#statements(this.#random.between(1, this.#nesting > 0 ? 2 : 4)); }

  #statement(): Piece {
    const random = this.#random;
    this.#budget--;
    const simple = this.#budget <= 0;
    // The verifier follows every path through a loop's body: loops within loops are rare, and short.
    switch (random.below(simple ? 11 : this.#nesting > 0 && random.chance(0.85) ? 14 : 19)) {
      case 0: case 1: return this.#declare();
      case 2: case 3: return this.#assign();
      case 4: case 5: return piece(this.#mapStore(this.#mapOf(() => true)));
      case 6: return piece(this.#mapChange());
      case 7: case 8: return piece(this.#mapStore(this.#mapOf(() => true, aggregateMaps)));
      case 9: return this.#output();
      case 10: {
        const map = this.#mapOf((m) => m.keys.length > 0, random.chance(0.7) ? plainMaps : aggregateMaps);
        return piece(random.chance(0.5) ? `delete(${this.#access(map)});` : `delete(${map.name}, ${map.keys.length > 1 ? `(${this.#keys(map, 1)})` : this.#keys(map, 1)});`);
      }
      case 11: case 12: case 13: return this.#if();
      case 14: return this.#range();
      case 15: return this.#while();
      case 16: return random.chance(0.6) ? piece(`unroll(${random.between(1, 4)}) {`, this.#inLoop(() => this.#block(), false), "}") : this.#find();
      case 17: case 18: return this.#forMap();
      default: return this.#output();
    }
  }

  #declare(): Piece {
    const random = this.#random;
    const kind = random.chance(0.55) ? "int" : random.pick(["bool", "string", ...composites] as const);
    if (kind === "int" && random.chance(0.4)) {
      const type = random.pick(integerTypes);
      const value = `(${type})(${this.#int(3)})`;
      return piece(`let ${this.#newVariable("int")} : ${type} = ${value};`);
    }
    if (kind === "string" && random.chance(0.3)) {
      const value = this.#string(2);
      return piece(`let ${this.#newVariable("string")} : string[${random.between(2, 20)}] = ${value};`);
    }
    const value = this.#value(kind, 3);
    return piece(`${random.chance(0.5) ? "let " : ""}${this.#newVariable(kind)} = ${value};`);
  }

  #assign(): Piece {
    const random = this.#random;
    const kind = random.chance(0.6) ? "int" : random.pick(["bool", "string", ...composites] as const);
    const target = this.#assignable(kind);
    if (target === undefined) return this.#declare();
    if (kind === "int" && random.chance(0.5)) return piece(`${target} ${this.#compound(2)};`);
    return piece(`${target} = ${this.#value(kind, 3)};`);
  }

  #compound(depth: number): string {
    const operator = this.#random.pick(arithmetic);
    const value = operator === "/" || operator === "%" ? `(${this.#opaque()} | ${this.#int(depth - 1)})` : this.#int(depth);
    return `${operator}= ${shifted(operator, value)}`;
  }

  #mapStore(map: MapShape, depth = 2): string {
    const target = this.#access(map, depth);
    switch (map.value) {
      case "count": return `${target} = count();`;
      case "sum": case "avg": case "min": case "max": case "stats": return `${target} = ${map.value}(${this.#int(depth)});`;
      case "hist": case "lhist": {
        const value = this.#random.chance(0.5) ? `(${this.#int(depth)}) & 127` : this.#int(depth);
        return `${target} = ${map.value}(${value}${map.parameters ?? ""});`;
      }
      default: return `${target} = ${this.#value(map.value, depth === 0 ? 0 : depth + 1)};`;
    }
  }

  #mapChange(): string {
    const target = this.#access(this.#mapOf((map) => map.value === "int"), 1);
    return this.#random.chance(0.4) ? `${target}${this.#random.pick(["++", "--"])};` : `${target} ${this.#compound(2)};`;
  }

  #if(): Piece {
    const random = this.#random;
    const condition = this.#condition(2);
    const then = random.chance(0.12) ? [piece(this.#leave())] : this.#block();
    if (random.chance(0.5)) return piece(`if (${condition}) {`, then, "}");
    return piece(`if (${condition}) {`, then, "} else {", this.#block(), "}");
  }

  #leave(): string {
    if (this.#loops > 0) return this.#random.pick(["break;", "continue;"]);
    return this.#inFunction ? this.#result() : "return;";
  }

  #inLoop<T>(write: () => T, leavable = true): T {
    const outer = this.#loops;
    this.#loops = leavable ? outer + 1 : 0;
    const budget = this.#budget;
    this.#budget = Math.min(budget, 4);
    this.#nesting++;
    const written = write();
    this.#nesting--;
    this.#budget = Math.max(0, budget - 4);
    this.#loops = outer;
    return written;
  }

  #range(): Piece {
    const random = this.#random;
    const from = random.chance(0.7) ? String(random.between(-3, 3)) : `(${this.#int(1)}) & 3`;
    const to = random.chance(0.6) ? String(random.between(0, 8)) : `(${this.#int(1)}) & 7`;
    this.#scopes.push([]);
    const name = this.#newVariable("int", true);
    const body = this.#inLoop(() => this.#block());
    this.#scopes.pop();
    return piece(`for (${name} : (${from})..(${to})) {`, body, "}");
  }

  #while(): Piece {
    const random = this.#random;
    this.#scopes.push([]);
    const name = this.#newVariable("int", true);
    const limit = random.chance(0.7) ? String(random.between(1, 7)) : `((${this.#int(1)}) & 7)`;
    const bound = this.#newVariable("int", true);
    const condition = random.chance(0.7) ? `${name}++ < ${bound}` : `${name}++ < ${bound} && ${this.#bool(1)}`;
    const body = this.#inLoop(() => this.#block());
    this.#scopes.pop();
    return piece(`{ let ${name} = 0; let ${bound} = ${limit}; while (${condition}) {`, body, "} }");
  }

  #find(): Piece {
    const map = this.#mapOf((m) => m.keys.length > 0);
    const keys = map.keys.length > 1 ? `(${this.#keys(map, 1)})` : this.#keys(map, 1);
    const name = this.#newVariable(map.value as Kind);
    return piece(`if (find(${map.name}, ${keys}, ${name})) {`, this.#block(), "}");
  }

  #output(): Piece {
    const random = this.#random;
    if (this.#leaves !== undefined) this.#unordered = true;
    if (random.chance(0.4)) {
      const kind = random.pick(["int", "bool", "string", ...composites] as const);
      return piece(`print(${this.#value(kind, 2)});`);
    }
    if (this.#leaves === undefined && random.chance(0.2)) {
      const map = this.#mapOf(() => true, random.chance(0.5) ? plainMaps : aggregateMaps);
      if (map.keys.length === 0 || random.chance(0.5) || !plainMaps.includes(map)) return piece(`${random.pick(["print", "print", "clear", "zero"])}(${map.name});`);
      return piece(`print(${this.#access(map)});`);
    }
    const formats: string[] = [];
    const values: string[] = [];
    for (let i = random.below(5); i > 0; i--) {
      switch (random.below(5)) {
        case 0: formats.push("%s"); values.push(this.#string(2)); break;
        case 1: formats.push("%s"); values.push(this.#bool(2)); break;
        case 2: formats.push("%r"); values.push(`buf(${this.#string(1)}${random.pick(["", ", 3", ", 16", `, (${this.#int(1)}) & 15`])})`); break;
        default: formats.push(random.pick(["%d", "%u", "%x", "%lld", "%-5d", "%c"])); values.push(this.#int(2));
      }
    }
    return piece(`printf("${formats.join(" ")}\\n"${values.map((value) => `, ${value}`).join("")});`);
  }

  /** A loop over a map: its rounds come in any order, and must add up to the same. */
  #forMap(): Piece {
    const random = this.#random;
    if (this.#leaves !== undefined) return this.#output();
    const map = this.#mapOf((m) => m.keys.length > 0 && !["stats", "hist", "lhist"].includes(m.value), random.chance(0.7) ? plainMaps : aggregateMaps);
    if (random.chance(0.15)) return this.#countedMap(map);
    const entry = `$kv${this.#names++}`;
    const key: LocalVariable[] = map.keys.length === 1
      ? [{ name: `${entry}.0`, kind: map.keys[0], fixed: true }]
      : map.keys.map((kind, i) => ({ name: `${entry}.0.${i}`, kind, fixed: true }));
    const value: LocalVariable = { name: `${entry}.1`, kind: plainMaps.includes(map) ? map.value as Kind : "int", fixed: true };
    const sums = [0, 1].flatMap(() => this.#assignable("int") ?? []).map((name) => ({ name, operator: random.pick(["+=", "^=", "|=", "&=", "-="]) }))
      .filter(({ name }, i, all) => all.findIndex((other) => other.name === name) === i);
    const variables = [...this.#scopes.flat().filter(({ name }) => sums.every((sum) => sum.name !== name)), ...key, value];
    this.#leaves = { variables: [...variables, ...key, value, value] };
    const body: Piece[] = [];
    const others = new Set<MapShape>([map]);
    const one = (): Piece => {
      switch (random.below(sums.length > 0 ? 6 : 3)) {
        case 0: {
          const target = this.#mapOf((m) => !others.has(m), aggregateMaps);
          return piece(this.#mapStore(target));
        }
        case 1: return this.#output();
        case 2: {
          // Each round has a key of its own.
          const same = plainMaps.filter((m) => !others.has(m) && m.keys.join() === map.keys.join());
          if (same.length === 0) return this.#output();
          const target = random.pick(same);
          this.#used.add(target);
          others.add(target);
          const own = key.map(({ name }) => name).join(", ");
          return random.chance(0.2) ? piece(`delete(${target.name}[${own}]);`) : piece(`${target.name}[${own}] = ${this.#value(target.value as Kind, 2)};`);
        }
        default: {
          const { name, operator } = random.pick(sums);
          return piece(`${name} ${operator} ${this.#int(2)};`);
        }
      }
    };
    for (let i = random.between(1, 3); i > 0; i--) {
      if (random.chance(0.3)) body.push(piece(`if (${this.#bool(2)}) {`, [one()], "}"));
      else if (random.chance(0.1)) body.push(piece(`if (${this.#bool(2)}) { continue; }`));
      else body.push(one());
    }
    this.#leaves = undefined;
    return piece(`for (${entry} : ${map.name}) {`, body, "}");
  }

  /** Goes out after some rounds, whichever they are. */
  #countedMap(map: MapShape): Piece {
    const random = this.#random;
    const counter = this.#newVariable("int");
    const leave = random.chance(0.5) ? "break;" : this.#inFunction ? this.#result() : "return;";
    return piece(
      `let ${counter} = 0; for ($kv${this.#names++} : ${map.name}) {`,
      [piece(`${counter}++;`), piece(`if (${counter} ${random.pick([">", ">=", "=="])} ${random.between(1, 3)}) { ${leave} }`), piece("@rounds++;")], "}",
    );
  }

  // ── functions ──

  #resultKind: ScriptFunction["result"] = "int";

  #result(): string { return `return ${this.#value(this.#resultKind, 2)};`; }

  #function(): Piece {
    const random = this.#random;
    const parameters = Array.from({ length: random.between(0, 3) }, () => random.pick(["int", "int", "string"] as const));
    const result = random.pick(["int", "int", "string", "bool"] as const);
    const name = `f${this.#functions.length}`;
    this.#inFunction = true;
    this.#resultKind = result;
    this.#scopes.push([]);
    const written = parameters.map((kind) => `${this.#newVariable(kind)} : ${kind === "int" ? random.pick(integerTypes) : `string[${random.between(4, 24)}]`}`);
    const budget = this.#budget;
    this.#budget = Math.min(4, budget);
    const body = this.#statements(random.between(0, 3));
    this.#budget = budget;
    const last = this.#result();
    this.#scopes.pop();
    this.#inFunction = false;
    this.#functions.push({ name, parameters, result });
    const type = result === "int" ? random.pick(integerTypes) : result === "bool" ? "bool" : `string[${random.between(4, 24)}]`;
    return piece(`fn ${name}(${written.join(", ")}) : ${type} {`, [...body, piece(last)], "}");
  }
}

export function render(pieces: readonly Piece[], indent = ""): string {
  return pieces.map(({ parts }) => {
    const lines: string[] = [];
    for (const part of parts) {
      if (typeof part === "string") lines.push(indent + part);
      else lines.push(render(part, `${indent}  `));
    }
    return lines.filter((line) => line !== "").join("\n");
  }).filter((text) => text !== "").join("\n");
}

/** A shift's right side. A constant beyond 64 bits is refused; what merely may be is not. */
function shifted(operator: string, right: string): string {
  return (operator === "<<" || operator === ">>") && !/[@$]/.test(right) ? `(${right} & 63)` : right;
}

/** Programs that are a step smaller: without some statements, or with a block's statements in its place. */
export function* smaller(pieces: readonly Piece[]): Generator<readonly Piece[]> {
  for (let size = pieces.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at + size <= pieces.length; at += size) yield [...pieces.slice(0, at), ...pieces.slice(at + size)];
  }
  for (const [i, { parts }] of pieces.entries()) {
    for (const [j, part] of parts.entries()) {
      if (typeof part === "string") continue;
      yield [...pieces.slice(0, i), ...part, ...pieces.slice(i + 1)];
      for (const less of smaller(part)) yield [...pieces.slice(0, i), { parts: parts.with(j, less) }, ...pieces.slice(i + 1)];
    }
  }
}
