// Calls that ask about the script, answered before it runs.
import { calls } from "../../messages/calls.ts";
import type { Expression } from "../program.ts";
import { boolType, u64 } from "../types.ts";
import { constantOf } from "./constants.ts";
import { integerLiteral, report } from "./pass.ts";
import type { CallCheck } from "./pass.ts";
import { checkExpression } from "./values.ts";
import { truth, literalText } from "./call-arguments.ts";

const question: (answer: (value: Expression) => boolean) => CallCheck = (answer) => (call, body) => {
  const value = checkExpression(call.args[0], body);
  return value.type.kind === "unknown" ? { ...call, type: boolType } : truth(answer(value), call);
};

const beforehand: CallCheck = (call, body) => {
  const value = checkExpression(call.args[0], body);
  if (value.type.kind === "unknown" || value.kind === "string" || constantOf(value) !== undefined) return value;
  return {
    ...call,
    args: [value],
    type: report(body, call.span, calls.notKnownBeforeScriptRuns()),
  };
};

export const scriptCalls: Readonly<Record<string, CallCheck>> = {
  comptime: beforehand,
  is_array: question((v) => v.type.kind === "array"),
  is_integer: question((v) => v.type.kind === "integer"),
  is_literal: question((v) => v.kind === "integer" || v.kind === "string" || v.kind === "boolean"),
  is_ptr: question((v) => v.type.kind === "pointer"),
  is_str: question((v) => v.type.kind === "string"),
  is_unsigned_integer: question((v) => v.type.kind === "integer" && !v.type.signed),
  default_str_length: (call, body) => integerLiteral(BigInt(body.pass.config.maxStringLength), u64, call.span),
  kfunc_exist: (call, body) => {
    const name = literalText(call, 0, body);
    return truth(name !== undefined && (body.pass.options.facts?.kernelFunctionExists(name) ?? false), call);
  },
  // Handlers call no kernel functions, so none is allowed.
  kfunc_allowed: (call, body) => {
    literalText(call, 0, body);
    return truth(false, call);
  },
};
