// C's conversions of integers, for languages whose rules have them: operands are cast to what C computes with.
import type { BinaryOperator, Expression } from "../program.ts";
import { boolType, i32, i64, integer, type IntegerType, type Type } from "../types.ts";
import { isIntegral, literalBits } from "./integers.ts";

/** What is narrower than int is one; a literal is one where it fits. Undefined of what is no integer. */
export function promoted(type: Type): IntegerType | undefined {
  if (type.kind === "boolean") return i32;
  if (!isIntegral(type)) return undefined;
  const literal = literalBits(type);
  if (literal !== undefined) return literal < 32 ? i32 : i64;
  return type.bits < 32 ? i32 : integer(type.bits, type.signed);
}

/** The wider of both, and unsigned where one that is as wide is. */
function common(left: IntegerType, right: IntegerType): IntegerType {
  if (left.bits !== right.bits) return left.bits > right.bits ? left : right;
  return integer(left.bits, left.signed && right.signed);
}

export function converted(operand: Expression, type: IntegerType): Expression {
  const { span, type: from } = operand;
  if (operand.kind === "integer" && literalBits(from) !== undefined && operand.value >> BigInt(type.bits - 1) === 0n)
    return { ...operand, type };
  if (
    from.kind === "integer" &&
    literalBits(from) === undefined &&
    from.bits === type.bits &&
    from.signed === type.signed
  )
    return operand;
  const name = `${type.signed ? "" : "u"}int${type.bits}`;
  return { kind: "cast", to: { name, pointers: 0, dimensions: [], span }, operand, span, type };
}

/** Both operands as C computes with them, and the result's type; undefined where they are no integers. */
export function convertedOperands(
  operator: BinaryOperator,
  left: Expression,
  right: Expression,
): { readonly left: Expression; readonly right: Expression; readonly type: Type } | undefined {
  const [l, r] = [promoted(left.type), promoted(right.type)];
  if (l === undefined || r === undefined) return undefined;
  // The count of a shift says nothing of its result.
  if (operator === "<<" || operator === ">>") return { left: converted(left, l), right: converted(right, r), type: l };
  const type = common(l, r);
  const compares = ["==", "!=", "<", "<=", ">", ">="].includes(operator);
  return { left: converted(left, type), right: converted(right, type), type: compares ? boolType : type };
}
