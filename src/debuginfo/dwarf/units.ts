// Units (DWARF 5, section 7.5.1) and the entries in them. A unit is read as a whole when somebody looks into it: one pass finds
// where its entries begin and how they nest, in typed arrays; values are decoded one by one when asked for.
import { type Abbreviation, readAbbreviations } from "./abbreviations.ts";
import { AT, FORM, TAG, UNIT } from "./constants.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import { stepOf, stepsOver, takeStep, type Encoding } from "./forms.ts";
import type { DwarfSections, SectionData } from "./sections.ts";

export type UnitSection = "debug_info" | "debug_types";

export interface UnitHeader extends Encoding {
  readonly section: UnitSection;
  /** Where it begins, where its first entry does, and where it ends, in its section. */
  readonly offset: number;
  readonly first: number;
  readonly end: number;
  readonly type: number;
  readonly abbreviations: number;
  /** Of type units: the signature, and where in the unit the type is. */
  readonly signature?: bigint;
  readonly typeOffset?: number;
  /** Of skeleton and split units. */
  readonly dwoId?: bigint;
}

export type Value =
  | { readonly kind: "address"; readonly value: number }
  /** Exact; `signed` where the form says so. */
  | { readonly kind: "constant"; readonly value: bigint; readonly signed: boolean; readonly bytes: number }
  | { readonly kind: "flag"; readonly value: boolean }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "block"; readonly bytes: Buffer }
  | { readonly kind: "offset"; readonly value: number }
  | { readonly kind: "range-list" | "location-list"; readonly index: number }
  /** Within the section of this file, or that of the alternate one. */
  | { readonly kind: "reference"; readonly offset: number; readonly alternate: boolean; readonly section: UnitSection }
  | { readonly kind: "signature"; readonly signature: bigint };

/** Bytes of a unit in which its own entry usually ends. */
const BEGINNING = 1024;

/** Bytes of units that are kept decoded. */
const KEPT = 24 << 20;

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

  headers(section: UnitSection = "debug_info"): readonly UnitHeader[] {
    let headers = this.#headers.get(section);
    if (headers === undefined) {
      headers = [...unitHeaders(this.sections, section)].map((header) => (section === "debug_info" && this.#single.get(header.offset)) || header);
      this.#headers.set(section, headers);
    }
    return headers;
  }

  /** The unit that begins at an offset, without the others being looked at. */
  headerStarting(offset: number): UnitHeader {
    if (this.#headers.has("debug_info")) return this.headerAt(offset);
    let header = this.#single.get(offset);
    if (header === undefined) this.#single.set(offset, (header = headerFrom(this.sections.get("debug_info"), offset, "debug_info")));
    return header;
  }

  /** The unit that holds an offset. */
  headerAt(offset: number, section: UnitSection = "debug_info"): UnitHeader {
    const headers = this.headers(section);
    let low = 0;
    let high = headers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (headers[middle].offset <= offset) low = middle + 1;
      else high = middle;
    }
    const header = headers[low - 1];
    if (header === undefined || offset >= header.end) throw new DwarfError(`no unit holds 0x${offset.toString(16)}`);
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

  entryAt(offset: number, section: UnitSection = "debug_info"): Entry {
    return this.unit(this.headerAt(offset, section)).entryAt(offset);
  }

  /** The type that a type unit describes. */
  typeWithSignature(signature: bigint): Entry | undefined {
    if (this.#signatures === undefined) {
      this.#signatures = new Map();
      for (const section of ["debug_info", "debug_types"] as const) {
        for (const header of this.headers(section)) {
          if (header.signature !== undefined && header.typeOffset !== undefined) this.#signatures.set(header.signature, header);
        }
      }
    }
    const header = this.#signatures.get(signature);
    return header === undefined ? this.elsewhere?.(signature) : this.unit(header).entryAt(header.offset + header.typeOffset!);
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

const HEADER_LIMIT = 48;

function* unitHeaders(sections: DwarfSections, section: UnitSection): Iterable<UnitHeader> {
  const data = sections.find(section);
  if (data === undefined) return;
  const room = Buffer.allocUnsafe(HEADER_LIMIT);
  for (let offset = 0; offset < data.size;) {
    const header = headerFrom(data, offset, section, room);
    // Linkers pad with zeroes.
    if (header.end > header.first && header.version !== 0) yield header;
    offset = header.end;
  }
}

function headerFrom(data: SectionData, offset: number, section: UnitSection, room?: Buffer): UnitHeader {
  const header = readUnitHeader(new Cursor(data.slice(offset, Math.min(HEADER_LIMIT, data.size - offset), room)), offset, section);
  if (header.end > data.size) throw new DwarfError(`a unit ends behind .${section}`);
  return header;
}

/** `cursor` stands at the header, `offset` is where that is in the section. */
export function readUnitHeader(cursor: Cursor, offset: number, section: UnitSection): UnitHeader {
  const start = cursor.at;
  const { length, offsetSize } = cursor.unitLength();
  const end = offset + cursor.at - start + length;
  const empty = { section, offset, first: end, end, version: 0, type: UNIT.compile, addressSize: 8, offsetSize, abbreviations: 0 };
  if (length < 4 + offsetSize) return empty;
  const version = cursor.u16();
  if (version < 2 || version > 5) throw new DwarfError(`version ${version} of DWARF is not understood`);
  let type: number = section === "debug_types" ? UNIT.type : UNIT.compile;
  let addressSize: number;
  let abbreviations: number;
  if (version >= 5) {
    type = cursor.u8();
    addressSize = cursor.u8();
    abbreviations = cursor.offset(offsetSize);
  } else {
    abbreviations = cursor.offset(offsetSize);
    addressSize = cursor.u8();
  }
  const base = { section, offset, end, version, type, addressSize, offsetSize, abbreviations };
  if (type === UNIT.type || type === UNIT.split_type) {
    const signature = cursor.u64Exact();
    return { ...base, signature, typeOffset: cursor.offset(offsetSize), first: offset + cursor.at - start };
  }
  const dwoId = version >= 5 && (type === UNIT.skeleton || type === UNIT.split_compile) ? cursor.u64Exact() : undefined;
  return { ...base, ...(dwoId !== undefined && { dwoId }), first: offset + cursor.at - start };
}

interface Tree {
  /** Where each entry begins, from the unit's beginning; in order. */
  readonly offsets: Uint32Array;
  /** Index of the entry it is in; the root's is -1. */
  readonly parents: Int32Array;
  /** Index of the first entry behind it and everything in it. */
  readonly ends: Int32Array;
  readonly codes: Uint32Array;
  readonly count: number;
}

export class Unit {
  readonly file: DwarfFile;
  readonly header: UnitHeader;
  #bytes: Buffer | undefined;
  /** Its first bytes, as long as nobody asked for the others. */
  #beginning: Buffer | undefined;
  readonly #abbreviation: (code: number) => Abbreviation;
  readonly #entries = new Map<number, Entry>();
  #tree: Tree | undefined;
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
    if (index > 0 || this.#bytes !== undefined) return read(this.bytes);
    this.#beginning ??= this.#read(BEGINNING);
    try {
      return read(this.#beginning);
    } catch (error) {
      if (!(error instanceof DwarfError)) throw error;
      return read(this.bytes);
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
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (offsets[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    if (low >= count || offsets[low] !== wanted) throw new DwarfError(`no entry begins at 0x${offset.toString(16)}`);
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

  /** Where an entry's reference leads, without an object made: an offset of the section, or see `alternateReference`; -1. */
  referenceOf(index: number, attribute: number): number {
    const { forms, attributes, constants } = this.#abbreviation(this.tree.codes[index]);
    const place = attributes.indexOf(attribute);
    if (place < 0) return -1;
    const cursor = new Cursor(this.bytes, this.tree.offsets[index]);
    cursor.skipLeb();
    for (let i = 0; i < place; i++) takeStep(cursor, stepOf(forms[i], this.header), this.header);
    if (forms[place] === FORM.ref4) return this.header.offset + cursor.u32();
    const value = this.read(cursor, forms[place], constants[place]);
    if (value.kind !== "reference") return -1;
    return value.alternate ? alternateReference(value.offset) : value.offset;
  }

  get tree(): Tree {
    return (this.#tree ??= this.#readTree());
  }

  #readTree(): Tree {
    const cursor = new Cursor(this.bytes, this.header.first - this.header.offset);
    const steps: (readonly number[] | undefined)[] = [];
    let room = Math.max(64, this.bytes.length >>> 3);
    let offsets = new Uint32Array(room);
    let parents = new Int32Array(room);
    let ends = new Int32Array(room);
    let codes = new Uint32Array(room);
    let count = 0;
    let parent = -1;
    while (cursor.at < cursor.end) {
      const at = cursor.at;
      const code = cursor.uleb();
      if (code === 0) {
        if (parent < 0) break;
        ends[parent] = count;
        parent = parents[parent];
        if (parent < 0) break;
        continue;
      }
      if (count === room) {
        room *= 2;
        const larger = new Uint32Array(room);
        larger.set(offsets);
        offsets = larger;
        parents = grown(parents, room);
        ends = grown(ends, room);
        const moreCodes = new Uint32Array(room);
        moreCodes.set(codes);
        codes = moreCodes;
      }
      const abbreviation = this.#abbreviation(code);
      offsets[count] = at;
      parents[count] = parent;
      codes[count] = code;
      const over = code < 1 << 16 ? (steps[code] ??= stepsOver(abbreviation, this.header)) : stepsOver(abbreviation, this.header);
      for (const step of over) {
        if (step >= 0) cursor.skip(step);
        else takeStep(cursor, step, this.header);
      }
      if (abbreviation.children) parent = count;
      else ends[count] = count + 1;
      count++;
      if (parent < 0) break;
    }
    // A unit that ends early.
    for (; parent >= 0; parent = parents[parent]) ends[parent] = count;
    return { offsets, parents, ends, codes, count };
  }

  // Where the unit's own parts of the shared sections begin.

  get stringOffsetsBase(): number {
    const base = this.root.offset(AT.str_offsets_base);
    if (base !== undefined) return base;
    if (this.header.version < 5) return 0;
    return this.header.offsetSize === 8 ? 16 : 8;
  }

  get addressBase(): number {
    return this.root.offset(AT.addr_base) ?? this.root.offset(AT.GNU_addr_base) ?? this.file.skeleton?.addressBase
      ?? (this.header.version < 5 ? 0 : 8);
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

  read(cursor: Cursor, form: number, constant: bigint | undefined): Value {
    const { offsetSize, addressSize } = this.header;
    const own = (offset: number): Value => {
      return { kind: "reference", offset: this.header.offset + offset, alternate: false, section: this.header.section };
    };
    const unsigned = (value: number, bytes: number): Value => ({ kind: "constant", value: BigInt(value), signed: false, bytes });
    const text = (text: string): Value => ({ kind: "text", text });
    const address = (value: number): Value => ({ kind: "address", value });
    switch (form) {
      case FORM.addr: return address(cursor.address(addressSize));
      case FORM.addrx: case FORM.GNU_addr_index: return address(this.addressAt(cursor.uleb()));
      case FORM.addrx1: return address(this.addressAt(cursor.u8()));
      case FORM.addrx2: return address(this.addressAt(cursor.u16()));
      case FORM.addrx3: return address(this.addressAt(cursor.u24()));
      case FORM.addrx4: return address(this.addressAt(cursor.u32()));
      case FORM.data1: return unsigned(cursor.u8(), 1);
      case FORM.data2: return unsigned(cursor.u16(), 2);
      case FORM.data4: return unsigned(cursor.u32(), 4);
      case FORM.data8: return { kind: "constant", value: cursor.u64Exact(), signed: false, bytes: 8 };
      case FORM.data16: return { kind: "block", bytes: cursor.take(16) };
      case FORM.udata: return { kind: "constant", value: cursor.ulebExact(), signed: false, bytes: 8 };
      case FORM.sdata: return { kind: "constant", value: cursor.slebExact(), signed: true, bytes: 8 };
      case FORM.implicit_const: return { kind: "constant", value: constant ?? 0n, signed: true, bytes: 8 };
      case FORM.flag: return { kind: "flag", value: cursor.u8() !== 0 };
      case FORM.flag_present: return { kind: "flag", value: true };
      case FORM.string: return text(cursor.text());
      case FORM.strp: return text(this.file.sections.get("debug_str").text(cursor.offset(offsetSize)));
      case FORM.line_strp: return text(this.file.sections.get("debug_line_str").text(cursor.offset(offsetSize)));
      case FORM.strx: case FORM.GNU_str_index: return text(this.textAt(cursor.uleb()));
      case FORM.strx1: return text(this.textAt(cursor.u8()));
      case FORM.strx2: return text(this.textAt(cursor.u16()));
      case FORM.strx3: return text(this.textAt(cursor.u24()));
      case FORM.strx4: return text(this.textAt(cursor.u32()));
      case FORM.strp_sup: case FORM.GNU_strp_alt: return text(this.#alternate().sections.get("debug_str").text(cursor.offset(offsetSize)));
      case FORM.block1: case FORM.block2: case FORM.block4: case FORM.block: case FORM.exprloc: {
        const length = form === FORM.block1 ? cursor.u8() : form === FORM.block2 ? cursor.u16() : form === FORM.block4 ? cursor.u32() : cursor.uleb();
        return { kind: "block", bytes: cursor.take(length) };
      }
      case FORM.sec_offset: return { kind: "offset", value: cursor.offset(offsetSize) };
      case FORM.loclistx: return { kind: "location-list", index: cursor.uleb() };
      case FORM.rnglistx: return { kind: "range-list", index: cursor.uleb() };
      case FORM.ref1: return own(cursor.u8());
      case FORM.ref2: return own(cursor.u16());
      case FORM.ref4: return own(cursor.u32());
      case FORM.ref8: return own(cursor.u64());
      case FORM.ref_udata: return own(cursor.uleb());
      case FORM.ref_addr: {
        const offset = this.header.version <= 2 ? cursor.address(addressSize) : cursor.offset(offsetSize);
        return { kind: "reference", offset, alternate: false, section: "debug_info" };
      }
      case FORM.ref_sup4: return { kind: "reference", offset: cursor.u32(), alternate: true, section: "debug_info" };
      case FORM.ref_sup8: return { kind: "reference", offset: cursor.u64(), alternate: true, section: "debug_info" };
      case FORM.GNU_ref_alt: return { kind: "reference", offset: cursor.offset(offsetSize), alternate: true, section: "debug_info" };
      case FORM.ref_sig8: return { kind: "signature", signature: cursor.u64Exact() };
      case FORM.indirect: {
        const actual = cursor.uleb();
        if (actual === FORM.indirect || actual === FORM.implicit_const) throw new DwarfError("an indirect value of an indirect form");
        return this.read(cursor, actual, undefined);
      }
      default: throw new DwarfError(`a value has the unknown form 0x${form.toString(16)}`);
    }
  }

  #alternate(): DwarfFile {
    const alternate = this.file.alternate;
    if (alternate === undefined) throw new DwarfError("it refers to a shared debug file that is not installed");
    return alternate;
  }

  /** The entry that a value refers to. */
  target(value: Value): Entry | undefined {
    if (value.kind === "signature") return this.file.typeWithSignature(value.signature);
    if (value.kind !== "reference") return undefined;
    if (value.alternate) return this.#alternate().entryAt(value.offset);
    const within = value.section === this.header.section && value.offset >= this.header.offset && value.offset < this.header.end;
    return within ? this.entryAt(value.offset) : this.file.entryAt(value.offset, value.section);
  }
}

/** References into the alternate file, apart from those of the file itself. */
export const alternateReference = (offset: number): number => -2 - offset;

function grown(array: Int32Array<ArrayBuffer>, room: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(room);
  larger.set(array);
  return larger;
}

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
      return this.unit.read(cursor, forms[place], constants[place]);
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
  TAG.structure_type, TAG.class_type, TAG.union_type, TAG.enumeration_type, TAG.typedef, TAG.base_type, TAG.interface_type,
]);
