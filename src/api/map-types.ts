// Types of maps: what a handler may do with an entry, and what Node reads from it.
import type { CapturedStack, Pointer, Unchecked } from "./declarations.ts";
import type { Stack } from "./values.ts";

/** What `map<K, "count">()` and its kin hold: one kind of aggregation. */
export type Aggregation = "count" | "sum" | "avg" | "min" | "max" | "stats" | "hist" | "lhist" | "tseries";

export interface Stats {
  readonly count: number;
  readonly average: number;
  readonly total: number;
}
/** A bucket of a histogram: values from `low` up to, without, `high`; null is an open end. */
export interface Bucket {
  readonly low: number | null;
  readonly high: number | null;
  readonly count: number;
}

/** One interval of a series: when it began (milliseconds since the epoch), and what is kept of its values. */
export interface SeriesPoint {
  readonly start: number;
  readonly value: number;
}

/** A value of a handler as it arrives in Node: addresses as bigints, stacks with their frames. */
export type Received<T> = T extends CapturedStack
  ? Stack
  : T extends Pointer
    ? bigint
    : T extends string | number | bigint | boolean | Uint8Array
      ? T
      : T extends readonly unknown[] | object
        ? { readonly [P in keyof T]: Received<T[P]> }
        : T;

/** What Node reads of a map's value. */
export type Stored<V> = V extends "count" | "sum" | "avg" | "min" | "max"
  ? number
  : V extends "stats"
    ? Stats
    : V extends "hist" | "lhist"
      ? readonly Bucket[]
      : V extends "tseries"
        ? readonly SeriesPoint[]
        : V extends bigint
          ? number
          : Received<V>;

/** `map<string, …>` and `map<[name: string], …>` have one key. */
export type KeyParts<K> = K extends readonly unknown[] ? K : [key: K];
/** A key in Node: the lone part, or all of them; undefined of a map without keys. */
export type KeyIn<K> = K extends readonly [infer Only]
  ? Received<Only>
  : K extends readonly []
    ? undefined
    : Received<K>;

interface Aggregating {
  /** Counts one more. */
  count(): void;
  sum(value: number): void;
  avg(value: number): void;
  min(value: number): void;
  max(value: number): void;
  /** Count, average and sum. */
  stats(value: number): void;
  /** A histogram by powers of two, each in 2^bits parts. */
  hist(value: number, bits?: number): void;
  /** A histogram from `min` to `max` with buckets of `step`. */
  lhist(value: number, min: number, max: number, step: number): void;
  /**
   * The value over time: of each interval (nanoseconds) the last, or what `kind` makes of them; so many intervals are
   * kept.
   */
  tseries(value: number, interval: number, intervals: number, kind?: "avg" | "max" | "min" | "sum"): void;
}

/** An entry of a map. Its value is 0, or empty, as long as there is none. */
export interface ValueEntry<V> {
  value: V;
  set(value: V): void;
  get(): V | undefined;
  /** Whether there was one. */
  delete(): boolean;
  has(): boolean;
}

type AggregateEntry<V extends Aggregation> = Pick<Aggregating, V> &
  ("sum" extends V ? { add(value: number): void } : unknown) & {
    /** Of a count, sum, average, minimum or maximum. */
    readonly value: number;
    delete(): boolean;
    has(): boolean;
  };

/** What a handler can do with an entry of a map of `V`. Of a map whose type says nothing, everything. */
export type EntryOf<V> = unknown extends V
  ? Aggregating & { add(value: number): void } & ValueEntry<Unchecked>
  : [V] extends [Aggregation]
    ? AggregateEntry<V>
    : ValueEntry<V>;
