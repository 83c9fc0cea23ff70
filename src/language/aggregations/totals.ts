// count(), sum(), avg() and stats(): numbers that add up. Sums of doubles are exact, and rounded once, when they are read.
import type { AggregateType } from "../types.ts";
import type { Aggregation, Result } from "./aggregation.ts";
import type { Part } from "./parts.ts";
import { lazy } from "../../base/lazy.ts";

/** Few scripts have doubles. */
const doubleSums = lazy<typeof import("./double-sums.ts")>(() => require("./double-sums.ts"));

/** Of doubles: the count, and their sum. */
const ofDoubles: readonly Part[] = [{ kind: "count" }, { kind: "double-sum" }];
const doubleTotal: Result = { double: (_type, words) => doubleSums().total(words) };
const doubleAverage: Result = { double: (_type, words) => doubleSums().average(words) };

export const count: Aggregation = {
  name: "count",
  doc: "How often it was called.",
  takes: "nothing",
  parts: () => [{ kind: "count" }],
  results: () => ({ count: { part: 0 } }),
  value: "count",
  shape: "number",
};

export const sum: Aggregation = {
  name: "sum",
  spelling: { typescript: ["sum", "add"] },
  doc: "The sum of the values.",
  takes: "numbers",
  parts: ({ float }) => (float ? ofDoubles : [{ kind: "sum" }, { kind: "seen" }]),
  results: ({ float }) => ({ sum: float ? doubleTotal : { part: 0 } }),
  value: "sum",
  shape: "number",
};

const totalAndCount = ({ float }: AggregateType): readonly Part[] =>
  float ? ofDoubles : [{ kind: "sum" }, { kind: "count" }];

export const avg: Aggregation = {
  name: "avg",
  doc: "The average of the values.",
  takes: "numbers",
  parts: totalAndCount,
  results: ({ float }) => ({ average: float ? doubleAverage : { part: 0, averaged: true } }),
  value: "average",
  shape: "number",
  jsonType: "stats",
};

export const stats: Aggregation = {
  name: "stats",
  doc: "Count, average and sum of the values.",
  takes: "numbers",
  parts: totalAndCount,
  results: ({ float }) =>
    float
      ? { count: { part: 0 }, average: doubleAverage, total: doubleTotal }
      : { count: { part: 1 }, average: { part: 0, averaged: true }, total: { part: 0 } },
  value: "average",
  shape: "record",
};
