// What the command line hands to a script: `$1`, `$#`, `str($1 + 2)` and `getopt("name", default)`, all replaced by
// literals while the script is parsed.
import type { Message } from "../../messages/message.ts";
import { parameters as messages } from "../../messages/macros.ts";
import type { Span } from "../diagnostic.ts";
import type { Expression, ScriptOption, StringLiteral } from "../program.ts";
import { unknownType } from "../types.ts";
import type { Cursor } from "./cursor.ts";
import { integerValue } from "./literals.ts";

/** `$1` in an expression: an integer when it is written as one, else a string; 0 when it was not given. */
export function positionalValue(p: Cursor, text: string, span: Span): Expression {
  if (text === "#") return { kind: "integer", value: BigInt(p.positional.length), type: unknownType, span };
  const given = positionalArgument(p, text, span);
  if (given === undefined) return { kind: "integer", value: 0n, type: unknownType, span };
  return integerLiteral(given, span) ?? stringLiteral(given, span);
}

/**
 * `str($1)` and `str($1 + n)`, the cursor on `str` behind it: the text from its n-th byte on. Undefined for any other
 * call, with the cursor where it was.
 */
export function positionalText(p: Cursor, str: Span): StringLiteral | undefined {
  const open = p.token.start;
  p.advance();
  const parameter = p.token;
  if (parameter.kind !== "positional" || parameter.text === "#") {
    p.seek(open);
    return undefined;
  }
  p.advance();
  let skip = 0;
  if (p.accept("+")) {
    const offset = p.token;
    const value = offset.kind === "integer" ? integerValue(offset.text) : undefined;
    if (typeof value !== "bigint") p.fail(messages.offsetNotConstant());
    p.advance();
    skip = Number(value);
  }
  const last = p.token;
  if (!p.accept(")")) {
    // str($1, length): the length is the checker's affair.
    p.seek(open);
    p.advance();
    p.advance();
    if (!p.at(",")) p.fail(messages.offsetNotConstant());
    p.seek(open);
    return undefined;
  }
  const span = { start: str.start, end: last.end };
  const bytes = new TextEncoder().encode(
    positionalArgument(p, parameter.text, { start: parameter.start, end: parameter.end }) ?? "",
  );
  if (skip > bytes.length) {
    p.report("warning", span, messages.offsetTooLarge(parameter.text, bytes.length, skip));
  }
  return stringLiteral(new TextDecoder().decode(bytes.subarray(skip)), span);
}

/** The text of `$1`; undefined, with a warning, when it was not given. */
export function positionalArgument(p: Cursor, number: string, span: Span): string | undefined {
  const given = number === "0" ? undefined : p.positional[Number(number) - 1];
  if (number === "0") p.report("error", span, messages.fromOne());
  else if (given === undefined) p.report("warning", span, messages.notGiven(number));
  return given;
}

/** `getopt("name")` is a boolean; `getopt("name", default)` has the default's type. */
export function getopt(p: Cursor, args: readonly Expression[], span: Span): Expression {
  // A third argument describes the option, for those who ask for the script's help.
  const [name, fallback] = args;
  const fail = (said: Message, at: Span = span): Expression => {
    p.report("error", at, said);
    return fallback ?? { kind: "boolean", value: false, type: unknownType, span };
  };
  if (name?.kind !== "string" || args.length > 3) return fail(messages.getoptArguments());
  const option = scriptOption(name.value, args);
  const earlier = p.options.get(name.value);
  if (option !== undefined && earlier === undefined) p.options.set(option.name, option);
  else if (option !== undefined && (option.takes !== earlier?.takes || option.fallback !== earlier.fallback)) {
    return fail(messages.otherDefault(name.value, option.fallback, earlier?.fallback));
  }
  const given = p.named?.get(name.value);
  if (fallback === undefined || fallback.kind === "boolean") {
    if (given === undefined) return fallback ?? { kind: "boolean", value: false, type: unknownType, span };
    const truth = given === true || /^(?:true|1)$/i.test(given);
    if (truth || /^(?:false|0)$/i.test(given)) return { kind: "boolean", value: truth, type: unknownType, span };
    return fail(messages.expectedBoolean(name.value, given));
  }
  if (fallback.kind === "string") {
    if (given === true) return fail(messages.optionNeedsValue(name.value, "TEXT"));
    return given === undefined ? fallback : stringLiteral(given, span);
  }
  const number = fallback.kind === "unary" && fallback.operator === "-" ? fallback.operand : fallback;
  if (number.kind !== "integer") return fail(messages.defaultNotConstant(), fallback.span);
  if (given === undefined) return fallback;
  if (given === true) return fail(messages.optionNeedsValue(name.value, "NUMBER"));
  return integerLiteral(given, span) ?? fail(messages.expectedInteger(name.value, given));
}

function scriptOption(name: string, [, fallback, description]: readonly Expression[]): ScriptOption | undefined {
  const described = description?.kind === "string" ? { description: description.value } : {};
  if (fallback === undefined || fallback.kind === "boolean")
    return { name, takes: "truth", fallback: String(fallback?.value ?? false), ...described };
  if (fallback.kind === "string")
    return { name, takes: "text", fallback: JSON.stringify(fallback.value), ...described };
  const negative = fallback.kind === "unary" && fallback.operator === "-";
  const number = negative ? fallback.operand : fallback;
  return number.kind === "integer"
    ? { name, takes: "number", fallback: `${negative ? "-" : ""}${number.value}`, ...described }
    : undefined;
}

function integerLiteral(text: string, span: Span): Expression | undefined {
  const negative = text.startsWith("-");
  const value = integerValue(negative ? text.slice(1) : text);
  if (typeof value !== "bigint") return undefined;
  const literal: Expression = { kind: "integer", value, type: unknownType, span };
  return negative ? { kind: "unary", operator: "-", operand: literal, type: unknownType, span } : literal;
}

function stringLiteral(value: string, span: Span): StringLiteral {
  return { kind: "string", value, type: unknownType, span };
}
