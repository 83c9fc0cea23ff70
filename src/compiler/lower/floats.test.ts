// Doubles in integer code against the processor's own: every operation on what is at the edges and on bits at random.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bitsOfDouble, doubleOfBits } from "../../language/floating.ts";
import { float64, i64, type FloatType, u64, type Type } from "../../language/types.ts";
import type { IrFunction, IrMap, Value } from "../ir/ir.ts";
import { generate } from "../javascript/generate.ts";
import { MemoryRuntime } from "../../../test/support/memory-runtime.ts";
import { evaluate } from "../javascript/evaluate.ts";
import { convertFloat, floatArithmetic, floatCompare, ofOrder, orderOf, withoutFraction } from "./floats.ts";
import { FunctionBuilder } from "./ssa.ts";
import type { FunctionState } from "./state.ts";

const float32: FloatType = { kind: "named", of: "float32" };

/** Code that makes a number of two, as a function of them. */
function executed(
  make: (f: FunctionState, left: Value, right: Value) => Value,
): (left: bigint, right: bigint) => bigint {
  const build = new FunctionBuilder();
  // What makes the code asks for nothing else of where it is made.
  const f = { build } as FunctionState;
  const load = (map: number): Value => build.give((result) => ({ op: "map-load", result, map, size: 8, signed: true }));
  const result = make(f, load(0), load(1));
  build.emit({ op: "map-store", map: 2, source: { kind: "value", value: result, width: 8 } });
  const fn: IrFunction = { name: "test", kind: "handler", placement: "host", matches: [], ...build.finish() };
  const maps = ["left", "right", "result"].map((name): IrMap => ({
    name,
    shown: `@${name}`,
    keys: [],
    value: i64,
    entries: 1,
  }));
  const runtime = new MemoryRuntime({ maps });
  const run = evaluate(generate(fn, { functions: [fn], maps, schemas: [] }));
  return (left, right) => {
    for (const [map, value] of [left, right].entries())
      runtime.mapStore(map, null, new Uint8Array(BigInt64Array.of(value).buffer));
    run(runtime);
    const bytes = runtime.mapLookup(2, null)!;
    return new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true);
  };
}

let state = 88172645463325252n;
function random(): bigint {
  state = BigInt.asUintN(64, state ^ (state << 13n));
  state ^= state >> 7n;
  state = BigInt.asUintN(64, state ^ (state << 17n));
  return BigInt.asIntN(64, state);
}
const edges = [
  0,
  -0,
  1,
  -1,
  0.5,
  1.5,
  2.5,
  -2.5,
  0.49999999999999994,
  4503599627370495.5,
  2 ** 53 + 2,
  1e308,
  5e-324,
  -5e-324,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  2.2250738585072014e-308,
  2.2250738585072009e-308,
  Infinity,
  -Infinity,
  NaN,
  2 ** 63,
  -(2 ** 63),
  2 ** 64,
  2 ** 62,
  3.4028235677973366e38,
  1.401298464324817e-45,
  7.006492321624085e-46,
  1e-40,
].map(bitsOfDouble);
const mantissa = (1n << 52n) - 1n;
/** Bits at random; of all exponents, of those near 1, and of none. */
const some = Array.from({ length: 400 }, (_, i) => {
  const bits = random();
  const near = (BigInt.asUintN(64, random()) % 120n) + 1023n - 60n;
  return i % 3 === 0 ? bits : (bits & (mantissa | (-1n << 63n))) | (i % 3 === 1 ? near << 52n : 0n);
});
const pairs = [
  ...edges.flatMap((left) => edges.map((right) => [left, right] as const)),
  ...some.map((left, i) => [left, some[(i * 7 + 1) % some.length]] as const),
  ...some.map((left, i) => [left, edges[i % edges.length]] as const),
  // Close to one another, for what cancels out.
  ...some.map((left) => [left, left + BigInt(Number(random() % 3n))] as const),
];
const shown = (bits: bigint): string => `${doubleOfBits(bits)} (0x${BigInt.asUintN(64, bits).toString(16)})`;

for (const [operator, wanted] of [
  ["+", (a: number, b: number) => a + b],
  ["-", (a: number, b: number) => a - b],
  ["*", (a: number, b: number) => a * b],
  ["/", (a: number, b: number) => a / b],
] as const) {
  test(`a ${operator} b`, () => {
    const got = executed((f, left, right) => floatArithmetic(f, operator, left, right));
    for (const [left, right] of pairs) {
      const result = doubleOfBits(got(left, right));
      const expected = wanted(doubleOfBits(left), doubleOfBits(right));
      assert.ok(
        Object.is(result, expected),
        `${shown(left)} ${operator} ${shown(right)} is ${expected}, not ${result}`,
      );
    }
  });
}

test("comparisons", () => {
  const wanted = {
    eq: (a: number, b: number) => a === b,
    ne: (a: number, b: number) => a !== b,
    slt: (a: number, b: number) => a < b,
    sle: (a: number, b: number) => a <= b,
    sgt: (a: number, b: number) => a > b,
    sge: (a: number, b: number) => a >= b,
  };
  for (const [kind, compare] of Object.entries(wanted)) {
    const got = executed((f, left, right) => floatCompare(f, kind as keyof typeof wanted, left, right));
    for (const [left, right] of pairs) {
      assert.equal(
        got(left, right),
        BigInt(compare(doubleOfBits(left), doubleOfBits(right))),
        `${shown(left)} ${kind} ${shown(right)}`,
      );
    }
  }
});

test("conversions", () => {
  const convert = (from: Type, to: Type): ((value: bigint) => bigint) => {
    const run = executed((f, value) => convertFloat(f, value, from, to));
    return (value) => run(value, 0n);
  };
  const [signed, unsigned, whole, natural, narrow, wide] = [
    convert(i64, float64),
    convert(u64, float64),
    convert(float64, i64),
    convert(float64, u64),
    convert(float64, float32),
    convert(float32, float64),
  ];
  const single = new DataView(new ArrayBuffer(4));
  for (const bits of [
    ...edges,
    ...some,
    0n,
    1n,
    -1n,
    (1n << 63n) - 1n,
    -(1n << 63n),
    (1n << 53n) + 1n,
    -(1n << 54n) - 3n,
  ]) {
    assert.equal(doubleOfBits(signed(bits)), Number(bits), `${bits}`);
    assert.equal(doubleOfBits(unsigned(bits)), Number(BigInt.asUintN(64, bits)), `${bits}`);
    const value = doubleOfBits(bits);
    const cut = Number.isFinite(value) ? BigInt(Math.trunc(value)) : 1n << 70n;
    assert.equal(whole(bits), cut === BigInt.asIntN(64, cut) ? cut : -(1n << 63n), shown(bits));
    if (cut >= 0n) assert.equal(BigInt.asUintN(64, natural(bits)), cut < 1n << 64n ? cut : 1n << 63n, shown(bits));
    single.setFloat32(0, value);
    if (!Number.isNaN(value)) assert.equal(narrow(bits), BigInt(single.getUint32(0)), shown(bits));
    const half = BigInt.asUintN(32, bits);
    single.setUint32(0, Number(half));
    assert.ok(Object.is(doubleOfBits(wide(half)), single.getFloat32(0)), `${half}`);
  }
});

test("without their fractions", () => {
  const away = (x: number): number =>
    Math.abs(x) < 2 ** 52 ? Math.sign(x) * Math.floor(Math.abs(x)) + (Math.abs(x) % 1 >= 0.5 ? Math.sign(x) : 0) : x;
  for (const [way, wanted] of [
    ["floor", Math.floor],
    ["ceil", Math.ceil],
    ["trunc", Math.trunc],
    ["round", away],
  ] as const) {
    const got = executed((f, value) => withoutFraction(f, way, value));
    for (const bits of [...edges, ...some]) {
      const result = doubleOfBits(got(bits, 0n));
      assert.ok(
        result === wanted(doubleOfBits(bits)) || (Number.isNaN(result) && Number.isNaN(doubleOfBits(bits))),
        `${way}(${shown(bits)}) is ${result}`,
      );
    }
  }
});

test("their order as integers, and back", () => {
  const [order, back] = [
    executed((f, value) => orderOf(f, value)),
    executed((f, value) => ofOrder(f, orderOf(f, value))),
  ];
  const sorted = [...edges, ...some]
    .filter((bits) => !Number.isNaN(doubleOfBits(bits)))
    .sort((a, b) => Number(order(a, 0n) - order(b, 0n)) || 0);
  for (const [i, bits] of sorted.entries()) {
    if (i > 0) assert.ok(doubleOfBits(sorted[i - 1]) <= doubleOfBits(bits));
    assert.ok(doubleOfBits(back(bits, 0n)) === doubleOfBits(bits));
  }
});
