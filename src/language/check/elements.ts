// Elements of arrays, tuples and what is like them.
import { expressions } from "../../messages/expressions.ts";
import type { Expression } from "../program.ts";
import { i8, unknownType } from "../types.ts";
import { constantOf } from "./constants.ts";
import { isIntegral, settled } from "./integers.ts";
import { placeType } from "./place-types.ts";
import { needsKernel, report } from "./pass.ts";
import type { Body } from "./pass.ts";
import { inSpace } from "./spaces.ts";
import { describe, describeOne } from "./unify.ts";
import { checkPlace, checkValue, checkExpression } from "./values.ts";
import { shownData } from "./shapes.ts";

/** `args[0]`: by its place. The number of a system call, which its record begins with, is no argument. */
function positional(node: Extract<Expression, { kind: "index" }>, body: Body): Expression | undefined {
  const { context } = body;
  const { object, index, span } = node;
  if (object.kind !== "builtin" || object.name !== "args" || context === undefined || context === "host")
    return undefined;
  const args = (context.args ?? []).filter(({ name }) => name !== "__syscall_nr");
  const at = constantOf(checkExpression(index, body));
  const found = at === undefined ? undefined : args[Number(at)];
  if (found === undefined) return undefined;
  return checkExpression(
    { kind: "member", object, name: found.name, nameSpan: index.span, span, type: unknownType },
    body,
  );
}

export function checkIndex(node: Extract<Expression, { kind: "index" }>, body: Body): Expression {
  const argument = positional(node, body);
  if (argument !== undefined) return argument;
  const whole = checkPlace(node.object, body);
  const object = (whole.type.kind === "struct" ? shownData(node.object, whole.type, body) : undefined) ?? whole;
  const index = checkValue(node.index, body);
  if (object.type.kind === "unknown" || index.type.kind === "unknown")
    return { ...node, object, index, type: unknownType };
  const constant = constantOf(index);
  if (object.type.kind === "tuple") {
    if (constant === undefined)
      return {
        ...node,
        object,
        index,
        type: report(body, node.index.span, expressions.tupleIndexMustConstant()),
      };
    return checkTupleIndex(
      { kind: "tuple-index", object, index: Number(constant), span: node.span, type: unknownType },
      body,
    );
  }
  if (!isIntegral(index.type))
    return {
      ...node,
      object,
      index,
      type: report(body, node.index.span, expressions.indexCannot(describeOne(index.type))),
    };
  const length =
    object.type.kind === "array"
      ? object.type.length
      : object.type.kind === "string"
        ? object.type.capacity
        : undefined;
  if (length !== undefined && length > 0 && constant !== undefined && (constant < 0n || constant >= BigInt(length))) {
    return {
      ...node,
      object,
      index,
      type: report(body, node.index.span, expressions.indexOutside(constant, describe(object.type))),
    };
  }
  switch (object.type.kind) {
    case "array":
      return { ...node, object, index, type: placeType(object.type.element) };
    case "string":
      return { ...node, object, index, type: i8 };
    case "pointer":
      if (object.type.target.kind === "void") break;
      needsKernel(body, "reading memory", node.span);
      return { ...node, object, index, type: placeType(inSpace(object.type.target, object.type.space)) };
    default:
  }
  return {
    ...node,
    object,
    index,
    type: report(body, node.span, expressions.arrayIndexOperatorCanOnly(describe(object.type))),
  };
}

export function checkTupleIndex(node: Extract<Expression, { kind: "tuple-index" }>, body: Body): Expression {
  const { type } = node.object;
  if (type.kind === "unknown") return { ...node, type };
  if (type.kind !== "tuple")
    return {
      ...node,
      type: report(body, node.span, expressions.notTuple(describeOne(type), node.object.kind === "integer")),
    };
  const element = type.elements[node.index];
  if (element === undefined) {
    return {
      ...node,
      type: report(body, node.span, expressions.invalidTupleIndexFoundElements(node.index, type.elements.length)),
    };
  }
  return { ...node, type: settled(element) };
}
