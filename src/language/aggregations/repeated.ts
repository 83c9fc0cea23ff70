// Values that were seen many times, added at once: of what counted them before.
import type { AggregateType } from "../types.ts";
import { bucketOf } from "./buckets.ts";
import { addToPart, digitWords, type Part } from "./parts.ts";
import { digitBits } from "../floating.ts";
import { InternalError } from "../../base/internal-error.ts";
import { aggregateLayout } from "./table.ts";

/** Whether it is known what a value adds that was seen many times. Doubles are summed in order, series have times. */
export function isRepeatable(type: AggregateType): boolean {
  return parts(type).every(({ kind }) => kind !== "double-sum" && kind !== "series");
}

/** Whether nothing is kept of single values: how many there were and what they come to together is enough. */
export function isTotal(type: AggregateType): boolean {
  return parts(type).every(({ kind }) => kind === "count" || kind === "sum" || kind === "seen");
}

/** Whether it makes no difference which value of those it is that lie between two powers of two. */
export function isInPowers(type: AggregateType): boolean {
  return parts(type).every((part) => part.kind === "buckets" && part.of.by === "power" && part.of.bits === 0);
}

/** A value that was seen so many times, into words as addToCopy has them. */
export function addRepeated(type: AggregateType, words: BigUint64Array, value: bigint, times: bigint): void {
  for (const { part, at } of aggregateLayout(type).parts) addPart(part, type.signed, words, at, value, times);
}

/** So many values whose sum this is; of totals only. */
export function addTotal(type: AggregateType, words: BigUint64Array, sum: bigint, times: bigint): void {
  for (const { part, at } of aggregateLayout(type).parts) {
    if (part.kind === "sum") words[at] += BigInt.asUintN(64, sum);
    else addPart(part, type.signed, words, at, 0n, times);
  }
}

function addPart(part: Part, signed: boolean, words: BigUint64Array, at: number, value: bigint, times: bigint): void {
  // A BigUint64Array keeps the low 64 bits.
  switch (part.kind) {
    case "count":
      words[at] += times;
      return;
    case "sum":
      words[at] += BigInt.asUintN(64, value * times);
      return;
    case "seen":
    case "extreme":
      return addToPart(part, signed, words, at, value, 0n);
    case "digits": {
      const one = signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
      const number = (part.of === "square" ? one * one : one) * times;
      const last = digitWords[part.of] - 1;
      for (let i = 0; i <= last; i++) {
        const digit = number >> BigInt(i * digitBits);
        words[at + i] += BigInt.asUintN(i === last ? 64 : digitBits, digit);
      }
      return;
    }
    case "buckets":
      words[at + bucketOf(part.of, BigInt.asIntN(64, value))] += times;
      return;
    case "double-sum":
    case "series":
      throw new InternalError(`a ${part.kind} of values that were seen many times`);
  }
}

function parts(type: AggregateType): readonly Part[] {
  return aggregateLayout(type).parts.map(({ part }) => part);
}
