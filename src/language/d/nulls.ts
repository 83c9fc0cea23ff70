// NULL as a text: what `self->s` and a[k] are before they are given one, what strchr() and its kin give where there is no
// hit, what a variable is that 0 was stored in. A text itself cannot say so: whether it is NULL is a condition beside it.
// NULL compares with NULL alone; read as a text it is a fault at the address 0, as in DTrace.
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression, MapAccess, Statement, Variable } from "../program.ts";
import { unknownType } from "../types.ts";
import type { Token } from "./tokens.ts";
import { named } from "./types.ts";
import type { Unit } from "./unit.ts";

/** A text that may be NULL. */
export interface Nullable {
  /** What is done before its value, and whether it is NULL, are asked. */
  readonly first: readonly Statement[];
  readonly value: Expression;
  /** Makes the condition: each use has its own. */
  readonly isNull: () => Expression;
}

const nullables = new WeakMap<Expression, Nullable>();

export function nullableOf(e: Expression): Nullable | undefined {
  return nullables.get(e);
}

/** Subroutines that give NULL where there is no hit, and no text that is empty. */
export const givesNull: ReadonlySet<string> = new Set(["strchr", "strrchr", "strstr", "strtok"]);

/** Variables, as they are written, that may be given NULL: by what is assigned to them somewhere. */
export function maybeNullIn(tokens: readonly Token[]): Set<string> {
  const found = new Set<string>();
  for (const [i, { kind, text }] of tokens.entries()) {
    const [sign, value] = tokens.slice(i + 1, i + 3);
    if (kind !== "identifier" || sign?.kind !== "punctuation" || sign.text !== "=" || value === undefined) continue;
    const isNull =
      givesNull.has(value.text) || value.text === "NULL" || (value.kind === "number" && value.number === 0n);
    const [of, arrow] = [tokens[i - 2], tokens[i - 1]];
    const owner = arrow?.text === "->" && (of?.text === "this" || of?.text === "self") ? `${of.text}->` : "";
    if (isNull) found.add(`${owner}${text}`);
  }
  return found;
}

/** A text that a subroutine gave: NULL where it is empty. */
export function unlessEmpty(unit: Unit, e: Expression): Expression {
  const { span } = e;
  const text = nodes.variable(unit.name("text"), span);
  const value = (): Expression => unit.typed({ ...text }, "string");
  return nullable(unit, {
    first: [nodes.declare(text.name, e)],
    value: value(),
    isNull: () => nodes.binary("==", value(), nodes.text("", span), span),
  });
}

function nullable(unit: Unit, of: Nullable): Expression {
  const { first, value } = of;
  const { span } = value;
  const e: Expression =
    first.length === 0 ? value : { kind: "block-expression", statements: first, value, span, type: unknownType };
  nullables.set(e, of);
  return unit.typed(e, "string");
}

/** A variable's text as it is read. `written`: as the script names it. */
export function readNullable(unit: Unit, e: Expression, target: Variable | MapAccess, written: string): void {
  const entry = entryOf(target);
  if (entry === undefined ? !unit.maybeNull.has(written) : entry.keys.some((key) => !isPlain(key))) return;
  const isNull = (): Expression =>
    entry === undefined
      ? nodes.binary("!=", nullFlag(target), nodes.integer(0, target.span), target.span)
      : nodes.not(nodes.call("has_key", entryArguments(entry, target.span), target.span));
  nullables.set(e, { first: [], value: e, isNull });
}

/** The entry of a map that a variable of a thread, or an element, is. */
function entryOf(
  target: Variable | MapAccess,
): { readonly map: string; readonly keys: readonly Expression[] } | undefined {
  if (target.kind === "variable")
    return target.lives === "thread" ? { map: target.name, keys: [nodes.builtin("tid", target.span)] } : undefined;
  return target.keys.length === 0 ? undefined : { map: target.name, keys: target.keys };
}

/** Of an entry: the map, and its key. */
function entryArguments({ map, keys }: NonNullable<ReturnType<typeof entryOf>>, span: Span): readonly Expression[] {
  const key: Expression = keys.length === 1 ? keys[0] : { kind: "tuple", elements: keys, span, type: unknownType };
  return [nodes.map(map, [], span), key];
}

/** It may be computed twice. */
function isPlain(e: Expression): boolean {
  switch (e.kind) {
    case "integer":
    case "string":
    case "builtin":
    case "variable":
      return true;
    case "map":
      return e.keys.every(isPlain);
    case "cast":
    case "unary":
      return isPlain(e.operand);
    case "binary":
      return isPlain(e.left) && isPlain(e.right);
    default:
      return false;
  }
}

/** Whether a variable that is no entry is NULL. */
function nullFlag(target: Variable | MapAccess): Variable | MapAccess {
  return target.kind === "map"
    ? nodes.map(`null ${target.name}`, [], target.span)
    : nodes.variable(`null ${target.name}`, target.span);
}

/** A text for what takes one: NULL is a fault. */
export function present(unit: Unit, e: Expression): Expression {
  const of = nullables.get(e);
  if (of === undefined) return e;
  const { span } = e;
  const nowhere = nodes.cast(named("void", span, 1), nodes.call("kptr", [nodes.integer(0, span)], span), span);
  const value = unit.typed(
    nodes.conditional(of.isNull(), nodes.call("str", [nowhere], span), of.value, span),
    "string",
  );
  return behind(unit, of, value, "string");
}

/** `e == NULL`, of a text. */
export function isNull(unit: Unit, e: Expression): Expression {
  const of = nullables.get(e);
  return of === undefined ? unit.typed(nodes.integer(0, e.span), "int32") : behind(unit, of, of.isNull(), "int32");
}

/** A comparison of what may be NULL with a text. */
export function unlessNull(
  unit: Unit,
  e: Expression,
  compare: (value: Expression) => Expression,
  otherwise: 0 | 1,
): Expression {
  const of = nullables.get(e);
  if (of === undefined) return compare(e);
  const { span } = e;
  const value = nodes.conditional(
    of.isNull(),
    unit.cast("int32", nodes.integer(otherwise, span)),
    unit.cast("int32", compare(of.value)),
    span,
  );
  return behind(unit, of, unit.typed(value, "int32"), "int32");
}

function behind(unit: Unit, { first }: Nullable, value: Expression, known: "int32" | "string"): Expression {
  if (first.length === 0) return unit.typed(value, known);
  const e: Expression = { kind: "block-expression", statements: first, value, span: value.span, type: unknownType };
  return unit.typed(e, known);
}

/**
 * What storing a text is beside the assignment; undefined where neither the variable nor the text may be NULL.
 * `removes`: what storing NULL does to an entry.
 */
export function storedNullable(
  unit: Unit,
  target: Variable | MapAccess,
  written: string,
  value: Expression,
  assigned: (value: Expression) => Expression,
  removes: Expression | undefined,
): Expression | undefined {
  const of = nullables.get(value);
  const isEntry = entryOf(target) !== undefined;
  if (of === undefined && (isEntry || !unit.maybeNull.has(written))) return undefined;
  const { span } = target;
  if (!isEntry) unit.maybeNull.add(written);
  const given = of?.value ?? value;
  const store = nodes.statement(assigned(given));
  const set: Statement[] =
    isEntry && of !== undefined
      ? [ifElse(of.isNull(), nodes.statement(removes!), store, span)]
      : [store, nodes.assign(nullFlag(target), unit.cast("int64", of?.isNull() ?? nodes.integer(0, span)), span)];
  const made = nullable(unit, {
    first: [...(of?.first ?? []), ...set],
    value: unit.typed({ ...given }, "string"),
    isNull: of?.isNull ?? (() => nodes.integer(0, span)),
  });
  return made;
}

/** Beside storing 0 in a text that is no entry. */
export function setsNull(unit: Unit, target: Variable | MapAccess, written: string): Statement | undefined {
  if (entryOf(target) !== undefined) return undefined;
  unit.maybeNull.add(written);
  return nodes.assign(nullFlag(target), unit.cast("int64", nodes.integer(1, target.span)), target.span);
}

function ifElse(condition: Expression, then: Statement, otherwise: Statement, span: Span): Statement {
  return { kind: "if", condition, then: nodes.block([then], span), otherwise: nodes.block([otherwise], span), span };
}
