// Types of maps: what a handler may do with an entry, and what Node reads from it.
import type { Aggregating, AggregationMethods, StoredAggregations } from "./aggregations.ts";
import type { CapturedStack, Pointer, Unchecked } from "./declarations.ts";
import type { Stack } from "./values.ts";

/** What `map<K, "count">()` and its kin hold: one kind of aggregation. */
export type Aggregation = keyof StoredAggregations;
export type Stats = StoredAggregations["stats"];

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
export type Stored<V> = V extends Aggregation ? StoredAggregations[V] : V extends bigint ? number : Received<V>;

/** `map<string, …>` and `map<[name: string], …>` have one key. */
export type KeyParts<K> = K extends readonly unknown[] ? K : [key: K];
/** A key in Node: the lone part, or all of them; undefined of a map without keys. */
export type KeyIn<K> = K extends readonly [infer Only]
  ? Received<Only>
  : K extends readonly []
    ? undefined
    : Received<K>;

/** An entry of a map. Its value is 0, or empty, as long as there is none. */
export interface ValueEntry<V> {
  value: V;
  set(value: V): void;
  get(): V | undefined;
  /** Whether there was one. */
  delete(): boolean;
  has(): boolean;
}

type AggregateEntry<V extends Aggregation> = Pick<Aggregating, AggregationMethods[V]> & {
  /** Of what is one number: a count, sum, average, …. */
  readonly value: number;
  delete(): boolean;
  has(): boolean;
} & (V extends "statistic" ? StatisticResults : unknown);

/** What comes of the values that a statistic observed: 0 without any. Only what is asked for is kept. */
interface StatisticResults {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly avg: number;
}

/** What a handler can do with an entry of a map of `V`. Of a map whose type says nothing, everything. */
export type EntryOf<V> = unknown extends V
  ? Aggregating & ValueEntry<Unchecked>
  : [V] extends [Aggregation]
    ? AggregateEntry<V>
    : ValueEntry<V>;
