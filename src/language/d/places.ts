// Where values are stored: variables, entries and memory; assignments to them, ++ and --.
import { dExpressions } from "../../messages/d-expressions.ts";
import { dNames } from "../../messages/d-names.ts";
import type { Span } from "../diagnostic.ts";
import { nearest } from "../nearest.ts";
import * as nodes from "../nodes.ts";
import type { BinaryOperator, Expression, MapAccess, Variable } from "../program.ts";
import { unknownType } from "../types.ts";
import type { Cursor } from "./cursor.ts";
import { readNullable, setsNull, storedNullable } from "./nulls.ts";
import { isNumber, knownType, type Known } from "./types.ts";
import type { Storage, Unit } from "./unit.ts";
import { isBuiltIn, variableNames } from "./variables.ts";

/** What assigns, as it is written. */
export const assignments: readonly string[] = "= += -= *= /= %= &= |= ^= <<= >>=".split(" ");

/** Where an expression is stored, of those that can be assigned to. */
interface Place {
  readonly target: Variable | MapAccess;
  readonly storage: Storage | undefined;
  readonly declare: (known: Known | undefined) => void;
  /** As the script names it. */
  readonly written: string;
}

const places = new WeakMap<Expression, Place>();

/** Where an expression that was read is stored; undefined of what is no variable. */
export function placeOf(e: Expression): Place | undefined {
  return places.get(e);
}

/** A variable of D's own, rather than a value. */
export function isOwnVariable({ span }: Expression, { source }: Cursor): boolean {
  const written = source.text.slice(span.start, span.end);
  return isBuiltIn(written.replace(/\[.*/s, ""));
}

/** What a place in memory is written by. */
export function written(target: Expression, value: Expression, span: Span): Expression {
  return nodes.call("write_memory", [target, value], span);
}

export function isMemory({ kind, ...e }: Expression): boolean {
  return kind === "member" || kind === "index" || (kind === "unary" && "operator" in e && e.operator === "*");
}

export function stored(unit: Unit, place: Place, operator: string, value: Expression, span: Span): Expression {
  const { target, storage } = place;
  const type = unknownType;
  const given = unit.known(value);
  if (operator !== "") {
    if (storage === undefined) place.declare(given);
    const known = storage?.known ?? given;
    const op = operator as BinaryOperator;
    const node: Expression = { kind: "assignment", target, operator: op, value: unit.value(value), span, type };
    return unit.typed(node, known);
  }
  const known = storage === undefined ? given : storage.known;
  if (storage !== undefined && !isNumber(known) && value.kind === "integer" && value.value === 0n) {
    const gone = removed(target, known, span);
    const flagged = known === "string" ? setsNull(unit, target, place.written) : undefined;
    if (gone !== undefined && flagged !== undefined) {
      const statements = [nodes.statement(gone), flagged];
      return { kind: "block-expression", statements, value: nodes.integer(0, span), span, type };
    }
    if (gone !== undefined) return unit.typed(gone, "int32");
  }
  if (storage === undefined) place.declare(given);
  let own = unit.value(value);
  // What a variable was declared as, or first given, it stays.
  if (isNumber(known) && given !== known && given !== "string") own = unit.cast(known, unit.computed(own));
  const assigned = (of: Expression): Expression =>
    unit.typed({ kind: "assignment", target, operator: null, value: of, span, type }, known);
  const nullable =
    known === "string"
      ? storedNullable(unit, target, place.written, value, assigned, removed(target, known, span))
      : undefined;
  return nullable ?? assigned(own);
}

/** Storing 0 instead of a text or an address: the entry goes. */
function removed(target: Variable | MapAccess, known: Known | undefined, span: Span): Expression | undefined {
  if (target.kind === "variable" && target.lives === undefined) {
    if (known !== "string") return undefined;
    return { kind: "assignment", target, operator: null, value: nodes.text("", span), span, type: unknownType };
  }
  const keys = target.kind === "map" ? target.keys : [nodes.builtin("tid", span)];
  const map = nodes.map(target.name, [], span);
  if (keys.length === 0) return nodes.call("clear", [map], span);
  const [only] = keys;
  const key: Expression = keys.length === 1 ? only : { kind: "tuple", elements: keys, span, type: unknownType };
  return nodes.call("delete", [map, key], span);
}

export function increment(unit: Unit, of: Expression, delta: 1 | -1, prefix: boolean, start: Span): Expression {
  const p = unit.cursor;
  const span = p.from(start);
  const place = places.get(of);
  if (place === undefined && isMemory(of)) {
    const more = (e: Expression): Expression => nodes.binary(delta === 1 ? "+" : "-", e, nodes.integer(1, span), span);
    if (prefix) return written(of, more(of), span);
    const before = nodes.variable(unit.name("before"), span);
    const statements = [nodes.declare(before.name, of), nodes.statement(written(of, more({ ...before }), span))];
    return { kind: "block-expression", statements, value: before, span, type: unknownType };
  }
  const sign = delta === 1 ? "++" : "--";
  if (place === undefined)
    return p.fail(isOwnVariable(of, p) ? dExpressions.cannotAssign(sign) : dExpressions.noLvalue(sign), of.span);
  if (unit.known(of) === "string") p.fail(dExpressions.scalarCounted(sign), span);
  if (place.storage === undefined) place.declare("int64");
  const node: Expression = { kind: "increment", target: place.target, delta, prefix, span, type: unknownType };
  return unit.typed(node, place.storage?.known ?? "int64");
}

/** A variable at an address: an array is where its first element is. */
function inMemory(
  unit: Unit,
  target: Variable | MapAccess,
  { number, type }: NonNullable<Storage["memory"]>,
): Expression {
  const { span } = target;
  const size: Expression = { kind: "sizeof", of: type, span, type: unknownType };
  const keys = target.kind === "map" ? target.keys : target.lives === "thread" ? [nodes.builtin("tid", span)] : [];
  const address = nodes.hostText("variableMemory", [nodes.integer(number, span), size, ...keys], span);
  const pointer = nodes.cast({ ...type, pointers: 1, dimensions: [] }, address, span);
  if (type.dimensions.length > 0) return pointer;
  const e: Expression = { kind: "unary", operator: "*", operand: pointer, span, type: unknownType };
  return unit.typed(e, knownType(type));
}

/** A variable as it is read, and where it is, for what stands behind it. */
export function place(unit: Unit, of: Place): Expression {
  const p = unit.cursor;
  const { target, storage, written } = of;
  if (storage?.memory !== undefined) return inMemory(unit, target, storage.memory);
  const assigned = p.token.kind === "punctuation" && (assignments.includes(p.token.text) || p.at("++") || p.at("--"));
  if (assigned || unit.increments) unit.assigned.add(written);
  if (storage === undefined && !assigned && !unit.increments) {
    const near = nearest(written, [...unit.globals.keys(), ...variableNames()]);
    const help = near.length === 0 ? undefined : `did you mean \`${near[0]}\`?`;
    const said =
      target.kind === "map" && !written.includes("->")
        ? dNames.unknownVariable(written, help)
        : dNames.unassigned(written);
    p.fail(said, target.span);
  }
  const known = storage?.known;
  const e: Expression =
    isNumber(known) && known !== "int64" && !assigned
      ? nodes.cast({ name: known, pointers: 0, dimensions: [], span: target.span }, target)
      : { ...target };
  places.set(e, of);
  if (known === "string" && !assigned) readNullable(unit, e, target, written);
  return unit.pointing(unit.typed(e, known), storage?.type ?? unit.pointed.get(written));
}
