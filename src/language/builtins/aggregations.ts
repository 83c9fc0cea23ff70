// The aggregations (language/aggregations/table.ts) as rows of the builtins: their calls can only be assigned to a map,
// and add to what it holds.
import type { Aggregation, Parameter } from "../aggregations/aggregation.ts";
import { aggregations } from "../aggregations/table.ts";
import type { BuiltinSpec } from "./signature.ts";

export function aggregationBuiltins(): BuiltinSpec[] {
  return [...aggregations.values()].map(rowOf);
}

export function rowOf(aggregation: Aggregation): BuiltinSpec {
  const { name, spelling, doc } = aggregation;
  return {
    name,
    ...(spelling === undefined ? {} : { spelling }),
    form: "aggregate",
    aggregate: name,
    arity: arityOf(aggregation),
    signature: `@ = ${usageOf(aggregation)}`,
    placement: "both",
    doc,
  };
}

const optional = (parameter: Parameter): boolean => "default" in parameter;

/** Least and most arguments, the value included. */
export function arityOf({ takes, parameters = [] }: Aggregation): readonly [number, number] {
  const value = takes === "nothing" ? 0 : 1;
  return [value + parameters.filter((parameter) => !optional(parameter)).length, value + parameters.length];
}

/** `hist(n [, bits])` */
export function usageOf({ name, takes, parameters = [] }: Aggregation): string {
  const needed = parameters.filter((parameter) => !optional(parameter)).map((parameter) => parameter.name);
  const more = parameters
    .filter(optional)
    .map((one) => ` [, ${"choices" in one ? one.choices.map((choice) => `"${choice}"`).join(" | ") : one.name}]`);
  return `${name}(${[...(takes === "nothing" ? [] : ["n"]), ...needed].join(", ")}${more.join("")})`;
}
