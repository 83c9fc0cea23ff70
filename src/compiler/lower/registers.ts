// Which values are registers, and in how many bytes they are stored.
import { InternalError } from "../../base/internal-error.ts";
import type { Width } from "../ir/ir.ts";
import type { BooleanType, EnumType, IntegerType, NamedType, PointerType, Type } from "../../language/types.ts";
import { isFloat, isScalar } from "../../language/types.ts";
import { sizeOf } from "../../language/layout.ts";

/** Scalars, and numbers with a name (`ksym`, `probe`, …): what an SSA value can hold. Everything else is memory. */
export function isRegister(type: Type): type is BooleanType | IntegerType | EnumType | PointerType | NamedType {
  return isScalar(type) || (type.kind === "named" && sizeOf(type) <= 8);
}

/** Bytes that a register type takes in memory. */
export function widthOf(type: Type): Width {
  const size = sizeOf(type);
  if (size === 1 || size === 2 || size === 4 || size === 8) return size;
  throw new InternalError(`a value of type ${type.kind} does not fit a register`);
}

/** Whether the type's values are sign-extended. */
export function isSigned(type: Type): boolean {
  return (type.kind === "integer" || type.kind === "enum") && type.signed;
}

/** How a map or a tuple holds values: integers in 64 bits. */
export function storedType(type: Type): Type {
  return type.kind === "integer" || type.kind === "enum" ? { ...type, bits: 64 } : type;
}

/** Same bytes in memory, so that one can be copied as the other. */
export function sameLayout(from: Type, to: Type): boolean {
  if (from === to) return true;
  if (from.kind === "tuple" && to.kind === "tuple") {
    return from.elements.length === to.elements.length && from.elements.every((e, i) => sameLayout(e, to.elements[i]));
  }
  if (from.kind === "record" && to.kind === "record") {
    return (
      from.fields.length === to.fields.length &&
      from.fields.every((f, i) => f.name === to.fields[i].name && sameLayout(f.type, to.fields[i].type))
    );
  }
  if (isRegister(from) && isRegister(to)) return isFloat(from) === isFloat(to) && sizeOf(from) === sizeOf(to);
  return from.kind === to.kind && sizeOf(from) === sizeOf(to);
}
