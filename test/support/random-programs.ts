// Random bpftrace programs for the differential suite and for the verifier: well-typed, bounded, and with a result that
// depends on nothing but the script and its arguments (unless memory is read). A program is a tree of statements, so
// that a failing one can be made smaller.
import { memoryTypes } from "./random-expressions.ts";
import { piece, type Piece } from "./random-pieces.ts";
import { fewKeys, MadeUpStatements } from "./random-made-up.ts";
import { integerTypes } from "./random-shapes.ts";

export interface RandomProgram {
  readonly pieces: readonly Piece[];
  /** Events come from a loop over a map, in whatever order the map has. */
  readonly unordered: boolean;
}

/** `memory`: a program that reads memory and asks for the process too, for which there are no expected results. */
export function randomProgram(seed: number, memory = false): RandomProgram {
  return new ProgramWriter(seed, memory).program(false);
}

/** One in the made-up language of made-up-statements.ts. */
export function madeUpProgram(seed: number): RandomProgram {
  return new ProgramWriter(seed, false).program(true);
}

class ProgramWriter extends MadeUpStatements {
  program(madeUp: boolean): RandomProgram {
    this.madeUp = madeUp;
    const random = this.random;
    const functions: Piece[] = [];
    for (let i = random.chance(0.3) ? random.between(1, 2) : 0; i > 0; i--) functions.push(this.function());
    this.scopes.push([]);
    const predicate = random.chance(0.1) ? `/${this.bool(2)}/ ` : "";
    const body = this.statements(random.between(2, this.emphasis === "output" || this.emphasis === "maps" ? 30 : 8));
    const looked = this.look();
    // Types come from assignments: each map has one that never runs.
    this.leaves = { variables: [] };
    const setup = piece(
      "if (arg5 == 24301) {",
      [...this.used]
        .map((map) => piece(this.mapStore(map, 0)))
        .concat(madeUp ? [piece("@few[1] = 1; takes(@stat, -1); takes(@stat_by[1], -1);")] : []),
      "}",
    );
    return {
      pieces: [
        piece("config = { max_map_keys=256; max_strlen=64 }"),
        ...(this.memory ? [piece(memoryTypes)] : []),
        ...(madeUp ? [piece(fewKeys)] : []),
        ...functions,
        piece(`rawtracepoint:differential ${predicate}{`, [...body, ...looked, setup], "}"),
      ],
      unordered: this.unordered,
    };
  }

  /** What became of the variables. */
  protected look(): Piece[] {
    return this.visible()
      .filter(({ fixed }) => !fixed)
      .slice(0, 6)
      .map(({ name, kind }, i) =>
        kind === "int" || kind === "bool" ? piece(`@end_${kind}[${i}] = ${name};`) : piece(`print(${name});`),
      );
  }

  // ── functions ──

  protected function(): Piece {
    const random = this.random;
    const parameters = Array.from({ length: random.between(0, 3) }, () =>
      random.pick(["int", "int", "string"] as const),
    );
    const result = random.pick(["int", "int", "string", "bool"] as const);
    const name = `f${this.functions.length}`;
    this.inFunction = true;
    this.resultKind = result;
    this.scopes.push([]);
    const written = parameters.map(
      (kind) =>
        `${this.newVariable(kind)} : ${kind === "int" ? random.pick(integerTypes) : `string[${random.between(4, 24)}]`}`,
    );
    const budget = this.budget;
    this.budget = Math.min(4, budget);
    const body = this.statements(random.between(0, 3));
    this.budget = budget;
    const last = this.result();
    this.scopes.pop();
    this.inFunction = false;
    this.functions.push({ name, parameters, result });
    const type =
      result === "int" ? random.pick(integerTypes) : result === "bool" ? "bool" : `string[${random.between(4, 24)}]`;
    return piece(`fn ${name}(${written.join(", ")}) : ${type} {`, [...body, piece(last)], "}");
  }
}
