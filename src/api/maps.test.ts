// Maps as Node reads them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snapshot } from "./maps.ts";

test("top() goes by numbers, histograms' counts and statistics' totals, and refuses what has none", () => {
  const numbers = new Snapshot([
    ["a", 1],
    ["b", 3n],
    ["c", 2],
  ] as [string, number | bigint][]);
  assert.deepEqual([...numbers.top(2).keys()], ["b", "c"]);
  const bucket = (count: number): object => ({ low: 1, high: 2, count });
  const histograms = new Snapshot<string, object[]>([
    ["few", [bucket(3)]],
    ["many", [bucket(2), bucket(2)]],
  ]);
  assert.deepEqual([...histograms.top(1).keys()], ["many"]);
  const statistics = new Snapshot([
    ["a", { count: 1, average: 5, total: 5 }],
    ["b", { count: 9, average: 1, total: 9 }],
  ]);
  assert.deepEqual([...statistics.top(1).keys()], ["b"]);
  for (const none of [{ x: 1 }, [{ start: 1, value: 2 }]])
    assert.throws(
      () =>
        new Snapshot<string, object>([
          ["a", none],
          ["b", none],
        ]).top(1),
      /top\(\) orders numbers/,
    );
});
