// Assignments, as statements and as values.
import { compiler } from "../../messages/compiler.ts";
import type { Assignment, Expression, MapAccess, Statement, Variable } from "../../language/program.ts";
import { float64, isFloat, type Type } from "../../language/types.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Instruction, IrMap, Place, Source, Value } from "../ir/ir.ts";
import { divide } from "./division.ts";
import { keyPlace, mapOf, mapValue } from "./map-access.ts";
import { isRegister, isSigned, storedType, widthOf } from "./registers.ts";
import { arithmetic, convert, isComparison } from "./scalars.ts";
import type { FunctionState, Located } from "./state.ts";

type Assign = Statement & { kind: "assign" };

export function declare(f: FunctionState, variable: Variable, value: Expression | undefined): void {
  const home = f.home(slotOf(f, variable));
  if (value !== undefined) {
    store(f, home, value);
  } else if (isRegister(home.type)) {
    f.storeHome(home, f.build.constant(0n));
  } else if (home.kind === "memory") {
    f.markWritten(home);
    f.build.emit({ op: "zero", at: home.place, size: Math.max(1, sizeOf(home.type)) });
  }
}

/** The number of a variable in its frame. */
export function slotOf(f: FunctionState, variable: Variable): number {
  return variable.slot ?? f.fault(variable.span, "a variable without a slot");
}

export function store(f: FunctionState, home: ReturnType<FunctionState["home"]>, e: Expression): void {
  if (isRegister(home.type)) {
    f.storeHome(home, convert(f, f.value(e), e.type, home.type));
  } else if (home.kind === "memory") {
    f.markWritten(home);
    f.into(e, home.type, home.place);
  } else {
    f.refuse(e.span, compiler.loopVariableAssigned());
  }
}

export function assign(f: FunctionState, s: Assign): void {
  const { target, operator, value } = s;
  if (target.kind === "variable") {
    const home = f.home(slotOf(f, target));
    if (operator === null && home.kind === "memory" && !isRegister(home.type) && canFail(f, value)) {
      // Where it fails the variable stays as it is.
      const place = f.slot("assigned", home.type);
      f.into(value, home.type, place);
      f.markWritten(home);
      f.build.emit({
        op: "fill",
        to: home.place,
        source: { kind: "copy", from: place, size: Math.max(1, sizeOf(home.type)) },
      });
    } else if (operator === null) store(f, home, value);
    else f.storeHome(home, combined(f, s, f.loadHome(home), home.type));
    return;
  }
  intoMap(f, s, target);
}

/** In a `try` what is read may fail, and the handler of errors goes on. */
function canFail({ catching }: FunctionState, { kind }: Expression): boolean {
  return catching !== undefined && kind !== "string" && kind !== "variable";
}

/** A number that is assigned: what the target has afterwards. */
export function assignedValue(f: FunctionState, e: Assignment): Value {
  const s: Assign = { ...e, kind: "assign" };
  const { target } = e;
  if (target.kind === "map") {
    const stored = intoMap(f, s, target, true) ?? f.fault(e.span, "a value that is not a number");
    return convert(f, stored, storedType(target.type), e.type);
  }
  assign(f, s);
  const home = f.home(slotOf(f, target));
  return convert(f, f.loadHome(home), home.type, e.type);
}

/** What is no number, where it is then. */
export function assignedPlace(f: FunctionState, e: Assignment): Located {
  const s: Assign = { ...e, kind: "assign" };
  const { target } = e;
  if (target.kind === "variable") {
    assign(f, s);
    return f.locate(target);
  }
  const { index, map } = mapOf(f, target);
  if (map.value.kind === "aggregate") return f.fault(e.span, "an assignment to a map that holds an aggregation");
  const place = f.slot("assigned", map.value);
  f.into(e.value, map.value, place);
  const key = keyPlace(f, target);
  f.build.emit({
    op: "map-store",
    map: index,
    ...(key === undefined ? {} : { key }),
    source: { kind: "copy", from: place, size: sizeOf(map.value) },
  });
  return { at: "place", place };
}

/** Gives what is stored, when it is a number and `used`. */
function intoMap(f: FunctionState, s: Assign, target: MapAccess, used = false): Value | undefined {
  const { build } = f;
  const { operator, value } = s;
  const { index, map } = mapOf(f, target);
  if (map.value.kind === "aggregate") return f.fault(s.span, "an assignment to a map that holds an aggregation");
  if (operator === "+" || operator === "-") {
    const added = mapAddend(f, value, target, operator);
    if (added !== undefined) {
      const key = keyPlace(f, target);
      const add = (more: { readonly result?: Value }): Instruction => ({
        op: "map-add",
        map: index,
        ...(key === undefined ? {} : { key }),
        value: added,
        ...more,
      });
      if (!used && !deletesZero(f, map)) {
        build.emit(add({}));
        return added;
      }
      const result = build.give((value) => add({ result: value }));
      if (deletesZero(f, map)) deleteZero(f, index, key, result);
      return result;
    }
  }
  const stored = storedType(map.value);
  let source: Source;
  if (operator === null) source = f.source(value, stored, true);
  else source = { kind: "value", value: combined(f, s, mapValue(f, target), stored), width: widthOf(stored) };
  const key = keyPlace(f, target);
  build.emit({ op: "map-store", map: index, ...(key === undefined ? {} : { key }), source });
  if (source.kind === "value" && deletesZero(f, map)) deleteZero(f, index, key, source.value);
  return source.kind === "value" ? source.value : undefined;
}

/** Whether an entry of a map goes when the number 0 is stored in it. */
export function deletesZero(f: FunctionState, { keys, value }: IrMap): boolean {
  return f.rules.maps.storingZero === "deletes" && keys.length > 0 && isRegister(value);
}

/** Takes away the entry in which a number was stored that is 0. */
export function deleteZero(f: FunctionState, map: number, key: Place | undefined, stored: Value): void {
  const { build } = f;
  const join = build.newBlock();
  const edges = build.branch(stored);
  build.start(edges.otherwise);
  build.emit({ op: "map-delete", map, ...(key === undefined ? {} : { key }) });
  build.jump(join);
  build.start(edges.then);
  build.jump(join);
  build.seal(join);
  build.start(join);
}

/** What `@m += v` adds to the 64 bits of an entry; undefined where adding is more than that. */
function mapAddend(f: FunctionState, value: Expression, target: MapAccess, operator: "+" | "-"): Value | undefined {
  const { map } = mapOf(f, target);
  if (map.value.kind !== "integer" && map.value.kind !== "enum") return undefined;
  const added = f.value(value);
  return operator === "+" ? added : f.build.binary("sub", f.build.constant(0n), added);
}

/** `old OPERATOR value`, as a value of the target's type. */
function combined(f: FunctionState, s: Statement & { kind: "assign" }, old: Value, type: Type): Value {
  const { operator, value } = s;
  if (operator === null || operator === "&&" || operator === "||" || isComparison(operator)) {
    return f.fault(s.span, "an assignment by an operator that does not assign");
  }
  const operand = { value: f.value(value), type: value.type };
  const wide: Type =
    type.kind === "pointer" ? type : isFloat(type) ? float64 : { kind: "integer", bits: 64, signed: isSigned(type) };
  const before = { value: old, type };
  const result =
    operator === "/" || operator === "%"
      ? divide(f, operator, before, operand, wide, s)
      : arithmetic(f, operator, before, operand, wide);
  return convert(f, result, wide, type);
}
