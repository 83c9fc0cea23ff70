// Whether anything of a linked file leads to an address: a call or a jump, an address that is loaded, a pointer in data,
// a relocation, an exported symbol.
import type { Elf } from "./elf.ts";

/** Loaded where it says: its code has addresses in it. */
const ET_EXEC = 2;
const PT_LOAD = 1;
const PF_X = 1;
/** Bytes of a segment that are looked at: a larger one is taken to refer to everything. */
const largest = 1 << 26;

/**
 * True where it cannot be told (other machines than x86-64, huge files). Bytes are looked at wherever they are: a few
 * that look like a reference by chance make it true as well.
 *
 * @throws ElfError
 */
export function refersTo(elf: Elf, address: bigint): boolean {
  if (elf.machine !== "x86-64" || !elf.wide || address > BigInt(Number.MAX_SAFE_INTEGER)) return true;
  const wanted = Number(address);
  return elf.segments.some(({ type, flags, offset, address: low, fileSize }) => {
    if (type !== PT_LOAD) return false;
    if (fileSize > largest) return true;
    const bytes = elf.read(offset, fileSize);
    if ((flags & PF_X) === 0) return bytes.includes(pointerTo(address));
    return codeRefersTo(bytes, Number(low), wanted, elf.type === ET_EXEC);
  });
}

function pointerTo(address: bigint): Buffer {
  const pointer = Buffer.alloc(8);
  pointer.writeBigUInt64LE(address);
  return pointer;
}

/** Displacements from the end of an instruction, which end it; addresses themselves, of which 4 bytes are enough. */
function codeRefersTo(bytes: Buffer, low: number, wanted: number, fixed: boolean): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 4 <= bytes.length; at++) {
    const value = view.getInt32(at, true);
    // Padding in front of a function is made of instructions that end in zeroes.
    if (value === 0) continue;
    if (value === wanted - (low + at + 4) || (fixed && value === wanted)) return true;
  }
  return false;
}
