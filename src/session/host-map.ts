// A map that lives in this process: of handlers that are captured. A table of its own rather than a Map of JavaScript's,
// since keys are bytes, and to make a text of them takes longer than the rest.
import type { IrMap } from "../compiler/ir/ir.ts";
import { aggregateLayout, aggregateWords } from "../language/aggregations/table.ts";
import { addToCopy } from "../language/aggregations/value.ts";
import { keyLayout, roundUp, sizeOf } from "../language/layout.ts";
import type { MapEntries } from "./map-entries.ts";
import { aggregateOf, type LiveMap } from "./maps.ts";

const noKey = new Uint8Array(0);
const firstEntries = 64;

export class HostMap implements LiveMap {
  readonly map: IrMap;
  readonly #most: number;
  readonly #keySize: number;
  readonly #words: number;
  readonly #lru: boolean;
  /** Its values are counts, and nothing else. */
  readonly #counts: boolean;
  /** Numbers of entries from 1 by their keys' hashes, 0 where none is; twice as many as entries at least. */
  #table = new Int32Array(firstEntries * 2);
  #keys: Uint8Array;
  #values: BigUint64Array;
  #bytes: Uint8Array;
  #view: DataView;
  /** Of each entry: whether it is there, and whether it was looked at since the hand came by. */
  #there = new Uint8Array(firstEntries);
  #seen = new Uint8Array(firstEntries);
  /** Entries that were ever there at once, and those of them that are gone. */
  #top = 0;
  #free: number[] = [];
  #count = 0;
  #refused = 0;
  /** That was found last; it may be gone since. */
  #latest = -1;
  /** Of a map that makes room by itself: the entry that is asked next whether it may go. */
  #hand = 0;

  /** `most`: entries that it has room for. */
  constructor(map: IrMap, most = map.entries) {
    this.map = map;
    this.#most = most;
    this.#lru = map.evicts === true;
    this.#keySize = keyLayout(map.keys).size;
    this.#words = map.value.kind === "aggregate" ? aggregateWords(map.value) : roundUp(sizeOf(map.value), 8) / 8;
    const { parts } = map.value.kind === "aggregate" ? aggregateLayout(map.value) : { parts: [] };
    this.#counts = parts.length === 1 && parts[0].part.kind === "count";
    this.#keys = new Uint8Array(firstEntries * this.#keySize);
    this.#values = new BigUint64Array(firstEntries * this.#words);
    this.#bytes = new Uint8Array(this.#values.buffer);
    this.#view = new DataView(this.#values.buffer);
  }

  lookup(key: Uint8Array | null): Uint8Array | undefined {
    const entry = this.#find(key ?? noKey);
    return entry < 0 ? undefined : this.#value(entry);
  }

  store(key: Uint8Array | null, value: Uint8Array, asks = false): void {
    const entry = this.#make(key ?? noKey, asks);
    if (entry < 0) return;
    const [at, size] = [entry * this.#words * 8, this.#words * 8];
    if (value.length < size) this.#bytes.fill(0, at + value.length, at + size);
    this.#bytes.set(value.length > size ? value.subarray(0, size) : value, at);
  }

  add(key: Uint8Array | null, delta: bigint): bigint {
    const entry = this.#make(key ?? noKey);
    if (entry < 0) return 0n;
    const at = entry * this.#words * 8;
    const sum = BigInt.asIntN(64, this.#view.getBigInt64(at, true) + delta);
    this.#view.setBigInt64(at, sum, true);
    return sum;
  }

  aggregate(key: Uint8Array | null, value: bigint, time?: bigint, weight?: bigint): void {
    const entry = this.#make(key ?? noKey);
    if (entry < 0) return;
    const at = entry * this.#words;
    // What is counted most: without a number of 64 bits for each event, as long as the lower half has room.
    const low = this.#counts ? this.#view.getUint32(at * 8, true) : 0xffff_ffff;
    if (low < 0xffff_ffff) this.#view.setUint32(at * 8, low + 1, true);
    else addToCopy(aggregateOf(this.map), this.#values, at, value, time, weight);
  }

  delete(key: Uint8Array | null): boolean {
    const entry = this.#find(key ?? noKey);
    if (entry < 0) return false;
    this.#remove(entry);
    return true;
  }

  length(): number {
    return this.#count;
  }

  clear(): void {
    this.#table.fill(0);
    this.#there.fill(0);
    this.#free = [];
    this.#top = this.#count = this.#hand = 0;
  }

  zero(): void {
    this.#values.fill(0n);
  }

  entries(): MapEntries {
    const all: [Uint8Array, Uint8Array][] = [];
    for (let entry = 0; entry < this.#top; entry++) {
      if (this.#there[entry] === 0) continue;
      all.push([this.#keys.slice(entry * this.#keySize, (entry + 1) * this.#keySize), this.#value(entry)]);
    }
    return all;
  }

  #value(entry: number): Uint8Array {
    return this.#bytes.slice(entry * this.#words * 8, (entry + 1) * this.#words * 8);
  }

  refused(): number {
    const count = this.#refused;
    this.#refused = 0;
    return count;
  }

  // ── the table ──

  /** FNV-1a. `from`: of bytes that lie there. */
  #hash(bytes: Uint8Array, from = 0): number {
    let hash = 0x811c9dc5;
    for (let i = from; i < from + this.#keySize; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
    return (hash ^ (hash >>> 15)) & (this.#table.length - 1);
  }

  #isAt(entry: number, key: Uint8Array): boolean {
    const at = entry * this.#keySize;
    for (let i = 0; i < this.#keySize; i++) if (this.#keys[at + i] !== key[i]) return false;
    return true;
  }

  /** -1 when there is none. */
  #find(key: Uint8Array): number {
    // Events that follow each other are alike more often than not.
    const before = this.#latest;
    if (before >= 0 && this.#there[before] === 1 && this.#isAt(before, key)) {
      this.#seen[before] = 1;
      return before;
    }
    const last = this.#table.length - 1;
    for (let place = this.#hash(key); ; place = (place + 1) & last) {
      const entry = this.#table[place] - 1;
      if (entry < 0) return -1;
      if (!this.#isAt(entry, key)) continue;
      this.#seen[entry] = 1;
      this.#latest = entry;
      return entry;
    }
  }

  /** The entry of a key, of zeros when there was none; -1 where there is no room. */
  #make(key: Uint8Array, asks = false): number {
    const known = this.#find(key);
    if (known >= 0) return known;
    if (this.#count >= this.#most) {
      if (!this.#lru) {
        if (!asks) this.#refused++;
        return -1;
      }
      this.#makeRoom();
    }
    const entry = this.#free.pop() ?? this.#top++;
    if (entry >= this.#there.length) this.#grow();
    this.#there[entry] = 1;
    this.#seen[entry] = 1;
    this.#count++;
    for (let i = 0; i < this.#keySize; i++) this.#keys[entry * this.#keySize + i] = key[i];
    this.#values.fill(0n, entry * this.#words, (entry + 1) * this.#words);
    this.#enter(entry);
    return entry;
  }

  #enter(entry: number): void {
    const last = this.#table.length - 1;
    let place = this.#hash(this.#keys, entry * this.#keySize);
    while (this.#table[place] !== 0) place = (place + 1) & last;
    this.#table[place] = entry + 1;
  }

  #remove(entry: number): void {
    const last = this.#table.length - 1;
    let place = this.#hash(this.#keys, entry * this.#keySize);
    while (this.#table[place] !== entry + 1) place = (place + 1) & last;
    this.#table[place] = 0;
    this.#there[entry] = 0;
    this.#free.push(entry);
    this.#count--;
    // What stands behind it may have wanted its place.
    for (let next = (place + 1) & last; this.#table[next] !== 0; next = (next + 1) & last) {
      const moved = this.#table[next] - 1;
      this.#table[next] = 0;
      this.#enter(moved);
    }
  }

  /** The clock's way to an entry that was not used for long. */
  #makeRoom(): void {
    for (;;) {
      const entry = this.#hand;
      this.#hand = (this.#hand + 1) % this.#top;
      if (this.#there[entry] === 0) continue;
      if (this.#seen[entry] === 0) return this.#remove(entry);
      this.#seen[entry] = 0;
    }
  }

  #grow(): void {
    const entries = this.#there.length * 2;
    const larger = <T extends Uint8Array | BigUint64Array>(made: T, old: T): T => {
      (made as Uint8Array).set(old as Uint8Array);
      return made;
    };
    this.#keys = larger(new Uint8Array(entries * this.#keySize), this.#keys);
    this.#values = larger(new BigUint64Array(entries * this.#words), this.#values);
    this.#bytes = new Uint8Array(this.#values.buffer);
    this.#view = new DataView(this.#values.buffer);
    this.#seen = larger(new Uint8Array(entries), this.#seen);
    this.#table = new Int32Array(entries * 2);
    for (let entry = 0; entry < this.#there.length; entry++) if (this.#there[entry] === 1) this.#enter(entry);
    this.#there = larger(new Uint8Array(entries), this.#there);
  }
}

/**
 * The script's maps of a session that runs no code in the kernel, by their index; stack maps are left out. They have as
 * many entries as there is memory for.
 */
export function memoryMaps(maps: readonly IrMap[]): Map<number, LiveMap> {
  return new Map(
    [...maps.entries()]
      .filter(([, map]) => map.stacks === undefined)
      .map(([index, map]) => [index, new HostMap(map, Infinity)]),
  );
}
