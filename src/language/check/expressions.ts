// Expressions, copied and typed. Each function gives a new node; a node of unknown type after a mistake silences those
import { maps } from "../../messages/maps.ts";
// above.
import { expressions } from "../../messages/expressions.ts";
import { says } from "../../messages/message.ts";
import { otherToolsWord } from "../other-tools.ts";
import { builtinsFor, findBuiltin } from "../builtins/table.ts";
import { sizeOf } from "../layout.ts";
import { nearest } from "../nearest.ts";
import type { BinaryOperator, ChoiceLiteral, Expression, MapAccess, TypeName, Variable } from "../program.ts";
import { textFrom, textLength } from "../text-bytes.ts";
import type { Alternative, IntegerBits, IntegerType, Type } from "../types.ts";
import { boolType, float64, i64, i8, isFloat, u64, unknownType, voidType } from "../types.ts";
import { checkResult } from "./aggregations.ts";
import { checkBuiltin } from "./builtin-values.ts";
import { converted, convertedOperands, promoted } from "./c-integers.ts";
import { checkCall } from "./calls.ts";
import { checkCast } from "./casts.ts";
import { constantOf } from "./constants.ts";
import { arithmeticType, isIntegral, isLiteral, literalType, narrowest, narrowLiterals, settled } from "./integers.ts";
import { aggregateValue, checkMapEntry, isUndefined, nearMaps, wholeMap } from "./map-access.ts";
import { checkMember, offsetOf } from "./members.ts";
import { binaryType } from "./operators.ts";
import { placeType } from "./place-types.ts";
import { checkPresence } from "./presence.ts";
import type { Body, MapState } from "./pass.ts";
import {
  assignVariable,
  declareVariable,
  defaultSpace,
  didYouMean,
  findVariable,
  integerLiteral,
  livesInHandler,
  mapState,
  mergeValue,
  needsKernel,
  report,
  resolveType,
  variableType,
} from "./pass.ts";
import { siteName, siteNames } from "./site-names.ts";
import { inSpace } from "./spaces.ts";
import { mapName, variableName } from "./spelling.ts";
import { checkAssignment, checkBlockExpression, checkSequence } from "./statements.ts";
import { threadEntry } from "./thread-variables.ts";
import { describe, describeOne, isKnown, unify, widen } from "./unify.ts";
import { checkCondition, checkPlace, checkValue } from "./values.ts";
import { behindLostPointer } from "./variables.ts";
import { shownData } from "./shapes.ts";

export function checkExpression(node: Expression, body: Body): Expression {
  switch (node.kind) {
    case "integer":
      return { ...node, type: literalType(node.value) };
    case "float":
      return { ...node, type: float64 };
    case "string":
      return { ...node, type: { kind: "string", capacity: textLength(node.value) + 1 } };
    case "boolean":
      return { ...node, type: boolType };
    case "identifier":
      return checkIdentifier(node, body);
    case "builtin": {
      // `exit` and `time` without parentheses are calls.
      const call = findBuiltin(node.name)?.statement === true || node.name === "default_str_length";
      return call
        ? checkCall({ kind: "call", name: node.name, args: [], span: node.span, type: unknownType }, body, true)
        : checkBuiltin(node.name, node.span, body);
    }
    case "variable":
      return checkVariable(node, body);
    case "map":
      return checkMapRead(node, body);
    case "unary":
      return checkUnary(node, body);
    case "binary":
      return checkBinary(node, body);
    case "conditional":
      return checkConditional(node, body);
    case "assignment":
      return checkAssignment(node, body);
    case "increment":
      return checkIncrement(node, body);
    case "call":
      return checkCall(node, body);
    case "member":
      return checkMember(node, body);
    case "index":
      return checkIndex(node, body);
    case "tuple-index":
      return checkTupleIndex({ ...node, object: checkExpression(node.object, body) }, body);
    case "cast":
      return checkCast(node, body);
    case "sizeof":
      return checkSizeOf(node, body);
    case "offsetof":
      return checkOffsetOf(node, body);
    case "tuple": {
      const elements = node.elements.map((e) => checkValue(e, body));
      return { ...node, elements, type: known({ kind: "tuple", elements: elements.map((e) => widen(e.type)) }) };
    }
    case "record": {
      const fields = node.fields.map((f) => ({ name: f.name, value: checkValue(f.value, body) }));
      return {
        ...node,
        fields,
        type: known({ kind: "record", fields: fields.map((f) => ({ name: f.name, type: widen(f.value.type) })) }),
      };
    }
    case "result":
      return checkResult(node, body);
    case "presence":
      return checkPresence(node, body);
    case "block-expression":
      return checkBlockExpression(node, body);
    case "sequence":
      return checkSequence(node, body);
    case "choice":
      return checkChoice(node, body);
  }
}

function checkChoice(node: ChoiceLiteral, body: Body): Expression {
  const alternatives = node.alternatives.map((one) => ({
    ...one,
    ...(one.test === undefined ? {} : { test: checkCondition(one.test, body) }),
    ...(one.value === undefined ? {} : { value: checkValue(one.value, body) }),
  }));
  if (alternatives.some(({ value }) => value !== undefined && !isKnown(value.type)))
    return { ...node, alternatives, type: unknownType };
  const types = alternatives.map(({ name, none, value }): Alternative => ({
    ...(name === undefined ? {} : { name }),
    ...(none === undefined ? {} : { none }),
    ...(value === undefined ? {} : { type: settled(value.type) }),
  }));
  return { ...node, alternatives, type: { kind: "choice", alternatives: types } };
}

function known(type: Type): Type {
  return isKnown(type) ? type : unknownType;
}

function checkIdentifier(node: Extract<Expression, { kind: "identifier" }>, body: Body): Expression {
  const found = body.pass.names.constant(node.name);
  if (found !== undefined) return { ...node, constant: found.value, type: found.type ?? literalType(found.value) };
  const near = nearest(node.name, [
    ...body.pass.names.constantNames(),
    ...builtinsFor(body.pass.program.rules).names(),
  ]);
  const header = near.length === 0 && /^[ \t]*#[ \t]*include\b/m.test(body.pass.program.source.text);
  const help = header
    ? `the system's headers are not read: say \`#define ${node.name} …\``
    : (otherToolsWord(node.name, body.pass.program.rules) ?? didYouMean(near));
  return { ...node, type: report(body, node.span, expressions.unknownIdentifier(node.name, help)) };
}

/** Where variables live in the whole handler, one may be read above its first assignment. */
function declaredByUse(node: Variable, body: Body): number | undefined {
  if (!livesInHandler(body.pass)) return undefined;
  return declareVariable(body, node, undefined, body.scopes[0]);
}

function isNeverAssigned(slot: number, body: Body): boolean {
  const { state } = body.slots[slot];
  return body.pass.final && livesInHandler(body.pass) && !state.assigned && state.declared === undefined;
}

function checkVariable(node: Variable, body: Body): Expression {
  const entry = threadEntry(node);
  if (entry !== undefined) return checkMapRead(entry, body);
  const slot = findVariable(body, node.name) ?? declaredByUse(node, body);
  if (slot === undefined || isNeverAssigned(slot, body)) {
    const near = nearest(
      node.name,
      body.scopes.flatMap((scope) => [...scope.keys()]),
    ).map((name) => variableName(body, name));
    return {
      ...node,
      type: report(
        body,
        node.span,
        expressions.undefinedOrUndeclaredVariable(variableName(body, node.name), didYouMean(near)),
      ),
    };
  }
  return { ...node, slot, type: variableType(body, slot) };
}

// ── maps ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

function checkMapRead(node: MapAccess, body: Body): Expression {
  const { access, map } = checkMapEntry(node, body, "look-up");
  return { ...access, type: readType(map, node, body) };
}

function readType(map: MapState, node: MapAccess, body: Body): Type {
  if (isUndefined(map))
    return report(body, node.span, maps.undefinedMap(mapName(body, map.name), nearMaps(map.name, body)));
  if (map.value.kind !== "aggregate") return settled(map.value);
  return (
    aggregateValue(map.value, node, body) ??
    report(body, node.span, expressions.holdsWhichNoSingleValue(mapName(body, map.name), map.value.aggregate))
  );
}

function checkIncrement(node: Extract<Expression, { kind: "increment" }>, body: Body): Expression {
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

// ── operators ────────────────────────────────────────────────────────────────────────────────────────────────────────

function checkUnary(node: Extract<Expression, { kind: "unary" }>, body: Body): Expression {
  const target = node.operator === "*" ? behindLostPointer(node.operand, body) : undefined;
  if (target !== undefined) return target;
  if (node.operator === "&" && (node.operand.kind === "variable" || node.operand.kind === "map"))
    return checkAddress(node, node.operand, body);
  if (node.operator === "&" && ["member", "index"].includes(node.operand.kind)) return checkPlaceAddress(node, body);
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
        if (operand.value > 1n << 63n)
          return { ...node, operand, type: report(body, node.span, expressions.numberDoesNotFitInto()) };
        return integerLiteral(-operand.value, literalType(-operand.value), node.span);
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
            type: report(body, node.span, expressions.cannotDereferenceVoidPointer()),
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
  const operand = wholeMap(of, body) as MapAccess;
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

/** `&$p->state`: where a member or an element is in memory. */
function checkPlaceAddress(node: Extract<Expression, { kind: "unary" }>, body: Body): Expression {
  const operand = checkPlace(node.operand, body);
  if (operand.type.kind === "unknown") return { ...node, operand, type: unknownType };
  if (operand.kind === "member" && operand.path?.bitWidth !== undefined)
    return { ...node, operand, type: report(body, node.span, expressions.bitFieldNoAddress()) };
  needsKernel(body, "the address of a member", node.span);
  const { type } = operand;
  const space = type.kind === "struct" && type.space === "user" ? "user" : defaultSpace(body);
  return { ...node, operand, type: { kind: "pointer", target: type, space } };
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

function checkBinary(node: Extract<Expression, { kind: "binary" }>, body: Body): Expression {
  if (node.operator === "&&" || node.operator === "||") {
    return { ...node, left: checkCondition(node.left, body), right: checkCondition(node.right, body), type: boolType };
  }
  const left = checkValue(node.left, body);
  const right = checkValue(node.right, body);
  if (node.operator === "+" && body.pass.program.rules.texts.plusJoins && (isTextual(left) || isTextual(right))) {
    return body.pass.expression(
      { kind: "call", name: "str_concat", args: [node.left, node.right], span: node.span, type: unknownType },
      body,
    );
  }
  if (node.operator === "+" && left.kind === "string" && right.kind === "string") {
    const value = left.value + right.value;
    return { kind: "string", value, span: node.span, type: { kind: "string", capacity: textLength(value) + 1 } };
  }
  const rest = node.operator === "+" ? textFrom(left, right) : undefined;
  if (rest !== undefined)
    return checkExpression({ kind: "string", value: rest, span: node.span, type: unknownType }, body);
  if (
    (node.operator === "<<" || node.operator === ">>") &&
    right.kind === "integer" &&
    isLiteral(right) &&
    (right.value < 0n || right.value > 63n)
  ) {
    return {
      ...node,
      left,
      right,
      type: report(body, node.span, expressions.shiftOutsideBits(right.value)),
    };
  }
  const ordered = textOrder(node.operator, left, right);
  if (ordered !== undefined) return { kind: "boolean", value: ordered, span: node.span, type: boolType };
  const written = writtenOut(node.operator, left, right);
  if (written !== undefined && (written > maxUnsigned || written < -(1n << 63n))) {
    return { ...node, left, right, type: report(body, node.span, expressions.numberDoesNotFitInto()) };
  }
  // Between the greatest int64 and the greatest uint64.
  if (written !== undefined && written >= 1n << 63n && body.pass.program.rules.integers.signed !== "all")
    return { ...node, left, right, type: u64 };
  const probeName = comparedName(node, left, right, body) ?? comparedName(node, right, left, body);
  if (probeName !== undefined) return probeName;
  const { division, widths } = body.pass.program.rules.integers;
  const floors = division === "floors" && (node.operator === "/" || node.operator === "%");
  const type = binaryType(node.operator, left, right, node.span, body);
  const asC = widths === "C" && type.kind !== "unknown" ? convertedOperands(node.operator, left, right) : undefined;
  return { ...node, left, right, ...(floors ? { floors } : {}), type, ...asC };
}

const maxUnsigned = (1n << 64n) - 1n;

/** What two literals make, exactly, where that may be more than 64 bits hold. */
function writtenOut(operator: BinaryOperator, left: Expression, right: Expression): bigint | undefined {
  if (left.kind !== "integer" || right.kind !== "integer" || !isLiteral(left) || !isLiteral(right)) return undefined;
  switch (operator) {
    case "+":
      return left.value + right.value;
    case "*":
      return left.value * right.value;
    case "<<":
      return left.value << right.value;
    default:
      return undefined;
  }
}

/** Which of two texts is the greater is told of written ones alone. */
function textOrder(operator: BinaryOperator, left: Expression, right: Expression): boolean | undefined {
  if (left.kind !== "string" || right.kind !== "string") return undefined;
  switch (operator) {
    case "<":
      return left.value < right.value;
    case "<=":
      return left.value <= right.value;
    case ">":
      return left.value > right.value;
    case ">=":
      return left.value >= right.value;
    default:
      return undefined;
  }
}

function isTextual({ type }: Expression): boolean {
  return (
    type.kind === "string" ||
    (type.kind === "array" && type.element.kind === "integer" && type.element.character === true)
  );
}

/** `probe == "…"`: known before running when all sites have, or none has, that name; else each site is told apart. */
function comparedName(
  node: Extract<Expression, { kind: "binary" }>,
  named: Expression,
  text: Expression,
  body: Body,
): Expression | undefined {
  const { operator } = node;
  const names = siteNames(named, body);
  if (names === undefined || text.type.kind !== "string") return undefined;
  if (text.kind === "string" && (operator === "==" || operator === "!=")) {
    const equal = names.filter((name) => name === text.value).length;
    if (equal === 0 || equal === names.length)
      return { kind: "boolean", value: equal > 0 === (operator === "=="), span: node.span, type: boolType };
  }
  const name = siteName(named, body);
  if (name !== undefined)
    return name.kind === "string"
      ? checkExpression({ ...node, ...(node.left.span === named.span ? { left: name } : { right: name }) }, body)
      : { ...node, type: unknownType };
  return {
    kind: "boolean",
    value: false,
    span: node.span,
    type: report(body, node.span, expressions.nameLookedUpWhenPrinted("name" in named ? named.name : "")),
  };
}

function checkConditional(node: Extract<Expression, { kind: "conditional" }>, body: Body): Expression {
  const condition = checkCondition(node.condition, body);
  const decided = constantOf(condition);
  if (decided !== undefined) return checkExpression(decided === 0n ? node.otherwise : node.then, body);
  const then = checkExpression(node.then, body);
  const otherwise = checkExpression(node.otherwise, body);
  const type =
    unify(then.type, otherwise.type) ??
    report(
      body,
      node.span,
      expressions.branchesDifferentTypes(describe(settled(then.type)), describe(settled(otherwise.type))),
    );
  return { ...node, condition, then, otherwise, type: known(type) };
}

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

function checkIndex(node: Extract<Expression, { kind: "index" }>, body: Body): Expression {
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

function checkTupleIndex(node: Extract<Expression, { kind: "tuple-index" }>, body: Body): Expression {
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

// ── compile-time sizes ───────────────────────────────────────────────────────────────────────────────────────────────

function checkSizeOf(node: Extract<Expression, { kind: "sizeof" }>, body: Body): Expression {
  const type = typeOf(node.of, body);
  if (type === undefined) return { ...node, type: unknownType };
  const constant = BigInt(sizeOf(type));
  return { ...node, constant, type: literalType(constant) };
}

function checkOffsetOf(node: Extract<Expression, { kind: "offsetof" }>, body: Body): Expression {
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
  report(body, of.span, says("name", resolved.problem, resolved.help));
  return undefined;
}
