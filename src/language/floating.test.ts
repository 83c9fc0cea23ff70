import assert from "node:assert/strict";
import { test } from "node:test";
import { addToSum, average, doubleOfOrder, quotient, total } from "./aggregations/double-sums.ts";
import { bitsOfDouble, doubleOfBits, literalText, sumWords } from "./floating.ts";

function summed(values: readonly number[]): { readonly total: number; readonly average: number } {
  const words = new BigUint64Array(1 + sumWords);
  words[0] = BigInt(values.length);
  for (const value of values)
    addToSum((word, amount) => {
      words[1 + word] += BigInt.asUintN(64, amount);
    }, bitsOfDouble(value));
  return { total: total([...words]), average: average([...words]) };
}

test("sums of doubles are exact, in any order, and rounded once", () => {
  assert.deepEqual(summed([0.1, 0.2, 0.3]), { total: 0.6, average: 0.2 });
  assert.equal(summed([1e308, 1, -1e308, 1e-300]).total, 1);
  assert.equal(summed([1e308, 1e308, -1e308, -1e308, 5e-324]).total, 5e-324);
  assert.equal(summed([Number.MAX_VALUE, Number.MAX_VALUE]).total, Infinity);
  assert.equal(summed([Number.MAX_VALUE, Number.MAX_VALUE]).average, Number.MAX_VALUE);
  assert.equal(summed([5e-324, 0]).average, 0);
  assert.equal(summed([5e-324, 1e-323]).average, 1e-323);
  assert.equal(summed([-2.5, 1]).average, -0.75);
  assert.equal(summed([]).average, 0);
  // Halfway between two doubles, and a little more.
  assert.equal(summed([2 ** 53, 1]).total, 2 ** 53);
  assert.equal(summed([2 ** 53, 1, 5e-324]).total, 2 ** 53 + 2);
  const bits = Array.from({ length: 300 }, (_, i) => doubleOfBits(BigInt(i + 1) * 0x1234_5678_9abc_def1n)).filter(
    Number.isFinite,
  );
  assert.equal(summed(bits).total, summed(bits.toReversed()).total);
  assert.equal(summed([...bits, ...bits.map((value) => -value)]).total, 0);
});

test("doubles in the order of integers", () => {
  const [low, high] = [bitsOfDouble(0.5), bitsOfDouble(3)];
  assert.deepEqual([-high, -low, 0n, low, high].map(doubleOfOrder), [-3, -0.5, 0, 0.5, 3]);
});

test("a quotient is the nearest double", () => {
  assert.equal(quotient(1n, 3n), 1 / 3);
  assert.equal(quotient(-(2n ** 200n) - 1n, 2n ** 200n), -1);
  assert.equal(quotient(10n ** 400n + 1n, 10n ** 400n * 10n), 0.1);
  assert.equal(quotient(0n, 7n), 0);
});

test("infinities and what is no number are what additions make of them", () => {
  assert.equal(summed([1, Infinity]).total, Infinity);
  assert.equal(summed([-Infinity, 1]).average, -Infinity);
  assert.equal(summed([-Infinity, Infinity]).total, NaN);
  assert.equal(summed([NaN]).total, NaN);
});

test("numbers in scripts keep their point", () => {
  assert.deepEqual([2, -0.5, 1e21, 1.5e-7, 1e-7].map(literalText), ["2.0", "-0.5", "1.0e+21", "1.5e-7", "1.0e-7"]);
});
