// hist() and lhist() as rows of label, count and bar.
import { bucketRange } from "../language/histogram.ts";
import type { AggregateType } from "../language/types.ts";

const barWidth = 52;
const labelWidth = 16;
const countWidth = 8;

/** One printed bucket: the half-open range [low, high); null is open. */
export interface Bucket { readonly low: bigint | null; readonly high: bigint | null; readonly count: bigint }

/** The buckets from the first to the last that holds anything, in order. */
export function usedBuckets(type: AggregateType, words: readonly bigint[]): Bucket[] {
  const first = words.findIndex((count) => count !== 0n);
  if (first < 0) return [];
  let last = words.length - 1;
  while (words[last] === 0n) last--;
  const buckets: Bucket[] = [];
  for (let index = first; index <= last; index++) buckets.push({ ...rangeOf(type, index, words.length), count: words[index] });
  return buckets;
}

function rangeOf(type: AggregateType, index: number, buckets: number): { low: bigint | null; high: bigint | null } {
  if (type.aggregate === "hist") return bucketRange(index, type.bits ?? 0);
  const min = type.min ?? 0n;
  const max = type.max ?? 0n;
  const step = type.step ?? 1n;
  if (index === 0) return { low: null, high: min };
  if (index === buckets - 1) return { low: max, high: null };
  const low = min + BigInt(index - 1) * step;
  return { low, high: low + step };
}

/** The rows as bpftrace prints them, a line each. `divisor` scales the counts. */
export function histogramText(type: AggregateType, words: readonly bigint[], divisor: bigint): string {
  const buckets = usedBuckets(type, words);
  const most = buckets.reduce((max, b) => (b.count > max ? b.count : max), 1n);
  // A plain log2 histogram and a linear one shorten round numbers; a finer one shows them whole.
  const label = type.aggregate === "hist" && (type.bits ?? 0) > 0 ? String : shortNumber;
  let text = "";
  for (const bucket of buckets) {
    const bar = Number((bucket.count * BigInt(barWidth)) / most);
    text += `${labelOf(bucket, label).padEnd(labelWidth)}${String(bucket.count / divisor).padStart(countWidth)} `
      + `|${"@".repeat(bar).padEnd(barWidth)}|\n`;
  }
  return text;
}

function labelOf({ low, high }: Bucket, number: (value: bigint) => string): string {
  if (low === null) return `(..., ${number(high ?? 0n)})`;
  if (high === null) return `[${number(low)}, ...)`;
  if (high === low + 1n) return `[${number(low)}]`;
  return `[${number(low)}, ${number(high)})`;
}

const suffixes = ["", "K", "M", "G", "T", "P", "E"];

/** 2048 is 2K, 1000 stays 1000: only whole powers of 1024 are shortened. */
function shortNumber(value: bigint): string {
  let power = 0;
  while (value !== 0n && value % 1024n === 0n && power < suffixes.length - 1) {
    value /= 1024n;
    power++;
  }
  return `${value}${suffixes[power]}`;
}
