// What operators, casts and members take, and what they make of it.
import { dExpressions } from "../../messages/d-expressions.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { BinaryOperator, Expression, TypeName, UnaryOperator } from "../program.ts";
import { precedence } from "../precedence.ts";
import { unknownType } from "../types.ts";
import { isNull, nullableOf, present, unlessNull } from "./nulls.ts";
import { placeOf } from "./places.ts";
import { structOf, typeOf, unfit } from "./prototypes.ts";
import { keyKind } from "./symbols.ts";
import { constantValue } from "./type-names.ts";
import { common, isNumber, isUnsigned, knownType, spelledType } from "./types.ts";
import type { Unit } from "./unit.ts";

/** Two operands that were read. */
export function binaryOf(unit: Unit, op: BinaryOperator, left: Expression, right: Expression, span: Span): Expression {
  const p = unit.cursor;
  const strength = precedence[op];
  const [l, r] = [unit.known(left), unit.known(right)];
  const compares = strength <= 3 || strength === 7 || strength === 8;
  const shifts = op === "<<" || op === ">>";
  const known = compares ? "int32" : shifts ? (isNumber(l) ? l : undefined) : common(l, r);
  const texts = l === "string" || r === "string";
  if (texts && !compares)
    p.fail(
      ["+", "-", "*", "/"].includes(op) ? dExpressions.arithmeticOperands(op) : dExpressions.integralOperands(op),
      span,
    );
  if (texts && strength >= 7 && unfit(l, r, l === "string" ? right : left))
    p.fail(dExpressions.incompatible(spelledType(l!), op, spelledType(r!)), span);
  checkComputed(unit, op, left, right, span);
  if (strength >= 7 && [left, right].some((one) => keyKind(one) !== undefined))
    p.fail(dExpressions.incompatible(typeOf(left, unit) ?? "int", op, typeOf(right, unit) ?? "int"), span);
  if ((op === "/" || op === "%") && right.kind === "integer" && right.value === 0n)
    p.fail(dExpressions.divisionByZero(), span);
  if (texts && (op === "==" || op === "!=")) return comparedTexts(unit, op, left, right, span);
  if (texts) return unit.typed(nodes.binary(op, present(unit, left), present(unit, right), span), known);
  if (isNumber(l) && isNumber(r) && known !== undefined) {
    const isWide = [left, right].some((one) => unit.computed(one) !== one);
    const unsigned = [left, right].map((one) => isUnsigned(unit.known(one)!));
    const mixed = unsigned[0] !== unsigned[1] && [left, right].every((one) => one.kind !== "integer");
    const computes = !compares && !known.endsWith("64");
    if (isWide || computes || (mixed && strength >= 7)) {
      const to = isUnsigned(compares ? common(l, r)! : known) ? "uint64" : "int64";
      const [wideLeft, wideRight] = [left, right].map((one) => unit.cast(to, unit.computed(one)));
      const e = nodes.binary(op, wideLeft, wideRight, span);
      return compares ? unit.typed(e, known) : unit.narrowed(known, unit.typed(e, to));
    }
  }
  return unit.typed(nodes.binary(op, operand(unit, left), operand(unit, right), span), known);
}

/** The word NULL is as any text that is NULL. */
function comparedTexts(unit: Unit, op: "==" | "!=", left: Expression, right: Expression, span: Span): Expression {
  const isWord = (e: Expression): boolean => e.kind === "integer" && e.value === 0n;
  if (isWord(left) || isWord(right)) {
    const is = isNull(unit, isWord(left) ? right : left);
    return op === "==" ? is : unit.typed(nodes.not(is), "int32");
  }
  const [of, other] = nullableOf(left) === undefined ? [right, left] : [left, right];
  const compare = (value: Expression): Expression => nodes.binary(op, value, other, span);
  return unit.typed(unlessNull(unit, of, compare, op === "==" ? 0 : 1), "int32");
}

/** `-x`, `!x`, `*x`, `&x` and their kin, of an operand that was read. */
export function unaryOf(unit: Unit, operator: UnaryOperator, of: Expression, span: Span): Expression {
  const p = unit.cursor;
  const known = unit.known(of);
  if (operator === "!" && structOf(of) !== undefined) p.fail(dExpressions.scalarOperand(operator), span);
  if (known === "string" && operator !== "&")
    p.fail(
      operator === "!"
        ? dExpressions.scalarOperand(operator)
        : operator === "~"
          ? dExpressions.integralOperand(operator)
          : dExpressions.arithmeticOperand(operator),
      span,
    );
  if (operator === "*" && of.kind === "cast" && of.to.name === "void" && of.to.pointers === 1)
    p.fail(dExpressions.voidPointer(), span);
  if (operator === "*" && (of.kind === "integer" || structOf(of) !== undefined))
    p.fail(dExpressions.notAPointer(), span);
  if (operator === "&") {
    if (unit.aggregates.has(of)) p.fail(dExpressions.addressOfVariable(), span);
    if (of.kind === "call" && of.name === "var") return unit.cast("uint64", nodes.call("kaddr", of.args, span));
    if (bitWidthOf(of, unit) !== undefined) p.fail(dExpressions.addressOfBits(), span);
    if (placeOf(of) !== undefined || (of.kind === "cast" ? of.operand : of).kind === "builtin")
      p.fail(dExpressions.addressOfVariable(), span);
    if (["binary", "conditional", "integer", "string", "call", "assignment"].includes(unit.computed(of).kind))
      p.fail(dExpressions.noAddress(), span);
    // An array is an address already.
    if (of.kind === "cast" && of.to.pointers > 0) return of;
  }
  const node: Expression = { kind: "unary", operator, operand: operand(unit, of), span, type: unknownType };
  if (operator === "*" || operator === "&") return node;
  if (operator === "!" || !isNumber(known)) return unit.typed(node, operator === "!" ? "int32" : undefined);
  if (unit.computed(of) === of && (known === "int32" || known.endsWith("64"))) return unit.typed(node, known);
  const wide = unit.cast(isUnsigned(known) ? "uint64" : "int64", unit.computed(of));
  return unit.narrowed(known, unit.typed({ ...node, operand: wide }, "int64"));
}

/** Structs are not computed with, and what a void pointer points to has no size. */
export function checkComputed(unit: Unit, operator: string, left: Expression, right: Expression, span: Span): void {
  const isWhole = (e: Expression): boolean => structOf(e) !== undefined;
  const isVoid = (e: Expression): boolean => {
    const pointer = unit.pointerOf(e);
    return pointer?.name === "void" && pointer.pointers === 1;
  };
  const steps = operator === "+" || operator === "-";
  const moves =
    steps && ((isVoid(left) && isNumber(unit.known(right))) || (isVoid(right) && isNumber(unit.known(left))));
  if (!moves && !isWhole(left) && !isWhole(right)) return;
  const [l, r] = [typeOf(left, unit), typeOf(right, unit)];
  if (l !== undefined && r !== undefined) unit.cursor.fail(dExpressions.incompatible(l, operator, r), span);
}

/** A literal that C reads as no int has that type among the operands, too. */
function operand(unit: Unit, e: Expression): Expression {
  const known = unit.known(e);
  return e.kind === "integer" && isNumber(known) && known !== "int32" ? unit.cast(known, e) : e;
}

export function castTo(unit: Unit, to: TypeName, of: Expression, start: Span): Expression {
  const span = unit.cursor.from(start);
  if (to.name === "string" && to.pointers === 0) return textOf(unit, of, span);
  const whole = structOf(of);
  if (whole !== undefined && to.name !== "void")
    unit.cursor.fail(dExpressions.invalidCast(spelledType(whole), spelledType(to)), span);
  const from = unit.known(of);
  const isNoNumber = (to.tag === "struct" || to.tag === "union") && to.pointers === 0;
  if (from !== undefined && (isNoNumber || (from === "string" && (to.pointers > 0 || to.name !== "void"))))
    unit.cursor.fail(dExpressions.invalidCast(spelledType(from), spelledType(to)), span);
  const float = floatOf(to);
  if (float !== undefined) unit.cursor.fail(dExpressions.invalidCast(typeOf(of, unit) ?? "int", float), span);
  if (to.name === "void" && to.pointers === 0) {
    const nothing = { ...of, span };
    unit.voids.add(nothing);
    return nothing;
  }
  const enumeration =
    to.tag === "enum" && to.pointers === 0 ? unit.enums.find(({ name }) => name === to.name) : undefined;
  const value = enumeration === undefined ? undefined : constantValue(of, unit);
  if (value !== undefined && enumeration?.constants.every((one) => one.value !== value) === true)
    return unit.cast("int32", of, span);
  return unit.pointing(unit.typed(nodes.cast(to, unit.computed(of), span), knownType(to)), to);
}

/** A type that D declares variables of and computes nothing with. */
export function floatOf(type: TypeName | undefined): string | undefined {
  const isFloat = /^(?:float|(?:long )?double)$/.test(type?.name ?? "") && type?.pointers === 0;
  return isFloat ? type.name : undefined;
}

/** stringof: text stays as it is. */
export function textOf(unit: Unit, of: Expression, span: Span): Expression {
  if (unit.aggregates.has(of)) unit.cursor.fail(dExpressions.stringOfOther("aggregation"), span);
  const whole = structOf(of);
  if (whole !== undefined) unit.cursor.fail(dExpressions.stringOfOther(spelledType(whole)), span);
  return unit.known(of) === "string" ? of : unit.typed(nodes.call("str", [of], span), "string");
}

/** Of a bit field in a struct of the script. */
export function bitWidthOf(of: Expression, { structs }: Unit): number | undefined {
  if (of.kind !== "member" || of.object.kind !== "unary" || of.object.operand.kind !== "cast") return undefined;
  const { to } = of.object.operand;
  return structs.find(({ name }) => name === to.name)?.members.find(({ name }) => name === of.name)?.bitWidth;
}

export function isStructVariable(type: TypeName | undefined): boolean {
  return type?.tag === "struct" || type?.tag === "union";
}
