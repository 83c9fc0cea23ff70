// Entries by name: told by an index in the file, searched for, or looked up in an index of all that is made once and
// kept.
import { catalogOf, entriesNamed, entriesNamedIn, loadedCatalog, savedCatalog, type Catalog } from "./catalog.ts";
import { DwarfError } from "./cursor.ts";
import { catalogsFor, type DebugFiles } from "./input-files.ts";
import { isNamed } from "./names.ts";
import { NameSearch } from "./name-search.ts";
import type { NameList, NameSection, Told } from "./name-section.ts";
import { nameSectionOf } from "./name-sections.ts";
import { constantsOf, isWithin, splitName, staticsOf } from "./partial-names.ts";
import { scanFile } from "./scan-file.ts";
import { isInlinedNowhereElse } from "./source-functions.ts";
import type { UnitSection } from "./unit-headers.ts";
import type { DwarfFile, Entry } from "./units.ts";
import type { WholeUnits } from "./whole-units.ts";

/** Sections from this size on are searched for a name; and how often, before an index is made. */
const SEARCHED = 1 << 20,
  SEARCHES = 10;

interface Listed {
  readonly file: DwarfFile;
  readonly section: UnitSection;
  readonly catalog: Catalog;
}

export class NamedEntries {
  readonly #files: DebugFiles;
  readonly #units: WholeUnits;
  #catalogs: readonly Listed[] | undefined;
  #search: { readonly with: NameSearch | undefined; left: number } | undefined;
  readonly #keptNames = new Map<UnitSection, Catalog | undefined>();
  #nameSection: { readonly found: NameSection | undefined } | undefined;

  constructor(files: DebugFiles, units: WholeUnits) {
    this.#files = files;
    this.#units = units;
  }

  /** Qualified names of all functions. */
  functionNames(): Iterable<string> {
    const names = new Set<string>();
    for (const { catalog } of this.#listed()) {
      for (const name of catalog.functionNames.toString("utf8").split("\0")) if (name !== "") names.add(name);
    }
    return names;
  }

  /** Entries that have a name: functions, variables or types. */
  *named(list: NameList, name: string): Iterable<Entry> {
    const told = this.#told(list, name);
    if (told !== undefined) {
      yield* told;
      return;
    }
    const search = this.#searching();
    if (search !== undefined && (yield* search.entries(list, name))) return;
    for (const { file, section, catalog } of this.#listed()) {
      for (const offset of entriesNamed(catalog[list], name)) {
        // What is damaged in one unit does not hide the others.
        try {
          const entry = file.entryAt(offset, section);
          if (isNamed(entry, name)) yield entry;
        } catch (error) {
          if (!(error instanceof DwarfError)) throw error;
        }
      }
    }
  }

  /** Variables by a name that tells the scopes around them in part, or the function or the type that they are in. */
  *variablesWithin(name: string): Iterable<Entry> {
    const parts = splitName(name);
    if (parts === undefined) return;
    for (const entry of this.named("variables", parts.own)) if (isWithin(entry, parts.scope)) yield entry;
    for (const fn of this.#within("functions", parts.scope)) yield* staticsOf(fn, parts.own);
    for (const type of this.#within("types", parts.scope)) yield* constantsOf(type, parts.own);
  }

  /** Entries that have just this name, else those in a scope that it ends with. */
  *#within(list: NameList, name: string): Iterable<Entry> {
    const exact = [...this.named(list, name)];
    const parts = exact.length > 0 ? undefined : splitName(name);
    yield* exact;
    if (parts === undefined) return;
    for (const entry of this.named(list, parts.own)) if (isWithin(entry, parts.scope)) yield entry;
  }

  /** Where a name may be searched for: there is no index yet, and not so many were asked for that one is better. */
  #searching(): NameSearch | undefined {
    if (this.#catalogs !== undefined) return undefined;
    const { sections } = this.#units.main;
    if (this.#search === undefined) {
      const large = (sections.find("debug_info")?.size ?? 0) >= (this.#files.searched ?? SEARCHED);
      const whole =
        large &&
        this.#keptCatalog("debug_info") === undefined &&
        !this.#units.main.headers().some((header) => this.#units.splitName(header) !== undefined);
      this.#search = {
        with: whole ? new NameSearch(this.#units.main, this.#units.alternate) : undefined,
        left: SEARCHES,
      };
    }
    return this.#search.left-- > 0 ? this.#search.with : undefined;
  }

  /** What an index in the file tells of a name, when that is certainly all. */
  #told(list: NameList, name: string): readonly Entry[] | undefined {
    if (this.#catalogs !== undefined) return undefined;
    this.#nameSection ??= { found: nameSectionOf(this.#units.main) };
    const { found } = this.#nameSection;
    if (found === undefined) return undefined;
    try {
      const entries = [...found.find(list, name)]
        .flatMap((each) => this.#entriesAt(list, name, each))
        .filter((entry) => isNamed(entry, name));
      if (entries.length === 0 || found.mayMeanMore(name)) return undefined;
      return list !== "functions" || found.inlined || entries.every(isInlinedNowhereElse) ? entries : undefined;
    } catch (error) {
      if (error instanceof DwarfError) return undefined;
      throw error;
    }
  }

  #entriesAt(list: NameList, name: string, { unit, entry }: Told): Entry[] {
    const header = this.#units.main.headerAt(unit);
    const whole = this.#units.whole(header);
    if (entry !== undefined) return [whole.entryAt(whole.header.offset + entry)];
    // Just the unit is known.
    const scanned = scanFile(whole.file, whole.header.section, [whole.header]);
    return [...entriesNamedIn(scanned[list], name)].map((offset) => whole.file.entryAt(offset, whole.header.section));
  }

  #catalog(file: DwarfFile, section: UnitSection): Catalog {
    const { size } = file.sections.get(section);
    const catalogs = file === this.#units.main ? catalogsFor(this.#files, size) : undefined;
    if (catalogs === undefined) return catalogOf([scanFile(file, section)]);
    const known = this.#keptCatalog(section);
    if (known !== undefined) return known;
    const catalog = catalogOf(catalogs.scan(section) ?? [scanFile(file, section)]);
    catalogs.write(section, savedCatalog(catalog, size));
    return catalog;
  }

  #keptCatalog(section: UnitSection): Catalog | undefined {
    const { size } = this.#units.main.sections.get(section);
    const catalogs = catalogsFor(this.#files, size);
    if (catalogs === undefined) return undefined;
    if (!this.#keptNames.has(section)) {
      const kept = catalogs.read(section);
      this.#keptNames.set(section, kept && loadedCatalog(kept, size));
    }
    return this.#keptNames.get(section);
  }

  /** All there is, indexed. */
  #listed(): readonly Listed[] {
    if (this.#catalogs !== undefined) return this.#catalogs;
    const listed: Listed[] = [];
    const add = (file: DwarfFile): void => {
      for (const section of ["debug_info", "debug_types"] as const) {
        if (file.headers(section).length > 0) listed.push({ file, section, catalog: this.#catalog(file, section) });
      }
    };
    add(this.#units.main);
    const alternate = this.#units.alternate;
    if (alternate !== undefined) add(alternate);
    for (const header of this.#units.main.headers()) {
      const whole = this.#units.splitName(header) === undefined ? undefined : this.#units.whole(header);
      if (whole !== undefined && whole.file !== this.#units.main) add(whole.file);
    }
    return (this.#catalogs = listed);
  }
}
