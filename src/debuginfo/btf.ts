// The kernel's type format (BTF): https://docs.kernel.org/bpf/btf.html. Bytes in, types out.
//
// The running kernel's BTF is over 5 MB with 100 000 types, and start-up is everything: opening it is one pass over the
// records that notes where each begins. Names are found by searching the string section's bytes; types are decoded when
// asked.

import { firstIndex } from "../base/first-index.ts";
import { DamageError } from "./damage.ts";
import { RecordIndex, StringIndex } from "./name-index.ts";
import { damagedBtf } from "../messages/on-demand.ts";
import type { Reason } from "../base/failure.ts";

/** What BTF_KIND_… numbers are called here; the index is the number. */
const KINDS = [
  "void",
  "int",
  "pointer",
  "array",
  "struct",
  "union",
  "enum",
  "forward",
  "typedef",
  "volatile",
  "const",
  "restrict",
  "function",
  "function-prototype",
  "variable",
  "data-section",
  "float",
  "declaration-tag",
  "type-tag",
  "enum64",
] as const;

export type BtfKind = (typeof KINDS)[number];

export interface BtfMember {
  readonly name: string;
  readonly type: number;
  /** Bits from the start of the struct. */
  readonly bitOffset: number;
  /** 0 unless the member is a bit-field. */
  readonly bitWidth: number;
}
export interface BtfParameter {
  readonly name: string;
  readonly type: number;
}

export interface BtfConstant {
  readonly name: string;
  readonly value: bigint;
}

/**
 * One type record. Members and constants are decoded when first read. Other types are referred to by id; id 0 is void.
 */
export type BtfType =
  | { readonly kind: "void" }
  | {
      readonly kind: "int";
      readonly name: string;
      readonly size: number;
      readonly signed: boolean;
      readonly boolean: boolean;
      /** The value's bits in the integer: differs from size only for bit-fields of old compilers. */
      readonly bits: number;
      readonly bitOffset: number;
    }
  | { readonly kind: "float"; readonly name: string; readonly size: number }
  | { readonly kind: "pointer"; readonly type: number }
  | {
      readonly kind: "typedef" | "volatile" | "const" | "restrict" | "type-tag";
      readonly name: string;
      readonly type: number;
    }
  | { readonly kind: "array"; readonly element: number; readonly length: number }
  | {
      readonly kind: "struct" | "union";
      readonly name: string;
      readonly size: number;
      readonly members: readonly BtfMember[];
    }
  | { readonly kind: "forward"; readonly name: string; readonly union: boolean }
  | {
      readonly kind: "enum" | "enum64";
      readonly name: string;
      readonly size: number;
      readonly signed: boolean;
      readonly constants: readonly BtfConstant[];
    }
  /** `type` is the prototype. */
  | { readonly kind: "function"; readonly name: string; readonly type: number; readonly linkage: number }
  /** A last parameter of type 0 without a name is `…`. */
  | { readonly kind: "function-prototype"; readonly result: number; readonly parameters: readonly BtfParameter[] }
  | { readonly kind: "variable"; readonly name: string; readonly type: number; readonly linkage: number }
  | {
      readonly kind: "data-section";
      readonly name: string;
      readonly size: number;
      readonly variables: readonly { readonly type: number; readonly offset: number; readonly size: number }[];
    }
  /** `component` is the tagged member or parameter, -1 for the whole. */
  | { readonly kind: "declaration-tag"; readonly name: string; readonly type: number; readonly component: number };

/** The bytes are not BTF, or are damaged. */
export class BtfError extends DamageError {
  constructor(what: Reason) {
    super("BTF", what);
    this.name = "BtfError";
  }
}

const MAGIC = 0xeb9f;
/** After so many searches through the bytes, an index of all names (some 20 ms for a kernel) is worth it. */
const SEARCHES = 24;
/** Modifiers and typedefs that are followed before a chain counts as a cycle. */
const CHAIN_LIMIT = 64;

const KIND_INT = 1,
  KIND_ARRAY = 3,
  KIND_STRUCT = 4,
  KIND_UNION = 5,
  KIND_ENUM = 6,
  KIND_PROTOTYPE = 13,
  KIND_VARIABLE = 14,
  KIND_DATA_SECTION = 15,
  KIND_DECLARATION_TAG = 17,
  KIND_ENUM64 = 19;

/** Words (of 4 bytes) that follow a record's three: by kind, a fixed number and some for each of `vlen`. */
const FIXED_WORDS = new Uint8Array(32);
const WORDS_EACH = new Uint8Array(32);
FIXED_WORDS[KIND_INT] = 1;
FIXED_WORDS[KIND_ARRAY] = 3;
FIXED_WORDS[KIND_VARIABLE] = 1;
FIXED_WORDS[KIND_DECLARATION_TAG] = 1;
WORDS_EACH[KIND_STRUCT] = WORDS_EACH[KIND_UNION] = WORDS_EACH[KIND_DATA_SECTION] = WORDS_EACH[KIND_ENUM64] = 3;
WORDS_EACH[KIND_ENUM] = WORDS_EACH[KIND_PROTOTYPE] = 2;

/** What it takes a pass over BTF to know, as numbers that can be kept for the next time. */
export interface BtfIndex {
  /** Bytes of the type section and of the string section that it is of. */
  readonly typeBytes: number;
  readonly stringBytes: number;
  readonly records: Uint32Array;
  /** The tables of name-index.ts. */
  readonly strings: Uint32Array;
  readonly names: Uint32Array;
  readonly next: Uint32Array;
}

export class Btf {
  /** The BTF that this one extends (a module's extends the kernel's). */
  readonly base: Btf | undefined;
  /** First id that is this BTF's own: 1, or the base's `end`. */
  readonly start: number;
  /** One past the last id. */
  readonly end: number;
  /** The type section as words. */
  readonly #words: Uint32Array;
  /** Word index of each own record; [id - start]. */
  readonly #records: Uint32Array;
  readonly #strings: Buffer;
  /** Offset of #strings in the strings of base and this together. */
  readonly #stringBase: number;
  #text: string | undefined;
  #named = 0;
  #searches = 0;
  #index: { readonly strings: StringIndex; readonly records: RecordIndex } | undefined;
  readonly #found = new Map<string, readonly number[]>();

  /** `known`: what `index()` gave for the same bytes. @throws BtfError */
  constructor(bytes: Uint8Array, base?: Btf, known?: BtfIndex) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 24) throw new BtfError(damagedBtf().tooShort());
    const magic = view.getUint16(0, true);
    if (magic !== MAGIC) {
      throw new BtfError(magic === 0x9feb ? damagedBtf().bigEndian() : damagedBtf().magic());
    }
    const header = view.getUint32(4, true);
    const typeOffset = view.getUint32(8, true);
    const typeLength = view.getUint32(12, true);
    const stringOffset = view.getUint32(16, true);
    const stringLength = view.getUint32(20, true);
    if (
      header < 24 ||
      header + typeOffset + typeLength > bytes.length ||
      header + stringOffset + stringLength > bytes.length
    ) {
      throw new BtfError(damagedBtf().sectionOutside());
    }
    if (typeLength % 4 !== 0) throw new BtfError(damagedBtf().typesNotAligned());

    const typesAt = bytes.byteOffset + header + typeOffset;
    this.#words =
      typesAt % 4 === 0
        ? new Uint32Array(bytes.buffer, typesAt, typeLength / 4)
        : new Uint32Array(bytes.slice(header + typeOffset, header + typeOffset + typeLength).buffer);
    this.#strings = Buffer.from(bytes.buffer, bytes.byteOffset + header + stringOffset, stringLength);
    if (stringLength > 0 && (this.#strings[stringLength - 1] !== 0 || (base === undefined && this.#strings[0] !== 0))) {
      throw new BtfError(damagedBtf().textsNotBounded());
    }
    this.base = base;
    this.start = base?.end ?? 1;
    this.#stringBase = base === undefined ? 0 : base.#stringBase + base.#strings.length;

    if (known?.typeBytes === typeLength && known.stringBytes === stringLength) {
      this.#records = known.records;
      this.#index = {
        strings: new StringIndex(this.#strings, known.strings),
        records: new RecordIndex(this.#words, known.records, { table: known.names, next: known.next }),
      };
    } else {
      const records = new Uint32Array(Math.floor(this.#words.length / 3));
      const count = scanRecords(this.#words, records);
      if (count < 0) throw new BtfError(damagedBtf().unknownKind());
      this.#records = records.subarray(0, count);
    }
    this.end = this.start + this.#records.length;
  }

  /** For opening the same bytes another time: makes an index of all names, some 20 ms for a kernel. */
  index(): BtfIndex {
    const { strings, records } = this.#names();
    return {
      typeBytes: this.#words.byteLength,
      stringBytes: this.#strings.length,
      records: this.#records,
      strings: strings.table,
      names: records.table,
      next: records.next,
    };
  }

  #names(): { readonly strings: StringIndex; readonly records: RecordIndex } {
    return (this.#index ??= {
      strings: new StringIndex(this.#strings),
      records: new RecordIndex(this.#words, this.#records),
    });
  }

  /** @throws BtfError when there is no such id */
  kind(id: number): BtfKind {
    if (id === 0) return "void";
    const owner = this.#owner(id);
    return KINDS[(owner.#words[owner.#records[id - owner.start] + 1] >>> 24) & 0x1f];
  }

  /** The type's own name; "" when it has none. */
  name(id: number): string {
    if (id === 0) return "void";
    const owner = this.#owner(id);
    return this.#string(owner.#words[owner.#records[id - owner.start]]);
  }

  /** The id of the first type of this name and one of these kinds. */
  find(name: string, ...kinds: readonly BtfKind[]): number | undefined {
    return this.findAll(name).find((id) => kinds.includes(this.kind(id)));
  }

  /** All ids that have this name, the base's first. */
  findAll(name: string): readonly number[] {
    if (name === "") return [];
    let ids = this.#found.get(name);
    if (ids === undefined) {
      const inherited = this.base?.findAll(name) ?? [];
      const offset = this.stringOffset(name);
      ids = offset === undefined ? inherited : [...inherited, ...this.#withName(offset)];
      this.#found.set(name, ids);
    }
    return ids;
  }

  /** Ids of one kind; with a prefix, those whose names begin with it. Own types only, unless `inherited`. */
  *ids(kind: BtfKind, options: { readonly prefix?: string; readonly inherited?: boolean } = {}): Iterable<number> {
    if (options.inherited === true && this.base !== undefined) yield* this.base.ids(kind, options);
    const wanted = KINDS.indexOf(kind);
    const prefix = options.prefix === undefined ? undefined : Buffer.from(options.prefix, "latin1");
    const words = this.#words;
    const records = this.#records;
    for (let i = 0; i < records.length; i++) {
      const at = records[i];
      if (((words[at + 1] >>> 24) & 0x1f) !== wanted) continue;
      if (prefix !== undefined && !this.#startsWith(words[at], prefix)) continue;
      yield this.start + i;
    }
  }

  /** An enum constant by its name: its value, and the id of its enum. */
  enumConstant(name: string): { readonly value: bigint; readonly id: number } | undefined {
    const inherited = this.base?.enumConstant(name);
    if (inherited !== undefined) return inherited;
    const offset = this.stringOffset(name);
    if (offset === undefined) return undefined;
    const words = this.#words;
    // The word may occur anywhere in the section: only where it names a constant does it count.
    for (let word = words.indexOf(offset); word >= 0; word = words.indexOf(offset, word + 1)) {
      const record = this.#recordAt(word);
      const at = this.#records[record];
      const kind = (words[at + 1] >>> 24) & 0x1f;
      if (kind !== KIND_ENUM && kind !== KIND_ENUM64) continue;
      const each = kind === KIND_ENUM ? 2 : 3;
      if (word >= at + 3 && (word - at - 3) % each === 0) {
        return { value: enumValue(words, word, each === 3, words[at + 1] >>> 31 === 1), id: this.start + record };
      }
    }
    return undefined;
  }

  /** Decodes one type. @throws BtfError */
  type(id: number): BtfType {
    if (id === 0) return { kind: "void" };
    const owner = this.#owner(id);
    return owner === this ? this.#decode(id) : owner.type(id);
  }

  /**
   * A struct's or union's own member of this name. Undefined when it has none, and also where going through
   * `type(id).members` takes no longer than knowing: names are compared by their offsets, which takes an index of them.
   */
  member(id: number, name: string): BtfMember | undefined {
    const owner = this.#owner(id);
    const offset = owner.#index === undefined || name === "" ? undefined : owner.stringOffset(name);
    if (offset === undefined) return undefined;
    const words = owner.#words;
    const at = owner.#records[id - owner.start];
    const info = words[at + 1];
    const kind = (info >>> 24) & 0x1f;
    if (kind !== KIND_STRUCT && kind !== KIND_UNION) return undefined;
    for (let entry = at + 3; entry < at + 3 + (info & 0xffff) * 3; entry += 3) {
      if (words[entry] === offset) return owner.#memberAt(entry, info >>> 31 === 1);
    }
    return undefined;
  }

  /** Follows typedefs, const, volatile, restrict and type tags. @throws BtfError on a cycle */
  strip(id: number, also: "typedef" | "modifiers" = "typedef"): number {
    for (let step = 0; step < CHAIN_LIMIT; step++) {
      if (id === 0) return 0;
      const owner = this.#owner(id);
      const at = owner.#records[id - owner.start];
      switch (KINDS[(owner.#words[at + 1] >>> 24) & 0x1f]) {
        case "typedef":
          if (also === "modifiers") return id;
          break;
        case "const":
        case "volatile":
        case "restrict":
        case "type-tag":
          break;
        default:
          return id;
      }
      id = owner.#words[at + 2]!;
    }
    throw new BtfError(damagedBtf().typeOfItself(id));
  }

  /**
   * Where a whole string is, counted from the base's start; a module uses the base's strings too. Undefined when
   * nowhere.
   */
  stringOffset(name: string): number | undefined {
    if (this.#index !== undefined || ++this.#searches > SEARCHES) {
      const offset = this.#names().strings.find(name);
      return offset === undefined ? this.base?.stringOffset(name) : this.#stringBase + offset;
    }
    const index = this.#strings.indexOf(`\0${name}\0`, 0, "latin1");
    if (index >= 0) return this.#stringBase + index + 1;
    // A module's first string has no NUL before it.
    const first = Buffer.from(`${name}\0`, "latin1");
    if (this.#strings.subarray(0, first.length).equals(first)) return this.#stringBase;
    return this.base?.stringOffset(name);
  }

  #withName(offset: number): number[] {
    if (this.#index !== undefined) return this.#index.records.find(offset).map((index) => this.start + index);
    const words = this.#words;
    const ids: number[] = [];
    for (let word = words.indexOf(offset); word >= 0; word = words.indexOf(offset, word + 1)) {
      const index = this.#recordAt(word);
      if (this.#records[index] === word) ids.push(this.start + index);
    }
    return ids;
  }

  /** Index of the record that a word lies in. */
  #recordAt(word: number): number {
    const records = this.#records;
    return Math.max(0, firstIndex(records.length, (i) => records[i] > word) - 1);
  }

  #owner(id: number): Btf {
    if (id >= this.start && id < this.end) return this;
    if (this.base === undefined || !(id >= 1 && id < this.end)) throw new BtfError(damagedBtf().noType(id));
    return this.base.#owner(id);
  }

  #string(offset: number): string {
    if (offset < this.#stringBase) return this.base!.#string(offset);
    const from = offset - this.#stringBase;
    if (from === 0 && this.#stringBase === 0) return "";
    if (from >= this.#strings.length) throw new BtfError(damagedBtf().noText(offset));
    // A few names are cut out of the bytes; for listings the whole section becomes one string, whose slices cost
    // nothing.
    if (this.#text === undefined && ++this.#named < 1000) {
      return this.#strings.toString("latin1", from, this.#strings.indexOf(0, from));
    }
    this.#text ??= this.#strings.toString("latin1");
    return this.#text.slice(from, this.#text.indexOf("\0", from));
  }

  #startsWith(offset: number, prefix: Buffer): boolean {
    if (offset < this.#stringBase) return this.base!.#startsWith(offset, prefix);
    const from = offset - this.#stringBase;
    const strings = this.#strings;
    for (let i = 0; i < prefix.length; i++) {
      if (strings[from + i] !== prefix[i]) return false;
    }
    return true;
  }

  #decode(id: number): BtfType {
    const words = this.#words;
    const at = this.#records[id - this.start];
    const name = this.#string(words[at]);
    const info = words[at + 1];
    const vlen = info & 0xffff;
    const flag = info >>> 31 === 1;
    const sizeOrType = words[at + 2];
    const kind = KINDS[(info >>> 24) & 0x1f];
    switch (kind) {
      case "void":
        return { kind };
      case "int": {
        const encoding = words[at + 3];
        return {
          kind,
          name,
          size: sizeOrType,
          signed: (encoding & 0x1000000) !== 0,
          boolean: (encoding & 0x4000000) !== 0,
          bits: encoding & 0xff,
          bitOffset: (encoding >>> 16) & 0xff,
        };
      }
      case "float":
        return { kind, name, size: sizeOrType };
      case "pointer":
        return { kind, type: sizeOrType };
      case "typedef":
      case "volatile":
      case "const":
      case "restrict":
      case "type-tag":
        return { kind, name, type: sizeOrType };
      case "array":
        return { kind, element: words[at + 3], length: words[at + 5] };
      case "forward":
        return { kind, name, union: flag };
      case "function":
        return { kind, name, type: sizeOrType, linkage: vlen };
      case "variable":
        return { kind, name, type: sizeOrType, linkage: words[at + 3] };
      case "declaration-tag":
        return { kind, name, type: sizeOrType, component: words[at + 3] | 0 };
      case "struct":
      case "union": {
        let members: readonly BtfMember[] | undefined;
        const decode = (): readonly BtfMember[] => this.#members(at, vlen, flag);
        return {
          kind,
          name,
          size: sizeOrType,
          get members() {
            return (members ??= decode());
          },
        };
      }
      case "enum":
      case "enum64": {
        let constants: readonly BtfConstant[] | undefined;
        const decode = (): readonly BtfConstant[] => this.#constants(at, vlen, kind === "enum64", flag);
        return {
          kind,
          name,
          size: sizeOrType,
          signed: flag,
          get constants() {
            return (constants ??= decode());
          },
        };
      }
      case "function-prototype": {
        const parameters: BtfParameter[] = [];
        for (let entry = at + 3; entry < at + 3 + vlen * 2; entry += 2) {
          parameters.push({ name: this.#string(words[entry]), type: words[entry + 1] });
        }
        return { kind, result: sizeOrType, parameters };
      }
      case "data-section": {
        const variables: { type: number; offset: number; size: number }[] = [];
        for (let entry = at + 3; entry < at + 3 + vlen * 3; entry += 3) {
          variables.push({ type: words[entry], offset: words[entry + 1], size: words[entry + 2] });
        }
        return { kind, name, size: sizeOrType, variables };
      }
    }
  }

  #members(at: number, count: number, bitFields: boolean): readonly BtfMember[] {
    const members: BtfMember[] = [];
    for (let entry = at + 3; entry < at + 3 + count * 3; entry += 3) members.push(this.#memberAt(entry, bitFields));
    return members;
  }

  #memberAt(entry: number, bitFields: boolean): BtfMember {
    const words = this.#words;
    const place = words[entry + 2];
    return {
      name: this.#string(words[entry]),
      type: words[entry + 1],
      bitOffset: bitFields ? place & 0xffffff : place,
      bitWidth: bitFields ? place >>> 24 : 0,
    };
  }

  #constants(at: number, count: number, wide: boolean, signed: boolean): readonly BtfConstant[] {
    const words = this.#words;
    const constants: BtfConstant[] = [];
    for (let i = 0, entry = at + 3; i < count; i++, entry += wide ? 3 : 2) {
      constants.push({ name: this.#string(words[entry]), value: enumValue(words, entry, wide, signed) });
    }
    return constants;
  }
}

/**
 * Notes where each record begins. Returns their number, or -1 when the section is damaged. Apart from the class, and
 * this small, so that the engine optimises it within the first thousands of its rounds.
 */
function scanRecords(words: Uint32Array, records: Uint32Array): number {
  const total = words.length;
  let count = 0;
  let at = 0;
  while (at + 3 <= total) {
    const info = words[at + 1];
    const kind = (info >>> 24) & 0x1f;
    if (kind === 0 || kind >= KINDS.length) return -1;
    records[count++] = at;
    at += 3 + FIXED_WORDS[kind] + WORDS_EACH[kind] * (info & 0xffff);
  }
  return at === total ? count : -1;
}

function enumValue(words: Uint32Array, entry: number, wide: boolean, signed: boolean): bigint {
  const low = words[entry + 1];
  if (!wide) return BigInt(signed ? low | 0 : low);
  const value = (BigInt(words[entry + 2]) << 32n) | BigInt(low);
  return signed ? BigInt.asIntN(64, value) : value;
}
