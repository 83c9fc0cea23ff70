// Offsets in the stack frame: objects whose lifetimes do not meet share memory.
import { type FrameObject, type MachineInstruction, NO_OBJECT } from "./machine.ts";
import { backwardJumps } from "./allocate.ts";

export interface FrameLayout {
  /** Offset of each object from the frame register: negative. */
  readonly offsets: readonly number[];
  /** Bytes in all. */
  readonly size: number;
}

/**
 * `carried` objects may hold a value from one round of a loop to the next, although all their uses are inside of it; the
 * others (temporaries, spilled registers) are always written first.
 */
export function layOutFrame(code: readonly MachineInstruction[], sizes: readonly number[], carried: ReadonlySet<FrameObject>): FrameLayout {
  const first = sizes.map(() => Number.POSITIVE_INFINITY);
  const last = sizes.map(() => -1);
  code.forEach((instruction, i) => {
    if (!("object" in instruction) || instruction.object === NO_OBJECT) return;
    const { object } = instruction;
    first[object] = Math.min(first[object] ?? i, i);
    last[object] = i;
  });
  const loops = backwardJumps(code);
  for (let changed = true; changed;) {
    changed = false;
    for (const [start, end] of loops) {
      sizes.forEach((_, object) => {
        const from = first[object] ?? 0;
        const to = last[object] ?? -1;
        if (to < start || from > end) return;
        const inside = from >= start && to <= end;
        if (inside && !carried.has(object)) return;
        if (from <= start && to >= end) return;
        first[object] = Math.min(from, start);
        last[object] = Math.max(to, end);
        changed = true;
      });
    }
  }
  const offsets = sizes.map(() => 0);
  const placed: { readonly from: number; readonly to: number; readonly low: number; readonly high: number }[] = [];
  const order = sizes.map((_, object) => object).filter((object) => (last[object] ?? -1) >= 0);
  order.sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0) || a - b);
  let size = 0;
  for (const object of order) {
    const bytes = sizes[object] ?? 0;
    const from = first[object] ?? 0;
    const to = last[object] ?? 0;
    const taken = placed.filter((other) => other.from <= to && from <= other.to).sort((a, b) => a.low - b.low);
    let low = 0;
    for (const other of taken) {
      if (low + bytes <= other.low) break;
      low = Math.max(low, other.high);
    }
    placed.push({ from, to, low, high: low + bytes });
    offsets[object] = -(low + bytes);
    size = Math.max(size, low + bytes);
  }
  return { offsets, size };
}
