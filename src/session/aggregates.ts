// What the words of an aggregation mean (language/layout.ts, aggregateWords): adding a value, joining the CPUs' copies.
import { sumsDoubles } from "../language/floating.ts";
import { aggregateWords } from "../language/layout.ts";
import { bucketOf, linearBucketOf } from "../language/histogram.ts";
import { cellOf, joinCells, seriesCellWords, seriesOf } from "../language/series.ts";
import type { AggregateType } from "../language/types.ts";

/** Few scripts have doubles. */
const doubleSums = () => require("../language/double-sums.ts") as typeof import("../language/double-sums.ts");

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
  const words = aggregateWords(type);
  const merged = new BigUint64Array(words);
  switch (sumsDoubles(type) ? "avg" : type.aggregate) {
    case "count":
    case "avg":
    case "stats":
    case "hist":
    case "lhist":
      for (let cpu = 0; cpu < cpus; cpu++) {
        const at = offset + cpu * stride;
        // A BigUint64Array keeps the low 64 bits: sums wrap as the kernel's do, negative ones included. Most words are
        // 0.
        for (let word = 0; word < words; word++) {
          const value = copies.getBigUint64(at + word * 8, true);
          if (value !== 0n) merged[word] += value;
        }
      }
      break;
    case "sum":
      for (let cpu = 0; cpu < cpus; cpu++) {
        const at = offset + cpu * stride;
        merged[0] += copies.getBigUint64(at, true);
        if (copies.getBigUint64(at + 8, true) !== 0n) merged[1] = 1n;
      }
      break;
    case "min":
    case "max":
      for (let cpu = 0; cpu < cpus; cpu++) {
        const at = offset + cpu * stride;
        if (copies.getBigUint64(at + 8, true) === 0n) continue; // this CPU saw no value
        const value = copies.getBigUint64(at, true);
        if (merged[1] === 0n || beats(type, value, merged[0])) merged[0] = value;
        merged[1] = 1n;
      }
      break;
    case "tseries":
      for (let cpu = 0; cpu < cpus; cpu++) {
        for (let cell = 0; cell < words; cell += seriesCellWords) {
          const at = offset + cpu * stride + cell * 8;
          const number = copies.getBigUint64(at, true);
          if (number === 0n || number < merged[cell]) continue;
          const own = [copies.getBigUint64(at + 8, true), copies.getBigUint64(at + 16, true)] as const;
          merged.set(
            [number, ...(number === merged[cell] ? joinCells(type, [merged[cell + 1], merged[cell + 2]], own) : own)],
            cell,
          );
        }
      }
      break;
  }
  return new Uint8Array(merged.buffer);
}

function beats(type: AggregateType, value: bigint, best: bigint): boolean {
  const [a, b] = type.signed ? [BigInt.asIntN(64, value), BigInt.asIntN(64, best)] : [value, best];
  return type.aggregate === "min" ? a < b : a > b;
}

/**
 * Adds a value to one copy, word by word through `words`, which may be shared with the kernel: sums are atomic.
 * `at` is the index of the copy's first word; `time`: nanoseconds since the epoch, for tseries.
 */
export function addToCopy(type: AggregateType, words: BigUint64Array, at: number, value: bigint, time = 0n): void {
  if (sumsDoubles(type))
    return doubleSums().addToSum((word, amount) => {
      Atomics.add(words, at + word, BigInt.asUintN(64, amount));
    }, value);
  switch (type.aggregate) {
    case "count":
      Atomics.add(words, at, 1n);
      return;
    case "sum":
      Atomics.add(words, at, BigInt.asUintN(64, value));
      words[at + 1] = 1n;
      return;
    case "avg":
    case "stats":
      Atomics.add(words, at, BigInt.asUintN(64, value));
      Atomics.add(words, at + 1, 1n);
      return;
    case "min":
    case "max": {
      const unsigned = BigInt.asUintN(64, value);
      if (words[at + 1] === 0n || beats(type, unsigned, words[at])) words[at] = unsigned;
      words[at + 1] = 1n;
      return;
    }
    case "hist":
      Atomics.add(words, at + bucketOf(BigInt.asIntN(64, value), type.bits ?? 0), 1n);
      return;
    case "lhist": {
      const signed = BigInt.asIntN(64, value);
      Atomics.add(words, at + linearBucketOf(signed, type.min ?? 0n, type.max ?? 0n, type.step ?? 1n), 1n);
      return;
    }
    case "tseries": {
      const { interval, intervals } = seriesOf(type);
      const number = time / interval;
      const cell = at + Number(number % BigInt(intervals)) * seriesCellWords;
      const one = cellOf(type, BigInt.asUintN(64, value), time);
      words.set(
        [number, ...(words[cell] === number ? joinCells(type, [words[cell + 1], words[cell + 2]], one) : one)],
        cell,
      );
      return;
    }
  }
}
