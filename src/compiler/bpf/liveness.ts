// Which registers hold something that is still wanted, and where. In columns and bits rather than objects: this looks
// at each instruction several times, in every start of a script, before the engine has optimised any of it.
import { FRAME } from "../../bpf/instruction.ts";
import { endsBlock, jumpTarget, type MachineInstruction } from "./machine.ts";

/** A straight piece of code, from `start` up to `end`, and the pieces where it may go on. */
export interface Block {
  readonly start: number;
  end: number;
  readonly successors: number[];
}

/**
 * What each instruction does to registers, a column each. -1 where there is none; the frame register counts as none.
 */
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
        blocks.push((current = { start: i, end: code.length, successors: [] }));
      }
      blockOfLabel.set(instruction.label, blocks.length - 1);
    } else if (current === undefined) blocks.push((current = { start: i, end: code.length, successors: [] }));
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
      case "object-address":
        first[i] = instruction.base;
        result[i] = instruction.dst;
        nature[i] = PURE;
        break;
      case "constant":
      case "patched":
      case "function":
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
      case "compare-exchange":
        first[i] = instruction.base;
        second[i] = instruction.src;
        alsoRead[i] = alsoWritten[i] = 1;
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
      case "touch":
        break;
    }
    if (first[i] === FRAME) first[i] = -1;
    if (second[i] === FRAME) second[i] = -1;
  }
  return { first, second, result, alsoRead, alsoWritten, nature };
}

/**
 * Which registers are wanted where each block begins: a list a block, as long as it is. `first` has where each list
 * begins, `next` where it goes on; -1 at its end.
 */
export interface LiveLists {
  readonly first: Int32Array;
  readonly next: readonly number[];
  readonly register: readonly number[];
}

/** Lists of pairs that begin in the same way, a list a register. */
class Places {
  readonly first: Int32Array;
  readonly next: number[] = [];
  readonly block: number[] = [];

  constructor(registers: number) {
    this.first = new Int32Array(registers).fill(-1);
  }

  add(register: number, block: number): void {
    const last = this.first[register];
    if (last >= 0 && this.block[last] === block) return;
    this.first[register] = this.block.length;
    this.next.push(last);
    this.block.push(block);
  }
}

/**
 * From where each register is read back to where it is written, a register at a time: the time is that of the lists'
 * lengths. Undefined when these would have more than `most` registers in all.
 */
export function solveLiveness(
  effects: Effects,
  blocks: readonly Block[],
  registers: number,
  most: number,
): LiveLists | undefined {
  const { first, second, result, alsoRead, alsoWritten } = effects;
  // Blocks that want a register of those before them, and those that write it.
  const wants = new Places(registers);
  const writes = new Places(registers);
  /** The last block that wrote each register before it read it. */
  const own = new Int32Array(registers).fill(-1);
  for (let b = 0; b < blocks.length; b++) {
    const { start, end } = blocks[b];
    for (let i = start; i < end; i++) {
      if (first[i] >= 0 && own[first[i]] !== b) wants.add(first[i], b);
      if (second[i] >= 0 && own[second[i]] !== b) wants.add(second[i], b);
      for (let register = 0, bits = alsoRead[i]; bits !== 0; register++, bits >>= 1)
        if ((bits & 1) !== 0 && own[register] !== b) wants.add(register, b);
      const to = result[i];
      if (to >= 0) {
        own[to] = b;
        writes.add(to, b);
      }
      for (let register = 0, bits = alsoWritten[i]; bits !== 0; register++, bits >>= 1) {
        if ((bits & 1) === 0) continue;
        own[register] = b;
        writes.add(register, b);
      }
    }
  }
  const { firstBefore, before } = edgesTo(blocks);
  const lists = { first: new Int32Array(blocks.length).fill(-1), next: [] as number[], register: [] as number[] };
  const written = new Int32Array(blocks.length).fill(-1);
  const seen = new Int32Array(blocks.length).fill(-1);
  const pending: number[] = [];
  for (let register = 0; register < registers; register++) {
    if (wants.first[register] < 0) continue;
    for (let at = writes.first[register]; at >= 0; at = writes.next[at]) written[writes.block[at]] = register;
    for (let at = wants.first[register]; at >= 0; at = wants.next[at]) pending.push(wants.block[at]);
    for (let b = pending.pop(); b !== undefined; b = pending.pop()) {
      if (seen[b] === register) continue;
      seen[b] = register;
      lists.next.push(lists.first[b]);
      lists.first[b] = lists.register.push(register) - 1;
      for (let at = firstBefore[b]; at < firstBefore[b + 1]; at++)
        if (written[before[at]] !== register) pending.push(before[at]);
    }
    if (lists.register.length > most) return undefined;
  }
  return lists;
}

/** The blocks before each: of block b, those in `before` from `firstBefore[b]` up to `firstBefore[b + 1]`. */
function edgesTo(blocks: readonly Block[]): { readonly firstBefore: Int32Array; readonly before: Int32Array } {
  const firstBefore = new Int32Array(blocks.length + 1);
  for (const { successors } of blocks) for (const to of successors) firstBefore[to + 1]++;
  for (let b = 0; b < blocks.length; b++) firstBefore[b + 1] += firstBefore[b];
  const next = firstBefore.slice();
  const before = new Int32Array(firstBefore[blocks.length]);
  for (let b = 0; b < blocks.length; b++) for (const to of blocks[b].successors) before[next[to]++] = b;
  return { firstBefore, before };
}

/** Takes a set, a byte a register, from behind an instruction to before it. */
export function stepBack({ first, second, result, alsoRead, alsoWritten }: Effects, i: number, set: Uint8Array): void {
  for (let register = 0, bits = alsoWritten[i]; bits !== 0; register++, bits >>= 1)
    if ((bits & 1) !== 0) set[register] = 0;
  if (result[i] >= 0) set[result[i]] = 0;
  for (let register = 0, bits = alsoRead[i]; bits !== 0; register++, bits >>= 1)
    if ((bits & 1) !== 0) set[register] = 1;
  if (first[i] >= 0) set[first[i]] = 1;
  if (second[i] >= 0) set[second[i]] = 1;
}

/**
 * The code without what nobody wants the result of. What nobody reads at all goes first, in one pass from the end; what
 * is left needs to know who reads which result.
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
