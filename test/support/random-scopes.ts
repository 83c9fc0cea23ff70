// What is known while a random program is written: its variables, functions and maps, and what may be used where.
import { Random } from "./random.ts";
import {
  again,
  aggregateMaps,
  emphases,
  initials,
  plainMaps,
  type Emphasis,
  type Kind,
  type MapShape,
} from "./random-shapes.ts";

export interface LocalVariable {
  readonly name: string;
  readonly kind: Kind;
  readonly fixed: boolean;
}
export interface ScriptFunction {
  readonly name: string;
  readonly parameters: readonly ("int" | "string")[];
  readonly result: "int" | "string" | "bool";
}

/** What an expression may do. In a loop over a map nothing may depend on the order of its rounds. */
interface Leaves {
  readonly variables: readonly LocalVariable[];
}

export class Scopes {
  protected readonly random: Random;
  protected readonly scopes: LocalVariable[][] = [];
  protected readonly functions: ScriptFunction[] = [];
  protected readonly used = new Set<MapShape>();
  protected names = 0;
  protected unordered = false;
  protected inFunction = false;
  /** Inside of a loop over a map, only what `leaves` has is read, and nothing is changed by an expression. */
  protected leaves: Leaves | undefined;
  protected loops = 0;
  protected nesting = 0;
  /** Statements left to write: keeps programs within what the verifier can follow. */
  protected budget: number;
  protected readonly emphasis: Emphasis;
  /**
   * Memory and the process are read as well: such programs only load, since what they find there is not the script's to
   * say.
   */
  protected readonly memory: boolean;
  protected readonly plainMaps: readonly MapShape[];
  protected readonly aggregateMaps: readonly MapShape[];

  constructor(seed: number, memory: boolean) {
    this.random = new Random(seed);
    this.memory = memory;
    this.emphasis = this.random.chance(0.5) ? "nothing" : this.random.pick(emphases);
    const many = this.emphasis === "maps" ? 3 : 1;
    this.plainMaps = again(plainMaps, many);
    this.aggregateMaps = again(aggregateMaps, many);
    this.budget = this.random.between(3, this.emphasis === "maps" || this.emphasis === "output" ? 40 : 16);
  }

  /** How deep expressions are at most: the verifier follows every path through a loop's body. */
  protected depthHere(wanted: number): number {
    return this.nesting === 0 ? wanted : Math.min(wanted, this.emphasis === "text" ? 2 : 1);
  }

  // ── names ──

  protected visible(): LocalVariable[] {
    return this.leaves === undefined ? this.scopes.flat() : [...this.leaves.variables];
  }

  protected variable(kind: Kind): string | undefined {
    const found = this.visible().filter((v) => v.kind === kind);
    return found.length > 0 ? this.random.pick(found).name : undefined;
  }

  protected assignable(kind: Kind): string | undefined {
    const found = this.scopes.flat().filter((v) => v.kind === kind && !v.fixed);
    return found.length > 0 ? this.random.pick(found).name : undefined;
  }

  protected newVariable(kind: Kind, fixed = false): string {
    const name = `$${initials[kind]}${this.names++}`;
    this.scopes.at(-1)?.push({ name, kind, fixed });
    return name;
  }

  protected mapOf(choose: (map: MapShape) => boolean, from: readonly MapShape[] = this.plainMaps): MapShape {
    // Maps that are there already are met again, more often than not.
    const known = [...this.used].filter((map) => from.includes(map) && choose(map));
    const map =
      known.length > 0 && this.random.chance(this.emphasis === "maps" ? 0.2 : 0.7)
        ? this.random.pick(known)
        : this.random.pick(from.filter(choose));
    this.used.add(map);
    return map;
  }
}
