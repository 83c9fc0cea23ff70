import assert from "node:assert/strict";
import { test } from "node:test";
import type { AggregateType } from "../types.ts";
import { bucketCount, bucketOf, bucketRange, type Buckets } from "./buckets.ts";
import { aggregateLayout, aggregateWords, aggregationOf, aggregations, partOf } from "./table.ts";
import { addToCopy, mergeCopies, resultOf, wordsIn } from "./value.ts";

const typeOf = (aggregate: string, parameters: readonly bigint[] = [], signed = true): AggregateType => ({
  kind: "aggregate",
  aggregate,
  signed,
  parameters,
});

/** What `values` come to, spread over the copies of three CPUs. */
function resultsOf(type: AggregateType, values: readonly bigint[]): Record<string, number | bigint> {
  const words = aggregateWords(type);
  const copies = new BigUint64Array(words * 3);
  values.forEach((value, i) => addToCopy(type, copies, (i % 3) * words, value));
  const merged = mergeCopies(type, new DataView(copies.buffer), 0, words * 8, 3);
  const all = wordsIn(type, new DataView(merged.buffer), 0);
  return Object.fromEntries(
    Object.entries(aggregationOf(type).results(type)).map(([name, result]) => [name, resultOf(type, result, all)]),
  );
}

test("each result names a part that is there, and an average stands before its count", () => {
  for (const aggregation of aggregations.values())
    for (const float of aggregation.takes === "numbers" ? [false, true] : [false]) {
      const type = { ...typeOf(aggregation.name, [10n, 0n, 2n, 10n]), ...(float ? { float } : {}) } as AggregateType;
      const { parts } = aggregateLayout(type);
      for (const result of Object.values(aggregation.results(type))) {
        if (!("part" in result)) continue;
        assert.ok(result.part < parts.length, aggregation.name);
        if (result.averaged) assert.equal(parts[result.part + 1]?.part.kind, "count", aggregation.name);
      }
      assert.ok(aggregation.value === undefined || aggregation.value in aggregation.results(type), aggregation.name);
    }
});

test("variance and standard deviation are exact, and rounded once", () => {
  const oneToHundred = Array.from({ length: 100 }, (_, i) => BigInt(i + 1));
  assert.deepEqual(resultsOf(typeOf("variance"), oneToHundred), {
    count: 100n,
    variance: 833.25,
    sampleVariance: 841.6666666666666,
    stddev: 28.86607004772212,
  });
  // Beside values of 10^18 a double would not see that they differ.
  const large = oneToHundred.map((value) => value + 10n ** 18n);
  assert.equal(resultsOf(typeOf("stddev"), large)["stddev"], 28.86607004772212);
  assert.equal(
    resultsOf(
      typeOf("variance"),
      oneToHundred.map((value) => -value),
    )["variance"],
    833.25,
  );
  const ends = [-(1n << 63n), (1n << 63n) - 1n];
  assert.equal(resultsOf(typeOf("variance"), ends)["variance"], 2 ** 126);
  const unsigned = [0n, (1n << 64n) - 1n];
  assert.equal(resultsOf(typeOf("stddev", [], false), unsigned)["stddev"], 2 ** 63);
  assert.deepEqual(resultsOf(typeOf("variance"), [7n]), { count: 1n, variance: 0, sampleVariance: 0, stddev: 0 });
  assert.equal(resultsOf(typeOf("variance"), [])["variance"], 0);
});

const bucketsOf = (type: AggregateType): Buckets => partOf(type, "buckets")!.part.of;

test("buckets lie side by side, and a value is in the one whose range it is in", () => {
  for (const type of [
    typeOf("hist", [0n]),
    typeOf("hist", [3n]),
    typeOf("lhist", [-50n, 77n, 8n]),
    typeOf("llhist", [10n, 0n, 6n, 20n]),
    typeOf("llhist", [2n, 3n, 61n, 4n]),
    typeOf("llhist", [3n, 2n, 2n, 9n]),
    typeOf("sllhist", [10n, 0n, 6n, 20n]),
    typeOf("sllhist", [3n, 2n, 2n, 9n]),
    typeOf("shist"),
  ]) {
    const buckets = bucketsOf(type);
    const ranges = Array.from({ length: bucketCount(buckets) }, (_, i) => bucketRange(buckets, i));
    const ends = ranges.map(({ high }) => high);
    assert.deepEqual(ranges.map(({ low }) => low).slice(1), ends.slice(0, -1));
    for (const [i, { low, high }] of ranges.entries()) {
      for (const value of [low, high === null ? (1n << 63n) - 1n : high - 1n])
        if (value !== null && value < 1n << 63n) assert.equal(bucketOf(buckets, value), i, `${value}`);
    }
    assert.equal(bucketOf(buckets, -(1n << 63n)), 0);
  }
});

test("llhist has each power in equal steps, as wide as one value at least", () => {
  const buckets = bucketsOf(typeOf("llhist", [10n, 0n, 2n, 20n]));
  const lows = Array.from({ length: bucketCount(buckets) }, (_, i) => bucketRange(buckets, i).low).slice(1);
  const every = (from: number, to: number, step: number): bigint[] =>
    Array.from({ length: (to - from) / step }, (_, i) => BigInt(from + i * step));
  assert.deepEqual(lows, [...every(1, 10, 1), ...every(10, 100, 5), ...every(100, 1000, 50), 1000n]);
});

test("llhist says which parameters it cannot have", () => {
  const refused = (...parameters: bigint[]) => aggregations.get("llhist")?.refuse?.(parameters, false)?.message;
  assert.equal(refused(10n, 0n, 6n, 20n), undefined);
  assert.equal(refused(2n, 0n, 61n, 2n), undefined);
  assert.equal(refused(1n, 0n, 6n, 20n), "llhist() needs a factor of 2 or more");
  assert.equal(refused(10n, 3n, 2n, 20n), "llhist() low must be from 0 to high, 3 is not from 0 to 2");
  assert.equal(refused(10n, -1n, 2n, 20n), "llhist() low must be from 0 to high, -1 is not from 0 to 2");
  assert.equal(refused(10n, 0n, 18n, 10n), "llhist() high is too large: 10^(18 + 1) does not fit 63 bits");
  assert.equal(
    refused(10n, 0n, 2n, 15n),
    "llhist() steps must divide the factor or be a multiple of it, 15 is neither of 10",
  );
  assert.equal(refused(10n, 0n, 2n, 30n), "llhist() steps must divide a power of the factor, 30 divides none of 10");
  assert.equal(refused(10n, 0n, 3n, 1000n), "llhist() has at most 1000 buckets");
});
