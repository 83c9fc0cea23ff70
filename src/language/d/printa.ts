// printa() and trunc(): what goes through an aggregation's entries.
import { dAggregations } from "../../messages/d-aggregations.ts";
import { dFormats } from "../../messages/d-formats.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Block, Expression, MapAccess, MapLayout, Statement, Variable } from "../program.ts";
import { given, isOther, wasGiven } from "./aggregations.ts";
import { assignment, skipKeys } from "./expressions.ts";
import { checkCount, checkPrototype, typeOf } from "./prototypes.ts";
import {
  checkConversion,
  checkKeyConversion,
  converted,
  pieces,
  plain,
  together,
  type Item,
  type Piece,
  type Text,
} from "./formats.ts";
import { inOrder } from "./setopt.ts";
import { constantValue } from "./type-names.ts";
import { spelledType } from "./types.ts";
import type { Unit } from "./unit.ts";

/** `printa(["format",] @a, …)`, `trunc(@a [, n])` */
export function printed(unit: Unit): readonly Item[] {
  const p = unit.cursor;
  const first = p.advance();
  p.expect("(");
  unit.format = true;
  const format = p.token.kind === "string" ? assignment(unit) : undefined;
  unit.format = false;
  if (format === undefined && p.at(")")) checkCount(unit, first.text, 0, 1, first.text === "trunc" ? 2 : 255, first);
  if (format !== undefined && p.at(")")) p.fail(dAggregations.printaArguments(), first);
  if (format !== undefined) p.expect(",");
  const names: string[] = [];
  while (p.token.kind === "aggregation") {
    const { token } = p;
    if (!unit.aggregations.has(token.text)) p.fail(dAggregations.unknownAggregation(token.text), token);
    p.advance();
    skipKeys(unit);
    names.push(token.text);
    if (!p.accept(",")) break;
  }
  if (names.length === 0) {
    const { token } = p;
    const type = typeOf(assignment(unit), unit) ?? "expression";
    p.fail(dAggregations.aggregationArgument(first.text, format === undefined ? 1 : 2, type), token);
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
    const isEmptied = unit.aggregations.get(name)!.keys === 0;
    const emptied = isEmptied ? [given(unit, name, 0, span)] : [];
    if (count === undefined) return [{ does: [nodes.statement(nodes.call("clear", [whole()], span)), ...emptied] }];
    return [{ does: truncated(unit, name, count, span) }];
  }
  matchKeys(unit, names, span);
  for (const one of names) unit.aggregations.get(one)!.printed = true;
  if (format === undefined || format.kind !== "string")
    return [{ text: { format: "\n", args: [] } }, { prints: printWhole(unit, names, span), waits: true }];
  const { value: text } = format;
  return [{ prints: inOrder(unit, span, (layout) => formatted(unit, names, text, layout, span)), waits: true }];
}

/** What is printed side by side has the same keys. */
function matchKeys(unit: Unit, [first, ...others]: readonly string[], span: Span): void {
  const { types } = unit.aggregations.get(first)!;
  for (const other of others) {
    const { types: own } = unit.aggregations.get(other)!;
    if (own.length !== types.length)
      unit.cursor.fail(dAggregations.printaKeyCounts(first, types.length, other, own.length), span);
    own.forEach((type, i) => {
      if (isOther(type, types[i]))
        unit.cursor.fail(
          dAggregations.printaKeys(first, spelledType(types[i]!), other, spelledType(type!), i + 1),
          span,
        );
    });
  }
}

/** The entries, those with the least values first, each by a format. */
function formatted(unit: Unit, names: readonly string[], format: string, layout: MapLayout, span: Span): Statement {
  const [name] = names;
  const { keys: count } = unit.aggregations.get(name)!;
  const keys = Array.from({ length: count }, () => nodes.variable(unit.name("key"), span));
  const entry = nodes.block(entryStatements(unit, names, format, keys, span), span);
  if (count === 0) return ifGiven(unit, names, entry, span);
  return {
    kind: "for-map",
    variable: nodes.variable(unit.name("entry"), span),
    map: nodes.map(name.slice(1), [], span),
    keys,
    keysOnly: true,
    order: { by: "rows", layout, descending: false },
    beside: names.slice(1).map((one) => nodes.map(one.slice(1), [], span)),
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
      if (piece.letter === "s" || piece.letter === "S")
        unit.cursor.fail(dFormats.aggregationText(piece.number, piece.text.replace("@", "")), span);
      const name = names[Math.min(value++, names.length - 1)];
      const of = nodes.map(name.slice(1), keys, span);
      if (unit.aggregations.get(name)!.aggregate.endsWith("quantize")) {
        flush();
        statements.push(nodes.statement(rowsCall(unit, [of], plainLayout, span)));
      } else if (unit.normalized.has(name) && unit.aggregations.get(name)!.aggregate === "stddev") {
        // What is divided is below the root.
        flush();
        const { format: conversion } = converted(piece, unit.cast("int64", of), unit);
        statements.push(nodes.statement(rowsCall(unit, [of], { ...plainLayout, conversion }, span)));
      } else made.push(valueText(unit, piece, of));
      continue;
    }
    const of = keys.at(key++);
    if (of === undefined) return unit.cursor.fail(dFormats.prototypeConversion("printa", key, piece.text), span);
    const { types, kinds } = unit.aggregations.get(names[0])!;
    const [type, kind] = [types[key - 1], kinds[key - 1]];
    checkKeyConversion(piece, kind, key + 1, span, unit);
    checkConversion("printa", piece, type, key + 1, span, unit, piece.number);
    // A symbol is as its name says, by whichever letter.
    const isSymbol = kind !== undefined && kind !== "dt_stack_t" && "aA".includes(piece.letter);
    const shown = isSymbol ? { ...piece, letter: "s" } : piece;
    made.push(converted(shown, unit.typed({ ...of }, type), unit));
  }
  flush();
  return statements;
}

function valueText(unit: Unit, piece: Piece, of: MapAccess): Text {
  const name = `@${of.name}`;
  if (!unit.normalized.has(name)) return converted(piece, unit.cast("int64", of), unit);
  const type = unit.aggregations.get(name)?.aggregate === "avg" ? "uint64" : "int64";
  return converted(
    piece,
    unit.cast("int64", nodes.binary("/", unit.cast(type, of), unit.cast(type, divisor(name, of.span)), of.span)),
    unit,
  );
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

/** All of aggregations, as they are laid out without a format. */
export function printWhole(unit: Unit, names: readonly string[], span: Span): Statement {
  const prints = inOrder(unit, span, (layout) =>
    nodes.statement(
      rowsCall(
        unit,
        names.map((name) => nodes.map(name.slice(1), [], span)),
        layout,
        span,
      ),
    ),
  );
  return ifGiven(unit, names, nodes.block([prints], span), span);
}

/** Of aggregations without keys, once one of them was given something. */
function ifGiven(unit: Unit, names: readonly string[], prints: Block, span: Span): Statement {
  if (names.some((name) => unit.aggregations.get(name)!.keys > 0)) return prints;
  const condition = names
    .map((name): Expression => nodes.binary("!=", wasGiven(name, span), nodes.integer(0, span), span))
    .reduce((before, one) => nodes.binary("||", before, one, span));
  return { kind: "if", condition, then: prints, span };
}

function rowsCall(unit: Unit, maps: readonly MapAccess[], layout: MapLayout, span: Span): Expression {
  const columns = maps.flatMap((map): Expression[] => {
    const name = `@${map.name}`;
    return [map, unit.normalized.has(name) ? divisor(name, span) : nodes.integer(1, span)];
  });
  return nodes.call("print_rows", [nodes.text(JSON.stringify(layout), span), ...columns], span);
}

const plainLayout: MapLayout = { byKey: false, key: 0, map: 0, descending: false };

/** Only the `count` entries with the largest values stay; with a negative number those with the least. */
function truncated(unit: Unit, name: string, count: Expression, span: Span): Statement[] {
  const clears = nodes.block(
    [nodes.statement(nodes.call("clear", [nodes.map(name.slice(1), [], span)], span)), given(unit, name, 0, span)],
    span,
  );
  const isValue = unit.aggregations.get(name)!.keys === 0;
  const written = constantValue(count, unit);
  if (written !== undefined) {
    if (isValue) return written === 0n ? [clears] : [];
    const kept = nodes.integer(written < 0n ? -written : written, span);
    return removed(unit, name, kept, written < 0n, span);
  }
  const wanted = nodes.variable(unit.name("count"), span);
  const is = (operator: "<" | "==", of: Statement[], otherwise: Statement[] = []): Statement => ({
    kind: "if",
    condition: nodes.binary(operator, wanted, nodes.integer(0, span), span),
    then: nodes.block(of, span),
    ...(otherwise.length === 0 ? {} : { otherwise: nodes.block(otherwise, span) }),
    span,
  });
  const known = declared(wanted, unit.cast("int64", count), span);
  if (isValue) return [known, is("==", [clears])];
  const negated = nodes.binary("-", nodes.integer(0, span), wanted, span);
  return [known, is("<", removed(unit, name, negated, true, span), removed(unit, name, wanted, false, span))];
}

function declared(variable: Variable, value: Expression, span: Span): Statement {
  return nodes.declare(variable.name, value, { name: "int64", pointers: 0, dimensions: [], span });
}

/** All entries but so many: those with the least values go, or those with the largest. */
function removed(unit: Unit, name: string, kept: Expression, descending: boolean, span: Span): Statement[] {
  const keys = Array.from({ length: unit.aggregations.get(name)!.keys }, () => nodes.variable(unit.name("key"), span));
  const [only] = keys;
  const key: Expression = keys.length === 1 ? only : { kind: "tuple", elements: keys, span, type: { kind: "unknown" } };
  const left = nodes.variable(unit.name("left"), span);
  const one = [
    nodes.statement(nodes.call("delete", [nodes.map(name.slice(1), [], span), key], span)),
    nodes.assign(left, nodes.integer(1, span), span, "-"),
  ];
  const length = nodes.call("len", [nodes.map(name.slice(1), [], span)], span);
  return [
    declared(left, nodes.binary("-", unit.cast("int64", length), unit.cast("int64", kept), span), span),
    {
      kind: "for-map",
      variable: nodes.variable(unit.name("entry"), span),
      map: nodes.map(name.slice(1), [], span),
      keys,
      keysOnly: true,
      order: { by: "rows", layout: { ...plainLayout, descending }, descending: false },
      body: nodes.block(
        [
          {
            kind: "if",
            condition: nodes.binary(">", left, nodes.integer(0, span), span),
            then: nodes.block(one, span),
            span,
          },
        ],
        span,
      ),
      span,
    },
  ];
}
