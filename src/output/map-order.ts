// The order in which a map is printed: by value, smallest first, so that the largest stand nearest to the prompt.
import { bucketCount } from "../language/aggregations/buckets.ts";
import { partOf, valueOf } from "../language/aggregations/table.ts";
import { resultOf } from "../language/aggregations/value.ts";
import { isFloat, type AggregateType, type Type } from "../language/types.ts";
import type { MapSnapshot } from "../session/events.ts";
import { memoryOf, readFloat, readInteger, readString, readWords } from "./values.ts";

export type MapEntry = MapSnapshot["entries"][number];

/**
 * Entries by value (a histogram's is its total, a record's its first field), equal ones by key; the `top` largest when
 * top is not 0.
 */
export function orderedEntries(snapshot: MapSnapshot, top: number): readonly MapEntry[] {
  const { map } = snapshot;
  const type = firstField(map.value);
  const ranked = snapshot.entries.map((entry) => ({ entry, rank: rank(type, entry[1]) }));
  ranked.sort((a, b) => compare(a.rank, b.rank) || compareKeys(map.keys, a.entry[0], b.entry[0]));
  const entries = ranked.map(({ entry }) => entry);
  return top > 0 ? entries.slice(-top) : entries;
}

/** What the values of a map are compared by: of a record its first field, which lies at its beginning. */
export function firstField(type: Type): Type {
  return type.kind === "record" && type.fields.length > 0 ? firstField(type.fields[0].type) : type;
}

type Rank = bigint | number | string;

/** What is no number comes first. */
function rankOf(value: number): number {
  return Number.isNaN(value) ? -Infinity : value;
}

function rank(type: Type, bytes: Uint8Array): Rank {
  const memory = memoryOf(bytes);
  switch (type.kind) {
    case "integer":
    case "enum":
      return readInteger(type.bits, type.signed, memory, 0);
    case "boolean":
      return BigInt(bytes[0]);
    case "pointer":
      return memory.view.getBigUint64(0, true);
    case "string":
      return readString(memory, 0, type.capacity);
    case "aggregate":
      return aggregateRank(type, readWords(memory, 0, bytes.length));
    case "named":
      return isFloat(type) ? rankOf(readFloat(type, memory, 0)) : 0n;
    default:
      return 0n;
  }
}

/** By its value; of buckets, how many values are in them. */
function aggregateRank(type: AggregateType, words: readonly bigint[]): Rank {
  const result = valueOf(type);
  if (result !== undefined) {
    const value = resultOf(type, result, words);
    return typeof value === "number" ? rankOf(value) : value;
  }
  const buckets = partOf(type, "buckets");
  if (buckets === undefined) return 0n;
  return words.slice(buckets.at, buckets.at + bucketCount(buckets.part.of)).reduce((sum, word) => sum + word, 0n);
}

function compareKeys(types: readonly Type[], a: Uint8Array, b: Uint8Array): number {
  const [type] = types;
  if (types.length === 1 && type.kind === "integer") {
    return compare(
      readInteger(type.bits, type.signed, memoryOf(a), 0),
      readInteger(type.bits, type.signed, memoryOf(b), 0),
    );
  }
  if (types.length === 1 && isFloat(type)) {
    const order = compare(rankOf(readFloat(type, memoryOf(a), 0)), rankOf(readFloat(type, memoryOf(b), 0)));
    if (order !== 0) return order;
  }
  return Buffer.compare(a, b);
}

function compare(a: Rank, b: Rank): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
