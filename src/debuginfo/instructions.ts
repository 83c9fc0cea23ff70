// x86-64 instructions: where each begins, where control goes from it, how it reads. A breakpoint anywhere but at the
// beginning of an instruction would corrupt the program.
import type { Instruction as IcedInstruction } from "iced-x86";
import { lazy } from "../base/lazy.ts";

export type Flow =
  /** To the instruction behind it. */
  | "next"
  | "jump"
  /** To its target, or to the instruction behind it. */
  | "branch"
  | "call"
  | "return"
  | "indirect-jump"
  | "indirect-call"
  /** It faults: ud2, int3. */
  | "trap";

export interface Instruction {
  /** Bytes from the start of the code. */
  readonly offset: number;
  readonly length: number;
  readonly flow: Flow;
  /** Of direct jumps, branches and calls: bytes from the start of the code, in it or not. */
  readonly target?: number;
  /**
   * An indirect jump that chooses among cases of a `switch`, as far as the code in front of it tells: it stays in the
   * function.
   */
  readonly table?: boolean;
}

export interface Decoded {
  readonly instructions: readonly Instruction[];
  /** Where the bytes are no instruction, or one that is cut off; undefined when all of the code was decoded. */
  readonly brokenAt?: number;
}

/** A WebAssembly module of a megabyte: loaded when somebody asks about an offset inside a function. */
export const iced = lazy<typeof import("iced-x86")>(() => require("iced-x86"));

/** Compilers compute the target of a `switch` shortly before they jump to it. */
const tableWindow = 10;

/** All instructions of a piece of code that begins with a whole one. */
export function decode(code: Uint8Array): Decoded {
  const { Decoder, DecoderOptions, FlowControl, Instruction: Decoding } = iced();
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const current = new Decoding();
  // Far enough from both ends of the address space for targets on either side.
  const base = 1n << 40n;
  decoder.ip = base;
  const instructions: Instruction[] = [];
  // Registers that the last instructions put a sum or an element of a table in; negative where it was something else.
  const computed: number[] = [];
  try {
    while (decoder.canDecode) {
      const offset = decoder.position;
      decoder.decodeOut(current);
      if (current.isInvalid) return { instructions, brokenAt: offset };
      const length = decoder.position - offset;
      const to = (flow: Flow): Instruction =>
        isDirect(current)
          ? { offset, length, flow, target: Number(current.nearBranchTarget - base) }
          : { offset, length, flow: "next" };
      switch (current.flowControl) {
        case FlowControl.UnconditionalBranch:
          instructions.push(to("jump"));
          break;
        case FlowControl.ConditionalBranch:
          instructions.push(to("branch"));
          break;
        case FlowControl.Call:
          instructions.push(to("call"));
          break;
        case FlowControl.Return:
          instructions.push({ offset, length, flow: "return" });
          break;
        case FlowControl.IndirectBranch:
          instructions.push({ offset, length, flow: "indirect-jump", table: isTable(current, code[offset], computed) });
          break;
        case FlowControl.IndirectCall:
          instructions.push({ offset, length, flow: "indirect-call" });
          break;
        case FlowControl.Interrupt:
        case FlowControl.Exception:
          instructions.push({ offset, length, flow: "trap" });
          break;
        case FlowControl.Next:
        case FlowControl.XbeginXabortXend:
          instructions.push({ offset, length, flow: "next" });
          break;
      }
      computed.push(computes(current));
      if (computed.length > tableWindow) computed.shift();
    }
    return { instructions };
  } finally {
    current.free();
    decoder.free();
  }
}

const INT3 = 0xcc;

/**
 * A breakpoint that nothing flows into: what compilers and linkers put behind jumps and returns, and between functions.
 */
export function isFiller(code: Uint8Array, instructions: readonly Instruction[], index: number): boolean {
  if (code[instructions[index].offset] !== INT3) return false;
  switch (instructions[index - 1]?.flow) {
    case "jump":
    case "return":
    case "indirect-jump":
    case "trap":
      return true;
    default:
      return false;
  }
}

/** Where a breakpoint hides the instruction that is really there, in code as it is in memory. */
export function hiddenAt(code: Uint8Array): number | undefined {
  const { instructions } = decode(code);
  return instructions.find(({ offset }, i) => code[offset] === INT3 && !isFiller(code, instructions, i))?.offset;
}

/** System calls are calls to the decoder, but control comes right back. */
function isDirect(instruction: IcedInstruction): boolean {
  return instruction.op0Kind === iced().OpKind.NearBranch64;
}

/** `notrack` marks jumps through tables where others must land on endbr64. */
const notrack = 0x3e;

function isTable(jump: IcedInstruction, first: number, computed: readonly number[]): boolean {
  const { OpKind, Register } = iced();
  if (first === notrack || jump.memoryIndex !== Register.None) return true;
  const register: number = jump.op0Register;
  return jump.op0Kind === OpKind.Register && (computed.findLast((one) => Math.abs(one) === register) ?? 0) > 0;
}

/**
 * The register that this puts a sum of registers or an element of a table in; negative where it loads something else;
 * else 0.
 */
function computes(instruction: IcedInstruction): number {
  const { Mnemonic, OpKind, Register } = iced();
  if (instruction.op0Kind !== OpKind.Register) return 0;
  switch (instruction.mnemonic) {
    case Mnemonic.Add:
      return instruction.op1Kind === OpKind.Register ? instruction.op0Register : 0;
    case Mnemonic.Mov:
      return (
        instruction.op0Register *
        (instruction.op1Kind === OpKind.Memory && instruction.memoryIndex !== Register.None ? 1 : -1)
      );
    default:
      return 0;
  }
}

/** Each instruction as the GNU assembler writes it (AT&T), which is what objdump, gdb and perf show. */
export interface Disassembled {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/**
 * `address` is where the code begins, for what is relative to it; `nameOf` may name targets of jumps and calls (bytes
 * from the start of the code).
 */
export function disassemble(
  code: Uint8Array,
  address: bigint,
  nameOf: (target: number) => string | undefined,
): Disassembled[] {
  const { Decoder, DecoderOptions, Formatter, FormatterSyntax, Instruction: Decoding } = iced();
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const formatter = new Formatter(FormatterSyntax.Gas);
  formatter.uppercaseHex = false;
  formatter.spaceAfterOperandSeparator = true;
  formatter.ripRelativeAddresses = true;
  const current = new Decoding();
  decoder.ip = address;
  const lines: Disassembled[] = [];
  try {
    while (decoder.canDecode) {
      const offset = decoder.position;
      decoder.decodeOut(current);
      if (current.isInvalid) break;
      const name = isDirect(current) ? nameOf(Number(current.nearBranchTarget - address)) : undefined;
      const text = name === undefined ? formatter.format(current) : `${formatter.formatMnemonic(current)} ${name}`;
      lines.push({ offset, length: decoder.position - offset, text });
    }
    return lines;
  } finally {
    current.free();
    formatter.free();
    decoder.free();
  }
}

/**
 * The start of the instruction that the byte at `offset` belongs to: `offset` itself when an instruction begins there;
 * undefined behind the code's end, or behind bytes that are no instruction. `code` begins with a whole instruction.
 */
export function instructionAt(code: Uint8Array, offset: number): number | undefined {
  return decode(code).instructions.find((instruction) => offset < instruction.offset + instruction.length)?.offset;
}
