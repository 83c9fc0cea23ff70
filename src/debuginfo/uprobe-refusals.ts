// Instructions that a uprobe must not be on. What the kernel runs out of line is on a list of its own
// (arch/x86/kernel/uprobes.c: prefixes and opcodes by table); it refuses the others, at times only when the program is
// mapped, where nobody hears of it. A few more it takes, and the program would notice.
import { instructionReasons } from "../messages/on-demand.ts";
import type { Reason } from "../base/failure.ts";

export interface Refusal {
  readonly reason: Reason;
  /**
   * The kernel would take it, and the program runs: left out of wildcards, but there when it is asked for by its
   * offset.
   */
  readonly mild?: boolean;
}

const segmentPrefixes = new Map([
  [0x26, "es"],
  [0x2e, "cs"],
  [0x36, "ss"],
  [0x3e, "ds"],
]);
const otherPrefixes = new Set([0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3]);
const LOCK = 0xf0;
/** Opcodes of one byte that mean nothing in 64-bit mode. */
const invalid = new Set([
  0x06, 0x07, 0x0e, 0x16, 0x1e, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea,
]);
/** ins, outs, in, out, hlt, cli. */
const privileged = new Set([0x6c, 0x6d, 0x6e, 0x6f, 0xe4, 0xe5, 0xe6, 0xe7, 0xec, 0xed, 0xee, 0xef, 0xf4, 0xfa]);
/** movs, cmps, stos, lods, scas, of bytes and wider. */
const strings = new Set([0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf]);

/** Why there can be no uprobe on the instruction that these bytes begin with; undefined when there can. */
export function uprobeRefusal(code: Uint8Array): Refusal | undefined {
  let at = 0;
  let repeats = false;
  let narrow = false;
  for (; at < code.length; at++) {
    const byte = code[at];
    const segment = segmentPrefixes.get(byte);
    if (segment !== undefined) {
      // notrack is how compilers write the jumps of a `switch` where they protect indirect branches.
      const what = segment === "ds" && code[at + 1] === 0xff ? "notrack" : segment;
      return { reason: instructionReasons().prefix(what) };
    }
    if (byte === LOCK) return { reason: instructionReasons().lock() };
    if (!otherPrefixes.has(byte)) break;
    if (byte === 0xf2 || byte === 0xf3) repeats = true;
    if (byte === 0x66) narrow = true;
  }
  if ((code[at] & 0xf0) === 0x40) at++;
  const opcode = code[at];
  const next = code[at + 1];
  if (opcode === 0x0f) return twoBytes(next, narrow);
  if (repeats && strings.has(opcode)) return { reason: instructionReasons().repeats(), mild: true };
  if (narrow && isBranch(opcode)) return { reason: instructionReasons().narrowBranch() };
  if (invalid.has(opcode)) return { reason: instructionReasons().invalid() };
  if (privileged.has(opcode)) return { reason: instructionReasons().privileged() };
  switch (opcode) {
    case 0x62:
      return { reason: instructionReasons().avx512() };
    case 0x8f:
      return (next & 0x1f) >= 8 ? { reason: instructionReasons().xop() } : undefined;
    case 0xcc:
    case 0xf1:
      return { reason: instructionReasons().breakpoint() };
    case 0xcd:
      return { reason: instructionReasons().callsKernel() };
    case 0xcf:
      return { reason: instructionReasons().iret() };
    case 0xfb:
    case 0x17:
    case 0x1f:
      return { reason: instructionReasons().holdsBackTraps() };
    case 0x8e:
      return ((next >> 3) & 7) === 2 ? { reason: instructionReasons().holdsBackTraps() } : undefined;
    // The kernel steps over it with the trap flag on, which is then among the flags that the program sees.
    case 0x9c:
      return { reason: instructionReasons().trapFlag() };
    case 0xc6:
    case 0xc7:
      return next === 0xf8 ? { reason: instructionReasons().abortsTransaction() } : undefined;
    default:
      return undefined;
  }
}

function twoBytes(opcode: number, narrow: boolean): Refusal | undefined {
  if (narrow && opcode >= 0x80 && opcode <= 0x8f) return { reason: instructionReasons().narrowBranch() };
  switch (opcode) {
    case 0x05:
    case 0x34:
      return { reason: instructionReasons().callsKernel() };
    case 0x0b:
    case 0xb9:
    case 0xff:
      return { reason: instructionReasons().traps() };
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x30:
    case 0x32:
    case 0x35:
      return { reason: instructionReasons().privileged() };
    default:
      return undefined;
  }
}

/** jmp, call, and conditional jumps of one byte. */
function isBranch(opcode: number): boolean {
  return opcode === 0xe8 || opcode === 0xe9 || opcode === 0xeb || (opcode >= 0x70 && opcode <= 0x7f);
}
