// The one table of aggregations. A new one is a file beside this, and a line here.
import { InternalError } from "../../base/internal-error.ts";
import type { AggregateType } from "../types.ts";
import type { Aggregation, Result } from "./aggregation.ts";
import { max, min } from "./extremes.ts";
import { hist } from "./hist.ts";
import { lhist } from "./lhist.ts";
import { llhist } from "./llhist.ts";
import { partWords, type Part } from "./parts.ts";
import { stddev, variance } from "./spread.ts";
import { avg, count, stats, sum } from "./totals.ts";
import { tseries } from "./tseries.ts";

export const aggregations: Map<string, Aggregation> = new Map(
  [count, sum, avg, min, max, stats, variance, stddev, hist, lhist, llhist, tseries].map((row) => [row.name, row]),
);

export function aggregationOf({ aggregate }: AggregateType): Aggregation {
  const row = aggregations.get(aggregate);
  if (row === undefined) throw new InternalError(`there is no aggregation "${aggregate}"`);
  return row;
}

/** A part, and the index of its first word. */
export interface PlacedPart {
  readonly part: Part;
  readonly at: number;
}

/** An aggregation's 64-bit words, the same in every CPU's copy: its parts, one behind the other. */
export interface AggregateLayout {
  readonly parts: readonly PlacedPart[];
  readonly words: number;
}

const layouts = new WeakMap<AggregateType, AggregateLayout>();

export function aggregateLayout(type: AggregateType): AggregateLayout {
  let layout = layouts.get(type);
  if (layout === undefined) {
    const parts: PlacedPart[] = [];
    let words = 0;
    for (const part of aggregationOf(type).parts(type)) {
      parts.push({ part, at: words });
      words += partWords(part);
    }
    layouts.set(type, (layout = { parts, words }));
  }
  return layout;
}

/** The words under a key. */
export function aggregateWords(type: AggregateType): number {
  return aggregateLayout(type).words;
}

/** The first part of a kind, with its place; undefined where there is none. */
export function partOf<Kind extends Part["kind"]>(
  type: AggregateType,
  kind: Kind,
): { readonly part: Extract<Part, { kind: Kind }>; readonly at: number } | undefined {
  return aggregateLayout(type).parts.find(
    (placed): placed is PlacedPart & { part: Extract<Part, { kind: Kind }> } => placed.part.kind === kind,
  );
}

/** The part that is drawn. */
export function shapedPart<Kind extends "buckets" | "series">(type: AggregateType, kind: Kind) {
  const found = partOf(type, kind);
  if (found === undefined) throw new InternalError(`${type.aggregate}() has no ${kind}`);
  return found;
}

/** The result that stands for all; undefined of buckets and series. */
export function valueOf(type: AggregateType): Result | undefined {
  const { results, value } = aggregationOf(type);
  return value === undefined ? undefined : results(type)[value];
}

/** What reading it in a script gives; undefined where it is drawn as more than a number. */
export function readResult(type: AggregateType): Result | undefined {
  return aggregationOf(type).shape === "number" ? valueOf(type) : undefined;
}
