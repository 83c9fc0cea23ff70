// What stands behind `#if`: C's integer expressions, with names that were defined and `defined(NAME)`.
import { calculated, truth } from "../arithmetic.ts";
import type { BinaryOperator } from "../program.ts";

/** The body of a definition; undefined for a name that has none. */
export type BodyOf = (name: string) => string | undefined;

const lexeme = /\s*(?:(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b|([A-Za-z_]\w*)|(&&|\|\||<<|>>|[<>=!]=|[-+*/%<>&^|!~()?:]))/y;
const levels: readonly (readonly BinaryOperator[])[] = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<", "<=", ">", ">="],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
];
/**
 * Definitions that name definitions, and parentheses in parentheses: more than people write, less than a stack holds.
 */
const deepest = 50;
/** Two of each in the one before would be 2^n. */
const mostDefinitions = 1000;

/** A condition's number; undefined for what is no such expression. A name that is not defined is 0, as in C. */
export function conditionValue(text: string, bodyOf: BodyOf): bigint | undefined {
  return evaluate(text, bodyOf, { definitions: mostDefinitions }, 0);
}

function evaluate(text: string, bodyOf: BodyOf, left: { definitions: number }, depth: number): bigint | undefined {
  if (depth > deepest || --left.definitions < 0) return undefined;
  const tokens: string[] = [];
  lexeme.lastIndex = 0;
  const trimmed = text.trimEnd();
  while (lexeme.lastIndex < trimmed.length) {
    const match = lexeme.exec(trimmed);
    if (match === null) return undefined;
    tokens.push(match[1] ?? match[2] ?? match[3]);
  }
  let at = 0;
  let open = 0;

  const take = (token: string): boolean => tokens[at] === token && ++at > 0;
  const primary = (): bigint | undefined => {
    const token = tokens[at++];
    if (token === undefined) return undefined;
    if (/^0\d/.test(token)) return /^[0-7]*$/.test(token) ? BigInt(`0o${token}`) : undefined;
    if (/^\d/.test(token)) return BigInt(token);
    switch (token) {
      case "!":
      case "-":
      case "+":
      case "~": {
        const operand = deeper(primary);
        if (operand === undefined) return undefined;
        return token === "!" ? truth(operand === 0n) : token === "-" ? -operand : token === "~" ? ~operand : operand;
      }
      case "(": {
        const inside = deeper(conditional);
        return take(")") ? inside : undefined;
      }
      case "defined": {
        const enclosed = take("(");
        const name = tokens[at++] ?? "";
        if (!/^[A-Za-z_]/.test(name) || (enclosed && !take(")"))) return undefined;
        return truth(bodyOf(name) !== undefined);
      }
      default: {
        if (!/^[A-Za-z_]/.test(token) || tokens[at] === "(") return undefined;
        const body = bodyOf(token);
        if (body === undefined) return 0n;
        return body.trim() === "" ? undefined : evaluate(body, bodyOf, left, depth + 1);
      }
    }
  };
  const deeper = (read: () => bigint | undefined): bigint | undefined => {
    if (++open > deepest) return undefined;
    const value = read();
    open--;
    return value;
  };
  const binary = (level: number): bigint | undefined => {
    if (level === levels.length) return primary();
    let value = binary(level + 1);
    while (value !== undefined) {
      const operator = levels[level].find((one) => one === tokens[at]);
      if (operator === undefined) break;
      at++;
      const right = binary(level + 1);
      value = right === undefined ? undefined : calculated(operator, value, right, wrapped);
    }
    return value;
  };
  const conditional = (): bigint | undefined => {
    const condition = binary(0);
    if (!take("?")) return condition;
    const then = deeper(conditional);
    const otherwise = take(":") ? deeper(conditional) : undefined;
    return condition === undefined || then === undefined || otherwise === undefined
      ? undefined
      : condition === 0n
        ? otherwise
        : then;
  };
  const value = conditional();
  return at === tokens.length && value !== undefined ? wrapped(value) : undefined;
}

function wrapped(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}
