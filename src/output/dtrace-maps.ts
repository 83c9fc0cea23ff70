// Aggregations as DTrace prints them: columns, and charts of 40 marks.
import { bucketCount, bucketRange, type Buckets } from "../language/aggregations/buckets.ts";
import { aggregationOf, shapedPart, valueOf } from "../language/aggregations/table.ts";
import { resultOf } from "../language/aggregations/value.ts";
import { keyLayout } from "../language/layout.ts";
import type { AggregateType, Type } from "../language/types.ts";
import type { ConsumerServices, MapSnapshot } from "../session/events.ts";
import { orderedEntries } from "./map-order.ts";
import { memoryOf, readInteger, readWords, valueText } from "./values.ts";

const columns = 40;

/** A map's entries, a line or a chart each. */
export function dtraceMap(
  snapshot: MapSnapshot,
  top: number,
  divisor: number,
  services: ConsumerServices,
): readonly string[] {
  const { map } = snapshot;
  const by = BigInt(divisor || 1);
  const { offsets } = keyLayout(map.keys);
  return orderedEntries(snapshot, top).map(([key, value]) => {
    const text = map.keys.map((type, i) => keyText(type, key, offsets[i], services)).join("");
    if (map.value.kind !== "aggregate")
      return `${text} ${valueText(map.value, memoryOf(value), 0, services).padStart(16)}\n`;
    const words = readWords(memoryOf(value), 0, value.length);
    if (aggregationOf(map.value).shape === "buckets") return `${text}${chart(map.value, words, by)}`;
    return `${text} ${scalar(map.value, words, by).padStart(16)}\n`;
  });
}

/** Texts from the left, numbers from the right in as many columns as their type has digits. */
function keyText(type: Type, key: Uint8Array, at: number, services: ConsumerServices): string {
  const memory = memoryOf(key);
  if (type.kind !== "integer" && type.kind !== "enum") return `  ${valueText(type, memory, at, services).padEnd(50)}`;
  const width = { 8: 3, 16: 5, 32: 8, 64: 16 }[type.bits] ?? 16;
  return ` ${String(readInteger(type.bits, type.signed, memory, at)).padStart(width)}`;
}

function scalar(type: AggregateType, words: readonly bigint[], by: bigint): string {
  const result = valueOf(type);
  if (result === undefined) return "";
  const value = resultOf(type, result, words);
  return String(typeof value === "number" ? BigInt(Math.trunc(value)) / by : value / by);
}

function chart(type: AggregateType, words: readonly bigint[], by: bigint): string {
  const { part, at } = shapedPart(type, "buckets");
  const counts = words.slice(at, at + bucketCount(part.of));
  const total = Number(counts.reduce((sum, count) => sum + count, 0n));
  const used = counts.flatMap((count, i) => (count === 0n ? [] : [i]));
  const first = Math.max(0, (used[0] ?? 0) - 1);
  const last = Math.min(counts.length - 1, (used.at(-1) ?? 0) + 1);
  let text = `\n${"value".padStart(16)}  ------------- Distribution ------------- count    \n`;
  for (let i = first; i <= last && used.length > 0; i++) {
    const bar = Math.floor((Number(counts[i]) * columns) / total + 0.5);
    text += `${label(part.of, i, counts[i]).padStart(16)} |${"@".repeat(bar).padEnd(columns)} ${String(counts[i] / by).padEnd(9)}\n`;
  }
  return `${text}\n`;
}

function label(buckets: Buckets, i: number, count: bigint): string {
  const { low, high } = bucketRange(buckets, i);
  // Powers of two below 0 are one bucket here.
  if (low === null) return buckets.by === "power" && count === 0n ? "-1" : `< ${high}`;
  return high === null || (buckets.by === "pieces" && i === bucketCount(buckets) - 1) ? `>= ${low}` : String(low);
}
