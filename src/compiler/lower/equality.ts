// Comparing what is not a number: text up to its end, everything else byte by byte.
import type { Expression } from "../../language/program.ts";
import { float64, isFloat, type StringType, type Type } from "../../language/types.ts";
import { sizeOf } from "../../language/layout.ts";
import { textBytes } from "../../language/text-bytes.ts";
import type { Place, Value } from "../ir/ir.ts";
import { placeOf } from "./memory.ts";
import { isRegister, storedType } from "./registers.ts";
import type { FunctionState } from "./state.ts";

/** 1 when two texts differ (in their first `limit` characters), else 0. */
export function equalStrings(f: FunctionState, left: Expression, right: Expression, limit = Infinity): Value {
  const [a, b] = left.kind === "string" && right.kind !== "string" ? [right, left] : [left, right];
  const second = b.kind === "string" ? endedText(b.value) : textPlace(f, b);
  const length = Math.min(capacityOf(a.type), capacityOf(b.type), limit);
  const first = textPlace(f, a);
  return f.build.give((result) => ({ op: "compare-strings", result, left: first, right: second, length }));
}

/** -1, 0 or 1, as the first byte that differs between two texts is less, absent or greater. */
export function orderedStrings(f: FunctionState, left: Expression, right: Expression): Value {
  const second = right.kind === "string" ? endedText(right.value) : textPlace(f, right);
  const length = Math.min(capacityOf(left.type), capacityOf(right.type));
  const first = textPlace(f, left);
  return f.build.give((result) => ({
    op: "compare-strings",
    ordered: true,
    result,
    left: first,
    right: second,
    length,
  }));
}

/** A literal's characters and its end. */
export function endedText(text: string): Uint8Array {
  const characters = textBytes(text);
  const bytes = new Uint8Array(characters.length + 1);
  bytes.set(characters);
  return bytes;
}

export function capacityOf(type: Type): number {
  return type.kind === "string" ? type.capacity : sizeOf(type);
}

/** A text in our own memory, with its end. Arrays of characters are given one. */
export function textPlace(f: FunctionState, e: Expression): Place {
  if (e.type.kind === "string") return placeOf(f, f.locate(e), e.type);
  const type: StringType = { kind: "string", capacity: sizeOf(e.type) + 1 };
  const place = f.slot("text", type);
  f.into(e, type, place);
  return place;
}

/** 1 when the bytes of two values differ, in the wider of their layouts. */
export function equalBytes(f: FunctionState, left: Expression, right: Expression): Value {
  const type = wider(left.type, right.type);
  const place = (e: Expression): Place => {
    const own = f.slot("compared", type);
    f.into(e, type, own);
    return own;
  };
  const first = place(left);
  const second = place(right);
  return f.build.give((result) => ({ op: "compare-bytes", result, left: first, right: second, length: sizeOf(type) }));
}

function wider(left: Type, right: Type): Type {
  if (left.kind === "tuple" && right.kind === "tuple") {
    return { kind: "tuple", elements: left.elements.map((e, i) => wider(e, right.elements[i])) };
  }
  if (left.kind === "record" && right.kind === "record") {
    return {
      kind: "record",
      fields: left.fields.map((field) => ({
        name: field.name,
        type: wider(field.type, right.fields.find((other) => other.name === field.name)?.type ?? field.type),
      })),
    };
  }
  if (isFloat(left) || isFloat(right)) return float64;
  if (isRegister(left)) return storedType(left);
  return sizeOf(right) > sizeOf(left) ? right : left;
}
