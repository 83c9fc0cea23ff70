// Parameters of aggregations that cannot be.
import { says, type Message } from "./message.ts";

export const aggregations = {
  /** @example begin { @ = hist(1, 6); } */
  histBits: (): Message => says("limit", "hist() takes 0 to 5 bits"),
  /** @example begin { @ = lhist(1, 0, 10, 0); } */
  lhistStep: (): Message => says("limit", "lhist() needs a step of 1 or more"),
  /** @example begin { @ = lhist(1, 10, 10, 1); } */
  lhistOrder: (min: bigint, max: bigint): Message =>
    says("limit", `lhist() min must be less than max, ${min} is not less than ${max}`),
  /** @example begin { @ = lhist(1, 0, 10, 11); } */
  lhistStepTooLarge: (step: bigint, range: bigint): Message =>
    says("limit", `lhist() step is too large: ${step} for a range of ${range}`),
  /** @example begin { @ = lhist(1, 0, 10000, 1); } */
  lhistBuckets: (most: number): Message => says("limit", `lhist() has at most ${most} buckets`, "take a larger step"),
  /** @example begin { @ = llhist(1, 1, 0, 2, 10); } */
  llhistFactor: (): Message => says("limit", "llhist() needs a factor of 2 or more"),
  /** @example begin { @ = llhist(1, 10, 3, 2, 10); } */
  llhistLow: (low: bigint, high: bigint): Message =>
    says("limit", `llhist() low must be from 0 to high, ${low} is not from 0 to ${high}`),
  /** @example begin { @ = llhist(1, 10, 0, 18, 10); } */
  llhistHigh: (factor: bigint, high: bigint): Message =>
    says("limit", `llhist() high is too large: ${factor}^(${high} + 1) does not fit 63 bits`),
  /** @example begin { @ = llhist(1, 10, 0, 2, 15); } */
  llhistMultiple: (steps: bigint, factor: bigint): Message =>
    says("limit", `llhist() steps must divide the factor or be a multiple of it, ${steps} is neither of ${factor}`),
  /** @example begin { @ = llhist(1, 10, 0, 2, 30); } */
  llhistDivides: (steps: bigint, factor: bigint): Message =>
    says("limit", `llhist() steps must divide a power of the factor, ${steps} divides none of ${factor}`),
  /** @example begin { @ = llhist(1, 10, 0, 5, 1000); } */
  llhistBuckets: (most: number): Message =>
    says("limit", `llhist() has at most ${most} buckets`, "take fewer steps or powers"),
  /** @example begin { @ = tseries(1, 0, 5); } */
  tseriesInterval: (): Message => says("limit", "tseries() needs an interval of 1 ns or more"),
  /** @example begin { @ = tseries(1, 1000, 0); } */
  tseriesNone: (): Message => says("limit", "tseries() keeps 1 interval or more"),
  /** @example begin { @[1] = tseries(1, 1000, 2000); } */
  tseriesMost: (most: bigint, keyed: boolean, help: string): Message =>
    says("limit", `tseries() keeps at most ${most} intervals${keyed ? " under a key" : ""}`, help),
  /** @example begin { @ = tseries(1, 1000, 5, "median"); } */
  tseriesKind: (choices: readonly string[]): Message =>
    says("arguments", `tseries() makes of each interval its ${choices.join(", ")}, or without one the last value`),
};
