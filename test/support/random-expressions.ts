// Random expressions: well-typed by what is in scope, and as deep as is asked for.
import {
  arithmetic,
  arrays,
  comparisons,
  integerTypes,
  members,
  negatives,
  numbers,
  words,
  type Kind,
  type MapShape,
} from "./random-shapes.ts";
import { Scopes, type ScriptFunction } from "./random-scopes.ts";

/** What is behind the arguments of programs that read memory. */
export const memoryTypes =
  "struct S { int32 x[4]; char name[16]; char *names[3]; struct S *next; uint64 n; uint16 m[2][3]; };";

export class Expressions extends Scopes {
  protected access(map: MapShape, depth = 1): string {
    return map.keys.length === 0 ? map.name : `${map.name}[${this.keys(map, depth)}]`;
  }

  protected keys(map: MapShape, depth: number): string {
    return map.keys.map((kind) => this.key(kind, depth)).join(", ");
  }

  /** Few different ones, so that they meet. */
  protected key(kind: Kind, depth: number): string {
    const random = this.random;
    if (kind === "int") {
      if (random.chance(0.4)) return random.pick(["0", "1", "2", "-1", "255", "(uint8)1", "(int8)255", "4294967295"]);
      return `(${this.int(depth)}) & ${random.pick(["1", "3", "7"])}`;
    }
    if (kind === "pair") return `(${this.key("int", depth)}, ${this.key("int", depth)})`;
    return this.value(kind, depth);
  }

  // ── expressions ──

  protected value(kind: Kind, depth: number): string {
    const random = this.random;
    if (kind === "int") return this.int(depth);
    if (kind === "bool") return this.bool(depth);
    if (kind === "string") return this.string(depth);
    const known = this.variable(kind);
    if (known !== undefined && random.chance(0.35)) return known;
    if (this.leaves === undefined && kind !== "pair" && random.chance(0.15))
      return this.access(
        this.mapOf((map) => map.value === kind),
        1,
      );
    if (depth > 0 && random.chance(0.12))
      return `(${this.bool(depth - 1)} ? ${this.value(kind, depth - 1)} : ${this.value(kind, depth - 1)})`;
    return this.literal(kind, depth);
  }

  protected literal(kind: Kind, depth: number): string {
    const inner = Math.max(0, depth - 1);
    switch (kind) {
      case "pair":
        return `(${this.int(inner)}, ${this.int(inner)})`;
      case "labelled":
        return `(${this.int(inner)}, ${this.string(inner)})`;
      case "nested":
        return `(${this.bool(inner)}, ${this.value("labelled", inner)}, ${this.int(inner)})`;
      case "wide": {
        const [one, other, third] = [this.int(inner), this.int(0), this.int(inner)];
        return `(${one}, ${this.string(inner)}, ${this.bool(inner)}, ${this.value("pair", 0)}, ${other}, ${this.string(0)}, ${this.value("bytes", 0)}, ${third}, ${this.value("labelled", 0)})`;
      }
      case "record":
        return this.random.chance(0.7)
          ? `(size = ${this.int(inner)}, name = ${this.string(inner)})`
          : `(name = ${this.string(inner)}, size = ${this.int(inner)})`;
      case "bytes":
      case "halves":
        return `(${arrays[kind]?.[0]})(uint64)(${this.int(inner)})`;
      default:
        return this.value(kind, depth);
    }
  }

  /** An element of a composite variable. */
  protected element(kind: Kind): string | undefined {
    const array =
      kind === "int" && this.random.chance(0.3) ? this.random.pick(["bytes", "halves"] as const) : undefined;
    const name = array && this.variable(array);
    // Within the array, or maybe not.
    if (array && name !== undefined)
      return `${name}[${this.index((arrays[array]?.[1] ?? 1) * (this.random.chance(0.6) ? 1 : 2) - 1)}]`;
    const found = this.visible().flatMap((v) =>
      (members[v.kind] ?? []).filter((m) => m[1] === kind).map(([access]) => v.name + access),
    );
    return found.length > 0 ? this.random.pick(found) : undefined;
  }

  protected argument(): string | undefined {
    return this.inFunction ? undefined : `arg${this.random.below(5)}`;
  }

  /** What only running tells, read where an argument points, or of the process. */
  protected memoryInt(): string {
    const random = this.random;
    const pointer = this.argument();
    if (pointer === undefined || random.chance(0.3)) return random.pick(["pid", "tid", "nsecs", "cpu", "uid"]);
    const s = `((struct S *)${pointer})`;
    return random.pick([
      () => `*(int32 *)${pointer}`,
      () => `${s}.n`,
      () => `${s}.next.n`,
      () => `${s}.x[${random.below(4)}]`,
      () => `${s}.x[${this.index(random.pick([3, 15]))}]`,
      () => `${s}.m[${this.index(1)}][${this.index(3)}]`,
      () => `((uint16 *)${pointer})[(${this.int(0)})]`,
    ])();
  }

  protected memoryString(): string {
    const random = this.random;
    const pointer = this.argument();
    if (pointer === undefined || random.chance(0.2)) return "comm";
    const s = `((struct S *)${pointer})`;
    return random.pick([
      () => `str(${pointer})`,
      () => `str(${pointer}, ${random.between(1, 32)})`,
      () => `str(${pointer}, (${this.int(0)}) & 31)`,
      () => `str(${s}.name)`,
      () => `str(${s}.names[${random.below(3)}])`,
      () => `str(${s}.names[${this.index(3)}])`,
    ])();
  }

  protected intLeaf(): string {
    const random = this.random;
    const literal = (): string => (random.chance(0.25) ? random.pick(negatives) : random.pick(numbers));
    if (this.memory && this.leaves === undefined && random.chance(0.25)) return this.memoryInt();
    switch (random.below(this.leaves === undefined ? 8 : 5)) {
      case 0:
      case 1:
        return this.variable("int") ?? literal();
      case 2:
        return this.argument() ?? literal();
      case 3:
        return this.element("int") ?? this.variable("int") ?? literal();
      case 4:
        return literal();
      case 5:
        return `(${random.pick(integerTypes)})${this.argument() ?? literal()}`;
      case 6:
        return this.mapOf((map) => map.value === "int" && map.keys.length === 0).name;
      default: {
        if (random.chance(0.5))
          return this.access(
            this.mapOf((map) => map.value === "int" && map.keys.length > 0),
            0,
          );
        if (random.chance(0.7)) {
          return this.access(
            this.mapOf((map) => ["count", "sum", "avg", "min", "max"].includes(map.value), this.aggregateMaps),
            0,
          );
        }
        return `len(${this.mapOf((map) => map.keys.length > 0).name})`;
      }
    }
  }

  protected int(wanted: number): string {
    const random = this.random;
    const depth = this.depthHere(wanted);
    if (depth <= 0) return this.intLeaf();
    const pure = this.leaves !== undefined;
    const inner = depth - 1;
    switch (random.below(pure ? 16 : 22)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5: {
        const operator = random.pick(arithmetic);
        // A constant 0 is refused; what merely may be 0 is not.
        const right =
          operator === "/" || operator === "%"
            ? random.chance(0.5)
              ? random.pick(["1", "2", "3", "7", "8", "10", "100", "-1", "-2", "4294967296", "(int8)-1", "(uint8)200"])
              : `(${this.opaque()} & ${this.int(inner)})`
            : this.operand(inner);
        return `(${this.operand(inner)} ${operator} ${shifted(operator, right)})`;
      }
      case 6:
      case 7:
        return `(${random.pick(integerTypes)})(${this.operand(inner)})`;
      case 8:
        return `(${random.pick(["-", "~"])}(${this.int(inner)}))`;
      case 9:
      case 10:
        return `(${this.bool(inner)} ? ${this.int(inner)} : ${this.int(inner)})`;
      case 11:
        return this.element("int") ?? this.intLeaf();
      case 12:
        return `strlen(${this.string(inner)})`;
      case 13:
        return `strncmp(${this.string(inner)}, ${this.string(inner)}, ${random.between(0, 12)})`;
      case 14:
        return `strstr(${this.string(inner)}, ${this.string(inner)})`;
      case 15:
        return `bswap((${random.pick(integerTypes)})(${this.int(inner)}))`;
      case 16: {
        const target = this.assignable("int");
        if (target === undefined) return this.intLeaf();
        return random.pick([`${target}++`, `++${target}`, `${target}--`, `--${target}`]);
      }
      case 17: {
        const target = this.access(
          this.mapOf((map) => map.value === "int"),
          inner,
        );
        return random.pick([`${target}++`, `++${target}`, `${target}--`, `--${target}`]);
      }
      case 18:
        return this.call("int", inner) ?? this.int(inner);
      case 19: {
        this.scopes.push([]);
        const value = this.int(inner);
        const name = this.newVariable("int");
        const result = this.int(inner);
        this.scopes.pop();
        return `({ let ${name} = ${value}; ${name} ${random.pick(["+=", "^=", "*="])} ${this.intLeaf()}; ${result} })`;
      }
      case 20:
        return `(if (${this.bool(inner)}) { ${this.int(inner)} } else { ${this.int(inner)} })`;
      default:
        return this.intLeaf();
    }
  }

  /** Something whose value the checker does not know. */
  protected opaque(): string {
    return this.argument() ?? this.variable("int") ?? this.mapOf((map) => map.name === "@n").name;
  }

  /** From 0 to `most`, which is a power of 2 less 1; never a constant, which would be refused where it is outside. */
  protected index(most: number): string {
    return `(${this.opaque()} + ${this.int(0)}) & ${most}`;
  }

  /** An operand of arithmetic may be a truth value too. */
  protected operand(depth: number): string {
    return this.random.chance(0.06) ? `(${this.bool(depth)})` : this.int(depth);
  }

  protected bool(wanted: number): string {
    const random = this.random;
    const depth = this.depthHere(wanted);
    const inner = depth - 1;
    const comparison = (): string =>
      `(${this.int(Math.max(0, inner))} ${random.pick(comparisons)} ${this.int(Math.max(0, inner))})`;
    if (depth <= 0)
      return (
        random.pick([
          () => this.variable("bool"),
          () => this.element("bool"),
          comparison,
          comparison,
          () => random.pick(["true", "false"]),
        ])() ?? comparison()
      );
    switch (random.below(this.leaves !== undefined ? 11 : 15)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return comparison();
      case 4:
        return `(${this.string(inner)} ${random.pick(["==", "!="])} ${this.string(inner)})`;
      case 5:
        return `strcontains(${this.string(inner)}, ${this.string(inner)})`;
      case 6:
      case 7:
        return `(${this.condition(inner)} ${random.pick(["&&", "||"])} ${this.condition(inner)})`;
      case 8:
        return `(!(${this.condition(inner)}))`;
      case 9: {
        const kind = random.pick(["pair", "labelled", "wide", "bytes"] as const);
        return `(${this.value(kind, inner)} ${random.pick(["==", "!="])} ${this.value(kind, inner)})`;
      }
      case 10:
        return this.variable("bool") ?? comparison();
      case 11: {
        const map = this.mapOf((m) => m.keys.length > 0, random.chance(0.6) ? this.plainMaps : this.aggregateMaps);
        return `has_key(${map.name}, ${map.keys.length > 1 ? `(${this.keys(map, inner)})` : this.keys(map, inner)})`;
      }
      case 12: {
        const map = this.mapOf((m) => m.keys.length > 0, random.chance(0.6) ? this.plainMaps : this.aggregateMaps);
        return `delete(${map.name}, ${map.keys.length > 1 ? `(${this.keys(map, inner)})` : this.keys(map, inner)})`;
      }
      case 13:
        return this.call("bool", inner) ?? comparison();
      default:
        return this.access(
          this.mapOf((map) => map.value === "bool"),
          inner,
        );
    }
  }

  protected condition(depth: number): string {
    return this.random.chance(0.2) ? this.int(depth) : this.bool(depth);
  }

  protected string(depth: number): string {
    const random = this.random;
    const literal = (): string => `"${random.pick(words)}"`;
    if (this.memory && this.leaves === undefined && random.chance(0.25)) return this.memoryString();
    switch (random.below(depth <= 0 ? 6 : this.leaves !== undefined ? 10 : 12)) {
      case 0:
      case 1:
      case 2:
        return literal();
      case 3:
      case 4:
        return this.variable("string") ?? literal();
      case 5:
        return this.element("string") ?? literal();
      case 6:
      case 7:
        return `(${this.bool(depth - 1)} ? ${this.string(depth - 1)} : ${this.string(depth - 1)})`;
      case 8:
        return `str(${this.string(depth - 1)}, ${random.chance(0.4) ? String(random.between(1, 12)) : `(${this.int(depth - 1)}) & ${random.pick(["7", "31"])}`})`;
      case 9:
        return `str_concat(${this.string(0)}, ${this.string(0)})`;
      case 10:
        return this.access(
          this.mapOf((map) => map.value === "string"),
          depth - 1,
        );
      default:
        return this.call("string", depth - 1) ?? literal();
    }
  }

  protected call(result: ScriptFunction["result"], depth: number): string | undefined {
    const found = this.functions.filter((f) => f.result === result);
    if (found.length === 0) return undefined;
    const { name, parameters } = this.random.pick(found);
    return `${name}(${parameters.map((kind) => this.value(kind, depth)).join(", ")})`;
  }
  protected compound(depth: number): string {
    const operator = this.random.pick(arithmetic);
    const value =
      operator === "/" || operator === "%" ? `(${this.opaque()} | ${this.int(depth - 1)})` : this.int(depth);
    return `${operator}= ${shifted(operator, value)}`;
  }

  protected mapStore(map: MapShape, depth = 2): string {
    const target = this.access(map, depth);
    switch (map.value) {
      case "count":
        return `${target} = count();`;
      case "sum":
      case "avg":
      case "min":
      case "max":
      case "stats":
      case "variance":
        return `${target} = ${map.value}(${this.int(depth)});`;
      case "hist":
      case "lhist":
      case "llhist": {
        const value = this.random.chance(0.5) ? `(${this.int(depth)}) & 127` : this.int(depth);
        return `${target} = ${map.value}(${value}${map.parameters ?? ""});`;
      }
      default:
        return `${target} = ${this.value(map.value, depth === 0 ? 0 : depth + 1)};`;
    }
  }
}

/** A shift's right side. A constant beyond 64 bits is refused; what merely may be is not. */
function shifted(operator: string, right: string): string {
  return (operator === "<<" || operator === ">>") && !/[@$]/.test(right) ? `(${right} & 63)` : right;
}
