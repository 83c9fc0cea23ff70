// Readers of typed events and maps. Where a script's reader chooses between number and bigint by the value, these go by
// type, so that a program meets no bigint on the day that a counter grows: integers are numbers, rounded beyond 2^53,
// unless they were emitted as BigInt(…).
import { aggregationOf } from "../language/aggregations/table.ts";
import type { Type } from "../language/types.ts";
import type { ConsumerServices } from "../session/events.ts";
import { inspectableBuckets, inspectableRecord } from "./inspect.ts";
import { valueReader, type Value, type ValueReader } from "./values.ts";

export function typedReader(type: Type, services: ConsumerServices, exact = false): ValueReader {
  const read = valueReader(type, services);
  switch (type.kind) {
    case "integer":
    case "enum": {
      if (exact) return (memory, offset) => BigInt(read(memory, offset) as number | bigint);
      if (type.bits < 64) return read;
      const { signed } = type;
      // Two words are read without making a bigint.
      return ({ view }, offset) => {
        const high = signed ? view.getInt32(offset + 4, true) : view.getUint32(offset + 4, true);
        return high * 0x1_0000_0000 + view.getUint32(offset, true);
      };
    }
    case "aggregate":
      switch (aggregationOf(type).shape) {
        case "buckets":
          return (memory, offset) => inspectableBuckets(rounded(read(memory, offset)));
        case "record":
          return (memory, offset) => inspectableRecord(rounded(read(memory, offset)));
        default:
          return (memory, offset) => rounded(read(memory, offset));
      }
    default:
      return read;
  }
}

function rounded(value: Value): Value {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map((item: Value) => rounded(item)) as Value;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rounded(item as Value)])) as Value;
}
