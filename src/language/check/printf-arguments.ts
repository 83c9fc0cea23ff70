// printf formats against their arguments.
import { calls } from "../../messages/calls.ts";
import type { Expression } from "../program.ts";
import type { FormatRules } from "../rules.ts";
import { isFloat, type Type } from "../types.ts";
import { parsePrintf, PrintfError } from "../printf.ts";
import type { PrintfConversion } from "../printf.ts";
import type { Body } from "./pass.ts";
import { report } from "./pass.ts";
import { castHelp, functionName } from "./spelling.ts";
import { describe, describeOne } from "./unify.ts";

/** Checks a format and its arguments (already typed): as many as it wants, and of types that its conversions print. */
export function checkFormat(
  format: Expression,
  args: readonly Expression[],
  span: Expression["span"],
  body: Body,
): void {
  if (format.kind !== "string") {
    if (format.type.kind !== "unknown") report(body, format.span, calls.expectedStringLiteralFormat());
    return;
  }
  let pieces;
  try {
    ({ pieces } = parsePrintf(format.value));
  } catch (error) {
    if (!(error instanceof PrintfError)) throw error;
    report(body, format.span, calls.badFormat(error.message));
    return;
  }
  const conversions = pieces.filter((piece): piece is PrintfConversion => typeof piece !== "string");
  const wanted = conversions.reduce((sum, c) => sum + (c.precision === -2 ? 2 : 1), 0);
  if (wanted !== args.length) {
    report(
      body,
      span,
      calls.argumentsFormatStringSuppliedExpected(
        args.length < wanted ? "not enough" : "too many",
        args.length,
        wanted,
      ),
    );
    return;
  }
  let next = 0;
  for (const conversion of conversions) {
    if (conversion.precision === -2) {
      const precision = args[next++];
      if (precision.type.kind !== "unknown" && precision.type.kind !== "integer") {
        report(body, precision.span, calls.precisionExpectsIntegerNot(describeOne(precision.type)));
      }
    }
    const argument = args[next++];
    if (argument.type.kind === "unknown" || prints(conversion.letter, argument.type)) continue;
    report(
      body,
      argument.span,
      calls.unsupportedFormatSpecifierType(
        describe(argument.type),
        conversion.letter,
        suggestion(conversion.letter, argument.type, body),
      ),
    );
  }
}

/** Which arguments a format prints as an `int`: by %d or %i without a length. */
export function intsIn(format: Expression): ReadonlySet<number> {
  const ints = new Set<number>();
  if (format.kind !== "string") return ints;
  try {
    let next = 0;
    for (const piece of parsePrintf(format.value).pieces) {
      if (typeof piece === "string") continue;
      if (piece.precision === -2) next++;
      if ((piece.letter === "d" || piece.letter === "i") && piece.bits === undefined) ints.add(next);
      next++;
    }
  } catch (error) {
    if (!(error instanceof PrintfError)) throw error;
  }
  return ints;
}

const conversions = /%%|%[-0+ #']*(\*|\d*)(?:\.(\*|\d*))?(?:hh|h|ll|l|j|z|t|L)?(?:rx|rh|rd|gr|[a-zA-Z])/g;

/** A format with other words for conversions, each by its argument. */
function reworded(
  format: Expression,
  args: readonly Expression[],
  word: (conversion: string, type: Type) => string,
): Expression {
  if (format.kind !== "string") return format;
  let next = 0;
  const value = format.value.replace(conversions, (conversion, width?: string, precision?: string) => {
    if (conversion === "%%") return conversion;
    for (const room of [width, precision]) if (room === "*") next++;
    const argument = args[next++];
    return argument === undefined ? conversion : word(conversion, argument.type);
  });
  return { ...format, value };
}

/** `%v`, and `%#v` in a column: the conversion that the value's type is written with. */
export function withLetters(format: Expression, args: readonly Expression[], { anyValue }: FormatRules): Expression {
  if (!anyValue) return format;
  return reworded(format, args, (conversion, type) => {
    if (!conversion.endsWith("v")) return conversion;
    return conversion.includes("#") ? inColumn(type) : conversion.slice(0, -1) + letterOf(type);
  });
}

/** `%d` and `%i` of what has no sign show none, where signs go by the type. */
export function withSigns(format: Expression, args: readonly Expression[], { signsByType }: FormatRules): Expression {
  if (!signsByType) return format;
  return reworded(format, args, (conversion, type) =>
    type.kind === "integer" && !type.signed && /[^r]d$|i$/.test(conversion)
      ? `${conversion.slice(0, -1).replaceAll(/[+ ]/g, "")}u`
      : conversion,
  );
}

/** `%#v`: in a column as wide as values of the type are, as DTrace's trace() has them. */
function inColumn(type: Type): string {
  const letter = letterOf(type);
  switch (type.kind) {
    case "integer":
    case "enum":
      if (type.bits === 64) return type.signed ? " %19d" : " %20u";
      return ` %${{ 8: 3, 16: 5, 32: 10 }[type.bits]}${type.signed ? "d" : "u"}`;
    case "boolean":
      return " %10d";
    case "pointer":
      return " %20u";
    case "string":
    case "named":
      return "  %-33s";
    default:
      return `%${letter}`;
  }
}

function letterOf(type: Type): string {
  switch (type.kind) {
    case "integer":
      return type.signed ? "d" : "u";
    case "pointer":
      return "p";
    case "buffer":
      return "r";
    default:
      return "s";
  }
}

function prints(letter: string, type: Type): boolean {
  switch (letter) {
    case "d":
    case "i":
    case "u":
    case "x":
    case "X":
    case "o":
    case "p":
    case "b":
    case "B":
      return type.kind === "integer" || type.kind === "enum" || type.kind === "boolean" || type.kind === "pointer";
    case "e":
    case "E":
    case "f":
    case "F":
    case "g":
    case "G":
      return isFloat(type);
    case "c":
    case "gr":
      return type.kind === "integer" || type.kind === "enum";
    case "r":
    case "rx":
    case "rh":
    case "rd":
      return type.kind === "buffer" || type.kind === "array" || type.kind === "string";
    case "s":
      return type.kind !== "pointer" && type.kind !== "void" && type.kind !== "aggregate";
    default:
      return false;
  }
}

function suggestion(letter: string, type: Type, body: Body): string {
  const isNumber = type.kind === "integer" || type.kind === "enum" || type.kind === "boolean";
  switch (type.kind) {
    case "pointer":
      return `use %p for the address, or ${functionName(body, "str")}() and %s for the text behind it`;
    case "buffer":
      return "use %r";
    default:
      if (isFloat(type)) return `use %f, %e or %g${castHelp(body, ", or cast it: ", "int64") ?? ""}`;
      return isNumber && "eEfFgG".includes(letter) ? (castHelp(body, "cast it: ", "double") ?? "use %d") : "use %s";
  }
}
