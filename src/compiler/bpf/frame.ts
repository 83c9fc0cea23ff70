// Offsets in the stack frame and in scratch memory: objects whose lifetimes do not meet share memory.
import { type Block, blocksOf } from "./liveness.ts";
import { type MachineInstruction, type MemoryObject, NO_OBJECT } from "./machine.ts";
import { Points } from "./point-set.ts";

export interface Layout {
  /** Of each object: in the frame, from its end, negative; in scratch memory, from where that begins. */
  readonly offsets: readonly number[];
  /** Bytes of the frame. */
  readonly frame: number;
  /** Where scratch memory is free. */
  readonly scratchEnd: number;
}

/**
 * Objects find room among others in so many bytes: the kernel has a fraction of them for a frame, and no more of
 * scratch memory.
 */
const sharedBytes = { frame: 4096, scratch: 32768 } as const;
const CELL = 8;

/**
 * An object lives wherever it has been mentioned on some way here, and is mentioned on some way from here.
 * `scratchStart`: what is before it is taken.
 */
export function layOut(
  code: readonly MachineInstruction[],
  sizes: readonly number[],
  inScratch: ReadonlySet<MemoryObject>,
  scratchStart: number,
): Layout {
  const ranges = lifetimes(code, sizes.length);
  const order = sizes.map((_, object) => object).filter((object) => ranges[object].length > 0);
  order.sort((a, b) => sizes[b] - sizes[a] || a - b);
  const frame = new Room(code.length, sharedBytes.frame);
  const scratch = new Room(code.length, sharedBytes.scratch);
  const offsets = sizes.map(() => 0);
  for (const object of order) {
    const size = Math.ceil(sizes[object] / CELL) * CELL;
    offsets[object] = inScratch.has(object)
      ? scratchStart + scratch.find(size, ranges[object])
      : -(frame.find(size, ranges[object]) + size);
  }
  return { offsets, frame: frame.bytes, scratchEnd: scratchStart + scratch.bytes };
}

class Room {
  bytes = 0;
  /** Where in the code each cell is in use. */
  readonly #cells: Points[] = [];
  readonly #points: number;
  readonly #shared: number;

  constructor(points: number, shared: number) {
    this.#points = points;
    this.#shared = shared;
  }

  /** Where an object has room at all these points, from the start. */
  find(size: number, ranges: readonly number[]): number {
    const wanted = size / CELL;
    let low = 0;
    for (let free = 0; free < wanted && low * CELL < this.#shared;) {
      if (this.#cells[low + free]?.meets(ranges)) {
        low += free + 1;
        free = 0;
      } else free++;
    }
    // Too much in any case: how much is all that matters.
    if (low * CELL >= this.#shared) low = Math.max(this.bytes, this.#shared) / CELL;
    else for (let cell = low; cell < low + wanted; cell++) (this.#cells[cell] ??= new Points(this.#points)).add(ranges);
    this.bytes = Math.max(this.bytes, (low + wanted) * CELL);
    return low * CELL;
  }
}

/** Pairs of [first, last + 1) instruction, ascending, for each object. */
function lifetimes(code: readonly MachineInstruction[], objects: number): number[][] {
  const blocks = inOrder(blocksOf(code));
  // Where objects are mentioned: in which block, from which instruction to which.
  const mentions: Mention[][] = Array.from({ length: objects }, () => []);
  for (let place = 0; place < blocks.length; place++) {
    const { start, end } = blocks[place].block;
    for (let i = start; i < end; i++) {
      const object = objectOf(code[i]);
      if (object < 0) continue;
      const last = mentions[object].at(-1);
      if (last?.place === place) last.last = i;
      else mentions[object].push({ place, first: i, last: i });
    }
  }
  const regions = loopRegions(blocks);
  const successors = lists(blocks.map((one) => one.successors));
  const predecessors = lists(blocks.map((one) => one.predecessors));
  const starts = Int32Array.from(blocks, ({ block }) => block.start);
  const ends = Int32Array.from(blocks, ({ block }) => block.end);
  const reached = new Int32Array(blocks.length).fill(-1);
  const reaching = new Int32Array(blocks.length).fill(-1);
  // A place is in it once as one with a mention, and once as reached.
  const pending = new Int32Array(blocks.length * 2);
  const pieces = new Float64Array(blocks.length);
  return mentions.map((own, object) => {
    if (own.length === 0) return [];
    // Any way from one mention to another is between the first and the last, in this order, and in the loops that these
    // are in.
    const from = regions.from[own[0].place];
    const to = regions.to[own[own.length - 1].place];
    const spread = (marks: Int32Array, { first, all }: Lists): void => {
      let open = 0;
      for (const { place } of own) pending[open++] = place;
      while (open > 0) {
        const place = pending[--open];
        for (let at = first[place]; at < first[place + 1]; at++) {
          const other = all[at];
          if (other < from || other > to || marks[other] === object) continue;
          marks[other] = object;
          pending[open++] = other;
        }
      }
    };
    spread(reached, successors);
    spread(reaching, predecessors);
    let count = 0;
    for (let place = from, mention = 0; place <= to; place++) {
      const here = own[mention]?.place === place ? own[mention++] : undefined;
      const enters = reached[place] === object;
      const leaves = reaching[place] === object;
      if (here === undefined && !(enters && leaves)) continue;
      pieces[count++] =
        (enters ? starts[place] : (here?.first ?? 0)) * FAR + (leaves ? ends[place] : (here?.last ?? 0) + 1);
    }
    const ranges: number[] = [];
    for (const piece of pieces.subarray(0, count).sort()) {
      const start = Math.floor(piece / FAR);
      const end = piece - start * FAR;
      if (ranges.length > 0 && ranges[ranges.length - 1] === start) ranges[ranges.length - 1] = end;
      else ranges.push(start, end);
    }
    return ranges;
  });
}

/** More instructions than there are: a piece of code is one number, which sorts by where it begins. */
const FAR = 1 << 26;

/** Many lists in one: list i is in `all` from `first[i]` up to `first[i + 1]`. */
interface Lists {
  readonly first: Int32Array;
  readonly all: Int32Array;
}

function lists(of: readonly (readonly number[])[]): Lists {
  const first = new Int32Array(of.length + 1);
  of.forEach(({ length }, i) => {
    first[i + 1] = first[i] + length;
  });
  return { first, all: Int32Array.from(of.flat()) };
}

interface Mention {
  readonly place: number;
  readonly first: number;
  last: number;
}

/** Blocks in an order in which only loops go back; places in it are what they are known by. */
interface Placed {
  readonly block: Block;
  readonly successors: readonly number[];
  readonly predecessors: number[];
}

function inOrder(blocks: readonly Block[]): Placed[] {
  const order: number[] = [];
  const seen = new Uint8Array(blocks.length);
  const open: { readonly id: number; next: number }[] = [];
  for (let root = 0; root < blocks.length; root++) {
    if (seen[root] === 1) continue;
    seen[root] = 1;
    open.push({ id: root, next: 0 });
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { successors } = blocks[top.id];
      if (top.next === successors.length) {
        order.push(top.id);
        open.pop();
        continue;
      }
      const id = successors[top.next++];
      if (seen[id] === 1) continue;
      seen[id] = 1;
      open.push({ id, next: 0 });
    }
  }
  order.reverse();
  const placeOf = new Int32Array(blocks.length);
  order.forEach((id, place) => {
    placeOf[id] = place;
  });
  const placed = order.map((id): Placed => ({
    block: blocks[id],
    successors: blocks[id].successors.map((to) => placeOf[to]),
    predecessors: [],
  }));
  placed.forEach(({ successors }, place) => {
    for (const to of successors) placed[to].predecessors.push(place);
  });
  return placed;
}

/** For each place the first and the last one of the loops that it is in, and of those that these meet; else itself. */
function loopRegions(blocks: readonly Placed[]): { readonly from: Int32Array; readonly to: Int32Array } {
  const from = Int32Array.from(blocks, (_, place) => place);
  const to = Int32Array.from(blocks, (_, place) => place);
  // The last place that leads back to each, and then whether a region goes on.
  const farthest = to.slice();
  blocks.forEach(({ successors }, place) => {
    for (const back of successors) if (back <= place) farthest[back] = Math.max(farthest[back], place);
  });
  for (let start = 0; start < blocks.length;) {
    let end = farthest[start];
    for (let place = start; place <= end; place++) end = Math.max(end, farthest[place]);
    for (let place = start; place <= end; place++) {
      from[place] = start;
      to[place] = end;
    }
    start = end + 1;
  }
  return { from, to };
}

function objectOf(instruction: MachineInstruction | undefined): number {
  return instruction !== undefined && "object" in instruction ? instruction.object : NO_OBJECT;
}
