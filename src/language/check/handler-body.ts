// A probe's body: that of a handler without statements is what its language does then.
import type { Block, Expression, Probe } from "../program.ts";
import type { Rules } from "../rules.ts";
import { unknownType } from "../types.ts";

export function handlerBody({ body }: Probe, { defaultAction }: Rules): Block {
  if (body.statements.length > 0 || defaultAction === undefined) return body;
  const { span } = body;
  const args = defaultAction.texts.map((value): Expression => ({ kind: "string", value, span, type: unknownType }));
  const expression: Expression = { kind: "call", name: defaultAction.call, args, span, type: unknownType };
  return { kind: "block", statements: [{ kind: "expression", expression, span }], span };
}
