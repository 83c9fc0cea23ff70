// What `#if` asks: a constant expression of C, over numbers and the names that are defined.
import { precedence } from "../precedence.ts";
import type { BinaryOperator } from "../program.ts";
import type { Token } from "./tokens.ts";

const truth = (holds: boolean): bigint => (holds ? 1n : 0n);

const operations: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  "||": (a, b) => truth(a !== 0n || b !== 0n),
  "&&": (a, b) => truth(a !== 0n && b !== 0n),
  "|": (a, b) => a | b,
  "^": (a, b) => a ^ b,
  "&": (a, b) => a & b,
  "==": (a, b) => truth(a === b),
  "!=": (a, b) => truth(a !== b),
  "<": (a, b) => truth(a < b),
  "<=": (a, b) => truth(a <= b),
  ">": (a, b) => truth(a > b),
  ">=": (a, b) => truth(a >= b),
  "<<": (a, b) => a << (b & 63n),
  ">>": (a, b) => a >> (b & 63n),
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};

/** No constant expression. */
class Unreadable extends Error {}

/** `defined X` and `defined(X)` as 1 and 0: before what X stands for is put in its place. */
export function definedAsNumbers(tokens: readonly Token[], isDefined: (name: string) => boolean): Token[] {
  const made: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token.kind !== "identifier" || token.text !== "defined") {
      made.push(token);
      continue;
    }
    const inParentheses = tokens[i + 1]?.text === "(";
    const name = tokens[i + (inParentheses ? 2 : 1)];
    made.push({ ...token, kind: "number", number: truth(name !== undefined && isDefined(name.text)) });
    i += inParentheses ? 3 : 1;
  }
  return made;
}

/** Whether it holds: a name that stands for nothing is 0, numbers have 64 bits. undefined: it is no such expression. */
export function conditionHolds(tokens: readonly Token[]): boolean | undefined {
  let at = 0;
  const accept = (text: string): boolean => {
    const found = tokens[at]?.kind === "punctuation" && tokens[at].text === text;
    if (found) at++;
    return found;
  };
  const primary = (): bigint => {
    if (at > 10_000) throw new Unreadable();
    if (accept("!")) return truth(primary() === 0n);
    if (accept("-")) return -primary();
    if (accept("+")) return primary();
    if (accept("~")) return ~primary();
    if (accept("(")) {
      const value = choice();
      if (!accept(")")) throw new Unreadable();
      return value;
    }
    const token = tokens.at(at++);
    if (token?.kind === "identifier") return 0n;
    if (token?.number === undefined || token.problem !== undefined) throw new Unreadable();
    return token.number;
  };
  const binary = (least: number): bigint => {
    let left = primary();
    for (;;) {
      const { kind, text = "" } = tokens.at(at) ?? {};
      const strength =
        kind === "punctuation" && Object.hasOwn(operations, text) ? precedence[text as BinaryOperator] : 0;
      if (strength === 0 || strength < least) return left;
      at++;
      const right = binary(strength + 1);
      if ((text === "/" || text === "%") && right === 0n) throw new Unreadable();
      left = BigInt.asIntN(64, operations[text](left, right));
    }
  };
  const choice = (): bigint => {
    const condition = binary(1);
    if (!accept("?")) return condition;
    const then = choice();
    if (!accept(":")) throw new Unreadable();
    const otherwise = choice();
    return condition !== 0n ? then : otherwise;
  };
  try {
    const value = choice();
    return at === tokens.length ? value !== 0n : undefined;
  } catch (error) {
    // Parentheses without end, too.
    if (error instanceof Unreadable || error instanceof RangeError) return undefined;
    throw error;
  }
}
