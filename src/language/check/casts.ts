// `(type)value`.
import { types } from "../../messages/types.ts";
import { sizeOf } from "../layout.ts";
import type { Cast, Expression } from "../program.ts";
import type { AddressSpace, Type } from "../types.ts";
import { isFloat, unknownType } from "../types.ts";
import { isIntegral, isLiteral, literalType, narrowest, wrap } from "./integers.ts";
import type { Body } from "./pass.ts";
import { defaultSpace, integerLiteral, report, resolveType } from "./pass.ts";
import { describe, sameType, unify } from "./unify.ts";
import { checkValue, isText } from "./values.ts";

/** An array of the program's stands for its address, where the language says so. */
function addressed(operand: Expression, { operand: written, span }: Cast, body: Body): Expression {
  const { kind } = operand.type;
  const isPlace = written.kind === "member" || written.kind === "index";
  if (body.pass.program.rules.arraysAreAddresses !== true || !isPlace || (kind !== "array" && kind !== "string"))
    return operand;
  return checkValue({ kind: "unary", operator: "&", operand: written, span, type: unknownType }, body);
}

export function checkCast(node: Cast, body: Body): Expression {
  const operand = addressed(checkValue(node.operand, body), node, body);
  const resolved = resolveType(node.to, pointerSpace(operand, body), body);
  if ("problem" in resolved) return { ...node, operand, type: report(body, node.to.span, resolved.problem) };
  if (operand.type.kind === "unknown")
    return { ...node, operand, type: resolved.type.kind === "array" ? unknownType : resolved.type };
  const from = operand.type;
  const to = resolved.type;
  const done = (type: Type): Expression => ({ ...node, operand, type });
  const refuse = (help?: string): Expression =>
    done(report(body, node.span, types.cannotCast(describe(from), describe(to), help)));
  const number = isFloat(from);
  const scalar = isIntegral(from) || from.kind === "boolean" || from.kind === "pointer";

  switch (to.kind) {
    case "integer":
    case "enum":
      if (
        to.kind === "enum" &&
        operand.kind === "integer" &&
        isLiteral(operand) &&
        !to.names.has(wrap(operand.value, to))
      ) {
        const known = [...to.names]
          .slice(0, 8)
          .map(([value, name]) => `${name} (${value})`)
          .join(", ");
        return done(
          report(
            body,
            node.span,
            types.doesnTContainVariantValue(
              describe(to),
              operand.value,
              known,
              to.names.size > 8 ? ", …" : "",
              known === "",
            ),
          ),
        );
      }
      if (operand.kind === "integer" && to.kind === "integer")
        return integerLiteral(wrap(operand.value, to), to, node.span);
      if (scalar || (number && to.kind === "integer")) return done(to);
      if (from.kind === "array" || from.kind === "string") {
        const size = from.kind === "string" ? from.capacity - 1 : sizeOf(from);
        return size === sizeOf(to) || sizeOf(from) === sizeOf(to)
          ? done(to)
          : refuse(`${size} bytes do not make an integer of ${sizeOf(to)}`);
      }
      if (from.kind === "named" && ["ksym", "usym", "username", "probe"].includes(from.of) && from.part === undefined)
        return done(to);
      return refuse(from.kind === "tuple" ? "cast its elements" : undefined);
    case "boolean":
      return from.kind === "string" ? isText(operand) : scalar || number ? done(to) : refuse();
    case "pointer": {
      if (from.kind === "pointer") {
        // The same struct again: what the verifier knows still holds.
        const same = from.typed === true && sameType({ ...to, typed: true, space: from.space }, from);
        return done(same ? from : { kind: "pointer", target: to.target, space: from.space });
      }
      if (isIntegral(from) || from.kind === "array")
        return from.kind === "array" && sizeOf(from) !== 8 ? refuse() : done(to);
      return refuse();
    }
    case "array": {
      if (!(isIntegral(from) || from.kind === "boolean" || from.kind === "string" || from.kind === "array"))
        return refuse();
      const element = sizeOf(to.element);
      // A bare literal is as wide as the array wants, as far as integers go, or as it must be.
      const literal = operand.kind === "integer" && isLiteral(operand) ? sizeOf(narrowest(operand.value)) : undefined;
      const source =
        literal !== undefined
          ? to.length === 0
            ? literal
            : Math.max(Math.min(element * to.length, widest), literal)
          : from.kind === "string"
            ? to.length === 0 || from.capacity === element * to.length
              ? from.capacity
              : from.capacity - 1
            : sizeOf(from);
      const length = to.length === 0 ? Math.floor(source / element) : to.length;
      if (length * element !== source) return refuse(`the one has ${source} bytes, the other ${length * element}`);
      return done({ kind: "array", element: to.element, length });
    }
    case "string":
      if (from.kind === "string") return done(to);
      if (from.kind === "array" && sizeOf(from.element) === 1) return done(to);
      if (from.kind === "pointer" || isIntegral(from)) {
        return {
          kind: "call",
          name: "str",
          args: [operand, integerLiteral(BigInt(to.capacity), literalType(BigInt(to.capacity)), node.span)],
          span: node.span,
          type: to,
        };
      }
      return refuse();
    case "buffer":
      if (from.kind === "pointer" || from.kind === "array" || isIntegral(from)) {
        return {
          kind: "call",
          name: "buf",
          args: [operand, integerLiteral(BigInt(to.capacity), literalType(BigInt(to.capacity)), node.span)],
          span: node.span,
          type: to,
        };
      }
      return refuse();
    case "struct":
    case "tuple":
    case "record":
    case "sequence":
    case "choice":
    case "stack":
    case "named":
    case "aggregate":
    case "void":
    case "unknown":
      if (isFloat(to) && (number || isIntegral(from) || from.kind === "boolean")) return done(to);
      return unify(from, to) === undefined
        ? refuse(to.kind === "struct" ? "cast to a pointer, and dereference that" : undefined)
        : done(to);
  }
}

/** Bytes of the widest integer. */
const widest = 8;

/** Where a pointer made of this value points: as it did, or where the probe's own pointers do. */
function pointerSpace(operand: Expression, body: Body): AddressSpace {
  if (operand.type.kind === "pointer") return operand.type.space;
  if (operand.kind === "call" && (operand.name === "kaddr" || operand.name === "percpu_kaddr")) return "kernel";
  if (operand.kind === "call" && operand.name === "uaddr") return "user";
  return defaultSpace(body);
}
