// Registers for virtual ones. Live ranges with holes; the most used and shortest first, each takes a register that is free over
// all of its range (r0–r5 are not free over calls), preferring one that makes a copy disappear. What finds none is kept in the
// frame and loaded around its uses (or computed anew, when it is a constant), and everything is tried again.
import { FRAME } from "../../bpf/instruction.ts";
import {
  endsBlock, FIRST_VIRTUAL, forEachRead, isCall, isPure, jumpTarget, type MachineInstruction, type Register, replaceRegister, written,
} from "./machine.ts";
import type { Emitter } from "./emitter.ts";
import { loopDepths, straighten } from "./straighten.ts";

export interface Block { readonly start: number; end: number; readonly successors: number[]; live: Uint32Array }

interface Interval {
  readonly register: Register;
  /** Pairs of [from, to): instruction i reads at 2i and writes at 2i + 1. From the last to the first. */
  readonly ranges: number[];
  weight: number;
  /** Registers it is copied from or to. */
  readonly copies: Register[];
  /** The only instruction that defines it, when there is one. */
  definitions: number;
  definition: MachineInstruction | undefined;
}

/** Assigns machine registers in place: removes dead code and copies of a register to itself. */
export function allocateRegisters(emitter: Emitter): void {
  const spillTemporaries = new Set<Register>();
  emitter.code = straighten(removeUnreachable(emitter.code), () => emitter.label());
  for (let round = 0; ; round++) {
    if (round > 40) throw new Error("register allocation does not settle");
    emitter.code = removeUnreachable(emitter.code);
    const intervals = liveIntervals(emitter);
    const assigned = new Map<Register, Register>();
    const spilled = assign(intervals, emitter.code.length, spillTemporaries, assigned);
    if (spilled.length === 0) {
      emitter.code = finish(emitter.code, assigned);
      return;
    }
    for (const interval of spilled) spill(emitter, interval, spillTemporaries);
  }
}

/** Drops code that no jump reaches (the verifier refuses it), and jumps to the next instruction. */
export function removeUnreachable(code: readonly MachineInstruction[]): MachineInstruction[] {
  const positions = new Map<number, number>();
  code.forEach((instruction, i) => {
    if (instruction.kind === "label") positions.set(instruction.label, i);
  });
  const reached = new Uint8Array(code.length);
  const pending = [0];
  for (let start = pending.pop(); start !== undefined; start = pending.pop()) {
    for (let i = start; i < code.length && reached[i] === 0; i++) {
      reached[i] = 1;
      const instruction = code[i];
      if (instruction === undefined) break;
      const target = jumpTarget(instruction);
      if (target >= 0) pending.push(positions.get(target) ?? code.length);
      if (endsBlock(instruction)) break;
    }
  }
  return code.filter((instruction, i) => {
    if (reached[i] === 0) return false;
    if (instruction.kind !== "jump") return true;
    for (let next = i + 1; next < code.length; next++) {
      const following = code[next];
      if (following?.kind === "label") {
        if (following.label === instruction.to) return false;
      } else if (reached[next] !== 0 && following?.kind !== "touch") return true;
    }
    return true;
  });
}

/** Straight pieces of code and where each goes on. */
export function blocksOf(code: readonly MachineInstruction[], words: number): Block[] {
  const blocks: Block[] = [];
  const blockOfLabel = new Map<number, number>();
  let current: Block | undefined;
  code.forEach((instruction, i) => {
    if (instruction.kind === "label" || current === undefined) {
      if (instruction.kind === "label" && current !== undefined && current.start === i - 1 && code[i - 1]?.kind === "label") {
        blockOfLabel.set(instruction.label, blocks.length - 1);
        return;
      }
      if (current !== undefined) current.end = i;
      current = { start: i, end: code.length, successors: [], live: new Uint32Array(words) };
      blocks.push(current);
      if (instruction.kind === "label") blockOfLabel.set(instruction.label, blocks.length - 1);
    }
    if (jumpTarget(instruction) >= 0 || instruction.kind === "exit") {
      current.end = i + 1;
      current = undefined;
    }
  });
  blocks.forEach((block, b) => {
    const last = code[block.end - 1];
    if (last === undefined) return;
    const target = jumpTarget(last);
    if (target >= 0) block.successors.push(blockOfLabel.get(target) ?? 0);
    if (!endsBlock(last) && b + 1 < blocks.length) block.successors.push(b + 1);
  });
  return blocks;
}

const has = (set: Uint32Array, register: number): boolean => ((set[register >> 5] ?? 0) & (1 << (register & 31))) !== 0;
const insert = (set: Uint32Array, register: number): void => { set[register >> 5] = (set[register >> 5] ?? 0) | (1 << (register & 31)); };
const remove = (set: Uint32Array, register: number): void => { set[register >> 5] = (set[register >> 5] ?? 0) & ~(1 << (register & 31)); };

function step(instruction: MachineInstruction, live: Uint32Array): void {
  if (isCall(instruction)) for (let register = 0; register <= 5; register++) remove(live, register);
  if (instruction.kind === "enter") for (let register = 1; register <= instruction.parameters; register++) remove(live, register);
  const result = written(instruction);
  if (result >= 0) remove(live, result);
  forEachRead(instruction, (register) => insert(live, register));
}

function liveIntervals(emitter: Emitter): Map<Register, Interval> {
  const words = (emitter.registerCount + 31) >> 5;
  let blocks = blocksOf(emitter.code, words);
  for (;;) {
    solveLiveness(emitter.code, blocks, words);
    const dead = deadCode(emitter.code, blocks, words);
    if (dead.size === 0) break;
    emitter.code = emitter.code.filter((_, i) => !dead.has(i));
    blocks = blocksOf(emitter.code, words);
  }
  const { code } = emitter;
  const depth = loopDepths(code);
  const intervals = new Map<Register, Interval>();
  const intervalOf = (register: Register): Interval => {
    let interval = intervals.get(register);
    if (interval === undefined) {
      interval = { register, ranges: [], weight: 0, copies: [], definitions: 0, definition: undefined };
      intervals.set(register, interval);
    }
    return interval;
  };
  // Backwards, so that ranges come from the last to the first. `ends` holds where each live register's open range ends.
  for (let b = blocks.length - 1; b >= 0; b--) {
    const block = blocks[b];
    if (block === undefined) continue;
    const live = liveOut(block, blocks, words);
    const ends = new Map<Register, number>();
    forEachMember(live, (register) => ends.set(register, block.end * 2));
    for (let i = block.end - 1; i >= block.start; i--) {
      const instruction = code[i];
      if (instruction === undefined) continue;
      const factor = 10 ** Math.min(3, depth[i] ?? 0);
      const define = (register: Register): void => {
        const interval = intervalOf(register);
        const end = ends.get(register);
        if (!isReadAndWritten(instruction, register)) {
          interval.ranges.push(2 * i + 1, end ?? 2 * i + 2);
          ends.delete(register);
        } else if (end === undefined) ends.set(register, 2 * i + 2);
        interval.weight += factor;
        interval.definitions++;
        interval.definition = instruction;
      };
      if (isCall(instruction)) for (let register = 0; register <= 5; register++) define(register);
      if (instruction.kind === "enter") for (let register = 1; register <= instruction.parameters; register++) define(register);
      const result = written(instruction);
      if (result >= 0) define(result);
      forEachRead(instruction, (register) => {
        if (register === FRAME) return;
        if (!ends.has(register)) ends.set(register, 2 * i + 1);
        intervalOf(register).weight += factor;
      });
      if (instruction.kind === "move" && !instruction.narrow) {
        intervalOf(instruction.dst).copies.push(instruction.src);
        intervalOf(instruction.src).copies.push(instruction.dst);
      }
    }
    for (const [register, end] of ends) intervalOf(register).ranges.push(block.start * 2, end);
  }
  return intervals;
}

/** dst of a two-operand instruction: its range goes on through it. */
function isReadAndWritten(instruction: MachineInstruction, register: Register): boolean {
  if (isCall(instruction) || instruction.kind === "enter") return false;
  let read = false;
  forEachRead(instruction, (other) => { read ||= other === register; });
  return read && (instruction.kind === "alu" || instruction.kind === "alu-immediate" || instruction.kind === "negate"
    || instruction.kind === "swap" || instruction.kind === "atomic");
}

function liveOut(block: Block, blocks: readonly Block[], words: number): Uint32Array {
  const out = new Uint32Array(words);
  for (const successor of block.successors) {
    const live = blocks[successor]?.live;
    if (live !== undefined) for (let w = 0; w < words; w++) out[w] = (out[w] ?? 0) | (live[w] ?? 0);
  }
  remove(out, FRAME);
  return out;
}

function solveLiveness(code: readonly MachineInstruction[], blocks: readonly Block[], words: number): void {
  for (let changed = true; changed;) {
    changed = false;
    for (let b = blocks.length - 1; b >= 0; b--) {
      const block = blocks[b];
      if (block === undefined) continue;
      const live = liveOut(block, blocks, words);
      for (let i = block.end - 1; i >= block.start; i--) {
        const instruction = code[i];
        if (instruction !== undefined) step(instruction, live);
      }
      if (live.some((word, w) => word !== block.live[w])) {
        block.live = live;
        changed = true;
      }
    }
  }
}

function deadCode(code: readonly MachineInstruction[], blocks: readonly Block[], words: number): Set<number> {
  const dead = new Set<number>();
  for (const block of blocks) {
    const live = liveOut(block, blocks, words);
    for (let i = block.end - 1; i >= block.start; i--) {
      const instruction = code[i];
      if (instruction === undefined) continue;
      if (isPure(instruction) && !has(live, written(instruction))) dead.add(i);
      else step(instruction, live);
    }
  }
  return dead;
}

function forEachMember(set: Uint32Array, visit: (register: number) => void): void {
  set.forEach((word, w) => {
    for (let rest = word; rest !== 0; rest &= rest - 1) visit(w * 32 + 31 - Math.clz32(rest & -rest));
  });
}

const callerSaved = [0, 1, 2, 3, 4, 5];
const calleeSaved = [6, 7, 8, 9];

function assign(intervals: Map<Register, Interval>, length: number, unspillable: ReadonlySet<Register>, assigned: Map<Register, Register>): Interval[] {
  const busy = Array.from({ length: FRAME }, () => new Uint8Array(length * 2 + 2));
  const isFree = (register: Register, interval: Interval): boolean => {
    const taken = busy[register];
    if (taken === undefined) return false;
    for (let r = 0; r < interval.ranges.length; r += 2) {
      const end = interval.ranges[r + 1] ?? 0;
      for (let p = interval.ranges[r] ?? 0; p < end; p++) if (taken[p] !== 0) return false;
    }
    return true;
  };
  const take = (register: Register, interval: Interval): void => {
    for (let r = 0; r < interval.ranges.length; r += 2) busy[register]?.fill(1, interval.ranges[r], interval.ranges[r + 1]);
  };
  const virtual: Interval[] = [];
  for (const interval of intervals.values()) {
    if (interval.register < FIRST_VIRTUAL) take(interval.register, interval);
    else virtual.push(interval);
  }
  const priority = (interval: Interval): number => {
    if (unspillable.has(interval.register)) return Number.POSITIVE_INFINITY;
    let covered = 1;
    for (let r = 0; r < interval.ranges.length; r += 2) covered += (interval.ranges[r + 1] ?? 0) - (interval.ranges[r] ?? 0);
    return interval.weight / covered;
  };
  const ranked = virtual.map((interval) => ({ interval, priority: priority(interval) }));
  ranked.sort((a, b) => (b.priority === a.priority ? a.interval.register - b.interval.register : b.priority - a.priority));
  const spilled: Interval[] = [];
  for (const { interval } of ranked) {
    const wishes = interval.copies.map((other) => (other < FIRST_VIRTUAL ? other : assigned.get(other))).filter((register) => register !== undefined);
    const choice = [...wishes, ...callerSaved, ...calleeSaved].find((register) => register < FRAME && isFree(register, interval));
    if (choice === undefined) {
      if (unspillable.has(interval.register)) throw new Error("no register for a reload");
      spilled.push(interval);
      // One at a time would be exact but slow; what is left usually fits once the first few are gone.
      if (spilled.length >= 4) return spilled;
      continue;
    }
    assigned.set(interval.register, choice);
    take(choice, interval);
  }
  return spilled;
}

function canRecompute(instruction: MachineInstruction | undefined): boolean {
  return instruction?.kind === "constant" || instruction?.kind === "patched" || instruction?.kind === "frame-address" || instruction?.kind === "function";
}

function spill(emitter: Emitter, interval: Interval, temporaries: Set<Register>): void {
  const { register } = interval;
  const definition = interval.definition;
  const recompute = interval.definitions === 1 && definition !== undefined && canRecompute(definition) ? definition : undefined;
  const object = recompute === undefined ? emitter.object(8) : -1;
  const frame = { base: FRAME, object, offset: 0 } as const;
  const out: MachineInstruction[] = [];
  const temporary = (): Register => {
    const fresh = emitter.register();
    temporaries.add(fresh);
    return fresh;
  };
  for (const instruction of emitter.code) {
    if (instruction === recompute) continue;
    let reads = false;
    forEachRead(instruction, (other) => { reads ||= other === register; });
    const writes = written(instruction) === register;
    if (!reads && !writes) {
      out.push(instruction);
      continue;
    }
    if (recompute === undefined && instruction.kind === "move" && !instruction.narrow) {
      if (reads && !writes) out.push({ kind: "load", width: 8, signed: false, dst: instruction.dst, ...frame });
      else if (writes && !reads) out.push({ kind: "store", width: 8, src: instruction.src, ...frame });
      continue;
    }
    const fresh = temporary();
    if (reads) {
      if (recompute === undefined) out.push({ kind: "load", width: 8, signed: false, dst: fresh, ...frame });
      else out.push({ ...recompute, dst: fresh } as MachineInstruction);
    }
    replaceRegister(instruction, register, fresh);
    out.push(instruction);
    if (writes) out.push({ kind: "store", width: 8, src: fresh, ...frame });
  }
  emitter.code = out;
}

function finish(code: MachineInstruction[], assigned: ReadonlyMap<Register, Register>): MachineInstruction[] {
  const of = (register: Register): Register => (register < FIRST_VIRTUAL ? register : assigned.get(register) ?? 0);
  for (const instruction of code) {
    if ("dst" in instruction) instruction.dst = of(instruction.dst);
    if ("src" in instruction) instruction.src = of(instruction.src);
    if ("base" in instruction) instruction.base = of(instruction.base);
    if ("left" in instruction) instruction.left = of(instruction.left);
    if ("right" in instruction) instruction.right = of(instruction.right);
  }
  return code.filter((instruction) => !(instruction.kind === "move" && !instruction.narrow && instruction.dst === instruction.src));
}
