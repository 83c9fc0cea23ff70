// Aggregations assigned to a map: `@ = hist(n, 2)`. What each takes is in its row (language/aggregations/).
import { calls } from "../../messages/calls.ts";
import { types as typeMessages } from "../../messages/types.ts";
import { maps } from "../../messages/maps.ts";
import type { Message } from "../../messages/message.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Aggregation } from "../aggregations/aggregation.ts";
import { aggregations, askedAt, readResult, resultAlone } from "../aggregations/table.ts";
import { arityOf, usageOf } from "../builtins/aggregations.ts";
import { shownResults } from "../aggregations/statistic.ts";
import type { Span } from "../diagnostic.ts";
import type { Expression, MapAccess, MapOrder, Statement, StatisticResult } from "../program.ts";
import { i64, isFloat, unknownType, type AggregateType, type AskedResult, type Type } from "../types.ts";
import { constantOf } from "./constants.ts";
import { isIntegral, literalType, settled } from "./integers.ts";
import { aggregateValue, checkMapEntry, isUndefined, nearMaps } from "./map-access.ts";
import { integerLiteral, report, type Body, type MapState } from "./pass.ts";
import { castHelp, mapName } from "./spelling.ts";
import { describe, sameAggregate } from "./unify.ts";
import { checkValue } from "./values.ts";

export function checkAggregate(node: Extract<Statement, { kind: "aggregate" }>, body: Body): Statement {
  const aggregation = aggregations.get(node.aggregate);
  if (aggregation === undefined) throw new InternalError(`there is no aggregation "${node.aggregate}"`);
  const { name, takes } = aggregation;
  const { access, map } = checkMapEntry(node.target, body, "store");
  const value = node.value === undefined ? undefined : checkValue(node.value, body);
  const [least, most] = arityOf(aggregation);
  const given = node.parameters.length + (value === undefined ? 0 : 1);
  if ((value === undefined) !== (takes === "nothing") || given < least || given > most) {
    const usage = `usage: ${usageOf(aggregation)}`;
    report(body, node.span, calls.wrongCount(name, given, least, most, usage));
    return { ...node, target: access };
  }
  const float = value !== undefined && isFloat(value.type);
  if (
    value !== undefined &&
    value.type.kind !== "unknown" &&
    !isIntegral(value.type) &&
    value.type.kind !== "boolean" &&
    !(float && takes === "numbers")
  ) {
    report(
      body,
      value.span,
      maps.onlySupportsIntegerArgumentsProvided(
        name,
        describe(value.type),
        float ? castHelp(body, "cast it, which cuts its fraction off: ", "int64") : undefined,
      ),
    );
    if (float) return { ...node, target: access };
  }
  const constants = constantParameters(aggregation, node, body);
  if (constants === undefined) return { ...node, target: access };
  if (isAllowed(aggregation, constants, node, node.target, body))
    mergeAggregate(map, aggregateType(aggregation, value?.type, constants), node, body);
  const parameters = constants.flatMap((constant, i): Expression[] => {
    const written = node.parameters.at(i);
    if (typeof constant === "string") return written === undefined ? [] : [written];
    return [integerLiteral(constant, literalType(constant), written?.span ?? node.span)];
  });
  const weight = node.weight === undefined ? undefined : checkValue(node.weight, body);
  return {
    ...node,
    target: { ...access, type: map.value },
    ...(value === undefined ? {} : { value }),
    parameters,
    ...(weight === undefined ? {} : { weight }),
  };
}

/** Whether the aggregation can have these parameters; reported where not. */
function isAllowed(
  aggregation: Aggregation,
  constants: readonly (bigint | string)[],
  node: { readonly parameters: readonly Expression[]; readonly span: Span },
  { keys }: MapAccess,
  body: Body,
): boolean {
  const refusal = aggregation.refuse?.(constants, keys.length > 0);
  if (refusal === undefined) return true;
  const { span } = (refusal.parameter === undefined ? undefined : node.parameters[refusal.parameter]) ?? node;
  report(body, span, refusal);
  return false;
}

/**
 * What comes of a statistic: one number, a double of the host's alone; or what is drawn, where `drawn` is wanted. Whether
 * there were values is not looked at here (compiler/lower/faults.ts).
 */
export function checkResult(node: StatisticResult, body: Body, drawn = false): Expression {
  const { access, map } = checkMapEntry(node.of, body, "look-up");
  const aggregation = aggregations.get(node.aggregate);
  if (aggregation === undefined) throw new InternalError(`there is no aggregation "${node.aggregate}"`);
  const constants = constantParameters(aggregation, node, body);
  const failed = (said?: Message): Expression => {
    if (said !== undefined) report(body, node.span, said);
    return { ...node, of: access, type: unknownType };
  };
  if (isUndefined(map)) return failed(maps.undefinedMap(mapName(body, map.name), nearMaps(map.name, body)));
  if (constants === undefined || !isAllowed(aggregation, constants, node, node.of, body)) return failed();
  const asked = askFor(
    map,
    { aggregate: node.aggregate, ...(constants.length === 0 ? {} : { parameters: constants }) },
    body,
  );
  if (map.value.kind === "unknown") return failed();
  if (map.value.kind !== "aggregate" || map.value.aggregate !== "statistic")
    return failed(maps.keepsNoStatistic(mapName(body, map.name), describe(map.value)));
  if (node.bucket !== undefined) {
    const bucket = checkValue(node.bucket, body);
    body.hostNeeds.push({ what: `a bucket of ${mapName(body, map.name)}`, span: node.span });
    return { ...node, of: { ...access, type: map.value }, bucket, asked, type: i64 };
  }
  const own = resultAlone(map.value, asked).type;
  // What the host alone computes is gathered when it is printed.
  const result = readResult(own);
  const type = drawn && (result === undefined || "double" in result) ? own : aggregateValue(own, node.of, body);
  if (type === undefined) return failed(maps.resultIsDrawn(aggregation.name));
  return { ...node, of: { ...access, type: map.value }, asked, type };
}

/** A result that a statistic then has, and which of them it is. */
export function askFor(map: MapState, result: AskedResult, body: Body): number {
  const { asked = [] } = map;
  const all: AggregateType = { kind: "aggregate", aggregate: "statistic", signed: true, asked };
  const at = askedAt(all, result);
  if (at !== undefined) return at;
  setAsked(map, [...asked, result]);
  body.pass.changed = true;
  return asked.length;
}

function setAsked(map: MapState, asked: readonly AskedResult[]): void {
  map.asked = asked;
  if (map.value.kind === "aggregate" && map.value.aggregate === "statistic") map.value = { ...map.value, asked };
}

/** All of it is shown. */
export function askForAll(map: MapState, body: Body): void {
  if (map.value.kind !== "aggregate" || map.value.aggregate !== "statistic") return;
  for (const result of shownResults) askFor(map, result, body);
}

/** An order by a value: a statistic's is that of one of its results, of how many values it has unless it says. */
export function checkOrder(order: MapOrder, map: MapState, span: Span, body: Body): MapOrder {
  const { value } = map;
  if (value.kind === "aggregate" && value.aggregate === "statistic") {
    const { result = "count" } = order;
    askFor(map, { aggregate: result }, body);
    return { ...order, result };
  }
  if (order.result !== undefined && value.kind !== "unknown")
    report(body, span, maps.keepsNoStatistic(mapName(body, map.name), describe(value)));
  return order;
}

/** The call's constants, with those that are left out; undefined, and reported, where one is none. */
function constantParameters(
  { name, parameters = [] }: Aggregation,
  node: { readonly parameters: readonly Expression[]; readonly span: Span },
  body: Body,
): readonly (bigint | string)[] | undefined {
  const constants: (bigint | string)[] = [];
  for (const [i, parameter] of parameters.entries()) {
    const written = node.parameters.at(i);
    if (written === undefined) {
      if (parameter.default !== undefined) constants.push(parameter.default);
    } else if ("choices" in parameter)
      constants.push(written.kind === "string" && parameter.choices.includes(written.value) ? written.value : "");
    else {
      const checked = checkValue(written, body);
      const constant = constantOf(checked);
      if (constant === undefined) {
        if (checked.type.kind !== "unknown") report(body, written.span, maps.needsConstantsHere(name));
        return undefined;
      }
      constants.push(constant);
    }
  }
  return constants;
}

function aggregateType(
  { name, takes, parameters, signed }: Aggregation,
  value: Type | undefined,
  constants: readonly (bigint | string)[],
): AggregateType {
  const float = value !== undefined && isFloat(value) && takes === "numbers";
  return {
    kind: "aggregate",
    aggregate: name,
    signed: signed === true || float || (value !== undefined && isIntegral(value) && value.signed),
    ...(float ? { float } : {}),
    ...(parameters === undefined ? {} : { parameters: constants }),
  };
}

function mergeAggregate(map: MapState, type: AggregateType, node: Statement, body: Body): void {
  const before = map.value;
  map.assigned = true;
  if (before.kind === "unknown") {
    map.value = type;
    body.pass.changed = true;
    if (map.asked !== undefined) setAsked(map, map.asked);
    const { printsMapsAtEnd, maps: rules } = body.pass.program.rules;
    if (printsMapsAtEnd || rules.outsideStores) askForAll(map, body);
  } else if (before.kind !== "aggregate") {
    report(
      body,
      node.span,
      typeMessages.mismatch("map", mapName(body, map.name), describe(settled(before)), describe(type)),
    );
  } else if (before.aggregate !== type.aggregate) {
    report(body, node.span, typeMessages.mismatch("map", mapName(body, map.name), describe(before), describe(type)));
  } else if (!sameAggregate(before, type)) {
    report(body, node.span, maps.holdsOtherParametersElsewhere(mapName(body, map.name), type.aggregate));
  } else if ((type.float && !before.float) || (type.signed && !before.signed)) {
    map.value = type;
    if (map.asked !== undefined) setAsked(map, map.asked);
    body.pass.changed = true;
  }
}
