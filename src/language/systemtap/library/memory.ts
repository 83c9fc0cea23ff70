// What lies in memory of the kernel and of processes; objects that are followed.
import type { Span } from "../../diagnostic.ts";
import type { Expression, TypeName } from "../../program.ts";
import type { CallingUnit, LibraryFunction } from "./function.ts";
import * as tree from "../tree.ts";

const { call, integer, toLong } = tree;

const pointer = (name: string, span: Span): TypeName => ({ name, pointers: 1, dimensions: [], span });

/** A value, or another where memory cannot be read that it needs. */
function instead(value: Expression, otherwise: Expression, span: Span, unit: CallingUnit): Expression {
  const read = tree.variable(unit.fresh("read"), span);
  const nothing = otherwise.kind === "integer" ? integer(0, span) : tree.text("", span);
  const type = otherwise.kind === "integer" ? tree.longType(span) : undefined;
  return {
    kind: "block-expression",
    statements: [
      tree.declare(read.name, nothing, type),
      {
        kind: "try",
        kinds: ["read"],
        body: tree.block([tree.assign(read, value, span)], span),
        handler: tree.block([tree.assign(read, otherwise, span)], span),
        span,
      },
    ],
    value: read,
    span,
    type: value.type,
  };
}

export function loaded(space: "uptr" | "kptr", type: string, address: Expression, span: Span): Expression {
  return toLong({
    kind: "unary",
    operator: "*",
    operand: call(space, [{ kind: "cast", to: pointer(type, span), operand: address, span, type: address.type }], span),
    span,
    type: address.type,
  });
}

/** What lies at an address of the kernel's. */
const load = (type: string, doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "long",
  doc,
  value: ([address], span) => loaded("kptr", type, address, span),
});

/** What lies at an address of the process's; 0 where that cannot be read. */
const loadUser = (type: string, doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "long",
  doc,
  value: ([address], span, unit) => instead(loaded("uptr", type, address, span), integer(0, span), span, unit),
});

const userNumbers: readonly (readonly [name: string, type: string, words: string])[] = [
  // Kernels are compiled with -funsigned-char since 6.2, and SystemTap's modules with them.
  ["char", "uint8", "A char"],
  ["short", "int16", "A short"],
  ["ushort", "uint16", "An unsigned short"],
  ["int", "int32", "An int"],
  ["uint", "uint32", "An unsigned int"],
  ["long", "int64", "A long"],
  ["ulong", "uint64", "An unsigned long"],
  ["int8", "int8", "8 bits"],
  ["uint8", "uint8", "8 unsigned bits"],
  ["int16", "int16", "16 bits"],
  ["uint16", "uint16", "16 unsigned bits"],
  ["int32", "int32", "32 bits"],
  ["uint32", "uint32", "32 unsigned bits"],
  ["int64", "int64", "64 bits"],
  ["uint64", "uint64", "64 bits"],
];

/** Each as 0 and as an error where it cannot be read. */
const ofUser: Readonly<Record<string, LibraryFunction>> = Object.fromEntries(
  userNumbers.flatMap(([name, type, words]) => [
    [`user_${name}`, loadUser(type, `${words} at a user address.`)],
    [
      `user_${name}_error`,
      {
        parameters: ["long"],
        result: "long",
        doc: `${words} at a user address; an error where that cannot be read.`,
        value: ([address], span) => loaded("uptr", type, address, span),
      } satisfies LibraryFunction,
    ],
  ]),
);

export type Space = "uptr" | "kptr";

function textIn(space: Space, address: Expression, length: Expression | undefined, span: Span): Expression {
  if (length === undefined) return call("str", [addressed(space, address)], span);
  // With the text's end.
  return call("str", [addressed(space, address), tree.binary("+", length, integer(1, span), span)], span);
}

/** Of so many bytes at most. */
const textOfSize = (space: Space, doc: string): LibraryFunction => ({
  parameters: ["long", "long"],
  result: "string",
  doc,
  value: ([address, length], span) => textIn(space, address, length, span),
});

/** Another text where it cannot be read. */
const textOr = (space: Space, doc: string): LibraryFunction => ({
  parameters: ["long", "string"],
  least: 1,
  result: "string",
  doc,
  value([address, otherwise], span, unit) {
    const text = textIn(space, address, undefined, span);
    return otherwise === undefined ? text : instead(text, otherwise, span, unit);
  },
});

const textOfSizeOr = (space: Space, doc: string): LibraryFunction => ({
  parameters: ["long", "long", "string"],
  least: 2,
  result: "string",
  doc,
  value([address, length, otherwise], span, unit) {
    const text = textIn(space, address, length, span);
    return otherwise === undefined ? text : instead(text, otherwise, span, unit);
  },
});

export function addressed(space: Space, address: Expression): Expression {
  return call(space, [address], address.span);
}

/** Text at an address in quotes; the address where it cannot be read. */
const quotedAt = (space: Space, doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "string",
  doc,
  value([address], span, unit) {
    const quote = tree.text('"', span);
    const text = tree.hostText("escapedText", [textIn(space, address, undefined, span)], span);
    const quoted = call("str_concat", [call("str_concat", [quote, text], span), quote], span);
    return instead(quoted, call("hex_text", [address], span), span, unit);
  },
});

export const memory: Readonly<Record<string, LibraryFunction>> = {
  user_string: textOr("uptr", "Text at a user address; another where that cannot be read."),
  user_string2: textOr("uptr", "The same."),
  user_string_n: textOfSizeOr("uptr", "Text at a user address, of so many bytes at most."),
  user_string_n2: textOfSizeOr("uptr", "The same."),
  user_string_quoted: quotedAt("uptr", "Text at a user address, in quotes; the address where that cannot be read."),
  user_string_nofault: {
    parameters: ["long"],
    result: "string",
    doc: "Text at a user address; empty where that cannot be read.",
    value: ([address], span, unit) =>
      instead(textIn("uptr", address, undefined, span), tree.text("", span), span, unit),
  },
  user_string_warn: {
    parameters: ["long"],
    result: "string",
    doc: "Text at a user address; empty where that cannot be read, with a warning.",
    value([address], span, unit) {
      const warning = "user string copy fault -14 at 0x%lx [man error::fault]";
      const warned: Expression = {
        kind: "block-expression",
        statements: [tree.statement(call("warnf", [tree.text(warning, span), address], span))],
        value: tree.text("", span),
        span,
        type: address.type,
      };
      return instead(textIn("uptr", address, undefined, span), warned, span, unit);
    },
  },
  kernel_string: textOr("kptr", "Text at a kernel address; another where that cannot be read."),
  kernel_string2: textOr("kptr", "The same."),
  kernel_string_n: textOfSize("kptr", "Text at a kernel address, of so many bytes at most."),
  kernel_string_quoted: quotedAt("kptr", "Text at a kernel address, in quotes; the address where that cannot be read."),
  ...ofUser,
  kernel_char: load("uint8", "A char at a kernel address."),
  kernel_short: load("int16", "A short at a kernel address."),
  kernel_int: load("int32", "An int at a kernel address."),
  kernel_long: load("int64", "A long at a kernel address."),
  kernel_pointer: load("int64", "A pointer at a kernel address."),
  __load_average: {
    parameters: ["long"],
    result: "long",
    doc: "One of the kernel's three load averages, times 2048.",
    value: ([index], span) =>
      loaded(
        "kptr",
        "int64",
        tree.binary(
          "+",
          toLong(call("kaddr", [tree.text("avenrun", span)], span)),
          tree.binary("*", index, integer(8, span), span),
          span,
        ),
        span,
      ),
  },
  follow: {
    parameters: ["long"],
    doc: "Remembers an object by its address, of a program's also by its process (strobe's own).",
    does: ([object], span) => [tree.statement(call("follow", [object], span))],
  },
  followed: {
    parameters: ["long"],
    result: "long",
    doc: "Whether an address is one that follow() was given, and unfollow() not since (strobe's own).",
    value: ([object], span) => tree.cast(tree.typeName("int64", span), call("followed", [object], span), span),
  },
  unfollow: {
    parameters: ["long"],
    doc: "Forgets an object, where it is freed (strobe's own).",
    does: ([object], span) => [tree.statement(call("unfollow", [object], span))],
  },
};
