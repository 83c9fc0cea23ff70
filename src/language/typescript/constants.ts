// Literals, and captured values, which are literals that somebody else wrote.
import { handlerNames } from "../../messages/typescript-names.ts";
import type * as js from "acorn";
import type { Expression } from "../program.ts";
import { unknownType } from "../types.ts";
import { refusedSyntax } from "../../messages/typescript-refused.ts";
import type { Reader } from "./reader.ts";
import { integer, text } from "./reader.ts";

const least = -(1n << 63n);
const most = (1n << 64n) - 1n;

/** `name` is there for a captured value. */
export function constant(
  reader: Reader,
  value: number | bigint | string | boolean,
  node: js.Node,
  name?: string,
): Expression {
  const span = reader.span(node);
  if (typeof value === "string") return text(value, span);
  if (typeof value === "boolean") return { kind: "boolean", value, span, type: unknownType };
  if (typeof value === "bigint") {
    if (value < least || value > most) return reader.refuse(node, handlerNames.doesNotFitBits(value));
    return integer(value, span);
  }
  if (!Number.isInteger(value)) return { kind: "float", value, span, type: unknownType };
  if (Number.isSafeInteger(value)) return integer(BigInt(value), span);
  return reader.refuse(node, refusedSyntax.inexact(name === undefined ? "" : `\`${name}\` is ${value}: `));
}

export function literal(reader: Reader, node: js.Literal): Expression {
  if (node.regex) return reader.refuseSyntax(node, "RegExpLiteral");
  const { value } = node;
  if (value === null || value === undefined || value instanceof RegExp) return reader.refuseSyntax(node, "null");
  // `0xffff_ffff_ffff_ffff` would be rounded on the way: its text is exact.
  const rounded = typeof value === "number" && !Number.isSafeInteger(value);
  if (rounded && node.raw !== undefined && /^(0x[\da-f_]+|0[ob][0-7_]+|[\d_]+)$/i.test(node.raw)) {
    return constant(reader, BigInt(node.raw.replaceAll("_", "")), node);
  }
  return constant(reader, value, node);
}
