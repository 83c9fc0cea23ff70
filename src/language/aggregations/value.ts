// What the words of an aggregation come to, on the host.
import { InternalError } from "../../base/internal-error.ts";
import { bitsOfDouble } from "../floating.ts";
import type { AggregateType } from "../types.ts";
import type { Result } from "./aggregation.ts";
import { addToPart, mergePart, rankMask } from "./parts.ts";
import { aggregateLayout, aggregateWords, resultAt } from "./table.ts";
import { lazy } from "../../base/lazy.ts";

/** Few scripts have doubles. */
const doubleSums = lazy<typeof import("./double-sums.ts")>(() => require("./double-sums.ts"));

/** Adds a value to the copy whose first word is at `at`; see addToPart. */
export function addToCopy(
  type: AggregateType,
  words: BigUint64Array,
  at: number,
  value: bigint,
  time = 0n,
  weight = 1n,
): void {
  for (const placed of aggregateLayout(type).parts)
    addToPart(placed.part, type.signed, words, at + placed.at, value, time, weight);
}

/**
 * All CPUs' copies as one. `copies` holds them `stride` bytes apart, the first at `offset`; the result is
 * aggregateWords(type) words.
 */
export function mergeCopies(
  type: AggregateType,
  copies: DataView,
  offset: number,
  stride: number,
  cpus: number,
): Uint8Array {
  const merged = new BigUint64Array(aggregateLayout(type).words);
  mergeCopiesInto(merged, 0, type, copies, offset, stride, cpus);
  return new Uint8Array(merged.buffer);
}

/** The same into words that are zero, from the word `to` on. */
export function mergeCopiesInto(
  merged: BigUint64Array,
  to: number,
  type: AggregateType,
  copies: DataView,
  offset: number,
  stride: number,
  cpus: number,
): void {
  const { parts } = aggregateLayout(type);
  for (let cpu = 0; cpu < cpus; cpu++)
    for (const { part, at } of parts)
      mergePart(part, type.signed, merged, to + at, copies, offset + cpu * stride + at * 8);
}

/** The words of an aggregation that lies in memory. */
export function wordsIn(type: AggregateType, view: DataView, offset: number): bigint[] {
  return Array.from({ length: aggregateWords(type) }, (_, i) => view.getBigUint64(offset + i * 8, true));
}

/** A result: integers as bigints, doubles as numbers. */
export function resultOf(type: AggregateType, result: Result, words: readonly bigint[]): bigint | number {
  if ("double" in result) return result.double(type, words);
  const { part, at } = aggregateLayout(type).parts[result.part];
  const word = part.kind === "extreme" ? extremeOf(part.which, type.signed, words[at], words[at + 1]) : words[at];
  if (part.kind === "count") return word;
  if (type.float) return doubleSums().doubleOfOrder(word);
  const value = type.signed ? BigInt.asIntN(64, word) : BigInt.asUintN(64, word);
  if (result.averaged !== true) return value;
  const count = words[at + 1];
  return count === 0n ? 0n : value / count;
}

/** The bits of the least or greatest value by its two words (rankMask); 0 where there was none. */
function extremeOf(which: "min" | "max", signed: boolean, rank: bigint, seen: bigint): bigint {
  return seen === 0n ? 0n : rank ^ rankMask(which, signed);
}

/** The bits of the double that the whole comes to, or a result of a statistic, of one that lies in memory. */
export function aggregateDouble(type: AggregateType, bytes: Uint8Array, of?: number): bigint {
  const result = resultAt(type, of);
  if (result === undefined) throw new InternalError(`${type.aggregate}() is no double`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bitsOfDouble(Number(resultOf(type, result, wordsIn(type, view, 0))));
}
