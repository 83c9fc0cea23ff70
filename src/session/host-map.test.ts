import assert from "node:assert/strict";
import { test } from "node:test";
import type { IrMap } from "../compiler/ir/ir.ts";
import { i64, type Type } from "../language/types.ts";
import { HostMap } from "./host-map.ts";

const irMap = (keys: readonly Type[], value: IrMap["value"], entries: number, lru = false): IrMap => ({
  name: "m",
  shown: "@m",
  keys,
  value,
  entries,
  host: true,
  ...(lru ? { evicts: true as const } : {}),
});
const key = (n: number): Uint8Array => new Uint8Array(new BigInt64Array([BigInt(n)]).buffer);
const number = (bytes: Uint8Array | undefined): bigint | undefined =>
  bytes && new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true);

test("entries are found, changed and removed, as in a Map", () => {
  const map = new HostMap(irMap([i64], i64, 5000));
  const expected = new Map<number, bigint>();
  let state = 1;
  for (let i = 0; i < 40_000; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    const n = (state >>> 8) % 3000;
    if (state % 3 === 0) {
      assert.equal(map.delete(key(n)), expected.delete(n));
    } else {
      assert.equal(map.add(key(n), BigInt(i)), (expected.get(n) ?? 0n) + BigInt(i));
      expected.set(n, (expected.get(n) ?? 0n) + BigInt(i));
    }
  }
  assert.equal(map.length(), expected.size);
  for (const [n, value] of expected) assert.equal(number(map.lookup(key(n))), value);
  const entries = map.entries().map(([k, v]) => [Number(number(k)), number(v)] as const);
  assert.deepEqual(
    entries.sort(([a], [b]) => a - b),
    [...expected].sort(([a], [b]) => a - b),
  );
  map.clear();
  assert.deepEqual([map.length(), map.entries()], [0, []]);
  assert.equal(map.lookup(key(1)), undefined);
});

test("a map without keys has one value, or none", () => {
  const map = new HostMap(irMap([], i64, 1));
  assert.equal(map.lookup(null), undefined);
  assert.equal(map.add(null, 3n), 3n);
  assert.equal(map.add(null, -5n), -2n);
  map.store(null, new Uint8Array([7]));
  assert.equal(number(map.lookup(null)), 7n);
  map.zero();
  assert.equal(number(map.lookup(null)), 0n);
  assert.equal(map.delete(null), true);
  assert.equal(map.lookup(null), undefined);
});

test("a full map refuses what is new, and says so", () => {
  const map = new HostMap(irMap([i64], i64, 3));
  for (let n = 0; n < 5; n++) map.add(key(n), 1n);
  map.add(key(1), 1n);
  assert.deepEqual([map.length(), map.refused(), number(map.lookup(key(1)))], [3, 2, 2n]);
  assert.equal(map.refused(), 0);
});

test("a map that makes room lets go of what was not used", () => {
  const map = new HostMap(irMap([i64], i64, 3, true));
  for (let n = 0; n < 3; n++) map.add(key(n), 1n);
  map.add(key(3), 1n);
  assert.equal(map.length(), 3);
  assert.equal(number(map.lookup(key(3))), 1n);
});

test("aggregations are kept as words", () => {
  const map = new HostMap(irMap([i64], { kind: "aggregate", aggregate: "count", signed: true }, 3));
  map.aggregate(key(1), 1n);
  map.aggregate(key(1), 1n);
  assert.equal(number(map.lookup(key(1))), 2n);
});

test("counts go on where their lower half is full", () => {
  const counts: IrMap["value"] = { kind: "aggregate", aggregate: "count", signed: true };
  const map = new HostMap(irMap([i64], counts, 10));
  map.aggregate(key(1), 1n);
  map.store(key(1), new Uint8Array(new BigUint64Array([0xffff_fffen]).buffer));
  for (let i = 0; i < 3; i++) map.aggregate(key(1), 1n);
  assert.equal(number(map.lookup(key(1))), 0x1_0000_0001n);
});
