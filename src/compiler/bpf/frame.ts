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
  const mentioned = blocks.map((block) => {
    const set = new Uint32Array(words);
    for (let i = block.start; i < block.end; i++) {
      const object = objectOf(code[i]);
      if (object >= 0) set[object >> 5] = (set[object >> 5] ?? 0) | (1 << (object & 31));
    }
    return set;
  });
  const before = blocks.map(() => new Uint32Array(words));
  const after = blocks.map(() => new Uint32Array(words));
  const join = (into: Uint32Array | undefined, a: Uint32Array | undefined, b: Uint32Array | undefined): boolean => {
    let changed = false;
    if (into === undefined) return false;
    for (let w = 0; w < words; w++) {
      const next = ((into[w] ?? 0) | (a?.[w] ?? 0) | (b?.[w] ?? 0)) >>> 0;
      if (next !== (into[w] ?? 0)) {
        into[w] = next;
        changed = true;
      }
    }
    return changed;
  };
  for (let changed = true; changed;) {
    changed = false;
    blocks.forEach((block, b) => {
      for (const next of block.successors) if (join(before[next], before[b], mentioned[b])) changed = true;
    });
    for (let b = blocks.length - 1; b >= 0; b--) {
      for (const next of blocks[b]?.successors ?? []) if (join(after[b], after[next], mentioned[next])) changed = true;
    }
  }
  const ranges: number[][] = Array.from({ length: objects }, () => []);
  const has = (set: Uint32Array | undefined, object: number): boolean => ((set?.[object >> 5] ?? 0) & (1 << (object & 31))) !== 0;
  blocks.forEach((block, b) => {
    const first = new Map<number, number>();
    const last = new Map<number, number>();
    for (let i = block.start; i < block.end; i++) {
      const object = objectOf(code[i]);
      if (object < 0) continue;
      if (!first.has(object)) first.set(object, i);
      last.set(object, i);
    }
    for (let object = 0; object < objects; object++) {
      const own = first.has(object);
      const enters = has(before[b], object) && (own || has(after[b], object));
      const leaves = has(after[b], object) && (own || has(before[b], object));
      if (!own && !(enters && leaves)) continue;
      ranges[object]?.push(enters ? block.start : first.get(object) ?? block.start, leaves ? block.end - 1 : last.get(object) ?? block.end - 1);
    }
  });
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
