// follow(), followed(), unfollow(): calls of strobe's own functions (compiler/sites/followed-objects.ts), which take addresses
// of any type as numbers.
import { calls } from "../../messages/calls.ts";
import { cast, typeName } from "../nodes.ts";
import { isIntegral } from "./integers.ts";
import { report, type CallCheck } from "./pass.ts";
import { functionName } from "./spelling.ts";
import { describeOne } from "./unify.ts";
import { checkExpression, checkValue } from "./values.ts";
import { unknownType } from "../types.ts";

const ofObject: CallCheck = (call, body) => {
  const [object] = call.args;
  const { type } = checkValue(object, body);
  if (type.kind === "unknown") return { ...call, type: unknownType };
  if (type.kind !== "pointer" && !isIntegral(type)) {
    const name = functionName(body, call.name);
    return { ...call, type: report(body, object.span, calls.expectsAddress(name, describeOne(type))) };
  }
  const address = cast(typeName("uint64", object.span), object, object.span);
  return checkExpression({ ...call, name: `.${call.name}`, args: [address] }, body);
};

export const followedObjects: Readonly<Record<string, CallCheck>> = {
  follow: ofObject,
  followed: ofObject,
  unfollow: ofObject,
};
