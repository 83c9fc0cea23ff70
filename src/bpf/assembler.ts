// Instructions with labels to code: resolves jumps (widening those that 16 bits cannot reach), calls of the program's
// own functions, and collects what only the session knows (maps, constants) as relocations.
import { InternalError } from "../base/internal-error.ts";
import {
  type AccessWidth,
  Alu,
  type AluCode,
  type BpfInstruction,
  Class,
  type Condition,
  encode,
  GOTO_LONG,
  invert,
  Jump,
  LD_IMM64,
  MAY_GOTO,
  Mode,
  Pseudo,
  SOURCE_REGISTER,
  widthCode,
} from "./instruction.ts";

/** A place in the code: bound once, jumped to from anywhere. */
export type Label = number;

/** An instruction that is finished when the program is loaded; `note` is the caller's. */
export interface Patch<Note> {
  readonly instruction: number;
  readonly note: Note;
}

type Fixup =
  | { readonly kind: "none" }
  | { readonly kind: "jump" | "call" | "function" | "may-goto"; readonly to: Label };

interface Item {
  readonly instruction: BpfInstruction;
  readonly fixup: Fixup;
  long: boolean;
}

const none: Fixup = { kind: "none" };

export class Assembler<Note = never> {
  readonly #items: Item[] = [];
  /** Item index that each label stands before. */
  readonly #labels: (number | undefined)[] = [];
  readonly #notes: { readonly item: number; readonly note: Note }[] = [];

  label(): Label {
    return this.#labels.push(undefined) - 1;
  }
  bind(label: Label): void {
    if (this.#labels[label] !== undefined) throw new InternalError(`label ${label} is bound twice`);
    this.#labels[label] = this.#items.length;
  }
  /** A label bound here. */
  here(): Label {
    const label = this.label();
    this.bind(label);
    return label;
  }

  raw(code: number, dst = 0, src = 0, offset = 0, imm = 0): void {
    this.#push({ code, dst, src, offset, imm }, none);
  }
  /** `offset` 1 makes DIV and MOD signed, and 8, 16, 32 make MOV sign-extend (cpu v4). */
  alu(operation: AluCode, wide: boolean, dst: number, src: number, offset = 0): void {
    this.raw((wide ? Class.ALU64 : Class.ALU) | operation | SOURCE_REGISTER, dst, src, offset);
  }
  aluImmediate(operation: AluCode, wide: boolean, dst: number, imm: number, offset = 0): void {
    this.raw((wide ? Class.ALU64 : Class.ALU) | operation, dst, 0, offset, imm);
  }
  negate(dst: number): void {
    this.raw(Class.ALU64 | Alu.NEG, dst);
  }
  /** The low `bits` as big-endian: on a little-endian machine, their bytes swapped; the rest becomes zero. */
  swap(dst: number, bits: 16 | 32 | 64): void {
    this.raw(Class.ALU | Alu.END | SOURCE_REGISTER, dst, 0, 0, bits);
  }
  load(width: AccessWidth, signed: boolean, dst: number, base: number, offset: number): void {
    this.raw(Class.LDX | (signed && width < 8 ? Mode.MEMSX : Mode.MEM) | widthCode(width), dst, base, offset);
  }
  store(width: AccessWidth, base: number, offset: number, src: number): void {
    this.raw(Class.STX | Mode.MEM | widthCode(width), base, src, offset);
  }
  storeImmediate(width: AccessWidth, base: number, offset: number, imm: number): void {
    this.raw(Class.ST | Mode.MEM | widthCode(width), base, 0, offset, imm);
  }
  atomic(operation: number, width: 4 | 8, base: number, offset: number, src: number): void {
    this.raw(Class.STX | Mode.ATOMIC | widthCode(width), base, src, offset, operation);
  }
  constant64(dst: number, value: bigint): void {
    this.raw(LD_IMM64, dst, 0, 0, Number(BigInt.asIntN(32, value)));
    this.raw(0, 0, 0, 0, Number(BigInt.asIntN(32, value >> 32n)));
  }
  /** A two-slot constant that the loader writes. `pseudo` tells the verifier what it is. */
  patched(dst: number, pseudo: number, high: number, note: Note): void {
    this.#notes.push({ item: this.#items.length, note });
    this.raw(LD_IMM64, dst, pseudo);
    this.raw(0, 0, 0, 0, high);
  }
  /** The address of a function of this program. */
  functionAddress(dst: number, to: Label): void {
    this.#push({ code: LD_IMM64, dst, src: Pseudo.FUNC, offset: 0, imm: 0 }, { kind: "function", to });
    this.raw(0);
  }
  jump(to: Label): void {
    this.#push({ code: Class.JMP | Jump.JA, dst: 0, src: 0, offset: 0, imm: 0 }, { kind: "jump", to });
  }
  jumpIf(condition: Condition, wide: boolean, dst: number, src: number, to: Label): void {
    this.#push(
      { code: (wide ? Class.JMP : Class.JMP32) | condition | SOURCE_REGISTER, dst, src, offset: 0, imm: 0 },
      { kind: "jump", to },
    );
  }
  jumpIfImmediate(condition: Condition, wide: boolean, dst: number, imm: number, to: Label): void {
    this.#push(
      { code: (wide ? Class.JMP : Class.JMP32) | condition, dst, src: 0, offset: 0, imm },
      { kind: "jump", to },
    );
  }
  mayGoto(to: Label): void {
    this.#push({ code: MAY_GOTO, dst: 0, src: 0, offset: 0, imm: 0 }, { kind: "may-goto", to });
  }
  call(helper: number): void {
    this.raw(Class.JMP | Jump.CALL, 0, 0, 0, helper);
  }
  /** A function of the kernel, by its BTF id. */
  callKernel(id: number): void {
    this.raw(Class.JMP | Jump.CALL, 0, Pseudo.KERNEL_FUNCTION, 0, id);
  }
  callFunction(to: Label): void {
    this.#push({ code: Class.JMP | Jump.CALL, dst: 0, src: Pseudo.CALL, offset: 0, imm: 0 }, { kind: "call", to });
  }
  exit(): void {
    this.raw(Class.JMP | Jump.EXIT);
  }

  /** Where a label ended up, in instructions. Known after `finish`. */
  position(label: Label): number {
    return this.#addresses?.[this.#target(label)] ?? 0;
  }
  #addresses: number[] | undefined;

  finish(): { code: Uint8Array; patches: Patch<Note>[] } {
    const addresses = this.#layOut();
    this.#addresses = addresses;
    const out: BpfInstruction[] = [];
    this.#items.forEach((item, i) => {
      const { instruction, fixup } = item;
      if (fixup.kind === "none") {
        out.push(instruction);
        return;
      }
      const start = addresses[i] ?? 0;
      const to = addresses[this.#target(fixup.to)] ?? 0;
      const distance = to - start - 1;
      if (fixup.kind === "call" || fixup.kind === "function") out.push({ ...instruction, imm: distance });
      else if (!item.long) out.push({ ...instruction, offset: distance });
      else if (instruction.code === (Class.JMP | Jump.JA)) out.push({ ...instruction, code: GOTO_LONG, imm: distance });
      else {
        // A conditional jump too far: `if (condition) goto +1; goto +1; gotol to`, or inverted where it can be.
        const condition = (instruction.code & 0xf0) as Condition;
        const opposite = fixup.kind === "may-goto" ? undefined : invert(condition);
        if (opposite !== undefined) out.push({ ...instruction, code: (instruction.code & 0x0f) | opposite, offset: 1 });
        else out.push({ ...instruction, offset: 1 }, { code: Class.JMP | Jump.JA, dst: 0, src: 0, offset: 1, imm: 0 });
        out.push({ code: GOTO_LONG, dst: 0, src: 0, offset: 0, imm: to - start - this.#size(item) });
      }
    });
    return {
      code: encode(out),
      patches: this.#notes.map(({ item, note }) => ({ instruction: addresses[item] ?? 0, note })),
    };
  }

  #push(instruction: BpfInstruction, fixup: Fixup): void {
    this.#items.push({ instruction, fixup, long: false });
  }
  #target(label: Label): number {
    const item = this.#labels[label];
    if (item === undefined) throw new InternalError(`label ${label} is never bound`);
    return item;
  }
  #size(item: Item): number {
    if (!item.long || item.instruction.code === (Class.JMP | Jump.JA)) return 1;
    return item.fixup.kind === "may-goto" || invert((item.instruction.code & 0xf0) as Condition) === undefined ? 3 : 2;
  }
  /** Addresses of the items; widens jumps until all reach. */
  #layOut(): number[] {
    for (;;) {
      const addresses: number[] = [];
      let at = 0;
      for (const item of this.#items) {
        addresses.push(at);
        at += this.#size(item);
      }
      addresses.push(at);
      let widened = false;
      this.#items.forEach((item, i) => {
        if (item.long || (item.fixup.kind !== "jump" && item.fixup.kind !== "may-goto")) return;
        const distance = (addresses[this.#target(item.fixup.to)] ?? 0) - (addresses[i] ?? 0) - 1;
        if (distance < -32768 || distance > 32767) {
          item.long = true;
          widened = true;
        }
      });
      if (!widened) return addresses;
    }
  }
}
