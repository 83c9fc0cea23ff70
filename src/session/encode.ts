// JavaScript values to bytes: the way back of decode.ts, for what a program around the script stores in its maps.
import { fieldLayout, sizeOf } from "../language/layout.ts";
import { isFloat, type Type } from "../language/types.ts";
import { library } from "../messages/on-demand.ts";
import type { LibraryMessage } from "../messages/message.ts";

/** What is stored does not fit the map. */
export class EncodeError extends TypeError {
  constructor({ message }: LibraryMessage) {
    super(message);
  }
}

/** A map's key: one part as it is, several as a tuple. */
export function encodeKey(types: readonly Type[], parts: readonly unknown[]): Uint8Array | null {
  if (parts.length !== types.length) throw new EncodeError(library().keyParts(types.length, parts.length));
  if (types.length === 0) return null;
  return types.length === 1 ? encode(types[0], parts[0]) : encode({ kind: "tuple", elements: types }, parts);
}

/**
 * @throws EncodeError for values of another type, and for types that only the kernel can make: stacks, names, structs
 */
export function encode(type: Type, value: unknown): Uint8Array {
  const bytes = new Uint8Array(sizeOf(type));
  write(type, value, new DataView(bytes.buffer), bytes, 0);
  return bytes;
}

function write(type: Type, value: unknown, view: DataView, bytes: Uint8Array, offset: number): void {
  switch (type.kind) {
    case "boolean":
      if (typeof value !== "boolean") throw mismatch("a boolean", value);
      bytes[offset] = Number(value);
      return;
    case "integer":
    case "enum":
    case "pointer": {
      const whole = integer(value);
      // The low bits, as a cast in a handler takes them.
      switch (type.kind === "pointer" ? 64 : type.bits) {
        case 8:
          view.setUint8(offset, Number(BigInt.asUintN(8, whole)));
          return;
        case 16:
          view.setUint16(offset, Number(BigInt.asUintN(16, whole)), true);
          return;
        case 32:
          view.setUint32(offset, Number(BigInt.asUintN(32, whole)), true);
          return;
        default:
          view.setBigUint64(offset, BigInt.asUintN(64, whole), true);
          return;
      }
    }
    case "string": {
      if (typeof value !== "string") throw mismatch("a string", value);
      // Cut as the kernel cuts it, with room for the byte that ends it; what is behind stays zero.
      const text = new TextEncoder().encode(value);
      bytes.set(text.subarray(0, Math.max(0, type.capacity - 1)), offset);
      return;
    }
    case "buffer": {
      if (!(value instanceof Uint8Array)) throw mismatch("bytes", value);
      const part = value.subarray(0, type.capacity);
      view.setUint32(offset, part.length, true);
      bytes.set(part, offset + 4);
      return;
    }
    case "tuple": {
      if (!Array.isArray(value) || value.length !== type.elements.length)
        throw mismatch(`an array of ${type.elements.length}`, value);
      const { offsets } = fieldLayout(type.elements);
      type.elements.forEach((element, i) => write(element, value[i], view, bytes, offset + offsets[i]));
      return;
    }
    case "record": {
      if (typeof value !== "object" || value === null) throw mismatch("an object", value);
      const { offsets } = fieldLayout(type.fields.map((field) => field.type));
      type.fields.forEach(({ name, type: inner }, i) =>
        write(inner, (value as Readonly<Record<string, unknown>>)[name], view, bytes, offset + offsets[i]),
      );
      return;
    }
    case "array": {
      if (type.element.kind === "integer" && type.element.character)
        return write({ kind: "string", capacity: type.length }, value, view, bytes, offset);
      if (!Array.isArray(value) || value.length !== type.length) throw mismatch(`an array of ${type.length}`, value);
      const stride = sizeOf(type.element);
      value.forEach((item, i) => write(type.element, item, view, bytes, offset + i * stride));
      return;
    }
    case "aggregate":
      throw new EncodeError(library().aggregateSet(type.aggregate));
    case "named":
      if (isFloat(type)) {
        if (typeof value !== "number") throw mismatch("a number", value);
        if (type.of === "float32") view.setFloat32(offset, value, true);
        else view.setFloat64(offset, value, true);
        return;
      }
      throw new EncodeError(library().madeInHandlers(type.of));
    case "unknown":
    case "void":
    case "struct":
    case "sequence":
    case "choice":
    case "stack":
      throw new EncodeError(library().madeInHandlers(type.kind));
  }
}

/** Booleans are numbers to handlers. */
function integer(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "boolean") return BigInt(value);
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
  throw mismatch("an integer", value);
}

function mismatch(wanted: string, value: unknown): EncodeError {
  return new EncodeError(library().otherValue(wanted, described(value)));
}

function described(value: unknown): string {
  switch (typeof value) {
    case "object":
      return value === null ? "null" : Array.isArray(value) ? `an array of ${value.length}` : "an object";
    case "undefined":
      return "undefined";
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    case "string":
      return JSON.stringify(value);
    default:
      return String(value);
  }
}
