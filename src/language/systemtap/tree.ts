// Nodes of the tree that all languages share, as the translation makes them.
import type { Span } from "../diagnostic.ts";
import { cast, integer, typeName } from "../nodes.ts";
import type { Expression, MapAccess, StatisticResult, TypeName } from "../program.ts";
import { unknownType, type AggregateKind } from "../types.ts";

export * from "../nodes.ts";

/** SystemTap's only kind of number. */
export function toLong(operand: Expression): Expression {
  return cast(longType(operand.span), operand);
}

export function longType(span: Span): TypeName {
  return typeName("int64", span);
}

/** What comes of a statistic. */
export function result(
  of: MapAccess,
  aggregate: AggregateKind,
  parameters: readonly bigint[],
  span: Span,
): StatisticResult {
  return {
    kind: "result",
    of,
    aggregate,
    parameters: parameters.map((one) => integer(one, span)),
    span,
    type: unknownType,
  };
}

/** Bytes of a text that grows, its end included. */
export const longestText = 512;

export function textType(span: Span): TypeName {
  return { name: "string", pointers: 0, dimensions: [longestText], span };
}
