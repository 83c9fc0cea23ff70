// Operators of one operand: signs, `!`, `~`, `&`, `++`, `--`.
import { expressions } from "../../messages/expressions.ts";
import { recordings } from "../../messages/recordings.ts";
import type { Expression, MapAccess, TypeName, Variable } from "../program.ts";
import { boolType, float64, i64, isFloat, u64, unknownType, voidType } from "../types.ts";
import type { IntegerBits, IntegerType, Type } from "../types.ts";
import { converted, promoted } from "./c-integers.ts";
import { arithmeticType, isIntegral, isLiteral, literalType, settled } from "./integers.ts";
import { checkMapEntry, wholeMap, threadEntry } from "./map-access.ts";
import { placeType } from "./place-types.ts";
import {
  assignVariable,
  defaultSpace,
  integerLiteral,
  mapState,
  mergeValue,
  needsKernel,
  report,
  variableType,
} from "./pass.ts";
import type { Body } from "./pass.ts";
import { inSpace } from "./spaces.ts";
import { mapName, variableName } from "./spelling.ts";
import { describe, describeOne, isKnown } from "./unify.ts";
import { checkCondition, checkPlace, checkValue } from "./values.ts";
import { behindLostPointer, isBehindRecorded } from "./variables.ts";
import { checkVariable } from "./names.ts";

export function checkIncrement(node: Extract<Expression, { kind: "increment" }>, body: Body): Expression {
  const place = node.target.kind === "map" ? node.target : (threadEntry(node.target) ?? node.target);
  if (place.kind === "map") {
    const { access, map } = checkMapEntry(place, body, "store");
    if (map.value.kind === "aggregate") {
      return {
        ...node,
        target: access,
        type: report(
          body,
          node.span,
          expressions.holdsCannotChangedOtherwise(mapName(body, map.name), map.value.aggregate),
        ),
      };
    }
    if (isFloat(map.value)) return { ...node, target: access, type: notCounted(node, body) };
    if (map.value.kind !== "pointer" && !mergeValue(body, map, node.delta < 0 ? i64 : literalType(1n))) {
      report(body, node.span, expressions.mapNotNumber(mapName(body, map.name), describeOne(map.value)));
    }
    const type = settled(map.value);
    return { ...node, target: { ...access, type }, type };
  }
  const target = checkVariable(place, body) as Variable;
  if (target.type.kind === "unknown" || target.type.kind === "pointer") return { ...node, target, type: target.type };
  if (isFloat(target.type)) return { ...node, target, type: notCounted(node, body) };
  if (!isIntegral(target.type)) {
    return {
      ...node,
      target,
      type: report(
        body,
        node.span,
        expressions.variableNotNumber(variableName(body, target.name), describeOne(target.type)),
      ),
    };
  }
  assignVariable(
    body,
    target.slot!,
    body.pass.program.rules.integers.widths === "C"
      ? target.type
      : node.delta < 0
        ? i64
        : arithmeticType("+", target.type, literalType(1n), body.pass.program.rules.integers),
  );
  const type = variableType(body, target.slot!);
  return { ...node, target: { ...target, type }, type };
}

function notCounted({ target, delta, span }: Extract<Expression, { kind: "increment" }>, body: Body): Type {
  const [twice, once] = delta > 0 ? ["++", "+="] : ["--", "-="];
  const name = target.kind === "map" ? mapName(body, target.name) : variableName(body, target.name);
  return report(body, span, expressions.countsIntegersDouble(twice, name, once));
}

export function checkUnary(node: Extract<Expression, { kind: "unary" }>, body: Body): Expression {
  const target = node.operator === "*" ? behindLostPointer(node.operand, body) : undefined;
  if (target !== undefined) return target;
  if (node.operator === "&" && (node.operand.kind === "variable" || node.operand.kind === "map"))
    return checkAddress(node, node.operand, body);
  if (node.operator === "&" && isPlace(node.operand)) return checkPlaceAddress(node, body);
  if (node.operator === "&") return { ...node, type: report(body, node.span, expressions.variablesMaps()) };
  const operand = node.operator === "!" ? checkCondition(node.operand, body) : checkValue(node.operand, body);
  const wide =
    body.pass.program.rules.integers.widths === "C" && node.operator !== "!" ? promoted(operand.type) : undefined;
  if (wide !== undefined && node.operator !== "*") return { ...node, operand: converted(operand, wide), type: wide };
  if (operand.type.kind === "unknown")
    return { ...node, operand, type: node.operator === "!" ? boolType : unknownType };
  switch (node.operator) {
    case "!":
      return { ...node, operand, type: boolType };
    case "-":
    case "~":
    case "+": {
      if (node.operator === "+" && operand.type.kind === "pointer") return operand;
      if (isFloat(operand.type) && node.operator !== "~") {
        if (operand.kind === "float")
          return { ...operand, value: node.operator === "-" ? -operand.value : operand.value, span: node.span };
        return { ...node, operand, type: float64 };
      }
      if (!isIntegral(operand.type) && operand.type.kind !== "boolean") break;
      if (operand.kind === "integer" && isLiteral(operand) && node.operator === "-") {
        const fits = operand.value <= 1n << 63n;
        if (!fits && body.pass.program.rules.integers.literals === "refused")
          return { ...node, operand, type: report(body, node.span, expressions.numberDoesNotFitInto()) };
        const value = fits ? -operand.value : BigInt.asIntN(64, -operand.value);
        return integerLiteral(value, literalType(value), node.span);
      }
      if (node.operator === "+") return operand.type.kind === "boolean" ? conditionalNumber(operand) : operand;
      const { integers } = body.pass.program.rules;
      const unsigned =
        isIntegral(operand.type) && !operand.type.signed && integers.signed !== "all" ? operand.type.bits : undefined;
      const whole: Expression = {
        ...node,
        operand,
        type: (operand.kind === "integer" && isLiteral(operand)) || unsigned !== undefined ? u64 : i64,
      };
      return unsigned !== undefined && unsigned < 64 ? withinBits(whole, unsigned) : whole;
    }
    case "*": {
      if (operand.type.kind === "pointer") {
        if (operand.type.target.kind === "void")
          return {
            ...node,
            operand,
            type: report(
              body,
              node.span,
              isBehindRecorded(operand.type, body)
                ? recordings.onlyAtTheMoment("memory behind a pointer")
                : expressions.cannotDereferenceVoidPointer(),
            ),
          };
        needsKernel(body, "reading memory", node.span);
        return { ...node, operand, type: placeType(inSpace(operand.type.target, operand.type.space)) };
      }
      if (!isIntegral(operand.type)) break;
      needsKernel(body, "reading memory", node.span);
      const to: TypeName = { name: "uint64", pointers: 1, dimensions: [], span: operand.span };
      const pointer: Expression = {
        kind: "cast",
        to,
        operand,
        span: operand.span,
        type: { kind: "pointer", target: u64, space: defaultSpace(body) },
      };
      return { ...node, operand: pointer, type: u64 };
    }
  }
  return {
    ...node,
    operand,
    type: report(body, node.span, expressions.operatorCanNotUsedExpressions(node.operator, describe(operand.type))),
  };
}

/**
 * `&$x`: where the variable is; `&@x`: where the number or text of a map without keys is, or the kernel's `struct
 * bpf_map`.
 */
function checkAddress(node: Extract<Expression, { kind: "unary" }>, of: Variable | MapAccess, body: Body): Expression {
  if (of.kind === "variable") {
    const operand = checkVariable(of, body) as Variable;
    if (operand.slot === undefined) return { ...node, operand, type: unknownType };
    needsKernel(body, "the address of a variable", node.span);
    body.slots[operand.slot].state.addressed = true;
    return { ...node, operand, type: pointerTo(operand.type) };
  }
  if (of.keys.length > 0) {
    return {
      ...node,
      type: report(body, node.span, expressions.entryNoAddress(mapName(body, of.name))),
    };
  }
  const operand = wholeMap(of, body);
  const map = mapState(body, of.name, of.span);
  needsKernel(body, "the address of a map", node.span);
  if (map.value.kind === "unknown") return { ...node, operand, type: unknownType };
  // What the map holds by itself; otherwise what the kernel made for it.
  const { keys = [] } = map;
  if (keys.length === 0 && map.value.kind !== "aggregate") return { ...node, operand, type: pointerTo(operand.type) };
  if (keys.length === 0) {
    return {
      ...node,
      operand,
      type: report(body, node.span, expressions.noAddressEachCpuOwn(mapName(body, of.name), describe(map.value))),
    };
  }
  const bpfMap = body.pass.names.resolve(
    { name: "bpf_map", tag: "struct", pointers: 0, dimensions: [], span: node.span },
    "kernel",
  );
  return { ...node, operand, type: pointerTo("type" in bpfMap ? bpfMap.type : voidType) };
}

function isPlace(e: Expression): boolean {
  return (
    e.kind === "member" ||
    e.kind === "index" ||
    (e.kind === "unary" && e.operator === "*") ||
    (e.kind === "call" && e.name === "var")
  );
}

/** `&$p->state`: where a member or an element is in memory. */
function checkPlaceAddress(node: Extract<Expression, { kind: "unary" }>, body: Body): Expression {
  const operand = checkPlace(node.operand, body);
  if (operand.type.kind === "unknown") return { ...node, operand, type: unknownType };
  if (operand.kind === "member" && operand.path?.bitWidth !== undefined)
    return { ...node, operand, type: report(body, node.span, expressions.bitFieldNoAddress()) };
  if (!body.pass.program.rules.writesMemory) needsKernel(body, "the address of a member", node.span);
  const { type } = operand;
  const space =
    type.kind === "struct" && type.space === "user" ? "user" : (pointedSpace(operand) ?? defaultSpace(body));
  return { ...node, operand, type: { kind: "pointer", target: type, space } };
}

/** Which memory a place is in: that of the pointer that leads to it. */
function pointedSpace(place: Expression): "kernel" | "user" | undefined {
  switch (place.kind) {
    case "member":
    case "index": {
      const { type } = place.object;
      return type.kind === "pointer" ? type.space : pointedSpace(place.object);
    }
    case "unary":
      return place.operator === "*" && place.operand.type.kind === "pointer" ? place.operand.type.space : undefined;
    default:
      return undefined;
  }
}

function pointerTo(target: Type): Type {
  return isKnown(target) ? { kind: "pointer", target, space: "kernel" } : unknownType;
}

/** What unsigned integers wrap to at their own width, as 64 bits: `~(uint8)5` is 250. */
function withinBits(value: Expression, bits: IntegerBits): Expression {
  const narrow = unsignedAs(value, { kind: "integer", bits, signed: false });
  return unsignedAs(narrow, u64);
}

function unsignedAs(operand: Expression, type: IntegerType): Expression {
  return {
    kind: "cast",
    to: { name: `uint${type.bits}`, pointers: 0, dimensions: [], span: operand.span },
    operand,
    span: operand.span,
    type,
  };
}

/** A truth as the number that it is. */
function conditionalNumber(operand: Expression): Expression {
  return {
    kind: "cast",
    to: { name: "int64", pointers: 0, dimensions: [], span: operand.span },
    operand,
    span: operand.span,
    type: i64,
  };
}
