// What the parts of the unwinder are written with: where it keeps what, and the steps that they share.
import type { Assembler, Label } from "../../bpf/assembler.ts";
import { helpers, type HelperName } from "../../bpf/helpers.ts";
import { Alu, FRAME, Jump, Pseudo } from "../../bpf/instruction.ts";
import { UpdateFlag } from "../../bpf/kinds.ts";
import { mixIn } from "./stack-hash.ts";
import { interpreted } from "../layouts/unwound-stack.ts";
import type { RelocationNote } from "./machine.ts";
import { interpretedAt, unwoundAddresses } from "../layouts/unwind-layout.ts";

/** What is kept between rounds: negative, in the frame (`words`: two of them); else in the capture's memory. */
export const slot = {
  key: -8,
  words: -24,
  limit: -32,
  root: -40,
  sp: 8,
  bp: 16,
  hash: 24,
  call: 32,
  place: 40,
  rbpRule: 48,
  instance: 56,
} as const;
/**
 * Likewise: the memory area that was found last, what to add to an address for the place in its file, and that file's
 * key.
 */
export const area = { start: 64, end: 72, toFile: 80, inode: 88, device: 96 } as const;
/**
 * Likewise, in a loop: where the code that the last call was in begins, how long it is, and what to add for its tree's
 * keys.
 */
export const last = { start: 104, size: 112, shift: 120 } as const;
/** Likewise, in a callback: the address to go on with. */
export const goesOn = 104;

/**
 * Kept in the capture's memory: the frame to go on with, `unknown` before it is looked for; whether frames are being
 * told; a word; the frame; the key of what it runs; words that were read.
 */
export const kept = { pid: 128, frame: 136, telling: 144, word: 152, header: 160, key: 240, words: 248 } as const;
/** Of x86-64, on which alone stacks are unwound. */
const pageBytes = 4096;

/** Kept over calls: the memory for the result, the process's mappings, frames so far, the address. */
export const MEMORY = 6,
  MAPPINGS = 7,
  COUNT = 8,
  ADDRESS = 9;

/** The kernel maps that the session keeps for it, by index. */
export interface UnwinderMaps {
  readonly processes: number;
  readonly nodes: number;
  readonly wanted: number;
  readonly files: number;
  readonly functions: number;
}

export class UnwinderCode {
  readonly assembler: Assembler<RelocationNote>;
  readonly maps: UnwinderMaps;
  /** The verifier knows loops that it need not walk to their end. */
  readonly mayGoto: boolean;
  /** Where a step leads: to the next round, with its address and call known. */
  readonly next: Label;
  /** To the frame pointer, for code without a table. */
  readonly pointer: Label;
  /** To the end, of a stack that cannot be followed further. */
  readonly broken: Label;
  /** To the end. */
  readonly done: Label;

  constructor(assembler: Assembler<RelocationNote>, maps: UnwinderMaps, mayGoto: boolean) {
    this.assembler = assembler;
    this.maps = maps;
    this.mayGoto = mayGoto;
    [this.next, this.pointer, this.broken, this.done] = [
      assembler.label(),
      assembler.label(),
      assembler.label(),
      assembler.label(),
    ];
  }

  call(name: HelperName): void {
    this.assembler.call(helpers[name].id);
  }
  set(register: number, value: number): void {
    this.assembler.aluImmediate(Alu.MOV, true, register, value);
  }
  move(to: number, from: number): void {
    this.assembler.alu(Alu.MOV, true, to, from);
  }
  add(register: number, value: number): void {
    this.assembler.aluImmediate(Alu.ADD, true, register, value);
  }
  load(to: number, at: number): void {
    this.assembler.load(8, false, to, baseOf(at), at);
  }
  store(at: number, from: number): void {
    this.assembler.store(8, baseOf(at), at, from);
  }
  addressOf(register: number, at: number): void {
    this.move(register, baseOf(at));
    this.add(register, at);
  }
  /** r1: the map. */
  map(map: number): void {
    this.assembler.patched(1, Pseudo.MAP_FD, 0, { kind: "map", map, offset: 0 });
  }
  /** The entry of the key that is kept at `key`, into r0. */
  lookup(map: number, key: number = slot.key): void {
    this.map(map);
    this.addressOf(2, key);
    this.call("map_lookup_elem");
  }
  /**
   * Keeps what memory has at `interpretedAt` of the function whose key is kept, unless it is known. To `full` where the map has no
   * room for it (E2BIG). Where another CPU was faster, or there is no memory just now, whoever meets it next copies it.
   */
  keepFunction(functions: number, full: Label): void {
    this.map(functions);
    this.addressOf(2, kept.key);
    this.addressOf(3, interpretedAt);
    this.set(4, UpdateFlag.NOEXIST);
    this.call("map_update_elem");
    // The low half alone: see resultOfMap.
    this.assembler.jumpIfImmediate(Jump.JEQ, false, 0, -7, full);
  }
  /** Reads user memory at r3. */
  readUser(at: number, bytes: number, failed: Label): void {
    this.addressOf(1, at);
    this.set(2, bytes);
    this.call("probe_read_user");
    this.assembler.jumpIfImmediate(Jump.JNE, true, 0, 0, failed);
  }
  /**
   * Copies what an object begins with, that the word at `from` leads to: where not all of it can be read, what is on its
   * page, since the next may never have been touched; zeroes where that cannot be read either. `most`: at most a page.
   */
  copyText(to: number, from: number, offset: number, most: number): void {
    const a = this.assembler;
    const whole = a.label();
    const source = (): void => {
      this.load(3, interpretedAt + from);
      this.add(3, offset);
    };
    source();
    this.addressOf(1, interpretedAt + to);
    this.set(2, most);
    this.call("probe_read_user");
    a.aluImmediate(Alu.ARSH, true, 0, 63);
    source();
    this.move(2, 3);
    a.negate(2);
    a.aluImmediate(Alu.AND, true, 2, pageBytes - 1);
    // Nothing where the first was good.
    a.alu(Alu.AND, true, 2, 0);
    a.jumpIfImmediate(Jump.JGE, true, 2, most, whole);
    this.addressOf(1, interpretedAt + to);
    this.call("probe_read_user");
    a.bind(whole);
  }
  /** Reads 8 bytes of kernel memory at r3; 0 when that fails. */
  readKernel(at: number): void {
    this.addressOf(1, at);
    this.set(2, 8);
    this.call("probe_read_kernel");
  }
  /**
   * r2: rows in order of their first word, as many as a power of four. Leaves it at the last that is not above r3, or
   * at the first.
   */
  search(rows: number, rowBytes: number, keyBytes: 4 | 8): void {
    const a = this.assembler;
    this.move(1, 3);
    this.add(1, 1);
    // Three keys at a time: they are fetched side by side, where halving would wait for one after the other.
    for (let quarter = rows / 4; quarter >= 1; quarter /= 4) {
      const keys = [0, 4, 5] as const;
      keys.forEach((key, i) => a.load(keyBytes, false, key, 2, (i + 1) * quarter * rowBytes));
      // By logical shifts: what is one of two signed numbers, newer verifiers follow both ways.
      for (const key of keys) {
        a.alu(Alu.SUB, true, key, 1);
        a.aluImmediate(Alu.RSH, true, key, 63);
      }
      a.alu(Alu.ADD, true, 0, 4);
      a.alu(Alu.ADD, true, 0, 5);
      a.aluImmediate(Alu.MUL, true, 0, quarter * rowBytes);
      a.alu(Alu.ADD, true, 2, 0);
    }
  }
}

function baseOf(at: number): number {
  return at < 0 ? FRAME : MEMORY;
}

/** Keeps an address, and mixes it into the number that stands for the stack. */
export function noteAddress(code: UnwinderCode, address: number): void {
  const a = code.assembler;
  code.move(1, COUNT);
  a.aluImmediate(Alu.LSH, true, 1, 3);
  code.move(2, MEMORY);
  a.alu(Alu.ADD, true, 2, 1);
  a.store(8, 2, unwoundAddresses, address);
  code.load(1, slot.hash);
  mixIn(a, 1, address, 2);
  code.store(slot.hash, 1);
}

/** The word that stands for the function that r1 was made of, into the key. */
export function wordOf(code: UnwinderCode): void {
  const { assembler: a } = code;
  a.aluImmediate(Alu.RSH, true, 1, 64 - interpreted.numberBits);
  a.aluImmediate(Alu.LSH, true, 1, interpreted.placeBits);
  a.constant64(2, interpreted.tag << interpreted.tagShift);
  a.alu(Alu.OR, true, 1, 2);
  code.store(kept.key, 1);
}
