// Drops what nobody uses: instructions without an effect whose result is never read, what is written into slots that
// nothing reads, block parameters, and then the slots themselves.
import type { Instruction, IrFunction, Value } from "../ir/ir.ts";
import { isPure, mapSlots, operandsOf, resultOf, writtenSlot } from "./operands.ts";

export function dropDeadCode(fn: IrFunction): IrFunction {
  const live = liveParts(fn);
  const blocks = fn.blocks.map((block) => {
    const { terminator: t } = block;
    return {
      parameters: block.parameters.filter((parameter) => live.values.has(parameter)),
      instructions: block.instructions.filter((i) => live.instructions.has(i)),
      terminator:
        t.op === "jump" ? { ...t, args: t.args.filter((_, i) => live.values.has(fn.blocks[t.to].parameters[i])) } : t,
    };
  });
  return dropUnusedSlots({ ...fn, blocks });
}

/** From what has an effect back to what that needs. */
function liveParts(fn: IrFunction): {
  readonly instructions: ReadonlySet<Instruction>;
  readonly values: ReadonlySet<Value>;
} {
  const instructions = new Set<Instruction>();
  const values = new Set<Value>();
  const slots = new Set<number>();
  /** What makes a value: an instruction, or the jumps that give a parameter. */
  const makers = new Map<Value, Instruction>();
  const given = new Map<Value, Value[]>();
  const writers = new Map<number, Instruction[]>();
  const pending: Instruction[] = [];
  const use = (first: Value): void => {
    const used = [first];
    for (let value = used.pop(); value !== undefined; value = used.pop()) {
      if (values.has(value)) continue;
      values.add(value);
      const maker = makers.get(value);
      if (maker !== undefined) keep(maker);
      for (const other of given.get(value) ?? []) used.push(other);
    }
  };
  const read = (slot: number): number => {
    if (!slots.has(slot)) {
      slots.add(slot);
      writers.get(slot)?.forEach(keep);
    }
    return slot;
  };
  const keep = (i: Instruction): void => {
    if (instructions.has(i)) return;
    instructions.add(i);
    pending.push(i);
  };
  for (const { instructions: all, terminator: t } of fn.blocks) {
    for (const i of all) {
      const result = resultOf(i);
      if (result !== undefined) makers.set(result, i);
      const slot = writtenSlot(i);
      if (slot === undefined) continue;
      const others = writers.get(slot);
      if (others === undefined) writers.set(slot, [i]);
      else others.push(i);
    }
    if (t.op !== "jump") continue;
    fn.blocks[t.to].parameters.forEach((parameter, i) => {
      const all = given.get(parameter);
      if (all === undefined) given.set(parameter, [t.args[i]]);
      else all.push(t.args[i]);
    });
  }
  for (const { instructions: all, terminator } of fn.blocks) {
    for (const i of all) if (!isPure(i) && writtenSlot(i) === undefined) keep(i);
    if (terminator.op === "branch") use(terminator.condition);
  }
  for (let i = pending.pop(); i !== undefined; i = pending.pop()) {
    operandsOf(i).forEach(use);
    mapSlots(i, read, i.op === "for-each" || i.op === "call" || i.op === "address-of" ? read : (slot) => slot);
  }
  return { instructions, values };
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
    blocks: fn.blocks.map((b) => ({ ...b, instructions: b.instructions.map((i) => mapSlots(i, renumber, renumber)) })),
  };
}

export function forEachSlot(i: Instruction, visit: (slot: number) => void): void {
  const see = (slot: number): number => (visit(slot), slot);
  mapSlots(i, see, see);
}
