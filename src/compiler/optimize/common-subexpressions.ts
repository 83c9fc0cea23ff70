// Computes equal things once: arithmetic, context loads and unchanging builtins where one dominates the other; memory reads
// within a block, as long as nothing in between can have changed what they read.
import type { BuiltinValue, Instruction, IrFunction, Value } from "../ir.ts";
import { dominators, reversePostorder } from "./graph.ts";
import { mapOperands, mapTerminator } from "./operands.ts";

export function shareSubexpressions(fn: IrFunction): IrFunction {
  const idom = dominators(fn.blocks);
  const children: number[][] = fn.blocks.map(() => []);
  for (const id of reversePostorder(fn.blocks)) {
    const parent = idom[id];
    if (parent !== undefined && parent !== id) children[parent].push(id);
  }
  const same = new Map<Value, Value>();
  const to = (value: Value): Value => same.get(value) ?? value;
  const blocks = [...fn.blocks];
  const visit = (id: number, outer: ReadonlyMap<string, Value>): void => {
    const known = new Map(outer);
    const reads = new Map<string, Value>();
    const instructions: Instruction[] = [];
    for (const original of blocks[id].instructions) {
      const i = mapOperands(original, to);
      const table = i.op === "read" ? reads : known;
      const key = keyOf(i);
      const equal = key === undefined ? undefined : table.get(key);
      if (key !== undefined && equal !== undefined && "result" in i && i.result !== undefined) {
        same.set(i.result, equal);
        continue;
      }
      if (key !== undefined && "result" in i && i.result !== undefined) table.set(key, i.result);
      if (changesMemory(i)) reads.clear();
      instructions.push(i);
    }
    blocks[id] = { ...blocks[id], instructions };
    for (const child of children[id]) visit(child, known);
  };
  visit(0, new Map());
  return { ...fn, blocks: blocks.map((b) => ({ ...b, terminator: mapTerminator(b.terminator, to) })) };
}

/** Stay the same while a handler runs. */
const steady: ReadonlySet<BuiltinValue> = new Set([
  "pid-and-tid", "gid-and-uid", "cpu", "cgroup", "numa-node", "task", "func-ip", "attach-cookie", "context", "child-pid", "user-mode",
]);

/** Instructions with equal keys give equal values; undefined when nothing of the kind can be said. */
function keyOf(i: Instruction): string | undefined {
  switch (i.op) {
    case "constant": return `constant ${i.value}`;
    case "binary": return `${i.kind} ${i.left} ${i.right}`;
    case "compare": return `${i.kind} ${i.left} ${i.right}`;
    case "extend": return `extend ${i.value} ${i.bits} ${i.signed}`;
    case "swap-bytes": return `swap ${i.value} ${i.bits}`;
    case "builtin": return steady.has(i.name) ? `builtin ${i.name}` : undefined;
    case "load-context": return `context ${i.offset} ${i.size} ${i.signed}`;
    case "read": return `read ${i.space} ${i.address} ${i.offset} ${i.size} ${i.signed}`;
    default: return undefined;
  }
}

function changesMemory(i: Instruction): boolean {
  return i.op === "write-user" || i.op === "for-each" || i.op === "signal";
}
