// sizeof and offsetof: known before the script runs.
import { sizeOf } from "../layout.ts";
import type { Expression, TypeName } from "../program.ts";
import { u64, unknownType } from "../types.ts";
import type { Type } from "../types.ts";
import { isLiteral, literalType, narrowest, narrowLiterals } from "./integers.ts";
import { offsetOf } from "./members.ts";
import { defaultSpace, mapState, report, resolveType } from "./pass.ts";
import type { Body } from "./pass.ts";
import { isKnown } from "./unify.ts";
import { checkExpression } from "./values.ts";

export function checkSizeOf(node: Extract<Expression, { kind: "sizeof" }>, body: Body): Expression {
  const type = typeOf(node.of, body);
  if (type === undefined) return { ...node, type: unknownType };
  const constant = BigInt(sizeOf(type));
  return { ...node, constant, type: literalType(constant) };
}

export function checkOffsetOf(node: Extract<Expression, { kind: "offsetof" }>, body: Body): Expression {
  const type = typeOf(node.of, body);
  if (type === undefined) return { ...node, type: unknownType };
  const offset = offsetOf(type, node.path, node.span, body);
  return offset === undefined
    ? { ...node, type: unknownType }
    : { ...node, constant: BigInt(offset), type: literalType(BigInt(offset)) };
}

/** A value's type with numbers that are written out as narrow as bpftrace has them; strobe keeps them in 64 bits. */
function narrowed(value: Expression, body: Body): Type {
  switch (value.kind) {
    case "integer":
      return isLiteral(value) ? narrowest(value.value) : value.type;
    case "tuple":
      return { kind: "tuple", elements: value.elements.map((element) => narrowed(element, body)) };
    case "record":
      return {
        kind: "record",
        fields: value.fields.map((field) => ({ name: field.name, type: narrowed(field.value, body) })),
      };
    case "variable":
      return value.slot === undefined ? value.type : narrowLiterals(body.slots[value.slot].state.type);
    case "map":
      return value.type.kind === "aggregate"
        ? value.type
        : narrowLiterals(mapState(body, value.name, value.span).value);
    default:
      return value.type;
  }
}

/** The type that a written type or an expression names; undefined after a diagnostic, or while it is not known yet. */
function typeOf(of: TypeName | Expression, body: Body): Type | undefined {
  if ("kind" in of) {
    const checked = checkExpression(of, body);
    // Text in a struct has no byte for an end.
    if (checked.type.kind === "string" && (checked.kind === "member" || checked.kind === "index"))
      return { kind: "string", capacity: checked.type.capacity - 1 };
    return isKnown(checked.type) ? narrowed(checked, body) : undefined;
  }
  const resolved = resolveType(of, defaultSpace(body), body);
  if ("type" in resolved) return resolved.type;
  // A lone name may be a constant's.
  const bare = of.tag === undefined && of.pointers === 0 && of.dimensions.length === 0;
  if (bare && body.pass.names.constant(of.name) !== undefined) return u64;
  report(body, of.span, resolved.problem);
  return undefined;
}
