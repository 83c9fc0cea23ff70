// Calls: of the script's functions, and of builtins (by name, in the tables of the *-calls.ts files).
import { kernelHas } from "../../base/kernel-features.ts";
import { InternalError } from "../../base/internal-error.ts";
import { calls as callsMessages } from "../../messages/calls.ts";
import { builtinsFor, findBuiltin } from "../builtins/table.ts";
import { nearest } from "../nearest.ts";
import type { Call, Expression } from "../program.ts";
import type { Type } from "../types.ts";
import { checkBuiltin } from "./builtin-values.ts";
import { isIntegral, settled } from "./integers.ts";
import { actingCalls } from "./acting-calls.ts";
import { addressCalls } from "./address-calls.ts";
import { followedObjects } from "./followed-objects.ts";
import { mapCalls } from "./map-calls.ts";
import { namedCalls } from "./named-calls.ts";
import { numberCalls } from "./number-calls.ts";
import { outputCalls } from "./output-calls.ts";
import { scriptCalls } from "./script-calls.ts";
import { taskCalls } from "./task-calls.ts";
import { memoryWrites } from "./memory-writes.ts";
import { textCalls } from "./text-calls.ts";
import type { Body, CallCheck, FunctionState } from "./pass.ts";
import { defaultSpace, didYouMean, fitsInto, needsKernel, report, reached } from "./pass.ts";
import { otherToolsWord } from "../other-tools.ts";
import { withSpacesOf } from "./spaces.ts";
import { functionName, mapName, variableName } from "./spelling.ts";
import { describeOne, isKnown, sameType, unify, widen } from "./unify.ts";
import { checkValue } from "./values.ts";
import { checkVariableCall } from "./variables.ts";

const checks: Readonly<Record<string, CallCheck>> = {
  ...actingCalls,
  ...addressCalls,
  ...followedObjects,
  ...mapCalls,
  ...namedCalls,
  ...numberCalls,
  ...outputCalls,
  ...scriptCalls,
  ...taskCalls,
  ...textCalls,
  ...memoryWrites,
  var: checkVariableCall,
};

/** `bare`: written without parentheses. */
export function checkCall(call: Call, body: Body, bare = false): Expression {
  const own = body.pass.functions.get(call.name);
  if (own !== undefined) return checkOwnCall(call, own, body);
  const spec = findBuiltin(call.name);
  if (spec === undefined) {
    const near = nearest(call.name, [...builtinsFor(body.pass.program.rules).names(), ...body.pass.functions.keys()]);
    const help = otherToolsWord(call.name, body.pass.program.rules) ?? didYouMean(near);
    return { ...call, type: report(body, call.span, callsMessages.unknownFunction(call.name, help)) };
  }
  if (spec.form === "aggregate") {
    return {
      ...call,
      type: report(
        body,
        call.span,
        callsMessages.mustAssignedDirectlyMap(functionName(body, call.name), mapName(body, "")),
      ),
    };
  }
  const [least, most] = spec.arity ?? [0, 0];
  if (call.args.length < least || call.args.length > most) {
    return {
      ...call,
      type: report(
        body,
        call.span,
        callsMessages.wrongCount(
          functionName(body, call.name),
          call.args.length,
          least,
          most,
          `usage: ${spec.signature.replace(call.name, functionName(body, call.name))}`,
        ),
      ),
    };
  }
  const trusted = body.pass.program.rules.trusted?.includes(call.name) === true;
  if (spec.unsafe === true && !trusted && !body.pass.options.unsafe) {
    return {
      ...call,
      type: report(body, call.span, callsMessages.unsafeFunctionBeingUsedSafe(functionName(body, call.name))),
    };
  }
  if (spec.kernel !== undefined && !kernelHas(body.pass.options.capabilities.kernel, { since: spec.kernel })) {
    return {
      ...call,
      type: report(body, call.span, callsMessages.needsLinuxOrNewer(functionName(body, call.name), spec.kernel)),
    };
  }
  if (
    call.args.length === 0 &&
    !bare &&
    spec.form === "both" &&
    spec.statement !== true &&
    call.name !== "default_str_length"
  ) {
    return checkBuiltin(call.name, call.span, body);
  }
  const check = checks[call.name];
  if (check === undefined) throw new InternalError(`nothing checks a call of ${call.name}()`);
  if (spec.placement === "kernel") needsKernel(body, `${functionName(body, call.name)}()`, call.span);
  return check(call, body);
}

function checkOwnCall(call: Call, own: FunctionState, body: Body): Expression {
  const args = call.args.map((arg) => checkValue(arg, body));
  body.function?.calls.add(call.name);
  // What it needs is found already where it is being checked, and calls itself.
  const again = body.function !== undefined && reached(own, body.pass).has(body.function.declaration.name);
  for (const need of again ? [] : own.kernelNeeds)
    needsKernel(body, `${need.what} in ${functionName(body, call.name)}()`, call.span);
  for (const need of again ? [] : own.hostNeeds)
    body.hostNeeds.push({ what: `${need.what} in ${functionName(body, call.name)}()`, span: call.span });
  const space = defaultSpace(body);
  if (space === "user" && own.space === undefined) {
    own.space = space;
    body.pass.changed = true;
  }
  const { parameters } = own.declaration;
  if (args.length !== parameters.length) {
    return {
      ...call,
      args,
      type: report(
        body,
        call.span,
        callsMessages.wrongCount(functionName(body, call.name), args.length, parameters.length, parameters.length),
      ),
    };
  }
  args.forEach((arg, i) => {
    if (parameters[i].type === undefined && infer(own, i, arg, body)) return;
    const wanted = placeParameter(own, i, arg.type, body);
    const number = isIntegral(arg.type) && wanted.kind === "integer";
    if (arg.type.kind !== "unknown" && wanted.kind !== "unknown" && !number && !fitsInto(arg.type, wanted)) {
      report(
        body,
        arg.span,
        callsMessages.not(
          variableName(body, parameters[i].name),
          functionName(body, call.name),
          describeOne(wanted),
          describeOne(settled(arg.type)),
        ),
      );
    }
  });
  return { ...call, args, type: settled(own.result) };
}

/** A declared parameter's type, with pointers into the memory that those it is given point into. */
function placeParameter(own: FunctionState, index: number, given: Type, body: Body): Type {
  const wanted = own.parameters[index];
  if (own.declaration.parameters[index].type === undefined || !isKnown(given)) return wanted;
  const placed = withSpacesOf(wanted, given);
  const unified = own.placed.has(index) ? (unify(wanted, placed) ?? wanted) : placed;
  own.placed.add(index);
  if (!sameType(unified, wanted)) {
    own.parameters[index] = unified;
    body.pass.changed = true;
  }
  return unified;
}

/**
 * Takes an argument's type into a parameter that was declared without one. False when it does not go with those of
 * other calls.
 */
function infer(own: FunctionState, index: number, arg: Expression, body: Body): boolean {
  if (!isKnown(arg.type)) return true;
  const before = own.parameters[index];
  const unified = unify(before, widen(settled(arg.type)));
  if (unified === undefined) return false;
  if (!sameType(unified, before)) {
    own.parameters[index] = unified;
    body.pass.changed = true;
  }
  return true;
}
