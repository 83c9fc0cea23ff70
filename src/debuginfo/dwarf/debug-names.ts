// .debug_names (DWARF 5, section 6.1.1): names to entries. A linker puts those of all units one behind the other.
import { FORM, TAG } from "./constants.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import { stepOf, takeStep, type Encoding } from "./forms.ts";
import { lastName, withoutTemplate } from "./names.ts";
import type { NameList, NameSection, Told } from "./name-section.ts";
import type { SectionData } from "./sections.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

const IDX = { compile_unit: 1, type_unit: 2, die_offset: 3 } as const;
const NONE = 0xffffffff;

const LISTS: ReadonlyMap<number, NameList> = new Map([
  [TAG.subprogram, "functions"],
  [TAG.inlined_subroutine, "functions"],
  [TAG.variable, "variables"],
  ...[TAG.structure_type, TAG.class_type, TAG.union_type, TAG.enumeration_type, TAG.typedef, TAG.base_type].map(
    (tag) => [tag, "types"] as const,
  ),
]);

export class DebugNames implements NameSection {
  readonly units: ReadonlySet<number>;
  /** gdb's own writer leaves out what has no body, and names within scopes are whole. */
  readonly inlined: boolean;
  readonly #tables: readonly Table[];
  readonly #texts: SectionData;

  /** @throws DwarfError when it is damaged */
  constructor(bytes: Buffer, texts: SectionData) {
    const tables: Table[] = [];
    const cursor = new Cursor(bytes);
    while (cursor.at < cursor.end) tables.push(new Table(cursor, texts));
    this.#tables = tables;
    this.#texts = texts;
    this.units = new Set(tables.flatMap(({ units }) => units));
    this.inlined = tables.every(({ augmentation }) => !augmentation.startsWith("GDB"));
  }

  *find(list: NameList, name: string): Iterable<Told> {
    // Names stand alone there, with the arguments of templates; whoever asks compares the scopes around.
    const names = this.inlined ? new Set([name, lastName(name), withoutTemplate(lastName(name))]) : new Set([name]);
    for (const table of this.#tables) {
      for (const each of names) yield* table.find(list, each);
    }
  }

  mayMeanMore(name: string): boolean {
    const texts = this.#texts.whole;
    const within = (text: string): boolean => texts.indexOf(text) >= 0;
    // Instances of a template are under their whole names.
    if (this.inlined) return within(`${withoutTemplate(lastName(name))}<`);
    return within(`::${name}\0`) || within(`${name}<`) || within(`${name}(`);
  }
}

interface Shape {
  readonly tag: number;
  readonly attributes: readonly (readonly [index: number, form: number])[];
}

/** One index; the cursor moves behind it. */
class Table {
  readonly units: readonly number[];
  readonly augmentation: string;
  readonly #bytes: Buffer;
  readonly #texts: SectionData;
  readonly #encoding: Encoding;
  readonly #typeUnits: readonly number[];
  readonly #buckets: number;
  readonly #bucketCount: number;
  readonly #hashes: number;
  readonly #nameCount: number;
  readonly #names: number;
  readonly #entries: number;
  readonly #pool: number;
  readonly #end: number;
  readonly #shapes = new Map<number, Shape>();

  constructor(cursor: Cursor, texts: SectionData) {
    this.#bytes = cursor.bytes;
    this.#texts = texts;
    const { length, offsetSize } = cursor.unitLength();
    const end = (this.#end = cursor.at + length);
    if (end > cursor.end) throw new DwarfError(damagedDwarf().namesTooShort());
    const version = cursor.u16();
    if (version !== 5) throw new DwarfError(damagedDwarf().namesVersion(version));
    cursor.u16();
    this.#encoding = { version: 5, addressSize: 8, offsetSize };
    const [units, localTypes, foreignTypes, buckets, names, shapes, augmentation] = Array.from({ length: 7 }, () =>
      cursor.u32(),
    );
    this.augmentation = cursor.take(augmentation).toString("latin1");
    cursor.skip((4 - (augmentation % 4)) % 4);
    const list = (count: number): number[] => {
      if (count * offsetSize > end - cursor.at) throw new DwarfError(damagedDwarf().namesTooShort());
      return Array.from({ length: count }, () => cursor.offset(offsetSize));
    };
    this.units = list(units);
    this.#typeUnits = list(localTypes);
    cursor.skip(8 * foreignTypes);
    this.#bucketCount = buckets;
    this.#nameCount = names;
    this.#buckets = cursor.skip(4 * buckets);
    this.#hashes = cursor.skip(buckets > 0 ? 4 * names : 0);
    this.#names = cursor.skip(offsetSize * names);
    this.#entries = cursor.skip(offsetSize * names);
    const shapesEnd = cursor.at + shapes;
    while (cursor.at < shapesEnd) {
      const code = cursor.uleb();
      if (code === 0) break;
      const tag = cursor.uleb();
      const attributes: [number, number][] = [];
      for (let index = cursor.uleb(), form = cursor.uleb(); index !== 0; index = cursor.uleb(), form = cursor.uleb())
        attributes.push([index, form]);
      this.#shapes.set(code, { tag, attributes });
    }
    this.#pool = shapesEnd;
    cursor.at = end;
    if (shapesEnd > end) throw new DwarfError(damagedDwarf().namesTooShort());
  }

  *find(list: NameList, name: string): Iterable<Told> {
    for (const index of this.#named(name)) yield* this.#entriesOf(list, index);
  }

  *#named(name: string): Iterable<number> {
    if (this.#bucketCount === 0) {
      for (let index = 0; index < this.#nameCount; index++) if (this.#text(index) === name) yield index;
      return;
    }
    const hash = hashOf(name);
    const bucket = hash % this.#bucketCount;
    const first = this.#bytes.readUInt32LE(this.#buckets + 4 * bucket);
    if (first === 0) return;
    for (let index = first - 1; index < this.#nameCount; index++) {
      const here = this.#bytes.readUInt32LE(this.#hashes + 4 * index);
      if (here % this.#bucketCount !== bucket) return;
      if (here === hash && this.#text(index) === name) yield index;
    }
  }

  #offset(table: number, index: number): number {
    const { offsetSize } = this.#encoding;
    return new Cursor(this.#bytes, table + offsetSize * index).offset(offsetSize);
  }

  #text(index: number): string {
    return this.#texts.text(this.#offset(this.#names, index));
  }

  *#entriesOf(list: NameList, name: number): Iterable<Told> {
    const cursor = new Cursor(this.#bytes, this.#pool + this.#offset(this.#entries, name), this.#end);
    for (let code = cursor.uleb(); code !== 0; code = cursor.uleb()) {
      const shape = this.#shapes.get(code);
      if (shape === undefined) throw new DwarfError(damagedDwarf().namesUnknownShape());
      let unit: number | undefined = this.units.length === 1 ? this.units[0] : undefined;
      let entry: number | undefined;
      for (const [index, form] of shape.attributes) {
        if (index === IDX.compile_unit) unit = this.units[number(cursor, form)];
        else if (index === IDX.type_unit) unit = this.#typeUnits[number(cursor, form)];
        else if (index === IDX.die_offset) entry = number(cursor, form);
        else takeStep(cursor, stepOf(form, this.#encoding), this.#encoding);
      }
      if (unit !== undefined && LISTS.get(shape.tag) === list)
        yield { unit, ...(entry === undefined ? {} : { entry }) };
    }
  }
}

function number(cursor: Cursor, form: number): number {
  switch (form) {
    case FORM.data1:
    case FORM.ref1:
      return cursor.u8();
    case FORM.data2:
    case FORM.ref2:
      return cursor.u16();
    case FORM.data4:
    case FORM.ref4:
      return cursor.u32();
    case FORM.data8:
    case FORM.ref8:
      return cursor.u64();
    case FORM.udata:
    case FORM.ref_udata:
      return cursor.uleb();
    default:
      return NONE;
  }
}

/** Bernstein's, of the name in small letters. */
function hashOf(name: string): number {
  let hash = 5381;
  for (const byte of Buffer.from(name.toLowerCase())) hash = (Math.imul(hash, 33) + byte) >>> 0;
  return hash;
}
