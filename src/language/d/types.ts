// What D's own types are called in the tree, and what is known of an expression's type while it is read: enough to
// compute and to print as D does. Types of the kernel and of programs are the checker's to know.
import type { Span } from "../diagnostic.ts";
import type { TypeName } from "../program.ts";

/** A number's type, as its name in the tree says it; text. Absent: the checker will know. */
export type Known = "int8" | "uint8" | "int16" | "uint16" | "int32" | "uint32" | "int64" | "uint64" | "string";

/** What DTrace calls a key that is no number and no text. */
export type KeyKind = "dt_stack_t" | "_symaddr" | "_usymaddr";

/** D's names beside C's, which the tree knows. */
export const typedefs: Readonly<Record<string, string>> = {
  ipaddr_t: "uint32",
  in_addr_t: "uint32",
  in_port_t: "uint16",
  uchar_t: "uint8",
  u_char: "uint8",
  ushort_t: "uint16",
  u_short: "uint16",
  uint_t: "uint32",
  u_int: "uint32",
  ulong_t: "uint64",
  u_long: "uint64",
  longlong_t: "int64",
  u_longlong_t: "uint64",
  offset_t: "int64",
  u_offset_t: "uint64",
  diskaddr_t: "uint64",
  caddr_t: "uint64",
  hrtime_t: "int64",
  clock_t: "int64",
  time_t: "int64",
  timestamp_t: "int64",
  ptrdiff_t: "int64",
  dev_t: "uint32",
  mode_t: "uint32",
  ino_t: "uint64",
  nlink_t: "uint64",
  key_t: "int32",
  id_t: "int32",
  major_t: "uint32",
  minor_t: "uint32",
  processorid_t: "int32",
  chipid_t: "int32",
  psetid_t: "int32",
  lgrp_id_t: "int32",
  zoneid_t: "int32",
  taskid_t: "int32",
  projid_t: "int32",
  ctid_t: "int32",
  stack_t: "stack",
};

const c: Readonly<Record<string, Known>> = {
  char: "int8",
  "signed char": "int8",
  "unsigned char": "uint8",
  short: "int16",
  "short int": "int16",
  "signed short": "int16",
  "unsigned short": "uint16",
  "unsigned short int": "uint16",
  int: "int32",
  signed: "int32",
  "signed int": "int32",
  unsigned: "uint32",
  "unsigned int": "uint32",
  long: "int64",
  "long int": "int64",
  "signed long": "int64",
  "unsigned long": "uint64",
  "unsigned long int": "uint64",
  "long long": "int64",
  "long long int": "int64",
  "unsigned long long": "uint64",
  "unsigned long long int": "uint64",
  size_t: "uint64",
  ssize_t: "int64",
  uintptr_t: "uint64",
  intptr_t: "int64",
  off_t: "int64",
  pid_t: "int32",
  uid_t: "uint32",
  gid_t: "uint32",
};

/** Words of types that may stand together. */
export const typeWords: ReadonlySet<string> = new Set(
  "void char short int long signed unsigned float double string _Bool bool struct union enum const volatile restrict".split(
    " ",
  ),
);

/** Whether a name is that of a type that is known without the kernel. */
export function isTypeName(name: string): boolean {
  return (
    typeWords.has(name) ||
    Object.hasOwn(typedefs, name) ||
    Object.hasOwn(c, name) ||
    /^(?:u?int(?:8|16|32|64)_t|[us](?:8|16|32|64)|__[usbl]e?(?:8|16|32|64))$/.test(name)
  );
}

/** What a written type is as far as it is known here. */
export function knownType({ name, tag, pointers, dimensions }: TypeName): Known | undefined {
  if (tag !== undefined || pointers > 0) return undefined;
  if (name === "string") return "string";
  if (dimensions.length > 0) return undefined;
  const [, sign, bits] = /^(?:(u?)int|[us]|__[us])(8|16|32|64)(?:_t)?$/.exec(name) ?? [];
  if (bits !== undefined) return `${sign === "u" || /^_*u\d/.test(name) ? "u" : ""}int${bits}` as Known;
  return Object.hasOwn(c, name) ? c[name] : undefined;
}

export function isNumber(known: Known | undefined): known is Exclude<Known, "string"> {
  return known !== undefined && known !== "string";
}

const ranks = "int8 uint8 int16 uint16 int32 uint32 int64 uint64".split(" ");

/** What two numbers make: the wider one's type, or that without a sign. Unlike in C none becomes an int. */
export function common(left: Known | undefined, right: Known | undefined): Exclude<Known, "string"> | undefined {
  if (!isNumber(left) || !isNumber(right)) return undefined;
  return ranks.indexOf(left) > ranks.indexOf(right) ? left : right;
}

export function isUnsigned(known: Known): boolean {
  return known.startsWith("u");
}

export function named(name: string, span: Span, pointers = 0): TypeName {
  return { name, pointers, dimensions: [], span };
}

/** Bytes of a text, its end not counted (strsize). */
export const textSize = 256;

const cNames: Readonly<Record<string, string>> = {
  int8: "char",
  uint8: "uint8_t",
  int16: "short",
  uint16: "uint16_t",
  int32: "int",
  uint32: "uint32_t",
  int64: "int64_t",
  uint64: "uint64_t",
};

/** As D has it. */
export function spelledType(type: Known | TypeName): string {
  if (typeof type === "string") return cNames[type] ?? type;
  const { tag, name, pointers } = type;
  return `${tag === undefined ? "" : `${tag} `}${cNames[name] ?? name}${pointers > 0 ? ` ${"*".repeat(pointers)}` : ""}`;
}
