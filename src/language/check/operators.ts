// Types of binary operators.
import { expressions } from "../../messages/expressions.ts";
import type { BinaryOperator, Expression } from "../program.ts";
import type { Type } from "../types.ts";
import { boolType, float64, i64, isFloat, u64, unknownType } from "../types.ts";
import { constantOf } from "./constants.ts";
import { arithmeticType, isIntegral } from "./integers.ts";
import type { Body } from "./pass.ts";
import { report } from "./pass.ts";
import { castHelp } from "./spelling.ts";
import { describe, unify } from "./unify.ts";

/** Type of a binary operator on checked operands; also for `@m op= e`. */
export function binaryType(
  operator: BinaryOperator,
  left: Expression,
  right: Expression,
  span: { start: number; end: number },
  body: Body,
): Type {
  const comparison = ["==", "!=", "<", "<=", ">", ">="].includes(operator);
  const [l, r] = [left.type, right.type];
  if (l.kind === "unknown" || r.kind === "unknown") return comparison ? boolType : unknownType;
  const numeric = (type: Type): boolean => isIntegral(type) || type.kind === "boolean";
  if ((isFloat(l) || isFloat(r)) && [l, r].every((type) => isFloat(type) || numeric(type))) {
    if (comparison) return boolType;
    if (["+", "-", "*", "/"].includes(operator)) return float64;
    const help =
      operator === "%"
        ? castHelp(body, `${castHelp(body, "cast to integers first: ", "int64", "x") ?? ""} % `, "int64", "y")
        : castHelp(body, "it works on integers: ", "int64", "x");
    return report(body, span, expressions.typeMismatchCannotUsed(operator, describe(l), describe(r), help));
  }
  if (comparison) {
    if ((numeric(l) || l.kind === "pointer") && (numeric(r) || r.kind === "pointer")) return boolType;
    const equality = operator === "==" || operator === "!=";
    const comparable =
      l.kind === r.kind &&
      ["string", "array", "buffer", "tuple", "record"].includes(l.kind) &&
      unify(l, r) !== undefined;
    if (comparable && (equality || (l.kind === "string" && body.pass.program.rules.texts.ordered))) return boolType;
    const { advice } = body.pass.program.rules;
    const kinds = [l.kind, r.kind];
    const help =
      numeric(l) !== numeric(r) && kinds.includes("array")
        ? "cast the array to an integer of its size"
        : kinds.includes("string") && kinds.includes("pointer")
          ? advice.textBehindPointer
          : undefined;
    report(body, span, expressions.typeMismatchComparing(operator, describe(l), describe(r), help));
    return boolType;
  }
  if (numeric(l) && numeric(r)) {
    if (
      (operator === "/" || operator === "%") &&
      constantOf(right) === 0n &&
      body.pass.program.rules.integers.byZero !== "fault"
    )
      return report(body, span, expressions.divisionZero());
    return arithmeticType(operator, l, r, body.pass.program.rules.integers);
  }
  if (l.kind === "pointer" && isIntegral(r) && (operator === "+" || operator === "-")) return untyped(l);
  if (r.kind === "pointer" && isIntegral(l) && operator === "+") return untyped(r);
  if (l.kind === "pointer" && r.kind === "pointer" && operator === "-") return i64;
  // Masking and shifting an address is how people look at flags in its low bits.
  if (l.kind === "pointer" && isIntegral(r) && ["&", "|", "^", ">>", "<<", "%"].includes(operator)) return u64;
  const help =
    operator === "+" && l.kind === "string" && r.kind === "string"
      ? body.pass.program.rules.advice.joinTexts
      : undefined;
  return report(body, span, expressions.typeMismatchCannotUsed(operator, describe(l), describe(r), help));
}

function untyped(type: Extract<Type, { kind: "pointer" }>): Type {
  return { kind: "pointer", target: type.target, space: type.space };
}
