// Faults that D has and the tree has not: raised as errors of the script's own, with their number beside them.
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression, Statement, Variable } from "../program.ts";
import type { Unit } from "./unit.ts";

/** DTrace's numbers of faults, and their words; `%d`: what is wrong. */
export const raisedFaults = {
  scratch: { number: 5, text: "out of scratch space", plain: "out of scratch memory" },
  size: { number: 10, text: "invalid size (0x%lx)", plain: "size outside of the memory" },
  index: { number: 11, text: "index out of bounds (%d)", plain: "index outside of the array" },
} as const;

export const raised = { number: "raised number#0", detail: "raised detail#0" } as const;

/** Ends the clause. */
function raise(unit: Unit, fault: keyof typeof raisedFaults, detail: Expression, span: Span): Statement[] {
  unit.raises = true;
  const { number, plain } = raisedFaults[fault];
  return [
    set(raised.number, unit.cast("int64", nodes.integer(number, span)), span),
    set(raised.detail, unit.cast("int64", detail), span),
    { kind: "throw", value: nodes.text(plain, span), span },
  ];
}

/** In front of a clause that may: nothing is raised. */
export function nothingRaised(unit: Unit, span: Span): Statement[] {
  const zero = (): Expression => unit.cast("int64", nodes.integer(0, span));
  return [set(raised.number, zero(), span), set(raised.detail, zero(), span)];
}

/** An expression's value, unless it is outside: then the fault. `isWrong` is asked of the value. */
export function checked(
  unit: Unit,
  value: Expression,
  fault: keyof typeof raisedFaults,
  isWrong: (value: Expression) => Expression,
  span: Span,
): Expression {
  const name = unit.name("checked");
  const of = (): Variable => nodes.variable(name, span);
  const statements: Statement[] = [
    nodes.declare(name, unit.cast("int64", value)),
    { kind: "if", condition: isWrong(of()), then: nodes.block(raise(unit, fault, of(), span), span), span },
  ];
  return unit.typed({ kind: "block-expression", statements, value: of(), span, type: { kind: "unknown" } }, "int64");
}

function set(name: string, value: Expression, span: Span): Statement {
  return nodes.assign(nodes.variable(name, span), value, span);
}
