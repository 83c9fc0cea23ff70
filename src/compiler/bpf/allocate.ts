// Registers for virtual ones. Live ranges with holes; the most used and shortest first, each takes a register that is
// free over all of its range (r0–r5 are not free over calls), preferring one that makes a copy disappear. What finds
// none is kept in the frame and loaded around its uses (or computed anew, when it is a constant), and everything is
// tried again.
import { firstIndex } from "../../base/first-index.ts";
import { FRAME } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import {
  blocksOf,
  type Effects,
  effectsOf,
  type LiveLists,
  PURE,
  solveLiveness,
  stepBack,
  UPDATE,
  withoutUnread,
} from "./liveness.ts";
import {
  endsBlock,
  FIRST_VIRTUAL,
  jumpTarget,
  type MachineInstruction,
  reads,
  type Register,
  replaceRegister,
  written,
} from "./machine.ts";
import type { Emitter } from "./emitter.ts";
import { Points } from "./point-set.ts";
import { ownerBytes } from "./scratch.ts";
import { loopDepths, straighten } from "./straighten.ts";
import { RunError } from "../../base/run-error.ts";
import { limitReasons } from "../../messages/on-demand.ts";

interface Interval {
  readonly register: Register;
  /**
   * Pairs of [from, to): instruction i reads at 2i and writes at 2i + 1. From the last to the first, or from the first
   * to the last.
   */
  ranges: number[];
  weight: number;
  /** Registers it is copied from or to. */
  copies: Register[] | undefined;
  /** The only instruction that defines it, when there is one. */
  definitions: number;
  definition: MachineInstruction | undefined;
}

/**
 * Assigns machine registers in place: removes dead code and copies of a register to itself. `name`: the function's, for
 * who is told that it keeps more than `stackBytes` have room for. @throws TooLarge
 */
export function allocateRegisters(
  emitter: Emitter,
  {
    name,
    stackBytes,
    straightens,
    joins,
  }: { readonly name: string; readonly stackBytes: number; readonly straightens: boolean; readonly joins: boolean },
): void {
  const spillTemporaries = new Set<Register>(emitter.unspillable);
  const reached = removeUnreachable(emitter.code);
  const taken = joins ? takeResults(reached) : reached;
  emitter.code = withoutUnread(straightens ? straighten(taken, () => emitter.label()) : taken, emitter.registerCount);
  for (let round = 0; ; round++) {
    if (round > 60) throw new InternalError("register allocation does not settle");
    emitter.code = removeUnreachable(emitter.code);
    const intervals = liveIntervals(emitter);
    const one = joins
      ? joinCopies(emitter.code, intervals, spillTemporaries)
      : Int32Array.from(intervals, (_, register) => register);
    const assigned = new Int8Array(emitter.registerCount).fill(-1);
    // One at a time would be exact but slow; what is left usually fits once the first few are gone.
    const over = mostAtOnce(intervals, emitter.code.length, spillTemporaries) - inOrder.length;
    // Told before the work of keeping them. What is little more may still become less: values are made anew, or one.
    if (over * 8 > 2 * stackBytes) throw new TooLarge(limitReasons().someStack(name, over * 8, stackBytes));
    const most = Math.max(4 << Math.max(0, round - 8), over >> 1);
    const spilled = assign(intervals, one, emitter.code.length, spillTemporaries, assigned, most);
    rename(emitter.code, (register) => one[register]);
    if (spilled.length === 0)
      rename(emitter.code, (register) => (register < FIRST_VIRTUAL ? register : Math.max(0, assigned[register])));
    emitter.code = emitter.code.filter(
      (instruction) => !(instruction.kind === "move" && !instruction.narrow && instruction.dst === instruction.src),
    );
    if (spilled.length === 0) return;
    spill(emitter, spilled, spillTemporaries);
  }
}

/** How many values have to be somewhere at one point, but for those that are computed anew instead of kept. */
function mostAtOnce(
  intervals: readonly (Interval | undefined)[],
  length: number,
  temporaries: ReadonlySet<Register>,
): number {
  const change = new Int32Array(2 * length + 2);
  for (const interval of intervals) {
    if (interval === undefined || interval.register < FIRST_VIRTUAL || temporaries.has(interval.register)) continue;
    const { ranges, definitions, definition } = interval;
    if (definitions === 1 && canRecompute(definition)) continue;
    for (let r = 0; r < ranges.length; r += 2) {
      change[ranges[r]]++;
      change[ranges[r + 1]]--;
    }
  }
  let most = 0;
  for (let point = 0, now = 0; point < change.length; point++) most = Math.max(most, (now += change[point]));
  return most;
}

/** Copies of a call's result are made from r0 while that still has it, so that they need not wait for each other. */
function takeResults(code: readonly MachineInstruction[]): MachineInstruction[] {
  const holders = new Set<Register>();
  return code.map((instruction) => {
    const { kind } = instruction;
    const taken = kind === "move" && (instruction.src === 0 || holders.has(instruction.src)) ? instruction : undefined;
    const result = written(instruction);
    if (result === 0 || kind === "call" || kind === "call-function" || kind === "label") holders.clear();
    else holders.delete(result);
    if (taken === undefined || taken.dst === 0) return instruction;
    if (!taken.narrow) holders.add(taken.dst);
    return taken.src === 0 ? taken : { ...taken, src: 0 };
  });
}

/** Drops code that no jump reaches (the verifier refuses it), and jumps and branches to the next instruction. */
export function removeUnreachable(code: readonly MachineInstruction[]): MachineInstruction[] {
  const positions = new Map<number, number>();
  for (let i = 0; i < code.length; i++) {
    const instruction = code[i];
    if (instruction.kind === "label") positions.set(instruction.label, i);
  }
  const reached = new Uint8Array(code.length);
  const pending = [0];
  for (let start = pending.pop(); start !== undefined; start = pending.pop()) {
    for (let i = start; i < code.length && reached[i] === 0; i++) {
      reached[i] = 1;
      const instruction = code[i];
      const target = jumpTarget(instruction);
      if (target >= 0) pending.push(positions.get(target) ?? code.length);
      if (endsBlock(instruction)) break;
    }
  }
  const kept: MachineInstruction[] = [];
  for (let i = 0; i < code.length; i++) {
    const instruction = code[i];
    const target = instruction.kind === "may-goto" ? -1 : jumpTarget(instruction);
    if (reached[i] !== 0 && (target < 0 || !isNext(code, reached, i, target))) kept.push(instruction);
  }
  return kept;
}

/** Whether a label stands right behind an instruction. */
function isNext(code: readonly MachineInstruction[], reached: Uint8Array, at: number, label: number): boolean {
  for (let next = at + 1; next < code.length; next++) {
    const following = code[next];
    if (following.kind === "label") {
      if (following.label === label) return true;
    } else if (reached[next] !== 0 && following.kind !== "touch") return false;
  }
  return false;
}

/** How much more what is in 0, 1, 2, 3 and more loops counts. */
const loopWeights = [1, 10, 100, 1000];

/** Of values that are wanted where blocks begin, all blocks together: far more than the stack has room for. */
const mostLive = 1 << 23;

/** By register. Drops dead code first. */
function liveIntervals(emitter: Emitter): (Interval | undefined)[] {
  let effects: Effects;
  let blocks: ReturnType<typeof blocksOf>;
  let before: LiveLists;
  const live = new Uint8Array(emitter.registerCount);
  for (;;) {
    const { code } = emitter;
    effects = effectsOf(code);
    blocks = blocksOf(code);
    const lists = solveLiveness(effects, blocks, emitter.registerCount, mostLive);
    if (lists === undefined) throw new TooLarge(limitReasons().values());
    before = lists;
    const dead = new Uint8Array(code.length);
    let found = false;
    for (let b = 0; b < blocks.length; b++) {
      const { start, end, successors } = blocks[b];
      for (const successor of successors)
        for (let at = before.first[successor]; at >= 0; at = before.next[at]) live[before.register[at]] = 1;
      for (let i = end - 1; i >= start; i--) {
        if ((effects.nature[i] & PURE) !== 0 && live[effects.result[i]] === 0) {
          dead[i] = 1;
          found = true;
        } else stepBack(effects, i, live);
      }
      // What is left is wanted here.
      for (let at = before.first[b]; at >= 0; at = before.next[at]) live[before.register[at]] = 0;
    }
    if (!found) break;
    emitter.code = code.filter((_, i) => dead[i] === 0);
  }
  const { code } = emitter;
  const { first, second, result, alsoRead, alsoWritten, nature } = effects;
  const depth = loopDepths(code);
  const intervals = Array.from<Interval | undefined>({ length: emitter.registerCount });
  const intervalOf = (register: Register): Interval =>
    (intervals[register] ??= {
      register,
      ranges: [],
      weight: 0,
      copies: undefined,
      definitions: 0,
      definition: undefined,
    });
  // Backwards, so that ranges come from the last to the first. `ends` holds where each live register's open range ends.
  const ends = new Int32Array(emitter.registerCount);
  const define = (register: Register, i: number, factor: number, update: boolean): void => {
    const interval = intervalOf(register);
    const end = ends[register];
    if (!update) {
      interval.ranges.push(2 * i + 1, end === 0 ? 2 * i + 2 : end);
      ends[register] = 0;
    } else if (end === 0) ends[register] = 2 * i + 2;
    interval.weight += factor;
    interval.definitions++;
    interval.definition = code[i];
  };
  const read = (register: Register, i: number, factor: number): void => {
    if (ends[register] === 0) ends[register] = 2 * i + 1;
    intervalOf(register).weight += factor;
  };
  for (let b = blocks.length - 1; b >= 0; b--) {
    const { start, end, successors } = blocks[b];
    for (const successor of successors)
      for (let at = before.first[successor]; at >= 0; at = before.next[at]) ends[before.register[at]] = end * 2;
    for (let i = end - 1; i >= start; i--) {
      const factor = loopWeights[Math.min(3, depth[i])];
      for (let register = 0, bits = alsoWritten[i]; bits !== 0; register++, bits >>= 1)
        if ((bits & 1) !== 0) define(register, i, factor, false);
      if (result[i] >= 0) define(result[i], i, factor, (nature[i] & UPDATE) !== 0);
      if (first[i] >= 0) read(first[i], i, factor);
      if (second[i] >= 0) read(second[i], i, factor);
      for (let register = 0, bits = alsoRead[i]; bits !== 0; register++, bits >>= 1)
        if ((bits & 1) !== 0) read(register, i, factor);
      const instruction = code[i];
      if (instruction.kind === "move" && !instruction.narrow) {
        const [to, from] = [intervalOf(instruction.dst), intervalOf(instruction.src)];
        (to.copies ??= []).push(instruction.src);
        (from.copies ??= []).push(instruction.dst);
      }
    }
    for (let at = before.first[b]; at >= 0; at = before.next[at]) {
      const register = before.register[at];
      intervalOf(register).ranges.push(start * 2, ends[register]);
      ends[register] = 0;
    }
  }
  return intervals;
}

/**
 * A register and its copy are one where they are never needed apart: gives which each is now, and puts what is known of
 * both into that one's interval. What one that is many by now has is added to, not copied: a variable may be written
 * ten thousand times.
 */
function joinCopies(
  code: readonly MachineInstruction[],
  intervals: (Interval | undefined)[],
  apart: ReadonlySet<Register>,
): Int32Array {
  const one = Int32Array.from(intervals, (_, register) => register);
  const find = (register: Register): Register => {
    let current = register;
    while (one[current] !== current) current = one[current];
    // Found at once the next time.
    for (let at = register; at !== current;) {
      const next = one[at];
      one[at] = current;
      at = next;
    }
    return current;
  };
  /** Of those that are looked at: ranges from the first to the last. Joined are mostly what comes next in the code. */
  const ranges = new Map<Register, number[]>();
  const rangesOf = (interval: Interval): number[] => {
    const known = ranges.get(interval.register);
    if (known !== undefined) return known;
    const turned = forwards(interval.ranges);
    ranges.set(interval.register, turned);
    return turned;
  };
  const joined = new Map<Register, Copies>();
  for (const instruction of code) {
    if (
      instruction.kind !== "move" ||
      instruction.narrow ||
      instruction.dst < FIRST_VIRTUAL ||
      instruction.src < FIRST_VIRTUAL
    )
      continue;
    const [to, from] = [find(instruction.dst), find(instruction.src)];
    const [copy, original] = [intervals[to], intervals[from]];
    if (to === from || copy === undefined || original === undefined || apart.has(to) || apart.has(from)) continue;
    const [own, others] = [rangesOf(copy), rangesOf(original)];
    const [long, short] = own.length > others.length ? [own, others] : [others, own];
    if (meet(long, short)) continue;
    insert(long, short);
    one[to] = from;
    intervals[to] = undefined;
    ranges.delete(to);
    ranges.set(from, long);
    joined.set(from, [joined.get(to) ?? copy.copies, joined.get(from) ?? original.copies]);
    joined.delete(to);
    original.weight += copy.weight;
    // Without the copying.
    original.definitions += copy.definitions - 1;
  }
  for (const [register, copies] of joined) {
    const interval = intervals[register];
    if (interval === undefined) continue;
    interval.ranges = ranges.get(register) ?? interval.ranges;
    interval.copies = flat(copies);
  }
  return one.map((_, register) => find(register));
}

/** Of one register, or of two that became one. */
type Copies = readonly Register[] | undefined | readonly [Copies, Copies];

function flat(copies: Copies): Register[] {
  const all: Register[] = [];
  const pending: (Copies | Register)[] = [copies];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === "number") all.push(next);
    else for (let i = (next?.length ?? 0) - 1; i >= 0; i--) pending.push(next?.[i]);
  }
  return all;
}

/** Pairs that come from the last to the first. */
function forwards(ranges: readonly number[]): number[] {
  const turned: number[] = [];
  for (let i = ranges.length - 2; i >= 0; i -= 2) turned.push(ranges[i], ranges[i + 1]);
  return turned;
}

/** Ranges from the first to the last, as all are from here on. `short` is looked up in `long`. */
function meet(long: readonly number[], short: readonly number[]): boolean {
  for (let j = 0; j < short.length; j += 2) {
    // The first that ends behind where this one begins.
    const low = firstIndex(long.length / 2, (i) => long[i * 2 + 1] > short[j]);
    if (low * 2 < long.length && long[low * 2] < short[j + 1]) return true;
  }
  return false;
}

/** Adds ranges that meet none; what touches becomes one, so that a variable that lives on has few. */
function insert(into: number[], ranges: readonly number[]): void {
  for (let j = 0; j < ranges.length; j += 2) {
    const [from, to] = [ranges[j], ranges[j + 1]];
    // The first that ends where this one begins, or behind it.
    const at = 2 * firstIndex(into.length / 2, (i) => into[i * 2 + 1] >= from);
    const follows = at < into.length && into[at + 1] === from;
    const next = follows ? at + 2 : at;
    const precedes = next < into.length && into[next] === to;
    if (follows && precedes) into.splice(at + 1, 2);
    else if (follows) into[at + 1] = to;
    else if (precedes) into[next] = from;
    else into.splice(at, 0, from, to);
  }
}

/** Those that calls leave nothing in come first. */
const inOrder: readonly Register[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/** Gives `assigned` a machine register for each interval that finds one. Up to `most` that find none are given back. */
function assign(
  intervals: readonly (Interval | undefined)[],
  one: Int32Array,
  length: number,
  unspillable: ReadonlySet<Register>,
  assigned: Int8Array,
  most: number,
): Interval[] {
  const busy = Array.from({ length: FRAME }, () => new Points(length * 2 + 2));
  const ranked: { readonly interval: Interval; readonly priority: number }[] = [];
  for (const interval of intervals) {
    if (interval === undefined) continue;
    if (interval.register >= FIRST_VIRTUAL)
      ranked.push({ interval, priority: unspillable.has(interval.register) ? Infinity : priorityOf(interval) });
    else if (interval.register < FRAME) busy[interval.register].add(interval.ranges);
  }
  ranked.sort((a, b) =>
    b.priority === a.priority ? a.interval.register - b.interval.register : b.priority - a.priority,
  );
  const spilled: Interval[] = [];
  for (const { interval } of ranked) {
    const choice =
      wish(interval, busy, one, assigned) ?? inOrder.find((register) => !busy[register].meets(interval.ranges));
    if (choice === undefined) {
      if (unspillable.has(interval.register)) throw new InternalError("no register for a reload");
      spilled.push(interval);
      if (spilled.length >= most) return spilled;
      continue;
    }
    assigned[interval.register] = choice;
    busy[choice].add(interval.ranges);
  }
  return spilled;
}

function priorityOf({ ranges, weight }: Interval): number {
  let covered = 1;
  for (let r = 0; r < ranges.length; r += 2) covered += ranges[r + 1] - ranges[r];
  return weight / covered;
}

/** The register of one that it is copied from or to. */
function wish(
  { copies = [], ranges }: Interval,
  busy: readonly Points[],
  one: Int32Array,
  assigned: Int8Array,
): Register | undefined {
  let tried = 0;
  for (const other of copies) {
    const register = other < FIRST_VIRTUAL ? other : assigned[one[other]];
    if (register < 0 || register >= FRAME || ((tried >> register) & 1) !== 0) continue;
    if (!busy[register].meets(ranges)) return register;
    tried |= 1 << register;
  }
  return undefined;
}

function canRecompute(instruction: MachineInstruction | undefined): boolean {
  return (
    instruction?.kind === "constant" ||
    instruction?.kind === "patched" ||
    instruction?.kind === "function" ||
    (instruction?.kind === "object-address" && instruction.base === FRAME)
  );
}

/** Keeps registers in the frame, or makes what they hold anew wherever it is wanted. */
function spill(emitter: Emitter, intervals: readonly Interval[], temporaries: Set<Register>): void {
  const spilled = new Map(
    intervals.map((interval) => {
      const { register, definitions, definition } = interval;
      const recompute =
        definitions === 1 && definition !== undefined && canRecompute(definition) ? definition : undefined;
      return [register, { register, recompute, object: recompute === undefined ? emitter.object(8) : -1 }] as const;
    }),
  );
  const temporary = (): Register => {
    const fresh = emitter.register();
    temporaries.add(fresh);
    return fresh;
  };
  const out: MachineInstruction[] = [];
  for (const instruction of emitter.code) {
    let made = [instruction];
    for (const one of mentioned(instruction, spilled)) made = made.flatMap((each) => spilledIn(each, one, temporary));
    for (const each of made) out.push(each);
  }
  emitter.code = out;
}

interface Spilled {
  readonly register: Register;
  readonly recompute: MachineInstruction | undefined;
  readonly object: number;
}

/** Those that an instruction reads or writes, each once. */
function mentioned(instruction: MachineInstruction, spilled: ReadonlyMap<Register, Spilled>): readonly Spilled[] {
  let found: Spilled[] | undefined;
  const see = (register: Register): void => {
    const one = spilled.get(register);
    if (one !== undefined && found?.includes(one) !== true) (found ??= []).push(one);
  };
  if ("dst" in instruction) see(instruction.dst);
  if ("src" in instruction) see(instruction.src);
  if ("base" in instruction) see(instruction.base);
  if ("left" in instruction) see(instruction.left);
  if ("right" in instruction) see(instruction.right);
  return found ?? [];
}

/** An instruction without a register that is kept in the frame, or computed anew. */
function spilledIn(
  instruction: MachineInstruction,
  { register, recompute, object }: Spilled,
  temporary: () => Register,
): MachineInstruction[] {
  if (instruction === recompute) return [];
  const isRead = reads(instruction, register);
  const writes = written(instruction) === register;
  if (!isRead && !writes) return [instruction];
  const frame = { base: FRAME, object, offset: 0 } as const;
  if (recompute === undefined && instruction.kind === "move" && !instruction.narrow) {
    if (isRead && writes) return [];
    return [
      isRead
        ? { kind: "load", width: 8, signed: false, dst: instruction.dst, ...frame }
        : { kind: "store", width: 8, src: instruction.src, ...frame },
    ];
  }
  const fresh = temporary();
  const out: MachineInstruction[] = [];
  if (isRead) {
    if (recompute === undefined) out.push({ kind: "load", width: 8, signed: false, dst: fresh, ...frame });
    else out.push({ ...recompute, dst: fresh } as MachineInstruction);
  }
  replaceRegister(instruction, register, fresh);
  out.push(instruction);
  if (writes) out.push({ kind: "store", width: 8, src: fresh, ...frame });
  return out;
}

function rename(code: readonly MachineInstruction[], to: (register: Register) => Register): void {
  for (const instruction of code) {
    if ("dst" in instruction) instruction.dst = to(instruction.dst);
    if ("src" in instruction) instruction.src = to(instruction.src);
    if ("base" in instruction) instruction.base = to(instruction.base);
    if ("left" in instruction) instruction.left = to(instruction.left);
    if ("right" in instruction) instruction.right = to(instruction.right);
  }
}

/** What a handler needs is more than the kernel has: the script's to change. */
export class TooLarge extends RunError {}

/** Of scratch memory: what a per-CPU value of the kernel holds (PCPU_MIN_UNIT_SIZE), without the word of its owner. */
export const mostScratchBytes = 32 * 1024 - ownerBytes;

/** Of scratch memory. */
export class TooMuchMemory extends TooLarge {
  readonly bytes: number;

  constructor(bytes: number) {
    super(limitReasons().memory(bytes));
    this.bytes = bytes;
  }
}
