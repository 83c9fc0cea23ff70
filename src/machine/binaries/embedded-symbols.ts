// The small symbol table that Fedora and its relatives leave in stripped binaries: a compressed ELF file in a section.
import { bytesOf, Elf, ElfError } from "../../debuginfo/elf.ts";
import { decompressXz } from "../../linux/xz.ts";

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
