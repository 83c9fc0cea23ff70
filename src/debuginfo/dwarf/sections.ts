// A section's bytes, read as far as asked: of a small or compressed one everything at once, of a large one windows.
import { type Elf, ElfError, type Section } from "../elf.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

const WHOLE = 4 << 20;
const WINDOW = 1 << 16;
/** Of a section that is read from end to end: what the processor's caches hold. */
const PIECE = 1 << 18;
/** Windows of text that are kept. */
const WINDOWS = 64;
/** Repeated texts that are kept. */
const TEXTS = 1 << 16;
const TEXT_LIMIT = 1 << 20;
/** SHF_MERGE and SHF_STRINGS: a linker drops them where it puts together sections that are not all so. */
const SHF_MERGED_TEXT = 0x30;
const SHF_COMPRESSED = 0x800;

export class SectionData {
  readonly name: string;
  readonly size: number;
  /** Linkers keep each of its texts once, where other texts do not end with it. */
  readonly merged: boolean;
  readonly file: string | undefined;
  readonly #read: (offset: number, length: number, room?: Buffer) => Buffer;
  readonly #windows = new Map<number, Buffer>();
  readonly #texts = new Map<number, string>();
  #whole: Buffer | undefined;

  constructor(
    name: string,
    size: number,
    read: (offset: number, length: number, room?: Buffer) => Buffer,
    { merged = false, file }: { readonly merged?: boolean; readonly file?: string | undefined } = {},
  ) {
    this.name = name;
    this.file = file;
    this.size = size;
    this.#read = read;
    this.merged = merged;
  }

  static of(elf: Elf, section: Section): SectionData {
    const about = { merged: (section.flags & SHF_MERGED_TEXT) === SHF_MERGED_TEXT, file: elf.bytes.path };
    const read = (offset: number, length: number, room?: Buffer): Buffer =>
      checked(() => elf.read(section.offset + offset, length, room, section.name));
    if ((section.flags & SHF_COMPRESSED) === 0) return new SectionData(section.name, section.size, read, about);
    const whole = checked(() => elf.content(section));
    return new SectionData(
      section.name,
      whole.length,
      (offset, length) => whole.subarray(offset, offset + length),
      about,
    );
  }

  /** Everything. */
  get whole(): Buffer {
    return (this.#whole ??= this.#read(0, this.size));
  }

  /** `room` may be used for the bytes. */
  slice(offset: number, length: number, room?: Buffer): Buffer {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.size))
      throw this.#damaged(damagedDwarf().sectionTooShort(this.name));
    if (this.#whole !== undefined || this.size <= WHOLE) return this.whole.subarray(offset, offset + length);
    return this.#read(offset, length, room);
  }

  /**
   * Everything from `from` on, piece by piece, each with up to `before` bytes of what stands before it: new ones begin
   * at `fresh`. A piece holds until the next is asked for. `at`: where its bytes are in the section.
   */
  *pieces(before: number, from = 0): Iterable<{ readonly at: number; readonly fresh: number; readonly bytes: Buffer }> {
    const piece = this.#whole !== undefined || this.size <= WHOLE ? this.size : Math.max(PIECE, 4 * before);
    const room = piece === this.size ? undefined : Buffer.allocUnsafeSlow(before + piece);
    for (let fresh = from; fresh < this.size; fresh += piece) {
      const at = Math.max(0, fresh - before);
      const length = Math.min(fresh + piece, this.size) - at;
      yield { at, fresh, bytes: room === undefined ? this.slice(at, length) : this.#read(at, length, room) };
    }
  }

  /**
   * Runs a reader of something whose length only its reading tells. The cursor begins at `offset`; its bytes are first
   * a small window, then larger ones.
   */
  from<T>(offset: number, read: (cursor: Cursor) => T): T {
    if (offset > this.size || offset < 0) throw this.#damaged(damagedDwarf().sectionTooShort(this.name));
    const most = this.#whole !== undefined || this.size <= WHOLE ? this.size : 4096;
    for (let window = most; ; window *= 16) {
      const length = Math.min(window, this.size - offset);
      try {
        return read(new Cursor(this.slice(offset, length)));
      } catch (error) {
        if (!(error instanceof DwarfError)) throw error;
        if (length === this.size - offset) throw error.in(this.file);
      }
    }
  }

  /** NUL-terminated text. */
  text(offset: number): string {
    if (offset >= this.size || offset < 0) throw this.#damaged(damagedDwarf().textOutside(this.name));
    if (this.#whole !== undefined || this.size <= WHOLE) return textIn(this.whole, offset) ?? this.#unterminated();
    const start = offset - (offset % WINDOW);
    let window = this.#windows.get(start);
    if (window === undefined) {
      if (this.#windows.size >= WINDOWS) this.#windows.clear();
      // Half as much again, so that few texts cross its end.
      window = this.#read(start, Math.min(WINDOW + WINDOW / 2, this.size - start));
      this.#windows.set(start, window);
    }
    return (
      textIn(window, offset - start) ??
      textIn(this.#read(offset, Math.min(TEXT_LIMIT, this.size - offset)), 0) ??
      this.#unterminated()
    );
  }

  /** A text that many ask for: every line table names the same files. */
  repeated(offset: number): string {
    let text = this.#texts.get(offset);
    if (text === undefined) {
      if (this.#texts.size >= TEXTS) this.#texts.clear();
      this.#texts.set(offset, (text = this.text(offset)));
    }
    return text;
  }

  #unterminated(): never {
    throw this.#damaged(damagedDwarf().textInSectionEndless(this.name));
  }

  #damaged(what: Reason): DwarfError {
    return new DwarfError(what, this.file);
  }
}

function textIn(bytes: Buffer, offset: number): string | undefined {
  const end = bytes.indexOf(0, offset);
  return end < 0 ? undefined : bytes.toString("utf8", offset, end);
}

/** What is wrong with the file is wrong with its debug information. */
function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ElfError) throw new DwarfError(error.what, error.file);
    throw error;
  }
}

/** Sections of one file by name without the leading dot; `.dwo` sections of split files under the plain name. */
export class DwarfSections {
  readonly #find: (name: string) => SectionData | undefined;
  readonly #found = new Map<string, SectionData | undefined>();
  /** The file's path, where they are of one. */
  readonly file: string | undefined;

  constructor(find: (name: string) => SectionData | undefined, file?: string) {
    this.#find = find;
    this.file = file;
  }

  /** `plain`: names that split files do not mark. */
  static of(elf: Elf, split = false, plain: readonly string[] = []): DwarfSections {
    return new DwarfSections((name) => {
      const section = elf.section(split && !plain.includes(`.${name}`) ? `.${name}.dwo` : `.${name}`);
      return section === undefined || section.type === 8 ? undefined : SectionData.of(elf, section);
    }, elf.bytes.path);
  }

  find(name: string): SectionData | undefined {
    if (!this.#found.has(name)) this.#found.set(name, this.#find(name));
    return this.#found.get(name);
  }

  /** @throws DwarfError when there is none */
  get(name: string): SectionData {
    const section = this.find(name);
    if (section === undefined) throw new DwarfError(damagedDwarf().noSection(name), this.file);
    return section;
  }
}
