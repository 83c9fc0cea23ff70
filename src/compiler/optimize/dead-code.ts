// Drops what nobody uses: instructions without an effect whose result is never read, and slots that nothing touches.
import type { Instruction, IrFunction, Place, Source, Value } from "../ir.ts";
import { isPure, operandsOf, resultOf, terminatorOperands } from "./operands.ts";

export function dropDeadCode(fn: IrFunction): IrFunction {
  const definitions = new Map<Value, Instruction>();
  const live = new Set<Value>();
  const pending: Value[] = [];
  const use = (value: Value): void => {
    if (live.has(value)) return;
    live.add(value);
    pending.push(value);
  };
  for (const { instructions, terminator } of fn.blocks) {
    for (const i of instructions) {
      const result = resultOf(i);
      if (result !== undefined) definitions.set(result, i);
      if (!isPure(i)) operandsOf(i).forEach(use);
    }
    terminatorOperands(terminator).forEach(use);
  }
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    const definition = definitions.get(value);
    if (definition !== undefined && isPure(definition)) operandsOf(definition).forEach(use);
  }
  const blocks = fn.blocks.map((block) => ({
    ...block,
    instructions: block.instructions.filter((i) => {
      const result = resultOf(i);
      return !isPure(i) || result === undefined || live.has(result);
    }),
  }));
  return dropUnusedSlots({ ...fn, blocks });
}

function dropUnusedSlots(fn: IrFunction): IrFunction {
  const used = new Set<number>();
  for (const { instructions } of fn.blocks) {
    for (const i of instructions) forEachSlot(i, (slot) => used.add(slot));
  }
  if (used.size === fn.slots.length) return fn;
  const kept = fn.slots.map((_, id) => id).filter((id) => used.has(id));
  const number = new Map(kept.map((id, index) => [id, index]));
  const renumber = (slot: number): number => number.get(slot) ?? 0;
  return {
    ...fn,
    slots: kept.map((id) => fn.slots[id]),
    blocks: fn.blocks.map((b) => ({ ...b, instructions: b.instructions.map((i) => mapSlots(i, renumber)) })),
  };
}

export function forEachSlot(i: Instruction, visit: (slot: number) => void): void {
  mapSlots(i, (slot) => (visit(slot), slot));
}

/** The same instruction over other slots. */
function mapSlots(i: Instruction, to: (slot: number) => number): Instruction {
  const place = (p: Place): Place => (p.kind === "slot" ? { ...p, slot: to(p.slot) } : p);
  const source = (s: Source): Source => (s.kind === "copy" ? { ...s, from: place(s.from) } : s);
  const keyed = <T extends { readonly key?: Place }>(instruction: T): T => (
    instruction.key === undefined ? instruction : { ...instruction, key: place(instruction.key) });
  switch (i.op) {
    case "load":
    case "write-user": return { ...i, from: place(i.from) };
    case "store":
    case "parse-address": return { ...i, to: place(i.to) };
    case "zero": return { ...i, at: place(i.at) };
    case "fill": return { ...i, to: place(i.to), source: source(i.source) };
    case "compare-strings": return { ...i, left: place(i.left), right: i.right instanceof Uint8Array ? i.right : place(i.right) };
    case "compare-bytes": return { ...i, left: place(i.left), right: place(i.right) };
    case "find-string": return { ...i, text: place(i.text), needle: i.needle instanceof Uint8Array ? i.needle : place(i.needle) };
    case "concat-strings": return { ...i, to: place(i.to), left: place(i.left), right: place(i.right) };
    case "string-length": return { ...i, text: place(i.text) };
    case "stack-length": return { ...i, stack: place(i.stack) };
    case "map-copy": return keyed({ ...i, to: place(i.to) });
    case "map-store": return keyed({ ...i, source: source(i.source) });
    case "map-load":
    case "map-has":
    case "map-add":
    case "map-delete":
    case "aggregate":
    case "aggregate-read": return keyed(i);
    case "for-each": return i.captures === undefined ? i : { ...i, captures: to(i.captures) };
    case "emit": return { ...i, fields: i.fields.map(source) };
    case "constant":
    case "binary":
    case "compare":
    case "extend":
    case "swap-bytes":
    case "builtin":
    case "load-context":
    case "read":
    case "map-length":
    case "signal":
    case "override":
    case "percpu-address":
    case "socket-cookie": return i;
  }
}
