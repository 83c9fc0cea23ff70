// Aggregations assigned to a map: `@ = hist(n, 2)`. What each takes is in its row (language/aggregations/).
import { maps } from "../../messages/maps.ts";
import { says } from "../../messages/message.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Aggregation } from "../aggregations/aggregation.ts";
import { aggregations } from "../aggregations/table.ts";
import { arityOf, usageOf } from "../builtins/aggregations.ts";
import type { Expression, Statement } from "../program.ts";
import { isFloat, type AggregateType, type Type } from "../types.ts";
import { constantOf } from "./constants.ts";
import { isIntegral, literalType, settled } from "./integers.ts";
import { checkMapEntry } from "./map-access.ts";
import { integerLiteral, report, type Body, type MapState } from "./pass.ts";
import { castHelp, mapName } from "./spelling.ts";
import { describe, mismatch, sameAggregate, wrongCount } from "./unify.ts";
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
    report(body, node.span, says("arguments", wrongCount(name, given, least, most), usage));
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
  const refusal = aggregation.refuse?.(constants, node.target.keys.length > 0);
  if (refusal === undefined) mergeAggregate(map, aggregateType(aggregation, value?.type, constants), node, body);
  else {
    const { span } = (refusal.parameter === undefined ? undefined : node.parameters[refusal.parameter]) ?? node;
    report(body, span, says(refusal.code, refusal.message, refusal.help));
  }
  const parameters = constants.flatMap((constant, i): Expression[] => {
    const written = node.parameters.at(i);
    if (typeof constant === "string") return written === undefined ? [] : [written];
    return [integerLiteral(constant, literalType(constant), written?.span ?? node.span)];
  });
  return { ...node, target: { ...access, type: map.value }, ...(value === undefined ? {} : { value }), parameters };
}

/** The call's constants, with those that are left out; undefined, and reported, where one is none. */
function constantParameters(
  { name, parameters = [] }: Aggregation,
  node: Extract<Statement, { kind: "aggregate" }>,
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
  } else if (before.kind !== "aggregate") {
    report(body, node.span, says("type", mismatch("map", mapName(body, map.name), settled(before), type)));
  } else if (before.aggregate !== type.aggregate) {
    report(body, node.span, says("type", mismatch("map", mapName(body, map.name), before, type)));
  } else if (!sameAggregate(before, type)) {
    report(body, node.span, maps.holdsOtherParametersElsewhere(mapName(body, map.name), type.aggregate));
  } else if ((type.float && !before.float) || (type.signed && !before.signed)) {
    map.value = type;
    body.pass.changed = true;
  }
}
