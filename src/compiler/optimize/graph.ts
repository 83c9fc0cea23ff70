// The shape of a function's flow: predecessors, reachable blocks, dominators.
import type { IrBlock } from "../ir/ir.ts";
import { successorsOf } from "./operands.ts";

export function predecessorsOf(blocks: readonly IrBlock[]): number[][] {
  const predecessors: number[][] = blocks.map(() => []);
  blocks.forEach((block, id) => {
    for (const successor of successorsOf(block.terminator)) predecessors[successor].push(id);
  });
  return predecessors;
}

/** Reachable blocks in reverse postorder: a block comes after its dominators. */
export function reversePostorder(blocks: readonly IrBlock[]): number[] {
  const seen = new Set<number>([0]);
  const postorder: number[] = [];
  const stack = [{ id: 0, rest: successorsOf(blocks[0].terminator).reverse() }];
  for (let top = stack[0]; top !== undefined; top = stack[stack.length - 1]) {
    const next = top.rest.shift();
    if (next === undefined) {
      postorder.push(top.id);
      stack.pop();
    } else if (!seen.has(next)) {
      seen.add(next);
      stack.push({ id: next, rest: successorsOf(blocks[next].terminator).reverse() });
    }
  }
  return postorder.reverse();
}

/**
 * The blocks that lead to each other: of each that is in a loop, all of the outermost one that it is in, as one list
 * that they share; of others undefined (Tarjan). Only what is reachable.
 */
export function loopsOf(blocks: readonly IrBlock[]): (readonly number[] | undefined)[] {
  const loops: (readonly number[] | undefined)[] = blocks.map(() => undefined);
  const order = new Int32Array(blocks.length);
  const lowest = new Int32Array(blocks.length);
  const waiting: number[] = [];
  const isWaiting = new Uint8Array(blocks.length);
  let visited = 0;
  const open: { readonly id: number; readonly rest: number[] }[] = [];
  const enter = (id: number): void => {
    order[id] = lowest[id] = ++visited;
    waiting.push(id);
    isWaiting[id] = 1;
    open.push({ id, rest: successorsOf(blocks[id].terminator) });
  };
  enter(0);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { id, rest } = top;
    const next = rest.pop();
    if (next !== undefined) {
      if (order[next] === 0) enter(next);
      else if (isWaiting[next] === 1) lowest[id] = Math.min(lowest[id], order[next]);
      continue;
    }
    open.pop();
    const outer = open.at(-1);
    if (outer !== undefined) lowest[outer.id] = Math.min(lowest[outer.id], lowest[id]);
    if (lowest[id] !== order[id]) continue;
    const loop = waiting.splice(waiting.lastIndexOf(id));
    const circular = loop.length > 1 || successorsOf(blocks[id].terminator).includes(id);
    for (const one of loop) {
      isWaiting[one] = 0;
      if (circular) loops[one] = loop;
    }
  }
  return loops;
}

/** Immediate dominators (Cooper, Harvey, Kennedy); the entry's is itself; unreachable blocks have none. */
export function dominators(blocks: readonly IrBlock[]): (number | undefined)[] {
  const order = reversePostorder(blocks);
  const position = new Map(order.map((id, index) => [id, index]));
  const predecessors = predecessorsOf(blocks);
  const idom: (number | undefined)[] = blocks.map(() => undefined);
  idom[0] = 0;
  const intersect = (left: number, right: number): number => {
    let [a, b] = [left, right];
    while (a !== b) {
      while ((position.get(a) ?? 0) > (position.get(b) ?? 0)) a = idom[a] ?? 0;
      while ((position.get(b) ?? 0) > (position.get(a) ?? 0)) b = idom[b] ?? 0;
    }
    return a;
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const id of order.slice(1)) {
      const known = predecessors[id].filter((p) => idom[p] !== undefined);
      const dominator = known.reduce(intersect);
      if (idom[id] !== dominator) {
        idom[id] = dominator;
        changed = true;
      }
    }
  }
  return idom;
}

/**
 * The blocks that may leave a loop that they are in, the innermost ones included: a loop is what is on the ways round
 * from a block back to it.
 */
export function endsOfLoops(blocks: readonly IrBlock[]): ReadonlySet<number> {
  const next = (id: number): readonly number[] => successorsOf(blocks[id].terminator);
  const predecessors = predecessorsOf(blocks);
  const ends = new Set<number>();
  for (const from of blocks.keys()) {
    for (const head of next(from).filter((to) => to <= from)) {
      const loop = new Set([head, from]);
      const pending = from === head ? [] : [from];
      for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
        for (const before of predecessors[id]) {
          if (loop.has(before)) continue;
          loop.add(before);
          pending.push(before);
        }
      }
      for (const id of loop) if (next(id).some((to) => !loop.has(to))) ends.add(id);
    }
  }
  return ends;
}
