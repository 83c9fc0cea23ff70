// Which branches decide whether a block runs.
import type { IrBlock } from "../ir/ir.ts";
import { successorsOf } from "../optimize/operands.ts";

export interface Control {
  /** The first block that runs whichever way a block's end takes; undefined: the function is left. */
  readonly joins: readonly (number | undefined)[];
  /** The blocks whose branches decide whether a block runs. */
  readonly deciders: readonly ReadonlySet<number>[];
}

/** Ferrante, Ottenstein, Warren: a block depends on a branch that it follows on one way, and not on all. */
export function controlOf(blocks: readonly IrBlock[]): Control {
  const exit = blocks.length;
  const next = blocks.map(({ terminator }) => {
    const successors = successorsOf(terminator);
    return successors.length === 0 ? [exit] : successors;
  });
  const joins = postdominators(next, exit);
  const deciders = blocks.map(() => new Set<number>());
  next.forEach((successors, from) => {
    if (successors.length < 2) return;
    for (const to of successors) {
      for (let block: number | undefined = to; block !== undefined && block !== exit && block !== joins[from];) {
        deciders[block].add(from);
        block = joins[block];
      }
    }
  });
  return { joins: joins.slice(0, exit).map((block) => (block === exit ? undefined : block)), deciders };
}

/** Immediate postdominators (Cooper, Harvey, Kennedy), on the reversed graph. The exit is the last number. */
function postdominators(next: readonly (readonly number[])[], exit: number): (number | undefined)[] {
  const before: number[][] = [...next.map(() => []), []];
  next.forEach((successors, from) => successors.forEach((to) => before[to].push(from)));
  const order: number[] = [];
  const seen = new Set([exit]);
  const stack = [{ id: exit, rest: [...before[exit]] }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const one = top.rest.pop();
    if (one === undefined) {
      order.push(top.id);
      stack.pop();
    } else if (!seen.has(one)) {
      seen.add(one);
      stack.push({ id: one, rest: [...before[one]] });
    }
  }
  order.reverse();
  const position = new Map(order.map((id, index) => [id, index]));
  const joins: (number | undefined)[] = Array.from({ length: exit + 1 }, () => undefined);
  joins[exit] = exit;
  const meet = (left: number, right: number): number => {
    let [a, b] = [left, right];
    while (a !== b) {
      while ((position.get(a) ?? 0) > (position.get(b) ?? 0)) a = joins[a] ?? exit;
      while ((position.get(b) ?? 0) > (position.get(a) ?? 0)) b = joins[b] ?? exit;
    }
    return a;
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const id of order.slice(1)) {
      const known = next[id].filter((to) => joins[to] !== undefined);
      if (known.length === 0) continue;
      const join = known.reduce(meet);
      if (joins[id] === join) continue;
      joins[id] = join;
      changed = true;
    }
  }
  return joins;
}
