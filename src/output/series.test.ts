import assert from "node:assert/strict";
import { test } from "node:test";
import type { Series, SeriesKind } from "../language/aggregations/series.ts";
import { seriesJson, seriesText } from "./series.ts";

const second = 1_000_000_000n;
/** 21 November 2026, 20:27:00 here. */
const evening = BigInt(new Date(2026, 10, 21, 20, 27).getTime()) * 1_000_000n;

function series(interval: bigint, intervals: number, kind: SeriesKind = "last"): Series {
  return { interval, intervals, kind };
}

/** Cells as a handler leaves them. */
function cells(
  { interval, intervals }: Series,
  points: readonly (readonly [start: bigint, value: bigint, more?: bigint])[],
): bigint[] {
  const words = Array.from({ length: intervals * 3 }, () => 0n);
  for (const [start, value, more = 0n] of points)
    words.splice(
      Number((start / interval) % BigInt(intervals)) * 3,
      3,
      start / interval,
      BigInt.asUintN(64, value),
      more,
    );
  return words;
}

test("a series runs down the page, with a line at zero and a dash where nothing was recorded", () => {
  const type = series(second, 5);
  const words = cells(type, [
    [evening, -5n],
    [evening + second, 1n],
    [evening + 3n * second, 5n],
  ]);
  assert.equal(
    seriesText(type, true, words, 1n),
    [
      "         -5                                                  5",
      "hh:mm:ss |___________________________________________________|",
      "20:27:00 *                         .                         | -5",
      "20:27:01 |                         .    *                    | 1",
      "20:27:02 |                         .                         | -",
      "20:27:03 |                         .                         * 5",
      "         v___________________________________________________v",
      "         -5                                                  5",
      "",
    ].join("\n"),
  );
  assert.equal(
    seriesJson(type, true, words, 1n, String),
    "[" +
      [
        '{"interval_start":"2026-11-21 20:27:00.000000000","value":-5}',
        '{"interval_start":"2026-11-21 20:27:01.000000000","value":1}',
        '{"interval_start":"2026-11-21 20:27:03.000000000","value":5}',
      ].join(",") +
      "]",
  );
});

test("one value is in the middle, and a lone interval is told to the nanosecond", () => {
  const type = series(second, 5, "avg");
  assert.equal(
    seriesText(type, true, cells(type, [[evening, 9n, 2n]]), 1n),
    [
      "                   3                                                   5",
      "hh:mm:ss.ns        |___________________________________________________|",
      "20:27:00.000000000 |                         *                         | 4",
      "                   v___________________________________________________v",
      "                   3                                                   5",
      "",
    ].join("\n"),
  );
  const largest = series(second, 1, "max");
  assert.match(
    seriesText(largest, false, cells(largest, [[evening, -1n]]), 1n),
    /^ {19}18446744073709551614 {13}18446744073709551615\n/,
  );
  assert.equal(seriesText(type, true, cells(type, []), 1n), "<no data>\n");
});

test("the time has as many digits as the interval, and the header is padded by its bytes", () => {
  const header = (interval: bigint): string[] => {
    const type = series(interval, 3);
    return seriesText(
      type,
      true,
      cells(type, [
        [evening, 1n],
        [evening + interval, 2n],
      ]),
      1n,
    )
      .split("\n")
      .slice(1, 4)
      .map((line) => line.slice(0, 22));
  };
  assert.deepEqual(header(100_000_000n), [
    "hh:mm:ss.ms  |________",
    "20:27:00.000 *        ",
    "20:27:00.100 |        ",
  ]);
  assert.deepEqual(header(1000n), ["hh:mm:ss.μs    |______", "20:27:00.000000 *     ", "20:27:00.000001 |     "]);
  assert.deepEqual(header(50n), ["hh:mm:ss.ns        |__", "20:27:00.000000000 *  ", "20:27:00.000000050 |  "]);
});

test("cells that the newest interval has left behind are not shown", () => {
  const type = series(second, 3);
  const words = cells(type, [
    [evening, 1n],
    [evening + 4n * second, 2n],
    [evening + 2n * second, 3n],
  ]);
  assert.deepEqual(
    seriesText(type, true, words, 1n)
      .split("\n")
      .slice(2, -3)
      .map((line) => line.slice(0, 8)),
    ["20:27:02", "20:27:03", "20:27:04"],
  );
});
