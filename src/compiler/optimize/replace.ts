// One value in the place of another, everywhere.
import type { IrFunction, Value } from "../ir.ts";
import { mapOperands, mapTerminator } from "./operands.ts";

export function replaceValues(fn: IrFunction, same: ReadonlyMap<Value, Value>): IrFunction {
  if (same.size === 0) return fn;
  const to = (value: Value): Value => {
    let current = value;
    for (let next = same.get(current); next !== undefined; next = same.get(current)) current = next;
    return current;
  };
  return {
    ...fn,
    blocks: fn.blocks.map((block) => ({
      ...block,
      instructions: block.instructions.map((i) => mapOperands(i, to)),
      terminator: mapTerminator(block.terminator, to),
    })),
  };
}
