// What aggregations are made of: words that handlers on any CPU add values to, and that the host joins. Both executors
// know each kind: here is what it means, compiler/bpf/parts.ts has the kernel's code.
import { digitBits, sumWords as doubleSumWords } from "../floating.ts";
import { bucketCount, bucketOf, type Buckets } from "./buckets.ts";
import { cellOf, joinCells, type Series, seriesCellWords } from "./series.ts";
import { lazy } from "../../base/lazy.ts";

/** Few scripts have doubles. */
const doubleSums = lazy<typeof import("./double-sums.ts")>(() => require("./double-sums.ts"));

export type Part =
  /** One word: how many values. */
  | { readonly kind: "count" }
  /** One word: their sum, the low 64 bits of it. */
  | { readonly kind: "sum" }
  /** One word: 1 once there was a value. */
  | { readonly kind: "seen" }
  /** Two words: the rank of the least or the greatest value (rankMask), and 1 once there was one. */
  | { readonly kind: "extreme"; readonly which: "min" | "max" }
  /** Digits of the exact sum of the values, or of their squares (see digitWords). */
  | { readonly kind: "digits"; readonly of: keyof typeof digitWords }
  /** The exact sum of doubles (floating.ts). What is no number or infinite is counted apart. */
  | { readonly kind: "double-sum" }
  /** A word for each bucket: how many values fell into it. */
  | { readonly kind: "buckets"; readonly of: Buckets }
  /** Three words for each interval that is kept (series.ts). */
  | { readonly kind: "series"; readonly of: Series };

/**
 * Words of `digits`: each holds the sum of one digit of 26 bits, the last of all that is above. Each has room for the
 * carries of 2^37 values.
 */
export const digitWords = { value: 3, square: 5 } as const;

export function partWords(part: Part): number {
  switch (part.kind) {
    case "count":
    case "sum":
    case "seen":
      return 1;
    case "extreme":
      return 2;
    case "digits":
      return digitWords[part.of];
    case "double-sum":
      return doubleSumWords;
    case "buckets":
      return bucketCount(part.of);
    case "series":
      return part.of.intervals * seriesCellWords;
  }
}

function order(value: bigint, signed: boolean): bigint {
  return signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
}

/**
 * What turns a value into its rank, and back: ranks are unsigned, the better value has the greater one, and no value's is
 * below 0, which the word holds at first. So the first value is kept as any other is, whichever handlers interrupt each
 * other meanwhile.
 */
export function rankMask(which: "min" | "max", signed: boolean): bigint {
  const sign = signed ? 1n << 63n : 0n;
  return which === "max" ? sign : BigInt.asUintN(64, ~sign);
}

/**
 * Adds a value to the part at `at`. The words may be shared with the kernel: sums are atomic. `signed`: how the values'
 * bits are read; `time`: nanoseconds since the epoch; `weight`: how often the value counts in buckets.
 */
export function addToPart(
  part: Part,
  signed: boolean,
  words: BigUint64Array,
  at: number,
  value: bigint,
  time: bigint,
  weight = 1n,
): void {
  switch (part.kind) {
    case "count":
      return add(words, at, 1n);
    case "sum":
      return add(words, at, value);
    case "seen":
      words[at] = 1n;
      return;
    case "extreme": {
      const rank = BigInt.asUintN(64, value) ^ rankMask(part.which, signed);
      if (rank > words[at]) words[at] = rank;
      words[at + 1] = 1n;
      return;
    }
    case "digits": {
      const number = part.of === "square" ? order(value, signed) ** 2n : order(value, signed);
      const last = digitWords[part.of] - 1;
      for (let i = 0; i <= last; i++) {
        const digit = number >> BigInt(i * digitBits);
        add(words, at + i, i === last ? digit : BigInt.asUintN(digitBits, digit));
      }
      return;
    }
    case "double-sum":
      return doubleSums().addToSum((word, amount) => add(words, at + word, amount), value);
    case "buckets":
      return add(words, at + bucketOf(part.of, BigInt.asIntN(64, value)), weight);
    case "series": {
      const { interval, intervals, kind } = part.of;
      const number = BigInt.asUintN(64, time) / interval;
      const cell = at + Number(number % BigInt(intervals)) * seriesCellWords;
      const one = cellOf(kind, BigInt.asUintN(64, value), time);
      const old = [words[cell + 1], words[cell + 2]] as const;
      words.set([number, ...(words[cell] === number ? joinCells(kind, signed, old, one) : one)], cell);
    }
  }
}

function add(words: BigUint64Array, at: number, amount: bigint): void {
  Atomics.add(words, at, BigInt.asUintN(64, amount));
}

/** The number whose digits are in words, as the host has them of all CPUs. */
export function sumOfDigits(words: readonly bigint[]): bigint {
  return words.reduceRight((sum, digit) => (sum << BigInt(digitBits)) + BigInt.asIntN(64, digit), 0n);
}

/** Joins one CPU's copy of a part, at `from` of `copy` (in bytes), into that of all, at `at` of `merged`. */
export function mergePart(
  part: Part,
  signed: boolean,
  merged: BigUint64Array,
  at: number,
  copy: DataView,
  from: number,
): void {
  switch (part.kind) {
    case "count":
    case "sum":
    case "digits":
    case "double-sum":
    case "buckets": {
      const words = partWords(part);
      // A BigUint64Array keeps the low 64 bits: sums wrap as the kernel's do, negative ones included. Most words are 0.
      for (let word = 0; word < words; word++) {
        const value = copy.getBigUint64(from + word * 8, true);
        if (value !== 0n) merged[at + word] += value;
      }
      return;
    }
    case "seen":
      if (copy.getBigUint64(from, true) !== 0n) merged[at] = 1n;
      return;
    case "extreme": {
      if (copy.getBigUint64(from + 8, true) === 0n) return; // this CPU saw no value
      const rank = copy.getBigUint64(from, true);
      if (rank > merged[at]) merged[at] = rank;
      merged[at + 1] = 1n;
      return;
    }
    case "series": {
      const end = at + partWords(part);
      for (let cell = at, place = from; cell < end; cell += seriesCellWords, place += seriesCellWords * 8) {
        const number = copy.getBigUint64(place, true);
        if (number === 0n || number < merged[cell]) continue;
        const own = [copy.getBigUint64(place + 8, true), copy.getBigUint64(place + 16, true)] as const;
        const all = [merged[cell + 1], merged[cell + 2]] as const;
        merged.set([number, ...(number === merged[cell] ? joinCells(part.of.kind, signed, all, own) : own)], cell);
      }
    }
  }
}
