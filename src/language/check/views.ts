// Structs that their language shows as text or as a list (std::string, &str, String, Go's slices): a pointer and a length.
import type { Expression, MemberAccess } from "../program.ts";
import type { StructType, StructView, Type } from "../types.ts";
import { u64 } from "../types.ts";
import { textCapacity } from "./config.ts";
import type { Body } from "./pass.ts";
import { integerLiteral, needsKernel } from "./pass.ts";

/** The view of a struct in place or behind a pointer. */
export function viewOf(type: Type): StructView | undefined {
  const struct = type.kind === "pointer" ? type.target : type;
  return struct.kind === "struct" ? struct.view : undefined;
}

/** A struct that is text, as text; anything else as it is. */
export function asText(value: Expression, body: Body): Expression {
  const view = value.type.kind === "struct" ? value.type.view : undefined;
  if (view?.text !== true) return value;
  const { span } = value;
  needsKernel(body, "reading memory", span);
  // str() counts the end of the text.
  const length: Expression = { kind: "binary", operator: "+", left: lengthIn(value, view), right: integerLiteral(1n, u64, span), span, type: u64 };
  return { kind: "call", name: "str", args: [dataIn(value, view), length], span, type: { kind: "string", capacity: textCapacity(body.pass.config) } };
}

/** The address of what a view shows, as a pointer to its elements. */
export function dataIn(value: Expression, view: StructView): Expression {
  return part(value, view.data, { kind: "pointer", target: view.element, space: "user" });
}

export function lengthIn(value: Expression, view: StructView): Expression {
  return part(value, view.length, u64);
}

function part(object: Expression, offset: number, type: Type): MemberAccess {
  const container = (object.type.kind === "pointer" ? object.type.target : object.type) as StructType;
  return { kind: "member", object, name: "", nameSpan: object.span, span: object.span, path: { container, offset }, type };
}
