// What questions in SQL are written with.
import type { EditingToken } from "../language.ts";

export interface Token {
  readonly kind: "word" | "number" | "text" | "sign" | "end";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const tokens =
  /(?<word>[A-Za-z_$]\w*)|(?<number>0[xX][0-9a-fA-F]+|\d+)|(?<text>"[^"\n]*"|'[^'\n]*')|(?<sign>&&|\|\||[=!<>]=|<>|[-+*/%=<>!~&|(),.;])/y;
/** `--` to the end of the line, and C's comments. */
const blank = /(?:\s+|--[^\n]*|\/\*[^]*?\*\/)+/y;

export const clauses = ["SELECT", "FROM", "JOIN", "ON", "WHERE", "AS", "AND", "OR", "NOT"];

export function isClause(text: string): boolean {
  return clauses.includes(text.toUpperCase());
}

/** The first offset from `at` on that is in no blanks and comments. */
export function behindBlank(text: string, at: number): number {
  blank.lastIndex = at;
  return blank.test(text) ? blank.lastIndex : at;
}

/** The token at or behind an offset. A character that begins none is a sign of its own. */
export function tokenAt(text: string, at: number): Token {
  const start = behindBlank(text, at);
  if (start >= text.length) return { kind: "end", text: "", start, end: start };
  tokens.lastIndex = start;
  const found = tokens.exec(text);
  if (found === null) return { kind: "sign", text: text[start], start, end: start + 1 };
  const kind = (["word", "number", "text"] as const).find((one) => found.groups?.[one] !== undefined) ?? "sign";
  return { kind, text: found[0], start, end: start + found[0].length };
}

const editingKinds: Readonly<Record<Token["kind"], string>> = {
  word: "identifier",
  number: "number",
  text: "string",
  sign: "punctuation",
  end: "end",
};

/** The same for editors: a quotation mark that is never closed takes the rest of its line. */
export function scan(text: string, at: number): EditingToken {
  const { kind, ...token } = tokenAt(text, at);
  if (kind !== "sign" || (token.text !== '"' && token.text !== "'")) return { ...token, kind: editingKinds[kind] };
  const line = text.indexOf("\n", token.start);
  return { ...token, kind: "bad", end: line < 0 ? text.length : line };
}
