// One type for two: what a variable, a map or a conditional has when it is given values of both.
import { writtenName } from "../written-name.ts";
import type { AggregateType, Alternative, Type } from "../types.ts";
import { float64, isFloat } from "../types.ts";
import { unifyIntegers } from "./integers.ts";

/** The type that holds values of both, or undefined when there is none. Strings take the longer capacity. */
export function unify(left: Type, right: Type): Type | undefined {
  if (left === right) return left;
  if (left.kind === "unknown") return right;
  if (right.kind === "unknown") return left;
  if (left.kind === "enum" && right.kind === "enum" && left.name === right.name && left.bits === right.bits)
    return left;
  if (left.kind === "enum") return unify({ kind: "integer", bits: left.bits, signed: left.signed }, right);
  if (right.kind === "enum") return unify(left, { kind: "integer", bits: right.bits, signed: right.signed });
  // As in C's arithmetic.
  if (isFloat(left) ? isFloat(right) || right.kind === "integer" : isFloat(right) && left.kind === "integer")
    return sameType(left, right) ? left : float64;
  switch (left.kind) {
    case "integer":
      return right.kind === "integer" ? unifyIntegers(left, right) : undefined;
    case "boolean":
    case "void":
      return right.kind === left.kind ? left : undefined;
    case "string":
      return right.kind === "string" ? (left.capacity >= right.capacity ? left : right) : undefined;
    case "buffer":
      return right.kind === "buffer" ? (left.capacity >= right.capacity ? left : right) : undefined;
    case "pointer": {
      if (right.kind !== "pointer") return undefined;
      const target = left.target.kind === "void" ? right.target : left.target;
      if (right.target.kind !== "void" && left.target.kind !== "void" && !sameType(left.target, right.target, anySpace))
        return undefined;
      const space = left.space === "user" || right.space === "user" ? "user" : "kernel";
      return left.typed === true && right.typed === true
        ? { kind: "pointer", target, space, typed: true }
        : { kind: "pointer", target, space };
    }
    case "tuple": {
      if (right.kind !== "tuple" || left.elements.length !== right.elements.length) return undefined;
      const elements = left.elements.map((element, i) => unify(element, right.elements[i]));
      return elements.every((e) => e !== undefined) ? { kind: "tuple", elements } : undefined;
    }
    case "record": {
      if (right.kind !== "record" || left.fields.length !== right.fields.length) return undefined;
      const fields = left.fields.map((field) => {
        const other = right.fields.find((f) => f.name === field.name);
        const type = other === undefined ? undefined : unify(field.type, other.type);
        return type === undefined ? undefined : { name: field.name, type };
      });
      return fields.every((f) => f !== undefined) ? { kind: "record", fields } : undefined;
    }
    // What points into a program somewhere does so everywhere.
    case "struct":
      return sameType(left, right, anySpace)
        ? right.kind === "struct" && right.space === "user"
          ? right
          : left
        : undefined;
    case "array": {
      if (sameType(left, right)) return left;
      const element =
        right.kind === "array" && sameType(left, right, anySpace) ? unify(left.element, right.element) : undefined;
      return element && { kind: "array", element, length: left.length };
    }
    case "sequence":
    case "choice":
    case "stack":
    case "named":
    case "aggregate":
      return sameType(left, right) ? left : undefined;
  }
}

const anySpace = true;

/** `wherever`: pointers may point into different memory. */
export function sameType(left: Type, right: Type, wherever = false): boolean {
  if (left === right) return true;
  switch (left.kind) {
    case "unknown":
    case "void":
    case "boolean":
      return right.kind === left.kind;
    case "integer":
      return right.kind === "integer" && left.bits === right.bits && left.signed === right.signed;
    case "enum":
      return right.kind === "enum" && left.name === right.name && left.bits === right.bits;
    case "pointer":
      return (
        right.kind === "pointer" &&
        (wherever || (left.space === right.space && (left.typed ?? false) === (right.typed ?? false))) &&
        sameType(left.target, right.target, wherever)
      );
    case "struct":
      return (
        right.kind === "struct" &&
        left.name === right.name &&
        left.size === right.size &&
        left.union === right.union &&
        left.partial === right.partial &&
        (wherever || left.space === right.space)
      );
    case "array":
      return right.kind === "array" && left.length === right.length && sameType(left.element, right.element, wherever);
    case "string":
      return right.kind === "string" && left.capacity === right.capacity;
    case "buffer":
      return right.kind === "buffer" && left.capacity === right.capacity;
    case "tuple":
      return (
        right.kind === "tuple" &&
        left.elements.length === right.elements.length &&
        left.elements.every((e, i) => sameType(e, right.elements[i], wherever))
      );
    case "record":
      return (
        right.kind === "record" &&
        left.fields.length === right.fields.length &&
        left.fields.every((f, i) => f.name === right.fields[i].name && sameType(f.type, right.fields[i].type, wherever))
      );
    case "sequence":
      return (
        right.kind === "sequence" &&
        left.form === right.form &&
        left.capacity === right.capacity &&
        left.stride === right.stride &&
        sameType(left.element, right.element, wherever)
      );
    case "choice":
      return (
        right.kind === "choice" &&
        left.alternatives.length === right.alternatives.length &&
        left.alternatives.every((one, i) => sameAlternative(one, right.alternatives[i], wherever))
      );
    case "stack":
      return (
        right.kind === "stack" &&
        left.space === right.space &&
        left.mode === right.mode &&
        left.limit === right.limit &&
        left.unwind === right.unwind
      );
    case "named":
      return right.kind === "named" && left.of === right.of && left.symbol === right.symbol;
    case "aggregate":
      return right.kind === "aggregate" && sameAggregate(left, right);
  }
}

function sameAlternative(left: Alternative, right: Alternative | undefined, wherever: boolean): boolean {
  if (right === undefined || left.name !== right.name || left.none !== right.none) return false;
  if (left.type === undefined || right.type === undefined) return left.type === right.type;
  return sameType(left.type, right.type, wherever);
}

export function sameAggregate(left: AggregateType, right: AggregateType): boolean {
  const [own = [], others = []] = [left.parameters, right.parameters];
  return left.aggregate === right.aggregate && own.every((parameter, i) => parameter === others[i]);
}

/**
 * Integers to 64 bits, through tuples and records: how they lie in maps and tuples. Pointers lose what only a register
 * knows.
 */
export function widen(type: Type): Type {
  switch (type.kind) {
    case "integer":
      return type.bits === 64 ? type : { kind: "integer", bits: 64, signed: type.signed };
    case "pointer":
      return type.typed === true ? { kind: "pointer", target: type.target, space: type.space } : type;
    case "tuple":
      return { kind: "tuple", elements: type.elements.map(widen) };
    case "record":
      return { kind: "record", fields: type.fields.map((f) => ({ name: f.name, type: widen(f.type) })) };
    default:
      return type;
  }
}

/** Nothing in it is still unknown. */
export function isKnown(type: Type): boolean {
  if (type.kind === "unknown") return false;
  if (type.kind === "tuple") return type.elements.every(isKnown);
  if (type.kind === "record") return type.fields.every((f) => isKnown(f.type));
  return true;
}

const floatNames: ReadonlyMap<string, string> = new Map([
  ["float32", "float"],
  ["float64", "double"],
  ["float80", "long double"],
]);

/** For messages, with its article: `an int64`, `a string[16]`. */
export function describeOne(type: Type): string {
  const name = describe(type);
  return `${/^(?:int|enum|avg|unk)/.test(name) ? "an" : "a"} ${name}`;
}

/** For messages: `int64`, `string[16]`, `struct file *`, `(int64,string[4])`. */
export function describe(type: Type): string {
  switch (type.kind) {
    case "unknown":
      return "unknown";
    case "void":
      return "void";
    case "boolean":
      return "bool";
    case "integer":
      return `${type.signed ? "int" : "uint"}${type.bits}`;
    case "enum":
      return type.name === "" ? "enum" : `enum ${writtenName(type.name)}`;
    case "pointer":
      return `${describe(type.target)} *`;
    case "struct":
      return `${type.union ? "union" : "struct"} ${type.name === "" ? "{…}" : writtenName(type.name)}${type.partial === undefined ? "" : ` without ${type.partial}`}`;
    case "array":
      return `${describe(type.element)}[${type.length}]`;
    case "string":
      return `string[${type.capacity}]`;
    case "buffer":
      return `buffer[${type.capacity}]`;
    case "tuple":
      return `(${type.elements.map(describe).join(",")})`;
    case "record":
      return `record { ${type.fields.map((f) => `.${f.name} = ${describe(f.type)}`).join(", ")} }`;
    case "sequence":
      return `${type.form} of ${describe(type.element)}`;
    case "choice":
      return type.alternatives
        .map((one) =>
          one.type === undefined
            ? (one.name ?? "")
            : one.name === undefined
              ? describe(one.type)
              : `${one.name}(${describe(one.type)})`,
        )
        .join(" or ");
    case "stack":
      return `${type.space === "kernel" ? "kstack" : "ustack"}_t`;
    case "named":
      return floatNames.get(type.of) ?? `${type.of}_t`;
    case "aggregate":
      return `${type.aggregate}_t`;
  }
}
