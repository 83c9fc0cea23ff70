// Reading and naming map entries: keys are built whole, padding zero, so that equal keys are equal bytes.
import type { Expression, MapAccess, StatisticResult } from "../../language/program.ts";
import type { AggregateType, Type } from "../../language/types.ts";
import { valueOf } from "../../language/aggregations/table.ts";
import { fieldLayout, keyLayout } from "../../language/layout.ts";
import type { IrMap, Place, Value } from "../ir/ir.ts";
import { orFails } from "./faults.ts";
import { at, copy, fieldsHavePadding, hasLongerText } from "./memory.ts";
import { isRegister, isSigned, sameLayout, storedType, widthOf } from "./registers.ts";
import { lazy } from "../../base/lazy.ts";
import { convert } from "./scalars.ts";
import type { FunctionState } from "./state.ts";

const floats = lazy<typeof import("./floats.ts")>(() => require("./floats.ts"));

export function mapOf(f: FunctionState, access: MapAccess): { index: number; map: IrMap } {
  const index = access.map ?? f.module.maps.findIndex((m) => m.name === access.name);
  return { index, map: f.module.maps[index] };
}

/** The entry's key in memory; undefined for a scalar map. */
export function keyPlace(f: FunctionState, access: MapAccess): Place | undefined {
  const { map } = mapOf(f, access);
  if (map.keys.length === 0 || access.keys.length === 0) return undefined;
  return buildKey(f, access.keys, map.keys, map.name);
}

export function buildKey(f: FunctionState, keys: readonly Expression[], types: readonly Type[], name: string): Place {
  const { offsets, size } = keyLayout(types);
  const [only] = keys;
  if (keys.length === 1 && types.length === 1) {
    // A key that already lies in our memory as the map wants it is used where it is.
    if (!isRegister(only.type) && only.kind === "variable" && sameLayout(only.type, types[0])) {
      const located = f.locate(only);
      if (located.at === "place") return located.place;
    }
    const key = f.slotOf(`key of @${name}`, size);
    keyInto(f, only, types[0], key);
    return key;
  }
  const key = f.slotOf(`key of @${name}`, size);
  if (keys.length === 1) {
    // A tuple that is the whole key of several fields.
    keyInto(f, only, { kind: "tuple", elements: types }, key);
    return key;
  }
  const fields = types.length === 1 && types[0].kind === "tuple" ? types[0].elements : types;
  const places = fields === types ? offsets : fieldLayout(fields).offsets;
  if (fieldsHavePadding(fields)) f.build.emit({ op: "zero", at: key, size });
  keys.forEach((expression, i) => keyInto(f, expression, fields[i], at(key, places[i])));
  return key;
}

/** Text that a look-up has and no key of the map has room for keeps a last byte that is not 0, and so is not found. */
function keyInto(f: FunctionState, e: Expression, type: Type, place: Place): void {
  if (!hasLongerText(e.type, type)) {
    f.into(e, type, place);
    return;
  }
  const whole = f.slot("temporary", e.type);
  f.into(e, e.type, whole);
  copy(f, { at: "place", place: whole }, e.type, type, place, "unterminated");
}

function keyed(key: Place | undefined): { key?: Place } {
  return key === undefined ? {} : { key };
}

/** The value of an entry that is a number: 0 when missing. An aggregation's is gathered from all CPUs. */
export function mapValue(f: FunctionState, access: MapAccess): Value {
  return entryValue(f, access, keyPlace(f, access));
}

/** The same, with the key where it was built. */
export function entryValue(f: FunctionState, access: MapAccess, key: Place | undefined): Value {
  const { index, map } = mapOf(f, access);
  const { value } = map;
  if (value.kind === "aggregate") {
    return aggregateValue(f, index, value, key);
  }
  const stored = storedType(value);
  const number = { map: index, size: widthOf(stored), signed: isSigned(stored) };
  const entry = key === undefined ? undefined : lookup(f, index, key);
  const loaded = f.build.give((result) =>
    entry === undefined ? { op: "map-load", result, ...number } : { op: "entry-load", result, entry, ...number },
  );
  return convert(f, loaded, stored, access.type);
}

/** An aggregation as a number, of all CPUs together. */
export function aggregateValue(f: FunctionState, map: number, type: AggregateType, key: Place | undefined): Value {
  const read = readAggregate(f, map, type, key);
  return type.float && !("double" in (valueOf(type) ?? {})) ? floats().ofOrder(f, read) : read;
}

function readAggregate(
  f: FunctionState,
  map: number,
  { signed }: AggregateType,
  key: Place | undefined,
  of?: number,
  bucket?: Value,
): Value {
  return f.build.give((result) => ({
    op: "aggregate-read",
    result,
    map,
    ...keyed(key),
    ...(of === undefined ? {} : { of }),
    ...(bucket === undefined ? {} : { bucket }),
    signed,
  }));
}

/**
 * A result of a statistic. Where it matters that there are no values, all but their number fail then: there is nothing
 * that they could be.
 */
export function resultValue(f: FunctionState, e: StatisticResult): Value {
  const { index, map } = mapOf(f, e.of);
  const key = keyPlace(f, e.of);
  if (map.value.kind !== "aggregate") return f.fault(e.span, "a result of a map that holds no statistic");
  if (e.aggregate !== "count" && e.orZero !== true && e.bucket === undefined)
    orFails(f, "empty", () => hasEntry(f, index, key), `${f.spelling.map(map.name)} has no values`, e.span);
  const bucket = e.bucket === undefined ? undefined : f.value(e.bucket);
  return readAggregate(f, index, map.value, key, e.asked, bucket);
}

export function lookup(f: FunctionState, map: number, key: Place): Value {
  return f.build.give((result) => ({ op: "map-lookup", result, map, key }));
}

/** Whether there is an entry: 0 or 1. */
export function hasEntry(f: FunctionState, map: number, key: Place | undefined): Value {
  if (key === undefined) return f.build.give((result) => ({ op: "map-has", result, map }));
  return f.build.compare("ne", lookup(f, map, key), f.build.constant(0n));
}

/** Copies an entry; zeros when it is missing. */
export function copyEntry(f: FunctionState, map: number, key: Place | undefined, size: number, to: Place): void {
  f.build.emit(
    key === undefined
      ? { op: "map-copy", to, map, size }
      : { op: "entry-copy", to, map, entry: lookup(f, map, key), size },
  );
}
