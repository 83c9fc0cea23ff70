// Typed access: members, elements and what pointers point to. A chain of embedded structs is one address and one read.
import { compiler } from "../../messages/compiler.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Expression, IndexAccess, MemberAccess, TupleAccess, Unary, Variable } from "../../language/program.ts";
import type { PointerType, Type } from "../../language/types.ts";
import { fieldLayout, sizeOf } from "../../language/layout.ts";
import type { Place, Value } from "../ir/ir.ts";
import { argumentPlace, argumentValue, contextOf, fetchedFrom } from "./fetch.ts";
import { programVariable } from "./program-variable.ts";
import { behind, load, loadBits, part, addressOf, placeOf } from "./memory.ts";
import { aggregateValue, mapOf } from "./map-access.ts";
import { isRegister, isSigned } from "./registers.ts";
import { addressWithinBounds, checkBounds, withinBounds } from "./bounds.ts";
import { chooseByIndex } from "./decision-tree.ts";
import type { FunctionState, Home, Located } from "./state.ts";

/** What can be pointed at: where the expression's bytes are, without reading them. */
export function locateAccess(f: FunctionState, e: MemberAccess | IndexAccess | TupleAccess | Unary): Located {
  switch (e.kind) {
    case "member":
      return locateMember(f, e);
    case "index":
      return locateElement(f, e);
    case "tuple-index":
      return locateField(f, e.object, e.index);
    case "unary":
      return behind(f, f.value(e.operand), pointerType(f, e.operand));
  }
}

/** The scalar that an access reads. */
export function accessValue(f: FunctionState, e: MemberAccess | IndexAccess | TupleAccess | Unary): Value {
  if (e.kind === "member" && e.path !== undefined) {
    const { path } = e;
    if (path.container === "args") return argumentValue(f, argument(f, e));
    if (path.bitWidth !== undefined) {
      const { bitOffset = 0, bitWidth } = path;
      return withinBounds(f, e, () => loadBits(f, locateMember(f, e), bitOffset, bitWidth, isSigned(e.type)));
    }
  }
  if (e.kind === "tuple-index") {
    const home = entryOf(f, e.object);
    if (home !== undefined && e.index === 1) return entryValue(f, home);
  }
  return withinBounds(f, e, () => {
    if (e.kind !== "index") return load(f, locateAccess(f, e), e.type);
    const found = findElement(f, e);
    if ("at" in found) return load(f, found, e.type);
    const { place, index, length } = found;
    return chooseByIndex(f, index, length, (i) =>
      load(f, part(f, { at: "place", place }, e.object.type, i * elementSize(e)), e.type),
    );
  });
}

function argument(f: FunctionState, e: MemberAccess) {
  const found = contextOf(f)?.args?.[e.path?.argument ?? -1];
  return found ?? f.fault(e.nameSpan, "an argument that the context does not have");
}

function locateMember(f: FunctionState, e: MemberAccess): Located {
  const { object, path } = e;
  if (path === undefined) {
    const record = object.type;
    if (record.kind !== "record") return f.fault(e.span, "a member of what is not a record");
    return locateField(
      f,
      object,
      record.fields.findIndex((field) => field.name === e.name),
    );
  }
  if (path.container === "args") return argumentPlace(f, argument(f, e));
  const base = object.type.kind === "pointer" ? behind(f, f.value(object), object.type) : f.locate(object);
  return part(f, base, object.type, path.offset);
}

/** Field of a tuple or a record. */
function locateField(f: FunctionState, object: Expression, index: number): Located {
  const home = entryOf(f, object);
  if (home !== undefined) return locateEntry(f, home, index);
  const { type } = object;
  const fields =
    type.kind === "tuple" ? type.elements : type.kind === "record" ? type.fields.map((field) => field.type) : [];
  return part(f, f.locate(object), type, fieldLayout(fields).offsets[index]);
}

/** The loop variable of a loop over a map of this very callback: its key and value need no copy. */
function entryOf(f: FunctionState, object: Expression): (Home & { kind: "entry" }) | undefined {
  if (object.kind !== "variable" || object.slot === undefined) return undefined;
  const known = f.frame.homes.get(object.slot);
  return known?.kind === "entry" && known.owner === f ? known : undefined;
}

export function locateEntry(f: FunctionState, home: Home & { kind: "entry" }, index: number): Located {
  if (index === 0) return { at: "place", place: { kind: "callback", of: "key", offset: 0 } };
  if (f.module.maps[home.map].value.kind === "aggregate") {
    const value = entryValue(f, home);
    return { at: "source", source: { kind: "value", value, width: 8 } };
  }
  return { at: "place", place: { kind: "callback", of: "value", offset: 0 } };
}

/** The value of a loop's entry, when it is a number. An aggregation's is gathered from all CPUs. */
export function entryValue(f: FunctionState, home: Home & { kind: "entry" }): Value {
  const { map } = home;
  const type = home.type.elements[1];
  const { value } = f.module.maps[map];
  if (value.kind === "aggregate") {
    return aggregateValue(f, map, value, { kind: "callback", of: "key", offset: 0 });
  }
  return load(f, { at: "place", place: { kind: "callback", of: "value", offset: 0 } }, type);
}

function locateElement(f: FunctionState, e: IndexAccess): Located {
  const found = findElement(f, e);
  return "at" in found ? found : f.refuse(e.index.span, compiler.copiedArrayOfArrays());
}

const elementSize = (e: IndexAccess): number => Math.max(1, sizeOf(e.type));

/** In our own memory, which has no computed addresses: a decision over the index, which is within the length. */
interface Choice {
  readonly place: Place;
  readonly index: Value;
  readonly length: number;
}

function findElement(f: FunctionState, e: IndexAccess): Located | Choice {
  const { type } = e.object;
  const size = elementSize(e);
  const base = type.kind === "pointer" ? behind(f, f.value(e.object), type) : f.locate(e.object);
  const index = f.value(e.index);
  const known = f.build.constantOf(index);
  if (known !== undefined) return part(f, base, type, Number(known) * size);
  if (base.at === "memory") {
    const address = addressWithinBounds(f, e, index, () =>
      f.build.binary("add", base.address, f.build.binary("mul", index, f.build.constant(BigInt(size)))),
    );
    // The verifier knows no pointer with an unknown offset.
    return { ...base, space: base.space === "typed" ? "kernel" : base.space, address };
  }
  const place = placeOf(f, base, type);
  const length = Math.floor(sizeOf(type) / size);
  if (length > mostChoices) return f.refuse(e.span, compiler.copiedArrayTooLong(length, mostChoices));
  checkBounds(f, e, index);
  return { place, index, length };
}

const mostChoices = 256;

function pointerType(f: FunctionState, e: Expression): PointerType {
  const type: Type = e.type;
  if (type.kind === "pointer") return type;
  return f.fault(e.span, "a dereference of what is not a pointer");
}

function variablePlace(f: FunctionState, e: Variable): Place {
  const home = f.home(e.slot ?? f.fault(e.span, "a variable without a slot"));
  if (home.kind === "memory") return home.place;
  if (home.kind === "register") throw new InternalError("a variable with an address is in memory");
  // A loop's entry, which is in two places.
  const place = f.slot(e.name, home.type);
  f.module.walk.entry(f, home, place);
  return place;
}

/** `&expression`: the address of something in kernel or user memory. */
export function addressValue(f: FunctionState, operand: Expression): Value {
  if (operand.kind === "variable" || operand.kind === "map") {
    const what =
      operand.kind === "map" ? ({ kind: "map", map: mapOf(f, operand).index } as const) : variablePlace(f, operand);
    return f.build.give((result) => ({ op: "address-of", result, what }));
  }
  if (operand.kind === "member" || operand.kind === "index" || (operand.kind === "unary" && operand.operator === "*")) {
    const located = locateAccess(f, operand);
    if (located.at === "memory") return addressOf(f, located);
  }
  if (operand.kind === "call" && operand.name === "var" && isRegister(operand.type)) {
    const address = fetchedFrom(f, programVariable(f, operand));
    if (address !== undefined) return address;
  }
  if (!isRegister(operand.type)) {
    const located = f.locate(operand);
    if (located.at === "memory") return addressOf(f, located);
  }
  return f.refuse(operand.span, compiler.noAddress());
}
