// ELF files as distributions install kernel modules (as they are, or packed by gzip, xz or zstd as a whole), and the
// small packed symbol table that Fedora and its relatives leave in a section of stripped binaries.
import { readFileSync } from "node:fs";
import { bytesOf, Elf, ElfError, unpackedZstd } from "../../debuginfo/elf.ts";
import { decompressXz } from "../../linux/xz.ts";
import { absent, elfAt } from "./file-bytes.ts";
import { damagedElf } from "../../messages/on-demand.ts";

/** How names of such files end. */
export const packedEnding = /\.(?:gz|xz|zst)$/;

/** In bytes: modules with debug information have some tens of millions. */
const LARGEST = 1 << 28;

/**
 * The ELF file at a path; undefined when there is none that can be read. @throws ElfError when it cannot be unpacked
 */
export function packedElfAt(path: string): Elf | undefined {
  const [ending] = packedEnding.exec(path) ?? [];
  if (ending === undefined) return elfAt(path);
  let packed: Buffer;
  try {
    packed = readFileSync(path);
  } catch (error) {
    return absent(error);
  }
  const bytes = unpacked(packed, ending);
  if (bytes === undefined)
    throw new ElfError(
      ending === ".xz" ? damagedElf().notUnpackedXz() : damagedElf().notUnpacked(ending.slice(1)),
      path,
    );
  return new Elf(bytesOf(bytes, path));
}

function unpacked(packed: Buffer, ending: string): Buffer | undefined {
  if (ending === ".xz") return decompressXz(packed);
  try {
    if (ending === ".zst") {
      const size = zstdSize(packed);
      return size === undefined || size > LARGEST ? undefined : unpackedZstd(packed, size);
    }
    return process.getBuiltinModule("node:zlib").gunzipSync(packed, { maxOutputLength: LARGEST });
  } catch {
    return undefined;
  }
}

/** Bytes of what the first frame holds, as its header says (RFC 8878, 3.1.1.1); undefined where it does not. */
function zstdSize(packed: Buffer): number | undefined {
  if (packed.length < 18 || packed.readUInt32LE(0) !== 0xfd2fb528) return undefined;
  const descriptor = packed[4];
  const single = (descriptor & 0x20) !== 0;
  const at = 5 + (single ? 0 : 1) + [0, 1, 2, 4][descriptor & 3];
  switch (descriptor >> 6) {
    case 0:
      return single ? packed[at] : undefined;
    case 1:
      return packed.readUInt16LE(at) + 256;
    case 2:
      return packed.readUInt32LE(at);
    default:
      return Number(packed.readBigUInt64LE(at));
  }
}

/** What `.gnu_debugdata` holds; undefined when there is none that can be read. */
export function embeddedSymbols(elf: Elf): Elf | undefined {
  try {
    const packed = elf.embeddedDebugInfo;
    const bytes = packed && decompressXz(packed);
    return bytes && new Elf(bytesOf(bytes));
  } catch (error) {
    if (error instanceof ElfError) return undefined;
    throw error;
  }
}
