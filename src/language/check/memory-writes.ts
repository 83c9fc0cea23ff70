// Writing to memory of the script's own: `p->x = 5`, in languages whose rules say that there is some.
import { calls } from "../../messages/calls.ts";
import { sizeOf } from "../layout.ts";
import type { Expression } from "../program.ts";
import { unknownType } from "../types.ts";
import { needsHost } from "./call-arguments.ts";
import { report } from "./pass.ts";
import type { CallCheck } from "./pass.ts";
import { describe, sameType } from "./unify.ts";
import { checkPlace, checkValue } from "./values.ts";

/** The value is what is stored. */
const memoryWrite: CallCheck = (call, body) => {
  const target = checkPlace(call.args[0], body);
  const value = checkValue(call.args[1], body);
  const all = { ...call, args: [target, value] };
  if (target.type.kind === "unknown" || value.type.kind === "unknown") return { ...all, type: unknownType };
  if (!isWritable(target)) return { ...all, type: report(body, call.span, calls.notInMemory()) };
  needsHost(call, body);
  if (!fits(target, value))
    return {
      ...all,
      type: report(body, call.span, calls.otherInMemory(describe(target.type), describe(value.type))),
    };
  return { ...all, type: target.type };
};

function isWritable(target: Expression): boolean {
  return (
    (target.kind === "member" && target.path !== undefined && target.path.container !== "args") ||
    target.kind === "index" ||
    (target.kind === "unary" && target.operator === "*")
  );
}

function fits({ type }: Expression, { type: stored }: Expression): boolean {
  const numbers = [type, stored].every(
    ({ kind }) => kind === "integer" || kind === "enum" || kind === "boolean" || kind === "pointer",
  );
  return (
    numbers ||
    sameType(type, stored) ||
    (stored.kind === "string" && (type.kind === "string" || type.kind === "array")) ||
    (type.kind === "struct" && stored.kind === "struct" && type.name === stored.name) ||
    (type.kind === "array" && stored.kind === "array" && sizeOf(type) === sizeOf(stored))
  );
}

export const memoryWrites: Readonly<Record<string, CallCheck>> = { write_memory: memoryWrite };
