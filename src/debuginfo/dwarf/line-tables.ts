// The line tables of a file: found by the names of their files, run when needed, kept while they are used.
import { entriesNamed } from "./catalog.ts";
import { AT } from "./constants.ts";
import type { SourceFile, SourcePosition } from "./facts.ts";
import { fileNames, lastPart } from "./file-names.ts";
import { keptBytes, keptParts, wordsOf } from "./kept-arrays.ts";
import { lineHeaders, pathOf, readLineHeader, readRows, rowAt, type LineHeader, type LineRows } from "./lines.ts";
import type { Pairs } from "./pairs.ts";
import type { DwarfSections } from "./sections.ts";
import type { Kept } from "./unit-addresses.ts";
import type { DwarfFile, Unit } from "./units.ts";

const LAYOUT = "strobe lines 1";

/** Tables whose rows are kept. */
const KEPT = 64;

export class LineTables {
  readonly #file: DwarfFile;
  readonly #headers = new Map<number, LineHeader>();
  readonly #rows = new Map<LineHeader, LineRows>();
  #all: readonly LineHeader[] | undefined;
  /** Compilation folders by their table, which tables before DWARF 5 lack. */
  #folders: Map<number, string> | undefined;

  readonly #kept: Kept | undefined;
  /** The last part of file names, to the tables that have them. */
  #names: Pairs | undefined;

  constructor(file: DwarfFile, kept?: Kept) {
    this.#file = file;
    this.#kept = kept;
  }

  get all(): readonly LineHeader[] {
    if (this.#all === undefined) {
      this.#all = [...lineHeaders(this.#file.sections)];
      for (const header of this.#all) this.#headers.set(header.offset, header);
    }
    return this.#all;
  }

  /** Tables with a file that a path, or the end of one, may mean. */
  *mentioning(wanted: string): Iterable<LineHeader> {
    const name = lastPart(wanted);
    if (this.#kept === undefined) {
      yield* this.all;
      return;
    }
    this.#names ??= this.#loaded(this.#kept);
    for (const offset of new Set(entriesNamed(this.#names, name))) yield this.#at(offset, this.#file.sections);
  }

  #loaded(kept: Kept): Pairs {
    const origin = this.#file.sections.find("debug_line")?.size ?? 0;
    const bytes = kept.read();
    const parts = bytes && keptParts(bytes, LAYOUT, origin);
    if (parts?.length === 2) return { hashes: wordsOf(parts[0]), offsets: wordsOf(parts[1]) };
    const names = fileNames(this.#file.sections);
    kept.write(keptBytes(LAYOUT, origin, [names.hashes, names.offsets]));
    return names;
  }

  /** A unit's table. */
  of(unit: Unit): LineHeader | undefined {
    const owner = unit.file.skeleton ?? unit;
    const offset = owner.root.offset(AT.stmt_list);
    if (offset === undefined || owner.file !== this.#file) return undefined;
    return this.#at(offset, this.#file.sections);
  }

  #at(offset: number, sections: DwarfSections): LineHeader {
    let header = this.#headers.get(offset);
    if (header === undefined) this.#headers.set(offset, (header = readLineHeader(sections, offset)));
    return header;
  }

  rows(header: LineHeader): LineRows {
    let rows = this.#rows.get(header);
    if (rows === undefined) {
      rows = readRows(this.#file.sections, header);
      for (const old of this.#rows.keys()) {
        if (this.#rows.size < KEPT) break;
        this.#rows.delete(old);
      }
      this.#rows.set(header, rows);
    }
    return rows;
  }

  path(header: LineHeader, file: number): string {
    return pathOf(header, file, header.version >= 5 ? "" : this.#folder(header));
  }

  #folder(header: LineHeader): string {
    if (this.#folders === undefined) {
      this.#folders = new Map();
      for (const unit of this.#file.headers()) {
        if (unit.signature !== undefined) continue;
        const root = this.#file.root(unit);
        const table = root.offset(AT.stmt_list);
        const folder = root.text(AT.comp_dir);
        if (table !== undefined && folder !== undefined) this.#folders.set(table, folder);
      }
    }
    return this.#folders.get(header.offset) ?? "";
  }

  /** The files of a table that are meant. */
  filesMatching(header: LineHeader, wanted: SourceFile): readonly number[] {
    const found: number[] = [];
    const name = typeof wanted === "string" ? lastPart(wanted) : "";
    const isMeant = typeof wanted === "string" ? (path: string): boolean => matches(path, wanted) : wanted;
    header.files.forEach((file, index) => {
      // The last part decides for nearly all of them, without a path made.
      if (file.name !== "" && file.name.endsWith(name) && isMeant(this.path(header, index))) found.push(index);
    });
    return found;
  }

  /** Where the instruction at an address came from. */
  positionAt(unit: Unit, address: number): SourcePosition | undefined {
    const header = this.of(unit);
    if (header === undefined) return undefined;
    const rows = this.rows(header);
    const row = rowAt(rows, address);
    if (row < 0) return undefined;
    return { file: this.path(header, rows.files[row]), line: rows.lines[row], column: rows.columns[row] };
  }
}

/** Whether a recorded path is what a person means: the whole of it, or its last parts. */
export function matches(path: string, wanted: string): boolean {
  return path === wanted || (path.endsWith(wanted) && path[path.length - wanted.length - 1] === "/");
}
