// hist() and lhist() as rows of label, count and bar.
import { bucketRange } from "../language/histogram.ts";
import type { AggregateType } from "../language/types.ts";

const barWidth = 52;
const labelWidth = 16;
const countWidth = 8;

/** One printed bucket: the half-open range [low, high); null is open. */
export interface Bucket {
  readonly low: bigint | null;
  readonly high: bigint | null;
  readonly count: bigint;
}

/** The buckets from the first to the last that holds anything, in order. */
export function usedBuckets(type: AggregateType, words: readonly bigint[]): Bucket[] {
  const first = words.findIndex((count) => count !== 0n);
  if (first < 0) return [];
  let last = words.length - 1;
  while (words[last] === 0n) last--;
  const buckets: Bucket[] = [];
  for (let index = first; index <= last; index++)
    buckets.push({ ...rangeOf(type, index, words.length), count: words[index] });
  return buckets;
}

function rangeOf(type: AggregateType, index: number, buckets: number): { low: bigint | null; high: bigint | null } {
  if (type.aggregate === "hist") return bucketRange(index, type.bits ?? 0);
  const min = type.min ?? 0n;
  const step = type.step ?? 1n;
  if (index === 0) return { low: null, high: min };
  const low = min + BigInt(index - 1) * step;
  if (index === buckets - 1) return { low, high: null };
  return { low, high: low + step };
}

/** The rows as bpftrace prints them, a line each. `divisor` scales the counts. */
export function histogramText(type: AggregateType, words: readonly bigint[], divisor: bigint): string {
  const bits = BigInt(type.bits ?? 0);
  return bucketRows(
    usedBuckets(type, words),
    type.aggregate === "hist" ? (value) => shortNumber(value, bits) : (value) => shortNumber(value),
    divisor,
  );
}

export function bucketRows(
  buckets: readonly Bucket[],
  label: (value: bigint) => string = (value) => shortNumber(value),
  divisor = 1n,
): string {
  const scaled = buckets.map((bucket) => ({ ...bucket, count: bucket.count / divisor }));
  const most = scaled.reduce((max, b) => (b.count > max ? b.count : max), 1n);
  let text = "";
  for (const bucket of scaled) {
    const bar = Number((bucket.count * BigInt(barWidth)) / most);
    text +=
      `${labelOf(bucket, label).padEnd(labelWidth)}${String(bucket.count).padStart(countWidth)} ` +
      `|${"@".repeat(bar).padEnd(barWidth)}|\n`;
  }
  return text;
}

/** The range as text; the label of all buckets together is that from the first's `low` to the last's `high`. */
export function labelOf(
  { low, high }: Omit<Bucket, "count">,
  number: (value: bigint) => string = (value) => shortNumber(value),
): string {
  if (low === null) return `(..., ${number(high ?? 0n)})`;
  if (high === null) return `[${number(low)}, ...)`;
  if (high === low + 1n) return `[${number(low)}]`;
  return `[${number(low)}, ${number(high)})`;
}

const suffixes = ["", "K", "M", "G", "T", "P", "E"];

/**
 * 2048 is 2K, 1000 stays 1000: only whole multiples of 1024 are shortened. `bits`: as far as all buckets of their power
 * of two can be: of hist(n, 3), 4096 has 4608 beside it and stays, 8192 is 8K.
 */
function shortNumber(value: bigint, bits = 0n): string {
  let power = 0;
  while (value !== 0n && value % 1024n === 0n && value >> bits >= 1024n && power < suffixes.length - 1) {
    value /= 1024n;
    power++;
  }
  return `${value}${suffixes[power]}`;
}
