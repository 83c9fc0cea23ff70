// The script's maps behind one interface, over the storages of compiler/ir/ir.ts (MapStorage).
//
//   slot         globals region:  u64 set flag, then the value                        (memory-mapped)
//   percpu-slot  per-CPU region:  in each CPU's stripe u64 set flag, then words       (memory-mapped)
//   hash …       a kernel map: key bytes, value bytes
//   percpu-hash  a kernel map: key bytes, then copies of an aggregation (compiler/layouts/copies.ts), read as one (aggregates.ts)
//
// The host and the kernel write at the same time. Adding to a slot is atomic; what the host does to a hash entry is
// read, change, write, so an update that a probe makes in between may be lost, as with any two writers of a BPF map.
import type { Copies } from "../compiler/layouts/copies.ts";
import type { IrMap } from "../compiler/ir/ir.ts";
import { InternalError } from "../base/internal-error.ts";
import { sizeOf } from "../language/layout.ts";
import type { AggregateType } from "../language/types.ts";
import { addToCopy, mergeCopies, mergeCopiesInto } from "../language/aggregations/value.ts";
import type { MapSnapshot } from "./events.ts";
import { entriesOf, PackedEntries, type EntryBatch, type MapEntries, type MapEntry } from "./map-entries.ts";

/** Entry operations on one table, the kernel's or another; values are whole, with all copies. */
export interface KernelTable {
  lookup(key: Uint8Array): Uint8Array | undefined;
  update(key: Uint8Array, value: Uint8Array, asks?: boolean): void;
  /** The same for several, one after the other, where that takes fewer calls. */
  updateMany?(entries: EntryBatch): void;
  remove(key: Uint8Array): boolean;
  /** All entries, so many at a time, in memory that nobody writes again. */
  batches(): Iterable<EntryBatch>;
  /** Removes all entries. */
  clear(): void;
}

/** Memory shared with the kernel: linux/mapped-array.ts, or plain memory in tests. */
export interface SharedMemory {
  readonly words: BigUint64Array;
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** One map. Values are bytes in the layout of language/layout.ts, aggregations with all CPUs together. */
export interface LiveMap {
  readonly map: IrMap;
  /** `key` is null on maps without keys. */
  lookup(key: Uint8Array | null): Uint8Array | undefined;
  /** `asks`: whoever stores looks whether there was room: that there was none is not counted. */
  store(key: Uint8Array | null, value: Uint8Array, asks?: boolean): void;
  /** The same, but handlers may see it no sooner than settle() is called: whoever calls it does so soon. */
  storeSoon?(key: Uint8Array | null, value: Uint8Array): void;
  settle?(): void;
  /** Adds to an integer entry; the result is the new value, signed. */
  add(key: Uint8Array | null, delta: bigint): bigint;
  aggregate(key: Uint8Array | null, value: bigint, time?: bigint, weight?: bigint): void;
  delete(key: Uint8Array | null): boolean;
  length(): number;
  /** Removes every entry. */
  clear(): void;
  /** Keeps the keys, zeroes the values. */
  zero(): void;
  /** Those of now. */
  entries(): MapEntries;
  /** One after the other, in memory that does not grow with the map: those that are changed meanwhile may be left out. */
  walk?(): Iterable<MapEntry>;
  /** Updates that found no room since the last call, where nobody else counts them. */
  refused?(): number;
}

const noKey = new Uint8Array(0);

export function snapshotOf(live: LiveMap, index: number): MapSnapshot {
  return { map: live.map, index, entries: live.entries() };
}

export function aggregateOf(map: IrMap): AggregateType {
  if (map.value.kind !== "aggregate") throw new InternalError(`${map.shown} is not an aggregation`);
  return map.value;
}

/** A lone value in the globals region. */
export class SlotMap implements LiveMap {
  readonly map: IrMap;
  readonly #memory: SharedMemory;
  /** Index of the set flag's word. */
  readonly #flag: number;
  readonly #at: number;
  readonly #size: number;

  constructor(map: IrMap, offset: number, globals: SharedMemory) {
    this.map = map;
    this.#memory = globals;
    this.#flag = offset / 8;
    this.#at = offset + 8;
    this.#size = sizeOf(map.value);
  }

  lookup(): Uint8Array | undefined {
    if (this.#memory.words[this.#flag] === 0n) return undefined;
    return this.#memory.bytes.slice(this.#at, this.#at + this.#size);
  }

  store(_key: Uint8Array | null, value: Uint8Array): void {
    const { bytes, words } = this.#memory;
    if (value.length >= this.#size) bytes.set(value.subarray(0, this.#size), this.#at);
    else bytes.fill(0, this.#at + value.length, this.#at + this.#size).set(value, this.#at);
    words[this.#flag] = 1n;
  }

  add(_key: Uint8Array | null, delta: bigint): bigint {
    const { words } = this.#memory;
    const added = BigInt.asUintN(64, delta);
    const old = Atomics.add(words, this.#flag + 1, added);
    words[this.#flag] = 1n;
    return BigInt.asIntN(64, old + added);
  }

  aggregate(_key: Uint8Array | null, value: bigint, time?: bigint, weight?: bigint): void {
    addToCopy(aggregateOf(this.map), this.#memory.words, this.#flag + 1, value, time, weight);
    this.#memory.words[this.#flag] = 1n;
  }

  delete(): boolean {
    const was = this.#memory.words[this.#flag] !== 0n;
    this.#memory.words[this.#flag] = 0n;
    this.zero();
    return was;
  }

  length(): number {
    return this.#memory.words[this.#flag] === 0n ? 0 : 1;
  }

  clear(): void {
    this.delete();
  }

  zero(): void {
    this.#memory.bytes.fill(0, this.#at, this.#at + this.#size);
  }

  entries(): MapEntries {
    const value = this.lookup();
    return value ? [[noKey, value]] : [];
  }
}

/** An aggregation without keys: a copy in each CPU's stripe. The host adds to the first CPU's. */
export class PercpuSlotMap implements LiveMap {
  readonly map: IrMap;
  readonly #type: AggregateType;
  readonly #memory: SharedMemory;
  readonly #offset: number;
  readonly #stripe: number;
  readonly #cpus: number;
  readonly #size: number;

  constructor(map: IrMap, offset: number, percpu: SharedMemory, stripe: number, cpus: number) {
    this.map = map;
    this.#type = aggregateOf(map);
    this.#memory = percpu;
    this.#offset = offset;
    this.#stripe = stripe;
    this.#cpus = cpus;
    this.#size = sizeOf(map.value);
  }

  #isSet(): boolean {
    for (let cpu = 0; cpu < this.#cpus; cpu++) {
      if (this.#memory.words[(this.#offset + cpu * this.#stripe) / 8] !== 0n) return true;
    }
    return false;
  }

  lookup(): Uint8Array | undefined {
    if (!this.#isSet()) return undefined;
    return mergeCopies(this.#type, this.#memory.view, this.#offset + 8, this.#stripe, this.#cpus);
  }

  store(_key: Uint8Array | null, value: Uint8Array): void {
    this.zero();
    this.#memory.bytes.set(value.subarray(0, this.#size), this.#offset + 8);
    this.#memory.words[this.#offset / 8] = 1n;
  }

  add(): bigint {
    throw new InternalError(`${this.map.shown} is an aggregation`);
  }

  aggregate(_key: Uint8Array | null, value: bigint, time?: bigint, weight?: bigint): void {
    addToCopy(this.#type, this.#memory.words, this.#offset / 8 + 1, value, time, weight);
    this.#memory.words[this.#offset / 8] = 1n;
  }

  delete(): boolean {
    const was = this.#isSet();
    for (let cpu = 0; cpu < this.#cpus; cpu++) this.#memory.words[(this.#offset + cpu * this.#stripe) / 8] = 0n;
    this.zero();
    return was;
  }

  length(): number {
    return this.#isSet() ? 1 : 0;
  }

  clear(): void {
    this.delete();
  }

  zero(): void {
    for (let cpu = 0; cpu < this.#cpus; cpu++) {
      const at = this.#offset + cpu * this.#stripe + 8;
      this.#memory.bytes.fill(0, at, at + this.#size);
    }
  }

  entries(): MapEntries {
    const value = this.lookup();
    return value ? [[noKey, value]] : [];
  }
}

/** How a table has its values. */
export interface TableValues {
  /** Of one in system calls. */
  readonly bytes: number;
  /** Of one as the script has it. */
  readonly size: number;
  /** As the script has it. */
  read(bytes: Uint8Array): Uint8Array;
  /** The same of values that lie one after the other. */
  readMany(count: number, bytes: Uint8Array): Uint8Array;
  /** Adds to an integer; the result is the new value, signed. */
  add(words: BigUint64Array, delta: bigint): bigint;
}

/** One an entry. */
export function plainValues(valueSize: number): TableValues {
  return {
    bytes: valueSize,
    size: valueSize,
    read: (bytes) => bytes,
    readMany: (_count, bytes) => bytes,
    add: (words, delta) => {
      words[0] += BigInt.asUintN(64, delta);
      return BigInt.asIntN(64, words[0]);
    },
  };
}

/** An aggregation in copies. The host adds to the first. */
export function copiedValues(type: AggregateType, { copies, stride }: Copies): TableValues {
  const size = sizeOf(type);
  const bytes = copies * stride;
  const viewOf = (of: Uint8Array): DataView => new DataView(of.buffer, of.byteOffset, of.byteLength);
  return {
    bytes,
    size,
    read: (value) => mergeCopies(type, viewOf(value), 0, stride, copies),
    readMany: (count, values) => {
      const merged = new BigUint64Array((count * size) / 8);
      const view = viewOf(values);
      for (let i = 0; i < count; i++) mergeCopiesInto(merged, (i * size) / 8, type, view, i * bytes, stride, copies);
      return new Uint8Array(merged.buffer);
    },
    add: () => {
      throw new InternalError("an aggregation is no integer");
    },
  };
}

/** A map in a table. One without keys that the script declared as one has a 0 for key. */
export class HashMap implements LiveMap {
  readonly map: IrMap;
  readonly #table: KernelTable;
  readonly #values: TableValues;
  readonly #lone: Uint8Array;
  /** What was stored, and is not yet in the table. */
  #stored: { readonly keys: Uint8Array; readonly values: Uint8Array } | undefined;
  #count = 0;

  constructor(map: IrMap, table: KernelTable, keySize: number, values: TableValues) {
    this.map = map;
    this.#table = table;
    this.#values = values;
    this.#lone = new Uint8Array(keySize);
  }

  storeSoon(key: Uint8Array | null, value: Uint8Array): void {
    const { bytes } = this.#values;
    const keySize = this.#lone.length;
    const most = Math.floor(storedBytes / (keySize + bytes));
    if (this.#table.updateMany === undefined || most < 2 || value.length !== bytes) return this.store(key, value);
    this.#stored ??= { keys: new Uint8Array(most * keySize), values: new Uint8Array(most * bytes) };
    this.#stored.keys.set(key ?? this.#lone, this.#count * keySize);
    this.#stored.values.set(value, this.#count * bytes);
    if (++this.#count === most) this.settle();
  }

  settle(): void {
    const count = this.#count;
    if (count === 0 || this.#stored === undefined) return;
    this.#count = 0;
    const keys = this.#stored.keys.subarray(0, count * this.#lone.length);
    const values = this.#stored.values.subarray(0, count * this.#values.bytes);
    this.#update({ count, keys, values });
  }

  lookup(key: Uint8Array | null): Uint8Array | undefined {
    const bytes = this.#table.lookup(key ?? this.#lone);
    return bytes && this.#values.read(bytes);
  }

  store(key: Uint8Array | null, value: Uint8Array, asks = false): void {
    this.#table.update(key ?? this.#lone, fitted(value, this.#values.bytes), asks);
  }

  add(key: Uint8Array | null, delta: bigint): bigint {
    return this.#change(key, (words) => this.#values.add(words, delta));
  }

  aggregate(key: Uint8Array | null, value: bigint, time?: bigint, weight?: bigint): void {
    this.#change(key, (words) => addToCopy(aggregateOf(this.map), words, 0, value, time, weight));
  }

  #change<T>(key: Uint8Array | null, change: (words: BigUint64Array) => T): T {
    const words = new BigUint64Array(Math.ceil(this.#values.bytes / 8));
    const bytes = new Uint8Array(words.buffer, 0, this.#values.bytes);
    const old = this.#table.lookup(key ?? this.#lone);
    if (old) bytes.set(old);
    const result = change(words);
    this.#table.update(key ?? this.#lone, bytes);
    return result;
  }

  delete(key: Uint8Array | null): boolean {
    return this.#table.remove(key ?? this.#lone);
  }

  length(): number {
    let length = 0;
    for (const { count } of this.#table.batches()) length += count;
    return length;
  }

  clear(): void {
    this.#table.clear();
  }

  zero(): void {
    for (const { count, keys, values } of this.#table.batches()) this.#update({ count, keys, values: values.fill(0) });
  }

  #update(batch: EntryBatch): void {
    if (this.#table.updateMany !== undefined && batch.count > 1) this.#table.updateMany(batch);
    else for (const [key, value] of entriesOf(batch)) this.#table.update(key, value);
  }

  entries(): MapEntries {
    const { size } = this.#values;
    const packed = new PackedEntries(this.#lone.length, size);
    for (const { count, keys, values } of this.#table.batches()) {
      packed.reserve(count);
      packed.keys.set(keys, packed.length * packed.keySize);
      packed.values.set(this.#values.readMany(count, values), packed.length * size);
      packed.length += count;
    }
    return packed;
  }

  *walk(): Generator<MapEntry> {
    for (const { count, keys, values } of this.#table.batches())
      yield* entriesOf({ count, keys, values: this.#values.readMany(count, values) });
  }
}

/** Of keys and values that are stored together. */
const storedBytes = 1 << 14;

function fitted(value: Uint8Array, size: number): Uint8Array {
  if (value.length === size) return value;
  const whole = new Uint8Array(size);
  whole.set(value.subarray(0, size));
  return whole;
}
