// What an expression's value is before the script runs, when that can be told.
import type { Expression } from "../program.ts";
import { isIntegral, wrap } from "./integers.ts";

/** The value of a checked expression made of constants. 64-bit arithmetic, as the handlers do it. */
export function constantOf(expression: Expression): bigint | undefined {
  switch (expression.kind) {
    case "integer": return expression.value;
    case "boolean": return expression.value ? 1n : 0n;
    case "identifier":
    case "sizeof":
    case "offsetof": return expression.constant;
    case "unary": {
      const operand = constantOf(expression.operand);
      if (operand === undefined) return undefined;
      switch (expression.operator) {
        case "-": return BigInt.asIntN(64, -operand);
        case "~": return isIntegral(expression.type) ? wrap(~operand, expression.type) : undefined;
        case "!": return operand === 0n ? 1n : 0n;
        case "+": return operand;
        case "*":
        case "&": return undefined;
      }
      return undefined;
    }
    case "cast": {
      const operand = constantOf(expression.operand);
      return operand !== undefined && isIntegral(expression.type) ? wrap(operand, expression.type) : undefined;
    }
    case "conditional": {
      const condition = constantOf(expression.condition);
      return condition === undefined ? undefined : constantOf(condition === 0n ? expression.otherwise : expression.then);
    }
    case "binary": return binaryConstant(expression);
    default: return undefined;
  }
}

function binaryConstant(expression: Extract<Expression, { kind: "binary" }>): bigint | undefined {
  const { left: first, right: second, operator } = expression;
  if (first.kind === "string" && second.kind === "string" && (operator === "==" || operator === "!=")) {
    return (first.value === second.value) === (operator === "==") ? 1n : 0n;
  }
  const left = constantOf(expression.left);
  const right = constantOf(expression.right);
  if (left === undefined || right === undefined) return undefined;
  const truth = (value: boolean): bigint => value ? 1n : 0n;
  const sized = (value: bigint): bigint => isIntegral(expression.type) ? wrap(value, expression.type) : BigInt.asIntN(64, value);
  switch (expression.operator) {
    case "+": return sized(left + right);
    case "-": return sized(left - right);
    case "*": return sized(left * right);
    case "/": return right === 0n ? undefined : sized(left / right);
    case "%": return right === 0n ? undefined : sized(left % right);
    case "&": return sized(left & right);
    case "|": return sized(left | right);
    case "^": return sized(left ^ right);
    case "<<": return sized(left << (right & 63n));
    case ">>": return sized(left >> (right & 63n));
    case "&&": return truth(left !== 0n && right !== 0n);
    case "||": return truth(left !== 0n || right !== 0n);
    case "==": return truth(left === right);
    case "!=": return truth(left !== right);
    case "<": return truth(left < right);
    case "<=": return truth(left <= right);
    case ">": return truth(left > right);
    case ">=": return truth(left >= right);
  }
}
