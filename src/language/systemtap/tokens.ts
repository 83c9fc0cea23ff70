// SystemTap's words. White space and comments separate them and mean nothing else: a line's end ends no statement.
import type { Span } from "../diagnostic.ts";

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

export interface Token extends Span {
  readonly kind: TokenKind;
  readonly text: string;
  /** A string's characters, escapes carried out; a number's value. */
  readonly value?: string;
  readonly number?: bigint;
  readonly problem?: string;
}

/** Longest first. */
const punctuation =
  /<<<|>>>|<<=|>>=|%\(|%\?|%:|%\)|->|\+\+|--|&&|\|\||==|!=|<=|>=|=~|!~|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|\.=|<<|>>|\*\*|[-+*/%&|^~!<>=?:;,.(){}[\]]|\$\$?/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const number = /0[xX][0-9a-fA-F]+|[0-9]+/y;
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

function behind(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

function token(kind: TokenKind, text: string, start: number, end: number): Token {
  return { kind, text: text.slice(start, end), start, end };
}

function bad(text: string, start: number, end: number, problem: string): Token {
  return { ...token("bad", text, start, end), problem };
}

/** Decimal, hexadecimal, or octal behind a 0; what is above the largest signed number is a bit pattern. */
function scanNumber(text: string, start: number, end: number): Token {
  const plain = token("number", text, start, end);
  const octal = /^0[0-9]/.test(plain.text);
  if (octal && /[89]/.test(plain.text)) return bad(text, start, end, `octal number ${plain.text} has a digit 8 or 9`);
  const value = BigInt(octal ? `0o${plain.text.slice(1)}` : plain.text);
  if (value >= 1n << 64n) return bad(text, start, end, `number ${plain.text} does not fit in 64 bits`);
  return { ...plain, number: BigInt.asIntN(64, value) };
}

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function scanString(text: string, start: number): Token {
  let value = "";
  let at = start + 1;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') return { ...token("string", text, start, at + 1), value };
    if (char === "\n") break;
    if (char !== "\\") {
      value += char;
      at++;
      continue;
    }
    const [code] = /^(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2}|\r?\n|[^])/.exec(text.slice(at + 1, at + 4)) ?? [""];
    if (/^[0-7]/.test(code)) value += String.fromCharCode(Number.parseInt(code, 8) & 255);
    else if (/^x./.test(code)) value += String.fromCharCode(Number.parseInt(code.slice(1), 16));
    // A backslash before the line's end joins the lines.
    else if (!code.endsWith("\n")) value += escapes[code] ?? code;
    at += 1 + code.length;
  }
  return bad(text, start, Math.min(at, text.length), "unterminated string");
}

/** All of them, the end included. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; ;) {
    const next = scan(text, at);
    tokens.push(next);
    if (next.kind === "end") return tokens;
    at = next.end;
  }
}
