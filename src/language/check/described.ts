// Values of the program as text, in the way of SystemTap's `$$vars` and `$x$`. Their types are known here: what makes the
// text stands in the place of the node, and is checked.
import { Failure } from "../../base/failure.ts";
import { statements } from "../../messages/statements.ts";
import type { Argument } from "../context.ts";
import type { Span } from "../diagnostic.ts";
import {
  assign,
  binary,
  block,
  builtin,
  call,
  cast,
  conditional,
  declare,
  hostText,
  integer,
  member,
  text,
  typeName,
  variable,
} from "../nodes.ts";
import type { Described, DescribedGroup, Expression } from "../program.ts";
import type { StructType, Type } from "../types.ts";
import { unknownType } from "../types.ts";
import { report, type Body } from "./pass.ts";
import { placeType, where } from "./place-types.ts";
import { checkExpression, checkPlace } from "./values.ts";

/** Bytes of a text: what comes behind would be cut, and is not read. */
const longest = 512;

/** Text as it stands, and values that are put into a format. */
interface Part {
  readonly format: string;
  readonly args: readonly Expression[];
}

const plain = (words: string): Part => ({ format: words.replaceAll("%", "%%"), args: [] });
const unreadable = "?";

/** What stands for each node: the variables in it are the same in all passes. */
const known = new WeakMap<Body["states"], Map<Described, Expression>>();

export function describe(node: Described, body: Body): Expression {
  let own = known.get(body.states);
  if (own === undefined) known.set(body.states, (own = new Map<Described, Expression>()));
  let expression = own.get(node);
  if (expression === undefined) {
    const found = textOf(node, body);
    if ("unknown" in found) return found.unknown;
    own.set(node, (expression = found));
  }
  return checkExpression(expression, body);
}

function textOf({ of, depth, fromOne, span }: Described, body: Body): Expression | { readonly unknown: Expression } {
  if (typeof of !== "string") {
    const checked = checkPlace(of, body);
    if (checked.type.kind === "unknown") return { unknown: checked };
    if (depth === "name") return nameOf(of, checked.type, span);
    return made(valueOf(of, checked.type, depth, true, span), span);
  }
  if (depth === "name") return outside(unreadable, span);
  const parts = groupOf(of, body, span, fromOne === true).map(({ name, value, type }): Part => {
    const shown = type === undefined ? plain(unreadable) : valueOf(value, type, depth, true, span);
    return { format: `${plain(name).format}=${shown.format}`, args: shown.args };
  });
  return depth === 0 ? joined(parts, span) : made(inRow(parts, " "), span);
}

/** The name that an enumeration has for a value; the digits of what has none. */
function nameOf(of: Expression, type: Type, span: Span): Expression {
  const number = variable("number#", span);
  const digits = hostText("formattedText", [text("%ld", span), number], span);
  const names = type.kind === "enum" ? [...type.names] : [];
  return {
    kind: "block-expression",
    statements: [declare(number.name, asNumber(of, span), typeName("int64", span))],
    value: names.reduceRight<Expression>(
      (otherwise, [value, name]) =>
        conditional(binary("==", number, integer(value, span), span), outside(name, span), otherwise, span),
      digits,
    ),
    span,
    type: unknownType,
  };
}

interface Named {
  readonly name: string;
  readonly value: Expression;
  /** Absent where there is no value. */
  readonly type: Type | undefined;
}

/** `fromOne`: arguments without names are `$arg1` and so on. */
function groupOf(group: DescribedGroup, body: Body, span: Span, fromOne: boolean): Named[] {
  const { context } = body;
  if (context === undefined || context === "host") return [];
  if (group === "return") {
    const { retval } = context;
    if (retval === undefined || retval.absent !== undefined || retval.type.kind === "void") return [];
    return [{ name: "return", value: builtin("retval", span), type: retval.type }];
  }
  // Inside a function nothing says which variables are its parameters.
  if (context.args === undefined && group !== "vars") {
    report(body, span, statements.notAvailable(`$$${group}`, where(body)));
    return [];
  }
  const args = (context.args ?? []).map((one, i) => {
    const own = named(one, "args", span);
    return fromOne ? { ...own, name: own.name.replace(/^arg\d+$/, `$arg${i + 1}`) } : own;
  });
  if (group === "parms") return args;
  const { variables } = context;
  const known = variables === undefined || variables instanceof Failure ? [] : variables.inScope;
  const names = new Set(args.map(({ name }) => name));
  const locals = known.flatMap((one) => {
    if (names.has(one.name)) return [];
    names.add(one.name);
    return [named(one, "vars", span)];
  });
  return group === "locals" ? locals : [...args, ...locals];
}

function named({ name, type, absent }: Argument, of: "args" | "vars", span: Span): Named {
  return {
    name,
    value: member(builtin(of, span), name, span),
    type: absent === undefined ? placeType(type) : undefined,
  };
}

/** Numbers in hexadecimal, which the kernel writes itself. */
function joined(parts: readonly Part[], span: Span): Expression {
  const pieces = inRow(parts, " ");
  // No name has a zero byte.
  const [first = "", ...rest] = pieces.format
    .replaceAll("%%", "\0")
    .split("%s")
    .map((words) => words.replaceAll("\0", "%"));
  return rest.reduce(
    (all, words, i) =>
      [pieces.args[i], ...(words === "" ? [] : [outside(words, span)])].reduce(
        (left, right) => call("str_concat", [left, right], span),
        all,
      ),
    outside(first, span),
  );
}

/** Names of variables and members are in it. */
function outside(words: string, span: Span): Expression {
  return { kind: "string", value: words, outside: true, span, type: unknownType };
}

function made({ format, args }: Part, span: Span): Expression {
  if (args.length === 0) return outside(format.replaceAll("%%", "%"), span);
  return hostText("formattedText", [text(format, span), ...args], span);
}

/** As many as a text holds. */
function inRow(parts: readonly Part[], between: string): Part {
  let format = "";
  const args: Expression[] = [];
  for (const part of parts) {
    if (format.length > longest) break;
    format += `${format === "" ? "" : between}${part.format}`;
    args.push(...part.args);
  }
  return { format, args };
}

/** `outermost`: what a pointer to a struct points to is shown. */
function valueOf(of: Expression, type: Type, depth: 0 | 1 | 2, outermost: boolean, span: Span): Part {
  switch (type.kind) {
    case "struct":
      if (depth === 0 || (depth === 1 && !outermost)) return plain("{...}");
      return members(of, type, depth, span);
    case "array":
      if (depth === 0 || (depth === 1 && !outermost)) return plain("[...]");
      return elements(of, type.element, type.length, depth, span);
    case "string":
      return depth === 0 ? plain("[...]") : quoted(of, span);
    case "integer":
    case "boolean":
    case "enum":
      return scalar(of, type, depth, span);
    case "pointer": {
      if (depth === 0) return scalar(of, type, depth, span);
      const { target } = type;
      if (target.kind === "integer" && target.bits === 8)
        return quoted(call("str", [of], span), span, asNumber(of, span));
      if (target.kind === "struct" && outermost) return members(of, target, depth, span);
      return read(call("hex_text", [asNumber(of, span)], span), span);
    }
    default:
      return plain(unreadable);
  }
}

function asNumber(of: Expression, span: Span): Expression {
  return cast(typeName("int64", span), of);
}

function scalar(of: Expression, type: Type, depth: 0 | 1 | 2, span: Span): Part {
  const number = asNumber(of, span);
  if (depth === 0) return read(call("hex_text", [number], span), span);
  if (type.kind === "integer" && type.bits === 8)
    return read(
      hostText(
        "formattedText",
        [text("'%s'", span), escaped(hostText("formattedText", [text("%c", span), number], span), span)],
        span,
      ),
      span,
    );
  const signed = type.kind !== "integer" || type.signed;
  return read(hostText("formattedText", [text(signed ? "%ld" : "%lu", span), number], span), span);
}

function escaped(of: Expression, span: Span): Expression {
  return hostText("escapedText", [of], span);
}

/** `otherwise`: its address, where it cannot be read. */
function quoted(of: Expression, span: Span, otherwise?: Expression): Part {
  const value = hostText("formattedText", [text('"%s"', span), escaped(of, span)], span);
  return read(value, span, otherwise === undefined ? undefined : call("hex_text", [otherwise], span));
}

/** A text, or `?` where memory cannot be read that it needs. */
function read(value: Expression, span: Span, otherwise: Expression = text(unreadable, span)): Part {
  const found = variable("described#", span);
  const shown: Expression = {
    kind: "block-expression",
    statements: [
      declare(found.name, text("", span)),
      {
        kind: "try",
        kinds: ["read"],
        body: block([assign(found, value, span)], span),
        handler: block([assign(found, otherwise, span)], span),
        span,
      },
    ],
    value: found,
    span,
    type: unknownType,
  };
  return { format: "%s", args: [shown] };
}

function members(of: Expression, { members: all }: StructType, depth: 0 | 1 | 2, span: Span): Part {
  const parts = membersOf(of, all, depth, span);
  const row = inRow(parts, ", ");
  return { format: `{${row.format}}`, args: row.args };
}

function membersOf(of: Expression, all: StructType["members"], depth: 0 | 1 | 2, span: Span): Part[] {
  return all.flatMap(({ name, type, absent }): Part[] => {
    if (name === "") return type.kind === "struct" ? membersOf(of, type.members, depth, span) : [];
    const shown =
      absent === undefined ? valueOf(member(of, name, span), placeType(type), depth, false, span) : plain(unreadable);
    return [{ format: `.${plain(name).format}=${shown.format}`, args: shown.args }];
  });
}

/** The first, and that there are more. */
function elements(of: Expression, element: Type, length: number, depth: 0 | 1 | 2, span: Span): Part {
  if (length === 0) return plain("[]");
  const first: Expression = { kind: "index", object: of, index: integer(0, span), span, type: unknownType };
  const shown = valueOf(first, placeType(element), depth, false, span);
  return { format: `[${shown.format}${length > 1 ? ", ..." : ""}]`, args: shown.args };
}
