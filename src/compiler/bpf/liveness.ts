// Which registers hold something that is still wanted, and where. In columns and bits rather than objects: this looks at each
// instruction several times, in every start of a script, before the engine has optimised any of it.
import { FRAME } from "../../bpf/instruction.ts";
import { endsBlock, jumpTarget, type MachineInstruction } from "./machine.ts";

/** A straight piece of code, from `start` up to `end`, and the pieces where it may go on. */
export interface Block { readonly start: number; end: number; readonly successors: number[] }

/** What each instruction does to registers, a column each. -1 where there is none; the frame register counts as none. */
export interface Effects {
  /** Up to two that it reads. */
  readonly first: Int32Array;
  readonly second: Int32Array;
  /** The one that it writes. */
  readonly result: Int32Array;
  /** Of r0 to r5, as bits: a call's arguments, and what calls and the entry write besides. */
  readonly alsoRead: Uint8Array;
  readonly alsoWritten: Uint8Array;
  /** Bits of PURE and UPDATE. */
  readonly nature: Uint8Array;
}

/** No effect but its result. */
export const PURE = 1;
/** The result is what it read, changed. */
export const UPDATE = 2;

const AFTER_CALL = 0b111111;

/** Straight pieces of code and where each goes on. */
export function blocksOf(code: readonly MachineInstruction[]): Block[] {
  const blocks: Block[] = [];
  const blockOfLabel = new Map<number, number>();
  let current: Block | undefined;
  for (let i = 0; i < code.length; i++) {
    const instruction = code[i];
    if (instruction.kind === "label") {
      // Labels in a row begin one block.
      if (current === undefined || current.start !== i - 1 || code[i - 1].kind !== "label") {
        if (current !== undefined) current.end = i;
        blocks.push(current = { start: i, end: code.length, successors: [] });
      }
      blockOfLabel.set(instruction.label, blocks.length - 1);
    } else if (current === undefined) blocks.push(current = { start: i, end: code.length, successors: [] });
    if (jumpTarget(instruction) >= 0 || instruction.kind === "exit") {
      current.end = i + 1;
      current = undefined;
    }
  }
  for (let b = 0; b < blocks.length; b++) {
    const block = blocks[b];
    const last = code[block.end - 1];
    const target = jumpTarget(last);
    if (target >= 0) block.successors.push(blockOfLabel.get(target) ?? 0);
    if (!endsBlock(last) && b + 1 < blocks.length) block.successors.push(b + 1);
  }
  return blocks;
}

export function effectsOf(code: readonly MachineInstruction[]): Effects {
  const { length } = code;
  const first = new Int32Array(length).fill(-1);
  const second = new Int32Array(length).fill(-1);
  const result = new Int32Array(length).fill(-1);
  const alsoRead = new Uint8Array(length);
  const alsoWritten = new Uint8Array(length);
  const nature = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const instruction = code[i];
    switch (instruction.kind) {
      case "alu":
        first[i] = result[i] = instruction.dst;
        second[i] = instruction.src;
        nature[i] = PURE | UPDATE;
        break;
      case "alu-immediate":
      case "negate":
      case "swap":
        first[i] = result[i] = instruction.dst;
        nature[i] = PURE | UPDATE;
        break;
      case "move":
      case "sign-extend":
        first[i] = instruction.src;
        result[i] = instruction.dst;
        nature[i] = PURE;
        break;
      case "load":
        first[i] = instruction.base;
        result[i] = instruction.dst;
        nature[i] = PURE;
        break;
      case "constant":
      case "patched":
      case "function":
      case "frame-address":
        result[i] = instruction.dst;
        nature[i] = PURE;
        break;
      case "store":
        first[i] = instruction.base;
        second[i] = instruction.src;
        break;
      case "store-immediate":
        first[i] = instruction.base;
        break;
      case "atomic":
        first[i] = instruction.base;
        second[i] = instruction.src;
        if (instruction.fetch) result[i] = instruction.src;
        nature[i] = UPDATE;
        break;
      case "branch":
        first[i] = instruction.left;
        second[i] = instruction.right;
        break;
      case "branch-immediate":
        first[i] = instruction.left;
        break;
      case "call":
      case "call-function":
        alsoRead[i] = ((1 << instruction.parameters) - 1) << 1;
        alsoWritten[i] = AFTER_CALL;
        break;
      case "enter":
        alsoWritten[i] = ((1 << instruction.parameters) - 1) << 1;
        break;
      case "exit":
        first[i] = 0;
        break;
      case "jump":
      case "may-goto":
      case "label":
      case "touch": break;
    }
    if (first[i] === FRAME) first[i] = -1;
    if (second[i] === FRAME) second[i] = -1;
  }
  return { first, second, result, alsoRead, alsoWritten, nature };
}

/** Which registers are wanted where each block begins: a set a block, of `words` words, one after the other. */
export function solveLiveness(effects: Effects, blocks: readonly Block[], words: number): Uint32Array {
  // What a block wants of those before it, and what it writes before it reads it.
  const wants = new Uint32Array(blocks.length * words);
  const writes = new Uint32Array(blocks.length * words);
  const { first, second, result, alsoRead, alsoWritten } = effects;
  for (let b = 0; b < blocks.length; b++) {
    const { start, end } = blocks[b];
    const base = b * words;
    for (let i = end - 1; i >= start; i--) {
      if (alsoWritten[i] !== 0) {
        wants[base] &= ~alsoWritten[i];
        writes[base] |= alsoWritten[i];
      }
      const to = result[i];
      if (to >= 0) {
        wants[base + (to >> 5)] &= ~(1 << (to & 31));
        writes[base + (to >> 5)] |= 1 << (to & 31);
      }
      wants[base] |= alsoRead[i];
      if (first[i] >= 0) wants[base + (first[i] >> 5)] |= 1 << (first[i] & 31);
      if (second[i] >= 0) wants[base + (second[i] >> 5)] |= 1 << (second[i] & 31);
    }
  }
  const before = wants.slice();
  for (let changed = true; changed;) {
    changed = false;
    for (let b = blocks.length - 1; b >= 0; b--) {
      const base = b * words;
      for (const successor of blocks[b].successors) {
        for (let w = 0, from = successor * words; w < words; w++, from++) {
          const more = before[from] & ~writes[base + w] & ~before[base + w];
          if (more !== 0) {
            before[base + w] |= more;
            changed = true;
          }
        }
      }
    }
  }
  return before;
}

/** Which registers are wanted where a block ends: into `set`. */
export function liveAfter(block: Block, before: Uint32Array, set: Uint32Array): void {
  set.fill(0);
  for (const successor of block.successors) {
    for (let w = 0, from = successor * set.length; w < set.length; w++, from++) set[w] |= before[from];
  }
}

export function isIn(set: Uint32Array, register: number): boolean {
  return (set[register >> 5] & (1 << (register & 31))) !== 0;
}

/** Takes a set from behind an instruction to before it. */
export function stepBack({ first, second, result, alsoRead, alsoWritten }: Effects, i: number, set: Uint32Array): void {
  set[0] &= ~alsoWritten[i];
  const to = result[i];
  if (to >= 0) set[to >> 5] &= ~(1 << (to & 31));
  set[0] |= alsoRead[i];
  if (first[i] >= 0) set[first[i] >> 5] |= 1 << (first[i] & 31);
  if (second[i] >= 0) set[second[i] >> 5] |= 1 << (second[i] & 31);
}

/**
 * The code without what nobody wants the result of. What nobody reads at all goes first, in one pass from the end; what is
 * left needs to know who reads which result.
 */
export function withoutUnread(code: readonly MachineInstruction[], registers: number): MachineInstruction[] {
  const { first, second, result, alsoRead, nature } = effectsOf(code);
  const readers = new Int32Array(registers);
  for (let i = 0; i < code.length; i++) {
    if (first[i] >= 0) readers[first[i]]++;
    if (second[i] >= 0) readers[second[i]]++;
    for (let register = 1, bits = alsoRead[i] >> 1; bits !== 0; register++, bits >>= 1) readers[register] += bits & 1;
  }
  const kept: MachineInstruction[] = [];
  for (let i = code.length - 1; i >= 0; i--) {
    if ((nature[i] & PURE) !== 0 && readers[result[i]] === 0) {
      if (first[i] >= 0) readers[first[i]]--;
      if (second[i] >= 0) readers[second[i]]--;
    } else kept.push(code[i]);
  }
  return kept.reverse();
}
