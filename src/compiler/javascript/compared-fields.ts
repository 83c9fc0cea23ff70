// What entries of a map are ordered by, on the host: the numbers and texts that a value's bytes are made of, the first
// that differs decides.
import { aggregateLayout, askedAt, resultAt } from "../../language/aggregations/table.ts";
import { fieldLayout, sizeOf } from "../../language/layout.ts";
import type { MapOrder } from "../../language/program.ts";
import { isFloat, type AggregateType, type Type } from "../../language/types.ts";

/**
 * Where it is, its size in bytes, and how it is read: signed, unsigned, unsigned with the greatest first, text, the
 * average of a total and a count, a float or a double, or the double that the whole aggregation comes to.
 */
export type ComparedField = readonly [offset: number, size: number, as: "s" | "u" | "r" | "t" | "a" | "f" | "d"];

/** Of keys, or of a value. */
export function orderFields({ by, part, result }: MapOrder, keys: readonly Type[], value: Type): ComparedField[] {
  if (result !== undefined && value.kind === "aggregate")
    return [aggregateField(value, 0, askedAt(value, { aggregate: result }))];
  if (by === "value") return comparedFields([value]);
  if (part === undefined) return comparedFields(keys);
  return comparedFields([keys[part]], fieldLayout(keys).offsets[part]);
}

function comparedFields(types: readonly Type[], from = 0): ComparedField[] {
  const { offsets } = fieldLayout(types);
  return types.flatMap((type, i) => fieldsOf(type, from + offsets[i]));
}

function fieldsOf(type: Type, at: number): ComparedField[] {
  switch (type.kind) {
    case "integer":
    case "enum":
      return [[at, type.bits / 8, type.signed ? "s" : "u"]];
    case "boolean":
      return [[at, 1, "u"]];
    case "pointer":
      return [[at, 8, "u"]];
    case "string":
      return [[at, type.capacity, "t"]];
    case "tuple":
      return comparedFields(type.elements, at);
    case "record":
      return comparedFields(
        type.fields.map((field) => field.type),
        at,
      );
    case "array":
      return Array.from({ length: type.length }, (_, i) =>
        fieldsOf(type.element, at + i * sizeOf(type.element)),
      ).flat();
    case "aggregate":
      return [aggregateField(type, at)];
    default: {
      const size = sizeOf(type);
      if (isFloat(type)) return [[at, size, "f"]];
      return size === 8 ? [[at, 8, "u"]] : [[at, size, "t"]];
    }
  }
}

/** `of`: by which result of a statistic. */
function aggregateField(type: AggregateType, at: number, of?: number): ComparedField {
  const result = resultAt(type, of);
  if (result !== undefined && "double" in result) return [at, 8, "d"];
  const { part, at: first } = aggregateLayout(type).parts[result?.part ?? 0];
  const word = at + first * 8;
  if (part.kind === "extreme") return [word, 8, part.which === "min" ? "r" : "u"];
  return [word, 8, result?.averaged === true ? "a" : type.signed ? "s" : "u"];
}
