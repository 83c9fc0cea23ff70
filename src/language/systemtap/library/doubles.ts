// Floating point in SystemTap's library: doubles are the bits in a number, and the host computes with them.
import type { LibraryFunction } from "./function.ts";
import * as tree from "../tree.ts";

/** An operation of one or two. */
const float = (operation: string, operands: 1 | 2, doc: string): LibraryFunction => ({
  parameters: operands === 1 ? ["long"] : ["long", "long"],
  result: "long",
  doc,
  value: ([left, right = tree.integer(0, left.span)], span) =>
    tree.hostText("doubleComputed", [tree.text(operation, span), left, right], span),
});

export const doubles: Readonly<Record<string, LibraryFunction>> = {
  long_to_fp: float("long", 1, "A number as a double."),
  fp32_to_fp64: float("single", 1, "A float of 32 bits as a double."),
  string_to_fp: {
    parameters: ["string"],
    result: "long",
    doc: "The decimal number that a text is, as a double.",
    value: (args, span) => tree.hostText("parsedDouble", args, span),
  },
  fp_to_string: {
    parameters: ["long", "long"],
    result: "string",
    doc: "A double as text, with so many decimal places.",
    value: (args, span) => tree.hostText("doubleText", args, span),
  },
  fp_to_long: {
    parameters: ["long", "long", "long"],
    result: "long",
    doc: "A double as a number, rounded to the nearest even (0), towards 0 (1), down (2), up (3), away from 0 (4), to odd (6).",
    value: ([of, mode], span) => tree.hostText("doubleAsNumber", [of, mode], span),
  },
  fp_add: float("+", 2, "A sum of doubles."),
  fp_sub: float("-", 2, "A difference of doubles."),
  fp_mul: float("*", 2, "A product of doubles."),
  fp_div: float("/", 2, "A quotient of doubles."),
  fp_rem: float("%", 2, "What is left of a double behind the nearest whole multiple of another."),
  fp_sqrt: float("sqrt", 1, "The square root of a double."),
  fp_eq: float("==", 2, "1 where doubles are equal, else 0."),
  fp_le: float("<=", 2, "1 where a double is less than another or equal, else 0."),
  fp_lt: float("<", 2, "1 where a double is less than another, else 0."),
};
