// A file's units and the entries in them. A unit is read as a whole when somebody looks into it (entry-tree.ts); values
// are decoded one by one when asked for, and the units used last are kept.
import { firstIndex } from "../../base/first-index.ts";
import { type Abbreviation, readAbbreviations } from "./abbreviations.ts";
import { readValue, type Value } from "./attribute-values.ts";
import { AT, FORM, TAG } from "./constants.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import { readEntryTree, type EntryTree } from "./entry-tree.ts";
import { stepOf, takeStep } from "./forms.ts";
import type { DwarfSections } from "./sections.ts";
import { headerFrom, unitHeaders, type UnitHeader, type UnitSection } from "./unit-headers.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

/** Bytes of units that are kept decoded. */
const KEPT = 24 << 20;

/** What GCC calls the units that it makes as it links: they refer to those of the sources. */
const LINKED_AS_WHOLE = "<artificial>";

let files = 0;

/** The entries of one file: a binary, its debug file, an alternate or a split one. */
export class DwarfFile {
  /** Different from that of every other file. */
  readonly id = ++files;
  readonly sections: DwarfSections;
  readonly split: boolean;
  readonly #alternate: () => DwarfFile | undefined;
  readonly #headers = new Map<UnitSection, readonly UnitHeader[]>();
  /** Units that were looked at before the list of all was made. */
  readonly #single = new Map<number, UnitHeader>();
  readonly #units = new Map<UnitHeader, Unit>();
  #kept = 0;
  #signatures: Map<bigint, UnitHeader> | undefined;
  #repeats: boolean | undefined;
  readonly #abbreviations = new Map<number, (code: number) => Abbreviation>();
  /** Of a split unit's file: the unit in the binary that it completes. */
  skeleton: Unit | undefined;
  /** Where types are that have a file of their own: in a package. */
  elsewhere: ((signature: bigint) => Entry | undefined) | undefined;

  constructor(sections: DwarfSections, alternate: () => DwarfFile | undefined = () => undefined, split = false) {
    this.sections = sections;
    this.#alternate = alternate;
    this.split = split;
  }

  get alternate(): DwarfFile | undefined {
    return this.#alternate();
  }

  /** An error met in reading it, which names it. */
  named(error: unknown): unknown {
    return error instanceof DwarfError ? error.in(this.sections.file) : error;
  }

  headers(section: UnitSection = "debug_info"): readonly UnitHeader[] {
    let headers = this.#headers.get(section);
    if (headers === undefined) {
      headers = [...unitHeaders(this.sections, section)].map(
        (header) => (section === "debug_info" && this.#single.get(header.offset)) || header,
      );
      this.#headers.set(section, headers);
    }
    return headers;
  }

  /** The unit that begins at an offset, without the others being looked at. */
  headerStarting(offset: number): UnitHeader {
    if (this.#headers.has("debug_info")) return this.headerAt(offset);
    let header = this.#single.get(offset);
    if (header === undefined)
      this.#single.set(offset, (header = headerFrom(this.sections.get("debug_info"), offset, "debug_info")));
    return header;
  }

  /** The unit that holds an offset. */
  headerAt(offset: number, section: UnitSection = "debug_info"): UnitHeader {
    const headers = this.headers(section);
    const low = firstIndex(headers.length, (i) => headers[i].offset > offset);
    const header = headers[low - 1];
    if (header === undefined || offset >= header.end)
      throw new DwarfError(damagedDwarf().noUnitAt(offset), this.sections.file);
    return header;
  }

  unit(header: UnitHeader): Unit {
    let unit = this.#units.get(header);
    if (unit !== undefined) {
      // The order of the map is that of use.
      this.#units.delete(header);
      this.#units.set(header, unit);
      return unit;
    }
    unit = new Unit(this, header);
    this.#units.set(header, unit);
    this.#kept += header.end - header.offset;
    for (const old of this.#units.keys()) {
      if (this.#kept <= KEPT || old === header) break;
      this.#units.delete(old);
      this.#kept -= old.end - old.offset;
    }
    return unit;
  }

  /** A unit's own entry, without the unit being read. */
  root(header: UnitHeader): Entry {
    return (this.#units.get(header) ?? new Unit(this, header)).root;
  }

  /**
   * Whether a source file has several units: LLVM's thin link-time optimisation repeats those whose functions it
   * inlines elsewhere.
   */
  get repeatsUnits(): boolean {
    if (this.#repeats === undefined) {
      const names = new Set<string>();
      this.#repeats = this.headers().some((header) => {
        const root = this.root(header);
        const name = root.name;
        return (
          root.tag === TAG.compile_unit &&
          name !== undefined &&
          name !== LINKED_AS_WHOLE &&
          names.size === names.add(`${root.text(AT.comp_dir)}\0${name}`).size
        );
      });
    }
    return this.#repeats;
  }

  entryAt(offset: number, section: UnitSection = "debug_info"): Entry {
    return this.unit(this.headerAt(offset, section)).entryAt(offset);
  }

  /** The type that a type unit describes. */
  typeWithSignature(signature: bigint): Entry | undefined {
    if (this.#signatures === undefined) {
      this.#signatures = new Map();
      for (const section of ["debug_info", "debug_types"] as const) {
        for (const header of this.headers(section)) {
          if (header.signature !== undefined && header.typeOffset !== undefined)
            this.#signatures.set(header.signature, header);
        }
      }
    }
    const header = this.#signatures.get(signature);
    return header === undefined
      ? this.elsewhere?.(signature)
      : this.unit(header).entryAt(header.offset + header.typeOffset!);
  }

  abbreviations(offset: number): (code: number) => Abbreviation {
    let table = this.#abbreviations.get(offset);
    if (table === undefined) {
      if (this.#abbreviations.size > 256) this.#abbreviations.clear();
      table = this.sections.get("debug_abbrev").from(offset, readAbbreviations);
      this.#abbreviations.set(offset, table);
    }
    return table;
  }
}

/** Bytes of a unit in which its own entry usually ends. */
const BEGINNING = 1024;

export class Unit {
  readonly file: DwarfFile;
  readonly header: UnitHeader;
  #bytes: Buffer | undefined;
  /** Its first bytes, as long as nobody asked for the others. */
  #beginning: Buffer | undefined;
  readonly #abbreviation: (code: number) => Abbreviation;
  readonly #entries = new Map<number, Entry>();
  #tree: EntryTree | undefined;
  #root: Entry | undefined;
  /** What other files make of this unit, by what they keep for it. */
  readonly notes = new Map<object, unknown>();

  constructor(file: DwarfFile, header: UnitHeader) {
    this.file = file;
    this.header = header;
    this.#abbreviation = file.abbreviations(header.abbreviations);
  }

  get bytes(): Buffer {
    return (this.#bytes ??= this.#read(Infinity));
  }

  #read(most: number): Buffer {
    const { section, offset, end } = this.header;
    return this.file.sections.get(section).slice(offset, Math.min(most, end - offset));
  }

  /** Reads something of an entry. The unit's own entry is near its beginning: for that the others are not read. */
  decode<T>(index: number, read: (bytes: Buffer) => T): T {
    if (index === 0 && this.#bytes === undefined) {
      this.#beginning ??= this.#read(BEGINNING);
      try {
        return read(this.#beginning);
      } catch (error) {
        if (!(error instanceof DwarfError)) throw error;
      }
    }
    try {
      return read(this.bytes);
    } catch (error) {
      throw this.file.named(error);
    }
  }

  /** Something about this unit that is found out once. */
  note<T>(key: object, make: (unit: Unit) => T): T {
    if (!this.notes.has(key)) this.notes.set(key, make(this));
    return this.notes.get(key) as T;
  }

  /** The unit's own entry; decoded without the others. */
  get root(): Entry {
    return (this.#root ??= new Entry(this, 0, this.header.first - this.header.offset));
  }

  get count(): number {
    return this.tree.count;
  }

  entry(index: number): Entry {
    if (index === 0) return this.root;
    let entry = this.#entries.get(index);
    if (entry === undefined) this.#entries.set(index, (entry = new Entry(this, index, this.tree.offsets[index])));
    return entry;
  }

  /** The entry that begins at an offset of the section. */
  entryAt(offset: number): Entry {
    const { offsets, count } = this.tree;
    const wanted = offset - this.header.offset;
    const low = firstIndex(count, (i) => offsets[i] >= wanted);
    if (low >= count || offsets[low] !== wanted)
      throw new DwarfError(damagedDwarf().noEntryAt(offset), this.file.sections.file);
    return this.entry(low);
  }

  abbreviationAt(index: number, at: number): { readonly abbreviation: Abbreviation; readonly values: number } {
    return this.decode(index, (bytes) => {
      const cursor = new Cursor(bytes, at);
      const abbreviation = this.#abbreviation(cursor.uleb());
      return { abbreviation, values: cursor.at };
    });
  }

  tagOf(index: number): number {
    return this.#abbreviation(this.tree.codes[index]).tag;
  }

  abbreviationOf(index: number): Abbreviation {
    return this.#abbreviation(this.tree.codes[index]);
  }

  /** Entries of certain shapes, by index; shapes are asked about once each. */
  *entriesOfShape(wanted: (shape: Abbreviation) => boolean): Iterable<number> {
    const { codes, count } = this.tree;
    const asked = new Map<number, boolean>();
    for (let index = 0; index < count; index++) {
      const code = codes[index];
      let answer = asked.get(code);
      if (answer === undefined) asked.set(code, (answer = wanted(this.#abbreviation(code))));
      if (answer) yield index;
    }
  }

  /**
   * Where an entry's reference leads, without an object made: an offset of the section, or see `alternateReference`;
   * -1.
   */
  referenceOf(index: number, attribute: number): number {
    const { forms, attributes, constants } = this.#abbreviation(this.tree.codes[index]);
    const place = attributes.indexOf(attribute);
    if (place < 0) return -1;
    const cursor = new Cursor(this.bytes, this.tree.offsets[index]);
    cursor.skipLeb();
    for (let i = 0; i < place; i++) takeStep(cursor, stepOf(forms[i], this.header), this.header);
    if (forms[place] === FORM.ref4) return this.header.offset + cursor.u32();
    const value = readValue(this, cursor, forms[place], constants[place]);
    if (value.kind !== "reference") return -1;
    return value.alternate ? alternateReference(value.offset) : value.offset;
  }

  get tree(): EntryTree {
    try {
      return (this.#tree ??= readEntryTree(this.header, this.bytes, this.#abbreviation));
    } catch (error) {
      throw this.file.named(error);
    }
  }

  // Where the unit's own parts of the shared sections begin.

  get stringOffsetsBase(): number {
    const base = this.root.offset(AT.str_offsets_base);
    if (base !== undefined) return base;
    if (this.header.version < 5) return 0;
    return this.header.offsetSize === 8 ? 16 : 8;
  }

  get addressBase(): number {
    return (
      this.root.offset(AT.addr_base) ??
      this.root.offset(AT.GNU_addr_base) ??
      this.file.skeleton?.addressBase ??
      (this.header.version < 5 ? 0 : 8)
    );
  }

  /** The section that DW_FORM_addrx counts in is the binary's, of split units too. */
  addressAt(index: number): number {
    const sections = this.file.skeleton?.file.sections ?? this.file.sections;
    const size = this.header.addressSize;
    return new Cursor(sections.get("debug_addr").slice(this.addressBase + index * size, size)).address(size);
  }

  textAt(index: number): string {
    const size = this.header.offsetSize;
    const at = this.stringOffsetsBase + index * size;
    const offset = new Cursor(this.file.sections.get("debug_str_offsets").slice(at, size)).offset(size);
    return this.file.sections.get("debug_str").text(offset);
  }

  get lowPc(): number {
    return this.root.address(AT.low_pc) ?? this.file.skeleton?.lowPc ?? 0;
  }

  /** The file that dwz moved shared entries to. @throws DwarfError when it is not there */
  get alternate(): DwarfFile {
    const alternate = this.file.alternate;
    if (alternate === undefined) throw new DwarfError(damagedDwarf().noSharedFile(), this.file.sections.file);
    return alternate;
  }

  /** The entry that a value refers to. */
  target(value: Value): Entry | undefined {
    if (value.kind === "signature") return this.file.typeWithSignature(value.signature);
    if (value.kind !== "reference") return undefined;
    if (value.alternate) return this.alternate.entryAt(value.offset);
    const within =
      value.section === this.header.section && value.offset >= this.header.offset && value.offset < this.header.end;
    return within ? this.entryAt(value.offset) : this.file.entryAt(value.offset, value.section);
  }
}

/** References into the alternate file, apart from those of the file itself. */
export const alternateReference = (offset: number): number => -2 - offset;

/** How far origins are followed: a compiler's chains have three links. */
const CHAIN = 16;

/** A debugging information entry. */
export class Entry {
  readonly unit: Unit;
  readonly index: number;
  readonly abbreviation: Abbreviation;
  readonly #at: number;
  readonly #values: number;

  constructor(unit: Unit, index: number, at: number) {
    this.unit = unit;
    this.index = index;
    this.#at = at;
    const { abbreviation, values } = unit.abbreviationAt(index, at);
    this.abbreviation = abbreviation;
    this.#values = values;
  }

  get tag(): number {
    return this.abbreviation.tag;
  }

  /** Where it begins in its section. */
  get sectionOffset(): number {
    return this.unit.header.offset + this.#at;
  }

  get parent(): Entry | undefined {
    const parent = this.unit.tree.parents[this.index];
    return parent < 0 ? undefined : this.unit.entry(parent);
  }

  *children(): Iterable<Entry> {
    if (!this.abbreviation.children) return;
    const { ends } = this.unit.tree;
    for (let index = this.index + 1; index < ends[this.index]; index = ends[index]) yield this.unit.entry(index);
  }

  has(attribute: number): boolean {
    return this.abbreviation.attributes.includes(attribute);
  }

  value(attribute: number): Value | undefined {
    const { attributes, forms, constants } = this.abbreviation;
    const place = attributes.indexOf(attribute);
    if (place < 0) return undefined;
    return this.unit.decode(this.index, (bytes) => {
      const cursor = new Cursor(bytes, this.#values);
      for (let i = 0; i < place; i++) takeStep(cursor, stepOf(forms[i], this.unit.header), this.unit.header);
      return readValue(this.unit, cursor, forms[place], constants[place]);
    });
  }

  text(attribute: number): string | undefined {
    const value = this.value(attribute);
    return value?.kind === "text" ? value.text : undefined;
  }

  get name(): string | undefined {
    return this.text(AT.name);
  }

  flag(attribute: number): boolean {
    const value = this.value(attribute);
    return value?.kind === "flag" && value.value;
  }

  constant(attribute: number): bigint | undefined {
    const value = this.value(attribute);
    return value?.kind === "constant" ? value.value : undefined;
  }

  number(attribute: number): number | undefined {
    const value = this.constant(attribute);
    return value === undefined ? undefined : Number(value);
  }

  /** An offset into another section; DWARF 2 and 3 write it as a plain constant. */
  offset(attribute: number): number | undefined {
    const value = this.value(attribute);
    return value?.kind === "offset" ? value.value : value?.kind === "constant" ? Number(value.value) : undefined;
  }

  address(attribute: number): number | undefined {
    const value = this.value(attribute);
    return value?.kind === "address" ? value.value : undefined;
  }

  reference(attribute: number): Entry | undefined {
    const value = this.value(attribute);
    return value && this.unit.target(value);
  }

  /** This entry and what it completes: a copy's abstract form, a definition's declaration. */
  *chain(): Iterable<Entry> {
    // oxlint-disable-next-line typescript/no-this-alias
    let entry: Entry | undefined = this;
    for (let links = 0; entry !== undefined && links < CHAIN; links++) {
      yield entry;
      entry = entry.reference(AT.abstract_origin) ?? entry.reference(AT.specification);
    }
  }

  /** The last of the chain: the same for all copies of a function or variable. */
  get origin(): Entry {
    return [...this.chain()].at(-1) ?? this;
  }

  /** The nearest of the chain that has an attribute. */
  withAttribute(attribute: number): Entry | undefined {
    for (const entry of this.chain()) if (entry.has(attribute)) return entry;
    return undefined;
  }

  isType(): boolean {
    return TYPE_TAGS.has(this.tag);
  }
}

const TYPE_TAGS: ReadonlySet<number> = new Set([
  TAG.structure_type,
  TAG.class_type,
  TAG.union_type,
  TAG.enumeration_type,
  TAG.typedef,
  TAG.base_type,
  TAG.interface_type,
]);
