// Conversions between scalar types, and arithmetic as the language has it.
import type { BinaryOperator } from "../../language/program.ts";
import { float64, isFloat, type Type } from "../../language/types.ts";
import { InternalError } from "../../base/internal-error.ts";
import { comparesSigned } from "../../language/check/integers.ts";
import { sizeOf } from "../../language/layout.ts";
import type { BinaryOp, Value } from "../ir/ir.ts";
import { isSigned, widthOf } from "./registers.ts";
import type { FunctionState } from "./state.ts";
import { lazy } from "../../base/lazy.ts";

/** Code of doubles, which few scripts have. */
const floats = lazy<typeof import("./floats.ts")>(() => require("./floats.ts"));

/** A value of one type as a value of another: extended by the source's sign, truncated to the target. */
export function convert(f: FunctionState, value: Value, from: Type, to: Type): Value {
  if (isFloat(from) || isFloat(to)) return floats().convertFloat(f, value, from, to);
  if (to.kind === "boolean")
    return from.kind === "boolean" ? value : f.build.compare("ne", value, f.build.constant(0n));
  const [source, target] = [widthOf(from), widthOf(to)];
  if (target === 8) return value;
  const fits = source < target ? !isSigned(from) || isSigned(to) : source === target && isSigned(from) === isSigned(to);
  return fits ? value : f.build.extend(value, target === 1 ? 8 : target === 2 ? 16 : 32, isSigned(to));
}

const comparisons = {
  "==": ["eq", "eq"],
  "!=": ["ne", "ne"],
  "<": ["ult", "slt"],
  "<=": ["ule", "sle"],
  ">": ["ugt", "sgt"],
  ">=": ["uge", "sge"],
} as const;

export function isComparison(operator: BinaryOperator): operator is keyof typeof comparisons {
  return operator in comparisons;
}

/** 0 or 1. */
export function compared(f: FunctionState, operator: keyof typeof comparisons, left: Operand, right: Operand): Value {
  const [unsigned, signed] = comparisons[operator];
  if (!isFloat(left.type) && !isFloat(right.type))
    return f.build.compare(
      comparesSigned(left.type, right.type, f.rules.integers) ? signed : unsigned,
      left.value,
      right.value,
    );
  return floats().floatCompare(
    f,
    signed,
    convert(f, left.value, left.type, float64),
    convert(f, right.value, right.type, float64),
  );
}

/** A value and what it is. */
export interface Operand {
  readonly value: Value;
  readonly type: Type;
}

/** Arithmetic of two values whose result has `type`; pointers count in what they point to. */
export function arithmetic(
  f: FunctionState,
  operator: Exclude<BinaryOperator, "&&" | "||" | keyof typeof comparisons>,
  left: Operand,
  right: Operand,
  type: Type,
): Value {
  const { build } = f;
  if (isFloat(type)) {
    if (operator !== "+" && operator !== "-" && operator !== "*" && operator !== "/")
      throw new InternalError(`\`${operator}\` of floating-point numbers`);
    const result = floats().floatArithmetic(
      f,
      operator,
      convert(f, left.value, left.type, float64),
      convert(f, right.value, right.type, float64),
    );
    return convert(f, result, float64, type);
  }
  let [l, r] = [left.value, right.value];
  const bothPointers = left.type.kind === "pointer" && right.type.kind === "pointer";
  if (!bothPointers && (operator === "+" || operator === "-")) {
    if (left.type.kind === "pointer") r = scaled(f, r, left.type.target);
    else if (right.type.kind === "pointer") l = scaled(f, l, right.type.target);
  }
  const result = build.binary(machineOperator(operator, type), l, r);
  const exact: Type = { kind: "integer", bits: 64, signed: isSigned(type) };
  return convert(f, result, exact, type);
}

/** A number of elements in bytes. */
export function scaled(f: FunctionState, count: Value, target: Type): Value {
  return f.build.binary("mul", count, f.build.constant(BigInt(Math.max(1, sizeOf(target)))));
}

function machineOperator(
  operator: Exclude<BinaryOperator, "&&" | "||" | keyof typeof comparisons>,
  type: Type,
): BinaryOp {
  const signed = isSigned(type);
  switch (operator) {
    case "+":
      return "add";
    case "-":
      return "sub";
    case "*":
      return "mul";
    case "/":
      return signed ? "sdiv" : "udiv";
    case "%":
      return signed ? "smod" : "umod";
    case "&":
      return "and";
    case "|":
      return "or";
    case "^":
      return "xor";
    case "<<":
      return "shl";
    case ">>":
      return signed ? "ashr" : "lshr";
  }
}
