// `@name[keys] = function(…)`.
import { dAggregations } from "../../messages/d-aggregations.ts";
import { dNames } from "../../messages/d-names.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression, MapAccess, Statement } from "../program.ts";
import type { AggregateKind } from "../types.ts";
import { argumentsOf, assignment, bracketed } from "./expressions.ts";
import { checkCount, structOf } from "./prototypes.ts";
import { checkQuantized } from "./quantized.ts";
import { keyKind } from "./symbols.ts";
import { isNumber, spelledType, type Known } from "./types.ts";
import type { Unit } from "./unit.ts";

interface Aggregating {
  readonly aggregate: AggregateKind;
  readonly least: number;
  readonly most: number;
  /** The tree's parameters of D's, behind the value. */
  readonly parameters?: (args: readonly Expression[], span: Span) => readonly Expression[];
  /** How many arguments there are with the last, how often the value counts. */
  readonly weighted?: number;
}

const one = (aggregate: AggregateKind): Aggregating => ({ aggregate, least: 1, most: 1 });

const aggregatingFunctions: Readonly<Record<string, Aggregating>> = {
  count: { aggregate: "count", least: 0, most: 0 },
  sum: one("sum"),
  avg: one("avg"),
  min: one("min"),
  max: one("max"),
  stddev: one("istddev"),
  quantize: { aggregate: "shist", least: 1, most: 2, parameters: () => [], weighted: 2 },
  lquantize: {
    aggregate: "lhist",
    least: 3,
    most: 5,
    weighted: 5,
    parameters: ([low, high, step], span) => [low, high, step ?? nodes.integer(1, span)],
  },
  llquantize: { aggregate: "sllhist", least: 5, most: 6, parameters: (args) => args, weighted: 6 },
};

export const aggregatingNames: ReadonlySet<string> = new Set(Object.keys(aggregatingFunctions));

export function aggregation(unit: Unit): Statement {
  const p = unit.cursor;
  const name = p.advance();
  const keys = p.at("[") ? bracketed(unit, "aggregation").map((key) => typedKey(unit, key)) : [];
  if (p.at("[")) p.fail(dAggregations.severalDimensions(name.text), name);
  const target = nodes.map(name.text.slice(1), keys, p.from(name));
  const { text: sign } = p.token;
  if (p.token.kind === "punctuation" && sign.length > 1 && sign.endsWith("=") && sign !== "==")
    p.fail(
      unit.aggregations.has(name.text) ? dAggregations.notAggregatingFunction(name.text) : dNames.unassigned(name.text),
      name,
    );
  if (p.at(";") || p.at("}"))
    p.fail(
      unit.aggregations.has(name.text) ? dAggregations.noEffect(name.text) : dNames.unknownVariable(name.text),
      name,
    );
  p.expect("=");
  const by = p.token;
  const found = Object.hasOwn(aggregatingFunctions, by.text) ? aggregatingFunctions[by.text] : undefined;
  if (found === undefined) {
    const isCall = by.kind === "identifier" && p.peek().text === "(";
    // Says so itself where it is no function.
    if (isCall && !unit.statements.actions.has(by.text)) assignment(unit);
    return p.fail(dAggregations.notAggregatingFunction(name.text), by);
  }
  p.advance();
  const earlier = unit.aggregations.get(name.text);
  const [value, ...rest] = argumentsOf(unit);
  const span = p.from(name);
  if (earlier !== undefined && earlier.aggregate !== by.text)
    p.fail(dAggregations.aggregationRedefined(name.text, earlier.aggregate, by.text, earlier.line), span);
  if (value !== undefined && (unit.aggregates.has(value) || structOf(value) !== undefined))
    p.fail(dAggregations.aggregatesNoText(by.text), value.span);
  checkCount(unit, by.text, rest.length + (value === undefined ? 0 : 1), found.least, found.most, span);
  const weight = rest.length + 1 === found.weighted ? rest.pop() : undefined;
  if (weight !== undefined && unit.known(weight) === "string")
    p.fail(dAggregations.incrementType(by.text, found.weighted!), weight.span);
  const before = unit.aggregations.get(name.text);
  if (before !== undefined && before.aggregate !== by.text)
    p.fail(dAggregations.aggregationRedefined(name.text, before.aggregate, by.text, before.line), span);
  if (before !== undefined && before.keys !== keys.length)
    p.fail(dNames.keyCount(name.text, keys.length, before.keys), span);
  const types = keys.map((key) => unit.known(key));
  before?.types.forEach((type, i) => {
    if (isOther(type, types[i]))
      p.fail(dNames.keyType(name.text, i + 1, spelledType(type!), spelledType(types[i]!)), span);
  });
  if (value !== undefined && unit.known(value) === "string")
    p.fail(dAggregations.aggregatesNoText(by.text), value.span);
  const line = p.source.text.slice(0, name.start).split("\n").length;
  const constants = checkQuantized(unit, by.text, rest, before?.constants ?? []);
  const kinds = keys.map(keyKind);
  const known = before ?? { keys: keys.length, types, kinds, aggregate: by.text, constants, line, printed: false };
  unit.aggregations.set(name.text, known);
  const gathers: Statement = {
    kind: "aggregate",
    target,
    aggregate: found.aggregate,
    // A number without a sign is one with it.
    ...(value === undefined
      ? {}
      : { value: isNumber(unit.known(value)) || isAddress(value) ? unit.cast("int64", unit.computed(value)) : value }),
    parameters: found.parameters?.(rest, span) ?? [],
    ...(weight === undefined ? {} : { weight: unit.cast("int64", weight) }),
    span,
  };
  // One without keys is there from the start: whether it was given anything is told apart.
  return keys.length > 0 ? gathers : nodes.block([given(unit, name.text, 1, span), gathers], span);
}

/** `(int *)16` */
function isAddress(e: Expression): boolean {
  return e.kind === "cast" && e.to.pointers > 0;
}

/** A variable of the script: whether an aggregation without keys was given something. */
export function wasGiven(name: string, span: Span): MapAccess {
  return nodes.map(`given ${name}#0`, [], span);
}

export function given(unit: Unit, name: string, value: 0 | 1, span: Span): Statement {
  return nodes.assign(wasGiven(name, span), unit.cast("int64", nodes.integer(value, span)), span);
}

/** A text, and what is known to be none. */
export function isOther(a: Known | undefined, b: Known | undefined): boolean {
  return a !== undefined && b !== undefined && (a === "string") !== (b === "string");
}

/** A number by its type in C, by which its column is as wide as it is. */
function typedKey(unit: Unit, key: Expression): Expression {
  const known = unit.known(key);
  return isNumber(known) ? unit.cast(known, key) : key;
}
