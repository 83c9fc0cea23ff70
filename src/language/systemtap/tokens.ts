// SystemTap's words. White space and comments separate them and mean nothing else: a line's end ends no statement.
import { behind, quoted, wordsOf, type Word } from "../words.ts";

export type TokenKind =
  | "identifier"
  | "number"
  | "string"
  /** `$x`, `$$vars`, `$1`, `$#`: `text` is all of it. */
  | "target"
  /** `@cast`, `@1`, `@#`. */
  | "at"
  /** `%{ … %}` */
  | "embedded"
  | "punctuation"
  /** Something unreadable: `problem` says what. */
  | "bad"
  | "end";

export interface Token extends Word {
  readonly kind: TokenKind;
  /** A string's characters, escapes carried out; a number's value. */
  readonly value?: string;
  readonly number?: bigint;
  readonly problem?: string;
}

/** Longest first. */
const punctuation =
  /<<<|>>>|<<=|>>=|%\(|%\?|%:|%\)|->|\+\+|--|&&|\|\||==|!=|<=|>=|=~|!~|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|\.=|<<|>>|\*\*|[-+*/%&|^~!<>=?:;,.(){}[\]]|\$\$?/y;
/** A `$` in a name's middle is of it; at its end it asks for text: `n->y$`. */
const identifier = /[A-Za-z_](?:[A-Za-z0-9_]|\$+(?=[A-Za-z0-9_]))*/y;
const number = /0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+/y;
const target = /\$\$?[A-Za-z_][A-Za-z0-9_]*|\$[0-9]+|\$#/y;
const at = /@[A-Za-z_][A-Za-z0-9_]*|@[0-9]+|@#/y;
const space = /(?:[ \t\r\n\f\v]+|\/\/[^\n]*|\/\*[^]*?\*\/)+/y;
const hash = /#[^\n]*/y;

/** The token at or behind an offset. */
export function scan(text: string, from: number): Token {
  let start = from;
  for (;;) {
    const before = start;
    start = behind(space, text, start);
    start = behind(hash, text, start);
    if (start === before) break;
  }
  if (start >= text.length) return { kind: "end", text: "", start: text.length, end: text.length };
  const char = text[start];
  if (char === '"') return scanString(text, start);
  if (text.startsWith("/*", start)) return bad(text, start, text.length, "unterminated comment");
  if (text.startsWith("%{", start)) {
    const close = text.indexOf("%}", start + 2);
    if (close < 0) return bad(text, start, text.length, "unterminated embedded code: `%{` has no `%}`");
    return token("embedded", text, start, close + 2);
  }
  for (const [kind, pattern] of patterns) {
    const end = behind(pattern, text, start);
    if (end === start) continue;
    if (kind !== "number") return token(kind, text, start, end);
    return scanNumber(text, start, end);
  }
  return bad(text, start, start + 1, `unexpected character ${JSON.stringify(char)}`);
}

const patterns: readonly (readonly [TokenKind, RegExp])[] = [
  ["identifier", identifier],
  ["number", number],
  ["target", target],
  ["at", at],
  ["punctuation", punctuation],
];

function token(kind: TokenKind, text: string, start: number, end: number): Token {
  return { kind, text: text.slice(start, end), start, end };
}

function bad(text: string, start: number, end: number, problem: string): Token {
  return { ...token("bad", text, start, end), problem };
}

/** Decimal, hexadecimal, binary, or octal behind a 0; what is above the largest signed number is a bit pattern. */
function scanNumber(text: string, start: number, end: number): Token {
  const plain = token("number", text, start, end);
  const octal = /^0[0-9]/.test(plain.text);
  if (octal && /[89]/.test(plain.text)) return bad(text, start, end, `octal number ${plain.text} has a digit 8 or 9`);
  const value = BigInt(octal ? `0o${plain.text.slice(1)}` : plain.text);
  if (value >= 1n << 64n) return bad(text, start, end, `number ${plain.text} does not fit in 64 bits`);
  return { ...plain, number: BigInt.asIntN(64, value) };
}

function scanString(text: string, start: number): Token {
  const { value, end, closed } = quoted(text, start);
  return closed ? { ...token("string", text, start, end), value } : bad(text, start, end, "unterminated string");
}

/** All of them, the end included. */
export function tokensOf(text: string): Token[] {
  return wordsOf(text, scan);
}
