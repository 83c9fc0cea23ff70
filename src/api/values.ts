// Values as a JavaScript program wants them: what `session/decode.ts` leaves to the live machine is looked up here.
import { InternalError } from "../base/internal-error.ts";
import { fieldLayout } from "../language/layout.ts";
import type { StackType, Type } from "../language/types.ts";
import { stackFrames } from "../output/stack-frames.ts";
import { memoryOf, valueText, type Memory } from "../output/values.ts";
import { decoder, type DecodedStack, type DecodedValue } from "../session/decode.ts";
import type { ConsumerServices, Frame, MapSnapshot } from "../session/events.ts";

/** A bucket of a histogram: values from `low` up to, without, `high`; null is an open end. */
export interface Bucket {
  readonly low: number | null;
  readonly high: number | null;
  readonly count: number;
}

/** One interval of a series: when it began (milliseconds since the epoch), and what is kept of its values. */
export interface SeriesPoint {
  readonly start: number;
  readonly value: number;
}

/** A captured stack, innermost frame first. */
export interface Stack {
  readonly frames: readonly Frame[];
}

/**
 * - integers: a number when a double holds it exactly, else a bigint; pointers: a bigint
 * - tuples and arrays: arrays; structs and records: objects; buf(): bytes; stacks: frames
 * - ksym, usym, ntop, strftime and whatever else is a name: its text
 * - count, sum, min, max, avg: a number; stats: { count, average, total }; hist, lhist: buckets { low, high, count };
 *   tseries: points { start, value }, start in milliseconds since the epoch
 */
export type Value = Exclude<DecodedValue, DecodedStack> | Stack;

export type ValueReader = (memory: Memory, offset: number) => Value;

export function valueReader(type: Type, services: ConsumerServices): ValueReader {
  if (!namesMachine(type)) {
    const decode = decoder(type);
    return ({ view, bytes }, offset) => decode(view, bytes, offset) as Value;
  }
  switch (type.kind) {
    case "named":
      return (memory, offset) => valueText(type, memory, offset, services);
    case "stack":
      return (memory, offset) => ({ frames: framesOf(type, memory, offset, services) });
    case "tuple": {
      const { offsets } = fieldLayout(type.elements);
      const readers = type.elements.map((element) => valueReader(element, services));
      return (memory, offset) => readers.map((read, i) => read(memory, offset + offsets[i])) as Value;
    }
    case "record": {
      const { offsets } = fieldLayout(type.fields.map((field) => field.type));
      const readers = type.fields.map((field) => valueReader(field.type, services));
      return (memory, offset) =>
        Object.fromEntries(
          type.fields.map((field, i) => [field.name, readers[i](memory, offset + offsets[i])]),
        ) as Value;
    }
    default:
      throw new InternalError(`no reader for ${type.kind}`);
  }
}

/** Whether a value needs the live machine to be understood. */
function namesMachine(type: Type): boolean {
  switch (type.kind) {
    case "named":
    case "stack":
      return true;
    case "tuple":
      return type.elements.some(namesMachine);
    case "record":
      return type.fields.some((field) => namesMachine(field.type));
    default:
      return false;
  }
}

function framesOf(type: StackType, memory: Memory, offset: number, services: ConsumerServices): readonly Frame[] {
  const id = memory.view.getBigInt64(offset, true);
  return id < 0n ? [] : stackFrames(type, id, memory.view.getUint32(offset + 8, true), services);
}

/** A map at one moment: a lone key is a value, several are an array; a map without keys has the one key undefined. */
export interface MapTable {
  /** Without "@". */
  readonly name: string;
  readonly entries: readonly (readonly [key: Value | undefined, value: Value])[];
}

export function mapTable({ map, entries }: MapSnapshot, services: ConsumerServices): MapTable {
  const lone = map.keys.length === 1;
  const readKey =
    map.keys.length === 0
      ? undefined
      : valueReader(lone ? map.keys[0] : { kind: "tuple", elements: map.keys }, services);
  const readValue = valueReader(map.value, services);
  return {
    name: map.name,
    entries: entries.map(([key, value]) => [readKey?.(memoryOf(key), 0), readValue(memoryOf(value), 0)] as const),
  };
}
