// The eBPF instruction: its fields, its opcodes, its eight bytes. Source:
// Documentation/bpf/standardization/instruction-set.rst.

/** Registers: r0 result, r1–r5 arguments (lost over calls), r6–r9 kept, r10 the frame (read-only). */
export const FRAME = 10;

export interface BpfInstruction {
  readonly code: number;
  readonly dst: number;
  readonly src: number;
  /** Signed 16 bits. */
  readonly offset: number;
  /** Signed 32 bits. */
  readonly imm: number;
}

/** Low three bits of an opcode. */
export const Class = { LD: 0, LDX: 1, ST: 2, STX: 3, ALU: 4, JMP: 5, JMP32: 6, ALU64: 7 } as const;

/** Arithmetic, high four bits. */
export const Alu = {
  ADD: 0x00,
  SUB: 0x10,
  MUL: 0x20,
  DIV: 0x30,
  OR: 0x40,
  AND: 0x50,
  LSH: 0x60,
  RSH: 0x70,
  NEG: 0x80,
  MOD: 0x90,
  XOR: 0xa0,
  MOV: 0xb0,
  ARSH: 0xc0,
  END: 0xd0,
} as const;
export type AluCode = (typeof Alu)[keyof typeof Alu];

/** Jumps, high four bits. */
export const Jump = {
  JA: 0x00,
  JEQ: 0x10,
  JGT: 0x20,
  JGE: 0x30,
  JSET: 0x40,
  JNE: 0x50,
  JSGT: 0x60,
  JSGE: 0x70,
  CALL: 0x80,
  EXIT: 0x90,
  JLT: 0xa0,
  JLE: 0xb0,
  JSLT: 0xc0,
  JSLE: 0xd0,
  JCOND: 0xe0,
} as const;
export type Condition =
  | typeof Jump.JEQ
  | typeof Jump.JNE
  | typeof Jump.JGT
  | typeof Jump.JGE
  | typeof Jump.JLT
  | typeof Jump.JLE
  | typeof Jump.JSGT
  | typeof Jump.JSGE
  | typeof Jump.JSLT
  | typeof Jump.JSLE
  | typeof Jump.JSET;

/** The right operand is a register (X) rather than the immediate (K). */
export const SOURCE_REGISTER = 0x08;

/** Memory access: mode and width. */
export const Mode = { IMM: 0x00, MEM: 0x60, MEMSX: 0x80, ATOMIC: 0xc0 } as const;
const widthBits = { 1: 0x10, 2: 0x08, 4: 0x00, 8: 0x18 } as const;
export type AccessWidth = keyof typeof widthBits;
export function widthCode(width: AccessWidth): number {
  return widthBits[width];
}

/** Immediates of atomic operations. */
export const Atomic = { ADD: 0x00, FETCH_ADD: 0x01, XCHG: 0xe1, CMPXCHG: 0xf1 } as const;

/** What the source register of a two-slot ld_imm64 says about its immediate. */
export const Pseudo = {
  MAP_FD: 1,
  MAP_VALUE: 2,
  BTF_ID: 3,
  FUNC: 4,
  /** In a call's source register: a function of this program. */
  CALL: 1,
  /** In a call's source register: a function of the kernel, by its BTF id. */
  KERNEL_FUNCTION: 2,
} as const;

export const LD_IMM64 = Class.LD | Mode.IMM | 0x18;
/** may_goto: goes on until the kernel's budget is spent, then jumps. */
export const MAY_GOTO = Class.JMP | Jump.JCOND;
/** gotol, of cpu v4: the distance is the immediate. */
export const GOTO_LONG = Class.JMP32 | Jump.JA;

/** The opposite of a condition; `JSET` has none. */
export function invert(condition: Condition): Condition | undefined {
  switch (condition) {
    case Jump.JEQ:
      return Jump.JNE;
    case Jump.JNE:
      return Jump.JEQ;
    case Jump.JGT:
      return Jump.JLE;
    case Jump.JLE:
      return Jump.JGT;
    case Jump.JGE:
      return Jump.JLT;
    case Jump.JLT:
      return Jump.JGE;
    case Jump.JSGT:
      return Jump.JSLE;
    case Jump.JSLE:
      return Jump.JSGT;
    case Jump.JSGE:
      return Jump.JSLT;
    case Jump.JSLT:
      return Jump.JSGE;
    case Jump.JSET:
      return undefined;
  }
}

/** The condition that holds for (b, a) when this one holds for (a, b). */
export function mirror(condition: Condition): Condition {
  switch (condition) {
    case Jump.JEQ:
    case Jump.JNE:
    case Jump.JSET:
      return condition;
    case Jump.JGT:
      return Jump.JLT;
    case Jump.JLT:
      return Jump.JGT;
    case Jump.JGE:
      return Jump.JLE;
    case Jump.JLE:
      return Jump.JGE;
    case Jump.JSGT:
      return Jump.JSLT;
    case Jump.JSLT:
      return Jump.JSGT;
    case Jump.JSGE:
      return Jump.JSLE;
    case Jump.JSLE:
      return Jump.JSGE;
  }
}

/** Encodes instructions to 8 bytes each, little-endian. */
export function encode(instructions: readonly BpfInstruction[]): Uint8Array {
  const bytes = new Uint8Array(instructions.length * 8);
  const view = new DataView(bytes.buffer);
  instructions.forEach((instruction, i) => {
    bytes[i * 8] = instruction.code;
    bytes[i * 8 + 1] = instruction.dst | (instruction.src << 4);
    view.setInt16(i * 8 + 2, instruction.offset, true);
    view.setInt32(i * 8 + 4, instruction.imm, true);
  });
  return bytes;
}

export function decode(code: Uint8Array): BpfInstruction[] {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength);
  const instructions: BpfInstruction[] = [];
  for (let at = 0; at + 8 <= code.length; at += 8) {
    const registers = view.getUint8(at + 1);
    instructions.push({
      code: view.getUint8(at),
      dst: registers & 15,
      src: registers >> 4,
      offset: view.getInt16(at + 2, true),
      imm: view.getInt32(at + 4, true),
    });
  }
  return instructions;
}

/** Whether a 64-bit value is what a sign-extended 32-bit immediate gives. */
export function fitsImmediate(value: bigint): boolean {
  return value >= -0x8000_0000n && value <= 0x7fff_ffffn;
}
