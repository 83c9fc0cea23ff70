// Calls that turn a number into another.
import type { Expression } from "../program.ts";
import { float64, isFloat, unknownType } from "../types.ts";
import type { IntegerType } from "../types.ts";
import { isIntegral, literalBits, narrowest } from "./integers.ts";
import type { CallCheck } from "./pass.ts";
import { calls } from "../../messages/calls.ts";
import { report } from "./pass.ts";
import { checked, wantsInteger } from "./call-arguments.ts";

const swap: CallCheck = (call, body) => {
  const [value] = checked(call, body) as [Expression];
  // A truth has no bytes to swap.
  if (value.type.kind === "boolean")
    return {
      ...call,
      args: [value],
      type: report(body, value.span, calls.onlySupportsIntArgumentsProvided("bswap", "bool")),
    };
  if (!wantsInteger(value, call, body) || !isIntegral(value.type)) return { ...call, args: [value], type: unknownType };
  const { bits } =
    value.kind === "integer" && literalBits(value.type) !== undefined ? narrowest(value.value) : value.type;
  const type: IntegerType = { kind: "integer", bits, signed: false };
  return { ...call, args: [value], type };
};

/** floor(), ceil(), trunc(), round(): integers have nothing to round. */
const withoutFraction: CallCheck = (call, body) => {
  const [value] = checked(call, body) as [Expression];
  if (isFloat(value.type)) return { ...call, args: [value], type: float64 };
  return wantsInteger(value, call, body) ? value : { ...call, args: [value], type: unknownType };
};

export const numberCalls: Readonly<Record<string, CallCheck>> = {
  floor: withoutFraction,
  ceil: withoutFraction,
  trunc: withoutFraction,
  round: withoutFraction,
  bswap: swap,
};
