// What of a linked file leads to an address: calls and jumps, addresses that are loaded, pointers in data, relocations,
// exported symbols.
import type { Elf } from "./elf.ts";

export interface References {
  /** Calls and jumps: addresses of their displacements, by which the code that they are in is found. */
  readonly calls: readonly bigint[];
  /** What else in code has the address, by loading it; a few may be bytes that look so by chance. */
  readonly loads: readonly bigint[];
  /** A pointer in data, a relocation, a symbol. */
  readonly elsewhere: boolean;
}

/** Loaded where it says: its code has addresses in it. */
const ET_EXEC = 2;
const PT_LOAD = 1;
const PF_X = 1;
/** Bytes of a segment that are looked at: a larger one cannot be told of. */
const largest = 1 << 26;

/**
 * undefined where it cannot be told (other machines than x86-64, huge files).
 *
 * @throws ElfError
 */
export function referencesTo(elf: Elf, address: bigint): References | undefined {
  if (elf.machine !== "x86-64" || !elf.wide || address > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  const loaded = elf.segments.filter(({ type }) => type === PT_LOAD);
  if (loaded.some(({ fileSize }) => fileSize > largest)) return undefined;
  const found: Found = { calls: [], loads: [] };
  let elsewhere = false;
  for (const { flags, offset, address: low, fileSize } of loaded) {
    const bytes = elf.read(offset, fileSize);
    if ((flags & PF_X) === 0) elsewhere ||= bytes.includes(pointerTo(address));
    else referencesInCode(bytes, Number(low), Number(address), elf.type === ET_EXEC, found);
  }
  return { ...found, elsewhere };
}

interface Found {
  readonly calls: bigint[];
  readonly loads: bigint[];
}

function pointerTo(address: bigint): Buffer {
  const pointer = Buffer.alloc(8);
  pointer.writeBigUInt64LE(address);
  return pointer;
}

/** Displacements from the end of an instruction, which end it; addresses themselves, of which 4 bytes are enough. */
function referencesInCode(bytes: Buffer, low: number, wanted: number, fixed: boolean, found: Found): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 4 <= bytes.length; at++) {
    const value = view.getInt32(at, true);
    // Padding in front of a function is made of instructions that end in zeroes.
    if (value !== 0 && (value === wanted - (low + at + 4) || (fixed && value === wanted)))
      (isBranch(bytes, at) ? found.calls : found.loads).push(BigInt(low + at));
  }
  // Within a file of source, a jump to a near function is a short one.
  const near = wanted - low;
  for (let at = Math.max(1, near - 128); at < Math.min(bytes.length, near + 128); at++)
    if (isShortJump(bytes[at - 1]) && view.getInt8(at) === near - (at + 1)) found.calls.push(BigInt(low + at));
}

/** Whether a displacement of 4 bytes is that of a call, a jump or a conditional jump. */
function isBranch(bytes: Buffer, at: number): boolean {
  const [first, last] = [bytes[at - 2], bytes[at - 1]];
  return last === 0xe8 || last === 0xe9 || (first === 0x0f && (last & 0xf0) === 0x80);
}

function isShortJump(opcode: number): boolean {
  return opcode === 0xeb || (opcode & 0xf0) === 0x70;
}
