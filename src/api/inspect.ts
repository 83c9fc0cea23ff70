// How aggregations look in console.log() and console.table(): a table has one line for each, and would show "[Object]".
import type { InspectOptions } from "node:util";
import { bucketRows, labelOf } from "../output/histogram.ts";
import type { Bucket, Value } from "./values.ts";

const inspect = Symbol.for("nodejs.util.inspect.custom");
const bars = "▁▂▃▄▅▆▇█";

/** Buckets that show themselves as bars. It is an array like any other: what is added cannot be enumerated. */
export function inspectableBuckets(value: Value): Value {
  const buckets = value as unknown as readonly Bucket[];
  return Object.defineProperty(value as object, inspect, {
    value: (depth: number, options: InspectOptions) => {
      if (buckets.length === 0) return "[]";
      return inTable(depth, options) ? histogramLine(buckets) : bucketRows(buckets.map(exact)).trimEnd();
    },
  }) as Value;
}

/** Several results, in one line. */
export function inspectableRecord(value: Value): Value {
  const results = Object.entries(value as object).map(([name, result]) => `${name}: ${result}`);
  return Object.defineProperty(value as object, inspect, { value: () => `{ ${results.join(", ")} }` }) as Value;
}

/** console.table() wants everything in a line, and nothing below. */
function inTable(depth: number, { breakLength }: InspectOptions): boolean {
  return breakLength === Infinity || depth < 0;
}

function histogramLine(buckets: readonly Bucket[]): string {
  const most = Math.max(...buckets.map(({ count }) => count), 1);
  const line = buckets
    .map(({ count }) => (count === 0 ? " " : bars[Math.ceil((count / most) * bars.length) - 1]))
    .join("");
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  return `${labelOf({ low: exact(buckets[0]).low, high: exact(buckets[buckets.length - 1]).high })} ${line} ${total}`;
}

function exact({ low, high, count }: Bucket): { low: bigint | null; high: bigint | null; count: bigint } {
  return { low: low === null ? null : BigInt(low), high: high === null ? null : BigInt(high), count: BigInt(count) };
}
