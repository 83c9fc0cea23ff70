// Methods of texts, and what is said of those that the kernel has nothing for. Texts are bytes with a 0 behind them.
import { handlerCalls } from "../../messages/typescript-calls.ts";
import type * as js from "acorn";
import type { Expression } from "../program.ts";
import { unknownType } from "../types.ts";
import { missingMethods } from "./missing-methods.ts";
import { kept } from "./tables.ts";
import type { Reader } from "./reader.ts";
import { binary, call, hostText, cast, conditional, integer, text, variable } from "./reader.ts";

type Span = Expression["span"];

/** `args` reads what it is called with. */
export function textMethod(
  reader: Reader,
  node: js.CallExpression,
  of: Expression,
  name: string,
  property: js.Node,
  args: () => readonly Expression[],
): Expression {
  const span = reader.span(node);
  const textual = (least: number, most = least): readonly Expression[] => {
    if (node.arguments.length < least || node.arguments.length > most)
      reader.refuse(
        node,
        handlerCalls.takesHandler(
          name,
          most === 0
            ? "no arguments"
            : most === 1
              ? "one argument"
              : least === most
                ? `${most} arguments`
                : "one argument or two",
        ),
      );
    return args();
  };
  switch (name) {
    case "includes":
      return call("strcontains", [of, ...textual(1)], span);
    case "indexOf":
      return call("strstr", [of, ...textual(1)], span);
    case "startsWith": {
      const [prefix] = textual(1);
      if (prefix.kind !== "string") return binary("==", call("strstr", [of, prefix], span), integer(0n, span), span);
      return binary(
        "==",
        call("strncmp", [of, prefix, integer(BigInt(Buffer.byteLength(prefix.value)), span)], span),
        integer(0n, span),
        span,
      );
    }
    case "endsWith": {
      const [suffix] = textual(1);
      const size = suffix.kind === "string" ? integer(BigInt(Buffer.byteLength(suffix.value)), span) : undefined;
      return stored(reader, of, span, (whole) =>
        kept(reader, suffix, span, (end) =>
          kept(reader, size ?? lengthOf(end, span), span, (long) =>
            kept(reader, lengthOf(whole, span), span, (length) =>
              binary(
                "&&",
                binary(">=", length, long, span),
                binary("==", part(whole, binary("-", length, long, span), long, span), end, span),
                span,
              ),
            ),
          ),
        ),
      );
    }
    case "charCodeAt": {
      const characters = cast({ name: "uint8", pointers: 0, dimensions: [0], span }, of, span);
      return { kind: "index", object: characters, index: textual(1)[0], span, type: unknownType };
    }
    case "charAt": {
      const [at] = textual(1);
      return stored(reader, of, span, (whole) =>
        kept(reader, at, span, (from) =>
          within(binary("<", from, lengthOf(whole, span), span), part(whole, from, integer(1n, span), span), span),
        ),
      );
    }
    case "concat":
      return textual(0, Infinity).reduce((all, next) => call("str_concat", [all, next], span), of);
    case "slice":
    case "substring":
      return slice(reader, node, of, textual(1, 2), name);
    // What follows only the host does.
    case "toUpperCase":
    case "toLowerCase":
      return hostText(name === "toUpperCase" ? "upperCase" : "lowerCase", [of, ...textual(0)], span);
    case "trim":
    case "trimStart":
    case "trimEnd":
      textual(0);
      return hostText("trimmedText", [of, integer(name === "trim" ? 0n : name === "trimStart" ? 1n : 2n, span)], span);
    case "padStart":
    case "padEnd": {
      const [size, filled = text(" ", span)] = textual(1, 2);
      return hostText("paddedText", [of, size, filled, integer(name === "padStart" ? 0n : 1n, span)], span);
    }
    default:
      return reader.refuse(
        property,
        handlerCalls.noFunction(
          name,
          missingMethods[name] ??
            "texts have startsWith(), endsWith(), includes(), indexOf(), slice(), charAt(), charCodeAt(), concat(), toUpperCase(), toLowerCase(), trim(), padStart(), padEnd(), split()[n] and `length`",
        ),
      );
  }
}

function slice(
  reader: Reader,
  node: js.CallExpression,
  of: Expression,
  [from, to]: readonly Expression[],
  name: string,
): Expression {
  const span = reader.span(node);
  if (from.kind === "integer" && from.value === 0n && (to === undefined || !isNegative(to))) {
    return to === undefined ? of : call("str", [call("str", [of], span), withEnd(of, to)], span);
  }
  if (name === "substring" && [from, to].some((bound) => bound !== undefined && isNegative(bound)))
    return reader.refuse(node, handlerCalls.substringCountsFromBeginning());
  return stored(reader, of, span, (whole) =>
    kept(reader, lengthOf(whole, span), span, (length) =>
      kept(reader, bound(from, length, span), span, (begin) =>
        kept(reader, to === undefined ? length : bound(to, length, span), span, (end) => {
          const there = binary("&&", binary("<", begin, length, span), binary("<", begin, end, span), span);
          return within(there, part(whole, begin, binary("-", end, begin, span), span), span);
        }),
      ),
    ),
  );
}

const isNegative = (bound: Expression): boolean => negated(bound) !== undefined;

/** What is counted from the end. */
function negated(bound: Expression): Expression | undefined {
  if (bound.kind === "integer") return bound.value < 0n ? { ...bound, value: -bound.value } : undefined;
  return bound.kind === "unary" && bound.operator === "-" ? bound.operand : undefined;
}

function bound(written: Expression, length: Expression, span: Span): Expression {
  const back = negated(written);
  if (back === undefined) return written;
  return conditional(binary(">", length, back, span), binary("-", length, back, span), integer(0n, span), span);
}

const lengthOf = (of: Expression, span: Span): Expression => call("strlen", [of], span);

const within = (there: Expression, value: Expression, span: Span): Expression =>
  conditional(there, value, text("", span), span);

/** In a variable, so that it has an address. */
function stored(reader: Reader, of: Expression, span: Span, use: (whole: Expression) => Expression): Expression {
  if (of.kind === "variable") return use(of);
  const whole = variable(reader.temporary("text"), span);
  return {
    kind: "block-expression",
    statements: [{ kind: "declare", variable: whole, value: of, span }],
    value: use(whole),
    span,
    type: unknownType,
  };
}

/** So many bytes of a variable from one on. Both must be within it. */
function part(whole: Expression, from: Expression, size: Expression, span: Span): Expression {
  const address: Expression = { kind: "unary", operator: "&", operand: whole, span, type: unknownType };
  const start = binary("+", cast({ name: "uint8", pointers: 1, dimensions: [], span }, address, span), from, span);
  // The end counts as well.
  return call(
    "str",
    [start, size.kind === "integer" ? { ...size, value: size.value + 1n } : binary("+", size, integer(1n, span), span)],
    span,
  );
}

/** What str() takes for so many bytes of text: the end counts as well, unless text and length are written out. */
function withEnd(of: Expression, length: Expression): Expression {
  if (length.kind !== "integer") return binary("+", length, integer(1n, length.span), length.span);
  return of.kind === "string" ? length : { ...length, value: length.value + 1n };
}
