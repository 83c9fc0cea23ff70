// Operators of two operands.
import { expressions } from "../../messages/expressions.ts";
import type { BinaryOperator, Expression } from "../program.ts";
import { textBytes, textFrom, textLength } from "../text-bytes.ts";
import { sizeOf } from "../layout.ts";
import { boolType, i64, isFloat, u64, unknownType, type Type } from "../types.ts";
import { convertedOperands } from "./c-integers.ts";
import { isIntegral, isLiteral } from "./integers.ts";
import { integerLiteral, report } from "./pass.ts";
import type { Body } from "./pass.ts";
import { siteName, siteNames } from "./site-names.ts";
import { asText } from "./text-calls.ts";
import { checkCondition, checkValue, checkExpression } from "./values.ts";
import { binaryType } from "./operators.ts";

export function checkBinary(node: Extract<Expression, { kind: "binary" }>, body: Body): Expression {
  if (node.operator === "&&" || node.operator === "||") {
    return { ...node, left: checkCondition(node.left, body), right: checkCondition(node.right, body), type: boolType };
  }
  const left = checkValue(node.left, body);
  const right = checkValue(node.right, body);
  if (node.operator === "+" && body.pass.program.rules.texts.plusJoins && (isTextual(left) || isTextual(right))) {
    return body.pass.expression(
      { kind: "call", name: "str_concat", args: [node.left, node.right], span: node.span, type: unknownType },
      body,
    );
  }
  if (node.operator === "+" && left.kind === "string" && right.kind === "string") {
    const value = left.value + right.value;
    const outside = left.outside === true || right.outside === true;
    return {
      kind: "string",
      value,
      outside,
      span: node.span,
      type: { kind: "string", capacity: textLength(value) + 1 },
    };
  }
  const rest = node.operator === "+" ? textFrom(left, right) : undefined;
  if (rest !== undefined)
    return checkExpression({ kind: "string", value: rest, span: node.span, type: unknownType }, body);
  if (
    (node.operator === "<<" || node.operator === ">>") &&
    right.kind === "integer" &&
    isLiteral(right) &&
    (right.value < 0n || right.value > 63n)
  ) {
    return {
      ...node,
      left,
      right,
      type: report(body, node.span, expressions.shiftOutsideBits(right.value)),
    };
  }
  if (["<", "<=", ">", ">="].includes(node.operator) && body.pass.program.rules.texts.ordered) {
    const kinds = [left.type.kind, right.type.kind];
    if (kinds.includes("string") && kinds.some((kind) => kind === "pointer" || kind === "array"))
      return { ...node, left: asText(left, body), right: asText(right, body), type: boolType };
  }
  const ordered = textOrder(node.operator, left, right);
  if (ordered !== undefined) return { kind: "boolean", value: ordered, span: node.span, type: boolType };
  const exact = body.pass.program.rules.integers.literals === "refused";
  const written = exact ? writtenOut(node.operator, left, right) : undefined;
  if (written !== undefined && (written > maxUnsigned || written < -(1n << 63n))) {
    return { ...node, left, right, type: report(body, node.span, expressions.numberDoesNotFitInto()) };
  }
  // Between the greatest int64 and the greatest uint64.
  if (written !== undefined && written >= 1n << 63n && body.pass.program.rules.integers.signed !== "all")
    return { ...node, left, right, type: u64 };
  const probeName = comparedName(node, left, right, body) ?? comparedName(node, right, left, body);
  if (probeName !== undefined) return probeName;
  const systemCall = comparedCall(node, left, right, body) ?? comparedCall(node, right, left, body);
  if (systemCall !== undefined) return systemCall;
  if (
    comparisons.has(node.operator) &&
    body.pass.program.rules.texts.named === true &&
    isNamed(left) !== isNamed(right)
  )
    return { ...node, left: asText(left, body), right: asText(right, body), type: boolType };
  const { division, widths } = body.pass.program.rules.integers;
  const floors = division === "floors" && (node.operator === "/" || node.operator === "%");
  const type = binaryType(node.operator, left, right, node.span, body);
  if (widths === "C" && node.operator === "-" && left.type.kind === "pointer" && right.type.kind === "pointer")
    return elementsBetween({ ...node, left, right, type }, left.type.target);
  const asC = widths === "C" && type.kind !== "unknown" ? convertedOperands(node.operator, left, right) : undefined;
  return { ...node, left, right, ...(floors ? { floors } : {}), type, ...asC };
}

const comparisons: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);

/** What is found where it is printed. */
function isNamed({ type }: Expression): boolean {
  return type.kind === "stack" || (type.kind === "named" && !isFloat(type));
}

/** The difference of two pointers counts what they point to, as C does. */
function elementsBetween(difference: Expression, target: Type): Expression {
  const size = target.kind === "void" || target.kind === "unknown" ? 1 : sizeOf(target);
  if (size <= 1) return difference;
  const { span } = difference;
  return {
    kind: "binary",
    operator: "/",
    left: difference,
    right: integerLiteral(BigInt(size), i64, span),
    span,
    type: i64,
  };
}

const maxUnsigned = (1n << 64n) - 1n;

/** What two literals make, exactly, where that may be more than 64 bits hold. */
function writtenOut(operator: BinaryOperator, left: Expression, right: Expression): bigint | undefined {
  if (left.kind !== "integer" || right.kind !== "integer" || !isLiteral(left) || !isLiteral(right)) return undefined;
  switch (operator) {
    case "+":
      return left.value + right.value;
    case "-":
      return left.value - right.value;
    case "*":
      return left.value * right.value;
    case "<<":
      return left.value << right.value;
    default:
      return undefined;
  }
}

/** Which of two texts is the greater is told of written ones alone. */
function textOrder(operator: BinaryOperator, left: Expression, right: Expression): boolean | undefined {
  if (left.kind !== "string" || right.kind !== "string") return undefined;
  const order = Buffer.compare(textBytes(left.value), textBytes(right.value));
  switch (operator) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    default:
      return undefined;
  }
}

function isTextual({ type }: Expression): boolean {
  return (
    type.kind === "string" ||
    (type.kind === "array" && type.element.kind === "integer" && type.element.character === true)
  );
}

/** `syscall_name(n) == "read"`: by its number; a call that this machine has not is never the one. */
function comparedCall(
  { operator, span }: Extract<Expression, { kind: "binary" }>,
  named: Expression,
  text: Expression,
  body: Body,
): Expression | undefined {
  if (operator !== "==" && operator !== "!=") return undefined;
  if (named.kind !== "call" || named.name !== "syscall_name" || text.kind !== "string") return undefined;
  const find = body.pass.options.facts?.systemCall;
  if (find === undefined) return undefined;
  const number = find(text.value);
  const [of] = named.args;
  if (number === undefined) return { kind: "boolean", value: operator === "!=", span, type: boolType };
  const right = integerLiteral(BigInt(number), isIntegral(of.type) ? of.type : i64, span);
  return { kind: "binary", operator, left: of, right, span, type: boolType };
}

/** `probe == "…"`: known before running when all sites have, or none has, that name; else each site is told apart. */
function comparedName(
  node: Extract<Expression, { kind: "binary" }>,
  named: Expression,
  text: Expression,
  body: Body,
): Expression | undefined {
  const { operator } = node;
  const names = siteNames(named, body);
  if (names === undefined || text.type.kind !== "string") return undefined;
  if (text.kind === "string" && (operator === "==" || operator === "!=")) {
    const equal = names.filter((name) => name === text.value).length;
    if (equal === 0 || equal === names.length)
      return { kind: "boolean", value: equal > 0 === (operator === "=="), span: node.span, type: boolType };
  }
  const name = siteName(named, body);
  if (name !== undefined)
    return name.kind === "string"
      ? checkExpression({ ...node, ...(node.left.span === named.span ? { left: name } : { right: name }) }, body)
      : { ...node, type: unknownType };
  return {
    kind: "boolean",
    value: false,
    span: node.span,
    type: report(body, node.span, expressions.nameLookedUpWhenPrinted("name" in named ? named.name : "")),
  };
}
