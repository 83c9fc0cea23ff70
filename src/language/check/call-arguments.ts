// What checks of calls ask of their arguments.
import { calls } from "../../messages/calls.ts";
import type { Call, Expression } from "../program.ts";
import { boolType } from "../types.ts";
import { constantOf } from "./constants.ts";
import { isIntegral } from "./integers.ts";
import { needsKernel, report } from "./pass.ts";
import type { Body } from "./pass.ts";
import { functionName } from "./spelling.ts";
import { describe, describeOne } from "./unify.ts";
import { checkValue } from "./values.ts";

export const checked = (call: Call, body: Body): Expression[] => call.args.map((arg) => checkValue(arg, body));
export const truth = (value: boolean, call: Call): Expression => ({
  kind: "boolean",
  value,
  span: call.span,
  type: boolType,
});

/** A literal string argument, or a diagnostic. */
export function literalText(call: Call, index: number, body: Body): string | undefined {
  const arg = call.args[index];
  if (arg.kind === "string") return arg.value;
  const value = checkValue(arg, body);
  if (value.kind === "string") return value.value;
  if (value.type.kind !== "unknown")
    report(body, arg.span, calls.expectsStringLiteralProvided(functionName(body, call.name), describe(value.type)));
  return undefined;
}

/** Wants an address: a pointer, a number, or something in memory. */
export function wantsAddress(value: Expression, call: Call, body: Body): boolean {
  if (value.type.kind === "pointer" || value.type.kind === "integer") needsKernel(body, "reading memory", call.span);
  if (["pointer", "integer", "array", "string", "unknown"].includes(value.type.kind)) return true;
  report(body, value.span, calls.expectsPointerNot(functionName(body, call.name), describeOne(value.type)));
  return false;
}

export function wantsInteger(value: Expression, call: Call, body: Body): boolean {
  if (isIntegral(value.type) || value.type.kind === "unknown" || value.type.kind === "boolean") return true;
  report(body, value.span, calls.onlySupportsIntArgumentsProvided(functionName(body, call.name), describe(value.type)));
  return false;
}

/** Capacity that a constant length asks for, up to `most`. */
export function capacityFor(
  length: Expression | undefined,
  call: Call,
  body: Body,
  most = body.pass.config.maxStringLength,
): number {
  const constant = length === undefined ? undefined : constantOf(length);
  if (constant === undefined) return most;
  if (constant < 0n) report(body, length!.span, calls.expectsLengthOrMore(functionName(body, call.name)));
  return Math.max(1, constant < BigInt(most) ? Number(constant) : most);
}

const mostShown = 60;

/** What the call does is done on the host: notes it, as it is written. */
export function needsHost(call: Call, body: Body): void {
  const written = body.pass.program.source.text.slice(call.span.start, call.span.end).replace(/\s+/g, " ");
  const what = written.length > mostShown ? `${written.slice(0, mostShown)}…` : written;
  body.hostNeeds.push({ what: `\`${what}\``, span: call.span });
}
