// The hash table by which a loader finds exported symbols (.gnu.hash): a few reads, where a search goes through
// megabytes of names.
import { ElfError, type Elf } from "./elf.ts";
import { damagedElf } from "../messages/on-demand.ts";

/** Bytes of a symbol (Elf64_Sym), of a word of the Bloom filter, of a bucket or a link. */
const symbolBytes = 24,
  filterBytes = 8,
  wordBytes = 4;
const header = 16;

/**
 * The address of an exported symbol, as it stands in the file; undefined where there is none of this name, or no such
 * table. The table's form: "ELF: symbol lookup via DT_HASH", and binutils' bfd/elflink.c. @throws ElfError
 */
export function exportedAddress(elf: Elf, name: string): bigint | undefined {
  const table = elf.section(".gnu.hash");
  const symbols = elf.section(".dynsym");
  if (!elf.wide || table === undefined || symbols === undefined || table.size < header) return undefined;
  const names = elf.sections[symbols.link];
  if (names === undefined) throw new ElfError(damagedElf().exportsWithoutNames(), elf.bytes.path);
  const word = (at: number): number => elf.read(table.offset + at, wordBytes).readUInt32LE();
  const [buckets, first, filters] = [word(0), word(4), word(8)];
  if (buckets === 0) return undefined;
  const wanted = hashOf(name);
  const bucketsAt = header + filters * filterBytes;
  const linksAt = bucketsAt + buckets * wordBytes;
  const count = Math.floor(symbols.size / symbolBytes);
  const spelled = Buffer.from(`${name}\0`, "utf8");
  for (let index = word(bucketsAt + (wanted % buckets) * wordBytes); index >= first && index < count; index++) {
    const hash = word(linksAt + (index - first) * wordBytes);
    if (hash >>> 1 === wanted >>> 1) {
      const symbol = elf.read(symbols.offset + index * symbolBytes, symbolBytes);
      const at = symbol.readUInt32LE(0);
      const defined = symbol.readUInt16LE(6) !== 0;
      if (defined && at + spelled.length <= names.size && elf.read(names.offset + at, spelled.length).equals(spelled))
        return symbol.readBigUInt64LE(8);
    }
    // The last of a bucket.
    if ((hash & 1) !== 0) break;
  }
  return undefined;
}

function hashOf(name: string): number {
  let hash = 5381;
  for (const byte of Buffer.from(name, "utf8")) hash = (Math.imul(hash, 33) + byte) >>> 0;
  return hash;
}
