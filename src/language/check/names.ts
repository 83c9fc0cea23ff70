// Names in expressions: constants, variables, entries of maps.
import { maps } from "../../messages/maps.ts";
import { expressions } from "../../messages/expressions.ts";
import { builtinsFor } from "../builtins/table.ts";
import { otherToolsWord } from "../other-tools.ts";
import { nearest } from "../nearest.ts";
import type { Expression, MapAccess, Variable } from "../program.ts";
import type { Type } from "../types.ts";
import { literalType, settled } from "./integers.ts";
import { aggregateValue, checkMapEntry, isUndefined, nearMaps, threadEntry } from "./map-access.ts";
import { declareVariable, didYouMean, findVariable, livesInHandler, report, variableType } from "./pass.ts";
import type { Body, MapState } from "./pass.ts";
import { mapName, variableName } from "./spelling.ts";

export function checkIdentifier(node: Extract<Expression, { kind: "identifier" }>, body: Body): Expression {
  const own =
    node.ofProgram === true && body.context !== undefined && body.context !== "host"
      ? body.context.enumerator?.(node.name)
      : undefined;
  const found = own === undefined ? body.pass.names.constant(node.name) : { value: own };
  if (found !== undefined) return { ...node, constant: found.value, type: found.type ?? literalType(found.value) };
  const near = nearest(node.name, [
    ...body.pass.names.constantNames(),
    ...builtinsFor(body.pass.program.rules).names(),
  ]);
  const header = near.length === 0 && /^[ \t]*#[ \t]*include\b/m.test(body.pass.program.source.text);
  const help = header
    ? `the system's headers are not read: say \`#define ${node.name} …\``
    : (otherToolsWord(node.name, body.pass.program.rules) ?? didYouMean(near));
  return { ...node, type: report(body, node.span, expressions.unknownIdentifier(node.name, help)) };
}

/** Where variables live in the whole handler, one may be read above its first assignment. */
function declaredByUse(node: Variable, body: Body): number | undefined {
  if (!livesInHandler(body.pass)) return undefined;
  return declareVariable(body, node, undefined, body.scopes[0]);
}

function isNeverAssigned(slot: number, body: Body): boolean {
  const { state } = body.slots[slot];
  return body.pass.final && livesInHandler(body.pass) && !state.assigned && state.declared === undefined;
}

export function checkVariable(node: Variable, body: Body): Expression {
  const entry = threadEntry(node);
  if (entry !== undefined) return checkMapRead(entry, body);
  const slot = findVariable(body, node.name) ?? declaredByUse(node, body);
  if (slot === undefined || isNeverAssigned(slot, body)) {
    const near = nearest(
      node.name,
      body.scopes.flatMap((scope) => [...scope.keys()]),
    ).map((name) => variableName(body, name));
    return {
      ...node,
      type: report(
        body,
        node.span,
        expressions.undefinedOrUndeclaredVariable(variableName(body, node.name), didYouMean(near)),
      ),
    };
  }
  return { ...node, slot, type: variableType(body, slot) };
}

export function checkMapRead(node: MapAccess, body: Body): Expression {
  const { access, map } = checkMapEntry(node, body, "look-up");
  return { ...access, type: readType(map, node, body) };
}

function readType(map: MapState, node: MapAccess, body: Body): Type {
  if (isUndefined(map))
    return report(body, node.span, maps.undefinedMap(mapName(body, map.name), nearMaps(map.name, body)));
  if (map.value.kind !== "aggregate") return settled(map.value);
  return (
    aggregateValue(map.value, node, body) ??
    report(body, node.span, expressions.holdsWhichNoSingleValue(mapName(body, map.name), map.value.aggregate))
  );
}
