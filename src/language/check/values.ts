// Expressions in their roles: a value that is kept, a condition. Below expressions.ts, which the pass hands in.
import { expressions } from "../../messages/expressions.ts";
import type { Expression } from "../program.ts";
import { boolType, float64, isFloat, unknownType, type Type } from "../types.ts";
import type { Body } from "./pass.ts";
import { report } from "./pass.ts";
import { functionName } from "./spelling.ts";
import { describeOne } from "./unify.ts";
import { asShown } from "./shapes.ts";

export function checkExpression(node: Expression, body: Body): Expression {
  return body.pass.expression(node, body);
}

/** A value that is stored somewhere: not void. What its language shows as text is text, and so on. */
export function checkValue(node: Expression, body: Body): Expression {
  return asShown(node, checkPlace(node, body), body);
}

/** What a member or an element is taken of: a struct stays one. */
export function checkPlace(node: Expression, body: Body): Expression {
  const checked = checkExpression(node, body);
  if (checked.type.kind === "void") {
    const what = checked.kind === "call" ? `${functionName(body, checked.name)}()` : "this";
    return {
      ...checked,
      type: report(body, node.span, expressions.givesNoValue(what)),
    };
  }
  return checked;
}

/** `text != ""` */
export function isText(text: Expression): Expression {
  const { span } = text;
  if (text.kind === "string") return { kind: "boolean", value: text.value !== "", span, type: boolType };
  return {
    kind: "binary",
    operator: "!=",
    left: text,
    right: { kind: "string", value: "", span, type: { kind: "string", capacity: 1 } },
    span,
    type: boolType,
  };
}

/** `x != 0.0`, which holds of what is not a number, too, as in C. */
function notZero(checked: Expression): Expression {
  const { span } = checked;
  return {
    kind: "binary",
    operator: "!=",
    left: checked,
    right: { kind: "float", value: 0, span, type: float64 },
    span,
    type: boolType,
  };
}

const objects: ReadonlySet<Type["kind"]> = new Set(["record", "tuple", "array", "struct", "buffer", "stack"]);

/** True, whatever the value is, which is read if that does something. */
export function always(checked: Expression): Expression {
  const { span } = checked;
  const yes: Expression = { kind: "boolean", value: true, span, type: boolType };
  if (checked.kind !== "call" && checked.kind !== "block-expression") return yes;
  return {
    kind: "block-expression",
    statements: [{ kind: "expression", expression: checked, discard: true, span }],
    value: yes,
    span,
    type: boolType,
  };
}

/** Anything that is true or false: integers, booleans, pointers; text, unless it is empty. */
export function checkCondition(node: Expression, body: Body): Expression {
  const checked = checkValue(node, body);
  switch (checked.type.kind) {
    case "unknown":
    case "boolean":
    case "integer":
    case "enum":
    case "pointer":
      return checked;
    case "string":
      return isText(checked);
    default:
      if (isFloat(checked.type)) return notZero(checked);
      if (body.pass.program.rules.objectsAreTrue && objects.has(checked.type.kind)) return always(checked);
      report(body, node.span, expressions.conditionCannot(describeOne(checked.type)));
      return { ...checked, type: unknownType };
  }
}
