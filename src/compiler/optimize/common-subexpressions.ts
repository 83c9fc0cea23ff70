// Computes equal things once: where one dominates the other, and nothing in between can have changed what they read.
// Arithmetic, context loads and steady builtins; reads of memory; look-ups in maps. Slots that hold the same bytes, as
// the keys of several maps do, are one.
import { isSteadyHelper, type BuiltinValue, type Instruction, type IrFunction, type Value } from "../ir/ir.ts";
import { dominators, predecessorsOf, reversePostorder } from "./graph.ts";
import { MemoryState } from "./memory-state.ts";
import { mapOperands, mapSlots, mapTerminator } from "./operands.ts";

export function shareSubexpressions(fn: IrFunction): IrFunction {
  const idom = dominators(fn.blocks);
  const children: number[][] = fn.blocks.map(() => []);
  for (const id of reversePostorder(fn.blocks)) {
    const parent = idom[id];
    if (parent !== undefined && parent !== id) children[parent].push(id);
  }
  const predecessors = predecessorsOf(fn.blocks);
  const same = new Map<Value, Value>();
  const to = (value: Value): Value => same.get(value) ?? value;
  const blocks = [...fn.blocks];
  const ends: (MemoryState | undefined)[] = [];
  /** What has been computed on the way to a block, by its key. */
  const known = new Map<string, Value>();
  /** Gives what it has added to that. */
  const visit = (id: number): string[] => {
    const added: string[] = [];
    // Blocks come after all that lead to them, but for the ways back of loops.
    const state = id === 0 ? MemoryState.first(fn) : joined(predecessors[id].map((predecessor) => ends[predecessor]));
    const instructions: Instruction[] = [];
    for (const original of blocks[id].instructions) {
      const i = mapSlots(
        same.size === 0 ? original : mapOperands(original, to),
        (slot) => state.equalSlot(slot),
        (slot) => slot,
      );
      const key = keyOf(i, state);
      const equal = key === undefined ? undefined : known.get(key);
      if (key !== undefined && "result" in i && i.result !== undefined) {
        if (equal !== undefined) {
          same.set(i.result, equal);
          continue;
        }
        known.set(key, i.result);
        added.push(key);
      }
      state.after(i);
      instructions.push(i);
    }
    blocks[id] = { ...blocks[id], instructions };
    ends[id] = state;
    return added;
  };
  // Down the tree of dominators, a handler's thousands of blocks deep.
  const open = [{ added: visit(0), rest: children[0].values() }];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { value: child } = top.rest.next();
    if (child !== undefined) {
      open.push({ added: visit(child), rest: children[child].values() });
    } else {
      for (const key of top.added) known.delete(key);
      open.pop();
    }
  }
  return { ...fn, blocks: blocks.map((b) => ({ ...b, terminator: mapTerminator(b.terminator, to) })) };
}

function joined(ways: readonly (MemoryState | undefined)[]): MemoryState {
  const [known] = ways.filter((way) => way !== undefined);
  return ways.length === 1 ? known.copy() : MemoryState.join([known, ...ways.filter((way) => way !== known)]);
}

/** Stay the same while a handler runs. */
const steady: ReadonlySet<BuiltinValue> = new Set([
  "pid-and-tid",
  "initial-pid-and-tid",
  "gid-and-uid",
  "cpu",
  "cgroup",
  "task",
  "func-ip",
  "attach-cookie",
  "context",
  "child-pid",
  "user-mode",
]);

/** Instructions with equal keys give equal values; undefined when nothing of the kind can be said. */
function keyOf(i: Instruction, state: MemoryState): string | undefined {
  switch (i.op) {
    case "constant":
      return `constant ${i.value}`;
    case "binary":
      return `${i.kind} ${i.left} ${i.right}`;
    case "compare":
      return `${i.kind} ${i.left} ${i.right}`;
    case "extend":
      return `extend ${i.value} ${i.bits} ${i.signed}`;
    case "swap-bytes":
      return `swap ${i.value} ${i.bits}`;
    case "builtin":
      return steady.has(i.name) || isSteadyHelper(i.name) ? `builtin ${i.name}` : undefined;
    case "load-context":
      return `context ${i.offset} ${i.size} ${i.signed}`;
    case "read":
      return `read ${i.space} ${i.address} ${i.offset} ${i.size} ${i.signed} at ${state.version("memory")}`;
    case "map-lookup":
      return i.key.kind === "slot"
        ? `lookup ${i.map} ${i.key.offset} {${state.slot(i.key.slot)}} at ${state.version(i.map)}`
        : undefined;
    case "entry-load":
      return `entry ${i.entry} ${i.size} ${i.signed} at ${state.version(i.map)}`;
    case "map-load":
      return `load ${i.map} ${i.size} ${i.signed} at ${state.version(i.map)}`;
    case "map-has":
      return `has ${i.map} at ${state.version(i.map)}`;
    default:
      return undefined;
  }
}
