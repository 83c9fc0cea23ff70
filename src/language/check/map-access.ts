// Maps in expressions and calls: one entry, or the whole.
import { maps as mapsMessages } from "../../messages/maps.ts";
import { nearest } from "../nearest.ts";
import { readResult } from "../aggregations/table.ts";
import type { Expression, MapAccess, Variable } from "../program.ts";
import type { AggregateType, Type } from "../types.ts";
import { float64, i64, u64, unknownType } from "../types.ts";
import { settled } from "./integers.ts";
import type { Body, MapState } from "./pass.ts";
import { didYouMean, mapState, mergeKeys, report } from "./pass.ts";
import { namePart } from "./site-names.ts";
import { mapName } from "./spelling.ts";
import { checkValue } from "./values.ts";

/** Keys written as one tuple are the keys themselves. */
export function flatKeys(keys: readonly Expression[]): readonly Expression[] {
  const [only] = keys;
  return keys.length === 1 && only.kind === "tuple" && only.elements.length > 1 ? only.elements : keys;
}

/** A use of one entry: its keys join the map's. What prints an entry shows its key, and makes room for it as a store. */
export function checkMapEntry(
  node: MapAccess,
  body: Body,
  use: "store" | "look-up",
): { access: MapAccess; map: MapState } {
  const map = mapState(body, node.name, node.span);
  const keys = flatKeys(node.keys)
    .map((key) => checkValue(key, body))
    .map((key) => namePart(key, body));
  mergeKeys(
    body,
    map,
    keys.map((key) => key.type),
    node.span,
    use,
  );
  return { access: { ...node, keys, map: map.index, type: unknownType }, map };
}

/**
 * What reading an aggregation in an expression gives; undefined for histograms and stats. Doubles that are computed of
 * all words are the host's alone.
 */
export function aggregateValue(type: AggregateType, { span, name }: MapAccess, body: Body): Type | undefined {
  const result = readResult(type);
  if (result === undefined) return undefined;
  if ("double" in result) {
    body.hostNeeds.push({
      what: `the ${type.aggregate}()${type.float ? " of doubles" : ""} in ${mapName(body, name)}`,
      span,
    });
    return float64;
  }
  return type.float ? float64 : type.signed ? i64 : u64;
}

/** A map as a whole: no keys joined, no value read. */
export function wholeMap(node: MapAccess, body: Body): MapAccess {
  const map = mapState(body, node.name, node.span);
  if (isUndefined(map))
    report(body, node.span, mapsMessages.undefinedMap(mapName(body, map.name), nearMaps(map.name, body)));
  return { ...node, keys: [], map: map.index, type: settled(map.value) };
}

/** Maps that are shown side by side: their keys get the same types, so that each has the others'. */
export function wholeMaps(nodes: readonly MapAccess[], body: Body): MapAccess[] {
  const states = nodes.map((node) => mapState(body, node.name, node.span));
  for (const map of states)
    for (const [i, { keys }] of states.entries())
      if (keys !== undefined && states[i] !== map) mergeKeys(body, map, keys, nodes[i].span, "store");
  return nodes.map((node) => wholeMap(node, body));
}

/** Nothing is ever stored in it. */
export function isUndefined(map: MapState): boolean {
  return map.value.kind === "unknown" && !map.assigned;
}

export function nearMaps(name: string, body: Body): string | undefined {
  const known = [...body.pass.maps.values()].filter((m) => m.value.kind !== "unknown").map((m) => m.name);
  return didYouMean(nearest(name, known).map((near) => mapName(body, near)));
}

/** The entry, by the thread's number, that a variable of a thread is; undefined of one that lives no longer than its handler. */
export function threadEntry({ name, lives, span }: Variable): MapAccess | undefined {
  if (lives !== "thread") return undefined;
  return {
    kind: "map",
    name,
    keys: [{ kind: "builtin", name: "tid", span, type: unknownType }],
    span,
    type: unknownType,
  };
}
