// Random statements, and the blocks, branches and loops they make.
import { Expressions } from "./random-expressions.ts";
import { piece, type Piece } from "./random-pieces.ts";
import type { LocalVariable, ScriptFunction } from "./random-scopes.ts";
import { composites, integerTypes, type Kind, type MapShape } from "./random-shapes.ts";

export class Statements extends Expressions {
  protected resultKind: ScriptFunction["result"] = "int";

  protected result(): string {
    return `return ${this.value(this.resultKind, 2)};`;
  }

  // ── statements ──

  protected statements(count: number): Piece[] {
    this.scopes.push([]);
    const list: Piece[] = [];
    for (let i = 0; i < count && this.budget > 0; i++) list.push(this.statement());
    // The outermost scope stays open: what it declared is looked at.
    const scope = this.scopes.pop() ?? [];
    if (this.scopes.length === 1 && !this.inFunction) this.scopes[0]?.push(...scope);
    return list;
  }

  protected block(): Piece[] {
    return this.statements(this.random.between(1, this.nesting > 0 ? 2 : 4));
  }

  protected statement(): Piece {
    const random = this.random;
    this.budget--;
    const simple = this.budget <= 0;
    if (this.nesting === 0 && !simple) {
      if (this.emphasis === "branches" && random.chance(0.3)) return this.chain();
      if (this.emphasis === "output" && random.chance(0.7)) return this.output();
      if (this.emphasis === "text" && random.chance(0.4)) return this.textLoops();
    }
    // The verifier follows every path through a loop's body: loops within loops are rare, and short.
    switch (random.below(simple ? 11 : this.nesting > 0 && random.chance(0.85) ? 14 : 19)) {
      case 0:
      case 1:
        return this.declare();
      case 2:
      case 3:
        return this.assign();
      case 4:
      case 5:
        return piece(this.mapStore(this.mapOf(() => true)));
      case 6:
        return piece(this.mapChange());
      case 7:
      case 8:
        return piece(this.mapStore(this.mapOf(() => true, this.aggregateMaps)));
      case 9:
        return this.output();
      case 10: {
        const map = this.mapOf((m) => m.keys.length > 0, random.chance(0.7) ? this.plainMaps : this.aggregateMaps);
        return piece(
          random.chance(0.5)
            ? `delete(${this.access(map)});`
            : `delete(${map.name}, ${map.keys.length > 1 ? `(${this.keys(map, 1)})` : this.keys(map, 1)});`,
        );
      }
      case 11:
      case 12:
      case 13:
        return this.if();
      case 14:
        return this.range();
      case 15:
        return this.while();
      case 16:
        return random.chance(0.6)
          ? piece(
              `unroll(${random.between(1, 4)}) {`,
              this.inLoop(() => this.block(), false),
              "}",
            )
          : this.find();
      case 17:
      case 18:
        return this.forMap();
      default:
        return this.output();
    }
  }

  protected declare(): Piece {
    const random = this.random;
    const kind = random.chance(0.55) ? "int" : random.pick(["bool", "string", ...composites] as const);
    if (kind === "int" && random.chance(0.4)) {
      const type = random.pick(integerTypes);
      const value = `(${type})(${this.int(3)})`;
      return piece(`let ${this.newVariable("int")} : ${type} = ${value};`);
    }
    if (kind === "string" && random.chance(0.3)) {
      const value = this.string(2);
      return piece(`let ${this.newVariable("string")} : string[${random.between(2, 20)}] = ${value};`);
    }
    const value = this.value(kind, 3);
    return piece(`${random.chance(0.5) ? "let " : ""}${this.newVariable(kind)} = ${value};`);
  }

  protected assign(): Piece {
    const random = this.random;
    const kind = random.chance(0.6) ? "int" : random.pick(["bool", "string", ...composites] as const);
    const target = this.assignable(kind);
    if (target === undefined) return this.declare();
    if (kind === "int" && random.chance(0.5)) return piece(`${target} ${this.compound(2)};`);
    return piece(`${target} = ${this.value(kind, 3)};`);
  }

  protected mapChange(): string {
    const target = this.access(
      this.mapOf((map) => map.value === "int"),
      1,
    );
    return this.random.chance(0.4) ? `${target}${this.random.pick(["++", "--"])};` : `${target} ${this.compound(2)};`;
  }

  protected if(): Piece {
    const random = this.random;
    const condition = this.condition(2);
    const then = random.chance(0.12) ? [piece(this.leave())] : this.block();
    if (random.chance(0.5)) return piece(`if (${condition}) {`, then, "}");
    return piece(`if (${condition}) {`, then, "} else {", this.block(), "}");
  }

  /** `if … else if … else`, as long as the cases of a switch. */
  protected chain(): Piece {
    const random = this.random;
    const subject = random.chance(0.5) ? this.opaque() : undefined;
    const conditions = Array.from({ length: random.between(4, 30) }, (_, i) =>
      subject === undefined ? this.condition(1) : `${subject} == ${i}`,
    );
    const arms = conditions.flatMap((condition, i): (string | Piece[])[] => [
      `${i === 0 ? "" : "} else "}if (${condition}) {`,
      [this.small()],
    ]);
    return random.chance(0.6) ? piece(...arms, "} else {", [this.small()], "}") : piece(...arms, "}");
  }

  /** A statement that has no others in it. */
  protected small(): Piece {
    this.scopes.push([]);
    const written = this.random.pick([
      () => this.assign(),
      () => piece(this.mapChange()),
      () => this.output(),
      () => piece(this.mapStore(this.mapOf(() => true, this.aggregateMaps))),
    ])();
    this.scopes.pop();
    return written;
  }

  /** Loops in loops, which compare texts and look in them. */
  protected textLoops(): Piece {
    const random = this.random;
    this.scopes.push([]);
    const values = [this.string(1), this.string(1), this.int(1)];
    const [text, other] = [this.newVariable("string"), this.newVariable("string")];
    const number = this.newVariable("int");
    const declared = `{ let ${text} : string[${random.between(4, 40)}] = ${values[0]}; let ${other} : string[${random.between(4, 40)}] = ${values[1]}; let ${number} = ${values[2]};`;
    const within = (): Piece[] =>
      this.inLoop(() => [
        ...(random.chance(0.5)
          ? [
              piece(
                `if (${random.pick([`strcontains(${text}, ${other})`, `${text} == ${other}`, `strncmp(${text}, ${other}, ${random.between(1, 12)}) == 0`, `strstr(${text}, ${this.string(1)}) > ${number}`])}) {`,
                this.block(),
                "}",
              ),
            ]
          : []),
        ...(random.chance(0.6) ? [piece(`${random.pick([text, other])} = ${this.string(2)};`)] : []),
        ...(random.chance(0.6)
          ? [
              piece(
                `${number} += ${random.pick([`strlen(${text})`, `strstr(${text}, ${other})`, `strstr(${other}, ${this.string(0)})`])};`,
              ),
            ]
          : []),
        ...(random.chance(0.3)
          ? [
              piece(
                `${this.access(this.mapOf((map) => map.keys.join() === "string" && map.value === "int"))} = ${number};`,
              ),
            ]
          : []),
        ...this.block(),
      ]);
    const loop = (depth: number): Piece => {
      const to = random.chance(0.6) ? String(random.between(2, 9)) : `(${this.int(1)}) & 7`;
      this.scopes.push([]);
      const name = this.newVariable("int", true);
      const body =
        depth <= 1
          ? within()
          : this.inLoop(() => [
              ...(random.chance(0.5) ? within() : []),
              loop(depth - 1),
              ...(random.chance(0.3) ? this.block() : []),
            ]);
      this.scopes.pop();
      return random.chance(0.5)
        ? piece(`for (${name} : 0..(${to})) {`, body, "}")
        : piece(`{ let ${name} = 0; while (${name}++ < (${to})) {`, body, "} }");
    };
    const body = loop(random.between(1, 3));
    const last = piece(`@end_text[${number} & 3] = ${random.pick([text, other])};`);
    this.scopes.pop();
    return piece(declared, [body, last], "}");
  }

  protected leave(): string {
    if (this.loops > 0) return this.random.pick(["break;", "continue;"]);
    return this.inFunction ? this.result() : "return;";
  }

  protected inLoop<T>(write: () => T, leavable = true): T {
    const outer = this.loops;
    this.loops = leavable ? outer + 1 : 0;
    const budget = this.budget;
    this.budget = Math.min(budget, 4);
    this.nesting++;
    const written = write();
    this.nesting--;
    this.budget = Math.max(0, budget - 4);
    this.loops = outer;
    return written;
  }

  protected range(): Piece {
    const random = this.random;
    const from = random.chance(0.7) ? String(random.between(-3, 3)) : `(${this.int(1)}) & 3`;
    const to = random.chance(0.6) ? String(random.between(0, 8)) : `(${this.int(1)}) & 7`;
    this.scopes.push([]);
    const name = this.newVariable("int", true);
    const body = this.inLoop(() => this.block());
    this.scopes.pop();
    return piece(`for (${name} : (${from})..(${to})) {`, body, "}");
  }

  protected while(): Piece {
    const random = this.random;
    this.scopes.push([]);
    const name = this.newVariable("int", true);
    const limit = random.chance(0.7) ? String(random.between(1, 7)) : `((${this.int(1)}) & 7)`;
    const bound = this.newVariable("int", true);
    const condition = random.chance(0.7) ? `${name}++ < ${bound}` : `${name}++ < ${bound} && ${this.bool(1)}`;
    const body = this.inLoop(() => this.block());
    this.scopes.pop();
    return piece(`{ let ${name} = 0; let ${bound} = ${limit}; while (${condition}) {`, body, "} }");
  }

  protected find(): Piece {
    const map = this.mapOf((m) => m.keys.length > 0);
    const keys = map.keys.length > 1 ? `(${this.keys(map, 1)})` : this.keys(map, 1);
    const name = this.newVariable(map.value as Kind);
    return piece(`if (find(${map.name}, ${keys}, ${name})) {`, this.block(), "}");
  }

  protected output(): Piece {
    const random = this.random;
    if (this.leaves !== undefined) this.unordered = true;
    if (random.chance(0.4)) {
      const kind = random.pick(["int", "bool", "string", ...composites] as const);
      return piece(`print(${this.value(kind, 2)});`);
    }
    if (this.leaves === undefined && random.chance(0.2)) {
      const map = this.mapOf(() => true, random.chance(0.5) ? this.plainMaps : this.aggregateMaps);
      if (map.keys.length === 0 || random.chance(0.5) || !this.plainMaps.includes(map))
        return piece(`${random.pick(["print", "print", "clear", "zero"])}(${map.name});`);
      return piece(`print(${this.access(map)});`);
    }
    const formats: string[] = [];
    const values: string[] = [];
    for (let i = random.below(this.emphasis === "output" ? 12 : 5); i > 0; i--) {
      switch (random.below(5)) {
        case 0:
          formats.push("%s");
          values.push(this.string(2));
          break;
        case 1:
          formats.push("%s");
          values.push(this.bool(2));
          break;
        case 2:
          formats.push("%r");
          values.push(`buf(${this.string(1)}${random.pick(["", ", 3", ", 16", `, (${this.int(1)}) & 15`])})`);
          break;
        default:
          formats.push(random.pick(["%d", "%u", "%x", "%lld", "%-5d", "%c"]));
          values.push(this.int(2));
      }
    }
    return piece(`printf("${formats.join(" ")}\\n"${values.map((value) => `, ${value}`).join("")});`);
  }

  /** A loop over a map: its rounds come in any order, and must add up to the same. */
  protected forMap(): Piece {
    const random = this.random;
    if (this.leaves !== undefined) return this.output();
    const map = this.mapOf(
      (m) => m.keys.length > 0 && !["stats", "variance", "hist", "lhist", "llhist"].includes(m.value),
      random.chance(0.7) ? this.plainMaps : this.aggregateMaps,
    );
    if (random.chance(0.15)) return this.countedMap(map);
    const entry = `$kv${this.names++}`;
    const key: LocalVariable[] =
      map.keys.length === 1
        ? [{ name: `${entry}.0`, kind: map.keys[0], fixed: true }]
        : map.keys.map((kind, i) => ({ name: `${entry}.0.${i}`, kind, fixed: true }));
    const value: LocalVariable = {
      name: `${entry}.1`,
      kind: this.plainMaps.includes(map) ? (map.value as Kind) : "int",
      fixed: true,
    };
    const sums = [0, 1]
      .flatMap(() => this.assignable("int") ?? [])
      .map((name) => ({ name, operator: random.pick(["+=", "^=", "|=", "&=", "-="]) }))
      .filter(({ name }, i, all) => all.findIndex((other) => other.name === name) === i);
    const variables = [
      ...this.scopes.flat().filter(({ name }) => sums.every((sum) => sum.name !== name)),
      ...key,
      value,
    ];
    this.leaves = { variables: [...variables, ...key, value, value] };
    const body: Piece[] = [];
    const others = new Set<MapShape>([map]);
    const one = (): Piece => {
      switch (random.below(sums.length > 0 ? 6 : 3)) {
        case 0: {
          const target = this.mapOf((m) => !others.has(m), this.aggregateMaps);
          return piece(this.mapStore(target));
        }
        case 1:
          return this.output();
        case 2: {
          // Each round has a key of its own.
          const same = this.plainMaps.filter((m) => !others.has(m) && m.keys.join() === map.keys.join());
          if (same.length === 0) return this.output();
          const target = random.pick(same);
          this.used.add(target);
          others.add(target);
          const own = key.map(({ name }) => name).join(", ");
          return random.chance(0.2)
            ? piece(`delete(${target.name}[${own}]);`)
            : piece(`${target.name}[${own}] = ${this.value(target.value as Kind, 2)};`);
        }
        default: {
          const { name, operator } = random.pick(sums);
          return piece(`${name} ${operator} ${this.int(2)};`);
        }
      }
    };
    for (let i = random.between(1, 3); i > 0; i--) {
      if (random.chance(0.3)) body.push(piece(`if (${this.bool(2)}) {`, [one()], "}"));
      else if (random.chance(0.1)) body.push(piece(`if (${this.bool(2)}) { continue; }`));
      else body.push(one());
    }
    this.leaves = undefined;
    return piece(`for (${entry} : ${map.name}) {`, body, "}");
  }

  /** Goes out after some rounds, whichever they are. */
  protected countedMap(map: MapShape): Piece {
    const random = this.random;
    const counter = this.newVariable("int");
    const leave = random.chance(0.5) ? "break;" : this.inFunction ? this.result() : "return;";
    return piece(
      `let ${counter} = 0; for ($kv${this.names++} : ${map.name}) {`,
      [
        piece(`${counter}++;`),
        piece(`if (${counter} ${random.pick([">", ">=", "=="])} ${random.between(1, 3)}) { ${leave} }`),
        piece("@rounds++;"),
      ],
      "}",
    );
  }
}
