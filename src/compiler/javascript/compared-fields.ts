// What entries of a map are ordered by, on the host: the numbers and texts that a value's bytes are made of, the first
// that differs decides.
import { fieldLayout, sizeOf } from "../../language/layout.ts";
import { isFloat, type Type } from "../../language/types.ts";
import { sumsDoubles } from "../../language/floating.ts";

/**
 * Where it is, its size in bytes, and how it is read: signed, unsigned, text, the average of a total and a count, a
 * float or a double, or the double that the whole aggregation comes to.
 */
export type ComparedField = readonly [offset: number, size: number, as: "s" | "u" | "t" | "a" | "f" | "d"];

export function comparedFields(types: readonly Type[], from = 0): ComparedField[] {
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
      if (sumsDoubles(type)) return [[at, 8, "d"]];
      switch (type.aggregate) {
        case "avg":
        case "stats":
          return [[at, 8, "a"]];
        default:
          return [[at, 8, type.signed ? "s" : "u"]];
      }
    default: {
      const size = sizeOf(type);
      if (isFloat(type)) return [[at, size, "f"]];
      return size === 8 ? [[at, 8, "u"]] : [[at, size, "t"]];
    }
  }
}
