// Symbols of an ELF file: by name, by address, and all of them. Nothing is decoded that is not asked for.
import { firstIndex } from "../base/first-index.ts";
import { isAscii } from "node:buffer";
import { textAt, type Elf, type Section } from "./elf.ts";

export interface ElfSymbol {
  /** Without a version: `memcpy`, not `memcpy@@GLIBC_2.14`. */
  readonly name: string;
  readonly version?: string;
  readonly address: bigint;
  /** 0 when unknown (assembly). */
  readonly size: bigint;
  readonly kind: "function" | "object";
  readonly global: boolean;
}

const SHT_SYMTAB = 2,
  SHT_DYNSYM = 11;
const SHF_EXECINSTR = 4;
const STT_OBJECT = 1,
  STT_FUNC = 2,
  STT_GNU_IFUNC = 10;
const STB_LOCAL = 0;
const VERSION_HIDDEN = 0x8000;
/**
 * Addresses are kept as doubles, with a sign, so that those of kernels are exact as well: nothing maps beyond this on
 * either side.
 */
const ADDRESS_LIMIT = 2 ** 53;
const WORD = 2 ** 32;
/** Functions that begin before an address and may still reach over it (cold parts lie within hot ones). */
const ENCLOSING = 8;

/** One symbol table. A symbol is its index in the table. */
class Table {
  readonly count: number;
  readonly #records: Buffer;
  /** The same bytes as words, to search in. */
  readonly #words: Uint32Array;
  readonly #strings: Buffer;
  /** All names in one string, once they are gone through: its slices cost little. */
  #text: string | undefined;
  readonly #wide: boolean;
  readonly #stride: number;
  /** Version index of each symbol, and the names of the indices. */
  readonly #versions: Buffer | undefined;
  readonly #versionNames: ReadonlyMap<number, string>;

  constructor(elf: Elf, section: Section) {
    this.#wide = elf.wide;
    this.#stride = elf.wide ? 24 : 16;
    const bytes = elf.content(section);
    this.count = Math.floor(bytes.length / this.#stride);
    const used = this.count * this.#stride;
    const aligned = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
    this.#records = aligned.subarray(0, used);
    this.#words = new Uint32Array(aligned.buffer, aligned.byteOffset, used / 4);
    const strings = elf.sections[section.link];
    this.#strings = strings === undefined ? Buffer.alloc(0) : elf.content(strings);
    const versions = section.type === SHT_DYNSYM ? elf.section(".gnu.version") : undefined;
    this.#versions = versions === undefined ? undefined : elf.content(versions);
    this.#versionNames = versions === undefined ? new Map() : versionNames(elf);
  }

  get bytes(): number {
    return this.#records.length + (this.#text === undefined ? 1 : 2) * this.#strings.length;
  }

  /** Defined functions and objects. */
  kind(index: number): "function" | "object" | undefined {
    const at = index * this.#stride;
    const section = this.#records.readUInt16LE(at + (this.#wide ? 6 : 14));
    if (section === 0) return undefined;
    switch (this.#records[at + (this.#wide ? 4 : 12)] & 0xf) {
      case STT_FUNC:
      case STT_GNU_IFUNC:
        return "function";
      case STT_OBJECT:
        return "object";
      default:
        return undefined;
    }
  }

  /** Its name is all that this file has of it: another one defines it. */
  isImported(index: number): boolean {
    return index > 0 && this.#records.readUInt16LE(index * this.#stride + (this.#wide ? 6 : 14)) === 0;
  }

  /** Of the upper half below zero. */
  address(index: number): number {
    const word = index * (this.#stride / 4);
    return this.#wide ? this.#words[word + 2] + (this.#words[word + 3] | 0) * WORD : this.#words[word + 1];
  }

  size(index: number): number {
    const word = index * (this.#stride / 4);
    return this.#wide ? this.#words[word + 4] + this.#words[word + 5] * WORD : this.#words[word + 2];
  }

  symbol(index: number): ElfSymbol | undefined {
    const kind = this.kind(index);
    const address = this.address(index);
    if (kind === undefined || Math.abs(address) >= ADDRESS_LIMIT) return undefined;
    const text = this.#textOf(index);
    const sign = text.indexOf("@");
    const name = sign > 0 ? text.slice(0, sign) : text;
    const version =
      sign > 0 ? text.slice(sign).replace(/^@+/, "") : this.#versionNames.get(this.#version(index) & ~VERSION_HIDDEN);
    const global = this.#records[index * this.#stride + (this.#wide ? 4 : 12)] >> 4 !== STB_LOCAL;
    const size = Math.min(this.size(index), ADDRESS_LIMIT);
    return {
      name,
      ...(version === undefined ? {} : { version }),
      address: BigInt.asUintN(64, BigInt(address)),
      size: BigInt(size),
      kind,
      global,
    };
  }

  /** The name that symbol() gives. */
  name(index: number): string {
    const text = this.#textOf(index);
    const sign = text.indexOf("@");
    return sign > 0 ? text.slice(0, sign) : text;
  }

  #textOf(index: number): string {
    const offset = this.#words[index * (this.#stride / 4)];
    const text = this.#text;
    if (text === undefined) return textAt(this.#strings, offset);
    const end = text.indexOf("\0", offset);
    return text.slice(offset, end < 0 ? text.length : end);
  }

  /** Prepares for reading all names. */
  readNames(): void {
    if (this.#text === undefined && isAscii(this.#strings)) this.#text = this.#strings.toString("latin1");
  }

  /** Not the version that programs are linked with today. */
  isOld(index: number): boolean {
    return (this.#version(index) & VERSION_HIDDEN) !== 0;
  }

  /** Symbols of a name (which ends the string, or is followed by `@VERSION`). */
  *named(name: string): Iterable<number> {
    const wanted = Buffer.from(name, "utf8");
    const offsets: number[] = [];
    for (let at = this.#strings.indexOf(wanted); at >= 0; at = this.#strings.indexOf(wanted, at + 1)) {
      const next = this.#strings[at + wanted.length];
      // A string may also be the tail of a longer one: linkers merge them.
      if (next === 0 || next === 0x40) offsets.push(at);
    }
    const step = this.#stride / 4;
    if (offsets.length <= 4) {
      for (const offset of offsets) {
        for (let word = this.#words.indexOf(offset); word >= 0; word = this.#words.indexOf(offset, word + 1)) {
          if (word % step === 0) yield word / step;
        }
      }
      return;
    }
    const set = new Set(offsets);
    for (let index = 0; index < this.count; index++) {
      if (set.has(this.#words[index * step])) yield index;
    }
  }

  /** Symbols that begin at an address. */
  *at(address: number): Iterable<number> {
    const low = ((address % WORD) + WORD) % WORD;
    const step = this.#stride / 4;
    const place = this.#wide ? 2 : 1;
    for (let word = this.#words.indexOf(low); word >= 0; word = this.#words.indexOf(low, word + 1)) {
      if (word % step !== place) continue;
      const index = (word - place) / step;
      if (this.address(index) === address) yield index;
    }
  }

  #version(index: number): number {
    const versions = this.#versions;
    return versions === undefined || index * 2 + 2 > versions.length ? 0 : versions.readUInt16LE(index * 2);
  }
}

/** The names that version definitions (.gnu.version_d) give to indices. */
function versionNames(elf: Elf): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const section = elf.section(".gnu.version_d");
  const strings = section === undefined ? undefined : elf.sections[section.link];
  if (section === undefined || strings === undefined) return names;
  const bytes = elf.content(section);
  const text = elf.content(strings);
  // Each entry says how far the next one is; none goes back, so this ends.
  for (let at = 0; at + 20 <= bytes.length;) {
    const index = bytes.readUInt16LE(at + 4);
    const first = at + bytes.readUInt32LE(at + 12);
    // Flag 1 marks the file's own name, which is no version.
    if ((bytes.readUInt16LE(at + 2) & 1) === 0 && first + 8 <= bytes.length)
      names.set(index, textAt(text, bytes.readUInt32LE(first)));
    const next = bytes.readUInt32LE(at + 16);
    if (next === 0) break;
    at += next;
  }
  return names;
}

/** All symbols of a file: `.symtab` where there is one, and `.dynsym`; with split debug info, that file's as well. */
export class ElfSymbols {
  readonly #elfs: readonly Elf[];
  #tables: readonly Table[] | undefined;
  /** Where functions begin, sorted. */
  #starts: Float64Array | undefined;
  readonly #byStart = new Map<number, ElfSymbol | undefined>();

  /** `debug` is the file's split debug info: the same addresses, more symbols. */
  constructor(elf: Elf, debug?: Elf) {
    this.#elfs = debug === undefined ? [elf] : [elf, debug];
  }

  /** What its tables take in memory: nothing before they are asked. */
  get bytes(): number {
    return (this.#tables ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * The function (or failing that, object) of a name; `name@VERSION` chooses a version. Global ones and current
   * versions first.
   */
  find(name: string): ElfSymbol | undefined {
    const sign = name.indexOf("@");
    const bare = sign > 0 ? name.slice(0, sign) : name;
    const version = sign > 0 ? name.slice(sign).replace(/^@+/, "") : undefined;
    if (bare === "") return undefined;
    let best: ElfSymbol | undefined;
    let bestRank = -1;
    for (const table of this.#all()) {
      for (const index of table.named(bare)) {
        const symbol = table.symbol(index);
        if (symbol === undefined || symbol.name !== bare || (version !== undefined && symbol.version !== version))
          continue;
        const rank = (symbol.kind === "function" ? 4 : 0) + (symbol.global ? 2 : 0) + (table.isOld(index) ? 0 : 1);
        if (rank > bestRank) {
          best = symbol;
          bestRank = rank;
        }
      }
    }
    return best;
  }

  /** The functions of a name that only their own files see: several may have the same. */
  *statics(name: string): Iterable<ElfSymbol> {
    for (const table of this.#all()) {
      for (const index of table.named(name)) {
        const symbol = table.symbol(index);
        if (symbol?.name === name && symbol.kind === "function" && !symbol.global) yield symbol;
      }
    }
  }

  /** Names of the functions that begin at an address, each once. */
  functionsStartingAt(address: bigint): readonly string[] {
    const wanted = Number(BigInt.asIntN(64, address));
    if (Math.abs(wanted) >= ADDRESS_LIMIT) return [];
    const names = new Set<string>();
    for (const table of this.#all())
      for (const index of table.at(wanted)) if (table.kind(index) === "function") names.add(table.name(index));
    names.delete("");
    return [...names];
  }

  /** Whether the file takes a symbol of this name from another one. */
  imports(name: string): boolean {
    return this.#all().some((table) => [...table.named(name)].some((index) => table.isImported(index)));
  }

  /** Every defined function and object, once. */
  [Symbol.iterator](): Iterator<ElfSymbol> {
    return this.named(() => true);
  }

  /** Those of them that have a name such as wanted. */
  *named(wanted: (name: string) => boolean): Generator<ElfSymbol> {
    const tables = this.#all();
    const seen = tables.length > 1 ? new Set<string>() : undefined;
    for (const table of tables) {
      table.readNames();
      for (let index = 0; index < table.count; index++) {
        if (table.kind(index) === undefined) continue;
        const name = table.name(index);
        if (name === "" || !wanted(name)) continue;
        if (seen !== undefined) {
          const key = `${name}@${table.address(index)}`;
          if (seen.has(key)) continue;
          seen.add(key);
        }
        const symbol = table.symbol(index);
        if (symbol !== undefined) yield symbol;
      }
    }
  }

  /** The function that a virtual address lies in, and how far from its start; undefined between functions. */
  functionAt(
    address: bigint,
  ): { readonly name: string; readonly offset: number; readonly symbol: ElfSymbol } | undefined {
    const wanted = Number(BigInt.asIntN(64, address));
    if (Math.abs(wanted) >= ADDRESS_LIMIT) return undefined;
    const starts = this.#sorted();
    const low = firstIndex(starts.length, (i) => starts[i] > wanted);
    // `low` is the first that begins behind the address.
    for (let at = low - 1; at >= 0 && at >= low - ENCLOSING; at--) {
      const symbol = this.#startingAt(starts[at]);
      if (symbol === undefined) continue;
      const offset = wanted - starts[at];
      // Assembly without sizes reaches to the next function.
      if (
        offset < Number(symbol.size) ||
        (symbol.size === 0n && at === low - 1 && this.#inOneSection(symbol.address, address))
      )
        return { name: symbol.name, offset, symbol };
    }
    return undefined;
  }

  /** Whether nothing but one section lies between: `_init` has no size, and the stubs of the PLT are behind it. */
  #inOneSection(from: bigint, to: bigint): boolean {
    const [{ sections }] = this.#elfs;
    const around = sections.find(
      ({ flags, address, size }) => (flags & SHF_EXECINSTR) !== 0 && from >= address && from < address + BigInt(size),
    );
    return around === undefined || to < around.address + BigInt(around.size);
  }

  #startingAt(start: number): ElfSymbol | undefined {
    if (this.#byStart.has(start)) return this.#byStart.get(start);
    let best: ElfSymbol | undefined;
    let bestRank = -1;
    for (const table of this.#all()) {
      for (const index of table.at(start)) {
        const symbol = table.symbol(index);
        if (symbol?.kind !== "function" || symbol.name === "") continue;
        // Of aliases, the public name with the fewest underscores in front is the one people know.
        const underscores = symbol.name.length - symbol.name.replace(/^_+/, "").length;
        const rank = (symbol.size > 0n ? 16 : 0) + (symbol.global ? 8 : 0) + Math.max(0, 7 - underscores);
        if (rank > bestRank) {
          best = symbol;
          bestRank = rank;
        }
      }
    }
    this.#byStart.set(start, best);
    return best;
  }

  #sorted(): Float64Array {
    if (this.#starts !== undefined) return this.#starts;
    const tables = this.#all();
    const all = new Float64Array(tables.reduce((sum, table) => sum + table.count, 0));
    let count = 0;
    for (const table of tables) {
      for (let index = 0; index < table.count; index++) {
        if (table.kind(index) !== "function") continue;
        const address = table.address(index);
        if (Math.abs(address) < ADDRESS_LIMIT) all[count++] = address;
      }
    }
    const sorted = all.subarray(0, count).sort();
    let unique = 0;
    for (let i = 0; i < count; i++) {
      if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[unique++] = sorted[i]!;
    }
    return (this.#starts = sorted.slice(0, unique));
  }

  #all(): readonly Table[] {
    if (this.#tables !== undefined) return this.#tables;
    const tables: Table[] = [];
    for (const elf of this.#elfs) {
      const sections = elf.sections.filter(({ type }) => type === SHT_SYMTAB || type === SHT_DYNSYM);
      // The full table comes first in file order or not; it decides.
      sections.sort((a, b) => a.type - b.type);
      for (const section of sections) tables.push(new Table(elf, section));
    }
    return (this.#tables = tables);
  }
}
