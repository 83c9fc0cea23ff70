// variance() and stddev(): how far the values lie from their average. Sums and sums of squares are exact (parts.ts), so
// that large values that hardly differ have the variance that they have, and it is rounded once.
import { lazy } from "../../base/lazy.ts";
import type { Aggregation, Result } from "./aggregation.ts";
import { digitWords, sumOfDigits, type Part } from "./parts.ts";

/** Loaded when a variance is read. */
const doubleSums = lazy<typeof import("./double-sums.ts")>(() => require("./double-sums.ts"));

const parts = (): readonly Part[] => [
  { kind: "count" },
  { kind: "digits", of: "value" },
  { kind: "digits", of: "square" },
];

/** The average of the squared distances from the average, divided by `less` values less than there are; 0 of fewer. */
function varianceOf(words: readonly bigint[], less: bigint): number {
  const [count] = words;
  if (count <= less) return 0;
  const squares = 1 + digitWords.value;
  const sum = sumOfDigits(words.slice(1, squares));
  const square = sumOfDigits(words.slice(squares, squares + digitWords.square));
  return doubleSums().quotient(count * square - sum * sum, count * (count - less));
}

/** Of all values there are; `sampleVariance` is what is to be expected of others when these are a sample of them. */
const results = (): Readonly<Record<string, Result>> => ({
  count: { part: 0 },
  variance: { double: (_type, words) => varianceOf(words, 0n) },
  sampleVariance: { double: (_type, words) => varianceOf(words, 1n) },
  stddev: { double: (_type, words) => Math.sqrt(varianceOf(words, 0n)) },
});

export const variance: Aggregation = {
  name: "variance",
  doc: "The variance of the values: the average of their squared distances from the average.",
  takes: "integers",
  parts,
  results,
  value: "variance",
  shape: "number",
};

export const stddev: Aggregation = {
  name: "stddev",
  doc: "The standard deviation of the values: the square root of their variance.",
  takes: "integers",
  parts,
  results,
  value: "stddev",
  shape: "number",
};

/** In whole numbers at each step, each divided by a number; 0 where that has no root. */
export function wholeDeviation(words: readonly bigint[], by = 1n): bigint {
  const [count] = words;
  if (count === 0n) return 0n;
  const squares = 1 + digitWords.value;
  const average = sumOfDigits(words.slice(1, squares)) / count / by;
  const square = sumOfDigits(words.slice(squares, squares + digitWords.square)) / count / by;
  return rootOf(square - average * average);
}

/** The whole number below a root. */
function rootOf(of: bigint): bigint {
  if (of <= 0n) return 0n;
  let root = BigInt(Math.floor(Math.sqrt(Number(of))));
  while (root * root > of) root--;
  while ((root + 1n) * (root + 1n) <= of) root++;
  return root;
}

/** Computed as DTrace does. */
export const istddev: Aggregation = {
  ...stddev,
  name: "istddev",
  spelling: { d: ["stddev"] },
  doc: "The standard deviation in whole numbers: of their average square and their average, without fractions.",
  results: () => ({ count: { part: 0 }, stddev: { double: (_type, words) => Number(wholeDeviation(words)) } }),
};
