// ELF files (https://refspecs.linuxfoundation.org/elf/gabi4+): headers, sections, symbols, build id. Little-endian, 32
// and 64 bits. A file is read through `Bytes`, a range at a time, and only what is asked for: a debug build may have
// gigabytes.
import { DamageError } from "./damage.ts";
import { buildIdIn } from "./elf-notes.ts";
import { lazy } from "../base/lazy.ts";
import { damagedElf } from "../messages/on-demand.ts";
import type { Reason } from "../base/failure.ts";

const fzstd = lazy<typeof import("fzstd")>(() => require("fzstd"));

/**
 * A file's bytes. `read` gives exactly `length` bytes or throws. What it gives is only looked at. `room` may be used
 * for them: whoever reads a large file piece by piece needs no new memory for each.
 */
export interface Bytes {
  readonly size: number;
  /** The file's, where they are one's. */
  readonly path?: string | undefined;
  read(offset: number, length: number, room?: Buffer): Buffer;
}

/** A file that is in memory already. */
export function bytesOf(memory: Uint8Array, path?: string): Bytes {
  const buffer = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength);
  return { size: buffer.length, path, read: (offset, length) => buffer.subarray(offset, offset + length) };
}

/** The bytes are not an ELF file, or are damaged. */
export class ElfError extends DamageError {
  constructor(what: Reason, file?: string) {
    super("ELF file", what, file);
    this.name = "ElfError";
  }
}

export interface Section {
  readonly index: number;
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly address: bigint;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
  readonly entrySize: number;
}

export interface Segment {
  readonly type: number;
  /** PF_X 1, PF_W 2, PF_R 4. */
  readonly flags: number;
  readonly offset: number;
  readonly address: bigint;
  readonly fileSize: number;
  readonly memorySize: bigint;
  readonly align: bigint;
}

export type ElfMachine = "x86-64" | "arm64" | "other";

const PT_LOAD = 1,
  PT_INTERP = 3,
  PT_NOTE = 4;
const SHT_NOBITS = 8;
const SHF_COMPRESSED = 0x800;
const COMPRESS_ZLIB = 1,
  COMPRESS_ZSTD = 2;
/** Bytes that a section may have which is read as a whole; decompressed, where it is not stored as it is. */
const WHOLE_LIMIT = 2 ** 30;
/** Characters of a section's name in a message. */
const NAME_LIMIT = 64;

export class Elf {
  readonly bytes: Bytes;
  readonly wide: boolean;
  readonly machine: ElfMachine;
  /** Relocatable (1), executable (2), shared or position-independent (3), core (4). */
  readonly type: number;
  readonly #sectionsAt: { offset: number; count: number; size: number; names: number };
  readonly #segmentsAt: { offset: number; count: number; size: number };
  #sections: readonly Section[] | undefined;
  #segments: readonly Segment[] | undefined;

  /** @throws ElfError */
  constructor(bytes: Bytes) {
    this.bytes = bytes;
    const ident = this.read(0, 20, undefined, "the header");
    if (ident.readUInt32BE(0) !== 0x7f454c46) throw this.#damaged(damagedElf().magic());
    if (ident[4] !== 1 && ident[4] !== 2) throw this.#damaged(damagedElf().unknownClass());
    if (ident[5] !== 1) throw this.#damaged(damagedElf().bigEndian());
    this.wide = ident[4] === 2;
    this.type = ident.readUInt16LE(16);
    const machine = ident.readUInt16LE(18);
    this.machine = machine === 62 ? "x86-64" : machine === 183 ? "arm64" : "other";
    const header = this.read(0, this.wide ? 64 : 52, undefined, "the header");
    const counts = this.wide ? 54 : 42;
    this.#segmentsAt = {
      offset: this.#word(header, this.wide ? 32 : 28),
      size: header.readUInt16LE(counts),
      count: header.readUInt16LE(counts + 2),
    };
    this.#sectionsAt = {
      offset: this.#word(header, this.wide ? 40 : 32),
      size: header.readUInt16LE(counts + 4),
      count: header.readUInt16LE(counts + 6),
      names: header.readUInt16LE(counts + 8),
    };
  }

  /** Bytes of the file. @throws ElfError outside it, with what they are */
  read(offset: number, length: number, room?: Buffer, what = "what it refers to"): Buffer {
    const { size } = this.bytes;
    if (!(offset >= 0 && length >= 0 && offset + length <= size)) {
      throw this.#damaged(offset >= size ? damagedElf().behindEnd(what) : damagedElf().beyondEnd(what));
    }
    return this.bytes.read(offset, length, room);
  }

  #damaged(what: Reason): ElfError {
    return new ElfError(what, this.bytes.path);
  }

  get segments(): readonly Segment[] {
    if (this.#segments !== undefined) return this.#segments;
    const { offset, count, size } = this.#segmentsAt;
    if (count > 0 && size < (this.wide ? 56 : 32)) throw this.#damaged(damagedElf().programHeadersTooSmall());
    const table = this.read(offset, count * size, undefined, "the table of program headers");
    const segments: Segment[] = [];
    for (let at = 0; at < table.length; at += size) {
      segments.push(
        this.wide
          ? {
              type: table.readUInt32LE(at),
              flags: table.readUInt32LE(at + 4),
              offset: this.#word(table, at + 8),
              address: table.readBigUInt64LE(at + 16),
              fileSize: this.#word(table, at + 32),
              memorySize: table.readBigUInt64LE(at + 40),
              align: table.readBigUInt64LE(at + 48),
            }
          : {
              type: table.readUInt32LE(at),
              flags: table.readUInt32LE(at + 24),
              offset: table.readUInt32LE(at + 4),
              address: BigInt(table.readUInt32LE(at + 8)),
              fileSize: table.readUInt32LE(at + 16),
              memorySize: BigInt(table.readUInt32LE(at + 20)),
              align: BigInt(table.readUInt32LE(at + 28)),
            },
      );
    }
    return (this.#segments = segments);
  }

  get sections(): readonly Section[] {
    if (this.#sections !== undefined) return this.#sections;
    const { offset, size } = this.#sectionsAt;
    let { count, names } = this.#sectionsAt;
    if (offset === 0) return (this.#sections = []);
    if (size < (this.wide ? 64 : 40)) throw this.#damaged(damagedElf().sectionHeadersTooSmall());
    // Where the numbers do not fit their 16 bits, the first section header has them.
    if (count === 0 || names === 0xffff) {
      const first = this.read(offset, size, undefined, "the section table");
      if (count === 0) count = this.#word(first, this.wide ? 32 : 20);
      if (names === 0xffff) names = first.readUInt32LE(this.wide ? 40 : 24);
    }
    const table = this.read(offset, count * size, undefined, "the section table");
    const raw: Section[] = [];
    const nameOffsets: number[] = [];
    for (let at = 0; at < table.length; at += size) {
      nameOffsets.push(table.readUInt32LE(at));
      raw.push(
        this.wide
          ? {
              index: raw.length,
              name: "",
              type: table.readUInt32LE(at + 4),
              flags: table.readUInt32LE(at + 8),
              address: table.readBigUInt64LE(at + 16),
              offset: this.#word(table, at + 24),
              size: this.#word(table, at + 32),
              link: table.readUInt32LE(at + 40),
              entrySize: this.#word(table, at + 56),
            }
          : {
              index: raw.length,
              name: "",
              type: table.readUInt32LE(at + 4),
              flags: table.readUInt32LE(at + 8),
              address: BigInt(table.readUInt32LE(at + 12)),
              offset: table.readUInt32LE(at + 16),
              size: table.readUInt32LE(at + 20),
              link: table.readUInt32LE(at + 24),
              entrySize: table.readUInt32LE(at + 36),
            },
      );
    }
    const strings = raw[names] === undefined ? Buffer.alloc(0) : this.content(raw[names]);
    return (this.#sections = raw.map((section, i) => ({ ...section, name: textAt(strings, nameOffsets[i]) })));
  }

  section(name: string): Section | undefined {
    return this.sections.find((section) => section.name === name);
  }

  /** A section's bytes, decompressed where they are (zlib, zstd). @throws ElfError */
  content(section: Section): Buffer {
    if (section.type === SHT_NOBITS) return Buffer.alloc(0);
    const what = `section ${section.name === "" ? section.index : section.name.slice(0, NAME_LIMIT)}`;
    if (section.size > WHOLE_LIMIT) throw this.#damaged(damagedElf().tooLarge(what, section.size));
    const stored = this.read(section.offset, section.size, undefined, what);
    if ((section.flags & SHF_COMPRESSED) === 0) return stored;
    const header = this.wide ? 24 : 12;
    if (stored.length < header) throw this.#damaged(damagedElf().compressedTooShort(what));
    const kind = stored.readUInt32LE(0);
    if (kind !== COMPRESS_ZLIB && kind !== COMPRESS_ZSTD) {
      throw this.#damaged(damagedElf().compressedOtherwise(what, kind));
    }
    const size = this.wide ? this.#word(stored, 8) : stored.readUInt32LE(4);
    if (size > WHOLE_LIMIT) throw this.#damaged(damagedElf().tooLarge(what, size));
    try {
      // Loaded only here: few sections are compressed, and every start would pay for it.
      if (kind === COMPRESS_ZSTD) return unpackedZstd(stored.subarray(header), size);
      return process
        .getBuiltinModule("node:zlib")
        .inflateSync(stored.subarray(header), { maxOutputLength: Math.max(1, size) });
    } catch {
      throw this.#damaged(damagedElf().notDecompressed(what));
    }
  }

  /** Where in the file a virtual address is; undefined outside the loaded segments' file bytes. */
  fileOffset(address: bigint): bigint | undefined {
    for (const segment of this.segments) {
      if (segment.type !== PT_LOAD) continue;
      const within = address - segment.address;
      if (within >= 0n && within < BigInt(segment.fileSize)) return within + BigInt(segment.offset);
    }
    return undefined;
  }

  /** The virtual address of a place in the file: what `functionAt` wants for a mapped page. */
  addressOf(fileOffset: bigint): bigint | undefined {
    for (const segment of this.segments) {
      if (segment.type !== PT_LOAD) continue;
      const within = fileOffset - BigInt(segment.offset);
      if (within >= 0n && within < BigInt(segment.fileSize)) return within + segment.address;
    }
    return undefined;
  }

  /** Lower-case hexadecimal. */
  get buildId(): string | undefined {
    for (const segment of this.segments) {
      if (segment.type !== PT_NOTE) continue;
      const id = buildIdIn(this.read(segment.offset, segment.fileSize, undefined, "a segment of notes"));
      if (id !== undefined) return id;
    }
    // Files without segments of their own (split debug info keeps the note's section).
    const section = this.section(".note.gnu.build-id");
    return section === undefined ? undefined : buildIdIn(this.content(section));
  }

  /** The dynamic loader's path; only executables that need one have it. */
  get interpreter(): string | undefined {
    const segment = this.segments.find(({ type }) => type === PT_INTERP);
    return segment === undefined
      ? undefined
      : textAt(this.read(segment.offset, segment.fileSize, undefined, "the path of the loader"), 0);
  }

  /**
   * An xz-compressed ELF file with more symbols, as Fedora's packages carry. See README: nothing decompresses it yet.
   */
  get embeddedDebugInfo(): Buffer | undefined {
    const section = this.section(".gnu_debugdata");
    return section === undefined ? undefined : this.content(section);
  }

  #word(from: Buffer, at: number): number {
    if (!this.wide) return from.readUInt32LE(at);
    // Offsets and sizes beyond 2^53 lie outside any file and are refused when read.
    return from.readUInt32LE(at) + from.readUInt32LE(at + 4) * 2 ** 32;
  }
}

/** At most `size` bytes are made of it. Node has zstd from 22.15 on. @throws when it is damaged */
export function unpackedZstd(packed: Buffer, size: number): Buffer {
  const zlib = process.getBuiltinModule("node:zlib") as {
    zstdDecompressSync?(packed: Buffer, options: { maxOutputLength: number }): Buffer;
  };
  if (zlib.zstdDecompressSync !== undefined)
    return zlib.zstdDecompressSync(packed, { maxOutputLength: Math.max(1, size) });
  const { decompress } = fzstd();
  // With room of its own it never makes more.
  const unpacked = decompress(packed, new Uint8Array(size));
  return Buffer.from(unpacked.buffer, unpacked.byteOffset, unpacked.length);
}

/** NUL-terminated text in a string table; "" outside it. */
export function textAt(strings: Buffer, offset: number): string {
  if (offset >= strings.length) return "";
  const end = strings.indexOf(0, offset);
  return strings.toString("utf8", offset, end < 0 ? strings.length : end);
}
