// Maps without stacks as drawings: bars of numbers, histograms, and histograms that were printed several times as a
// heat map: a column each time, a row a bucket.
import type { BucketRange } from "../../language/aggregations/buckets.ts";
import { labelOf, type Bucket } from "../histogram.ts";
import { characterWidth, margin, pageWidth, type Section, pixels, xmlText } from "./section.ts";

const rowHeight = 16;
const labelColumn = 280;
const barColumn = labelColumn + 110;
const width = pageWidth - 2 * margin;
const labelRoom = Math.floor(labelColumn / characterWidth) - 1;

interface Row {
  readonly label: string;
  readonly value: bigint;
}

/** A bar a row, as long as its share of the largest. Undefined where one is below 0, or there is none. */
export function bars(title: string, rows: readonly Row[]): Section | undefined {
  if (rows.length === 0 || rows.some(({ value }) => value < 0n)) return undefined;
  const most = rows.reduce((max, { value }) => (value > max ? value : max), 1n);
  const body = rows
    .map(({ label, value }, i) => {
      const y = i * rowHeight;
      const long = (Number((value * 10_000n) / most) / 10_000) * (width - barColumn);
      return (
        `<g><title>${xmlText(label)}: ${value}</title>` +
        `<text class="end" x="${labelColumn}" y="${y + 12}">${xmlText(cut(label))}</text>` +
        `<text class="end" x="${barColumn - 8}" y="${y + 12}">${value}</text>` +
        `<rect class="bar" x="${barColumn}" y="${y + 1}" width="${pixels(long)}" height="${rowHeight - 3}"/></g>`
      );
    })
    .join("");
  return { title, note: "", height: rows.length * rowHeight, body };
}

export function histogram(title: string, buckets: readonly Bucket[]): Section | undefined {
  return bars(
    title,
    buckets.map((bucket) => ({ label: labelOf(bucket), value: bucket.count })),
  );
}

/** `columns`: the buckets of each time, those that were empty at the ends left out. */
export function heatMap(title: string, columns: readonly (readonly Bucket[])[]): Section | undefined {
  const ranges = new Map<string, BucketRange>();
  for (const bucket of columns.flat()) ranges.set(labelOf(bucket), bucket);
  if (ranges.size === 0) return undefined;
  // The largest on top.
  const rows = [...ranges.entries()].sort(([, a], [, b]) => compareLow(b, a)).map(([label]) => label);
  const most = columns.flat().reduce((max, { count }) => (count > max ? count : max), 1n);
  const cell = (width - labelColumn - margin) / columns.length;
  const cells = columns.flatMap((column, x) =>
    column
      .filter(({ count }) => count > 0n)
      .map((bucket) => {
        const label = labelOf(bucket);
        const y = rows.indexOf(label) * rowHeight;
        // By its root: few stand out beside many.
        const depth = Math.sqrt(Number((bucket.count * 10_000n) / most) / 10_000);
        return (
          `<rect class="heat" x="${pixels(labelColumn + margin + x * cell)}" y="${y}" width="${pixels(cell)}" ` +
          `height="${rowHeight}" fill-opacity="${pixels(Math.max(0.06, depth))}">` +
          `<title>${xmlText(label)}, print ${x + 1}: ${bucket.count}</title></rect>`
        );
      }),
  );
  const labels = rows.map(
    (label, y) => `<text class="end" x="${labelColumn}" y="${y * rowHeight + 12}">${xmlText(label)}</text>`,
  );
  return {
    title,
    note: `${columns.length} prints, the first on the left; the darkest is ${most}`,
    height: rows.length * rowHeight,
    body: labels.join("") + cells.join(""),
  };
}

function compareLow(a: BucketRange, b: BucketRange): number {
  if (a.low === b.low) return 0;
  if (a.low === null) return -1;
  if (b.low === null) return 1;
  return a.low < b.low ? -1 : 1;
}

function cut(label: string): string {
  return label.length <= labelRoom ? label : `${label.slice(0, labelRoom - 2)}..`;
}
