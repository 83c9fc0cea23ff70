// Functions whose result can only be assigned to a map: each call adds to what the map holds.
import type { BuiltinSpec } from "./signature.ts";

export const aggregationBuiltins: readonly BuiltinSpec[] = [
  { name: "count", form: "aggregate", aggregate: "count", arity: [0, 0], signature: "@ = count()", placement: "both", doc: "How often it was called." },
  { name: "sum", form: "aggregate", aggregate: "sum", arity: [1, 1], signature: "@ = sum(n)", placement: "both", doc: "The sum of the values." },
  { name: "avg", form: "aggregate", aggregate: "avg", arity: [1, 1], signature: "@ = avg(n)", placement: "both", doc: "The average of the values." },
  { name: "min", form: "aggregate", aggregate: "min", arity: [1, 1], signature: "@ = min(n)", placement: "both", doc: "The least of the values." },
  { name: "max", form: "aggregate", aggregate: "max", arity: [1, 1], signature: "@ = max(n)", placement: "both", doc: "The greatest of the values." },
  { name: "stats", form: "aggregate", aggregate: "stats", arity: [1, 1], signature: "@ = stats(n)", placement: "both", doc: "Count, average and sum of the values." },
  { name: "hist", form: "aggregate", aggregate: "hist", arity: [1, 2], signature: "@ = hist(n [, bits])", placement: "both", doc: "A histogram by powers of two, each in 2^bits parts." },
  { name: "lhist", form: "aggregate", aggregate: "lhist", arity: [4, 4], signature: "@ = lhist(n, min, max, step)", placement: "both", doc: "A histogram with buckets of equal width." },
  { name: "tseries", spelling: { typescript: [] }, form: "aggregate", aggregate: "tseries", arity: [3, 4], signature: "@ = tseries(n, interval, intervals [, \"avg\" | \"max\" | \"min\" | \"sum\"])", placement: "both", doc: "A value over time: the last of each interval, or what an aggregation makes of them." },
];
