// min() and max(). Doubles are kept as integers of the same order (compiler/lower/floats.ts).
import type { Aggregation } from "./aggregation.ts";

export const min: Aggregation = {
  name: "min",
  doc: "The least of the values.",
  takes: "numbers",
  parts: () => [{ kind: "extreme", which: "min" }],
  results: () => ({ min: { part: 0 } }),
  value: "min",
  shape: "number",
};

export const max: Aggregation = {
  name: "max",
  doc: "The greatest of the values.",
  takes: "numbers",
  parts: () => [{ kind: "extreme", which: "max" }],
  results: () => ({ max: { part: 0 } }),
  value: "max",
  shape: "number",
};
