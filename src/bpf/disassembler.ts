// Code as text: one line an instruction, in the notation of the kernel's verifier and of bpftool.
import { helperName } from "./helpers.ts";
import { type BpfInstruction, Class, decode, LD_IMM64, MAY_GOTO, Mode, Pseudo } from "./instruction.ts";

const aluSymbols: Readonly<Record<number, string>> = {
  0x00: "+=",
  0x10: "-=",
  0x20: "*=",
  0x30: "/=",
  0x40: "|=",
  0x50: "&=",
  0x60: "<<=",
  0x70: ">>=",
  0x90: "%=",
  0xa0: "^=",
  0xb0: "=",
  0xc0: "s>>=",
};
const jumpSymbols: Readonly<Record<number, string>> = {
  0x10: "==",
  0x20: ">",
  0x30: ">=",
  0x40: "&",
  0x50: "!=",
  0x60: "s>",
  0x70: "s>=",
  0xa0: "<",
  0xb0: "<=",
  0xc0: "s<",
  0xd0: "s<=",
};
const widths: Readonly<Record<number, number>> = { 0x10: 8, 0x08: 16, 0x00: 32, 0x18: 64 };

export interface DisassembleOptions {
  /** Names for places in the code, shown above them. */
  readonly subprograms?: readonly { readonly name: string; readonly start: number }[];
  /** What a two-slot constant stands for, by its first instruction. */
  readonly notes?: ReadonlyMap<number, string>;
}

/** Lines like `  12: r0 = *(u64 *)(r10 - 8)`. */
export function disassemble(code: Uint8Array, options: DisassembleOptions = {}): string[] {
  const instructions = decode(code);
  const names = new Map(options.subprograms?.map(({ name, start }) => [start, name]));
  const digits = String(Math.max(0, instructions.length - 1)).length;
  const lines: string[] = [];
  for (let i = 0; i < instructions.length; i++) {
    const instruction = instructions[i];
    if (instruction === undefined) break;
    const name = names.get(i);
    if (name !== undefined) lines.push(`${name}:`);
    const next = instructions[i + 1];
    lines.push(`${String(i).padStart(digits + 2)}: ${describe(instruction, next, i, names, options.notes?.get(i))}`);
    if (instruction.code === LD_IMM64) i++;
  }
  return lines;
}

function describe(
  instruction: BpfInstruction,
  next: BpfInstruction | undefined,
  index: number,
  names: ReadonlyMap<number, string>,
  note: string | undefined,
): string {
  const { code, dst, src, offset, imm } = instruction;
  switch (code & 7) {
    case Class.LD:
      return code === LD_IMM64 ? constant(instruction, next, index, names, note) : unknown(instruction);
    case Class.LDX:
      return `r${dst} = ${memory(code, src, offset, (code & 0xe0) === Mode.MEMSX)}`;
    case Class.ST:
      return `${memory(code, dst, offset, false)} = ${imm}`;
    case Class.STX:
      return (code & 0xe0) === Mode.ATOMIC ? atomic(instruction) : `${memory(code, dst, offset, false)} = r${src}`;
    case Class.ALU:
    case Class.ALU64:
      return arithmetic(instruction);
    case Class.JMP:
    case Class.JMP32:
      return jump(instruction, index, names);
    default:
      return unknown(instruction);
  }
}

function unknown({ code, dst, src, offset, imm }: BpfInstruction): string {
  return `.insn ${code.toString(16)} r${dst} r${src} ${offset} ${imm}`;
}

function constant(
  { dst, src, imm }: BpfInstruction,
  next: BpfInstruction | undefined,
  index: number,
  names: ReadonlyMap<number, string>,
  note: string | undefined,
): string {
  const high = next?.imm ?? 0;
  switch (src) {
    case Pseudo.MAP_FD:
      return `r${dst} = map[${note ?? imm}]`;
    case Pseudo.MAP_VALUE:
      return `r${dst} = map[${note ?? imm}] + ${high}`;
    case Pseudo.BTF_ID:
      return `r${dst} = btf[${note ?? imm}]`;
    case Pseudo.FUNC:
      return `r${dst} = function[${names.get(index + imm + 1) ?? index + imm + 1}]`;
    default: {
      if (note !== undefined) return `r${dst} = ${note}`;
      const value = (BigInt.asUintN(32, BigInt(high)) << 32n) | BigInt.asUintN(32, BigInt(imm));
      return `r${dst} = 0x${value.toString(16)} ll`;
    }
  }
}

function place(base: number, offset: number): string {
  return offset === 0 ? `r${base}` : `r${base} ${offset < 0 ? "-" : "+"} ${Math.abs(offset)}`;
}
function memory(code: number, base: number, offset: number, signed: boolean): string {
  return `*(${signed ? "s" : "u"}${widths[code & 0x18] ?? 0} *)(${place(base, offset)})`;
}

function atomic({ code, dst, src, offset, imm }: BpfInstruction): string {
  const to = memory(code, dst, offset, false);
  switch (imm) {
    case 0x00:
      return `lock ${to} += r${src}`;
    case 0x01:
      return `r${src} = atomic_fetch_add(${to}, r${src})`;
    case 0xe1:
      return `r${src} = xchg(${to}, r${src})`;
    case 0xf1:
      return `r0 = cmpxchg(${to}, r0, r${src})`;
    default:
      return `atomic ${imm.toString(16)} ${to} r${src}`;
  }
}

function arithmetic(instruction: BpfInstruction): string {
  const { code, dst, src, offset, imm } = instruction;
  const register = (code & 7) === Class.ALU64 ? "r" : "w";
  const operation = code & 0xf0;
  if (operation === 0x80) return `${register}${dst} = -${register}${dst}`;
  if (operation === 0xd0)
    return `r${dst} = ${(code & 7) === Class.ALU64 ? "bswap" : (code & 8) !== 0 ? "be" : "le"}${imm} r${dst}`;
  const symbol = aluSymbols[operation];
  if (symbol === undefined) return unknown(instruction);
  const right = (code & 8) !== 0 ? `${register}${src}` : String(imm);
  if (operation === 0xb0 && offset !== 0) return `${register}${dst} = (s${offset})${right}`;
  const signed = offset === 1 && (operation === 0x30 || operation === 0x90) ? "s" : "";
  return `${register}${dst} ${signed}${symbol} ${right}`;
}

function jump(instruction: BpfInstruction, index: number, names: ReadonlyMap<number, string>): string {
  const { code, dst, src, offset, imm } = instruction;
  const narrow = (code & 7) === Class.JMP32;
  if (code === MAY_GOTO) return `may_goto ${index + 1 + offset}`;
  switch (code & 0xf0) {
    case 0x00:
      return narrow ? `gotol ${index + 1 + imm}` : `goto ${index + 1 + offset}`;
    case 0x80:
      if (src === Pseudo.KERNEL_FUNCTION) return `call kernel function#${imm}`;
      return src === Pseudo.CALL
        ? `call ${names.get(index + 1 + imm) ?? index + 1 + imm}`
        : `call ${helperName(imm) ?? "helper"}#${imm}`;
    case 0x90:
      return "exit";
    default: {
      const symbol = jumpSymbols[code & 0xf0];
      if (symbol === undefined) return unknown(instruction);
      const register = narrow ? "w" : "r";
      return `if ${register}${dst} ${symbol} ${(code & 8) !== 0 ? `${register}${src}` : imm} goto ${index + 1 + offset}`;
    }
  }
}
