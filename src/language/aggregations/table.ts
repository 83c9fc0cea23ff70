// The one table of aggregations. A new one is a file beside this, and a line here.
import { InternalError } from "../../base/internal-error.ts";
import type { AggregateType, AskedResult } from "../types.ts";
import type { Aggregation, Result } from "./aggregation.ts";
import { max, min } from "./extremes.ts";
import { hist } from "./hist.ts";
import { lhist } from "./lhist.ts";
import { llhist, sllhist } from "./llhist.ts";
import { partWords, type Part } from "./parts.ts";
import { shist } from "./shist.ts";
import { istddev, stddev, variance } from "./spread.ts";
import { composition, statistic, wordsOfResult } from "./statistic.ts";
import { avg, count, stats, sum } from "./totals.ts";
import { tseries } from "./tseries.ts";

const rows = [
  count,
  sum,
  avg,
  min,
  max,
  stats,
  variance,
  stddev,
  istddev,
  hist,
  shist,
  lhist,
  llhist,
  sllhist,
  tseries,
];

export const aggregations: Map<string, Aggregation> = new Map(
  [...rows, statistic(named)].map((row) => [row.name, row]),
);

function named(name: string): Aggregation {
  const row = aggregations.get(name);
  if (row === undefined) throw new InternalError(`there is no aggregation "${name}"`);
  return row;
}

export function aggregationOf({ aggregate }: AggregateType): Aggregation {
  return named(aggregate);
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

/** Which of a statistic's results it is; undefined where the script does not ask for it. */
export function askedAt(
  { asked = [] }: AggregateType,
  { aggregate, parameters = [] }: AskedResult,
): number | undefined {
  const at = asked.findIndex(
    (one) => one.aggregate === aggregate && parameters.every((constant, i) => constant === one.parameters?.[i]),
  );
  return at < 0 ? undefined : at;
}

/** One of a statistic's results as the aggregation that it would be by itself, and its words of those of all. */
export function resultAlone(
  type: AggregateType,
  of: number,
): { readonly type: AggregateType; readonly words: (all: readonly bigint[]) => readonly bigint[] } {
  const { parts, results } = composition(type, named);
  return { type: results[of].type, words: (all) => wordsOfResult(parts, results[of], named, all) };
}

/** The number that one of a statistic's results is, or that stands for all of another aggregation. */
export function resultAt(type: AggregateType, of: number | undefined): Result | undefined {
  return of === undefined ? valueOf(type) : aggregationOf(type).results(type)[type.asked?.[of]?.aggregate ?? ""];
}

/** What reading it in a script gives; undefined where it is drawn as more than a number. */
export function readResult(type: AggregateType): Result | undefined {
  return aggregationOf(type).shape === "number" ? valueOf(type) : undefined;
}
