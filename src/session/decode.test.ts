import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldLayout, sizeOf } from "../language/layout.ts";
import { bucketOf } from "../language/aggregations/buckets.ts";
import { boolType, i32, i64, char, i8, u16, u32, u64, type AggregateType, type Type } from "../language/types.ts";
import { decoder, type DecodedValue } from "./decode.ts";

/** Decodes bytes placed at an odd distance, so that a decoder that forgets its offset fails. */
function decode(type: Type, write: (view: DataView, bytes: Uint8Array) => void): DecodedValue {
  const shift = 24;
  const bytes = new Uint8Array(shift + sizeOf(type) + 8);
  const own = bytes.subarray(shift);
  write(new DataView(bytes.buffer, shift), own);
  return decoder(type)(new DataView(bytes.buffer), bytes, shift);
}

test("64-bit integers are numbers as long as they are exact", () => {
  const values: [bigint, DecodedValue, DecodedValue][] = [
    [0n, 0, 0],
    [1n << 40n, 2 ** 40, 2 ** 40],
    [BigInt(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [1n << 53n, 1n << 53n, 1n << 53n],
    [(1n << 64n) - 1n, (1n << 64n) - 1n, -1],
    [(1n << 64n) - (1n << 52n), (1n << 64n) - (1n << 52n), -(2 ** 52)],
    [1n << 63n, 1n << 63n, -(1n << 63n)],
  ];
  for (const [stored, unsigned, signed] of values) {
    assert.deepEqual(
      decode(u64, (view) => view.setBigUint64(0, stored, true)),
      unsigned,
    );
    assert.deepEqual(
      decode(i64, (view) => view.setBigUint64(0, stored, true)),
      signed,
    );
  }
});

test("a text that came before is not taken for a longer or a shorter one", () => {
  for (const capacity of [4, 64, 100]) {
    const read = decoder({ kind: "string", capacity });
    const texts = [
      "ab",
      "ab",
      "abc",
      "a",
      "",
      "",
      "abcd",
      "abcd",
      "x".repeat(capacity),
      "x".repeat(capacity),
      "x".repeat(capacity - 1),
      "é",
      "é",
      "è",
    ];
    for (const text of texts.filter((one) => Buffer.byteLength(one) <= capacity)) {
      const bytes = new Uint8Array(capacity + 8).fill(1);
      bytes.fill(0, 8);
      bytes.set(Buffer.from(text), 8);
      assert.equal(read(new DataView(bytes.buffer), bytes, 8), text);
    }
  }
});

test("a tuple of everything small", () => {
  const elements: Type[] = [
    i8,
    u16,
    i32,
    boolType,
    { kind: "string", capacity: 8 },
    { kind: "buffer", capacity: 6 },
    u64,
  ];
  const { offsets } = fieldLayout(elements);
  const value = decode({ kind: "tuple", elements }, (view, bytes) => {
    view.setInt8(offsets[0], -3);
    view.setUint16(offsets[1], 65535, true);
    view.setInt32(offsets[2], -70000, true);
    bytes[offsets[3]] = 1;
    bytes.set(Buffer.from("hé\0junk"), offsets[4]);
    view.setUint32(offsets[5], 2, true);
    bytes.set([9, 8, 7], offsets[5] + 4);
    view.setBigUint64(offsets[6], 5n, true);
  });
  assert.deepEqual(value, [-3, 65535, -70000, true, "hé", new Uint8Array([9, 8]), 5]);
});

test("structs give their members, anonymous ones' members and bit-fields", () => {
  const inner = {
    kind: "struct",
    union: true,
    name: "",
    size: 4,
    members: [{ name: "flags", type: u32, offset: 0 }],
  } as const;
  const struct: Type = {
    kind: "struct",
    union: false,
    name: "s",
    size: 16,
    members: [
      { name: "", type: inner, offset: 4 },
      { name: "low", type: u32, offset: 0, bitOffset: 3, bitWidth: 6 },
      { name: "sign", type: i32, offset: 0, bitOffset: 9, bitWidth: 2 },
      {
        name: "choice",
        type: { kind: "enum", name: "", bits: 32, signed: true, names: new Map() },
        offset: 0,
        bitOffset: 9,
        bitWidth: 2,
      },
      { name: "yes", type: { kind: "boolean" }, offset: 0, bitOffset: 10, bitWidth: 1 },
      { name: "name", type: { kind: "array", element: char, length: 4 }, offset: 8 },
      { name: "pair", type: { kind: "array", element: u16, length: 2 }, offset: 12 },
    ],
  };
  const value = decode(struct, (view, bytes) => {
    view.setUint32(0, (0b101101 << 3) | (0b11 << 9), true);
    view.setUint32(4, 77, true);
    bytes.set(Buffer.from("abcd"), 8);
    view.setUint16(12, 1, true);
    view.setUint16(14, 2, true);
  });
  assert.deepEqual(value, { flags: 77, low: 0b101101, sign: -1, choice: -1, yes: true, name: "abcd", pair: [1, 2] });
});

test("stacks and names carry what naming them needs", () => {
  const stack: Type = { kind: "stack", space: "user", mode: "perf", limit: 5 };
  assert.deepEqual(
    decode(stack, (view) => {
      view.setBigInt64(0, -14n, true);
      view.setUint32(8, 42, true);
      view.setUint32(12, 43, true);
    }),
    { kind: "stack", space: "user", mode: "perf", limit: 5, id: -14, pid: 42, tid: 43 },
  );
  assert.deepEqual(
    decode({ kind: "named", of: "inet" }, (view, bytes) => {
      view.setUint32(0, 2, true);
      bytes.set([127, 0, 0, 1], 8);
    }),
    { kind: "inet", value: 0, bytes: new Uint8Array([127, 0, 0, 1]) },
  );
});

test("aggregations", () => {
  const stats: AggregateType = { kind: "aggregate", aggregate: "stats", signed: true };
  assert.deepEqual(
    decode(stats, (view) => {
      view.setBigInt64(0, -7n, true);
      view.setBigUint64(8, 2n, true);
    }),
    { count: 2, average: -3, total: -7 },
  );
  const hist: AggregateType = { kind: "aggregate", aggregate: "hist", signed: true, parameters: [0n] };
  assert.deepEqual(
    decode(hist, (view) => {
      view.setBigUint64(8 * bucketOf({ by: "power", bits: 0 }, 4n), 3n, true);
      view.setBigUint64(8 * bucketOf({ by: "power", bits: 0 }, 20n), 1n, true);
    }),
    [
      { low: 4, high: 8, count: 3 },
      { low: 8, high: 16, count: 0 },
      { low: 16, high: 32, count: 1 },
    ],
  );
  assert.deepEqual(
    decode(hist, () => {}),
    [],
  );
  const linear: AggregateType = { kind: "aggregate", aggregate: "lhist", signed: true, parameters: [0n, 10n, 5n] };
  assert.deepEqual(
    decode(linear, (view) => view.setBigUint64(24, 9n, true)),
    [{ low: 10, high: null, count: 9 }],
  );
});
