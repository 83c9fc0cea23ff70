// Probes that found no site: nothing of theirs runs, but what they would store tells a misspelt map from an empty one.
import type { Expression, MapAccess, Probe, Statement } from "../program.ts";
import { i64, type Type } from "../types.ts";
import { flatKeys } from "./map-access.ts";
import type { Pass } from "./pass.ts";
import { mapState } from "./pass.ts";

/** Makes the maps that such probes alone store into known, as maps of numbers that stay empty. */
export function rememberMaps(probes: readonly Probe[], pass: Pass): void {
  for (const { access, holds } of probes.flatMap((probe) => probe.body.statements.flatMap(targets))) {
    const map = mapState({ pass }, access.name, access.span);
    if (map.value.kind !== "unknown" || map.assigned) continue;
    map.assigned = true;
    map.value = holds;
    map.keys ??= flatKeys(access.keys).map(() => i64);
    pass.changed = true;
  }
}

interface Target {
  readonly access: MapAccess;
  readonly holds: Type;
}

function targets(statement: Statement): Target[] {
  switch (statement.kind) {
    case "block":
      return statement.statements.flatMap(targets);
    case "assign":
      return statement.target.kind === "map" ? [number(statement.target)] : [];
    case "aggregate":
      return [{ access: statement.target, holds: statement.aggregate === "statistic" ? emptyStatistic : i64 }];
    case "expression":
      return incremented(statement.expression);
    case "if":
      return [...targets(statement.then), ...(statement.otherwise === undefined ? [] : targets(statement.otherwise))];
    case "for":
      return [...statement.before, statement.body, ...statement.step].flatMap(targets);
    case "switch":
      return statement.cases.flatMap(({ body }) => targets(body));
    case "try":
      return [...targets(statement.body), ...targets(statement.handler)];
    case "clause":
    case "while":
    case "do-while":
    case "unroll":
    case "for-range":
    case "for-map":
    case "for-value":
      return targets(statement.body);
    case "declare":
    case "break":
    case "continue":
    case "return":
    case "next":
    case "throw":
      return [];
  }
}

function number(access: MapAccess): Target {
  return { access, holds: i64 };
}

/** It is asked for results that other aggregations do not have. */
const emptyStatistic: Type = { kind: "aggregate", aggregate: "statistic", signed: true };

function incremented(expression: Expression): Target[] {
  return (expression.kind === "increment" || expression.kind === "assignment") && expression.target.kind === "map"
    ? [number(expression.target)]
    : [];
}
