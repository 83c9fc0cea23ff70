import assert from "node:assert/strict";
import { test } from "node:test";
import { keyLayout, sizeOf } from "../language/layout.ts";
import { i64, type AggregateKind, type AggregateType, type Type } from "../language/types.ts";
import { orderedEntries } from "./map-order.ts";

type Entry = readonly [Uint8Array, Uint8Array];

function shown(keys: readonly Type[], value: Type, entries: readonly Entry[], top = 0): Entry[] {
  return [...orderedEntries({ map: { name: "m", shown: "@m", keys, value, entries: 1 }, index: 0, entries }, top)];
}

const integer = (bits: 8 | 16 | 32 | 64, signed: boolean): Type => ({ kind: "integer", bits, signed });
const aggregate = (kind: AggregateKind, signed: boolean): AggregateType => ({
  kind: "aggregate",
  aggregate: kind,
  signed,
  parameters: [0n],
});

function words(...values: bigint[]): Uint8Array {
  return new Uint8Array(new BigUint64Array(values).buffer);
}

/** As it lies in memory. */
function number(bits: number, value: bigint): Uint8Array {
  return words(BigInt.asUintN(64, value)).slice(0, bits / 8);
}

function doubleBytes(value: number): Uint8Array {
  return new Uint8Array(new Float64Array([value]).buffer);
}

/** The same numbers at every run. */
function random(): () => bigint {
  let state = 88172645463325252n;
  return () => {
    state ^= BigInt.asUintN(64, state << 13n);
    state ^= state >> 7n;
    state ^= BigInt.asUintN(64, state << 17n);
    return state;
  };
}

for (const bits of [8, 16, 32, 64] as const)
  for (const signed of [true, false])
    test(`integers of ${bits} bits, ${signed ? "signed" : "unsigned"}, as keys and as values`, () => {
      const next = random();
      const cut = (value: bigint) => (signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value));
      const pairs = Array.from({ length: 3000 }, () => {
        const word = next();
        // Some values are equal, some small, some at the ends.
        const value = word % 4n === 0n ? 7n : word % 4n === 1n ? (word >> 8n) % 5n : -(word >> 2n);
        return [cut(next()), cut(value)] as const;
      });
      const type = integer(bits, signed);
      const entries = pairs.map(([key, value]) => [number(bits, key), number(bits, value)] as const);
      const order = shown([type], type, entries).map((one) => one.map((bytes) => cut(wide(bytes))));
      const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
      assert.deepEqual(
        order,
        pairs.map((one) => [...one]).sort(([a, x], [b, y]) => compare(x, y) || compare(a, b)),
      );
    });

function wide(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

test("texts, of which equal ones go by their keys' bytes", () => {
  const string: Type = { kind: "string", capacity: 8 };
  const text = (value: string, behind = "") => {
    const bytes = Buffer.alloc(8);
    bytes.write(`${value}\0${behind}`, "latin1");
    return new Uint8Array(bytes);
  };
  const entries: Entry[] = [
    [text("zz"), text("b")],
    [text("a"), text("b", "later")],
    [text("c"), text("ab")],
    [text("b"), text("b", "earl")],
    [text("d"), text("")],
  ];
  const order = shown([string], string, entries).map(([key]) => Buffer.from(key).toString("latin1").split("\0")[0]);
  assert.deepEqual(order, ["d", "c", "a", "b", "zz"]);
});

test("doubles by their size: what is no number first, both zeros equal", () => {
  const type: Type = { kind: "named", of: "float64" };
  const values = [0.5, -0.25, Infinity, -Infinity, NaN, 1e300, -1e300, 5e-324, -5e-324, 2];
  const order = (swapped: boolean): number[] =>
    shown(
      [swapped ? type : i64],
      swapped ? i64 : type,
      values.map((value, i) => (swapped ? [doubleBytes(value), words(1n)] : [words(BigInt(i)), doubleBytes(value)])),
    ).map((one) => new Float64Array(one[swapped ? 0 : 1].slice().buffer)[0]);
  const sorted = [NaN, -Infinity, -1e300, -0.25, -5e-324, 5e-324, 0.5, 2, 1e300, Infinity];
  assert.deepEqual(order(false), sorted);
  assert.deepEqual(order(true), sorted);
  const zeros = shown([i64], type, [
    [words(2n), doubleBytes(-0)],
    [words(1n), doubleBytes(0)],
    [words(3n), doubleBytes(-0)],
  ]);
  assert.deepEqual(
    zeros.map(([key]) => key[0]),
    [1, 2, 3],
  );
});

test("aggregations by what they come to: sums and averages with their sign, counts without, buckets by their total", () => {
  const minus = (value: bigint) => BigInt.asUintN(64, -value);
  const order = (type: AggregateType, ...values: readonly (readonly bigint[])[]): number[] => {
    const size = sizeOf(type);
    return shown(
      [i64],
      type,
      values.map((value, i) => {
        const bytes = new Uint8Array(size);
        bytes.set(words(...value));
        return [words(BigInt(i)), bytes] as const;
      }),
    ).map(([key]) => key[0]);
  };
  assert.deepEqual(order(aggregate("count", false), [5n], [1n << 63n], [0n], [5n]), [2, 0, 3, 1]);
  assert.deepEqual(order(aggregate("sum", true), [5n, 1n], [minus(1n), 1n], [300n, 1n]), [1, 0, 2]);
  assert.deepEqual(order(aggregate("sum", false), [5n, 1n], [minus(1n), 1n], [300n, 1n]), [0, 2, 1]);
  assert.deepEqual(order(aggregate("avg", true), [50n, 10n], [minus(90n), 3n], [8n, 1n]), [1, 0, 2]);
  assert.deepEqual(order(aggregate("avg", false), [50n, 10n], [minus(90n), 1n], [8n, 1n]), [0, 2, 1]);
  assert.deepEqual(order(aggregate("hist", true), [1n, 2n, 3n], [0n, 0n, 5n], [300n]), [1, 0, 2]);
});

test("keys of several parts by their bytes; of the order the last ones", () => {
  const keys = [i64, i64];
  const { size } = keyLayout(keys);
  const entries: Entry[] = [
    [words(2n, 1n), words(1n)],
    [words(1n, 2n), words(1n)],
    [words(1n, 1n), words(1n)],
    [words(0n, 9n), words(0n)],
  ];
  assert.equal(size, 16);
  const of = (top: number) => shown(keys, i64, entries, top).map(([key]) => [key[0], key[8]]);
  assert.deepEqual(of(0), [
    [0, 9],
    [1, 1],
    [1, 2],
    [2, 1],
  ]);
  assert.deepEqual(of(2), [
    [1, 2],
    [2, 1],
  ]);
  assert.deepEqual(of(9), of(0));
});
