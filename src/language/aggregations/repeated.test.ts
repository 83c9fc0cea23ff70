import assert from "node:assert/strict";
import { test } from "node:test";
import type { AggregateType } from "../types.ts";
import { addRepeated, addTotal, isRepeatable, isTotal } from "./repeated.ts";
import { aggregateWords } from "./table.ts";
import { addToCopy, aggregateDouble, mergeCopies } from "./value.ts";

const type = (aggregate: AggregateType["aggregate"], ...parameters: readonly bigint[]): AggregateType => ({
  kind: "aggregate",
  aggregate,
  signed: true,
  parameters,
});

const types = [
  ...(["count", "sum", "avg", "min", "max", "stats", "variance", "stddev"] as const).map((name) => type(name)),
  type("hist", 0n),
  type("lhist", -10n, 100n, 10n),
];
const values = [0n, 1n, -1n, 7n, 1n << 40n, -(1n << 62n), 99n];

/** As they are read: digits may be carried otherwise. */
function read(of: AggregateType, words: BigUint64Array): Uint8Array | bigint {
  const bytes = mergeCopies(of, new DataView(words.buffer), 0, 0, 1);
  return of.aggregate === "variance" || of.aggregate === "stddev" ? aggregateDouble(of, bytes) : bytes;
}

test("a value that was seen many times is as many values", () => {
  for (const one of types) {
    assert.ok(isRepeatable(one));
    const [each, once] = [new BigUint64Array(aggregateWords(one)), new BigUint64Array(aggregateWords(one))];
    values.forEach((value, i) => {
      for (let n = 0; n <= i; n++) addToCopy(one, each, 0, value);
      addRepeated(one, once, value, BigInt(i + 1));
    });
    assert.deepEqual(read(one, once), read(one, each), one.aggregate);
  }
});

test("of totals, how many values and their sum are enough", () => {
  for (const one of types.filter(isTotal)) {
    const [each, once] = [new BigUint64Array(aggregateWords(one)), new BigUint64Array(aggregateWords(one))];
    for (const value of values) addToCopy(one, each, 0, value);
    addTotal(
      one,
      once,
      values.reduce((sum, value) => sum + value),
      BigInt(values.length),
    );
    assert.deepEqual(read(one, once), read(one, each), one.aggregate);
  }
  assert.deepEqual(
    types.filter(isTotal).map(({ aggregate }) => aggregate),
    ["count", "sum", "avg", "stats"],
  );
});
