// Histograms as rows of label, count and bar.
import { bucketRange, type BucketRange, type Buckets } from "../language/aggregations/buckets.ts";

const barWidth = 52;
const labelWidth = 16;
const countWidth = 8;

/** One printed bucket. */
export interface Bucket extends BucketRange {
  readonly count: bigint;
}

/** The buckets from the first to the last that holds anything, in order. */
export function usedBuckets(buckets: Buckets, words: readonly bigint[]): Bucket[] {
  const first = words.findIndex((count) => count !== 0n);
  if (first < 0) return [];
  let last = words.length - 1;
  while (words[last] === 0n) last--;
  const used: Bucket[] = [];
  for (let index = first; index <= last; index++) used.push({ ...bucketRange(buckets, index), count: words[index] });
  return used;
}

/** The rows as bpftrace prints them, or for a terminal, a line each. `divisor` scales the counts. */
export function histogramText(buckets: Buckets, words: readonly bigint[], divisor: bigint, unicode: boolean): string {
  const bits = buckets.by === "power" ? BigInt(buckets.bits) : 0n;
  const rows = unicode ? blockRows : bucketRows;
  return rows(usedBuckets(buckets, words), (value) => shortNumber(value, bits), divisor);
}

/** Parts of a block, in eighths. */
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Columns as wide as what is in them, bars to an eighth of a column. What is not empty has an eighth at least. */
function blockRows(buckets: readonly Bucket[], number: (value: bigint) => string, divisor: bigint): string {
  const rows = buckets.map((bucket) => ({ label: labelOf(bucket, number), count: bucket.count / divisor }));
  const most = rows.reduce((max, { count }) => (count > max ? count : max), 1n);
  const labels = Math.max(...rows.map(({ label }) => label.length));
  const counts = Math.max(...rows.map(({ count }) => String(count).length));
  return rows
    .map(({ label, count }) => {
      const parts = Math.max(Number((count * BigInt(8 * barWidth)) / most), count > 0n ? 1 : 0);
      const bar = "█".repeat(parts >> 3) + eighths[parts & 7];
      return `${label.padEnd(labels)}  ${String(count).padStart(counts)} │${bar.padEnd(barWidth)}│\n`;
    })
    .join("");
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
  { low, high }: BucketRange,
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
