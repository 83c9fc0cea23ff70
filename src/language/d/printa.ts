// printa() and trunc(): what goes through an aggregation's entries.
import { d } from "../../messages/d.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression, MapAccess, Statement, Variable } from "../program.ts";
import { assignment, checkCount, checkPrototype } from "./expressions.ts";
import { converted, pieces, plain, together, type Item, type Piece, type Text } from "./formats.ts";
import { spelledType } from "./types.ts";
import type { Unit } from "./unit.ts";

/** `printa(["format",] @a, …)`, `trunc(@a [, n])` */
export function printed(unit: Unit): readonly Item[] {
  const p = unit.cursor;
  const first = p.advance();
  p.expect("(");
  const format = p.token.kind === "string" ? assignment(unit) : undefined;
  if (format === undefined && p.at(")")) checkCount(unit, first.text, 0, 1, first.text === "trunc" ? 2 : 255, first);
  if (format !== undefined && p.at(")")) p.fail(d.printaArguments(), first);
  if (format !== undefined) p.expect(",");
  const names: string[] = [];
  while (p.token.kind === "aggregation") {
    const { token } = p;
    if (!unit.aggregations.has(token.text)) p.fail(d.unknownAggregation(token.text), token);
    p.advance();
    names.push(token.text);
    if (!p.accept(",")) break;
  }
  if (names.length === 0) {
    const { token } = p;
    const known = unit.known(assignment(unit));
    const type = known === undefined ? "expression" : spelledType(known);
    p.fail(d.aggregationArgument(first.text, format === undefined ? 1 : 2, type), token);
  }
  const count = p.at(")") ? undefined : assignment(unit);
  let more = 1 + names.length;
  for (; p.accept(","); more++) assignment(unit);
  if (first.text === "trunc") {
    checkCount(unit, "trunc", more, 1, 2, first);
    checkPrototype(unit, "trunc", count === undefined ? [] : [count, count], ["", "int64_t"]);
  }
  p.expect(")");
  const span = p.from(first);
  const [name] = names;
  const whole = (): Expression => nodes.map(name.slice(1), [], span);
  if (first.text === "trunc") {
    if (count === undefined) return [{ does: [nodes.statement(nodes.call("clear", [whole()], span))] }];
    return [{ does: truncated(unit, name, count, span) }];
  }
  for (const one of names) unit.aggregations.get(one)!.printed = true;
  if (format === undefined || format.kind !== "string")
    return names.flatMap((one) => [{ text: { format: "\n", args: [] } }, { prints: printWhole(unit, one, span) }]);
  return [{ prints: formatted(unit, names, format.value, span) }];
}

/** The entries, those with the least values first, each by a format. */
function formatted(unit: Unit, names: readonly string[], format: string, span: Span): Statement {
  const [name] = names;
  const { keys: count } = unit.aggregations.get(name)!;
  const keys = Array.from({ length: count }, () => nodes.variable(unit.name("key"), span));
  const entry = nodes.block(entryStatements(unit, names, format, keys, span), span);
  if (count === 0) return entry;
  return {
    kind: "for-map",
    variable: nodes.variable(unit.name("entry"), span),
    map: nodes.map(name.slice(1), [], span),
    keys,
    keysOnly: true,
    order: { by: "value", descending: false },
    body: entry,
    span,
  };
}

/** Keys in their order for conversions without `@`; aggregations in theirs for those with it. */
function entryStatements(
  unit: Unit,
  names: readonly string[],
  format: string,
  keys: readonly Variable[],
  span: Span,
): Statement[] {
  let [key, value] = [0, 0];
  const statements: Statement[] = [];
  let made: Text[] = [];
  const flush = (): void => {
    const { format: text, args } = together(made);
    if (text !== "") statements.push(nodes.statement(nodes.call("printf", [nodes.text(text, span), ...args], span)));
    made = [];
  };
  for (const piece of pieces(format)) {
    if (typeof piece === "string") {
      made.push({ format: plain(piece), args: [] });
      continue;
    }
    if (piece.aggregation) {
      const name = names[Math.min(value++, names.length - 1)];
      const of = nodes.map(name.slice(1), keys, span);
      if (unit.aggregations.get(name)!.aggregate.endsWith("quantize")) {
        flush();
        statements.push(nodes.statement(nodes.call("print", [of], span)));
      } else made.push(valueText(unit, piece, of));
      continue;
    }
    const of = keys[key++];
    if (of === undefined)
      unit.cursor.fail(
        d.badFormat(
          `printa( ) prototype mismatch: conversion #${key} (${piece.text}) is missing a corresponding aggregation key`,
        ),
        span,
      );
    made.push(converted(piece, of, unit));
  }
  flush();
  return statements;
}

function valueText(unit: Unit, piece: Piece, of: MapAccess): Text {
  const name = `@${of.name}`;
  if (!unit.normalized.has(name)) return converted(piece, unit.cast("int64", of), unit);
  return converted(piece, nodes.binary("/", unit.cast("int64", of), divisor(name, of.span), of.span), unit);
}

/** What an aggregation is divided by. */
export function normalOf(name: string, span: Span): MapAccess {
  return nodes.map(`normal ${name}#0`, [], span);
}

/** 1 where nothing was said yet. */
function divisor(name: string, span: Span): Expression {
  const normal = normalOf(name, span);
  const one = nodes.integer(1, span);
  return nodes.conditional(nodes.binary("==", normal, nodes.integer(0, span), span), one, normal, span);
}

/** All of an aggregation, as it is laid out without a format. */
export function printWhole(unit: Unit, name: string, span: Span): Statement {
  const map = nodes.map(name.slice(1), [], span);
  return nodes.statement(
    unit.normalized.has(name)
      ? nodes.call("print_divided", [map, divisor(name, span)], span)
      : nodes.call("print", [map], span),
  );
}

/** Only the `count` entries with the largest values stay; with a negative number those with the least. */
function truncated(unit: Unit, name: string, count: Expression, span: Span): Statement[] {
  const { keys: number } = unit.aggregations.get(name)!;
  const keys = Array.from({ length: number }, () => nodes.variable(unit.name("key"), span));
  const [only] = keys;
  const key: Expression = keys.length === 1 ? only : { kind: "tuple", elements: keys, span, type: { kind: "unknown" } };
  const literal = count.kind === "integer" ? count.value : undefined;
  const negative =
    count.kind === "unary" && count.operator === "-" && count.operand.kind === "integer" ? count.operand : undefined;
  if (literal === undefined && negative === undefined)
    unit.cursor.fail(d.notYet("trunc() to a number that is not written out"), count.span);
  if (number === 0)
    return literal === 0n ? [nodes.statement(nodes.call("clear", [nodes.map(name.slice(1), [], span)], span))] : [];
  const kept = negative ?? count;
  const left = nodes.variable(unit.name("left"), span);
  const length = nodes.call("len", [nodes.map(name.slice(1), [], span)], span);
  return [
    nodes.declare(left.name, nodes.binary("-", unit.cast("int64", length), unit.cast("int64", kept), span), {
      name: "int64",
      pointers: 0,
      dimensions: [],
      span,
    }),
    {
      kind: "for-map",
      variable: nodes.variable(unit.name("entry"), span),
      map: nodes.map(name.slice(1), [], span),
      keys,
      keysOnly: true,
      order: { by: "value", descending: negative !== undefined },
      body: nodes.block(
        [
          {
            kind: "if",
            condition: nodes.binary(">", left, nodes.integer(0, span), span),
            then: nodes.block(
              [
                nodes.statement(nodes.call("delete", [nodes.map(name.slice(1), [], span), key], span)),
                nodes.assign(left, nodes.integer(1, span), span, "-"),
              ],
              span,
            ),
            span,
          },
        ],
        span,
      ),
      span,
    },
  ];
}
