// Answers the questions of facts.ts about one binary. Each is answered from as few units as it takes.
import { CallFrames } from "../call-frames.ts";
import type { Elf } from "../elf.ts";
import { catalogOf, entriesNamed, entriesNamedIn, loadedCatalog, savedCatalog, type Catalog } from "./catalog.ts";
import { AT, TAG, UNIT } from "./constants.ts";
import { DwarfError, exactAddress, signedAddress } from "./cursor.ts";
import { plus, constant, register } from "./expressions.ts";
import type {
  AddressRange, DebugInfo, DebugType, FunctionInstance, LinePlace, LocationExpression, SourceFrame, SourceFunction, SourceLanguage, SourcePosition,
  Variable,
} from "./facts.ts";
import { LineTables } from "./line-tables.ts";
import { ROW, type LineHeader, type LineRows } from "./lines.ts";
import { isNamed, linkageNameOf, nameOf, qualifiedName } from "./names.ts";
import { NameSearch } from "./name-search.ts";
import type { NameList, NameSection, Told } from "./name-section.ts";
import { nameSectionOf } from "./name-sections.ts";
import { scanFile } from "./scan-file.ts";
import type { ScanResult } from "./scan.ts";
import { packagedSections } from "./packages.ts";
import { constantsOf, isWithin, splitName, staticsOf } from "./partial-names.ts";
import { bodyAt, bodyAround, hasLocationLists, instancesOf, keyOf, scopesAt, type Instance } from "./scopes.ts";
import { entryAddress, rangesOf, type Range } from "./ranges.ts";
import { DwarfSections } from "./sections.ts";
import { typeFrom, typeOf } from "./types.ts";
import { UnitAddresses, type Kept } from "./unit-addresses.ts";
import { DwarfFile, type Entry, type Unit, type UnitHeader, type UnitSection } from "./units.ts";
import { EntryVariable, localsOf, parametersOf, type Surroundings } from "./variables.ts";

/** Where debug information is read from. Files that others name are found by whoever may look for files. */
export interface DebugFiles {
  /** The binary that runs: its call frames. */
  readonly binary: Elf;
  /** The file with .debug_info: the binary itself, or its debug file. */
  readonly debug: Elf;
  /** The file that dwz moved what several share to (.gnu_debugaltlink). */
  alternate?(path: string, buildId: string): Elf | undefined;
  /** Where indexes of names are kept, and who else may scan a large section. */
  readonly catalogs?: Catalogs;
  /** A file of split entries: by the name and folder that its unit tells. */
  split?(name: string, folder: string): Elf | undefined;
  /** The file that such files were packed into (.dwp). */
  package?(): Elf | undefined;
  /** Bytes of entries from which on a name is searched for before all of them are indexed. */
  readonly searched?: number;
}

export interface Catalogs {
  /** Bytes of a section from which on this is worth it. */
  readonly least?: number;
  read(part: KeptPart): Buffer | undefined;
  write(part: KeptPart, bytes: Buffer): void;
  scan(section: UnitSection): readonly ScanResult[] | undefined;
}

/** Names of a section's entries; which unit has an address; which line tables have a file. */
export type KeptPart = UnitSection | "addresses" | "lines";

/** Sections from this size on are worth keeping the index of, and threads of their own. */
const LARGE = 8 << 20;
/** From so many bytes on, which unit an address is in: asked at the start of any probe on a function, and to be had in few bytes. */
const MEDIUM = 1 << 20;

/** Sections from this size on are searched for a name; and how often, before an index is made. */
const SEARCHED = 1 << 20, SEARCHES = 10;

const PT_TLS = 7;

/** Whether a file has debug information at all. */
export function hasDebugInfo(elf: Elf): boolean {
  const section = elf.section(".debug_info");
  return section !== undefined && section.type !== 8 && section.size > 0;
}

/** The file that dwz moved to what several files share: its path, which may be relative to this one's, and build id. */
export function alternateLink(elf: Elf): { readonly path: string; readonly id: string } | undefined {
  const section = elf.section(".gnu_debugaltlink");
  const content = section && elf.content(section);
  const end = content?.indexOf(0) ?? -1;
  return content === undefined || end < 0 ? undefined : { path: content.toString("utf8", 0, end), id: content.toString("hex", end + 1) };
}

/** Opens debug information; nothing is decoded yet. */
export function openDebugInfo(files: DebugFiles): DebugInfo {
  return new Debug(files);
}

interface Listed { readonly file: DwarfFile; readonly section: UnitSection; readonly catalog: Catalog }

class Debug implements DebugInfo {
  readonly #files: DebugFiles;
  readonly #main: DwarfFile;
  readonly #lines: LineTables;
  readonly #around: Surroundings;
  #addresses: UnitAddresses | undefined;
  #catalogs: readonly Listed[] | undefined;
  #search: { readonly with: NameSearch | undefined; left: number } | undefined;
  readonly #keptNames = new Map<UnitSection, Catalog | undefined>();
  #nameSection: { readonly found: NameSection | undefined } | undefined;
  #frames: { readonly found: CallFrames | undefined } | undefined;
  #alternateFile: { readonly found: DwarfFile | undefined } | undefined;
  #package: { readonly found: DwarfSections | undefined } | undefined;
  readonly #packagedTypes = new Map<bigint, { readonly file: DwarfFile | undefined }>();
  readonly #splits = new Map<UnitHeader, Unit>();

  constructor(files: DebugFiles) {
    this.#files = files;
    this.#main = new DwarfFile(DwarfSections.of(files.debug), () => this.#alternate());
    this.#lines = new LineTables(this.#main, this.#kept("lines"));
    this.#around = {
      cfa: (address) => this.#cfa(address), position: (entry) => this.#declared(entry), threadLocal: (offset) => this.#threadLocal(offset),
    };
  }

  functionsNamed(name: string): readonly SourceFunction[] {
    const found = new Map<string, { readonly entry: Entry; readonly instances: Instance[] }>();
    const seen = new Set<string>();
    for (const entry of this.#entriesNamed("functions", name)) {
      const instances = instancesOf(entry);
      if (instances.length === 0) continue;
      const position = this.#declared(instances[0].entry);
      const identity = `${qualifiedName(entry)}\0${linkageNameOf(entry) ?? ""}\0${position.file}\0${position.line}`;
      const known = found.get(identity) ?? { entry: instances[0].entry, instances: [] };
      found.set(identity, known);
      for (const instance of instances) {
        const key = keyOf(instance.entry);
        if (seen.has(key)) continue;
        seen.add(key);
        known.instances.push(instance);
      }
    }
    return [...found.values()].map(({ entry, instances }) => this.#function(entry, instances));
  }

  functionNames(): Iterable<string> {
    const names = new Set<string>();
    for (const { catalog } of this.#listed()) {
      for (const name of catalog.functionNames.toString("utf8").split("\0")) if (name !== "") names.add(name);
    }
    return names;
  }

  functionAt(address: bigint): { readonly fn: SourceFunction; readonly instance: FunctionInstance } | undefined {
    const at = signedAddress(address);
    for (const unit of this.#unitsAt(at)) {
      const body = bodyAt(unit, at);
      if (body === undefined) continue;
      // What was inlined may begin where the function does.
      const entry = body.start === at ? body.entry : scopesAt(body, at).findLast(({ tag }) => tag !== TAG.lexical_block) ?? body.entry;
      const instances = instancesOf(entry);
      const fn = this.#function(entry, instances);
      const instance = fn.instances[instances.findIndex((each) => keyOf(each.entry) === keyOf(entry))];
      if (instance !== undefined) return { fn, instance };
    }
    return undefined;
  }

  framesAt(address: bigint): readonly SourceFrame[] {
    const at = signedAddress(address);
    for (const unit of this.#unitsAt(at)) {
      const body = bodyAt(unit, at);
      if (body === undefined) continue;
      const functions = scopesAt(body, at).filter(({ tag }) => tag !== TAG.lexical_block).reverse();
      let position = this.#lines.positionAt(unit, at) ?? { file: "", line: 0, column: 0 };
      return functions.map((entry) => {
        const inlined = entry.tag === TAG.inlined_subroutine;
        const frame = { function: qualifiedName(entry), position, inlined };
        if (inlined) position = this.#called(entry);
        return frame;
      });
    }
    return [];
  }

  sourceFiles(): Iterable<string> {
    const files = new Set<string>();
    for (const header of this.#lines.all) {
      header.files.forEach((file, index) => {
        if (file.name !== "") files.add(this.#lines.path(header, index));
      });
    }
    return files;
  }

  linePlaces(file: string, line: number, column?: number): readonly LinePlace[] {
    const tables = this.#tablesWith(file);
    let nearest = Infinity;
    for (const { rows, wanted } of tables) {
      for (let row = 0; row < rows.count; row++) {
        const here = rows.lines[row];
        if (here >= line && here < nearest && isStart(rows, row) && wanted.has(rows.files[row])) nearest = here;
      }
    }
    if (nearest === Infinity) return [];
    interface Candidate { readonly address: number; readonly column: number; readonly path: string }
    const found: Candidate[] = [];
    for (const { header, rows, wanted } of tables) {
      const candidates: Candidate[] = [];
      for (let row = 0; row < rows.count; row++) {
        if (rows.lines[row] !== nearest || !isStart(rows, row) || !wanted.has(rows.files[row])) continue;
        if (column !== undefined && nearest === line && rows.columns[row] !== column) continue;
        candidates.push({ address: rows.addresses[row], column: rows.columns[row], path: this.#lines.path(header, rows.files[row]) });
      }
      // A copy begins where its first instruction is; a line may come back to itself many times.
      const first = new Map<string, Candidate>();
      for (const candidate of candidates.sort((a, b) => a.address - b.address)) {
        const copy = candidates.length === 1 ? "" : this.#copyAt(candidate.address);
        if (!first.has(copy)) first.set(copy, candidate);
      }
      found.push(...first.values());
    }
    return found.sort((a, b) => a.address - b.address).map(({ address, column, path }) => this.#place(path, nearest, column, address));
  }

  *lines(file: string): Iterable<LinePlace> {
    const seen = new Set<string>();
    for (const { header, rows, wanted } of this.#tablesWith(file)) {
      for (let row = 0; row < rows.count; row++) {
        if (!isStart(rows, row) || !wanted.has(rows.files[row])) continue;
        const key = `${rows.lines[row]} ${rows.addresses[row]}`;
        if (seen.has(key)) continue;
        seen.add(key);
        yield this.#place(this.#lines.path(header, rows.files[row]), rows.lines[row], rows.columns[row], rows.addresses[row]);
      }
    }
  }

  afterPrologue(fn: FunctionInstance): bigint {
    if (fn.kind === "inlined") return fn.entry;
    const entry = signedAddress(fn.entry);
    for (const unit of this.#unitsAt(entry)) {
      const body = bodyAt(unit, entry);
      const header = this.#lines.of(unit);
      if (body === undefined || header === undefined) continue;
      // Optimised code says where things are at every instruction.
      if (hasLocationLists(body.entry)) return fn.entry;
      const range = body.ranges.find(({ low, high }) => entry >= low && entry < high);
      return exactAddress(prologueEnd(this.#lines.rows(header), entry, range?.high ?? entry));
    }
    return fn.entry;
  }

  variablesAt(address: bigint): readonly Variable[] {
    const at = signedAddress(address);
    for (const unit of this.#unitsAt(at)) {
      const body = bodyAt(unit, at);
      if (body === undefined) continue;
      const found: Variable[] = [];
      let outer = false;
      for (const scope of scopesAt(body, at).toReversed()) {
        const own = [...localsOf(scope, this.#around)];
        if (scope.tag !== TAG.lexical_block) own.push(...parametersOf(scope, this.#around).filter(({ name }) => name !== ""));
        for (const variable of own) variable.outer = outer;
        found.push(...own);
        outer ||= scope.tag !== TAG.lexical_block;
      }
      return found;
    }
    return [];
  }

  globalsNamed(name: string): readonly Variable[] {
    const found = new Map<string, Variable>();
    for (const entry of this.#entriesNamed("variables", name)) {
      if (bodyAround(entry.origin) !== undefined) continue;
      found.set(keyOf(entry), new EntryVariable(entry, this.#around));
    }
    if (found.size === 0) for (const entry of this.#variablesWithin(name)) found.set(keyOf(entry), new EntryVariable(entry, this.#around));
    return [...found.values()];
  }

  /** Variables by a name that tells the scopes around them in part, or the function or the type that they are in. */
  *#variablesWithin(name: string): Iterable<Entry> {
    const parts = splitName(name);
    if (parts === undefined) return;
    for (const entry of this.#entriesNamed("variables", parts.own)) if (isWithin(entry, parts.scope)) yield entry;
    for (const fn of this.#entriesWithin("functions", parts.scope)) yield* staticsOf(fn, parts.own);
    for (const type of this.#entriesWithin("types", parts.scope)) yield* constantsOf(type, parts.own);
  }

  *#entriesWithin(list: NameList, name: string): Iterable<Entry> {
    const exact = [...this.#entriesNamed(list, name)];
    const parts = exact.length > 0 ? undefined : splitName(name);
    yield* exact;
    if (parts === undefined) return;
    for (const entry of this.#entriesNamed(list, parts.own)) if (isWithin(entry, parts.scope)) yield entry;
  }

  typeNamed(name: string, tag?: "struct" | "union" | "enum"): DebugType | undefined {
    const base = baseSpelling(name);
    for (const entry of this.#entriesNamed("types", base)) {
      if (!entry.isType()) continue;
      if (tag !== undefined && TAGS[tag] !== undefined && !TAGS[tag].includes(entry.tag)) continue;
      return typeFrom(entry);
    }
    return undefined;
  }

  *#entriesNamed(list: NameList, name: string): Iterable<Entry> {
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

  /** Where a name may be searched for: there is no index yet, and not so many were asked for that one is better. */
  #searching(): NameSearch | undefined {
    if (this.#catalogs !== undefined) return undefined;
    const { sections } = this.#main;
    if (this.#search === undefined) {
      const large = (sections.find("debug_info")?.size ?? 0) >= (this.#files.searched ?? SEARCHED);
      const whole = large && this.#keptCatalog("debug_info") === undefined && !this.#main.headers().some((header) => this.#splitName(header) !== undefined);
      this.#search = { with: whole ? new NameSearch(this.#main, this.#alternate()) : undefined, left: SEARCHES };
    }
    return this.#search.left-- > 0 ? this.#search.with : undefined;
  }

  /** What an index in the file tells of a name, when that is certainly all. */
  #told(list: NameList, name: string): readonly Entry[] | undefined {
    if (this.#catalogs !== undefined) return undefined;
    this.#nameSection ??= { found: nameSectionOf(this.#main) };
    const { found } = this.#nameSection;
    if (found === undefined) return undefined;
    try {
      const entries = [...found.find(list, name)].flatMap((each) => this.#entriesAt(list, name, each)).filter((entry) => isNamed(entry, name));
      if (entries.length === 0 || found.mayMeanMore(name)) return undefined;
      return list !== "functions" || found.inlined || entries.every(isInlinedNowhereElse) ? entries : undefined;
    } catch (error) {
      if (error instanceof DwarfError) return undefined;
      throw error;
    }
  }

  #entriesAt(list: NameList, name: string, { unit, entry }: Told): Entry[] {
    const header = this.#main.headerAt(unit);
    const whole = this.#whole(header);
    if (entry !== undefined) return [whole.entryAt(whole.header.offset + entry)];
    // Just the unit is known.
    const scanned = scanFile(whole.file, whole.header.section, [whole.header]);
    return [...entriesNamedIn(scanned[list], name)].map((offset) => whole.file.entryAt(offset, whole.header.section));
  }

  #catalog(file: DwarfFile, section: UnitSection): Catalog {
    const { catalogs } = this.#files;
    const { size } = file.sections.get(section);
    if (file !== this.#main || catalogs === undefined || size < (catalogs.least ?? LARGE)) return catalogOf([scanFile(file, section)]);
    const known = this.#keptCatalog(section);
    if (known !== undefined) return known;
    const catalog = catalogOf(catalogs.scan(section) ?? [scanFile(file, section)]);
    catalogs.write(section, savedCatalog(catalog, size));
    return catalog;
  }

  #keptCatalog(section: UnitSection): Catalog | undefined {
    const { catalogs } = this.#files;
    const { size } = this.#main.sections.get(section);
    if (catalogs === undefined || size < (catalogs.least ?? LARGE)) return undefined;
    if (!this.#keptNames.has(section)) {
      const kept = catalogs.read(section);
      this.#keptNames.set(section, kept && loadedCatalog(kept, size));
    }
    return this.#keptNames.get(section);
  }

  /** What is worth keeping of a large file. */
  #kept(part: "addresses" | "lines"): Kept | undefined {
    const { catalogs } = this.#files;
    const least = catalogs?.least ?? (part === "addresses" ? MEDIUM : LARGE);
    if (catalogs === undefined || (this.#main.sections.find("debug_info")?.size ?? 0) < least) return undefined;
    return { read: () => catalogs.read(part), write: (bytes) => catalogs.write(part, bytes) };
  }

  #listed(): readonly Listed[] {
    if (this.#catalogs !== undefined) return this.#catalogs;
    const listed: Listed[] = [];
    const add = (file: DwarfFile): void => {
      for (const section of ["debug_info", "debug_types"] as const) {
        if (file.headers(section).length > 0) listed.push({ file, section, catalog: this.#catalog(file, section) });
      }
    };
    add(this.#main);
    const alternate = this.#alternate();
    if (alternate !== undefined) add(alternate);
    for (const header of this.#main.headers()) {
      const whole = this.#splitName(header) === undefined ? undefined : this.#whole(header);
      if (whole !== undefined && whole.file !== this.#main) add(whole.file);
    }
    return (this.#catalogs = listed);
  }

  #function(entry: Entry, instances: readonly Instance[]): SourceFunction {
    const around = this.#around;
    const linkageName = linkageNameOf(entry);
    const result = typeOf(entry);
    const declared = this.#declared(entry);
    // Go says where its functions begin in their lines only.
    const position = declared.line === 0 ? this.#lines.positionAt(entry.unit, instances[0].start) ?? declared : declared;
    const shown = instances.map((instance) => this.#instance(instance));
    let parameters: readonly Variable[] | undefined;
    return {
      name: nameOf(entry) ?? "", qualifiedName: qualifiedName(entry), ...(linkageName !== undefined && { linkageName }),
      language: languageOf(entry.origin.unit), declared: position, instances: shown,
      external: entry.withAttribute(AT.external)?.flag(AT.external) === true,
      confined: isInlinedNowhereElse(entry) || (isOfOneFile(entry) && declared.file === this.#unitFile(entry.unit)),
      get parameters() {
        return (parameters ??= parametersOf(entry, around).map((each, i) => inAnyCopy(each, i, shown)));
      },
      ...(result.kind !== "void" && { result }),
    };
  }

  #instance(instance: Instance): FunctionInstance {
    const around = this.#around;
    const { entry } = instance;
    const body = instance.inlined ? bodyAround(entry) : undefined;
    const caller = body && this.#caller(entry, body);
    let parameters: readonly Variable[] | undefined;
    return {
      kind: instance.inlined ? "inlined" : "body", entry: exactAddress(instance.start), ranges: exactRanges(instance.ranges),
      ...(instance.inlined && entry.has(AT.entry_pc) && { entryTold: true }),
      ...(caller !== undefined && { caller }),
      get parameters() {
        return (parameters ??= parametersOf(entry, around));
      },
    };
  }

  #caller(copy: Entry, body: Entry): NonNullable<FunctionInstance["caller"]> {
    let code: readonly Range[] | undefined;
    const ranges = (): readonly Range[] => (code ??= rangesOf(body));
    return {
      name: qualifiedName(body), position: this.#called(copy),
      get entry() {
        return exactAddress(entryAddress(body, ranges()));
      },
      get ranges() {
        return exactRanges(ranges());
      },
    };
  }

  // Positions.

  #declared(entry: Entry): SourcePosition {
    const placed = entry.withAttribute(AT.decl_line);
    if (placed === undefined) return { file: "", line: 0, column: 0 };
    const named = placed.withAttribute(AT.decl_file);
    return {
      file: named === undefined ? "" : this.#fileNamed(named.unit, named.number(AT.decl_file) ?? 0),
      line: placed.number(AT.decl_line) ?? 0, column: placed.number(AT.decl_column) ?? 0,
    };
  }

  /** The source file that a unit was compiled from, as positions tell it. */
  #unitFile(unit: Unit): string {
    const [name, folder] = [unit.root.text(AT.name) ?? "", unit.root.text(AT.comp_dir) ?? ""];
    return name.startsWith("/") || folder === "" ? name : `${folder}/${name}`.replaceAll(/\/(?:\.\/)+/g, "/");
  }

  #called(entry: Entry): SourcePosition {
    return {
      file: this.#fileNamed(entry.unit, entry.number(AT.call_file) ?? 0),
      line: entry.number(AT.call_line) ?? 0, column: entry.number(AT.call_column) ?? 0,
    };
  }

  #fileNamed(unit: Unit, file: number): string {
    const tables = unit.file === this.#main || unit.file.skeleton !== undefined ? this.#lines : unit.note(LineTables, () => new LineTables(unit.file));
    const header = tables.of(unit);
    return header === undefined ? "" : tables.path(header, file);
  }

  #tablesWith(file: string): readonly { readonly header: LineHeader; readonly rows: LineRows; readonly wanted: ReadonlySet<number> }[] {
    const tables = [];
    for (const header of this.#lines.mentioning(file)) {
      const wanted = this.#lines.filesMatching(header, file);
      if (wanted.length > 0) tables.push({ header, rows: this.#lines.rows(header), wanted: new Set(wanted) });
    }
    return tables;
  }

  #place(file: string, line: number, column: number, address: number): LinePlace {
    const functionAt = (): string | undefined => this.framesAt(exactAddress(address)).at(-1)?.function;
    return {
      file, line, column, address: exactAddress(address),
      get function() {
        return functionAt();
      },
    };
  }

  /** Which copy of which function an address is in. */
  #copyAt(address: number): string {
    for (const unit of this.#unitsAt(address)) {
      const body = bodyAt(unit, address);
      if (body === undefined) continue;
      const innermost = scopesAt(body, address).findLast(({ tag }) => tag !== TAG.lexical_block) ?? body.entry;
      return keyOf(innermost);
    }
    return `${address}`;
  }

  // Units.

  *#unitsAt(address: number): Iterable<Unit> {
    this.#addresses ??= new UnitAddresses(this.#main, this.#kept("addresses"));
    for (const header of this.#addresses.at(address)) yield this.#whole(header);
  }

  /** A unit, or the split one that a skeleton stands for, when its file is there. */
  #whole(header: UnitHeader): Unit {
    const name = this.#splitName(header);
    const unit = this.#main.unit(header);
    if (name === undefined) return unit;
    let whole = this.#splits.get(header);
    if (whole === undefined) {
      whole = this.#openSplit(unit, name) ?? unit;
      this.#splits.set(header, whole);
    }
    return whole;
  }

  /** The file that has a unit's entries, when it is just a skeleton. */
  #splitName(header: UnitHeader): string | undefined {
    // DWARF 5 marks skeletons; before, they had their addresses in a section of its own.
    if (header.version >= 5 ? header.type !== UNIT.skeleton : this.#main.sections.find("debug_addr") === undefined) return undefined;
    const root = this.#main.root(header);
    return root.text(AT.dwo_name) ?? root.text(AT.GNU_dwo_name);
  }

  #openSplit(skeleton: Unit, name: string): Unit | undefined {
    const id = skeleton.header.dwoId ?? skeleton.root.constant(AT.GNU_dwo_id);
    const packed = id === undefined ? undefined : this.#fromPackage("debug_cu_index", BigInt.asUintN(64, id));
    const elf = packed === undefined ? this.#files.split?.(name, skeleton.root.text(AT.comp_dir) ?? "") : undefined;
    const file = packed ?? (elf && new DwarfFile(DwarfSections.of(elf, true), undefined, true));
    if (file === undefined) return undefined;
    file.skeleton = skeleton;
    const header = file.headers().find((each) => (each.dwoId ?? file.unit(each).root.constant(AT.GNU_dwo_id)) === id);
    return header && file.unit(header);
  }

  /** A unit of the package file, as a file of its own. */
  #fromPackage(index: "debug_cu_index" | "debug_tu_index", signature: bigint): DwarfFile | undefined {
    if (this.#package === undefined) {
      const elf = this.#files.package?.();
      this.#package = { found: elf && DwarfSections.of(elf, true, [".debug_cu_index", ".debug_tu_index"]) };
    }
    const sections = this.#package.found && packagedSections(this.#package.found, index, signature);
    if (sections === undefined) return undefined;
    const file = new DwarfFile(sections, undefined, true);
    if (index === "debug_cu_index") {
      file.elsewhere = (type) => {
        let found = this.#packagedTypes.get(type);
        if (found === undefined) this.#packagedTypes.set(type, (found = { file: this.#fromPackage("debug_tu_index", type) }));
        if (found.file !== undefined) found.file.elsewhere = file.elsewhere;
        return found.file?.typeWithSignature(type);
      };
    }
    return file;
  }

  #alternate(): DwarfFile | undefined {
    if (this.#alternateFile === undefined) {
      const link = alternateLink(this.#files.debug);
      const elf = link && this.#files.alternate?.(link.path, link.id);
      const found = elf && new DwarfFile(DwarfSections.of(elf));
      this.#alternateFile = { found };
    }
    return this.#alternateFile.found;
  }

  /** GCC's split entries give the address in the file's image of the storage in place of the offset into it. */
  #threadLocal(offset: bigint): bigint {
    const image = this.#files.binary.segments.find(({ type }) => type === PT_TLS);
    const within = image === undefined ? -1n : offset - image.address;
    return image !== undefined && within >= 0n && within < image.memorySize ? within : offset;
  }

  #cfa(address: bigint): LocationExpression | undefined {
    this.#frames ??= { found: CallFrames.of(this.#files.binary) ?? CallFrames.of(this.#files.debug) };
    const rule = this.#frames.found?.cfaAt(address);
    switch (rule?.kind) {
      case "register": return plus(register(rule.register), constant(BigInt(rule.offset)));
      case "expression": return rule.expression;
      case "unknown": case undefined: return undefined;
    }
  }
}

function exactRanges(ranges: readonly Range[]): AddressRange[] {
  return ranges.map(({ low, high }) => ({ low: exactAddress(low), high: exactAddress(high) }));
}

/** A row that a probe may stand at for its line. */
function isStart(rows: LineRows, row: number): boolean {
  return (rows.flags[row] & (ROW.statement | ROW.sequenceEnd)) === ROW.statement && rows.lines[row] !== 0;
}

/** Where the body begins: where the compiler says, else at the second line. */
function prologueEnd(rows: LineRows, entry: number, high: number): number {
  let second = entry;
  for (let row = 0; row < rows.count; row++) {
    const address = rows.addresses[row];
    if (address < entry || address >= high || (rows.flags[row] & ROW.sequenceEnd) !== 0) continue;
    if ((rows.flags[row] & ROW.prologueEnd) !== 0) return address;
    if (address > entry && second === entry && rows.lines[row] !== 0) second = address;
  }
  return second;
}

/** A function of C that others call, and that nobody declared inline, has its copies in its own unit only. */
function isInlinedNowhereElse(entry: Entry): boolean {
  return languageOf(entry.origin.unit) === "c" && entry.withAttribute(AT.external) !== undefined && entry.withAttribute(AT.inline) === undefined;
}

/** A static function of C, all of whose debug information is in this unit. */
function isOfOneFile(entry: Entry): boolean {
  return languageOf(entry.origin.unit) === "c" && entry.origin.unit === entry.unit && entry.withAttribute(AT.external) === undefined;
}

/** In the location of a function's parameter, the copy that runs at the address answers. */
function inAnyCopy(parameter: EntryVariable, index: number, instances: readonly FunctionInstance[]): Variable {
  return {
    name: parameter.name, kind: "parameter",
    get type() {
      return parameter.type;
    },
    get declared() {
      return parameter.declared;
    },
    location: (address) => {
      const holding = instances.filter(({ ranges }) => ranges.some(({ low, high }) => address >= low && address < high));
      const copy = holding.find(({ kind }) => kind === "inlined") ?? holding[0];
      return (copy?.parameters[index] ?? parameter).location(address);
    },
  };
}

const TAGS: Readonly<Record<"struct" | "union" | "enum", readonly number[]>> = {
  struct: [TAG.structure_type, TAG.class_type], union: [TAG.union_type], enum: [TAG.enumeration_type],
};

/** Base types as compilers record them: `unsigned long` is `long unsigned int` to C. */
const BASE_SPELLINGS: ReadonlyMap<string, string> = new Map([
  ["unsigned", "unsigned int"], ["short", "short int"], ["unsigned short", "short unsigned int"], ["long", "long int"],
  ["unsigned long", "long unsigned int"], ["long long", "long long int"], ["unsigned long long", "long long unsigned int"],
]);

function baseSpelling(name: string): string {
  return BASE_SPELLINGS.get(name) ?? name;
}

function languageOf(unit: Unit): SourceLanguage {
  // DW_LANG_*: C 89 to 17; C++ 98 to 20; Rust; Go.
  switch (unit.root.number(AT.language)) {
    case 0x01: case 0x02: case 0x0c: case 0x1d: case 0x2c: return "c";
    case 0x04: case 0x19: case 0x1a: case 0x21: case 0x2a: case 0x2b: return "c++";
    case 0x1c: return "rust";
    case 0x16: return "go";
    default: return "other";
  }
}
