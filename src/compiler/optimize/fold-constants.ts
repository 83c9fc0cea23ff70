// Computes what is known before the script runs, and drops arithmetic that changes nothing.
import type { Instruction, IrFunction, Value } from "../ir.ts";
import { foldBinary, foldCompare, foldExtend, foldSwapBytes } from "./fold.ts";
import { replaceValues } from "./replace.ts";

export function foldConstants(fn: IrFunction): IrFunction {
  const constants = new Map<Value, bigint>();
  const same = new Map<Value, Value>();
  for (const block of fn.blocks) {
    for (const i of block.instructions) if (i.op === "constant") constants.set(i.result, i.value);
  }
  const fold = (i: Instruction): Instruction => {
    const known = (value: Value): bigint | undefined => constants.get(same.get(value) ?? value);
    const constant = (result: Value, value: bigint): Instruction => {
      constants.set(result, value);
      return { op: "constant", result, value };
    };
    switch (i.op) {
      case "binary": {
        const [l, r] = [known(i.left), known(i.right)];
        if (l !== undefined && r !== undefined) return constant(i.result, foldBinary(i.kind, l, r));
        const unchanged = unchangedOperand(i, l, r);
        if (unchanged !== undefined) same.set(i.result, same.get(unchanged) ?? unchanged);
        return i;
      }
      case "compare": {
        const [l, r] = [known(i.left), known(i.right)];
        return l !== undefined && r !== undefined ? constant(i.result, foldCompare(i.kind, l, r)) : i;
      }
      case "extend": {
        const value = known(i.value);
        return value !== undefined ? constant(i.result, foldExtend(value, i.bits, i.signed)) : i;
      }
      case "swap-bytes": {
        const value = known(i.value);
        return value !== undefined ? constant(i.result, foldSwapBytes(value, i.bits)) : i;
      }
      default: return i;
    }
  };
  const blocks = fn.blocks.map((block) => ({ ...block, instructions: block.instructions.map(fold) }));
  return replaceValues({ ...fn, blocks }, same);
}

/** The operand that the result is equal to: `x + 0`, `x * 1`, … */
function unchangedOperand(i: Instruction & { op: "binary" }, left: bigint | undefined, right: bigint | undefined): Value | undefined {
  switch (i.kind) {
    case "add":
    case "or":
    case "xor": return right === 0n ? i.left : left === 0n ? i.right : undefined;
    case "sub":
    case "shl":
    case "lshr":
    case "ashr": return right === 0n ? i.left : undefined;
    case "mul": return right === 1n ? i.left : left === 1n ? i.right : undefined;
    case "udiv":
    case "sdiv": return right === 1n ? i.left : undefined;
    case "and": return right === -1n ? i.left : left === -1n ? i.right : undefined;
    case "umod":
    case "smod": return undefined;
  }
}
