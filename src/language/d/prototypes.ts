// What calls and arrays are given, against what they take: how many, and of which types.
import { dAggregations } from "../../messages/d-aggregations.ts";
import { dCalls } from "../../messages/d-calls.ts";
import { dExpressions } from "../../messages/d-expressions.ts";
import { dNames } from "../../messages/d-names.ts";
import type { Span } from "../diagnostic.ts";
import type { Expression, TypeName } from "../program.ts";
import { keyKind } from "./symbols.ts";
import { constantValue } from "./type-names.ts";
import { isNumber, knownType, spelledType, type Known } from "./types.ts";
import type { Unit } from "./unit.ts";

/** A struct or union as a whole. */
export function structOf(e: Expression): TypeName | undefined {
  const type = e.kind === "unary" && e.operator === "*" && e.operand.kind === "cast" ? e.operand.to : undefined;
  const whole = type?.pointers === 1 && type.dimensions.length === 0 && (type.tag === "struct" || type.tag === "union");
  return whole ? { ...type, pointers: 0 } : undefined;
}

/** As D has it; undefined where it is the checker's to know. */
export function typeOf(e: Expression, unit: Unit): string | undefined {
  if (e.kind === "cast" && isNumber(unit.known(e)) && e.to.tag === undefined) return e.to.alias ?? spelledType(e.to);
  if (e.kind === "integer") return literalTypes[unit.known(e) ?? ""] ?? "int";
  if (unit.aggregates.has(e)) return "aggregation";
  const known = unit.known(e) ?? unit.pointerOf(e) ?? structOf(e);
  const kind = keyKind(e);
  if (kind !== undefined) return kind;
  return known === undefined ? undefined : spelledType(known);
}

const literalTypes: Readonly<Record<string, string>> = {
  uint32: "unsigned int",
  int64: "long",
  uint64: "unsigned long",
};

/** A text for a number, or a number that is not 0 for a text. */
export function unfit(left: Known | undefined, right: Known | undefined, value: Expression): boolean {
  if (value.kind === "integer" && value.value === 0n) return false;
  return (left === "string" && isNumber(right)) || (isNumber(left) && right === "string");
}

export function checkCount(unit: Unit, name: string, given: number, least: number, most: number, span: Span): void {
  if (given >= least && given <= most) return;
  const wanted = least === most ? String(least) : given < least ? `at least ${least}` : `at most ${most}`;
  unit.cursor.fail(dCalls.argumentCount(name, given, wanted), span);
}

/** Their arguments are complained of elsewhere. */
const takesAnything: ReadonlySet<string> = new Set(["trace", "print", "printf", "system", "freopen", "tracemem"]);

/** What is known of the arguments, against what is wanted: `char *` is text, anything else is none unless it says. */
export function checkPrototype(
  unit: Unit,
  name: string,
  args: readonly Expression[],
  prototype: readonly string[],
): void {
  const unasked = args.slice(prototype.length).find((arg) => unit.aggregates.has(arg));
  if (unasked !== undefined && !takesAnything.has(name))
    unit.cursor.fail(
      dAggregations.unknownAggregation(unit.cursor.source.text.slice(unasked.span.start, unasked.span.end)),
      unasked.span,
    );
  for (const [i, all] of prototype.entries()) {
    const arg = args.at(i);
    const wanted = all.replace(" or text", "");
    if (wanted !== all && arg !== undefined && unit.known(arg) === "string") continue;
    if (arg === undefined || wanted === "") continue;
    const known = unit.known(arg);
    if (unit.aggregates.has(arg)) unit.cursor.fail(dCalls.argumentType(name, i + 1, wanted, "aggregation"), arg.span);
    const whole = structOf(arg);
    if (whole !== undefined) unit.cursor.fail(dCalls.argumentType(name, i + 1, wanted, spelledType(whole)), arg.span);
    const isAddress = wanted.endsWith("*") && isNumber(known) && arg.kind === "integer" && arg.value !== 0n;
    if (isAddress || unfit(wanted === "char *" || wanted === "string" ? "string" : "int64", known, arg))
      unit.cursor.fail(dCalls.argumentType(name, i + 1, wanted, spelledType(known!)), arg.span);
  }
}

/** Of an associative array that was declared. */
export function checkKeys(
  unit: Unit,
  name: string,
  keys: readonly Expression[],
  types: readonly TypeName[],
  span: Span,
): void {
  if (keys.length === 0) unit.cursor.fail(dNames.notAScalar("associative array", name), span);
  checkKeyTypes(unit, name, keys, types, unit.cursor.from(span));
}

/** Keys of an array that was not declared are of the types of its first ones. */
export function checkKeyTypes(
  unit: Unit,
  name: string,
  keys: readonly Expression[],
  wanted: readonly (TypeName | Known | undefined)[],
  span: Span,
): void {
  if (keys.length !== wanted.length) unit.cursor.fail(dNames.keyCount(name, keys.length, wanted.length), span);
  for (const [i, type] of wanted.entries()) {
    const known = unit.known(keys[i]);
    if (unfit(typeof type === "object" ? knownType(type) : type, known, keys[i]))
      unit.cursor.fail(dNames.keyType(name, i + 1, spelledType(type!), spelledType(known!)), keys[i].span);
  }
}

/** Of an array with so many elements, each index that is written out. */
export function checkIndexes(unit: Unit, indexes: readonly Expression[], { dimensions: sizes, ...of }: TypeName): void {
  for (const [at, index] of indexes.entries()) {
    if (unit.known(index) === "string") {
      const list = sizes.slice(at).map((size) => `[${size}]`);
      const type = `${spelledType({ ...of, dimensions: [] })} ${list.join("")}`;
      unit.cursor.fail(dExpressions.incompatible(type, "+", "string"), index.span);
    }
    const value = constantValue(index, unit);
    if (value !== undefined && at < sizes.length && (value < 0n || value >= BigInt(sizes[at])))
      unit.cursor.fail(dNames.indexOutside(value, sizes[at]), index.span);
  }
}
