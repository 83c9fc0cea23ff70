// Calls about maps: delete, has_key, find, clear, zero, len.
import { types as typeMessages } from "../../messages/types.ts";
import { maps as mapsMessages } from "../../messages/maps.ts";
import type { Call, Expression, MapAccess, Variable } from "../program.ts";
import { boolType, i64, u64, unknownType, voidType } from "../types.ts";
import { aggregateValue, checkMapEntry, isUndefined, nearMaps, wholeMap } from "./map-access.ts";
import { settled } from "./integers.ts";
import type { Body, CallCheck } from "./pass.ts";
import { assignVariable, declareVariable, findVariable, mapState, report, variableType } from "./pass.ts";
import { lengthOf } from "./shapes.ts";
import { functionName, mapName, variableName } from "./spelling.ts";
import { describe, isKnown } from "./unify.ts";
import { checkPlace, checkValue } from "./values.ts";

/** `f(@m, key)` and the older `f(@m[key])` are one: a map access with its keys. */
function entryArgument(call: Call, key: Expression | undefined, body: Body): MapAccess | undefined {
  const [first] = call.args;
  if (first?.kind !== "map") {
    report(body, first?.span ?? call.span, mapsMessages.expectsMapArgument(functionName(body, call.name)));
    return undefined;
  }
  if (first.keys.length > 0 && key !== undefined) {
    report(body, call.span, mapsMessages.expectsMapWithoutKeysKey(functionName(body, call.name)));
    return undefined;
  }
  if (key !== undefined && mapState(body, first.name, first.span).keys?.length === 0) {
    report(
      body,
      call.span,
      mapsMessages.callExpectsMapExplicitKeys(functionName(body, call.name), mapName(body, first.name)),
    );
    return undefined;
  }
  const { access, map } = checkMapEntry(key === undefined ? first : { ...first, keys: [key] }, body, "look-up");
  if (isUndefined(map))
    report(body, first.span, mapsMessages.undefinedMap(mapName(body, map.name), nearMaps(map.name, body)));
  return { ...access, type: settled(map.value) };
}

const remove: CallCheck = (call, body) => {
  const access = entryArgument(call, call.args[1], body);
  return { ...call, args: access === undefined ? [] : [access], type: boolType };
};

const hasKey: CallCheck = (call, body) => {
  const access = entryArgument(call, call.args[1], body);
  return { ...call, args: access === undefined ? [] : [access], type: boolType };
};

const find: CallCheck = (call, body) => {
  const access = entryArgument(call, call.args[1], body);
  const variable = call.args[2];
  if (variable.kind !== "variable") {
    return { ...call, type: report(body, variable.span, mapsMessages.findExpectsVariableWhatFinds()) };
  }
  if (access === undefined) return { ...call, type: boolType };
  const slot = findVariable(body, variable.name) ?? declareVariable(body, variable);
  const value =
    access.type.kind === "aggregate" ? (aggregateValue(access.type, access, body) ?? unknownType) : access.type;
  if (isKnown(value) && !assignVariable(body, slot, value)) {
    report(
      body,
      variable.span,
      typeMessages.mismatch(
        "variable",
        variableName(body, variable.name),
        describe(variableType(body, slot)),
        describe(value),
      ),
    );
  }
  const target: Variable = { ...variable, slot, type: variableType(body, slot) };
  return { ...call, args: [access, target], type: boolType };
};

const whole: CallCheck = (call, body) => {
  const [first] = call.args;
  if (first?.kind !== "map" || first.keys.length > 0) {
    return {
      ...call,
      type: report(
        body,
        first?.span ?? call.span,
        mapsMessages.expectsMapArgumentWithoutKeys(functionName(body, call.name)),
      ),
    };
  }
  return { ...call, args: [wholeMap(first, body)], type: voidType };
};

const length: CallCheck = (call, body) => {
  const [first] = call.args as [Expression];
  if (first.kind === "map" && first.keys.length === 0) {
    const map = wholeMap(first, body);
    // A scalar map may hold a stack.
    if (map.type.kind !== "stack") {
      const state = body.pass.maps.get(first.name);
      if (state?.keys?.length === 0) report(body, first.span, mapsMessages.noKeysCount(mapName(body, first.name)));
      return { ...call, args: [map], type: i64 };
    }
  }
  const place = checkPlace(first, body);
  const elements = lengthOf(first, place, body);
  if (elements !== undefined) return elements;
  const value = checkValue(first, body);
  if (value.type.kind !== "unknown" && value.type.kind !== "stack") {
    return {
      ...call,
      args: [value],
      type: report(body, first.span, mapsMessages.callLenExpectsMapUstack(describe(value.type))),
    };
  }
  return { ...call, args: [value], type: i64 };
};

const frame: CallCheck = (call, body) => ({
  ...call,
  args: call.args.map((arg) => checkValue(arg, body)),
  type: u64,
});

export const mapCalls: Readonly<Record<string, CallCheck>> = {
  delete: remove,
  has_key: hasKey,
  find,
  clear: whole,
  zero: whole,
  len: length,
  stack_frame: frame,
};
