// C's operators on numbers that are known before anything runs.
import type { BinaryOperator } from "./program.ts";

/**
 * The result, made as wide as its type by `sized`; undefined for a division by zero. Shifts take the low 6 bits, as the
 * processor does. `floors`: a quotient is rounded down, not toward zero.
 */
export function calculated(
  operator: BinaryOperator,
  left: bigint,
  right: bigint,
  sized: (value: bigint) => bigint,
  floors = false,
): bigint | undefined {
  switch (operator) {
    case "+":
      return sized(left + right);
    case "-":
      return sized(left - right);
    case "*":
      return sized(left * right);
    case "/":
      return right === 0n ? undefined : sized(floors ? (left - modulo(left, right)) / right : left / right);
    case "%":
      return right === 0n ? undefined : sized(floors ? modulo(left, right) : left % right);
    case "&":
      return sized(left & right);
    case "|":
      return sized(left | right);
    case "^":
      return sized(left ^ right);
    case "<<":
      return sized(left << (right & 63n));
    case ">>":
      return sized(left >> (right & 63n));
    case "&&":
      return truth(left !== 0n && right !== 0n);
    case "||":
      return truth(left !== 0n || right !== 0n);
    case "==":
      return truth(left === right);
    case "!=":
      return truth(left !== right);
    case "<":
      return truth(left < right);
    case "<=":
      return truth(left <= right);
    case ">":
      return truth(left > right);
    case ">=":
      return truth(left >= right);
  }
}

/** What a quotient that is rounded down leaves: of the divisor's sign. */
function modulo(left: bigint, right: bigint): bigint {
  const rest = left % right;
  return rest !== 0n && rest < 0n !== right < 0n ? rest + right : rest;
}

export function truth(holds: boolean): bigint {
  return holds ? 1n : 0n;
}
