// What is known of a function before any of it is generated: what defines each value and how often it is used, what the
// verifier may take for a pointer, which comparisons their branches make, where entries of maps are known to be there.
import type { ProgramType } from "../../language/context.ts";
import type { Instruction, IrFunction, Value } from "../ir/ir.ts";
import { operandsOf } from "../optimize/operands.ts";

export interface FunctionFacts {
  readonly useCounts: readonly number[];
  readonly constants: ReadonlyMap<Value, bigint>;
  readonly definitions: ReadonlyMap<Value, Instruction>;
  /** Values that the verifier may take for a pointer: only additions and loads go with those. */
  readonly pointers: ReadonlySet<Value>;
  /** Slots whose address the handler takes. */
  readonly addressed: ReadonlySet<number>;
  /** Slots that rounds of loops have as their frame. */
  readonly frames: ReadonlySet<number>;
}

export function factsOf(fn: IrFunction, programType: ProgramType): FunctionFacts {
  const useCounts = fn.values.map(() => 0);
  const constants = new Map<Value, bigint>();
  const definitions = new Map<Value, Instruction>();
  const addressed = new Set<number>();
  const frames = new Set<number>();
  const count = (value: Value): void => {
    useCounts[value] = (useCounts[value] ?? 0) + 1;
  };
  for (const { instructions, terminator } of fn.blocks) {
    for (const instruction of instructions) {
      operandsOf(instruction).forEach(count);
      if (instruction.op === "address-of" && instruction.what.kind === "slot") addressed.add(instruction.what.slot);
      if ("result" in instruction && instruction.result !== undefined) definitions.set(instruction.result, instruction);
      if (instruction.op === "rounds") frames.add(instruction.frame);
      if (instruction.op === "constant") constants.set(instruction.result, BigInt.asIntN(64, instruction.value));
    }
    if (terminator.op === "branch") count(terminator.condition);
    else if (terminator.op === "jump") terminator.args.forEach(count);
  }
  const pointers = pointersOf(fn, programType === "tracing", { constants, definitions, frames });
  return { useCounts, constants, definitions, pointers, addressed, frames };
}

function pointersOf(
  fn: IrFunction,
  tracing: boolean,
  { constants, definitions, frames }: Pick<FunctionFacts, "constants" | "definitions" | "frames">,
): ReadonlySet<Value> {
  const isSource = (instruction: Instruction): boolean => {
    switch (instruction.op) {
      case "builtin":
        return ["task", "user-registers", "context"].includes(instruction.name);
      case "load-context":
        return tracing && instruction.size === 8;
      case "read":
        return instruction.space === "typed" && instruction.size === 8;
      // A pointer that was put into a slot comes back as one. Of what rounds hand over it is known.
      case "load": {
        const { size, from } = instruction;
        return size === 8 && !(from.kind === "slot" ? frames.has(from.slot) : from.of === "frame");
      }
      case "percpu-address":
        return true;
      default:
        return false;
    }
  };
  const pointers = new Set<Value>();
  fn.values.forEach(({ typed }, value) => {
    if (typed) pointers.add(value);
  });
  const bases = pointers.size > 0 || [...definitions.values()].some((i) => isSource(i) && i.op !== "load");
  if (!bases) return pointers;
  for (const [value, instruction] of definitions) if (isSource(instruction)) pointers.add(value);
  for (let changed = true; changed;) {
    const before = pointers.size;
    for (const [value, instruction] of definitions) {
      if (instruction.op !== "binary" || (instruction.kind !== "add" && instruction.kind !== "sub")) continue;
      const { left, right } = instruction;
      if (pointers.has(left) && constants.has(right)) pointers.add(value);
      if (instruction.kind === "add" && pointers.has(right) && constants.has(left)) pointers.add(value);
    }
    for (const { terminator } of fn.blocks) {
      if (terminator.op !== "jump") continue;
      const parameters = fn.blocks[terminator.to]?.parameters ?? [];
      terminator.args.forEach((argument, i) => {
        const parameter = parameters[i];
        if (parameter !== undefined && pointers.has(argument)) pointers.add(parameter);
      });
    }
    changed = pointers.size !== before;
  }
  return pointers;
}

/** Comparisons that only branches read; those that others read too, or read far away, are made once. */
export function fusedComparisons(
  fn: IrFunction,
  { useCounts, constants, definitions }: FunctionFacts,
): ReadonlySet<Value> {
  const branches = new Map<Value, number>();
  const apart = new Set<Value>();
  for (const { instructions, terminator } of fn.blocks) {
    if (terminator.op !== "branch") continue;
    const { condition } = terminator;
    const definition = definitions.get(condition);
    if (definition?.op !== "compare") continue;
    branches.set(condition, (branches.get(condition) ?? 0) + 1);
    // Beside a constant, what is compared is no longer in the way than the answer would be.
    if (!constants.has(definition.right) && !instructions.includes(definition)) apart.add(condition);
  }
  const fused = new Set<Value>();
  for (const [condition, times] of branches)
    if (times === useCounts[condition] && !apart.has(condition)) fused.add(condition);
  return fused;
}

/** Entries of maps behind a branch that has seen them: the blocks from which on they are known. */
export function seenEntries(
  fn: IrFunction,
  { constants, definitions }: FunctionFacts,
  predecessors: readonly (readonly number[])[],
): ReadonlyMap<Value, readonly number[]> {
  const seen = new Map<Value, number[]>();
  for (const { terminator } of fn.blocks) {
    if (terminator.op !== "branch") continue;
    const { condition, then, otherwise } = terminator;
    const compare = definitions.get(condition);
    const tested = compare?.op === "compare" && constants.get(compare.right) === 0n ? compare : undefined;
    const entry = tested === undefined ? condition : tested.left;
    if (definitions.get(entry)?.op !== "map-lookup") continue;
    const where = tested === undefined || tested.kind === "ne" ? then : tested.kind === "eq" ? otherwise : undefined;
    if (where === undefined || predecessors[where]?.length !== 1) continue;
    seen.set(entry, [...(seen.get(entry) ?? []), where]);
  }
  return seen;
}
