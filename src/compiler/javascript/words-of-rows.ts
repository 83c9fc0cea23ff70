// Handlers of recorded events ask the row itself for a process, thread, user, group, CPU or cgroup: what the kernel tells
// in one number of two halves takes twice as long to make here as its half to read.
import { dropDeadCode } from "../optimize/dead-code.ts";
import type { RecordedRow, RecordedWord } from "../../language/context.ts";
import type { Instruction, IrFunction, Value } from "../ir/ir.ts";

/** The word that is the high half of what a builtin tells, and the one that is the low half. */
const halves: Partial<Record<string, readonly [high: RecordedWord, low: RecordedWord]>> = {
  "pid-and-tid": ["pid", "tid"],
  "gid-and-uid": ["gid", "uid"],
};

const whole: Partial<Record<string, RecordedWord>> = { cpu: "cpu", cgroup: "cgroup", "user-mode": "user-mode" };

/** The function with loads from the row where it asks for a word of it alone. Its blocks are as they were. */
export function withWordsOfRows(fn: IrFunction, row: RecordedRow): IrFunction {
  const made = new Map<Value, Instruction>();
  for (const { instructions } of fn.blocks)
    for (const instruction of instructions)
      if ("result" in instruction && instruction.result !== undefined) made.set(instruction.result, instruction);
  const load = (result: Value, word: RecordedWord | undefined, most: 4 | 8): Instruction | undefined => {
    const at = word === undefined ? undefined : row.words[word];
    if (at === undefined) return undefined;
    return { op: "load-context", result, offset: at.offset, size: at.size > most ? most : at.size, signed: false };
  };
  const halvesOf = (value: Value): readonly [high: RecordedWord, low: RecordedWord] | undefined => {
    const from = made.get(value);
    return from?.op === "builtin" ? halves[from.name] : undefined;
  };
  const asLoad = (instruction: Instruction): Instruction | undefined => {
    switch (instruction.op) {
      case "builtin":
        return load(instruction.result, whole[instruction.name], 8);
      case "binary": {
        const { kind, left, right, result } = instruction;
        const by = made.get(right);
        const bits = by?.op === "constant" ? by.value : undefined;
        if (kind === "lshr" && bits === 32n) return load(result, halvesOf(left)?.[0], 4);
        return kind === "and" && bits === 0xffff_ffffn ? load(result, halvesOf(left)?.[1], 4) : undefined;
      }
      case "extend": {
        const { bits, signed, value, result } = instruction;
        return bits === 32 && !signed ? load(result, halvesOf(value)?.[1], 4) : undefined;
      }
      default:
        return undefined;
    }
  };
  const blocks = fn.blocks.map((block) => ({
    ...block,
    instructions: block.instructions.map((instruction) => asLoad(instruction) ?? instruction),
  }));
  return dropDeadCode({ ...fn, blocks });
}
