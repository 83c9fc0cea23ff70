// Histograms of statistics: which aggregations they are.
import type { AggregateKind } from "../types.ts";
import type { Expr } from "./syntax.ts";

type Histogram = Extract<Expr, { kind: "histogram" }>;

/** A histogram's aggregation and parameters. The last bucket of a linear one begins at the end that it is given. */
export function histogramOf({
  linear,
  parameters: [low = 0n, high = 0n, step = 1n],
}: Histogram): readonly [AggregateKind, readonly bigint[]] {
  return linear ? ["lhist", [low, low + ((high - low) / step + 1n) * step, step]] : ["shist", []];
}

/** Of a logarithmic histogram in SystemTap, and of a linear one with those for what is below and above. */
export function bucketsOf({ linear, parameters: [low = 0n, high = 0n, step = 1n] }: Histogram): bigint {
  return linear ? (high - low) / step + 3n : 128n;
}
