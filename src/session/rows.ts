// The rows of maps that lie side by side: all keys that any of them has, in the order of a layout.
import { bucketCount, bucketRange, type Buckets } from "../language/aggregations/buckets.ts";
import { partOf, valueOf } from "../language/aggregations/table.ts";
import { mergeCopies, resultOf, wordsIn } from "../language/aggregations/value.ts";
import { keyLayout, sizeOf } from "../language/layout.ts";
import type { MapLayout } from "../language/program.ts";
import type { Type } from "../language/types.ts";
import type { MapSnapshot } from "./events.ts";

/** A key, and the value of each map: zeroes where it has none. */
export interface Row {
  readonly key: Uint8Array;
  readonly values: readonly Uint8Array[];
}

/** Maps have keys of the same types. `joined`: the key under which a key's values are counted with others'. */
export function rowsOf(
  snapshots: readonly MapSnapshot[],
  layout: MapLayout,
  joined: (key: Uint8Array) => Uint8Array = (key) => key,
): readonly Row[] {
  interface Growing {
    readonly key: Uint8Array;
    readonly values: Uint8Array[];
    /** Of the maps that had it so far, the last. */ seen: number;
  }
  const rows = new Map<string, Growing>();
  for (const [at, { map, entries }] of snapshots.entries())
    for (const [own, value] of entries) {
      const key = joined(own);
      const name = Buffer.from(key).toString("latin1");
      let row = rows.get(name);
      if (row === undefined) {
        row = { key, values: snapshots.map((one) => new Uint8Array(sizeOf(one.map.value))), seen: -1 };
        rows.set(name, row);
      }
      row.values[at] = row.seen === at ? together(map.value, row.values[at], value) : value;
      row.seen = at;
    }
  const types = snapshots.map(({ map }) => map.value);
  const maps = rotated(types.length, layout.map);
  const { keys } = snapshots[0].map;
  const { offsets } = keyLayout(keys);
  const parts = rotated(keys.length, layout.key);
  const ranked = [...rows.values()].map((row) => ({
    row,
    ranks: maps.map((at) => rank(types[at], row.values[at])),
  }));
  ranked.sort((a, b) => {
    const byKeys = (): number =>
      first(parts, (at) => compareKeys(keys[at], a.row.key, b.row.key, offsets[at], offsets[at + 1]));
    const byValues = (): number => first(maps, (_, i) => compare(a.ranks[i], b.ranks[i]));
    const order = layout.byKey ? byKeys() || byValues() : byValues() || byKeys();
    return layout.descending ? -order : order;
  });
  return ranked.map(({ row }) => row);
}

/** What two entries gathered, as one. */
function together(type: Type, a: Uint8Array, b: Uint8Array): Uint8Array {
  if (type.kind !== "aggregate") return b;
  const copies = Uint8Array.from([...a, ...b]);
  return mergeCopies(type, new DataView(copies.buffer), 0, a.length, 2);
}

/** 0, 1, 2 from one on: that of the last, where there are less. */
function rotated(count: number, from: number): number[] {
  const start = Math.min(from, count - 1);
  return Array.from({ length: count }, (_, i) => (start + i) % count);
}

function first(of: readonly number[], order: (one: number, i: number) => number): number {
  for (const [i, one] of of.entries()) {
    const sign = order(one, i);
    if (sign !== 0) return sign;
  }
  return 0;
}

function compare(a: bigint | number, b: bigint | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whole numbers as their bits are without a sign; everything else as bytes. */
function compareKeys(type: Type, a: Uint8Array, b: Uint8Array, from: number, to: number | undefined): number {
  const end = to ?? a.length;
  const [left, right] = [a.subarray(from, end), b.subarray(from, end)];
  if (type.kind !== "integer" && type.kind !== "enum" && type.kind !== "pointer") return Buffer.compare(left, right);
  for (let i = sizeOf(type) - 1; i >= 0; i--) if (left[i] !== right[i]) return left[i] - right[i];
  return 0;
}

/** A number; of buckets what their values come to, each taken as its bucket's label. */
function rank(type: Type, bytes: Uint8Array): bigint | number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (type.kind !== "aggregate") return bytes.length === 8 ? view.getBigInt64(0, true) : 0;
  const words = wordsIn(type, view, 0);
  const result = valueOf(type);
  if (result !== undefined) return resultOf(type, result, words);
  const buckets = partOf(type, "buckets");
  if (buckets === undefined) return 0;
  const { of } = buckets.part;
  let sum = 0;
  for (let i = 0; i < bucketCount(of); i++) {
    const count = BigInt.asIntN(64, words[buckets.at + i]);
    if (count !== 0n) sum += Number(count) * Number(labelled(of, i));
  }
  return sum;
}

/** Of the ends of a bucket the one nearer to 0; what is below all is one less. */
function labelled(buckets: Buckets, i: number): bigint {
  const { low, high } = bucketRange(buckets, i);
  if (low === null) return (high ?? 0n) - 1n;
  if (high === null) return low + 1n;
  return low >= 0n ? low : buckets.by === "step" ? low : high > 0n ? 0n : high - 1n;
}
