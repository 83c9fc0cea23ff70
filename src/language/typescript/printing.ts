// print() and console.log(): templates become formats in which `%v` is "as its type is written", which the checker
// fills in.
import { handlerCalls } from "../../messages/typescript-calls.ts";
import type * as js from "acorn";
import type { Expression } from "../program.ts";
import { keys, mapUsage, ownEntry, refer, valueOf } from "./references.ts";
import type { Outcome, Reader } from "./reader.ts";
import { call, expressionStatement, mapAccess, text } from "./reader.ts";

interface Format {
  readonly format: string;
  readonly values: readonly Expression[];
}

const escaped = (literal: string): string => literal.replaceAll("%", "%%");

/** Bases that `x.toString(base)` can be printed in. */
const bases: Readonly<Record<number, string>> = { 2: "%b", 8: "%o", 10: "%v", 16: "%x" };

export function valueFormat(reader: Reader, node: js.TemplateLiteral): Format {
  let format = "";
  const values: Expression[] = [];
  node.quasis.forEach((quasi, i) => {
    format += escaped(quasi.value.cooked ?? "");
    const inside = node.expressions[i];
    if (inside === undefined) return;
    const piece = formatOf(reader, inside);
    format += piece.format;
    values.push(...piece.values);
  });
  return { format, values };
}

/** One value within a text. */
function formatOf(reader: Reader, node: js.Expression): Format {
  if (node.type === "TemplateLiteral") return valueFormat(reader, node);
  if (node.type === "Literal" && typeof node.value === "string") return { format: escaped(node.value), values: [] };
  if (
    node.type === "CallExpression" &&
    node.callee.type === "MemberExpression" &&
    !node.callee.computed &&
    node.callee.property.type === "Identifier" &&
    node.callee.property.name === "toString" &&
    node.callee.object.type !== "Super"
  ) {
    const [base] = node.arguments;
    const format =
      base === undefined
        ? "%v"
        : base.type === "Literal" && typeof base.value === "number"
          ? bases[base.value]
          : undefined;
    if (format === undefined) return reader.refuse(node, handlerCalls.tostringKnowsBases());
    return { format, values: [reader.grammar.value(reader, node.callee.object)] };
  }
  if (
    node.type === "CallExpression" &&
    node.callee.type === "Identifier" &&
    node.arguments.length === 1 &&
    node.arguments[0].type !== "SpreadElement"
  ) {
    const callee = refer(reader, node.callee);
    if (callee.kind === "global" && callee.name === "String") return formatOf(reader, node.arguments[0]);
  }
  const sum = added(node);
  if (sum !== undefined) {
    const pieces = sum.map((piece) => formatOf(reader, piece));
    return { format: pieces.map((piece) => piece.format).join(""), values: pieces.flatMap((piece) => piece.values) };
  }
  const padded = paddedFormat(reader, node);
  if (padded !== undefined) return padded;
  return { format: "%v", values: [reader.grammar.value(reader, node)] };
}

/** `"pid " + pid + …`: what stands from the first text on is text; undefined where none is written out. */
function added(node: js.Expression): js.Expression[] | undefined {
  if (node.type !== "BinaryExpression" || node.operator !== "+" || node.left.type === "PrivateIdentifier")
    return undefined;
  const left = added(node.left);
  if (left !== undefined) return [...left, node.right];
  return isText(node.left) || isText(node.right) || added(node.right) !== undefined
    ? [node.left, node.right]
    : undefined;
}

const isText = (node: js.Node): boolean =>
  node.type === "TemplateLiteral" || (node.type === "Literal" && typeof (node as js.Literal).value === "string");

/** Whether it can be printed as text only: made so where it stands. */
function isFormatted(node: js.Expression): boolean {
  return (
    isText(node) ||
    added(node) !== undefined ||
    (node.type === "CallExpression" &&
      node.callee.type === "MemberExpression" &&
      !node.callee.computed &&
      node.callee.property.type === "Identifier" &&
      ["toString", "padStart", "padEnd"].includes(node.callee.property.name)) ||
    (node.type === "CallExpression" && node.callee.type === "Identifier" && node.callee.name === "String")
  );
}

/** `x.toString(16).padStart(8, "0")`, `name.padEnd(16)`: the width of a conversion. */
function paddedFormat(reader: Reader, node: js.Expression): Format | undefined {
  if (
    node.type !== "CallExpression" ||
    node.callee.type !== "MemberExpression" ||
    node.callee.computed ||
    node.callee.property.type !== "Identifier"
  )
    return undefined;
  const {
    object,
    property: { name },
  } = node.callee;
  if ((name !== "padStart" && name !== "padEnd") || object.type === "Super") return undefined;
  const [width, fill] = node.arguments;
  const filled = fill === undefined ? " " : fill.type === "Literal" ? fill.value : undefined;
  const zeros = filled === "0" && name === "padStart";
  if (width?.type !== "Literal" || typeof width.value !== "number" || (filled !== " " && !zeros))
    return reader.refuse(
      node,
      handlerCalls.wantsWidthWrittenOutPads(name, name === "padStart" ? ", or numbers with zeros" : ""),
    );
  const inner =
    object.type === "Literal" && typeof object.value === "string"
      ? { format: "%v", values: [text(object.value, reader.span(object))] }
      : formatOf(reader, object);
  if (!/^%[a-z]$/.test(inner.format)) return reader.refuse(node, handlerCalls.oneValueName(name));
  // Zeros are for numbers, in decimal unless said otherwise.
  const conversion = zeros && inner.format === "%v" ? "d" : inner.format.slice(1);
  return { ...inner, format: `%${name === "padEnd" ? "-" : zeros ? "0" : ""}${width.value}${conversion}` };
}

/** `print(value)` prints one value, a map, or an entry of one, as it is; texts and several values make a line. */
export function printCall(
  reader: Reader,
  node: js.CallExpression,
  name: "print" | "printf" | "warnf" | "errorf",
): Outcome {
  const span = reader.span(node);
  const done = (called: string, args: readonly Expression[]): Outcome => ({
    kind: "statement",
    statement: expressionStatement(call(called, args, span), span),
  });
  const [first, ...rest] = node.arguments.map((argument) =>
    argument.type === "SpreadElement" ? reader.refuseSyntax(argument, "SpreadElement") : argument,
  );
  if (first === undefined) return done(name === "print" ? "printf" : name, [text("\n", span)]);
  const textual = isFormatted(first);
  if (
    !textual &&
    (first.type === "Identifier" || first.type === "MemberExpression" || first.type === "CallExpression")
  ) {
    const reference = refer(reader, first);
    if (reference.kind === "map") {
      if (name !== "print" && name !== "printf") return reader.refuse(first, handlerCalls.mapPrintedPrint(mapUsage));
      const at = reader.span(first);
      const printed = reference.map.threadLocal === true ? ownEntry(reference, at) : mapAccess(reference.name, [], at);
      return done("print", [printed, ...keys(reader, rest)]);
    }
    if (reference.kind === "entry" && rest.length === 0) return done("print", [reference.access]);
    if (name === "print" && rest.length === 0) return done("print", [valueOf(reader, reference, first)]);
  }
  if (name === "print" && rest.length === 0 && !textual) return done("print", [reader.grammar.value(reader, first)]);
  const pieces = [first, ...rest].map((argument) => formatOf(reader, argument));
  const format = `${pieces.map((piece) => piece.format).join(" ")}\n`;
  return done(name === "print" ? "printf" : name, [text(format, span), ...pieces.flatMap((piece) => piece.values)]);
}
