// The table that the jump of a `switch` chooses from, as GCC and LLVM write it on x86-64:
//     cmp $LAST, %index; ja DEFAULT; lea TABLE(%rip), %base; movslq (%base,%index,4), %to; add %base, %to; jmp *%to
//     cmp $LAST, %index; ja DEFAULT; jmp *TABLE(,%index,8)
import type { CodeRange } from "./function-ends.ts";
import { iced } from "./instructions.ts";

export interface JumpTable {
  readonly address: bigint;
  /** Bytes of an entry: 4 are the distance from the table, 8 an address. */
  readonly width: 4 | 8;
  /** Entries that it has, or, where the comparison in front of the jump was not found, that are looked at. */
  readonly most: number;
  readonly exact: boolean;
}

/** Bytes in front of a jump that are looked at. Compilers move the table's address out of loops. */
const window = 1 << 12;
/** Instructions between the comparison and the jump. */
const near = 16;
const mostEntries = 1 << 12;

/** The table of the indirect jump at an offset (bytes); undefined when what is in front of it is of no known form. */
export function tableOf(range: CodeRange, jump: number): JumpTable | undefined {
  const { Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register } = iced();
  const code = range.bytes.subarray(0, Math.min(range.bytes.length, jump + 16));
  const immediates = new Set([
    OpKind.Immediate8,
    OpKind.Immediate16,
    OpKind.Immediate32,
    OpKind.Immediate8to16,
    OpKind.Immediate8to32,
    OpKind.Immediate8to64,
    OpKind.Immediate32to64,
  ]);
  const above: ReadonlySet<number> = new Set([Mnemonic.Ja, Mnemonic.Jbe]);
  const notBelow: ReadonlySet<number> = new Set([Mnemonic.Jae, Mnemonic.Jb]);
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const current = new Instruction();
  decoder.ip = range.address;
  const bases = new Map<number, bigint>();
  let load: { readonly into: number; readonly base: number } | undefined;
  let immediate: bigint | undefined;
  let compared: { readonly last: number; readonly index: number } | undefined;
  let table: Omit<JumpTable, "most" | "exact"> | undefined;
  try {
    for (let index = 0; decoder.canDecode; index++) {
      const offset = decoder.position;
      decoder.decodeOut(current);
      if (current.isInvalid) return undefined;
      const register: number = current.op0Kind === OpKind.Register ? current.op0Register : Register.None;
      const scaled = current.memoryIndex !== Register.None;
      if (offset === jump) {
        if (
          current.op0Kind === OpKind.Memory &&
          scaled &&
          current.memoryBase === Register.None &&
          current.memoryIndexScale === 8
        ) {
          table = { address: current.memoryDisplacement, width: 8 };
        } else if (load !== undefined && load.into === register) {
          const base = bases.get(load.base);
          if (base !== undefined) table = { address: base, width: 4 };
        }
        if (table === undefined) return undefined;
        const exact = compared !== undefined && index - compared.index <= near && compared.last < mostEntries;
        return { ...table, exact, most: exact ? compared!.last + 1 : mostEntries };
      }
      if (offset < jump - window) continue;
      const last =
        immediate === undefined ? undefined : lastCase(Number(BigInt.asUintN(32, immediate)), current.mnemonic);
      if (last !== undefined) compared = { last, index };
      immediate =
        current.mnemonic === Mnemonic.Cmp && current.opCount === 2 && immediates.has(current.op1Kind)
          ? current.immediate(1)
          : undefined;
      if (current.mnemonic === Mnemonic.Movsxd && scaled && current.memoryIndexScale === 4)
        load = { into: register, base: current.memoryBase };
      else if (current.mnemonic === Mnemonic.Lea && current.isIpRelMemoryOperand)
        bases.set(register, current.ipRelMemoryAddress);
      else if (
        current.mnemonic === Mnemonic.Add &&
        load !== undefined &&
        current.op1Kind === OpKind.Register &&
        isFrom(current.op1Register, load.into)
      ) {
        // The sum may be in the other register.
        load = { into: register, base: load.base };
      }
    }
    return undefined;
  } finally {
    current.free();
    decoder.free();
  }

  function isFrom(register: number, loaded: number): boolean {
    return register === loaded;
  }

  /** The last number that has an entry, when this is the jump to the default case behind a comparison. */
  function lastCase(limit: number, mnemonic: number): number | undefined {
    if (above.has(mnemonic)) return limit;
    return notBelow.has(mnemonic) ? limit - 1 : undefined;
  }
}
