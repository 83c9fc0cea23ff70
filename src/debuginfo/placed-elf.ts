// A relocatable file (a kernel module) as if a linker had put its sections where a loader did: an ELF file with
// segments, symbols with addresses, and debug sections whose relocations are applied. Sections are made when they are
// first read. (ELF-64 object file format; System V ABI, AMD64 supplement, table 4.9; ELF for the Arm 64-bit
// architecture, section 5.7)
import { Elf, ElfError, type Bytes, type Section } from "./elf.ts";
import { damagedElf } from "../messages/on-demand.ts";

const ET_REL = 1,
  ET_EXEC = 2;
const PT_LOAD = 1,
  PF_READ = 4,
  PF_EXECUTE = 1;
const SHT_SYMTAB = 2,
  SHT_STRTAB = 3,
  SHT_NOBITS = 8;
const SHF_ALLOC = 2,
  SHF_EXECUTE = 4,
  SHF_COMPRESSED = 0x800;
const SHN_LORESERVE = 0xff00;
const HEADER = 64,
  PROGRAM_HEADER = 56,
  SECTION_HEADER = 64,
  SYMBOL = 24,
  RELOCATION = 24;

/** What a relocation writes: bytes of symbol + addend, less the place where it is relative. */
interface Kind {
  readonly bytes: 4 | 8;
  readonly relative: boolean;
}

const kinds: Readonly<Record<"x86-64" | "arm64", Readonly<Record<number, Kind | undefined>>>> = {
  "x86-64": {
    1: { bytes: 8, relative: false },
    2: { bytes: 4, relative: true },
    10: { bytes: 4, relative: false },
    11: { bytes: 4, relative: false },
    24: { bytes: 8, relative: true },
  },
  arm64: {
    257: { bytes: 8, relative: false },
    258: { bytes: 4, relative: false },
    260: { bytes: 8, relative: true },
    261: { bytes: 4, relative: true },
  },
};

/** Bytes that a section may take. */
const largest = 2 ** 30;

interface Piece {
  readonly offset: number;
  readonly size: number;
  readonly content: () => Buffer;
}

/**
 * `addresses`: where sections are, by name; those without are nowhere. @throws ElfError, also when a section is read
 */
export function placedElf(elf: Elf, addresses: ReadonlyMap<string, bigint>): Elf {
  if (!elf.wide || elf.type !== ET_REL) throw new ElfError(damagedElf().notRelocatable(), elf.bytes.path);
  if (elf.sections.length >= SHN_LORESERVE - 1) throw new ElfError(damagedElf().tooManySections(), elf.bytes.path);
  const placed = elf.sections.map((section) =>
    (section.flags & SHF_ALLOC) === 0 ? 0n : (addresses.get(section.name) ?? 0n),
  );
  const loaded = elf.sections.filter((section, i) => placed[i] !== 0n && section.size > 0);
  const names = new Names();
  const pieces: Piece[] = [];
  let end = HEADER + loaded.length * PROGRAM_HEADER;
  const add = (size: number, content: () => Buffer): number => {
    const offset = end;
    let made: Buffer | undefined;
    pieces.push({ offset, size, content: () => (made ??= content()) });
    end += size;
    return offset;
  };

  const table = Buffer.alloc((elf.sections.length + 1) * SECTION_HEADER);
  const offsets: number[] = [];
  for (const section of elf.sections) {
    const size = sizeOf(elf, section);
    const inFile = section.type !== SHT_NOBITS || (section.flags & SHF_ALLOC) !== 0;
    const offset = inFile ? add(size, () => contentOf(elf, section, placed)) : 0;
    offsets.push(offset);
    writeSection(
      table,
      section.index,
      { ...section, address: placed[section.index], offset, size, flags: (section.flags & ~SHF_COMPRESSED) >>> 0 },
      names.add(section.name),
    );
  }
  const namesIndex = elf.sections.length;
  const namesAt = names.add(".shstrtab");
  const text = names.bytes();
  writeSection(
    table,
    namesIndex,
    {
      index: namesIndex,
      name: ".shstrtab",
      type: SHT_STRTAB,
      flags: 0,
      address: 0n,
      offset: add(text.length, () => text),
      size: text.length,
      link: 0,
      entrySize: 0,
    },
    namesAt,
  );
  const sectionsAt = add(table.length, () => table);

  const head = Buffer.alloc(HEADER + loaded.length * PROGRAM_HEADER);
  elf.read(0, 20).copy(head);
  head.writeUInt16LE(ET_EXEC, 16);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BigInt(HEADER), 32);
  head.writeBigUInt64LE(BigInt(sectionsAt), 40);
  for (const [at, value] of [
    [52, HEADER],
    [54, PROGRAM_HEADER],
    [56, loaded.length],
    [58, SECTION_HEADER],
    [60, namesIndex + 1],
    [62, namesIndex],
  ] as const)
    head.writeUInt16LE(value, at);
  for (const [i, { index, flags, size }] of loaded.entries()) {
    const at = HEADER + i * PROGRAM_HEADER;
    head.writeUInt32LE(PT_LOAD, at);
    head.writeUInt32LE(PF_READ | (flags & SHF_EXECUTE ? PF_EXECUTE : 0), at + 4);
    const words = [BigInt(offsets[index]), placed[index], placed[index], BigInt(size), BigInt(size), 1n];
    for (const [word, value] of words.entries()) head.writeBigUInt64LE(value, at + 8 + word * 8);
  }
  pieces.unshift({ offset: 0, size: head.length, content: () => head });
  return new Elf(bytesOfPieces(pieces, end, elf.bytes.path));
}

function bytesOfPieces(pieces: readonly Piece[], size: number, path: string | undefined): Bytes {
  return {
    size,
    path,
    read: (offset, length) => {
      const piece = pieces.findLast((one) => one.offset <= offset && one.size > 0);
      if (piece === undefined || offset + length > piece.offset + piece.size) {
        if (length === 0) return Buffer.alloc(0);
        throw new ElfError(damagedElf().acrossSections(), path);
      }
      return piece.content().subarray(offset - piece.offset, offset - piece.offset + length);
    },
  };
}

/** Bytes of a section once it is decompressed: struct Elf64_Chdr has them in its second word of 8 bytes. */
function sizeOf(elf: Elf, section: Section): number {
  const stored = (section.flags & SHF_COMPRESSED) === 0 || section.type === SHT_NOBITS;
  const size = stored ? section.size : Number(elf.read(section.offset + 8, 8).readBigUInt64LE());
  if (size > largest) throw new ElfError(damagedElf().sectionTooLarge(section.name), elf.bytes.path);
  return size;
}

function contentOf(elf: Elf, section: Section, placed: readonly bigint[]): Buffer {
  const size = sizeOf(elf, section);
  // A debug file leaves out what the module itself has.
  if (section.type === SHT_NOBITS) return Buffer.alloc(size);
  const stored = elf.content(section);
  if (stored.length !== size) throw new ElfError(damagedElf().sectionLength(section.name), elf.bytes.path);
  if (section.type === SHT_SYMTAB) return placedSymbols(stored, placed);
  if (!section.name.startsWith(".debug_")) return stored;
  const relocations = elf.section(`.rela${section.name}`);
  return relocations === undefined ? stored : relocated(elf, section, stored, relocations, placed);
}

function placedSymbols(table: Buffer, placed: readonly bigint[]): Buffer {
  const symbols = Buffer.from(table);
  for (let at = 0; at + SYMBOL <= symbols.length; at += SYMBOL) {
    const section = symbols.readUInt16LE(at + 6);
    if (section > 0 && section < placed.length)
      symbols.writeBigUInt64LE(BigInt.asUintN(64, symbols.readBigUInt64LE(at + 8) + placed[section]), at + 8);
  }
  return symbols;
}

function relocated(
  elf: Elf,
  section: Section,
  stored: Buffer,
  { name, link, ...rest }: Section,
  placed: readonly bigint[],
): Buffer {
  const relocations = elf.content({ name, link, ...rest });
  const symbolTable = elf.sections[link] as Section | undefined;
  const known = elf.machine === "other" ? undefined : kinds[elf.machine];
  if (symbolTable?.type !== SHT_SYMTAB || known === undefined)
    throw new ElfError(damagedElf().relocations(section.name), elf.bytes.path);
  const symbols = placedSymbols(elf.content(symbolTable), placed);
  const bytes = Buffer.from(stored);
  for (let at = 0; at + RELOCATION <= relocations.length; at += RELOCATION) {
    const type = relocations.readUInt32LE(at + 8);
    if (type === 0) continue;
    const kind = known[type];
    const place = Number(relocations.readBigUInt64LE(at));
    const symbol = relocations.readUInt32LE(at + 12) * SYMBOL;
    if (kind === undefined) throw new ElfError(damagedElf().unknownRelocation(section.name, type), elf.bytes.path);
    if (place + kind.bytes > bytes.length || symbol + SYMBOL > symbols.length)
      throw new ElfError(damagedElf().relocationOutside(section.name), elf.bytes.path);
    const value =
      symbols.readBigUInt64LE(symbol + 8) +
      relocations.readBigInt64LE(at + 16) -
      (kind.relative ? placed[section.index] + BigInt(place) : 0n);
    if (kind.bytes === 8) bytes.writeBigUInt64LE(BigInt.asUintN(64, value), place);
    else bytes.writeUInt32LE(Number(BigInt.asUintN(32, value)), place);
  }
  return bytes;
}

function writeSection(table: Buffer, index: number, section: Section, name: number): void {
  const at = index * SECTION_HEADER;
  table.writeUInt32LE(name, at);
  table.writeUInt32LE(section.type, at + 4);
  // Numbers beyond 2^53 lie outside any file, and are refused when what they say is read.
  const word = (value: number, place: number): void =>
    void table.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), place);
  word(section.flags, at + 8);
  table.writeBigUInt64LE(section.address, at + 16);
  word(section.offset, at + 24);
  word(section.size, at + 32);
  table.writeUInt32LE(section.link, at + 40);
  word(section.entrySize, at + 56);
}

/** A string table. */
class Names {
  readonly #parts: Buffer[] = [Buffer.alloc(1)];
  #length = 1;

  add(name: string): number {
    const at = this.#length;
    const bytes = Buffer.from(`${name}\0`);
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return at;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
