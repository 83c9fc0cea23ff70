// Aggregations as DTrace prints them: columns, and charts of 40 marks.
import { InternalError } from "../base/internal-error.ts";
import { bucketCount, bucketRange, mirroredZero, type Buckets } from "../language/aggregations/buckets.ts";
import { wholeDeviation } from "../language/aggregations/spread.ts";
import { aggregationOf, shapedPart, valueOf } from "../language/aggregations/table.ts";
import { resultOf } from "../language/aggregations/value.ts";
import { parsePrintf } from "../language/printf.ts";
import { keyLayout } from "../language/layout.ts";
import type { AggregateType, Type } from "../language/types.ts";
import type { MapLayout } from "../language/program.ts";
import type { ConsumerServices, MapOptions, MapSnapshot } from "../session/events.ts";
import { rowsOf } from "../session/rows.ts";
import { printfFormatter } from "./printf.ts";
import { memoryOf, readInteger, readWords, valueText } from "./values.ts";

const columns = 40;

const usual: MapLayout = { byKey: false, key: 0, map: 0, descending: false };

/** The entries of a map, or of several beside each other: a line each, or charts. */
export function dtraceMap(
  snapshot: MapSnapshot,
  { top, divisor, services, bare, rows = usual, beside = [] }: MapOptions,
): readonly string[] {
  const { keys } = snapshot.map;
  const columns = [{ snapshot, divisor }, ...beside];
  const { offsets } = keyLayout(keys);
  const all = rowsOf(
    columns.map((one) => one.snapshot),
    rows,
    joinedSymbols(keys, services),
  );
  return (top > 0 ? all.slice(-top) : all).map(({ key, values }) => {
    const { conversion } = rows;
    if (conversion !== undefined) return formatted(conversion, snapshot.map.value, values[0], divisor, services);
    const text = bare ? "" : keys.map((type, i) => keyText(type, key, offsets[i], services)).join("");
    const cells = columns.map((one, i) => valueCell(one.snapshot.map.value, values[i], one.divisor, services));
    const row = `${text}${cells.join("")}`;
    // Behind a chart it is a line that is free.
    return bare ? row : `${row}\n`;
  });
}

/** Keys that name a function or a module are one, whatever address in it each was made of. */
function joinedSymbols(
  keys: readonly Type[],
  services: ConsumerServices,
): ((key: Uint8Array) => Uint8Array) | undefined {
  const { offsets } = keyLayout(keys);
  const symbols = keys.flatMap((type, i) =>
    type.kind === "named" && (type.symbol === "function" || type.symbol === "module") ? [{ type, at: offsets[i] }] : [],
  );
  if (symbols.length === 0) return undefined;
  const addressBytes = 8;
  const first = new Map<string, Uint8Array>();
  return (key) => {
    const memory = memoryOf(key);
    const joined = Uint8Array.from(key);
    for (const { type, at } of symbols) {
      // Of each process its own: two may have different files of one name.
      const process = type.of === "usym" ? memory.view.getUint32(at + addressBytes, true) : 0;
      const name = `${at} ${process} ${valueText(type, memory, at, services)}`;
      const address = first.get(name) ?? key.slice(at, at + addressBytes);
      first.set(name, address);
      joined.set(address, at);
    }
    return joined;
  };
}

/** The number that a value is, by printf's conversion. */
function formatted(
  conversion: string,
  type: Type,
  value: Uint8Array,
  divisor: number,
  services: ConsumerServices,
): string {
  if (type.kind !== "aggregate") throw new InternalError("a conversion of what is no aggregation");
  const number = new BigInt64Array([
    BigInt(scalar(type, readWords(memoryOf(value), 0, value.length), BigInt(divisor || 1))),
  ]);
  const field = { name: "value", type: { kind: "integer", bits: 64, signed: true }, offset: 0 } as const;
  const memory = { ...memoryOf(new Uint8Array(number.buffer)), words: new Uint32Array(number.buffer) };
  return printfFormatter(parsePrintf(conversion), [field], memory, services)(0);
}

function valueCell(type: Type, value: Uint8Array, divisor: number, services: ConsumerServices): string {
  if (type.kind !== "aggregate") return ` ${valueText(type, memoryOf(value), 0, services).padStart(16)}`;
  const words = readWords(memoryOf(value), 0, value.length);
  const by = BigInt(divisor || 1);
  if (aggregationOf(type).shape === "buckets") return chart(type, words, by);
  return ` ${scalar(type, words, by).padStart(16)}`;
}

/** Texts from the left, numbers from the right in as many columns as their type has digits. */
function keyText(type: Type, key: Uint8Array, at: number, services: ConsumerServices): string {
  const memory = memoryOf(key);
  if (type.kind === "stack") return valueText(type, memory, at, services);
  if (type.kind !== "integer" && type.kind !== "enum") return `  ${valueText(type, memory, at, services).padEnd(50)}`;
  const width = { 8: 3, 16: 5, 32: 8, 64: 16 }[type.bits] ?? 16;
  return ` ${String(readInteger(type.bits, type.bits >= 32, memory, at)).padStart(width)}`;
}

function scalar(type: AggregateType, words: readonly bigint[], by: bigint): string {
  const result = valueOf(type);
  if (result === undefined) return "";
  if (type.aggregate === "istddev") return String(wholeDeviation(words, by));
  const value = resultOf(type, result, words);
  if (typeof value === "number") return String(BigInt(Math.trunc(value)) / by);
  // A divisor has no sign, and but for an average neither has what it divides.
  if (by === 1n || ("averaged" in result && result.averaged)) return String(value / by);
  return String(BigInt.asIntN(64, BigInt.asUintN(64, value) / by));
}

function chart(type: AggregateType, words: readonly bigint[], by: bigint): string {
  const { part, at } = shapedPart(type, "buckets");
  const counts = words.slice(at, at + bucketCount(part.of)).map((count) => BigInt.asIntN(64, count));
  const total = Number(counts.reduce((sum, count) => sum + (count < 0n ? -count : count), 0n));
  const [above, below] = [counts.some((count) => count > 0n), counts.some((count) => count < 0n)];
  const room = above && below ? columns / 2 : columns;
  let used = counts.flatMap((count, i) => (count === 0n ? [] : [i]));
  // Of nothing: of steps the first three, of powers of two those around 0, of others all but the last.
  const { by: kind } = part.of;
  if (used.length === 0)
    used = kind === "mirrored" ? [mirroredZero] : kind === "step" ? [0, 1] : [0, counts.length - 3];
  const first = Math.max(0, used[0] - 1);
  const last = Math.min(counts.length - 1, used[used.length - 1] + 1);
  let text = `\n${"value".padStart(16)}  ------------- Distribution ------------- count    \n`;
  for (let i = first; i <= last; i++) {
    const bar = "@".repeat(Math.floor((Math.abs(Number(counts[i])) * room) / total + 0.5));
    const left = below ? (counts[i] < 0n ? bar : "").padStart(room) : "";
    const right = above || !below ? (counts[i] < 0n ? "" : bar).padEnd(room) : "";
    text += `${label(part.of, i).padStart(16)} ${left}|${right} ${String(counts[i] / by).padEnd(9)}\n`;
  }
  return text;
}

function label(buckets: Buckets, i: number): string {
  const { low, high } = bucketRange(buckets, i);
  // Of two ends the one nearer to 0.
  const mirrored = buckets.by === "mirrored" || (buckets.by === "pieces" && buckets.pieces[0].from <= 0n);
  if (mirrored && high !== null && high <= 0n && low !== 0n) return `${low === null ? "<= " : ""}${high - 1n}`;
  if (buckets.by === "pieces" && low !== null && high !== null && low <= 0n)
    return high === 1n ? "0" : `abs() < ${high}`;
  if (low === null) return `< ${high}`;
  return high === null || (buckets.by === "pieces" && i === bucketCount(buckets) - 1) ? `>= ${low}` : String(low);
}
