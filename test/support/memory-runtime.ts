// A HostRuntime over plain memory: maps are JavaScript Maps, events are collected. For tests, and as the oracle that
// the differential suite holds against the kernel.
import type { Type } from "../../src/language/types.ts";
import { Speculations } from "../../src/session/speculations.ts";
import { WrittenMemory } from "../../src/session/written-memory.ts";
import { aggregateWords } from "../../src/language/aggregations/table.ts";
import { aggregateBucket } from "../../src/language/aggregations/one-bucket.ts";
import { addToCopy, aggregateDouble } from "../../src/language/aggregations/value.ts";
import type { IrMap } from "../../src/compiler/ir/ir.ts";
import type { HostRuntime } from "../../src/compiler/runtime.ts";

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

  shownText({ kind }: Type): string {
    throw new Error(`this runtime shows no ${kind}`);
  }

  comm(): Uint8Array {
    const bytes = new Uint8Array(16);
    bytes.set(Buffer.from(this.#options.comm ?? "", "utf8").subarray(0, 15));
    return bytes;
  }

  commInto(to: Uint8Array, at: number): void {
    to.set(this.comm(), at);
  }

  mapLookup(map: number, key: Uint8Array | null): Uint8Array | undefined {
    return this.#entries[map]?.get(name(key))?.value;
  }

  mapRows(): never {
    throw new Error("this runtime knows no rows");
  }

  mapStore(map: number, key: Uint8Array | null, value: Uint8Array, asks = false): void {
    const entry = this.#entry(map, key, value.length, asks);
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
    if (entry) addToCopy(type, new BigUint64Array(entry.value.buffer), 0, BigInt.asIntN(64, value), time);
  }

  aggregateDouble(map: number, words: Uint8Array, of?: number): bigint {
    const type = this.#options.maps[map]?.value;
    if (type?.kind !== "aggregate") throw new Error(`map ${map} is no aggregation`);
    return aggregateDouble(type, words, of);
  }

  aggregateBucket(map: number, words: Uint8Array, of: number, bucket: bigint): bigint {
    const type = this.#options.maps[map]?.value;
    if (type?.kind !== "aggregate") throw new Error(`map ${map} is no aggregation`);
    return aggregateBucket(type, words, of, bucket);
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

  readonly written = new WrittenMemory();
  readonly speculations = new Speculations();

  signal(signal: bigint): bigint {
    this.signals.push(signal);
    return 0n;
  }

  /** Loops of tests end by themselves. */
  rest(): void {}

  /** The entry, made of zeros when it is missing; undefined when the map is full. */
  #entry(map: number, key: Uint8Array | null, size: number, asks = false): { value: Uint8Array } | undefined {
    const entries = this.#entries[map];
    if (entries === undefined) throw new Error(`there is no map ${map}`);
    let entry = entries.get(name(key));
    if (entry) return entry;
    if (key !== null && entries.size >= (this.#options.maps[map]?.entries ?? Infinity)) {
      if (!asks) this.refused[map] = (this.refused[map] ?? 0) + 1;
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
