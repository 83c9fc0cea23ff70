// What of a function some of its instructions need: those, what their operands are made of, and the branches that decide
// whether they run (Weiser's slices). Loops and branches that decide nothing of it are left out.
import type { Instruction, IrBlock, IrFunction, Value } from "../ir/ir.ts";
import { reversePostorder } from "../optimize/graph.ts";
import { operandsOf, resultOf, retarget, successorsOf, terminatorOperands } from "../optimize/operands.ts";
import type { Control } from "./control.ts";
import { slotsRead, slotWritten } from "./operations.ts";

export interface Need {
  readonly instructions: ReadonlySet<Instruction>;
  readonly values: ReadonlySet<Value>;
  /** Blocks whose end decides something. */
  readonly branches: ReadonlySet<number>;
}

export interface Given {
  /** The value is there already: what it is made of is not needed. */
  value(value: Value): boolean;
  /** What the instruction writes is there already. */
  write(instruction: Instruction): boolean;
  /** The only way out of a block that is taken, where that is known. */
  way(block: number): number | undefined;
}

export const nothingGiven: Given = { value: () => false, write: () => false, way: () => undefined };

/** `wanted`: what the slice is for. */
export function needOf(
  { blocks }: Pick<IrFunction, "blocks">,
  control: Control,
  wanted: (instruction: Instruction) => boolean,
  given: Given = nothingGiven,
): Need {
  const instructions = new Set<Instruction>();
  const values = new Set<Value>();
  const branches = new Set<number>();
  const reached = new Set<number>();
  const makers = new Map<
    Value,
    { readonly block: number; readonly instruction?: Instruction; readonly index?: number }
  >();
  const writers = new Map<number, { readonly block: number; readonly instruction: Instruction }[]>();
  const before: number[][] = blocks.map(() => []);
  blocks.forEach((block, id) => {
    block.parameters.forEach((parameter, index) => makers.set(parameter, { block: id, index }));
    for (const instruction of block.instructions) {
      const result = resultOf(instruction);
      if (result !== undefined) makers.set(result, { block: id, instruction });
      const slot = slotWritten(instruction);
      if (slot === undefined) continue;
      const all = writers.get(slot);
      if (all === undefined) writers.set(slot, [{ block: id, instruction }]);
      else all.push({ block: id, instruction });
    }
    for (const to of successorsOf(block.terminator)) before[to].push(id);
  });

  const pending: (() => void)[] = [];
  const reach = (block: number): void => {
    if (reached.has(block)) return;
    reached.add(block);
    for (const decider of control.deciders[block]) {
      if (branches.has(decider) || given.way(decider) !== undefined) continue;
      branches.add(decider);
      pending.push(() => {
        reach(decider);
        terminatorOperands(blocks[decider].terminator).forEach(use);
      });
    }
    // A way that is known leads on, and needs what leads to it.
    for (const decider of control.deciders[block])
      if (given.way(decider) !== undefined) pending.push(() => reach(decider));
  };
  const keep = (instruction: Instruction, block: number): void => {
    if (instructions.has(instruction)) return;
    instructions.add(instruction);
    pending.push(() => {
      reach(block);
      if (given.write(instruction)) return;
      operandsOf(instruction).forEach(use);
      for (const slot of slotsRead(instruction))
        for (const writer of writers.get(slot) ?? []) keep(writer.instruction, writer.block);
    });
  };
  const use = (value: Value): void => {
    if (values.has(value)) return;
    values.add(value);
    if (given.value(value)) return;
    const maker = makers.get(value);
    if (maker?.instruction !== undefined) return keep(maker.instruction, maker.block);
    if (maker?.index === undefined) return;
    const { block, index } = maker;
    pending.push(() => {
      reach(block);
      for (const from of before[block]) {
        reach(from);
        const { terminator } = blocks[from];
        if (terminator.op === "jump") use(terminator.args[index]);
      }
    });
  };
  blocks.forEach((block, id) => {
    for (const instruction of block.instructions) if (wanted(instruction)) keep(instruction, id);
  });
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) next();
  return { instructions, values, branches };
}

/** The function with what is needed of it alone. `given.value`s that are parameters are none any more. */
export function sliced(fn: IrFunction, control: Control, need: Need, given: Given = nothingGiven): IrFunction {
  const takes = (value: Value): boolean => need.values.has(value) && !given.value(value);
  const blocks = fn.blocks.map((block, id): IrBlock => {
    const { terminator } = block;
    const parameters = block.parameters.filter(takes);
    const instructions = block.instructions.filter((i) => need.instructions.has(i));
    const way = given.way(id);
    const several = successorsOf(terminator).length > 1;
    if (terminator.op === "jump") {
      const args = terminator.args.filter((_, i) => takes(fn.blocks[terminator.to].parameters[i]));
      return { parameters, instructions, terminator: { ...terminator, args } };
    }
    if (way !== undefined) return { parameters, instructions, terminator: { op: "jump", to: way, args: [] } };
    if (!several || need.branches.has(id)) return { parameters, instructions, terminator };
    const to = control.joins[id];
    return {
      parameters,
      instructions,
      terminator: to === undefined ? { op: "return" } : { op: "jump", to, args: [] },
    };
  });
  return withoutUnreachable({ ...fn, blocks });
}

export function withoutUnreachable(fn: IrFunction): IrFunction {
  const order = reversePostorder(fn.blocks).sort((a, b) => a - b);
  const number = new Map(order.map((id, index) => [id, index]));
  return {
    ...fn,
    blocks: order.map((id) => ({
      ...fn.blocks[id],
      terminator: retarget(fn.blocks[id].terminator, (to) => number.get(to) ?? 0),
    })),
  };
}
