// C's operators on numbers that are known before anything runs.
import type { BinaryOperator } from "./program.ts";

/**
 * The result, made as wide as its type by `sized`; undefined for a division by zero. Shifts take the low 6 bits, as the
 * processor does.
 */
export function calculated(
  operator: BinaryOperator,
  left: bigint,
  right: bigint,
  sized: (value: bigint) => bigint,
): bigint | undefined {
  switch (operator) {
    case "+":
      return sized(left + right);
    case "-":
      return sized(left - right);
    case "*":
      return sized(left * right);
    case "/":
      return right === 0n ? undefined : sized(left / right);
    case "%":
      return right === 0n ? undefined : sized(left % right);
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

export function truth(holds: boolean): bigint {
  return holds ? 1n : 0n;
}
