import type { BinaryOperator } from "./program.ts";

/** How strongly operators bind, as C has it; JavaScript's strengths are the same for what the two share. */
export const precedence: Readonly<Record<BinaryOperator, number>> = {
  "||": 2,
  "&&": 3,
  "|": 4,
  "^": 5,
  "&": 6,
  "==": 7,
  "!=": 7,
  "<": 8,
  "<=": 8,
  ">": 8,
  ">=": 8,
  "<<": 9,
  ">>": 9,
  "+": 10,
  "-": 10,
  "*": 11,
  "/": 11,
  "%": 11,
};
