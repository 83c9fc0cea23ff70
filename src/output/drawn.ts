// An aggregation as text, in the shape that it has.
import { lazy } from "../base/lazy.ts";
import { bucketCount } from "../language/aggregations/buckets.ts";
import { aggregationOf, shapedPart } from "../language/aggregations/table.ts";
import type { AggregateType } from "../language/types.ts";
import { histogramText } from "./histogram.ts";
import { aggregateText } from "./values.ts";

/** Few scripts have series. */
const series = lazy<typeof import("./series.ts")>(() => require("./series.ts"));

/** `lines`: it is more than one, each with its end. `divisor` scales what is drawn, `unicode`: see `styleOf`. */
export function drawn(
  type: AggregateType,
  words: readonly bigint[],
  divisor: bigint,
  unicode = false,
): { readonly text: string; readonly lines: boolean } {
  const { shape } = aggregationOf(type);
  switch (shape) {
    case "number":
    case "record":
      return { text: aggregateText(type, words, divisor), lines: false };
    case "buckets": {
      const { part, at } = shapedPart(type, "buckets");
      return {
        text: histogramText(part.of, words.slice(at, at + bucketCount(part.of)), divisor, unicode),
        lines: true,
      };
    }
    case "series": {
      const { part, at } = shapedPart(type, "series");
      return { text: series().seriesText(part.of, type.signed, words.slice(at), divisor), lines: true };
    }
  }
}
