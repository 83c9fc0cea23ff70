// A value of any type as JSON text, in the shapes of bpftrace's manual.
import { absentText } from "../language/absent.ts";
import { bucketCount } from "../language/aggregations/buckets.ts";
import { aggregationOf, shapedPart } from "../language/aggregations/table.ts";
import { fieldLayout, sizeOf } from "../language/layout.ts";
import { spelledText } from "../language/text-bytes.ts";
import { isFloat, type AggregateType, type Type } from "../language/types.ts";
import type { ConsumerServices } from "../session/events.ts";
import { usedBuckets } from "./histogram.ts";
import {
  elementSize,
  floatText,
  isCharacter,
  presentMembers,
  readBits,
  readBuffer,
  readInteger,
  readString,
  readWords,
  shownResults,
  stackText,
  stringText,
  valueText,
  type Memory,
} from "./values.ts";
import { lazy } from "../base/lazy.ts";

const shapedValues = lazy<typeof import("./shaped-values.ts")>(() => require("./shaped-values.ts"));

/** Few scripts have series. */
const series = lazy<typeof import("./series.ts")>(() => require("./series.ts"));

const int64Max = 9223372036854775807n;

export function valueJson(type: Type, memory: Memory, offset: number, services: ConsumerServices): string {
  switch (type.kind) {
    case "integer":
    case "enum":
      return integerJson(readInteger(type.bits, type.signed, memory, offset));
    case "boolean":
      return memory.bytes[offset] ? "true" : "false";
    case "pointer":
      return integerJson(memory.view.getBigUint64(offset, true));
    case "buffer":
      return `[${readBuffer(memory, offset).join(",")}]`;
    case "array":
      if (isCharacter(type.element)) return textJson(readString(memory, offset, type.length));
      return `[${Array.from({ length: type.length }, (_, i) => valueJson(type.element, memory, offset + i * sizeOf(type.element), services)).join(",")}]`;
    case "tuple": {
      const { offsets } = fieldLayout(type.elements);
      return `[${type.elements.map((element, i) => valueJson(element, memory, offset + offsets[i], services)).join(",")}]`;
    }
    case "record": {
      const { offsets } = fieldLayout(type.fields.map((f) => f.type));
      return `{${type.fields.map((f, i) => `${textJson(f.name)}: ${valueJson(f.type, memory, offset + offsets[i], services)}`).join(", ")}}`;
    }
    case "struct":
      return `{${presentMembers(type, memory, offset)
        .map(
          (m) =>
            `${textJson(m.name)}: ${
              m.absent !== undefined
                ? JSON.stringify(absentText(m.absent))
                : m.bitWidth === undefined
                  ? valueJson(m.type, memory, offset + m.offset, services)
                  : bitsJson(readBits(memory, offset + m.offset, m.bitOffset ?? 0, m.bitWidth, m.type), m.type)
            }`,
        )
        .join(", ")}}`;
    case "sequence": {
      const { sequenceJson } = shapedValues();
      return sequenceJson(
        type,
        memory,
        offset,
        (inner, at) => valueJson(inner, memory, at, services),
        (key, at) =>
          textJson(
            key.kind === "string" ? stringText(key, memory, at, services) : valueText(key, memory, at, services),
          ),
      );
    }
    case "choice": {
      const { choiceJson } = shapedValues();
      return choiceJson(type, memory, offset, (inner, at) => valueJson(inner, memory, at, services));
    }
    case "aggregate":
      return aggregateJson(type, readWords(memory, offset, elementSize(type)), 1n);
    case "named": {
      const text = valueText(type, memory, offset, services);
      return isFloat(type) || type.of === "float80" ? floatJson(text) : textJson(text);
    }
    case "string":
      return textJson(stringText(type, memory, offset, services));
    case "stack":
    case "unknown":
    case "void":
      return textJson(valueText(type, memory, offset, services));
  }
}

/** JSON has neither infinities nor what is no number: they are the texts "inf", "-inf" and "nan". */
function floatJson(text: string): string {
  return Number.isFinite(Number(text)) ? text : textJson(text);
}

/** A byte that is no UTF-8 is spelled `\x9b`, as text. */
export function textJson(text: string): string {
  return JSON.stringify(spelledText(text));
}

/** A map's value: integers are divided. */
export function scaledJson(type: Type, memory: Memory, divisor: bigint, services: ConsumerServices): string {
  if (divisor === 1n || type.kind !== "integer") return valueJson(type, memory, 0, services);
  return integerJson(readInteger(type.bits, type.signed, memory, 0) / divisor);
}

function bitsJson(value: bigint, { kind }: Type): string {
  return kind === "boolean" ? String(value !== 0n) : integerJson(value);
}

function integerJson(value: bigint): string {
  return value > int64Max ? `"${value}"` : String(value);
}

/** A map's key as the name of an object's member: `1,a`. */
export function keyText(types: readonly Type[], memory: Memory, services: ConsumerServices): string {
  const { offsets } = fieldLayout(types);
  return types
    .map((type, i) =>
      type.kind === "stack"
        ? stackText(type, memory, offsets[i], services, false)
        : nestedKeyText(type, memory, offsets[i], services),
    )
    .join(",");
}

/** Tuples and records in a key have no blanks in between. */
function nestedKeyText(type: Type, memory: Memory, offset: number, services: ConsumerServices): string {
  if (type.kind === "record") {
    const { offsets } = fieldLayout(type.fields.map((f) => f.type));
    return `{${type.fields.map((f, i) => `.${f.name}=${nestedKeyText(f.type, memory, offset + offsets[i], services)}`).join(",")}}`;
  }
  if (type.kind === "string") return spelledText(stringText(type, memory, offset, services));
  if (type.kind !== "tuple") return spelledText(valueText(type, memory, offset, services));
  const { offsets } = fieldLayout(type.elements);
  return `(${type.elements.map((element, i) => nestedKeyText(element, memory, offset + offsets[i], services)).join(",")})`;
}

export function aggregateJson(type: AggregateType, words: readonly bigint[], divisor: bigint): string {
  const { shape } = aggregationOf(type);
  switch (shape) {
    case "number":
    case "record": {
      const shown = shownResults(type, words, divisor).map(
        ({ name, value }) =>
          [name, typeof value === "number" ? floatJson(floatText(value, 17)) : integerJson(value)] as const,
      );
      return shape === "number" ? shown[0][1] : `{${shown.map(([name, json]) => `"${name}": ${json}`).join(", ")}}`;
    }
    case "buckets": {
      const { part, at } = shapedPart(type, "buckets");
      const counts = words.slice(at, at + bucketCount(part.of));
      const buckets = usedBuckets(part.of, counts).map(({ low, high, count }) => {
        const ends = [...(low === null ? [] : [`"min": ${low}`]), ...(high === null ? [] : [`"max": ${high - 1n}`])];
        return `{${[...ends, `"count": ${count / divisor}`].join(", ")}}`;
      });
      return `[${buckets.join(",")}]`;
    }
    case "series": {
      const { part, at } = shapedPart(type, "series");
      return series().seriesJson(part.of, type.signed, words.slice(at), divisor, integerJson);
    }
  }
}

/** The `type` of what is printed of a map, bpftrace's words. */
export function mapKind(type: Type): string {
  if (type.kind !== "aggregate") return "map";
  const { shape, jsonType } = aggregationOf(type);
  return jsonType ?? { number: "map", record: "stats", buckets: "hist", series: "tseries" }[shape];
}
