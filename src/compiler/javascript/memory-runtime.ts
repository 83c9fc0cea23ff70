// A HostRuntime over plain memory: maps are JavaScript Maps, events are collected. For tests, and as the oracle that
// the differential suite holds against the kernel.
import { addToSum, aggregateDouble } from "../../language/double-sums.ts";
import { sumsDoubles } from "../../language/floating.ts";
import { bucketOf, linearBucketOf } from "../../language/histogram.ts";
import { aggregateWords } from "../../language/layout.ts";
import { cellOf, joinCells, seriesCellWords, seriesOf } from "../../language/series.ts";
import type { AggregateType } from "../../language/types.ts";
import type { IrMap } from "../ir/ir.ts";
import type { HostRuntime } from "../runtime.ts";

export interface MemoryRuntimeOptions {
  readonly maps: readonly IrMap[];
  readonly builtins?: Readonly<Record<string, bigint>>;
  /** At most 15 characters. */
  readonly comm?: string;
  /** Readable memory: blocks by their address. */
  readonly memory?: readonly {
    readonly address: bigint;
    readonly bytes: Uint8Array;
    readonly space?: "kernel" | "user";
  }[];
  readonly context?: Uint8Array;
}

type Entries = Map<string, { readonly key: Uint8Array; value: Uint8Array }>;

export class MemoryRuntime implements HostRuntime {
  readonly records: { readonly schema: number; readonly record: Uint8Array }[] = [];
  readonly signals: bigint[] = [];
  /** Updates that a full map refused, by map. */
  readonly refused: number[];
  readonly context?: Uint8Array;
  readonly #options: MemoryRuntimeOptions;
  readonly #entries: readonly Entries[];

  constructor(options: MemoryRuntimeOptions) {
    this.#options = options;
    this.#entries = options.maps.map(() => new Map());
    this.refused = options.maps.map(() => 0);
    if (options.context) this.context = options.context;
  }

  builtin(name: string): bigint {
    const value = this.#options.builtins?.[name];
    if (value === undefined) throw new Error(`this runtime was given no "${name}"`);
    return value;
  }

  comm(): Uint8Array {
    const bytes = new Uint8Array(16);
    bytes.set(Buffer.from(this.#options.comm ?? "", "utf8").subarray(0, 15));
    return bytes;
  }

  mapLookup(map: number, key: Uint8Array | null): Uint8Array | undefined {
    return this.#entries[map]?.get(name(key))?.value;
  }

  mapStore(map: number, key: Uint8Array | null, value: Uint8Array): void {
    const entry = this.#entry(map, key, value.length);
    if (entry) entry.value = value.slice();
  }

  mapAdd(map: number, key: Uint8Array | null, delta: bigint): bigint {
    const entry = this.#entry(map, key, 8);
    if (!entry) return 0n;
    const words = asWords(entry.value);
    words.setBigInt64(0, words.getBigInt64(0, true) + delta, true);
    return words.getBigInt64(0, true);
  }

  mapDelete(map: number, key: Uint8Array | null): boolean {
    return this.#entries[map]?.delete(name(key)) ?? false;
  }

  mapLength(map: number): number {
    return this.#entries[map]?.size ?? 0;
  }

  aggregate(map: number, key: Uint8Array | null, value: bigint, time = 0n): void {
    const type = this.#options.maps[map]?.value;
    if (type?.kind !== "aggregate") throw new Error(`map ${map} is no aggregation`);
    const entry = this.#entry(map, key, aggregateWords(type) * 8);
    if (entry) aggregate(type, asWords(entry.value), BigInt.asIntN(64, value), time);
  }

  aggregateDouble(map: number, words: Uint8Array): bigint {
    const type = this.#options.maps[map]?.value;
    if (type?.kind !== "aggregate") throw new Error(`map ${map} is no aggregation`);
    return aggregateDouble(type, words);
  }

  mapEntries(map: number): Iterable<readonly [Uint8Array, Uint8Array]> {
    return [...(this.#entries[map]?.values() ?? [])].map(({ key, value }) => [key.slice(), value.slice()] as const);
  }

  emit(schema: number, record: Uint8Array): void {
    this.records.push({ schema, record: record.slice() });
  }

  readMemory(space: "kernel" | "user", address: bigint, size: number): Uint8Array | undefined {
    for (const block of this.#options.memory ?? []) {
      const offset = address - block.address;
      if (offset < 0n || offset + BigInt(size) > BigInt(block.bytes.length) || (block.space ?? space) !== space)
        continue;
      return block.bytes.slice(Number(offset), Number(offset) + size);
    }
    return undefined;
  }

  signal(signal: bigint): bigint {
    this.signals.push(signal);
    return 0n;
  }

  /** Loops of tests end by themselves. */
  rest(): void {}

  /** The entry, made of zeros when it is missing; undefined when the map is full. */
  #entry(map: number, key: Uint8Array | null, size: number): { value: Uint8Array } | undefined {
    const entries = this.#entries[map];
    if (entries === undefined) throw new Error(`there is no map ${map}`);
    let entry = entries.get(name(key));
    if (entry) return entry;
    if (key !== null && entries.size >= (this.#options.maps[map]?.entries ?? Infinity)) {
      this.refused[map] = (this.refused[map] ?? 0) + 1;
      return undefined;
    }
    entry = { key: key?.slice() ?? new Uint8Array(0), value: new Uint8Array(size) };
    entries.set(name(key), entry);
    return entry;
  }
}

function name(key: Uint8Array | null): string {
  return key === null ? "" : Buffer.from(key).toString("latin1");
}

function asWords(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Adds a value to the words of an aggregation (their meaning: layout.ts, aggregateWords). */
export function aggregate(type: AggregateType, words: DataView, value: bigint, time = 0n): void {
  const add = (word: number, amount: bigint): void =>
    words.setBigInt64(word * 8, words.getBigInt64(word * 8, true) + amount, true);
  if (sumsDoubles(type)) return addToSum(add, value);
  switch (type.aggregate) {
    case "count":
      add(0, 1n);
      return;
    case "sum":
      add(0, value);
      words.setBigInt64(8, 1n, true);
      return;
    case "avg":
    case "stats":
      add(0, value);
      add(1, 1n);
      return;
    case "min":
    case "max": {
      const order = (word: bigint): bigint => (type.signed ? word : BigInt.asUintN(64, word));
      const old = words.getBigInt64(0, true);
      const better = type.aggregate === "min" ? order(value) < order(old) : order(value) > order(old);
      if (words.getBigInt64(8, true) === 0n || better) words.setBigInt64(0, value, true);
      words.setBigInt64(8, 1n, true);
      return;
    }
    case "hist":
      add(bucketOf(value, type.bits ?? 0), 1n);
      return;
    case "lhist":
      add(linearBucketOf(value, type.min ?? 0n, type.max ?? 0n, type.step ?? 1n), 1n);
      return;
    case "tseries": {
      const { interval, intervals } = seriesOf(type);
      const number = BigInt.asUintN(64, time) / interval;
      const at = Number(number % BigInt(intervals)) * seriesCellWords * 8;
      const one = cellOf(type, value, time);
      const old = [words.getBigInt64(at + 8, true), words.getBigInt64(at + 16, true)] as const;
      const joined = words.getBigUint64(at, true) === number ? joinCells(type, old, one) : one;
      words.setBigUint64(at, number, true);
      joined.forEach((word, i) => words.setBigInt64(at + 8 + i * 8, word, true));
      return;
    }
  }
}
