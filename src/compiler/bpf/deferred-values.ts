// Values that only an event's fields want are computed when those are written: no register holds them while room for
// the event is reserved, and there is nothing to compute when there is none.
import { isSteadyHelper, type BuiltinValue, type Instruction, type IrFunction, type Value } from "../ir/ir.ts";
import { isPure, operandsOf, resultOf } from "../optimize/operands.ts";

/** `uses`: how often each value is read. */
export function lateValues(fn: IrFunction, uses: readonly number[]): Map<Value, Instruction> {
  const late = new Map<Value, Instruction>();
  for (const { instructions } of fn.blocks) {
    instructions.forEach((emit, at) => {
      if (emit.op !== "emit") return;
      const wanted = new Map<Value, number>();
      const want = (value: Value): void => void wanted.set(value, (wanted.get(value) ?? 0) + 1);
      operandsOf(emit).forEach(want);
      // Back to what has an effect: nothing is moved past that.
      for (let i = at - 1; i >= 0 && isPure(instructions[i]); i--) {
        const instruction = instructions[i];
        const result = resultOf(instruction);
        if (result === undefined || !canWait(instruction) || wanted.get(result) !== uses[result]) continue;
        late.set(result, instruction);
        operandsOf(instruction).forEach(want);
      }
    });
  }
  return late;
}

/** The same a little later: not clocks, and not the context, which would have to be held instead. */
function canWait(instruction: Instruction): boolean {
  switch (instruction.op) {
    case "builtin":
      return steady.has(instruction.name) || isSteadyHelper(instruction.name);
    case "read":
    case "binary":
    case "extend":
    case "swap-bytes":
      return true;
    default:
      return false;
  }
}
const steady: ReadonlySet<BuiltinValue> = new Set([
  "pid-and-tid",
  "initial-pid-and-tid",
  "gid-and-uid",
  "cpu",
  "cgroup",
  "task",
  "child-pid",
]);
