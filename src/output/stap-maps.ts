// Histograms as SystemTap prints them: 50 marks at most, two empty buckets around, and what is empty in between left out.
import { bucketCount, bucketRange, mirroredZero, type Buckets } from "../language/aggregations/buckets.ts";
import { shapedPart } from "../language/aggregations/table.ts";
import type { MapSnapshot } from "../session/events.ts";
import { memoryOf, readWords } from "./values.ts";

const columns = 50;
/** Empty buckets in a row that are printed behind what has something, and before it. */
const around = 2;

/** A chart for each entry: SystemTap has no other way to print a map as a whole. */
export function stapMap({ map, entries }: MapSnapshot): readonly string[] {
  const { value: type } = map;
  if (type.kind !== "aggregate") return [];
  return entries.map(([, value]) => {
    const { part, at } = shapedPart(type, "buckets");
    const words = readWords(memoryOf(value), 0, value.length).slice(at, at + bucketCount(part.of));
    return chart(
      part.of,
      words.map((count) => BigInt.asIntN(64, count)),
    );
  });
}

function chart(buckets: Buckets, counts: readonly bigint[]): string {
  const used = counts.flatMap((count, i) => (count === 0n ? [] : [i]));
  const [first, last] = [used.at(0), used.at(-1)];
  if (first === undefined || last === undefined) return "";
  // Those without an end are there where something is in them.
  const ends = buckets.by === "step" ? 1 : 0;
  const least = buckets.by === "mirrored" && first >= mirroredZero ? mirroredZero : ends;
  const from = Math.min(first, Math.max(least, first - around));
  const to = Math.max(last, Math.min(counts.length - 1 - ends, last + around));
  const rows = Array.from({ length: to - from + 1 }, (_, i) => ({
    label: labelOf(buckets, from + i),
    count: counts[from + i],
  }));
  const wide = Math.max(5, ...rows.map(({ label }) => label.length));
  const most = rows.reduce((max, { count }) => (count > max ? count : max), BigInt(columns));
  const digits = Math.max(...rows.map(({ count }) => String(count).length));
  let text = `${"value".padStart(wide)} |${"-".repeat(columns)} count\n`;
  rows.forEach(({ label, count }, i) => {
    const gap = emptyAround(rows, i);
    if (gap === "first") text += `${" ".repeat(wide + 1)}~\n`;
    if (gap !== undefined) return;
    const bar = "@".repeat(Number((count * BigInt(columns)) / most));
    text += `${label.padStart(wide)} |${bar.padEnd(columns)} ${String(count).padStart(digits)}\n`;
  });
  return `${text}\n`;
}

/** Where a row stands among more empty ones than are printed. */
function emptyAround(rows: readonly { readonly count: bigint }[], at: number): "first" | "inside" | undefined {
  if (rows[at].count !== 0n) return undefined;
  let [before, behind] = [0, 0];
  while (at - before > 0 && rows[at - before - 1].count === 0n) before++;
  while (at + behind + 1 < rows.length && rows[at + behind + 1].count === 0n) behind++;
  if (before < around || behind < around) return undefined;
  return before === around ? "first" : "inside";
}

function labelOf(buckets: Buckets, index: number): string {
  const { low, high } = bucketRange(buckets, index);
  // Below 0 a power of two is the greatest of its values.
  if (buckets.by === "mirrored") return String(index < mirroredZero ? high! - 1n : low);
  if (low === null) return `<${high}`;
  // The last bucket with an end begins where the histogram was told to end.
  return high === null && buckets.by === "step" ? `>${low - buckets.step}` : String(low);
}
