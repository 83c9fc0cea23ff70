// /proc/kallsyms: names and addresses of the kernel, as offsets into the file's own bytes.
//
// Kernel addresses have 16 bits set at the top; what is left fits a double exactly, so one Float64Array, sorted, is the
// index: key = address - 2^64 + 2^48. Names are made into strings only when asked for.
import { firstIndex } from "../../base/first-index.ts";
import { openSync, readSync, closeSync } from "node:fs";
import { kernelImageReasons } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

export interface KernelSymbol {
  readonly symbol: string;
  readonly offset: number;
  readonly module?: string;
}

const TOP = 0xffff_0000_0000_0000n;
/** Further than this from a symbol is not in it: the kernel's sections are no larger. */
const REACH = 16 << 20;
const EOL = 10;
const SPACE = 32;
const TAB = 9;
/** After so many searches through the text, a table of all names is worth it. */
const SEARCHES = 24;

export class Kallsyms {
  readonly #text: Buffer;
  readonly #count: number;
  readonly #keys: Float64Array;
  /** Where each name begins. */
  readonly #names: Uint32Array;
  #searches = 0;
  #table: Map<string, number> | undefined;

  private constructor(text: Buffer) {
    this.#text = text;
    // The shortest line there could be: 16 digits, a space, a letter, a space, a letter, an end.
    const limit = Math.ceil(text.length / 20);
    const keys = new Float64Array(limit);
    const names = new Uint32Array(limit);
    let count = 0;
    let sorted = 0;
    let previous = -1;
    for (let at = 0; at + 19 < text.length;) {
      // Read digits as numbers of 16 and 32 bits; the first 4 must be ffff (per-CPU offsets and zeroes are left out).
      const top = digits(text, at, 4);
      const high = digits(text, at + 4, 4);
      const low = digits(text, at + 8, 8);
      // Kinds: t T w W are code, everything else is data; all are kept.
      if (top === 0xffff) {
        const key = high * 0x1_0000_0000 + low;
        if (key >= previous && sorted === count) sorted++;
        previous = key;
        keys[count] = key;
        names[count++] = at + 19;
      }
      const end = text.indexOf(EOL, at + 19);
      if (end < 0) break;
      at = end + 1;
    }
    this.#count = count;
    if (sorted < count) sortFrom(keys, names, sorted, count);
    this.#keys = keys;
    this.#names = names;
  }

  /** Reads the file. Addresses are all zero without CAP_SYSLOG: then nothing is found. */
  static read(): Kallsyms {
    return Kallsyms.parse(readAll("/proc/kallsyms"));
  }

  static parse(text: Buffer): Kallsyms {
    return new Kallsyms(text);
  }

  /** How many symbols have an address. */
  get size(): number {
    return this.#count;
  }

  /** Why no symbol has an address, where the kernel keeps those to itself. */
  get hidden(): Reason | undefined {
    return this.#count === 0 && this.#text.length > 0 ? kernelImageReasons().addressesHidden() : undefined;
  }

  /** The first symbol of this name. */
  address(name: string): bigint | undefined {
    if (this.#table || ++this.#searches > SEARCHES) {
      const index = this.#byName().get(name);
      return index === undefined ? undefined : this.#address(index);
    }
    for (
      let at = this.#text.indexOf(` ${name}`, 17, "latin1");
      at >= 0;
      at = this.#text.indexOf(` ${name}`, at + 1, "latin1")
    ) {
      const after = this.#text[at + 1 + name.length];
      if (after !== EOL && after !== TAB && after !== undefined) continue;
      const written = this.#text.toString("latin1", at - 18, at - 2);
      const address = /^[0-9a-f]{16}$/.test(written) ? BigInt(`0x${written}`) : 0n;
      if (address >= TOP) return address;
    }
    return undefined;
  }

  /**
   * The symbol that an address lies in: the last one that begins at or before it. Of several, the first in the file.
   */
  lookup(address: bigint): KernelSymbol | undefined {
    if (address < TOP) return undefined;
    const key = Number(address - TOP);
    const keys = this.#keys;
    let index = this.#behind(key) - 1;
    if (index < 0) return undefined;
    const start = keys[index] ?? 0;
    if (key - start > REACH) return undefined;
    while (index > 0 && keys[index - 1] === start) index--;
    const module = this.#moduleAt(index);
    return { symbol: this.#nameAt(index), offset: key - start, ...(module === undefined ? {} : { module }) };
  }

  /** All symbols that begin at an address. */
  namesAt(address: bigint): readonly string[] {
    if (address < TOP) return [];
    const names: string[] = [];
    for (let i = this.#behind(Number(address - TOP)) - 1; i >= 0 && this.#address(i) === address; i--)
      names.unshift(this.#nameAt(i));
    return names;
  }

  /** Where the symbol begins that an address lies in. */
  start(address: bigint): bigint | undefined {
    const index = address < TOP ? -1 : this.#behind(Number(address - TOP)) - 1;
    return index < 0 ? undefined : this.#address(index);
  }

  /** Where the next symbol begins: behind the one that an address lies in, and all that begin with it. */
  next(address: bigint): bigint | undefined {
    if (address < TOP) return undefined;
    const index = this.#behind(Number(address - TOP));
    return index < this.#count ? this.#address(index) : undefined;
  }

  /** Index of the first symbol behind an address. */
  #behind(key: number): number {
    return firstIndex(this.#count, (i) => (this.#keys[i] ?? 0) > key);
  }

  /**
   * Names of symbols that begin outside of a range of addresses, by address. One string has them all: its slices cost
   * nothing.
   */
  namesOutside(start: bigint, end: bigint): string[] {
    const [from, to] = [Number(start - TOP), Number(end - TOP)];
    const text = this.#text.toString("latin1");
    const names: string[] = [];
    for (let i = 0; i < this.#count; i++) {
      const key = this.#keys[i];
      if (key >= from && key < to) continue;
      names.push(text.slice(this.#names[i], this.#nameEnd(i)));
    }
    return names;
  }

  /**
   * Functions that share a name with others: where each begins, in the file's order. Static ones of several files may.
   */
  sharedFunctions(): ReadonlyMap<string, readonly bigint[]> {
    const text = this.#text.toString("latin1");
    const first = new Map<string, number>();
    const shared = new Map<string, bigint[]>();
    for (let i = 0; i < this.#count; i++) {
      const start = this.#names[i] ?? 0;
      const kind = this.#text[start - 2];
      if (kind !== 0x74 && kind !== 0x54 && kind !== 0x77 && kind !== 0x57) continue; // t T w W
      const name = text.slice(start, this.#nameEnd(i));
      const known = first.get(name);
      if (known === undefined) {
        first.set(name, i);
        continue;
      }
      if (this.#keys[known] === this.#keys[i]) continue;
      const addresses = shared.get(name) ?? [this.#address(known)];
      shared.set(name, addresses);
      if (!addresses.includes(this.#address(i))) addresses.push(this.#address(i));
    }
    return shared;
  }

  #address(index: number): bigint {
    return TOP + BigInt(this.#keys[index] ?? 0);
  }

  #nameEnd(index: number): number {
    let end = this.#names[index] ?? 0;
    for (let c = this.#text[end]; c !== undefined && c !== EOL && c !== TAB; c = this.#text[++end]);
    return end;
  }

  #nameAt(index: number): string {
    return this.#text.toString("latin1", this.#names[index], this.#nameEnd(index));
  }

  #moduleAt(index: number): string | undefined {
    const text = this.#text;
    const at = this.#nameEnd(index);
    if (text[at] !== TAB) return undefined;
    return text.toString("latin1", at + 2, text.indexOf(0x5d, at));
  }

  #byName(): Map<string, number> {
    if (this.#table) return this.#table;
    const table = new Map<string, number>();
    for (let i = 0; i < this.#count; i++) {
      const name = this.#nameAt(i);
      if (!table.has(name)) table.set(name, i);
    }
    return (this.#table = table);
  }
}

function digits(text: Buffer, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const c = text[i] ?? SPACE;
    // "0".."9" are 0x30.., "a".."f" are 0x61..: the low four bits, and nine more for letters.
    value = value * 16 + (c & 15) + (c >> 6) * 9;
  }
  return value;
}

/**
 * Sorts a tail that is out of order (modules come after the kernel proper, each in its own order) into the whole,
 * stably.
 */
function sortFrom(keys: Float64Array, names: Uint32Array, sorted: number, count: number): void {
  const tailKeys = keys.slice(sorted, count);
  const tailNames = names.slice(sorted, count);
  const order = new Uint32Array(count - sorted).map((_, i) => i);
  order.sort((a, b) => (tailKeys[a] ?? 0) - (tailKeys[b] ?? 0) || a - b);
  let left = sorted - 1;
  let right = order.length - 1;
  for (let to = count - 1; right >= 0; to--) {
    const from = order[right] ?? 0;
    if (left >= 0 && (keys[left] ?? 0) > (tailKeys[from] ?? 0)) {
      keys[to] = keys[left] ?? 0;
      names[to] = names[left--] ?? 0;
    } else {
      keys[to] = tailKeys[from] ?? 0;
      names[to] = tailNames[from] ?? 0;
      right--;
    }
  }
}

/** Files of /proc have no size: read until they end, into memory that grows by doubling. */
function readAll(path: string): Buffer {
  const fd = openSync(path, "r");
  try {
    let buffer = Buffer.allocUnsafeSlow(8 << 20);
    let length = 0;
    for (;;) {
      if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const got = readSync(fd, buffer, length, buffer.length - length, null);
      if (got === 0) return buffer.subarray(0, length);
      length += got;
    }
  } finally {
    closeSync(fd);
  }
}
