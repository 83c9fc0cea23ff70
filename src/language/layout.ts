// How a value of each type lies in memory: in map keys and values, in event records, on the BPF stack.
// Everything is little-endian; fields are aligned to their own size, at most 8; padding is always zero.
import type { Type } from "./types.ts";
import { aggregateWords } from "./aggregations/table.ts";

/** Bytes that a value of this type takes. */
export function sizeOf(type: Type): number {
  switch (type.kind) {
    case "unknown":
    case "void":
      return 0;
    case "boolean":
      return 1;
    case "integer":
    case "enum":
      return type.bits / 8;
    case "pointer":
      return 8;
    case "struct":
      return type.size;
    case "array":
      return sizeOf(type.element) * type.length;
    case "string":
      return type.capacity;
    case "buffer":
      return 4 + type.capacity;
    case "tuple":
      return fieldLayout(type.elements).size;
    case "record":
      return fieldLayout(type.fields.map((f) => f.type)).size;
    case "sequence":
      return sequenceHeader + roundUp(type.stride * type.capacity, 8);
    case "choice":
      return (
        8 + roundUp(Math.max(0, ...type.alternatives.map((one) => (one.type === undefined ? 0 : sizeOf(one.type)))), 8)
      );
    case "stack":
      return 16;
    case "named":
      switch (type.of) {
        case "usym":
        case "timestamp":
        case "float80":
          return 16;
        case "inet":
          return 24;
        case "float32":
          return 4;
        default:
          return 8;
      }
    case "aggregate":
      return aggregateWords(type) * 8;
  }
}

/** Bytes before a sequence's elements (SequenceType). */
export const sequenceHeader = 16;

/** Places in a table of a program that are looked at, taken or free. */
export const mostPlaces = 512;

/** Alignment in bytes: 1, 2, 4 or 8. */
export function alignOf(type: Type): number {
  switch (type.kind) {
    case "unknown":
    case "void":
    case "boolean":
    case "string":
      return 1;
    case "integer":
    case "enum":
      return type.bits / 8;
    case "array":
      return alignOf(type.element);
    case "buffer":
      return 4;
    case "tuple":
      return Math.max(1, ...type.elements.map(alignOf));
    case "record":
      return Math.max(1, ...type.fields.map((f) => alignOf(f.type)));
    case "named":
      return type.of === "float32" ? 4 : 8;
    // Struct bytes are copied from elsewhere; 8 keeps every member naturally aligned.
    case "struct":
    case "pointer":
    case "sequence":
    case "choice":
    case "stack":
    case "aggregate":
      return 8;
  }
}

/** The offsets of fields laid out one after the other, and the size of the whole (padded to the alignment). */
export function fieldLayout(types: readonly Type[]): { offsets: number[]; size: number; align: number } {
  const offsets: number[] = [];
  let end = 0;
  let align = 1;
  for (const type of types) {
    const own = alignOf(type);
    align = Math.max(align, own);
    end = roundUp(end, own);
    offsets.push(end);
    end += sizeOf(type);
  }
  return { offsets, size: roundUp(end, align), align };
}

/**
 * A map's key: the lone key as it is, several keys as the fields of a tuple. The checker gives all of a map's keys
 * one width (MapRules), so that `@[1]` and `@[(uint8)1]` are one entry.
 */
export function keyLayout(keys: readonly Type[]): { offsets: number[]; size: number } {
  const { offsets, size } = fieldLayout(keys);
  return { offsets, size };
}

export function roundUp(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}

/**
 * Where a struct has a member, its own or one of a nameless struct within; undefined where it has none, or is no
 * struct.
 */
export function memberOffset(type: Type | undefined, name: string): number | undefined {
  if (type?.kind !== "struct") return undefined;
  const own = type.member?.(name);
  if (own !== undefined) return own.offset;
  for (const member of type.members) {
    if (member.name === name) return member.offset;
    const inside = member.name === "" ? memberOffset(member.type, name) : undefined;
    if (inside !== undefined) return member.offset + inside;
  }
  return undefined;
}
