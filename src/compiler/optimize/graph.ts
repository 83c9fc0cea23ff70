// The shape of a function's flow: predecessors, reachable blocks, dominators.
import type { IrBlock } from "../ir.ts";
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
