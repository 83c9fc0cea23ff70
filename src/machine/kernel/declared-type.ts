// Types as tracepoint formats declare them in C, and types written out for listings.
import { sizeOf } from "../../language/layout.ts";
import type { AddressSpace, Type } from "../../language/types.ts";
import { bitsOf, i8, integer, voidType } from "../../language/types.ts";
import type { TypeScope } from "../../language/type-scope.ts";

/**
 * The type of `const char *`, `char[16]`, `enum zone_type`, `pid_t`. `size` and `signed` are the field's own and decide
 * for integers: a system call's `int` takes 8 bytes.
 */
export function declaredType(
  declaration: string,
  size: number,
  signed: boolean,
  space: AddressSpace,
  types: TypeScope,
): Type {
  const text = clean(declaration);
  const array = /^(.*?)\s*((?:\[[^\]]*\])+)$/.exec(text);
  if (array) {
    const element = declaredType(array[1], 0, signed, space, types);
    const one = sizeOf(element);
    // The format's dimensions may be names of constants; the size is sure.
    return { kind: "array", element, length: one > 0 ? Math.floor(size / one) : 0 };
  }
  if (text.includes("(") || text.endsWith("*")) return pointerType(text, space, types);
  const named = namedType(text, types);
  if (named === undefined) return integer(bitsOf(size || 4), signed);
  if (size === 0 || named.kind === "struct" || named.kind === "array") return named;
  if (named.kind === "integer") return integer(bitsOf(size), named.signed);
  return sizeOf(named) === size ? named : integer(bitsOf(size), signed);
}

function pointerType(text: string, space: AddressSpace, types: TypeScope): Type {
  if (text.includes("(")) return { kind: "pointer", target: voidType, space };
  const target = text.slice(0, -1).trim();
  if (target === "void" || target === "") return { kind: "pointer", target: voidType, space };
  if (target.endsWith("*")) return { kind: "pointer", target: pointerType(target, space, types), space };
  return { kind: "pointer", target: namedType(target, types) ?? voidType, space };
}

function namedType(text: string, types: TypeScope): Type | undefined {
  if (text === "char") return i8;
  const tagged = /^(struct|union|enum)\s+(\w+)$/.exec(text);
  if (tagged) return types.find(tagged[2], tagged[1] as "struct" | "union" | "enum");
  return types.find(text);
}

/** Without qualifiers, annotations and doubled spaces. */
function clean(declaration: string): string {
  return declaration
    .replace(/\b(const|volatile|restrict|__user|__rcu|__seg_gs|__percpu|__iomem)\b/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** A parameter as C writes it: `struct sock * sk`, `char comm[16]`. */
export function declare(type: Type, name: string): string {
  if (type.kind === "array") return `${spell(type.element)} ${name}[${type.length}]`;
  return `${spell(type)} ${name}`;
}

/** A type as C writes it: `struct sock *`. */
export function spell(type: Type): string {
  switch (type.kind) {
    case "boolean":
      return "bool";
    case "integer":
      return spellInteger(type.bits, type.signed);
    case "enum":
      return `enum ${type.name}`;
    case "struct":
      return type.name === "" ? (type.union ? "union" : "struct") : `${type.union ? "union" : "struct"} ${type.name}`;
    case "pointer":
      return type.target.kind === "pointer" ? `${spell(type.target)}*` : `${spell(type.target)} *`;
    case "array":
      return `${spell(type.element)}[${type.length}]`;
    default:
      return "void";
  }
}

function spellInteger(width: number, signed: boolean): string {
  switch (width) {
    case 8:
      return signed ? "char" : "unsigned char";
    case 16:
      return signed ? "short" : "unsigned short";
    case 32:
      return signed ? "int" : "unsigned int";
    default:
      return signed ? "long" : "unsigned long";
  }
}
