// Written by `npm run docs`: change language/aggregations, not this file.
import type { Bucket, SeriesPoint } from "./values.ts";

/** What Node reads of a map of each. */
export interface StoredAggregations {
  readonly count: number;
  readonly sum: number;
  readonly avg: number;
  readonly min: number;
  readonly max: number;
  readonly stats: { readonly count: number; readonly average: number; readonly total: number };
  readonly variance: number;
  readonly stddev: number;
  readonly istddev: number;
  readonly hist: readonly Bucket[];
  readonly shist: readonly Bucket[];
  readonly lhist: readonly Bucket[];
  readonly llhist: readonly Bucket[];
  readonly sllhist: readonly Bucket[];
  readonly tseries: readonly SeriesPoint[];
  readonly statistic: {
    readonly count: number;
    readonly sum: number;
    readonly min: number;
    readonly max: number;
    readonly avg: number;
  };
}

/** The methods that add to each. */
export interface AggregationMethods {
  readonly count: "count";
  readonly sum: "sum" | "add";
  readonly avg: "avg";
  readonly min: "min";
  readonly max: "max";
  readonly stats: "stats";
  readonly variance: "variance";
  readonly stddev: "stddev";
  readonly istddev: "istddev";
  readonly hist: "hist";
  readonly shist: "shist";
  readonly lhist: "lhist";
  readonly llhist: "llhist";
  readonly sllhist: "sllhist";
  readonly tseries: "tseries";
  readonly statistic: "observe";
}

export interface Aggregating {
  /** How often it was called. */
  count(): void;
  /** The sum of the values. */
  sum(value: number): void;
  /** The sum of the values. */
  add(value: number): void;
  /** The average of the values. */
  avg(value: number): void;
  /** The least of the values. */
  min(value: number): void;
  /** The greatest of the values. */
  max(value: number): void;
  /** Count, average and sum of the values. */
  stats(value: number): void;
  /** The variance of the values: the average of their squared distances from the average. */
  variance(value: number): void;
  /** The standard deviation of the values: the square root of their variance. */
  stddev(value: number): void;
  /** The standard deviation in whole numbers: of their average square and their average, without fractions. */
  istddev(value: number): void;
  /** A histogram by powers of two, each in 2^bits parts. */
  hist(value: number, bits?: number): void;
  /** A histogram by powers of two, of negative values too. */
  shist(value: number): void;
  /** A histogram with buckets of equal width. */
  lhist(value: number, min: number, max: number, step: number): void;
  /** A histogram by powers of a factor, from factor^low to factor^(high + 1), each in equal steps. */
  llhist(value: number, factor: number, low: number, high: number, steps: number): void;
  /** The same of negative values too, on both sides of 0. */
  sllhist(value: number, factor: number, low: number, high: number, steps: number): void;
  /** A value over time: of each interval (in nanoseconds) the last, or what an aggregation makes of them. */
  tseries(value: number, interval: number, intervals: number, kind?: "avg" | "max" | "min" | "sum"): void;
  /** Whatever the script asks of the values: their count, sum, average, extremes, histograms. */
  observe(value: number): void;
}
