// Bytes: reading them where they lie, copying them where they are wanted, converting between layouts on the way.
import type { PointerType, StringType, Type } from "../../language/types.ts";
import { fieldLayout, sizeOf } from "../../language/layout.ts";
import { type Place, type ReadSpace, type Source, type Value, type Width, sourceSize } from "../ir/ir.ts";
import { isRegister, isSigned, sameLayout, widthOf } from "./registers.ts";
import { convert } from "./scalars.ts";
import type { FunctionState, Located } from "./state.ts";

export function at(place: Place, offset: number): Place {
  return offset === 0 ? place : { ...place, offset: place.offset + offset };
}

/** The part of a located value that starts `offset` bytes in. What is nowhere yet is made first. */
export function part(f: FunctionState, located: Located, type: Type, offset: number): Located {
  switch (located.at) {
    case "memory":
      return { ...located, offset: located.offset + offset };
    case "place":
      return { at: "place", place: at(located.place, offset) };
    case "source":
      return { at: "place", place: at(placeOf(f, located, type), offset) };
  }
}

/** What a pointer points to. Direct loads where the verifier knows the pointer for what we take it for. */
export function behind(f: FunctionState, pointer: Value, type: PointerType): Located {
  return { at: "memory", space: spaceOf(f, pointer, type), address: pointer, offset: 0 };
}

function spaceOf(f: FunctionState, pointer: Value, type: PointerType): ReadSpace {
  const known = f.typed.get(pointer);
  const { target } = type;
  const same =
    type.typed === true &&
    known !== undefined &&
    target.kind === "struct" &&
    known.name === target.name &&
    known.size === target.size;
  return same && f.module.options.directLoads ? "typed" : type.space;
}

/** Remembers that the verifier knows a pointer. */
export function noteTyped(f: FunctionState, value: Value, type: Type): void {
  if (type.kind === "pointer" && type.typed && type.target.kind === "struct") {
    f.typed.set(value, { name: type.target.name, size: type.target.size });
  }
}

/** Where probe reads find memory that could also be loaded directly. */
export function probeSpace(space: ReadSpace): "kernel" | "user" {
  return space === "user" ? "user" : "kernel";
}

export function addressOf(f: FunctionState, located: Located & { at: "memory" }): Value {
  return f.build.binary("add", located.address, f.build.constant(BigInt(located.offset)));
}

/** Loads a scalar of a type from where it lies. */
export function load(f: FunctionState, located: Located, type: Type): Value {
  const value = loadBytes(f, located, widthOf(type), isSigned(type));
  if (located.at === "memory" && located.space === "typed") noteTyped(f, value, type);
  return value;
}

export function loadBytes(f: FunctionState, located: Located, size: Width, signed: boolean): Value {
  switch (located.at) {
    case "memory": {
      const { space, address, offset } = located;
      return f.build.give((result) => ({ op: "read", result, space, address, offset, size, signed }));
    }
    case "place":
      return f.build.give((result) => ({ op: "load", result, from: located.place, size, signed }));
    case "source": {
      if (located.source.kind === "constant") return f.build.constant(constantAt(located.source.bytes, size, signed));
      if (located.source.kind === "value" && located.source.width === 8 && size === 8) return located.source.value;
      const place = f.slotOf("bytes", sourceSize(located.source));
      f.build.emit({ op: "fill", to: place, source: located.source });
      return f.build.give((result) => ({ op: "load", result, from: place, size, signed }));
    }
  }
}

/** A bit-field: the bytes around it, shifted and masked. Never a direct load: the verifier knows whole members only. */
export function loadBits(
  f: FunctionState,
  located: Located,
  bitOffset: number,
  bitWidth: number,
  signed: boolean,
): Value {
  const skip = Math.floor(bitOffset / 8);
  const first = bitOffset - skip * 8;
  const bytes = Math.ceil((first + bitWidth) / 8);
  const size: Width = bytes <= 1 ? 1 : bytes === 2 ? 2 : bytes <= 4 ? 4 : 8;
  const from =
    located.at === "memory"
      ? { ...located, space: probeSpace(located.space), offset: located.offset + skip }
      : part(f, located, { kind: "void" }, skip);
  const raw = loadBytes(f, from, size, false);
  const { build } = f;
  if (signed) {
    const up = build.binary("shl", raw, build.constant(BigInt(64 - first - bitWidth)));
    return build.binary("ashr", up, build.constant(BigInt(64 - bitWidth)));
  }
  const down = build.binary("lshr", raw, build.constant(BigInt(first)));
  return build.binary("and", down, build.constant((1n << BigInt(bitWidth)) - 1n));
}

function constantAt(bytes: Uint8Array, size: number, signed: boolean): bigint {
  let value = 0n;
  for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0);
  return signed ? BigInt.asIntN(size * 8, value) : value;
}

/** A place that holds the bytes: the one where they are, or a slot made for them. */
export function placeOf(f: FunctionState, located: Located, type: Type): Place {
  if (located.at === "place") return located.place;
  const size = located.at === "source" ? sourceSize(located.source) : 0;
  const place = f.slotOf("temporary", Math.max(size, sizeOf(type), 1));
  copy(f, located, type, type, place);
  return place;
}

/**
 * Copies a value into memory in another type's layout. Every byte of the destination is written. Text that is too long
 * is cut and terminated; or `unterminated`, so that it equals no text that fits.
 */
export function copy(
  f: FunctionState,
  located: Located,
  from: Type,
  to: Type,
  place: Place,
  cut: "terminated" | "unterminated" = "terminated",
): void {
  const direct = directSource(f, located, from, to, true);
  if (direct !== undefined) {
    f.build.emit({ op: "fill", to: place, source: direct });
    return;
  }
  if (located.at === "source") {
    const whole = f.slotOf("temporary", Math.max(sizeOf(from), sourceSize(located.source)));
    f.build.emit({ op: "fill", to: whole, source: located.source });
    copy(f, { at: "place", place: whole }, from, to, place, cut);
    return;
  }
  const fields = fieldPairs(from, to);
  if (fields !== undefined) {
    if (hasPadding(to)) f.build.emit({ op: "zero", at: place, size: sizeOf(to) });
    for (const field of fields) {
      const source = part(f, located, from, field.fromOffset);
      const target = at(place, field.toOffset);
      if (isRegister(field.from)) {
        f.build.emit({
          op: "store",
          to: target,
          value: convert(f, load(f, source, field.from), field.from, field.to),
          size: widthOf(field.to),
        });
      } else {
        copy(f, source, field.from, field.to, target, cut);
      }
    }
    return;
  }
  // Text or bytes between places of two capacities.
  const bytes = Math.min(sizeOf(from), sizeOf(to));
  if (sizeOf(to) > bytes) f.build.emit({ op: "zero", at: at(place, bytes), size: sizeOf(to) - bytes });
  const source =
    located.at === "place"
      ? ({ kind: "copy", from: located.place, size: bytes } as const)
      : ({ kind: "memory", space: probeSpace(located.space), address: addressOf(f, located), size: bytes } as const);
  f.build.emit({ op: "fill", to: place, source });
  if (cut === "terminated" && to.kind === "string" && from.kind === "string" && to.capacity < from.capacity) {
    f.build.emit({ op: "store", to: at(place, to.capacity - 1), value: f.build.constant(0n), size: 1 });
  }
}

/** The bytes as one source in the layout of `to`, made in a slot first when there is no direct way. */
export function sourceOf(f: FunctionState, located: Located, from: Type, to: Type, padded: boolean): Source {
  const direct = directSource(f, located, from, to, padded);
  if (direct !== undefined) return direct;
  const place = f.slot("temporary", to);
  copy(f, located, from, to, place);
  return { kind: "copy", from: place, size: sizeOf(to) };
}

function directSource(f: FunctionState, located: Located, from: Type, to: Type, padded: boolean): Source | undefined {
  switch (located.at) {
    case "place":
      return sameLayout(from, to) ? { kind: "copy", from: located.place, size: sizeOf(to) } : undefined;
    case "memory": {
      const space = probeSpace(located.space);
      if (to.kind === "string" && (from.kind === "string" || from.kind === "array")) {
        const most = from.kind === "string" ? from.capacity - 1 : from.length;
        const limit = most < to.capacity - 1 ? { limit: f.build.constant(BigInt(most)) } : {};
        return { kind: "string", space, address: addressOf(f, located), ...limit, size: to.capacity, padded };
      }
      return sameLayout(from, to)
        ? { kind: "memory", space, address: addressOf(f, located), size: sizeOf(to) }
        : undefined;
    }
    case "source":
      return resized(located.source, from, to, padded);
  }
}

/** A source made for one capacity, for another. */
function resized(source: Source, from: Type, to: Type, padded: boolean): Source | undefined {
  switch (source.kind) {
    case "constant": {
      if (to.kind !== "string") return sameLayout(from, to) ? source : undefined;
      return constantString(source.bytes, to);
    }
    case "string":
      return to.kind === "string" ? stringTo(source, to, padded) : undefined;
    case "buffer":
      return to.kind === "buffer" && sizeOf(from) === sizeOf(to) ? { ...source, padded } : undefined;
    case "path":
      return to.kind === "string" && to.capacity >= source.size ? { ...source, size: to.capacity } : undefined;
    case "value":
    case "copy":
    case "memory":
    case "comm":
    case "stack":
      return sameLayout(from, to) ? source : undefined;
  }
}

function stringTo(source: Source & { kind: "string" }, to: StringType, padded: boolean): Source | undefined {
  // A longer destination would read more of the text than the expression means.
  if (to.capacity > source.size && source.limit === undefined) return undefined;
  return to.capacity <= source.size || source.limit === undefined
    ? { ...source, size: to.capacity, padded }
    : undefined;
}

/** A literal in a string's field: cut when it is too long, always terminated. */
export function constantString(text: Uint8Array, to: StringType): Source {
  if (text.length <= to.capacity) return { kind: "constant", bytes: text, size: to.capacity };
  const bytes = text.slice(0, to.capacity);
  bytes[to.capacity - 1] = 0;
  return { kind: "constant", bytes, size: to.capacity };
}

/** Whether some text of a type has more room than in the other. */
export function hasLongerText(type: Type, than: Type): boolean {
  if (type.kind === "string") return than.kind === "string" && type.capacity > than.capacity;
  return fieldPairs(type, than)?.some(({ from, to }) => hasLongerText(from, to)) ?? false;
}

interface FieldPair {
  readonly from: Type;
  readonly to: Type;
  readonly fromOffset: number;
  readonly toOffset: number;
}

/** The fields of two tuples or records that mean the same. */
function fieldPairs(from: Type, to: Type): FieldPair[] | undefined {
  if (from.kind === "tuple" && to.kind === "tuple") {
    const [source, target] = [fieldLayout(from.elements), fieldLayout(to.elements)];
    return to.elements.map((type, i) => ({
      from: from.elements[i],
      to: type,
      fromOffset: source.offsets[i],
      toOffset: target.offsets[i],
    }));
  }
  if (from.kind === "record" && to.kind === "record") {
    const [source, target] = [from, to].map((r) => fieldLayout(r.fields.map((field) => field.type)));
    return to.fields.map((field, i) => {
      const index = from.fields.findIndex((other) => other.name === field.name);
      return {
        from: from.fields[index].type,
        to: field.type,
        fromOffset: source.offsets[index],
        toOffset: target.offsets[i],
      };
    });
  }
  return undefined;
}

/** Bytes that no field writes: they must be zeroed, so that equal values are equal bytes. */
export function hasPadding(type: Type): boolean {
  const fields = type.kind === "tuple" ? type.elements : type.kind === "record" ? type.fields.map((f) => f.type) : [];
  return fields.length > 0 && fieldsHavePadding(fields);
}

export function fieldsHavePadding(fields: readonly Type[]): boolean {
  return fieldLayout(fields).size !== fields.reduce((sum, type) => sum + sizeOf(type), 0);
}
