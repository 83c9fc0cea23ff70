// An aggregation by key in a table that handlers have mapped as well (compiler/layouts/shared-table.ts): read and changed
// without system calls, by the same steps as theirs.
import type { IrMap } from "../compiler/ir/ir.ts";
import { entryHead, golden, halfHead, type SharedTable, tableHead } from "../compiler/layouts/shared-table.ts";
import { InternalError } from "../base/internal-error.ts";
import type { AggregateType } from "../language/types.ts";
import { addToCopy, mergeCopies } from "../language/aggregations/value.ts";
import type { MapEntries } from "./map-entries.ts";
import { aggregateOf, type LiveMap, type SharedMemory } from "./maps.ts";

/** Handlers that are making an entry do so within this, unless what they interrupt does not get a processor. */
const mostWaits = 100;

export class SharedTableMap implements LiveMap {
  readonly map: IrMap;
  readonly #type: AggregateType;
  readonly #table: SharedTable;
  readonly #memory: SharedMemory;
  readonly #full: () => void;
  readonly #pause: () => void;

  /** `full`: an entry found no room. `pause`: lets a moment pass. */
  constructor(map: IrMap, table: SharedTable, memory: SharedMemory, full: () => void, pause: () => void) {
    this.map = map;
    this.#type = aggregateOf(map);
    this.#table = table;
    this.#memory = memory;
    this.#full = full;
    this.#pause = pause;
  }

  /** Where the half that is in use begins. */
  get #half(): number {
    return this.#halfAt(Number(Atomics.load(this.#memory.words, tableHead.current / 8)));
  }

  #halfAt(index: number): number {
    return tableHead.halves + index * this.#table.half;
  }

  #entryAt(half: number, number: number): number {
    return half + this.#table.entriesAt + (number - 1) * this.#table.entryBytes;
  }

  #word(at: number): bigint {
    return Atomics.load(this.#memory.words, at / 8);
  }

  /** Where the entries are that count. */
  *#entries(): Generator<number> {
    const { view } = this.#memory;
    if (view.byteLength === 0) return;
    const half = this.#half;
    const end = half + this.#table.entriesAt;
    for (let slot = half + halfHead.slots; slot < end; slot += 8) {
      const number = view.getUint32(slot, true);
      if (number === 0) continue;
      const entry = this.#entryAt(half, number);
      if (view.getUint32(entry + entryHead.live, true) !== 0) yield entry;
    }
  }

  /** The key's entry, or the slot where it would be. */
  #find(half: number, key: Uint8Array): { readonly entry: number } | { readonly slot: number; readonly tag: bigint } {
    const { slotBits, keySize } = this.#table;
    const { bytes } = this.#memory;
    const hash = hashOf(key.subarray(0, keySize), this.#word(tableHead.multiplier));
    const tag = hash >> 32n;
    const mask = 2 ** slotBits - 1;
    for (let index = Number(hash >> BigInt(64 - slotBits)); ; index = (index + 1) & mask) {
      const slot = half + halfHead.slots + index * 8;
      const word = this.#word(slot);
      if (word === 0n) return { slot, tag };
      if (word >> 32n !== tag) continue;
      const entry = this.#entryAt(half, Number(word & 0xffff_ffffn));
      const there = bytes.subarray(entry + entryHead.key, entry + entryHead.key + keySize);
      if (there.every((byte, i) => byte === key[i])) return { entry };
    }
  }

  #live(key: Uint8Array | null): number | undefined {
    if (key === null) throw new InternalError(`${this.map.shown} has keys`);
    if (this.#memory.view.byteLength === 0) return undefined;
    const found = this.#find(this.#half, key);
    return "entry" in found && this.#word(found.entry + entryHead.live) !== 0n ? found.entry : undefined;
  }

  /** Only this thread ever changes which half is in use. */
  #make(key: Uint8Array | null, asks = false): number | undefined {
    if (key === null) throw new InternalError(`${this.map.shown} has keys`);
    const { words, bytes } = this.#memory;
    if (words.length === 0) return undefined;
    const half = this.#half;
    let number = 0n;
    for (;;) {
      const found = this.#find(half, key);
      if ("entry" in found) {
        if (number !== 0n) Atomics.exchange(words, (half + halfHead.spare) / 8, number);
        Atomics.store(words, (found.entry + entryHead.live) / 8, 1n);
        return found.entry;
      }
      if (number === 0n) {
        if (this.#word(half + halfHead.count) >= BigInt(this.#table.entries)) {
          // The last entry may have become this key's since the slot was looked at.
          if (this.#word(found.slot) !== 0n) continue;
          break;
        }
        number =
          Atomics.exchange(words, (half + halfHead.spare) / 8, 0n) ||
          Atomics.add(words, (half + halfHead.taken) / 8, 1n) + 1n;
        if (number > BigInt(this.#table.room)) break;
      }
      const entry = this.#entryAt(half, Number(number));
      bytes.set(key.subarray(0, this.#table.keySize), entry + entryHead.key);
      Atomics.store(words, (entry + entryHead.live) / 8, 1n);
      if (Atomics.compareExchange(words, found.slot / 8, 0n, (found.tag << 32n) | number) === 0n) {
        Atomics.add(words, (half + halfHead.count) / 8, 1n);
        return entry;
      }
    }
    if (!asks) this.#full();
    return undefined;
  }

  #read(entry: number): Uint8Array {
    const { valueAt, stride, copies } = this.#table;
    return mergeCopies(this.#type, this.#memory.view, entry + valueAt, stride, copies);
  }

  #zero(entry: number): void {
    this.#memory.bytes.fill(0, entry + this.#table.valueAt, entry + this.#table.entryBytes);
  }

  lookup(key: Uint8Array | null): Uint8Array | undefined {
    const entry = this.#live(key);
    return entry === undefined ? undefined : this.#read(entry);
  }

  store(key: Uint8Array | null, value: Uint8Array, asks = false): void {
    const entry = this.#make(key, asks);
    if (entry === undefined) return;
    this.#zero(entry);
    this.#memory.bytes.set(value.subarray(0, this.#table.stride), entry + this.#table.valueAt);
  }

  add(): bigint {
    throw new InternalError(`${this.map.shown} is an aggregation`);
  }

  aggregate(key: Uint8Array | null, value: bigint, time?: bigint, weight?: bigint): void {
    const entry = this.#make(key);
    if (entry !== undefined)
      addToCopy(this.#type, this.#memory.words, (entry + this.#table.valueAt) / 8, value, time, weight);
  }

  /** Its room is free again when the map is cleared. */
  delete(key: Uint8Array | null): boolean {
    const entry = this.#live(key);
    if (entry === undefined) return false;
    this.#delete(entry);
    return true;
  }

  #delete(entry: number): void {
    Atomics.store(this.#memory.words, (entry + entryHead.live) / 8, 0n);
    this.#zero(entry);
  }

  #deleteAll(): void {
    for (const entry of this.#entries()) this.#delete(entry);
  }

  length(): number {
    let length = 0;
    for (const _ of this.#entries()) length++;
    return length;
  }

  clear(): void {
    const { words, bytes } = this.#memory;
    if (words.length === 0) return;
    if (this.#table.halves === 1) {
      this.#deleteAll();
      return;
    }
    const left = Number(this.#word(tableHead.current));
    const half = this.#halfAt(1 - left);
    for (let waits = 0; this.#word(half + halfHead.makers) !== 0n; waits++) {
      if (waits === mostWaits) {
        this.#deleteAll();
        return;
      }
      this.#pause();
    }
    const taken = Math.min(this.#table.room, Number(this.#word(half + halfHead.taken)));
    bytes.fill(0, half + halfHead.taken, this.#entryAt(half, taken + 1));
    Atomics.store(words, tableHead.current / 8, BigInt(1 - left));
  }

  zero(): void {
    for (const entry of this.#entries()) this.#zero(entry);
  }

  entries(): MapEntries {
    const { bytes } = this.#memory;
    const { keySize } = this.#table;
    return Array.from(this.#entries(), (entry) => [
      bytes.slice(entry + entryHead.key, entry + entryHead.key + keySize),
      this.#read(entry),
    ]);
  }
}

/** As handlers hash a key: its parts are words, as wide as what is left of it and aligned. */
export function hashOf(key: Uint8Array, multiplier: bigint): bigint {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  let hash = multiplier;
  for (let at = 0; at < key.length;) {
    const left = key.length - at;
    const width = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const part =
      width === 8
        ? view.getBigUint64(at, true)
        : BigInt(width === 4 ? view.getUint32(at, true) : width === 2 ? view.getUint16(at, true) : view.getUint8(at));
    hash = BigInt.asUintN(64, (hash + part) * multiplier);
    hash ^= hash >> 32n;
    at += width;
  }
  return BigInt.asUintN(64, hash * golden);
}
