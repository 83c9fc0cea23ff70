// What host programs (begin, end, interval, what is captured: JavaScript generated from the IR) see of the session.
import type { HostRuntime } from "../compiler/runtime.ts";
import { InternalError } from "../base/internal-error.ts";
import { aggregateDouble } from "../language/aggregations/value.ts";
import { lazy } from "../base/lazy.ts";
import type { MapLayout } from "../language/program.ts";
import type { Type } from "../language/types.ts";
import { aggregateOf, snapshotOf, type LiveMap } from "./maps.ts";
import type { Surroundings } from "./source.ts";
import type { Speculations } from "./speculations.ts";
import type { WrittenMemory } from "./written-memory.ts";

// Loaded for loops over buckets.
const oneBucket = lazy<typeof import("../language/aggregations/one-bucket.ts")>(() =>
  require("../language/aggregations/one-bucket.ts"),
);

// Loaded for maps in the order of rows.
const rows = lazy<typeof import("./rows.ts")>(() => require("./rows.ts"));

export interface HostServices {
  /** By the plan's index; stack maps are absent. */
  readonly maps: ReadonlyMap<number, LiveMap>;
  readonly surroundings: Surroundings;
  readonly written: WrittenMemory;
  readonly speculations: Speculations;
  /** Takes a record now, in the order of emission. */
  emit(schema: number, record: Uint8Array): void;
  /** A look-up at a watched place found nothing. */
  failed(watch: number): void;
  /** A value as print() shows it. */
  shown(type: Type, bytes: Uint8Array): string;
  /** Shows what was printed; whether the program is to end. */
  rest(): boolean;
}

/** Ends a host program that is in the middle of a loop. */
export class Interrupted extends Error {}

/** Runs a program on a runtime, unless it is ended in the middle. */
export function unlessInterrupted(runtime: SessionRuntime, run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  } finally {
    runtime.settle();
  }
}

export class SessionRuntime implements HostRuntime {
  readonly #services: HostServices;
  /** Where stores follow each other: see settle(). */
  #stored: { readonly index: number; readonly live: LiveMap } | undefined;

  constructor(services: HostServices) {
    this.#services = services;
  }

  get speculations(): Speculations {
    const { speculations } = this.#services;
    speculations.emit = (schema, record) => this.#services.emit(schema, record);
    return speculations;
  }

  get written(): WrittenMemory {
    return this.#services.written;
  }

  builtin(name: string): bigint {
    return this.#services.surroundings.builtin(name);
  }

  comm(): Uint8Array {
    return this.#services.surroundings.comm();
  }

  commInto(to: Uint8Array, at: number): void {
    const { surroundings } = this.#services;
    if (surroundings.commInto !== undefined) surroundings.commInto(to, at);
    else to.set(surroundings.comm().subarray(0, 16), at);
  }

  mapLookup(map: number, key: Uint8Array | null): Uint8Array | undefined {
    return this.#map(map).lookup(key);
  }

  mapStore(map: number, key: Uint8Array | null, value: Uint8Array, asks = false): void {
    const known = this.#stored;
    const live = known !== undefined && known.index === map ? known.live : this.#map(map);
    if (asks || live.storeSoon === undefined) {
      this.settle();
      live.store(key, value, asks);
      return;
    }
    live.storeSoon(key, value);
    this.#stored ??= { index: map, live };
  }

  /**
   * What was stored last is in its table: before anything else is read, written or told, so that nobody sees a later
   * thing without it.
   */
  settle(): void {
    const stored = this.#stored;
    if (stored === undefined) return;
    this.#stored = undefined;
    stored.live.settle?.();
  }

  mapAdd(map: number, key: Uint8Array | null, delta: bigint): bigint {
    return this.#map(map).add(key, delta);
  }

  mapDelete(map: number, key: Uint8Array | null): boolean {
    return this.#map(map).delete(key);
  }

  mapLength(map: number): number {
    return this.#map(map).length();
  }

  aggregate(map: number, key: Uint8Array | null, value: bigint, time?: bigint, weight?: bigint): void {
    this.#map(map).aggregate(key, value, time, weight);
  }

  aggregateDouble(map: number, words: Uint8Array, of?: number): bigint {
    return aggregateDouble(aggregateOf(this.#map(map).map), words, of);
  }

  aggregateBucket(map: number, words: Uint8Array, of: number, bucket: bigint): bigint {
    return oneBucket().aggregateBucket(aggregateOf(this.#map(map).map), words, of, bucket);
  }

  mapEntries(map: number): Iterable<readonly [key: Uint8Array, value: Uint8Array]> {
    const live = this.#map(map);
    return live.walk?.() ?? live.entries();
  }

  mapRows(maps: readonly number[], layout: MapLayout): Iterable<readonly [key: Uint8Array, value: Uint8Array]> {
    const snapshots = maps.map((index) => snapshotOf(this.#map(index), index));
    return rows()
      .rowsOf(snapshots, layout)
      .map(({ key, values }) => [key, values[0]] as const);
  }

  emit(schema: number, record: Uint8Array): void {
    this.settle();
    if (!this.#services.speculations.take(schema, record)) this.#services.emit(schema, record);
  }

  failed(watch: number): void {
    this.#services.failed(watch);
  }

  shownText(type: Type, value: Uint8Array | bigint): string {
    const bytes = typeof value === "bigint" ? new Uint8Array(BigInt64Array.of(value).buffer) : value;
    return Buffer.from(this.#services.shown(type, bytes)).toString("latin1");
  }

  rest(): void {
    this.settle();
    if (this.#services.rest()) throw new Interrupted();
  }

  /** This process has no way into the kernel's memory: what is read is what scripts wrote. */
  readMemory(_space: "kernel" | "user", address: bigint, size: number): Uint8Array | undefined {
    return this.written.read(address, size);
  }

  signal(signal: bigint): bigint {
    this.settle();
    process.kill(process.pid, Number(signal));
    return 0n;
  }

  #map(index: number): LiveMap {
    this.settle();
    const map = this.#services.maps.get(index);
    if (map === undefined) throw new InternalError(`a host program uses map ${index}, which is none of its kind`);
    return map;
  }
}

/** An event that handlers in this process look at. */
export interface HandledEvent extends Surroundings {
  /** The bytes behind the context pointer begin at `start`. */
  readonly bytes: Uint8Array;
  readonly start: number;
  /** Memory that came with it. */
  read(space: "kernel" | "user", address: bigint, size: number): Uint8Array | undefined;
  stack(space: "kernel" | "user", limit: number): Uint8Array;
}

/** What handlers of events ask, beyond what programs of strobe's own process do. */
export class EventRuntime extends SessionRuntime {
  readonly #event: HandledEvent;

  constructor(event: HandledEvent, services: HostServices) {
    super(services);
    this.#event = event;
  }

  get context(): Uint8Array {
    return this.#event.bytes;
  }

  get contextAt(): number {
    return this.#event.start;
  }

  override readMemory(space: "kernel" | "user", address: bigint, size: number): Uint8Array | undefined {
    return this.written.read(address, size) ?? this.#event.read(space, address, size);
  }

  stack(space: "kernel" | "user", limit: number): Uint8Array {
    return this.#event.stack(space, limit);
  }
}
