// Straightens the flow: branches that are decided, blocks that only lead on, blocks with one way in.
import type { IrBlock, IrFunction, Terminator, Value } from "../ir.ts";
import { compact, predecessorsOf } from "./graph.ts";
import { replaceValues } from "./replace.ts";

export function simplifyBranches(fn: IrFunction): IrFunction {
  return mergeBlocks(skipEmptyBlocks(decideBranches(fn)));
}

function decideBranches(fn: IrFunction): IrFunction {
  const constants = new Map<Value, bigint>();
  for (const { instructions } of fn.blocks) for (const i of instructions) if (i.op === "constant") constants.set(i.result, i.value);
  const decided = (t: Terminator): Terminator => {
    if (t.op !== "branch") return t;
    const known = constants.get(t.condition);
    if (known !== undefined) return { op: "jump", to: known === 0n ? t.otherwise : t.then, args: [] };
    return t.then === t.otherwise ? { op: "jump", to: t.then, args: [] } : t;
  };
  return { ...fn, blocks: compact(fn.blocks.map((b) => ({ ...b, terminator: decided(b.terminator) }))) };
}

/** Leads past blocks that hold nothing but a jump. A branch cannot pass arguments, so it stops before a block that takes some. */
function skipEmptyBlocks(fn: IrFunction): IrFunction {
  const { blocks } = fn;
  const beyond = (start: number): number => {
    const seen = new Set<number>();
    let id = start;
    for (;;) {
      const { parameters, instructions, terminator } = blocks[id];
      const passes = parameters.length === 0 && instructions.length === 0 && terminator.op === "jump" && terminator.args.length === 0;
      if (!passes || seen.has(id)) return id;
      seen.add(id);
      id = terminator.to;
    }
  };
  const skipped = (t: Terminator): Terminator => {
    switch (t.op) {
      case "jump": {
        if (t.args.length > 0) return t;
        const last = blocks[beyond(t.to)];
        const to = beyond(t.to);
        // The last empty block may be the one that passes arguments.
        if (last.parameters.length === 0 && last.instructions.length === 0 && last.terminator.op === "jump") {
          return { op: "jump", to: last.terminator.to, args: last.terminator.args };
        }
        return { ...t, to };
      }
      case "branch": return { ...t, then: beyond(t.then), otherwise: beyond(t.otherwise) };
      case "guard": return { ...t, body: beyond(t.body), exit: beyond(t.exit) };
      case "return": return t;
    }
  };
  return { ...fn, blocks: compact(blocks.map((b) => ({ ...b, terminator: skipped(b.terminator) }))) };
}

/** Joins a block with the one before it, when that is its only way in and leads nowhere else. */
function mergeBlocks(fn: IrFunction): IrFunction {
  const blocks: IrBlock[] = [...fn.blocks];
  const predecessors = predecessorsOf(blocks);
  const same = new Map<Value, Value>();
  const gone = new Set<number>();
  for (let id = 0; id < blocks.length; id++) {
    if (gone.has(id)) continue;
    for (;;) {
      const { instructions, parameters, terminator } = blocks[id];
      if (terminator.op !== "jump" || terminator.to === id || terminator.to === 0 || predecessors[terminator.to].length !== 1) break;
      const next = blocks[terminator.to];
      next.parameters.forEach((parameter, i) => same.set(parameter, terminator.args[i]));
      gone.add(terminator.to);
      blocks[id] = { parameters, instructions: [...instructions, ...next.instructions], terminator: next.terminator };
    }
  }
  return { ...fn, blocks: compact(replaceValues({ ...fn, blocks }, same).blocks) };
}
