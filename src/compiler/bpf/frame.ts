// Offsets in the stack frame: objects whose lifetimes do not meet share memory.
import { blocksOf } from "./liveness.ts";
import { type MachineInstruction, NO_OBJECT } from "./machine.ts";

export interface FrameLayout {
  /** Offset of each object from the frame register: negative. */
  readonly offsets: readonly number[];
  /** Bytes in all. */
  readonly size: number;
}

/** An object lives wherever it has been mentioned on some way here, and is mentioned on some way from here. */
export function layOutFrame(code: readonly MachineInstruction[], sizes: readonly number[]): FrameLayout {
  const ranges = lifetimes(code, sizes.length);
  const order = sizes.map((_, object) => object).filter((object) => (ranges[object]?.length ?? 0) > 0);
  order.sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0) || a - b);
  const offsets = sizes.map(() => 0);
  const placed: { readonly object: number; readonly low: number; readonly high: number }[] = [];
  let size = 0;
  for (const object of order) {
    const bytes = sizes[object] ?? 0;
    let low = 0;
    for (const other of placed) {
      if (low + bytes <= other.low) break;
      if (other.high > low && meet(ranges[object] ?? [], ranges[other.object] ?? [])) low = other.high;
    }
    const index = placed.findIndex((other) => other.low > low);
    placed.splice(index < 0 ? placed.length : index, 0, { object, low, high: low + bytes });
    offsets[object] = -(low + bytes);
    size = Math.max(size, low + bytes);
  }
  return { offsets, size };
}

/** Pairs of [first, last] instruction, ascending, for each object. */
function lifetimes(code: readonly MachineInstruction[], objects: number): number[][] {
  const words = (objects + 31) >> 5;
  const blocks = blocksOf(code);
  // Sets of objects, one a block: what it mentions; what was mentioned on some way to it; what will be on some way from it.
  const mentioned = new Uint32Array(blocks.length * words);
  const before = new Uint32Array(blocks.length * words);
  const after = new Uint32Array(blocks.length * words);
  for (let b = 0; b < blocks.length; b++) {
    for (let i = blocks[b].start; i < blocks[b].end; i++) {
      const object = objectOf(code[i]);
      if (object >= 0) mentioned[b * words + (object >> 5)] |= 1 << (object & 31);
    }
  }
  /** Adds to the set of a block those of another. */
  const join = (set: Uint32Array, into: number, from: number): boolean => {
    let changed = false;
    for (let w = 0; w < words; w++) {
      const more = (set[from * words + w] | mentioned[from * words + w]) & ~set[into * words + w];
      if (more !== 0) {
        set[into * words + w] |= more;
        changed = true;
      }
    }
    return changed;
  };
  for (let changed = true; changed;) {
    changed = false;
    for (let b = 0; b < blocks.length; b++) {
      for (const next of blocks[b].successors) if (join(before, next, b)) changed = true;
    }
    for (let b = blocks.length - 1; b >= 0; b--) {
      for (const next of blocks[b].successors) if (join(after, b, next)) changed = true;
    }
  }
  const ranges: number[][] = Array.from({ length: objects }, () => []);
  const first = new Int32Array(objects);
  const last = new Int32Array(objects);
  for (let b = 0; b < blocks.length; b++) {
    const { start, end } = blocks[b];
    for (let i = end - 1; i >= start; i--) {
      const object = objectOf(code[i]);
      if (object >= 0) first[object] = i;
    }
    for (let i = start; i < end; i++) {
      const object = objectOf(code[i]);
      if (object >= 0) last[object] = i;
    }
    for (let w = 0; w < words; w++) {
      const own = mentioned[b * words + w];
      const enters = before[b * words + w];
      const leaves = after[b * words + w];
      for (let rest = own | (enters & leaves); rest !== 0; rest &= rest - 1) {
        const bit = rest & -rest;
        const object = w * 32 + 31 - Math.clz32(bit);
        ranges[object].push((enters & bit) !== 0 ? start : first[object], (leaves & bit) !== 0 ? end - 1 : last[object]);
      }
    }
  }
  return ranges;
}

function objectOf(instruction: MachineInstruction | undefined): number {
  return instruction !== undefined && "object" in instruction ? instruction.object : NO_OBJECT;
}

function meet(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if ((a[i + 1] ?? 0) < (b[j] ?? 0)) i += 2;
    else if ((b[j + 1] ?? 0) < (a[i] ?? 0)) j += 2;
    else return true;
  }
  return false;
}
