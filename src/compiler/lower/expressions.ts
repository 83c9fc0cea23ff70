// Expressions: scalars become SSA values; everything else is located, and read or made where it is consumed.
import type {
  Binary,
  BlockExpression,
  Cast,
  Conditional,
  Expression,
  Increment,
  Unary,
  Variable,
} from "../../language/program.ts";
import { i64, isFloat, type Type } from "../../language/types.ts";
import { bitsOfDouble } from "../../language/floating.ts";
import { fieldLayout, sizeOf } from "../../language/layout.ts";
import { textBytes } from "../../language/text-bytes.ts";
import type { Place, Source, Value } from "../ir/ir.ts";
import { accessValue, addressValue, entryValue, locateAccess, locateEntry } from "./access.ts";
import { assignedPlace, assignedValue, slotOf, deletesZero, deleteZero } from "./assign.ts";
import { builtinLocated, builtinValue } from "./builtins.ts";
import { callLocated, callValue, findEither } from "./calls.ts";
import { divide } from "./division.ts";
import { equalBytes, equalStrings, orderedStrings } from "./equality.ts";
import { inlineCall, isScriptFunction } from "./inline.ts";
import { copyEntry, keyPlace, mapOf, mapValue, resultValue } from "./map-access.ts";
import { at, constantString, copy, hasPadding, load, loadBytes, sourceOf } from "./memory.ts";
import { isRegister, isSigned, sameLayout, storedType, widthOf } from "./registers.ts";
import { arithmetic, compared, convert, isComparison, scaled } from "./scalars.ts";
import type { FunctionState, Home, Located } from "./state.ts";
import { lazy } from "../../base/lazy.ts";

const floats = lazy<typeof import("./floats.ts")>(() => require("./floats.ts"));

const shapedValues = lazy<typeof import("./shaped.ts")>(() => require("./shaped.ts"));

// ── scalars ──

export function value(f: FunctionState, e: Expression): Value {
  const { build } = f;
  switch (e.kind) {
    case "integer":
      return build.constant(e.value);
    case "float":
      return build.constant(bitsOfDouble(e.value));
    case "boolean":
      return build.constant(e.value ? 1n : 0n);
    case "identifier":
    case "sizeof":
    case "offsetof":
      if (e.constant === undefined) return f.fault(e.span, "a constant without a value");
      return build.constant(e.constant);
    case "builtin":
      return builtinValue(f, e);
    case "variable":
      return variableValue(f, e);
    case "map":
      return mapValue(f, e);
    case "unary":
      return unaryValue(f, e);
    case "binary":
      return binaryValue(f, e);
    case "conditional":
      return conditionalValue(f, e);
    case "assignment":
      return assignedValue(f, e);
    case "increment":
      return incrementValue(f, e, true);
    case "call":
      return isScriptFunction(f, e) ? returned(f, inlineCall(f, e)) : callValue(f, e);
    case "member":
    case "index":
    case "tuple-index":
      return accessValue(f, e);
    case "cast":
      return castValue(f, e);
    case "block-expression":
      return inBlock(f, e, () => f.value(e.value));
    case "result":
      return resultValue(f, e);
    case "presence":
    case "described":
    case "string":
    case "tuple":
    case "record":
    case "sequence":
    case "choice":
      return f.fault(e.span, "a value that is not a number");
  }
}

function returned(f: FunctionState, home: Home | undefined): Value {
  return home === undefined ? f.build.constant(0n) : f.loadHome(home);
}

function variableValue(f: FunctionState, e: Variable): Value {
  const home = f.home(slotOf(f, e));
  if (home.kind === "entry") return entryValue(f, home);
  return f.loadHome(home);
}

function inBlock<T>(f: FunctionState, e: BlockExpression, last: () => T): T {
  for (const statement of e.statements) f.run(statement);
  return last();
}

function unaryValue(f: FunctionState, e: Unary): Value {
  const { build } = f;
  const operand = (): Value => f.value(e.operand);
  switch (e.operator) {
    case "-":
      if (isFloat(e.type)) return floats().negated(f, convert(f, operand(), e.operand.type, e.type));
      return arithmetic(
        f,
        "-",
        { value: build.constant(0n), type: e.type },
        { value: operand(), type: e.operand.type },
        e.type,
      );
    case "~":
      return convert(
        f,
        build.binary("xor", operand(), build.constant(-1n)),
        { kind: "integer", bits: 64, signed: true },
        e.type,
      );
    case "!":
      return build.compare("eq", operand(), build.constant(0n));
    case "+":
      return convert(f, operand(), e.operand.type, e.type);
    case "*":
      return accessValue(f, e);
    case "&":
      return addressValue(f, e.operand);
  }
}

function binaryValue(f: FunctionState, e: Binary): Value {
  const { build } = f;
  const { operator, left, right } = e;
  if (operator === "&&" || operator === "||") return shortCircuit(f, e);
  if (isComparison(operator)) {
    if (!isRegister(left.type) || !isRegister(right.type)) {
      const text = left.type.kind === "string" && right.type.kind === "string";
      if (text && operator !== "==" && operator !== "!=") {
        const order = { value: orderedStrings(f, left, right), type: i64 };
        return compared(f, operator, order, { value: build.constant(0n), type: i64 });
      }
      const differ = text ? equalStrings(f, left, right) : equalBytes(f, left, right);
      return operator === "==" ? build.compare("eq", differ, build.constant(0n)) : differ;
    }
    const l = { value: f.value(left), type: left.type };
    return compared(f, operator, l, { value: f.value(right), type: right.type });
  }
  const l = { value: f.value(left), type: left.type };
  const r = { value: f.value(right), type: right.type };
  return operator === "/" || operator === "%"
    ? divide(f, operator, l, r, e.type, e)
    : arithmetic(f, operator, l, r, e.type);
}

/** A condition as a number. */
function shortCircuit(f: FunctionState, e: Expression): Value {
  const { build } = f;
  const [yes, no, join] = [build.newBlock(), build.newBlock(), build.newBlock()];
  const result = build.newVariable();
  f.condition(e, yes, no);
  for (const [block, truth] of [
    [yes, 1n],
    [no, 0n],
  ] as const) {
    build.seal(block);
    build.start(block);
    build.write(result, build.constant(truth));
    build.jump(join);
  }
  build.seal(join);
  build.start(join);
  return build.read(result);
}

/** Ends the current block: on to `then` when the expression is not 0, else to `otherwise`. */
export function condition(f: FunctionState, e: Expression, then: number, otherwise: number): void {
  const { build } = f;
  if (e.kind === "unary" && e.operator === "!") {
    f.condition(e.operand, otherwise, then);
    return;
  }
  if (e.kind === "binary" && (e.operator === "&&" || e.operator === "||")) {
    const middle = build.newBlock();
    if (e.operator === "&&") f.condition(e.left, middle, otherwise);
    else f.condition(e.left, then, middle);
    build.seal(middle);
    build.start(middle);
    f.condition(e.right, then, otherwise);
    return;
  }
  if (e.kind === "call" && e.name === "find" && !isScriptFunction(f, e)) {
    findEither(f, e, then, otherwise);
    return;
  }
  // A text or a struct as a condition is its address, which is never 0.
  const truth = isRegister(e.type) ? f.value(e) : build.constant(1n);
  const edges = build.branch(truth);
  build.start(edges.then);
  build.jump(then);
  build.start(edges.otherwise);
  build.jump(otherwise);
}

/** Runs one of two ways to make a value, and goes on behind both. */
function either(f: FunctionState, e: Conditional, make: (branch: Expression) => void): void {
  const { build } = f;
  const [then, otherwise, join] = [build.newBlock(), build.newBlock(), build.newBlock()];
  f.condition(e.condition, then, otherwise);
  for (const [block, branch] of [
    [then, e.then],
    [otherwise, e.otherwise],
  ] as const) {
    build.seal(block);
    build.start(block);
    make(branch);
    build.jump(join);
  }
  build.seal(join);
  build.start(join);
}

function conditionalValue(f: FunctionState, e: Conditional): Value {
  const result = f.build.newVariable();
  either(f, e, (branch) => {
    f.build.write(
      result,
      isRegister(branch.type) ? convert(f, f.value(branch), branch.type, e.type) : f.build.constant(0n),
    );
  });
  return f.build.read(result);
}

/** `++` and `--`. Without `used` there is no result to give, and a map's entry is only added to. */
export function incrementValue(f: FunctionState, e: Increment, used: boolean): Value {
  const { build } = f;
  const { target } = e;
  const step = build.constant(BigInt(e.delta));
  const delta = target.type.kind === "pointer" ? scaled(f, step, target.type.target) : step;
  if (target.kind === "map") {
    const key = keyPlace(f, target);
    const { index, map: held } = mapOf(f, target);
    const map = { map: index, ...(key === undefined ? {} : { key }), value: delta };
    if (deletesZero(f, held)) {
      const result = build.give((value) => ({ op: "map-add", ...map, result: value }));
      deleteZero(f, index, key, result);
      return e.prefix || !used ? result : build.binary("sub", result, delta);
    }
    if (!used) {
      build.emit({ op: "map-add", ...map });
      return delta;
    }
    return build.give((result) => ({ op: "map-add", ...map, result, ...(e.prefix ? {} : { old: true }) }));
  }
  const home = f.home(slotOf(f, target));
  const old = f.loadHome(home);
  const exact: Type = { kind: "integer", bits: 64, signed: isSigned(target.type) };
  const next = convert(f, build.binary("add", old, delta), exact, target.type);
  f.storeHome(home, next);
  return e.prefix ? next : old;
}

function castValue(f: FunctionState, e: Cast): Value {
  const { operand, type } = e;
  if (isRegister(operand.type)) {
    const from = f.value(operand);
    const result = convert(f, from, operand.type, type);
    return result;
  }
  const width = widthOf(type);
  let located = f.locate(operand);
  if (operand.type.kind === "string" || sizeOf(operand.type) < width) {
    const place = f.slotOf("cast", Math.max(8, sizeOf(operand.type)));
    f.build.emit({ op: "zero", at: place, size: 8 });
    copy(f, located, operand.type, operand.type, place);
    located = { at: "place", place };
  }
  return loadBytes(f, located, width, isSigned(type));
}

// ── everything else ──

export function locate(f: FunctionState, e: Expression): Located {
  switch (e.kind) {
    case "string":
      return { at: "source", source: literal(e.value, sizeOf(e.type)) };
    case "builtin":
      return builtinLocated(f, e);
    case "variable": {
      const home = f.home(slotOf(f, e));
      switch (home.kind) {
        case "memory":
          return { at: "place", place: home.place };
        case "entry": {
          const place = f.slot("entry", home.type);
          entry(f, home, place);
          return { at: "place", place };
        }
        case "register":
          return { at: "source", source: { kind: "value", value: f.loadHome(home), width: 8 } };
      }
    }
    case "map": {
      const place = f.slot(`@${e.name}`, e.type);
      f.into(e, e.type, place);
      return { at: "place", place };
    }
    case "call": {
      if (!isScriptFunction(f, e)) return callLocated(f, e);
      const home = inlineCall(f, e);
      return home?.kind === "memory"
        ? { at: "place", place: home.place }
        : f.fault(e.span, "a value of a function without a result in memory");
    }
    case "member":
    case "index":
    case "tuple-index":
      return locateAccess(f, e);
    case "unary":
      if (e.operator === "*") return locateAccess(f, e);
      return f.fault(e.span, "a unary operator on what is not a number");
    case "cast":
      return castLocated(f, e);
    case "conditional":
    case "tuple":
    case "record":
    case "sequence":
    case "choice": {
      const place = f.slot(e.kind, e.type);
      f.into(e, e.type, place);
      return { at: "place", place };
    }
    case "block-expression":
      return inBlock(f, e, () => f.locate(e.value));
    case "assignment":
      if (isRegister(e.type))
        return { at: "source", source: { kind: "value", value: f.value(e), width: widthOf(e.type) } };
      return assignedPlace(f, e);
    case "presence":
    case "described":
    case "result":
    case "integer":
    case "float":
    case "boolean":
    case "identifier":
    case "binary":
    case "increment":
    case "sizeof":
    case "offsetof":
      return { at: "source", source: { kind: "value", value: f.value(e), width: widthOf(e.type) } };
  }
}

function literal(text: string, size: number): Source {
  const characters = textBytes(text);
  const bytes = new Uint8Array(characters.length + 1);
  bytes.set(characters);
  return constantString(bytes, { kind: "string", capacity: Math.max(1, size) });
}

function castLocated(f: FunctionState, e: Cast): Located {
  const { operand, type } = e;
  if (isRegister(operand.type)) {
    // An integer's bytes as an array.
    const from = f.value(operand);
    if ([1, 2, 4, 8].includes(sizeOf(type)))
      return { at: "source", source: { kind: "value", value: from, width: widthOf(type) } };
    const whole = f.slotOf("cast", 8);
    f.build.emit({ op: "store", to: whole, value: from, size: 8 });
    return { at: "place", place: whole };
  }
  const located = f.locate(operand);
  if (sameLayout(operand.type, type)) return located;
  // Text that is still to be read is read into less room.
  if (located.at === "source" && type.kind === "string")
    return { at: "source", source: sourceOf(f, located, operand.type, type, true) };
  const place = f.slot("cast", type);
  copy(f, located, operand.type, type, place);
  return { at: "place", place };
}

export function into(f: FunctionState, e: Expression, type: Type, place: Place): void {
  const { build } = f;
  if (isRegister(type)) {
    build.emit({ op: "store", to: place, value: converted(f, e, type), size: widthOf(type) });
    return;
  }
  switch (e.kind) {
    case "tuple":
      if (type.kind !== "tuple") break;
      fields(
        f,
        e.elements.map((value, i) => [value, i]),
        type.elements,
        place,
        type,
      );
      return;
    case "record": {
      if (type.kind !== "record") break;
      // In the order of the text, wherever the type has them.
      const placed = e.fields.map(
        ({ name, value }) => [value, type.fields.findIndex((field) => field.name === name)] as const,
      );
      fields(
        f,
        placed,
        type.fields.map((field) => field.type),
        place,
        type,
      );
      return;
    }
    case "sequence":
    case "choice": {
      if (!sameLayout(e.type, type)) break;
      const { shapedInto } = shapedValues();
      return shapedInto(f, e, place);
    }
    case "conditional":
      either(f, e, (branch) => f.into(branch, type, place));
      return;
    case "block-expression":
      inBlock(f, e, () => f.into(e.value, type, place));
      return;
    case "map": {
      const { index, map } = mapOf(f, e);
      if (map.value.kind === "aggregate" || !sameLayout(map.value, type)) {
        if (map.value.kind === "aggregate") return f.fault(e.span, "a copy of an aggregation");
        const own = f.slot(`@${e.name}`, map.value);
        f.into(e, map.value, own);
        copy(f, { at: "place", place: own }, map.value, type, place);
        return;
      }
      copyEntry(f, index, keyPlace(f, e), sizeOf(type), place);
      return;
    }
    default:
  }
  copy(f, f.locate(e), e.type, type, place);
}

/** Each value with its place among the types. */
function fields(
  f: FunctionState,
  values: readonly (readonly [value: Expression, index: number])[],
  types: readonly Type[],
  place: Place,
  whole: Type,
): void {
  const { offsets, size } = fieldLayout(types);
  if (hasPadding(whole)) f.build.emit({ op: "zero", at: place, size });
  for (const [e, i] of values) f.into(e, types[i], at(place, offsets[i]));
}

/** A register value of another type. */
function converted(f: FunctionState, e: Expression, type: Type): Value {
  if (isRegister(e.type)) return convert(f, f.value(e), e.type, type);
  return load(f, f.locate(e), type);
}

export function source(f: FunctionState, e: Expression, type: Type, padded: boolean): Source {
  if (isRegister(type)) return { kind: "value", value: converted(f, e, type), width: widthOf(type) };
  switch (e.kind) {
    case "tuple":
    case "record":
    case "sequence":
    case "choice":
    case "conditional": {
      const place = f.slot(e.kind, type);
      f.into(e, type, place);
      return { kind: "copy", from: place, size: sizeOf(type) };
    }
    case "block-expression":
      return inBlock(f, e, () => f.source(e.value, type, padded));
    default:
      return sourceOf(f, f.locate(e), e.type, type, padded);
  }
}

/** Writes a loop's (key, value) tuple. */
export function entry(f: FunctionState, home: Home & { kind: "entry" }, to: Place): void {
  const { type, map } = home;
  const { keys, value: held } = f.module.maps[map];
  const { offsets } = fieldLayout(type.elements);
  if (hasPadding(type)) f.build.emit({ op: "zero", at: to, size: sizeOf(type) });
  const own: readonly Type[] = [
    keys.length === 1 ? keys[0] : { kind: "tuple", elements: keys },
    held.kind === "aggregate" ? type.elements[1] : storedType(held),
  ];
  type.elements.forEach((element, i) => {
    const located = locateEntry(f, home, i);
    const place = at(to, offsets[i]);
    if (isRegister(element))
      f.build.emit({ op: "store", to: place, value: load(f, located, own[i]), size: widthOf(element) });
    else copy(f, located, own[i], element, place);
  });
}
