// Bytes to JavaScript values, a specialised closure a type: for the library, for JSON and for whoever looks at maps.
import { InternalError } from "../base/internal-error.ts";
import type { Result } from "../language/aggregations/aggregation.ts";
import { bucketCount, bucketRange, type Buckets } from "../language/aggregations/buckets.ts";
import { seriesPoints } from "../language/aggregations/series.ts";
import { aggregateLayout, aggregationOf, shapedPart, valueOf } from "../language/aggregations/table.ts";
import { resultOf, wordsIn } from "../language/aggregations/value.ts";
import { fieldLayout, sequenceHeader, sizeOf } from "../language/layout.ts";
import { float80 } from "../language/floating.ts";
import type { AddressSpace, AggregateType, NamedType, StackMode, Type } from "../language/types.ts";

/** An integer is a number when a double holds it exactly, else a bigint. Pointers are always bigints. */
export type DecodedValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly DecodedValue[]
  | DecodedStack
  | DecodedName
  | DecodedStats
  | readonly DecodedBucket[]
  | { readonly [field: string]: DecodedValue };

/** A captured stack: its frames are in the stack map (SymbolResolver.stack). A negative id: the stack was lost. */
export interface DecodedStack {
  readonly kind: "stack";
  readonly space: AddressSpace;
  readonly mode: StackMode;
  readonly limit: number;
  readonly id: number | bigint;
  readonly pid: number;
  readonly tid: number;
}

/** A value that only the live machine can name. */
export interface DecodedName {
  readonly kind: NamedType["of"];
  /** The address, id, number or index; 0 for network addresses. */
  readonly value: number | bigint;
  /** usym: the process it belongs to. */
  readonly pid?: number;
  /** inet: 4 or 16 bytes; macaddr: 6 bytes. */
  readonly bytes?: Uint8Array;
  /** timestamp: index into the plan's time formats, and the clock. */
  readonly format?: number;
  readonly clock?: "boot" | "real";
}

export interface DecodedStats {
  readonly count: number | bigint;
  readonly average: number | bigint;
  readonly total: number | bigint;
}

/**
 * The half-open range [low, high); null is open. Empty buckets before the first and after the last full one are left
 * out.
 */
export interface DecodedBucket {
  readonly low: number | bigint | null;
  readonly high: number | bigint | null;
  readonly count: number | bigint;
}

export type Decoder = (view: DataView, bytes: Uint8Array, offset: number) => DecodedValue;

/** A function that reads values of this type. The closure does the looking at the type once, not every time. */
export function decoder(type: Type): Decoder {
  switch (type.kind) {
    case "unknown":
    case "void":
      return () => null;
    case "boolean":
      return (_view, bytes, offset) => bytes[offset] !== 0;
    case "integer":
    case "enum":
      return integerDecoder(type.bits, type.signed);
    case "pointer":
      return (view, _bytes, offset) => view.getBigUint64(offset, true);
    case "string":
      return textDecoder(type.capacity);
    case "buffer":
      return (view, bytes, offset) =>
        bytes.slice(offset + 4, offset + 4 + Math.min(view.getUint32(offset, true), type.capacity));
    case "array": {
      if (type.element.kind === "integer" && type.element.character) return textDecoder(type.length);
      const element = decoder(type.element);
      const { length } = type;
      const stride = sizeOf(type.element);
      return (view, bytes, offset) => {
        const values: DecodedValue[] = [];
        for (let i = 0; i < length; i++) values.push(element(view, bytes, offset + i * stride));
        return values;
      };
    }
    case "tuple": {
      const { offsets } = fieldLayout(type.elements);
      const elements = type.elements.map(decoder);
      return (view, bytes, offset) => elements.map((element, i) => element(view, bytes, offset + offsets[i]));
    }
    case "record": {
      const { offsets } = fieldLayout(type.fields.map((field) => field.type));
      return objectDecoder(
        type.fields.map((field, i) => ({ name: field.name, at: offsets[i], decode: decoder(field.type) })),
      );
    }
    case "struct":
      return structDecoder(type);
    case "sequence": {
      const { capacity, stride } = type;
      const element = decoder(type.element);
      const mapping = type.form === "mapping";
      return (view, bytes, offset) => {
        const copied = Math.min(capacity, stride === 0 ? 0 : Math.floor(view.getUint32(offset + 12, true) / stride));
        const values = Array.from({ length: copied }, (_, i) =>
          element(view, bytes, offset + sequenceHeader + i * stride),
        );
        return mapping && values.every(isNamed) ? Object.fromEntries(values) : values;
      };
    }
    case "choice": {
      const alternatives = type.alternatives.map(({ name, type: own, none }): Decoder => {
        if (none === true) return () => null;
        if (own === undefined) return () => name ?? "";
        const value = decoder(own);
        return name === undefined ? value : (view, bytes, offset) => ({ [name]: value(view, bytes, offset) });
      });
      return (view, bytes, offset) => alternatives[view.getUint32(offset, true)]?.(view, bytes, offset + 8) ?? null;
    }
    case "stack": {
      const { space, mode, limit } = type;
      return (view, _bytes, offset) => ({
        kind: "stack",
        space,
        mode,
        limit,
        id: readSigned64(view, offset),
        pid: view.getUint32(offset + 8, true),
        tid: view.getUint32(offset + 12, true),
      });
    }
    case "named":
      return namedDecoder(type.of);
    case "aggregate":
      return aggregateDecoder(type);
  }
}

/** An unsigned 64-bit integer: a number where it is exact. */
export function readUnsigned64(view: DataView, offset: number): number | bigint {
  const high = view.getUint32(offset + 4, true);
  return high < 0x20_0000 ? high * 0x1_0000_0000 + view.getUint32(offset, true) : view.getBigUint64(offset, true);
}

/** A signed 64-bit integer: a number where it is exact. */
export function readSigned64(view: DataView, offset: number): number | bigint {
  const high = view.getInt32(offset + 4, true);
  return high >= -0x1f_ffff && high < 0x20_0000
    ? high * 0x1_0000_0000 + view.getUint32(offset, true)
    : view.getBigInt64(offset, true);
}

/** A bigint as a number where that is exact. */
export function exact(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

function integerDecoder(
  bits: number,
  signed: boolean,
): (view: DataView, bytes: Uint8Array, offset: number) => number | bigint {
  switch (bits) {
    case 8:
      return signed ? (view, _, offset) => view.getInt8(offset) : (_view, bytes, offset) => bytes[offset];
    case 16:
      return signed
        ? (view, _, offset) => view.getInt16(offset, true)
        : (view, _, offset) => view.getUint16(offset, true);
    case 32:
      return signed
        ? (view, _, offset) => view.getInt32(offset, true)
        : (view, _, offset) => view.getUint32(offset, true);
    default:
      return signed
        ? (view, _, offset) => readSigned64(view, offset)
        : (view, _, offset) => readUnsigned64(view, offset);
  }
}

/** A pair whose first can name a member of an object. */
function isNamed(pair: DecodedValue): pair is readonly [string | number, DecodedValue] {
  return Array.isArray(pair) && (typeof pair[0] === "string" || typeof pair[0] === "number");
}

const utf8 = new TextDecoder();

/** Longer texts are rarely the same twice. */
const remembered = 64;

/** The same text often comes again (the name of a process, say): then it is the same string, and costs a comparison. */
function textDecoder(capacity: number): Decoder {
  const last = new Uint8Array(Math.min(capacity, remembered));
  let length = -1;
  let text = "";
  return (_view, bytes, offset) => {
    let same = 0;
    while (same < length && bytes[offset + same] === last[same]) same++;
    if (same === length && (length === capacity || bytes[offset + length] === 0)) return text;
    text = readText(bytes, offset, capacity);
    for (length = 0; length < capacity && bytes[offset + length] !== 0; length++) {
      if (length === remembered) {
        length = -1;
        break;
      }
      last[length] = bytes[offset + length];
    }
    return text;
  };
}

/** NUL-terminated UTF-8 text. Short ASCII, the usual case, does without the cost of a TextDecoder. */
export function readText(bytes: Uint8Array, offset: number, capacity: number): string {
  const limit = offset + capacity;
  let end = offset;
  let ascii = true;
  while (end < limit && bytes[end] !== 0) {
    if (bytes[end] > 127) ascii = false;
    end++;
  }
  if (!ascii || end - offset > 32) return utf8.decode(bytes.subarray(offset, end));
  let text = "";
  for (let i = offset; i < end; i++) text += String.fromCharCode(bytes[i]);
  return text;
}

interface DecodedField {
  readonly name: string;
  readonly at: number;
  readonly decode: Decoder;
}

function objectDecoder(fields: readonly DecodedField[]): Decoder {
  return (view, bytes, offset) => {
    const value: Record<string, DecodedValue> = {};
    for (const field of fields) value[field.name] = field.decode(view, bytes, offset + field.at);
    return value;
  };
}

/** Members of anonymous structs and unions are the outer struct's, as C has it. */
function structDecoder(type: Extract<Type, { kind: "struct" }>): Decoder {
  // Kernel structs reach thousands of others through pointers, but contain few: a pointer is not followed here.
  const fields: DecodedField[] = [];
  const collect = (struct: Extract<Type, { kind: "struct" }>, base: number): void => {
    for (const member of struct.members) {
      const at = base + member.offset;
      if (member.absent !== undefined) continue;
      if (member.name === "" && member.type.kind === "struct") collect(member.type, at);
      else if (member.bitWidth === undefined) fields.push({ name: member.name, at, decode: decoder(member.type) });
      else
        fields.push({
          name: member.name,
          at,
          decode: bitFieldDecoder(member.bitOffset ?? 0, member.bitWidth, member.type),
        });
    }
  };
  collect(type, 0);
  return objectDecoder(fields);
}

function bitFieldDecoder(bitOffset: number, width: number, type: Type): Decoder {
  const size = Math.ceil((bitOffset + width) / 8);
  const signed = (type.kind === "integer" || type.kind === "enum") && type.signed;
  const truth = type.kind === "boolean";
  return (_view, bytes, offset) => {
    let whole = 0n;
    for (let i = size - 1; i >= 0; i--) whole = (whole << 8n) | BigInt(bytes[offset + i]);
    const value = whole >> BigInt(bitOffset);
    const bits = signed ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
    return truth ? bits !== 0n : exact(bits);
  };
}

const familyInet = 2;

function namedDecoder(of: NamedType["of"]): Decoder {
  switch (of) {
    case "usym":
      return (view, _bytes, offset) => ({
        kind: of,
        value: readUnsigned64(view, offset),
        pid: view.getUint32(offset + 8, true),
      });
    case "inet":
      return (view, bytes, offset) => ({
        kind: of,
        value: 0,
        bytes: bytes.slice(offset + 8, offset + (view.getUint32(offset, true) === familyInet ? 12 : 24)),
      });
    case "macaddr":
      return (_view, bytes, offset) => ({ kind: of, value: 0, bytes: bytes.slice(offset, offset + 6) });
    case "timestamp":
      return (view, _bytes, offset) => ({
        kind: of,
        // Of the time of day it may be before 1970.
        value: (view.getUint32(offset + 12, true) === 0 ? readUnsigned64 : readSigned64)(view, offset),
        format: view.getUint32(offset + 8, true),
        clock: view.getUint32(offset + 12, true) === 0 ? "boot" : "real",
      });
    case "strerror":
      return (view, _bytes, offset) => ({ kind: of, value: readSigned64(view, offset) });
    case "float32":
      return (view, _bytes, offset) => view.getFloat32(offset, true);
    case "float64":
      return (view, _bytes, offset) => view.getFloat64(offset, true);
    case "float80":
      return float80;
    case "username":
      return (view, _bytes, offset) => ({ kind: of, value: view.getUint32(offset, true) });
    case "ksym":
    case "cgroup_path":
    case "signal_name":
    case "process_name":
    case "syscall_name":
    case "probe":
      return (view, _bytes, offset) => ({ kind: of, value: readUnsigned64(view, offset) });
  }
}

function aggregateDecoder(type: AggregateType): Decoder {
  const { shape, results } = aggregationOf(type);
  switch (shape) {
    case "number":
      return resultDecoder(type, valueOf(type));
    case "record": {
      const fields = Object.entries(results(type)).map(
        ([name, result]) => [name, resultDecoder(type, result)] as const,
      );
      return (view, bytes, offset) =>
        Object.fromEntries(fields.map(([name, decode]) => [name, decode(view, bytes, offset)]));
    }
    case "buckets": {
      const { part, at } = shapedPart(type, "buckets");
      return bucketDecoder(part.of, at * 8);
    }
    case "series": {
      const { part, at } = shapedPart(type, "series");
      return (view, _bytes, offset) =>
        seriesPoints(part.of, type.signed, wordsIn(type, view, offset).slice(at)).flatMap(({ start, value }) =>
          value === undefined ? [] : [{ start: Number(start / 1000n) / 1000, value: exact(value) }],
        );
    }
  }
}

function resultDecoder(type: AggregateType, result: Result | undefined): Decoder {
  if (result === undefined) throw new InternalError(`${type.aggregate}() has no value`);
  if ("part" in result && result.averaged !== true && type.float !== true) {
    const { part, at } = aggregateLayout(type).parts[result.part];
    if (part.kind !== "extreme")
      return type.signed && part.kind !== "count"
        ? (view, _bytes, offset) => readSigned64(view, offset + at * 8)
        : (view, _bytes, offset) => readUnsigned64(view, offset + at * 8);
  }
  return (view, _bytes, offset) => {
    const value = resultOf(type, result, wordsIn(type, view, offset));
    return typeof value === "number" ? value : exact(value);
  };
}

/** Those from the first to the last that holds anything. */
function bucketDecoder(buckets: Buckets, at: number): Decoder {
  const words = bucketCount(buckets);
  return (view, _bytes, start) => {
    const offset = start + at;
    const empty = (bucket: number) =>
      view.getUint32(offset + bucket * 8, true) === 0 && view.getUint32(offset + bucket * 8 + 4, true) === 0;
    let first = 0;
    while (first < words && empty(first)) first++;
    let last = words - 1;
    while (last > first && empty(last)) last--;
    const used: DecodedBucket[] = [];
    for (let bucket = first; bucket < words && bucket <= last; bucket++) {
      const { low, high } = bucketRange(buckets, bucket);
      used.push({
        low: low === null ? null : exact(low),
        high: high === null ? null : exact(high),
        count: readUnsigned64(view, offset + bucket * 8),
      });
    }
    return used;
  };
}
