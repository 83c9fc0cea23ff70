// Width and sign of integers. Literals are flexible: `0` becomes unsigned beside an unsigned value.
import type { Expression } from "../program.ts";
import type { EnumType, IntegerBits, IntegerType, Type } from "../types.ts";
import { i64, u64 } from "../types.ts";
import type { IntegerRules } from "../rules.ts";

/**
 * An int64 that came from a literal of no sign, and the bits its magnitude takes. Behind the checker it is a plain
 * int64.
 */
interface LiteralInteger extends IntegerType {
  readonly literalBits: number;
}

export function literalType(value: bigint): IntegerType {
  if (value > 0x7fff_ffff_ffff_ffffn) return u64;
  if (value < 0n) return i64;
  const literal: LiteralInteger = {
    kind: "integer",
    bits: 64,
    signed: true,
    literalBits: value === 0n ? 0 : value.toString(2).length,
  };
  return literal;
}

/** Bits of magnitude when the type is a flexible literal's. */
export function literalBits(type: Type): number | undefined {
  return "literalBits" in type ? (type as LiteralInteger).literalBits : undefined;
}

/** What a value read back from a variable or a map has: a literal's type is then a plain int64. */
export function settled(type: Type): Type {
  if (literalBits(type) !== undefined) return i64;
  if (type.kind === "tuple") return { kind: "tuple", elements: type.elements.map(settled) };
  if (type.kind === "record")
    return { kind: "record", fields: type.fields.map((f) => ({ name: f.name, type: settled(f.type) })) };
  return type;
}

export function isIntegral(type: Type): type is IntegerType | EnumType {
  return type.kind === "integer" || type.kind === "enum";
}

/** Unsigned, or a literal that can be read as unsigned. Booleans and pointers are. */
function canBeUnsigned(type: Type): boolean {
  if (literalBits(type) !== undefined) return true;
  return isIntegral(type) ? !type.signed : true;
}

/** True for a type that is unsigned without being coaxed. */
function isUnsigned(type: Type): boolean {
  return isIntegral(type) ? !type.signed && literalBits(type) === undefined : true;
}

/** Whether two values compare as signed numbers: unless both are unsigned (a literal takes the other's sign). */
export function comparesSigned(left: Type, right: Type, { signed }: IntegerRules): boolean {
  if (signed === "all" && isIntegral(left) && isIntegral(right)) return true;
  return !(canBeUnsigned(left) && canBeUnsigned(right) && (isUnsigned(left) || isUnsigned(right)));
}

/** Type of arithmetic on two integers: 64 bits, unsigned when both operands are, unless all of it is signed. */
export function arithmeticType(operator: string, left: Type, right: Type, rules: IntegerRules): IntegerType {
  if (operator === "-" || rules.signed === "all") return i64;
  if (literalBits(left) !== undefined && literalBits(right) !== undefined) return i64;
  return comparesSigned(left, right, rules) ? i64 : u64;
}

/** The integer type that holds both. */
export function unifyIntegers(left: IntegerType, right: IntegerType): IntegerType {
  const leftBits = literalBits(left);
  const rightBits = literalBits(right);
  if (leftBits !== undefined && rightBits !== undefined) return leftBits >= rightBits ? left : right;
  if (leftBits !== undefined) return holding(right, leftBits);
  if (rightBits !== undefined) return holding(left, rightBits);
  if (left.signed === right.signed) return left.bits >= right.bits ? left : right;
  const [signed, unsigned] = left.signed ? [left, right] : [right, left];
  if (signed.bits > unsigned.bits) return signed;
  return { kind: "integer", bits: Math.min(64, unsigned.bits * 2) as IntegerBits, signed: true };
}

function holding(type: IntegerType, magnitude: number): IntegerType {
  const needed = magnitude + (type.signed ? 1 : 0);
  if (needed <= type.bits) return type;
  const bits = ([8, 16, 32, 64] as const).find((b) => b >= needed) ?? 64;
  return { kind: "integer", bits, signed: type.signed };
}

/** Does a constant lie in the type's range? */
export function fits(value: bigint, type: IntegerType): boolean {
  const bits = BigInt(type.bits);
  return type.signed ? value >= -(1n << (bits - 1n)) && value < 1n << (bits - 1n) : value >= 0n && value < 1n << bits;
}

/** The narrowest type of a literal, as `sizeof(1)` and `bswap(1)` see it. */
export function narrowest(value: bigint): IntegerType {
  const bits = ([8, 16, 32, 64] as const).find((b) => fits(value, { kind: "integer", bits: b, signed: true }));
  return bits === undefined ? u64 : { kind: "integer", bits, signed: true };
}

/** A type with what came from literals alone as narrow as they are. */
export function narrowLiterals(type: Type): Type {
  const bits = literalBits(type);
  if (bits !== undefined) return narrowest((1n << BigInt(bits)) - 1n);
  if (type.kind === "tuple") return { kind: "tuple", elements: type.elements.map(narrowLiterals) };
  if (type.kind === "record")
    return { kind: "record", fields: type.fields.map((f) => ({ name: f.name, type: narrowLiterals(f.type) })) };
  return type;
}

/** The value that the low bits of a number have in a type. */
export function wrap(value: bigint, type: IntegerType | EnumType): bigint {
  return type.signed ? BigInt.asIntN(type.bits, value) : BigInt.asUintN(type.bits, value);
}

/** Written as a number, without a cast. */
export function isLiteral(node: Extract<Expression, { kind: "integer" }>): boolean {
  return node.value < 0n || node.value > 0x7fff_ffff_ffff_ffffn
    ? node.type.kind === "integer" && node.type.bits === 64
    : literalBits(node.type) !== undefined;
}
