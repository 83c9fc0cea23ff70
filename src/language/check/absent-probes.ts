// Probes that found no site: nothing of theirs runs, but what they would store tells a misspelt map from an empty one.
import type { Expression, MapAccess, Probe, Statement } from "../program.ts";
import { i64 } from "../types.ts";
import { flatKeys } from "./map-access.ts";
import type { Pass } from "./pass.ts";
import { mapState } from "./pass.ts";

/** Makes the maps that such probes alone store into known, as maps of numbers that stay empty. */
export function rememberMaps(probes: readonly Probe[], pass: Pass): void {
  for (const access of probes.flatMap((probe) => probe.body.statements.flatMap(targets))) {
    const map = mapState({ pass }, access.name, access.span);
    if (map.value.kind !== "unknown" || map.assigned) continue;
    map.assigned = true;
    map.value = i64;
    map.keys ??= flatKeys(access.keys).map(() => i64);
    pass.changed = true;
  }
}

function targets(statement: Statement): MapAccess[] {
  switch (statement.kind) {
    case "block":
      return statement.statements.flatMap(targets);
    case "assign":
      return statement.target.kind === "map" ? [statement.target] : [];
    case "aggregate":
      return [statement.target];
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

function incremented(expression: Expression): MapAccess[] {
  return (expression.kind === "increment" || expression.kind === "assignment") && expression.target.kind === "map"
    ? [expression.target]
    : [];
}
