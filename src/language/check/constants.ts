// What an expression's value is before the script runs, when that can be told.
import { calculated, truth } from "../arithmetic.ts";
import type { Expression } from "../program.ts";
import { isIntegral, wrap } from "./integers.ts";

/** The value of a checked expression made of constants. 64-bit arithmetic, as the handlers do it. */
export function constantOf(expression: Expression): bigint | undefined {
  switch (expression.kind) {
    case "integer":
      return expression.value;
    case "boolean":
      return truth(expression.value);
    case "identifier":
    case "sizeof":
    case "offsetof":
      return expression.constant;
    case "unary": {
      const operand = constantOf(expression.operand);
      if (operand === undefined) return undefined;
      switch (expression.operator) {
        case "-":
          return BigInt.asIntN(64, -operand);
        case "~":
          return isIntegral(expression.type) ? wrap(~operand, expression.type) : undefined;
        case "!":
          return truth(operand === 0n);
        case "+":
          return operand;
        case "*":
        case "&":
          return undefined;
      }
      return undefined;
    }
    case "cast": {
      const operand = constantOf(expression.operand);
      return operand !== undefined && isIntegral(expression.type) ? wrap(operand, expression.type) : undefined;
    }
    case "conditional": {
      const condition = constantOf(expression.condition);
      return condition === undefined
        ? undefined
        : constantOf(condition === 0n ? expression.otherwise : expression.then);
    }
    case "binary":
      return binaryConstant(expression);
    default:
      return undefined;
  }
}

function binaryConstant(expression: Extract<Expression, { kind: "binary" }>): bigint | undefined {
  const { left: first, right: second, operator } = expression;
  if (first.kind === "string" && second.kind === "string" && (operator === "==" || operator === "!=")) {
    return truth((first.value === second.value) === (operator === "=="));
  }
  const left = constantOf(expression.left);
  const right = constantOf(expression.right);
  if (left === undefined || right === undefined) return undefined;
  return calculated(
    operator,
    left,
    right,
    (value) => (isIntegral(expression.type) ? wrap(value, expression.type) : BigInt.asIntN(64, value)),
    expression.floors,
  );
}
