// Arithmetic on constants, exactly as both executors do it. Values are kept as signed 64-bit integers.
import type { BinaryOp, CompareOp } from "../ir/ir.ts";

const signed = (value: bigint): bigint => BigInt.asIntN(64, value);
const unsigned = (value: bigint): bigint => BigInt.asUintN(64, value);

export function foldBinary(kind: BinaryOp, left: bigint, right: bigint): bigint {
  const [l, r, ul, ur] = [signed(left), signed(right), unsigned(left), unsigned(right)];
  switch (kind) {
    case "add":
      return signed(l + r);
    case "sub":
      return signed(l - r);
    case "mul":
      return signed(l * r);
    case "udiv":
      return ur === 0n ? 0n : signed(ul / ur);
    case "sdiv":
      return r === 0n ? 0n : signed(l / r);
    case "umod":
      return ur === 0n ? l : signed(ul % ur);
    case "smod":
      return r === 0n ? l : signed(l % r);
    case "and":
      return l & r;
    case "or":
      return l | r;
    case "xor":
      return l ^ r;
    case "shl":
      return signed(l << (ur & 63n));
    case "lshr":
      return signed(ul >> (ur & 63n));
    case "ashr":
      return l >> (ur & 63n);
  }
}

/** The operand that the result is equal to: `x + 0`, `x * 1`, … */
export function unchangedOperand(
  kind: BinaryOp,
  left: bigint | undefined,
  right: bigint | undefined,
): "left" | "right" | undefined {
  switch (kind) {
    case "add":
    case "or":
    case "xor":
      return right === 0n ? "left" : left === 0n ? "right" : undefined;
    case "sub":
    case "shl":
    case "lshr":
    case "ashr":
      return right === 0n ? "left" : undefined;
    case "mul":
      return right === 1n ? "left" : left === 1n ? "right" : undefined;
    case "udiv":
    case "sdiv":
      return right === 1n ? "left" : undefined;
    case "and":
      return right === -1n ? "left" : left === -1n ? "right" : undefined;
    case "umod":
    case "smod":
      return undefined;
  }
}

export function foldCompare(kind: CompareOp, left: bigint, right: bigint): bigint {
  const [l, r, ul, ur] = [signed(left), signed(right), unsigned(left), unsigned(right)];
  const truth = (value: boolean): bigint => (value ? 1n : 0n);
  switch (kind) {
    case "eq":
      return truth(l === r);
    case "ne":
      return truth(l !== r);
    case "ult":
      return truth(ul < ur);
    case "ule":
      return truth(ul <= ur);
    case "ugt":
      return truth(ul > ur);
    case "uge":
      return truth(ul >= ur);
    case "slt":
      return truth(l < r);
    case "sle":
      return truth(l <= r);
    case "sgt":
      return truth(l > r);
    case "sge":
      return truth(l >= r);
  }
}

export function foldExtend(value: bigint, bits: 8 | 16 | 32, isSigned: boolean): bigint {
  return isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
}
