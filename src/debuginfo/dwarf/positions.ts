// Where in the sources things are, as entries tell it.
import { AT } from "./constants.ts";
import type { SourcePosition } from "./facts.ts";
import { LineTables } from "./line-tables.ts";
import type { DwarfFile, Entry, Unit } from "./units.ts";

export class Positions {
  readonly #main: DwarfFile;
  readonly #lines: LineTables;

  /** `lines`: those of the main file. */
  constructor(main: DwarfFile, lines: LineTables) {
    this.#main = main;
    this.#lines = lines;
  }

  /** Where an entry is declared. */
  declared(entry: Entry): SourcePosition {
    const placed = entry.withAttribute(AT.decl_line);
    if (placed === undefined) return { file: "", line: 0, column: 0 };
    const named = placed.withAttribute(AT.decl_file);
    return {
      file: named === undefined ? "" : this.#fileNamed(named.unit, named.number(AT.decl_file) ?? 0),
      line: placed.number(AT.decl_line) ?? 0,
      column: placed.number(AT.decl_column) ?? 0,
    };
  }

  /** The source file that a unit was compiled from, as positions tell it. */
  unitFile(unit: Unit): string {
    const [name, folder] = [unit.root.text(AT.name) ?? "", unit.root.text(AT.comp_dir) ?? ""];
    return name.startsWith("/") || folder === "" ? name : `${folder}/${name}`.replaceAll(/\/(?:\.\/)+/g, "/");
  }

  /** Where an inlined copy is called. */
  called(entry: Entry): SourcePosition {
    return {
      file: this.#fileNamed(entry.unit, entry.number(AT.call_file) ?? 0),
      line: entry.number(AT.call_line) ?? 0,
      column: entry.number(AT.call_column) ?? 0,
    };
  }

  #fileNamed(unit: Unit, file: number): string {
    const tables =
      unit.file === this.#main || unit.file.skeleton !== undefined
        ? this.#lines
        : unit.note(LineTables, () => new LineTables(unit.file));
    const header = tables.of(unit);
    return header === undefined ? "" : tables.path(header, file);
  }
}
