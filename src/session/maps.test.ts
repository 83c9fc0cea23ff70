import assert from "node:assert/strict";
import { test } from "node:test";
import type { IrMap } from "../compiler/ir/ir.ts";
import { bucketOf } from "../language/aggregations/buckets.ts";
import type { SeriesKind } from "../language/aggregations/series.ts";
import { aggregateWords } from "../language/aggregations/table.ts";
import { addToCopy, mergeCopies, resultOf } from "../language/aggregations/value.ts";
import { i64, u64, type AggregateKind, type AggregateType, type Type } from "../language/types.ts";
import {
  HashMap,
  copiedValues,
  PercpuSlotMap,
  plainValues,
  SlotMap,
  type KernelTable,
  type SharedMemory,
} from "./maps.ts";

function aggregate(kind: AggregateKind, signed = true): AggregateType {
  return kind === "lhist"
    ? { kind: "aggregate", aggregate: kind, signed, parameters: [0n, 100n, 10n] }
    : { kind: "aggregate", aggregate: kind, signed, parameters: [0n] };
}

function irMap(value: Type, keys: readonly Type[] = []): IrMap {
  return { name: "m", shown: "@m", keys, value, entries: 16 };
}

function memory(bytes: number): SharedMemory {
  const words = new BigUint64Array(bytes / 8);
  return { words, bytes: new Uint8Array(words.buffer), view: new DataView(words.buffer) };
}

function words(bytes: Uint8Array | undefined): bigint[] {
  assert.ok(bytes);
  return [...new BigUint64Array(bytes.slice().buffer)];
}

function key(value: bigint): Uint8Array {
  return new Uint8Array(new BigUint64Array([value]).buffer);
}

/** A hash table as the kernel's: copies in, copies out. */
function table(): KernelTable & { readonly data: Map<string, [Uint8Array, Uint8Array]> } {
  const data = new Map<string, [Uint8Array, Uint8Array]>();
  return {
    data,
    lookup: (k) => data.get(String(k))?.[1].slice(),
    update: (k, v) => void data.set(String(k), [k.slice(), v.slice()]),
    remove: (k) => data.delete(String(k)),
    batches: () => [...data.values()].map(([k, v]) => ({ count: 1, keys: k.slice(), values: v.slice() })),
    clear: () => data.clear(),
  };
}

const minusOne = (1n << 64n) - 1n;

/** Copies of three CPUs, 4 words apart, behind one word of something else. */
function merge(type: AggregateType, ...cpus: bigint[][]): bigint[] {
  const copies = new BigUint64Array(1 + cpus.length * 4);
  copies[0] = 99n;
  cpus.forEach((cpu, i) => copies.set(cpu, 1 + i * 4));
  return words(mergeCopies(type, new DataView(copies.buffer), 8, 32, cpus.length));
}

test("a series joins the CPUs' cells of an interval, and a newer interval takes the cell", () => {
  const series = (kind: SeriesKind, signed = true): AggregateType => ({
    kind: "aggregate",
    aggregate: "tseries",
    signed,
    parameters: [10n, 1n, kind],
  });
  assert.deepEqual(merge(series("last"), [7n, 5n, 70n], [7n, 6n, 75n], [6n, 9n, 69n]), [7n, 6n, 75n]);
  assert.deepEqual(merge(series("avg"), [7n, 5n, 1n], [0n, 0n, 0n], [7n, minusOne, 2n]), [7n, 4n, 3n]);
  assert.deepEqual(merge(series("sum"), [7n, 5n, 0n], [8n, 1n, 0n], [7n, 3n, 0n]), [8n, 1n, 0n]);
  assert.deepEqual(merge(series("min"), [7n, 5n, 0n], [7n, minusOne, 0n]), [7n, minusOne, 0n]);
  assert.deepEqual(merge(series("max", false), [7n, 5n, 0n], [7n, minusOne, 0n]), [7n, minusOne, 0n]);
});

test("adding to a series: an interval's values are one, an older interval makes room", () => {
  const add = (kind: SeriesKind): bigint[] => {
    const type: AggregateType = {
      kind: "aggregate",
      aggregate: "tseries",
      signed: true,
      parameters: [10n, 2n, kind],
    };
    const cells = new BigUint64Array(6);
    for (const [value, time] of [
      [9n, 5n],
      [5n, 21n],
      [-2n, 29n],
      [3n, 30n],
    ] as const)
      addToCopy(type, cells, 0, value, time);
    return [...cells].map((word) => BigInt.asIntN(64, word));
  };
  assert.deepEqual(add("last"), [2n, -2n, 29n, 3n, 3n, 30n]);
  assert.deepEqual(add("avg"), [2n, 3n, 2n, 3n, 3n, 1n]);
  assert.deepEqual(add("sum"), [2n, 3n, 0n, 3n, 3n, 0n]);
  assert.deepEqual(add("min"), [2n, -2n, 0n, 3n, 3n, 0n]);
  assert.deepEqual(add("max"), [2n, 5n, 0n, 3n, 3n, 0n]);
});

test("the CPUs' copies are one: sums wrap, extremes go by sign and only count where set", () => {
  assert.deepEqual(merge(aggregate("count"), [3n], [0n], [4n]), [7n]);
  assert.deepEqual(merge(aggregate("sum"), [minusOne, 1n], [0n, 0n], [3n, 1n]), [2n, 1n]);
  assert.deepEqual(merge(aggregate("sum"), [0n, 0n], [0n, 0n], [0n, 0n]), [0n, 0n]);
  assert.deepEqual(merge(aggregate("avg"), [10n, 2n], [minusOne, 1n], [0n, 0n]), [9n, 3n]);
  const best = (which: "min" | "max", signed: boolean, ...values: readonly bigint[]) => {
    const type = aggregate(which, signed);
    const copies = values.map((value) => {
      const copy = new BigUint64Array(2);
      addToCopy(type, copy, 0, value);
      return [...copy];
    });
    return resultOf(type, { part: 0 }, merge(type, [0n, 0n], ...copies));
  };
  const [least, greatest] = [-(1n << 63n), (1n << 63n) - 1n];
  assert.equal(best("min", true, 5n, -1n), -1n);
  assert.equal(best("min", false, 5n, -1n), 5n);
  assert.equal(best("max", true, -5n, -1n), -1n);
  assert.equal(best("max", false, 7n, 5n, -1n), minusOne);
  assert.equal(best("max", true), 0n);
  assert.deepEqual(
    [best("min", true, greatest), best("max", true, least), best("min", false, -1n), best("max", false, 0n)],
    [greatest, least, minusOne, 0n],
  );
  assert.deepEqual(merge(aggregate("min"), [0n, 0n], [0n, 0n], [0n, 0n]), [0n, 0n]);
});

test("a slot: set, add, zero, clear", () => {
  const shared = memory(64);
  const slot = new SlotMap(irMap(u64), 16, shared);
  assert.deepEqual(slot.entries(), []);
  assert.equal(slot.add(null, -3n), -3n);
  assert.deepEqual([...shared.words], [0n, 0n, 1n, minusOne - 2n, 0n, 0n, 0n, 0n]);
  slot.store(null, key(9n));
  slot.zero();
  assert.deepEqual(words(slot.lookup()), [0n]);
  slot.store(null, key(9n));
  slot.clear();
  assert.equal(slot.lookup(), undefined);
  assert.deepEqual([...shared.words], [0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n]);
});

test("a per-CPU slot: what the kernel wrote on any CPU and the host's own are read as one", () => {
  const type = aggregate("stats");
  const stripe = 64;
  const shared = memory(3 * stripe);
  const slot = new PercpuSlotMap(irMap(type), 8, shared, stripe, 3);
  assert.deepEqual(slot.entries(), []);
  // CPU 2: set, total -5 of 2 values.
  shared.words.set([1n, BigInt.asUintN(64, -5n), 2n], (2 * stripe + 8) / 8);
  slot.aggregate(null, 7n);
  assert.deepEqual(words(slot.lookup()), [2n, 3n]);
  slot.zero();
  assert.deepEqual(
    slot.entries().map(([k, v]) => [k.length, words(v)]),
    [[0, [0n, 0n]]],
  );
  slot.clear();
  assert.deepEqual(slot.entries(), []);
  assert.ok(shared.words.every((word) => word === 0n));
});

test("copies in hash entries are merged, and zeroed or cleared together", () => {
  const type = aggregate("lhist");
  const size = aggregateWords(type) * 8;
  const kernel = table();
  const script = irMap(type, [u64]);
  const map = new HashMap(script, kernel, 8, copiedValues(type, { copies: 2, stride: size }));
  const copies = new BigUint64Array((size / 8) * 2);
  copies[3] = 2n;
  copies[size / 8 + 3] = 5n;
  kernel.update(key(1n), new Uint8Array(copies.buffer));
  map.aggregate(key(1n), 25n); // bucket 3: [20, 30)
  map.aggregate(key(2n), -1n);
  assert.equal(words(map.lookup(key(1n)))[3], 8n);
  assert.deepEqual(
    map.entries().map(([k, v]) => [words(k)[0], words(v).reduce((a, b) => a + b)]),
    [
      [1n, 8n],
      [2n, 1n],
    ],
  );
  assert.equal(map.length(), 2);
  map.zero();
  assert.deepEqual(
    map.entries().map(([k, v]) => [words(k)[0], words(v).reduce((a, b) => a + b)]),
    [
      [1n, 0n],
      [2n, 0n],
    ],
  );
  assert.equal(map.delete(key(1n)), true);
  assert.equal(map.delete(key(1n)), false);
  map.clear();
  assert.equal(kernel.data.size, 0);
});

test("hash entries: stores are padded to the value's size, adding makes missing ones", () => {
  const kernel = table();
  const map = new HashMap(irMap(i64, [u64]), kernel, 8, plainValues(8));
  assert.equal(map.lookup(key(5n)), undefined);
  assert.equal(map.add(key(5n), 2n), 2n);
  assert.equal(map.add(key(5n), -3n), -1n);
  map.store(key(6n), new Uint8Array([1]));
  assert.deepEqual(
    map.entries().map(([k, v]) => [words(k), words(v)]),
    [
      [[5n], [minusOne]],
      [[6n], [1n]],
    ],
  );
  const histogram = new HashMap(
    irMap(aggregate("hist"), [u64]),
    kernel,
    8,
    plainValues(aggregateWords(aggregate("hist")) * 8),
  );
  kernel.data.clear();
  histogram.aggregate(key(1n), 20n);
  histogram.aggregate(key(1n), 31n);
  assert.equal(words(histogram.lookup(key(1n)))[bucketOf({ by: "power", bits: 0 }, 20n)], 2n);
});
