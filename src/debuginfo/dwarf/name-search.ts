// Entries by name in a file that has no index: the name is searched for among the texts, the text's offset among the
// entries, and only units where it stands as a name are decoded. What is found is what an index of the whole file would
// have.
import { abbreviationsFrom, type Abbreviation } from "./abbreviations.ts";
import { NumberSearch, TextSearch } from "./byte-search.ts";
import { entriesNamedIn } from "./catalog.ts";
import { AT, FORM, TAG } from "./constants.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import type { NameList } from "./name-section.ts";
import { isNamed, qualifiedName } from "./names.ts";
import { scanFile } from "./scan-file.ts";
import { bodyAround } from "./scopes.ts";
import type { SectionData } from "./sections.ts";
import type { DwarfFile, Entry } from "./units.ts";
import type { UnitHeader, UnitSection } from "./unit-headers.ts";
import { ValuePlaces } from "./value-places.ts";

/** The part of a file's entries from which on all may as well be decoded, at least so many bytes. */
const [unitsPart, unitsLeast] = [4, 8 << 20];
/** Texts that may be meant: a short name is the end of many others. */
const textsMost = 1 << 16;
/** Entries that others may refer to from elsewhere. */
const targetsMost = 1 << 12;
/** Bytes before a value that may belong to its entry. */
const context = 256;
const sections: readonly UnitSection[] = ["debug_info", "debug_types"];

const TYPES: ReadonlySet<number> = new Set([
  TAG.structure_type,
  TAG.class_type,
  TAG.union_type,
  TAG.interface_type,
  TAG.enumeration_type,
  TAG.typedef,
  TAG.base_type,
]);
const NAMES: ReadonlySet<number> = new Set([AT.name, AT.linkage_name, AT.MIPS_linkage_name]);
const ORIGINS: ReadonlySet<number> = new Set([AT.specification, AT.abstract_origin]);
const TEXT_OFFSETS: ReadonlySet<number> = new Set([FORM.strp, FORM.line_strp, FORM.GNU_strp_alt, FORM.strp_sup]);
const CROSSING: ReadonlySet<number> = new Set([FORM.ref_addr, FORM.GNU_ref_alt, FORM.ref_sup4, FORM.ref_sup8]);

/** Too many units have the name: an index is made in less time. */
class TooMany extends Error {}

export class NameSearch {
  readonly #files: readonly DwarfFile[];
  #crosses: boolean | undefined;

  /** `alternate`: the file that dwz moved shared entries to. */
  constructor(main: DwarfFile, alternate: DwarfFile | undefined) {
    this.#files = alternate === undefined ? [main] : [main, alternate];
  }

  /**
   * The entries of a name, as an index has them; types may come twice. Returns whether these are all: false when too
   * many units have the name, or damage hides which.
   */
  *entries(list: NameList, name: string): Generator<Entry, boolean> {
    const wanted = suffixesOf(name);
    const found: Entry[] = [];
    if (wanted.length === 0) return false;
    try {
      const most = Math.max(unitsLeast, this.#files[0].sections.get("debug_info").size / unitsPart);
      const targets: Target[] = [];
      const taking = { list, name, seen: new Set<UnitHeader>(), budget: { bytes: 0, most }, found, targets };
      for (const file of this.#files) {
        for (const section of sections) {
          for (const [header, starts] of this.#unitsWith(file, section, list, wanted)) {
            this.#take({ ...taking, file, header }, starts);
            // Every unit repeats the types of its headers: whoever asks may be content with the first.
            if (list === "types") yield* found.splice(0);
          }
        }
      }
      if (list !== "types") this.#follow(taking, targets);
    } catch (error) {
      if (error instanceof DwarfError || error instanceof TooMany) return false;
      throw error;
    }
    yield* found;
    return true;
  }

  /** Adds the entries of a unit that have the name: those that begin there, or whichever the unit has. */
  #take({ file, header, list, name, seen, budget, found, targets }: Taking, starts?: ReadonlySet<number>): void {
    if (seen.has(header)) {
      if (starts === undefined) return;
    } else {
      seen.add(header);
      budget.bytes += header.end - header.offset;
      if (budget.bytes > budget.most) throw new TooMany();
    }
    for (const offset of starts ?? entriesNamedIn(scanFile(file, header.section, [header])[list], name)) {
      try {
        const entry = file.entryAt(offset, header.section);
        if (isNamed(entry, name) && (starts === undefined || counts(list, entry, name))) found.push(entry);
      } catch (error) {
        // What is damaged in one entry does not hide the others.
        if (!(error instanceof DwarfError)) throw error;
      }
    }
    if (list !== "types" && this.#crossing) targets.push(...targetsIn(file, header, list, name));
  }

  /** Units with copies of functions, or variables, whose names are elsewhere: linked as a whole, or shared by dwz. */
  #follow(taking: Omit<Taking, "file" | "header" | "targets">, first: readonly Target[]): void {
    const known = new Set<string>();
    for (let round: readonly Target[] = first; round.length > 0;) {
      const fresh = round.filter(({ file, offset }) => !known.has(`${file.id} ${offset}`));
      for (const { file, offset } of fresh) known.add(`${file.id} ${offset}`);
      if (known.size > targetsMost) throw new TooMany();
      const next: Target[] = [];
      for (const file of this.#files) {
        // Only the main file refers to the other one.
        const values = new Set(
          fresh.filter((target) => target.file === file || file === this.#files[0]).map(({ offset }) => offset),
        );
        for (const section of values.size === 0 ? [] : sections) {
          for (const header of this.#unitsReferring(file, section, taking.list, values))
            this.#take({ ...taking, file, header, targets: next });
        }
      }
      round = next;
    }
  }

  *#unitsReferring(
    file: DwarfFile,
    section: UnitSection,
    list: NameList,
    values: ReadonlySet<number>,
  ): Iterable<UnitHeader> {
    const data = file.sections.find(section);
    if (data === undefined) return;
    const search = new NumberSearch(values);
    const places = memoized(
      (header: UnitHeader) =>
        new ValuePlaces(
          tableOf(file, header),
          header,
          (shape, attribute, form) =>
            ORIGINS.has(attribute) &&
            CROSSING.has(form) &&
            (list === "variables"
              ? shape.tag === TAG.variable
              : shape.tag === TAG.subprogram || shape.tag === TAG.inlined_subroutine),
        ),
    );
    for (const { at: base, fresh, bytes } of data.pieces(context)) {
      const headers = new Set<UnitHeader>();
      search.each(bytes, fresh - base, (at) => {
        const header = headerAround(file, section, base + at);
        if (header === undefined || headers.has(header)) return;
        const known = places(header);
        if (known.loose || !isEmpty(known.at(bytes, at, header.first - base))) headers.add(header);
      });
      yield* headers;
    }
  }

  /**
   * Units of a section that have such names, some of them several times; and where their entries begin when that is all
   * to look at.
   */
  *#unitsWith(
    file: DwarfFile,
    section: UnitSection,
    list: NameList,
    wanted: readonly Buffer[],
  ): Iterable<[UnitHeader, (ReadonlySet<number> | undefined)?]> {
    const data = file.sections.find(section);
    if (data === undefined || data.size === 0) return;
    const texts = textsOf(file.sections.find("debug_str"), wanted);
    const offsets = new Set([...texts, ...textsOf(file.sections.find("debug_line_str"), wanted)]);
    if (file === this.#files[0])
      for (const other of this.#files.slice(1))
        for (const offset of textsOf(other.sections.find("debug_str"), wanted)) offsets.add(offset);
    if (offsets.size > textsMost) throw new TooMany();
    for (const header of unitsNumbering(file, section, texts)) yield [header];
    const search = new NumberSearch(offsets);
    const unitPlaces = memoized((header: UnitHeader) => placesIn(file, header, list));
    const inlineTexts = wanted.map((name) => new TextSearch(name));
    const before = context + Math.max(...wanted.map(({ length }) => length));
    const exact = list === "types" || (list === "functions" && !this.#crossing);
    for (const { at: base, fresh, bytes } of data.pieces(before)) {
      const found = new Map<UnitHeader, Set<number> | undefined>();
      // Declarations, which count where something completes them.
      const declared = new Map<UnitHeader, Set<number>>();
      const look = (at: number, kind: "texts" | "inline"): void => {
        const header = headerAround(file, section, base + at);
        if (header === undefined || (found.has(header) && found.get(header) === undefined)) return;
        const places = unitPlaces(header)[kind];
        if (places.none) return;
        if (places.loose) return void found.set(header, undefined);
        for (const { start, shape } of places.at(bytes, at, header.first - base)) {
          const into: Map<UnitHeader, Set<number> | undefined> = defines[list](shape) ? found : declared;
          into.set(header, (into.get(header) ?? new Set()).add(base + start));
        }
      };
      if (offsets.size > 0) search.each(bytes, fresh - base, (at) => look(at, "texts"));
      for (const text of inlineTexts) text.each(bytes, fresh - base, (at) => look(at, "inline"));
      for (const [header, starts] of declared) {
        if (found.has(header) && found.get(header) === undefined) continue;
        if (this.#completes(file, header, starts, unitPlaces(header)))
          found.set(header, new Set([...(found.get(header) ?? []), ...starts]));
      }
      for (const [header, starts] of [...found].sort(([a], [b]) => a.offset - b.offset))
        yield [header, exact ? starts : undefined];
    }
  }

  /** Whether something in a unit, or elsewhere, may complete one of its declarations. */
  #completes(
    file: DwarfFile,
    header: UnitHeader,
    starts: ReadonlySet<number>,
    { origins, others }: UnitPlaces,
  ): boolean {
    if (this.#crossing || !others.none) return true;
    if (origins.none) return false;
    const bytes = file.sections.get(header.section).slice(header.offset, header.end - header.offset);
    const first = header.first - header.offset;
    let found = false;
    new NumberSearch(new Set([...starts].map((start) => start - header.offset))).each(bytes, 0, (at) => {
      found ||= origins.loose || !isEmpty(origins.at(bytes, at, first));
    });
    return found;
  }

  /** Whether copies of functions may have their names in other units. */
  get #crossing(): boolean {
    return (this.#crosses ??= this.#files.some(refersAcross));
  }
}

/**
 * Where a unit's entries of a list have their names, by the text's offset or in place; and what completes others, near
 * and far.
 */
interface UnitPlaces {
  readonly texts: ValuePlaces;
  readonly inline: ValuePlaces;
  readonly origins: ValuePlaces;
  readonly others: ValuePlaces;
}

function placesIn(file: DwarfFile, header: UnitHeader, list: NameList): UnitPlaces {
  const table = tableOf(file, header);
  return {
    texts: new ValuePlaces(
      table,
      header,
      (shape, attribute, form) => NAMES.has(attribute) && TEXT_OFFSETS.has(form) && named[list](shape),
    ),
    inline: new ValuePlaces(
      table,
      header,
      (shape, attribute, form) => NAMES.has(attribute) && form === FORM.string && named[list](shape),
    ),
    origins: new ValuePlaces(table, header, (_, attribute, form) => ORIGINS.has(attribute) && form === FORM.ref4),
    others: new ValuePlaces(table, header, (_, attribute, form) => ORIGINS.has(attribute) && form !== FORM.ref4),
  };
}

/** Read anew each time: all tables together are many times what they are in the file. */
function tableOf(file: DwarfFile, header: UnitHeader): readonly Abbreviation[] {
  return file.sections.get("debug_abbrev").from(header.abbreviations, abbreviationsFrom);
}

interface Target {
  readonly file: DwarfFile;
  readonly offset: number;
}

interface Taking {
  readonly file: DwarfFile;
  readonly header: UnitHeader;
  readonly list: NameList;
  readonly name: string;
  readonly seen: Set<UnitHeader>;
  readonly budget: { bytes: number; readonly most: number };
  readonly found: Entry[];
  readonly targets: Target[];
}

/** Which shapes have names that count for a list: as scan.ts has it. */
const named: Readonly<Record<NameList, (shape: Abbreviation) => boolean>> = {
  functions: ({ tag }) => tag === TAG.subprogram,
  variables: ({ tag }) => tag === TAG.variable || tag === TAG.member,
  types: ({ tag, attributes }) => TYPES.has(tag) && !attributes.includes(AT.declaration),
};

/** And of these, which are what is listed, and not just declared. */
const defines: Readonly<Record<NameList, (shape: Abbreviation) => boolean>> = {
  functions: ({ attributes }) =>
    attributes.includes(AT.low_pc) || attributes.includes(AT.ranges) || attributes.includes(AT.inline),
  variables: ({ attributes }) => attributes.includes(AT.location) || attributes.includes(AT.const_value),
  types: () => true,
};

/**
 * Whether an index would have an entry: what is within a function is not listed, but for its own code, and types go by
 * their whole names.
 */
function counts(list: NameList, entry: Entry, name: string): boolean {
  if (list === "types" && entry.name !== name && qualifiedName(entry) !== name) return false;
  if (list === "functions" && defines.functions(entry.abbreviation)) return true;
  return entry.parent === undefined || bodyAround(entry.parent) === undefined;
}

const crossingBytes: readonly Buffer[] = [...ORIGINS].flatMap((attribute) =>
  [...CROSSING].map((form) =>
    Buffer.from(form < 0x80 ? [attribute, form] : [attribute, (form & 0x7f) | 0x80, form >>> 7]),
  ),
);

/**
 * Whether some shape refers to other units for what it completes: few bytes of the tables look so, and those tables are
 * read.
 */
function refersAcross(file: DwarfFile): boolean {
  const bytes = file.sections.find("debug_abbrev")?.whole;
  if (bytes === undefined) return false;
  const tables = Float64Array.from(
    new Set(sections.flatMap((section) => file.headers(section).map(({ abbreviations }) => abbreviations))),
  ).sort();
  const refers = ({ attributes, forms }: Abbreviation): boolean =>
    attributes.some((attribute, i) => ORIGINS.has(attribute) && CROSSING.has(forms[i]));
  for (const pair of crossingBytes) {
    let next = 0;
    for (let at: number = bytes.indexOf(pair); at >= 0 && next < tables.length; at = bytes.indexOf(pair, at + 1)) {
      // The number and the tag of a shape look so as well: no attribute is behind those that has no children.
      const behind = at + pair.length;
      if (bytes[behind] === 0 && bytes[behind + 1] !== 0) continue;
      while (next < tables.length && tables[next] <= at) next++;
      if (next === 0) continue;
      if (abbreviationsFrom(new Cursor(bytes, tables[next - 1])).some(refers)) return true;
      at = (tables[next] ?? bytes.length) - 1;
    }
  }
  return false;
}

/** The texts that an entry of a name may have: all of it, or what is behind its scopes. */
function suffixesOf(name: string): readonly Buffer[] {
  const suffixes = new Set([name]);
  for (let at = name.indexOf("::"); at >= 0; at = name.indexOf("::", at + 1)) suffixes.add(name.slice(at + 2));
  suffixes.delete("");
  return [...suffixes].map((suffix) => Buffer.from(suffix));
}

/**
 * Where a name, or that of an instance of a template, is in a section of texts. A linker may have made it the end of
 * another text.
 */
function textsOf(data: SectionData | undefined, wanted: readonly Buffer[]): Set<number> {
  const found = new Set<number>();
  if (data === undefined) return found;
  const before = Math.max(...wanted.map(({ length }) => length)) + 1;
  for (const name of wanted) {
    const whole: number[] = [],
      ends: number[] = [];
    const text = new TextSearch(name);
    for (const { at: base, fresh, bytes } of data.pieces(before)) {
      text.each(bytes, fresh - base, (at) => {
        const alone = base + at === 0 || bytes[at - 1] === 0;
        if (alone) whole.push(base + at);
        else ends.push(base + at);
      });
    }
    for (const at of whole) found.add(at);
    // Of a merged text there is one only, of instances many.
    const isWhole = data.merged && whole.some((at) => data.slice(at + name.length, 1)[0] === 0);
    for (const at of ends) if (!isWhole || data.slice(at + name.length, 1)[0] !== 0) found.add(at);
  }
  return found;
}

/** Units that count texts in .debug_str_offsets, and have one of those there. */
function* unitsNumbering(file: DwarfFile, section: UnitSection, texts: ReadonlySet<number>): Iterable<UnitHeader> {
  const data = file.sections.find("debug_str_offsets");
  if (data === undefined || texts.size === 0) return;
  const places: number[] = [];
  const search = new NumberSearch(texts);
  for (const { at: base, fresh, bytes } of data.pieces(3))
    search.each(bytes, fresh - base, (at) => places.push(base + at));
  if (places.length === 0) return;
  // Each part begins with its length.
  const bytes = data.whole;
  const parts = file
    .headers(section)
    .filter(({ version }) => version >= 5)
    .map((header) => ({
      header,
      base: file.root(header).offset(AT.str_offsets_base) ?? (header.offsetSize === 8 ? 16 : 8),
    }));
  parts.sort((a, b) => a.base - b.base);
  const sorted = places.sort((a, b) => a - b);
  for (let start = 0, next = 0, part = 0; start < bytes.length && next < sorted.length;) {
    const cursor = new Cursor(bytes, start);
    const { length } = cursor.unitLength();
    const end = cursor.at + length;
    const here = sorted[next] < end;
    while (next < sorted.length && sorted[next] < end) next++;
    for (; part < parts.length && parts[part].base <= end; part++) if (here) yield parts[part].header;
    start = end;
  }
}

/** The entries of a unit with a name: what copies in other units refer to. */
function targetsIn(file: DwarfFile, header: UnitHeader, list: NameList, name: string): Target[] {
  const unit = file.unit(header);
  const found: Target[] = [];
  for (const index of unit.entriesOfShape(
    (shape) =>
      named[list](shape) && shape.attributes.some((attribute) => NAMES.has(attribute) || ORIGINS.has(attribute)),
  )) {
    const entry = unit.entry(index);
    if (isNamed(entry, name)) found.push({ file, offset: entry.sectionOffset });
  }
  return found;
}

/** The unit with an entry there; none where headers and padding are. */
function headerAround(file: DwarfFile, section: UnitSection, offset: number): UnitHeader | undefined {
  try {
    const header = file.headerAt(offset, section);
    return offset > header.first ? header : undefined;
  } catch (error) {
    if (error instanceof DwarfError) return undefined;
    throw error;
  }
}

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _ of items) return false;
  return true;
}

function memoized<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) made.set(key, (value = make(key)));
    return value;
  };
}
