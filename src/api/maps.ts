// Maps that handlers fill and Node reads. A map belongs to one trace at a time; after its end it keeps what it held.
import { library } from "../messages/on-demand.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Aggregation, EntryOf, KeyIn, KeyParts, Stats, Stored } from "./map-types.ts";
import type { Bucket } from "./values.ts";
import { bind } from "./markers.ts";

/** The map in a live trace. */
export interface MapSource {
  entries(): readonly (readonly [key: unknown, value: unknown])[];
  clear(): void;
  /** Absent as long as the trace has not begun. */
  store?(key: readonly unknown[], value: unknown): void;
  remove?(key: readonly unknown[]): boolean;
  readonly ended: Promise<unknown>;
}

export interface MapOptions {
  /** In printed output and messages; the variable's name unless given. */
  readonly name?: string;
  /** At most so many keys; 4096 unless given. */
  readonly entries?: number;
  /**
   * What the kernel keeps it in: `lruhash` drops the oldest key when it is full; the `percpu` kinds have a value a
   * processor.
   */
  readonly storage?: "hash" | "lruhash" | "percpuhash" | "percpulruhash";
}

export interface EveryOptions {
  /** Empties the map after each reading: a snapshot is then of what came since the last one. */
  readonly clear?: boolean;
  readonly signal?: AbortSignal;
}

/** A map at one moment. A key of several parts is found by what it holds. `console.table()` shows it. */
export class Snapshot<K, V> extends Map<K, V> {
  readonly #byText = new Map<string, K>();

  constructor(entries: Iterable<readonly [K, V]>) {
    super();
    for (const [key, value] of entries) {
      super.set(key, value);
      if (typeof key === "object" && key !== null) this.#byText.set(keyText(key), key);
    }
  }

  override get(key: K): V | undefined {
    return super.get(this.#own(key));
  }

  override has(key: K): boolean {
    return super.has(this.#own(key));
  }

  /**
   * The greatest so many, from the greatest down: by value, histograms by how much is in them, statistics by their
   * total. Throws a TypeError where values have none of these: records without a total, series.
   */
  top(count: number): Snapshot<K, V> {
    return greatest(this, count);
  }

  /** As an array: what JSON has for a map. */
  toJSON(): [K, V][] {
    return [...this];
  }

  #own(key: K): K {
    return typeof key === "object" && key !== null ? (this.#byText.get(keyText(key)) ?? key) : key;
  }
}

function greatest<K, V>(of: Snapshot<K, V>, count: number): Snapshot<K, V> {
  return new Snapshot([...of].sort(([, a], [, b]) => weight(b) - weight(a)).slice(0, count));
}

/** What `top()` goes by. */
function weight(value: unknown): number {
  if (Array.isArray(value))
    return value.reduce<number>((sum, bucket: Partial<Bucket> | null) => sum + size(bucket?.count), 0);
  return typeof value === "object" && value !== null ? size((value as Partial<Stats>).total) : Number(value) || 0;
}

function size(of: unknown): number {
  if (typeof of === "number" || typeof of === "bigint") return Number(of);
  throw new TypeError(library().topOrders().message);
}

/** Equal for equal keys. */
function keyText(key: unknown): string {
  return JSON.stringify(key, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}

type Settable<V> = [V] extends [Aggregation] ? never : V;

/** What a map without keys can do by itself, in a handler. */
type Keyless<K, V> =
  [] extends KeyParts<K>
    ? KeyParts<K> extends []
      ? Omit<EntryOf<V>, "get" | "set" | "has" | "delete">
      : unknown
    : unknown;

/**
 * A map of handlers. `K` is its key, or a tuple of keys; `V` is what it holds: a type, or the name of an aggregation.
 */
export type StrobeMap<K, V> = MapHandle<K, V> & Keyless<K, V>;

/** For trace() only: not on the library's surface. */
export const attach = Symbol("attach");
export const detach = Symbol("detach");
export const inUse = Symbol("inUse");
export const takeGiven = Symbol("takeGiven");

export class MapHandle<K, V> implements Iterable<[KeyIn<K>, Stored<V>]> {
  #source: MapSource | undefined;
  #last: readonly (readonly [unknown, unknown])[] = [];
  /** Set while no trace ran: the next one begins with it. By key. */
  readonly #given = new Map<string, readonly [key: readonly unknown[], value: unknown]>();

  // ── in handlers ──

  /** The entry of a key. */
  at(...key: KeyParts<K>): EntryOf<V> {
    void key;
    throw new TypeError(library().atInHandlers().message);
  }

  // ── in both ──

  /**
   * Sets an entry: the keys, then the value. Before the trace, for it to begin with. Not of aggregations, which
   * handlers fill.
   */
  set(...keysAndValue: [...KeyParts<K>, Settable<V>]): void {
    const key = keysAndValue.slice(0, -1);
    const value: unknown = keysAndValue.at(-1);
    if (this.#source?.store) this.#source.store(key, value);
    else this.#given.set(keyText(key), [key, value]);
  }

  /** Removes an entry; whether there was one. */
  delete(...key: KeyParts<K>): boolean {
    if (this.#source?.remove) return this.#source.remove(key);
    const text = keyText(oneKey(key));
    const kept = this.#last.filter(([one]) => keyText(one) !== text);
    const removed = this.#given.delete(keyText(key)) || kept.length < this.#last.length;
    this.#last = kept;
    return removed;
  }

  /** An entry's value; undefined when there is none. */
  get(...key: KeyParts<K>): Stored<V> | undefined {
    return this.snapshot().get(oneKey(key));
  }

  has(...key: KeyParts<K>): boolean {
    return this.snapshot().has(oneKey(key));
  }

  clear(): void {
    this.#given.clear();
    if (this.#source) this.#source.clear();
    else this.#last = [];
  }

  get size(): number {
    return this.#entries().length;
  }

  entries(): MapIterator<[KeyIn<K>, Stored<V>]> {
    return this.snapshot().entries();
  }

  keys(): MapIterator<KeyIn<K>> {
    return this.snapshot().keys();
  }

  values(): MapIterator<Stored<V>> {
    return this.snapshot().values();
  }

  [Symbol.iterator](): MapIterator<[KeyIn<K>, Stored<V>]> {
    return this.entries();
  }

  // ── in Node ──

  /** All entries now. Before the trace there are none; after it, those of its end. */
  snapshot(): Snapshot<KeyIn<K>, Stored<V>> {
    return new Snapshot(this.#entries() as readonly [KeyIn<K>, Stored<V>][]);
  }

  /** The greatest so many entries now, from the greatest down. */
  top(count: number): Snapshot<KeyIn<K>, Stored<V>> {
    return this.snapshot().top(count);
  }

  /** A snapshot every so often ("1s", "250ms", or milliseconds), until the trace ends; the last one is of its end. */
  async *every(
    period: string | number,
    { clear = false, signal }: EveryOptions = {},
  ): AsyncGenerator<Snapshot<KeyIn<K>, Stored<V>>, void, undefined> {
    const milliseconds = periodOf(period);
    const source = this.#source;
    if (!source) throw new Error(library().mapWithoutTrace().message);
    const over = new AbortController();
    const stop = (): void => over.abort();
    source.ended.then(stop, stop);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      let due = performance.now();
      // The end may come while the reader is at work: there is a snapshot of it all the same.
      for (let last = false; !last;) {
        due = Math.max(due + milliseconds, performance.now());
        await sleep(due - performance.now(), undefined, { signal: over.signal }).catch(() => {});
        if (signal?.aborted) return;
        last = over.signal.aborted;
        const snapshot = this.snapshot();
        if (clear) this.clear();
        yield snapshot;
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      over.abort();
    }
  }

  /** What console.log() shows. @internal */
  [Symbol.for("nodejs.util.inspect.custom")](): unknown {
    return this.snapshot();
  }

  #entries(): readonly (readonly [unknown, unknown])[] {
    if (this.#source) return this.#source.entries();
    if (this.#given.size === 0) return this.#last;
    const given = [...this.#given.values()].map(([key, value]) => [oneKey(key as KeyParts<K>), value] as const);
    return [...this.#last.filter(([key]) => !given.some(([one]) => keyText(one) === keyText(key))), ...given];
  }

  /** For trace(): while a trace runs, the map is its own. @internal */
  [attach](source: MapSource): void {
    this.#source = source;
  }

  /** What the trace begins with; once. @internal */
  [takeGiven](): (readonly [key: readonly unknown[], value: unknown])[] {
    const given = [...this.#given.values()];
    this.#given.clear();
    return given;
  }

  /** @internal */
  [detach](last: readonly (readonly [unknown, unknown])[]): void {
    this.#source = undefined;
    this.#last = last;
  }

  /** @internal */
  get [inUse](): boolean {
    return this.#source !== undefined;
  }
}

function oneKey<K>(parts: KeyParts<K>): KeyIn<K> {
  const all = parts as readonly unknown[];
  return (all.length === 1 ? all[0] : all.length === 0 ? undefined : all) as KeyIn<K>;
}

/** Milliseconds. */
function periodOf(period: string | number): number {
  if (typeof period === "number" && period > 0) return period;
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/.exec(String(period));
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match?.[2] ?? ""];
  if (match === null || unit === undefined || Number(match[1]) === 0) {
    throw new RangeError(library().takesPeriod(period).message);
  }
  return Number(match[1]) * unit;
}

/**
 * A map for handlers to fill: `map<string, "count">()`, `map<[pid: number, name: string], "hist">()`, `map<number,
 * number>()`; `map<[], "count">()` has no key.
 */
export function map<K = Unkeyed, V = unknown>(options: MapOptions = {}): StrobeMap<K, V> {
  return handleOf<K, V>(options, false) as StrobeMap<K, V>;
}

/** Keys of any number and type. */
type Unkeyed = unknown[];

/** A variable that each thread has its own of: `const start = threadLocal<u64>()`. In Node it is a map by thread id. */
export type ThreadLocal<V> = Omit<MapHandle<number, V>, "at" | "set" | "delete" | "has" | "get"> & {
  value: V;
  set(value: V): void;
  get(): V | undefined;
  delete(): boolean;
  has(): boolean;
};

export function threadLocal<V = number>(options: MapOptions = {}): ThreadLocal<V> {
  return handleOf<number, V>(options, true) as unknown as ThreadLocal<V>;
}

function handleOf<K, V>({ name, entries, storage }: MapOptions, threadLocal: boolean): MapHandle<K, V> {
  const handle = new MapHandle<K, V>();
  const given = {
    ...(name === undefined ? {} : { name }),
    ...(entries === undefined ? {} : { entries }),
    ...(storage === undefined ? {} : { storage }),
  };
  return bind(handle, { kind: "map", map: { identity: handle, threadLocal, ...given } });
}
