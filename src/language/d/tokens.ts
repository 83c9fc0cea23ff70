// D's words. White space and comments separate them and mean nothing else.
import { behind, quoted, wordsOf, type Word } from "../words.ts";

export type TokenKind =
  | "identifier"
  | "number"
  | "string"
  /** `'a'` */
  | "character"
  /** `$1`, `$$1`, `$target`: `text` is all of it. */
  | "macro"
  /** `@`, `@name`. */
  | "aggregation"
  /** A line that begins with `#`: `text` is what follows that. */
  | "directive"
  | "punctuation"
  /** Something unreadable: `problem` says what. */
  | "bad"
  | "end";

export interface Token extends Word {
  readonly kind: TokenKind;
  /** A string's characters, escapes carried out. */
  readonly value?: string;
  /** A number's or a character's value, and the type that C gives it. */
  readonly number?: bigint;
  readonly type?: "int32" | "uint32" | "int64" | "uint64";
  readonly problem?: string;
  /** What DTrace calls it, where that is not D_SYNTAX; and where it is noticed. */
  readonly tag?: string;
  readonly noticed?: number;
}

const reserved: ReadonlySet<string> = new Set(
  "auto break case char const continue counter default do double else enum extern float for goto if import inline int long probe provider register restrict return self short signed static struct switch this translator typedef union unsigned void volatile while if".split(
    " ",
  ),
);

/** Whether a word is no name. */
export function isReserved(word: string): boolean {
  return reserved.has(word);
}

/** Longest first. */
const punctuation =
  /\.\.\.|<<=|>>=|->|\+\+|--|&&|\|\||\^\^|==|!=|<=|>=|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|<<|>>|[-+*/%&|^~!<>=?:;,.(){}[\]`]/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
/** Letters behind it that are none of C's are another word. */
const number = /(?:0[xX][0-9a-fA-F]+|[0-9]+)(?:[uU]?(?:ll?|LL?)|[uU])?/y;
const macro = /\$\$?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+)/y;
const aggregation = /@[A-Za-z_][A-Za-z0-9_]*|@/y;
const space = /(?:[ \t\r\n\f\v]+|\/\*[^]*?\*\/|\/\/[^\n]*|\\\r?\n)+/y;
/** Lines that end in a backslash go on. */
const directive = /#(?:\\\r?\n|[^\n])*/y;

/** The token at or behind an offset. */
export function scan(text: string, from: number): Token {
  const start = behind(space, text, from);
  if (start >= text.length) return { kind: "end", text: "", start: text.length, end: text.length };
  const char = text[start];
  if (char === '"') return scanQuoted(text, start, "string");
  if (char === "'") return scanQuoted(text, start, "character");
  if (text.startsWith("/*", start))
    return {
      ...bad(text, start, text.length, "end-of-file encountered before matching */"),
      noticed: text.length,
    };
  if (char === "#" && /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, start - 200), start))) {
    const end = behind(directive, text, start);
    return { kind: "directive", text: text.slice(start + 1, end), start, end };
  }
  for (const [kind, pattern] of patterns) {
    const end = behind(pattern, text, start);
    if (end === start) continue;
    const plain = { kind, text: text.slice(start, end), start, end };
    // `@` is short for `@_`.
    if (kind === "aggregation" && plain.text === "@") return { ...plain, text: "@_" };
    if (kind === "number" && isFloat(text, start, end))
      return { ...plain, problem: "floating-point constants are not permitted", tag: "D_SYNTAX" };
    return kind === "number" ? numbered(plain) : plain;
  }
  return bad(text, start, start + 1, `syntax error near "${char}"`);
}

/** `1.5`, `1.`, `1e6`, but for the range `1..5`. */
function isFloat(text: string, start: number, end: number): boolean {
  const behindIt = text.slice(end, end + 3);
  return !/^0[xX]/.test(text.slice(start, end)) && /^(?:\.(?!\.)|[eE][-+]?\d)/.test(behindIt);
}

const patterns: readonly (readonly [TokenKind, RegExp])[] = [
  ["identifier", identifier],
  ["number", number],
  ["macro", macro],
  ["aggregation", aggregation],
  ["punctuation", punctuation],
];

function bad(text: string, start: number, end: number, problem: string): Token {
  return { kind: "bad", text: text.slice(start, end), start, end, problem };
}

/** Decimal, hexadecimal, or octal behind a 0, with C's suffixes; of the first of C's types that holds it. */
function numbered(plain: Token): Token {
  const [, digits = "", suffix = ""] = /^(0[xX][0-9a-fA-F]+|[0-9]+)([a-zA-Z0-9_]*)$/.exec(plain.text) ?? [];
  const wrong = (problem: string, tag = "D_SYNTAX"): Token => ({ ...plain, problem, tag });
  const octal = /^0[0-9]/.test(digits);
  if (octal && /[89]/.test(digits))
    return wrong(`constant ${plain.text} contains invalid digit ${/[89]/.exec(digits)![0]}`, "D_INT_DIGIT");
  const value = BigInt(octal ? `0o${digits.slice(1)}` : digits);
  if (value >= 1n << 64n) return wrong(`constant ${plain.text} results in integer overflow`, "D_INT_OFLOW");
  const unsigned = /u/i.test(suffix);
  const long = /l/i.test(suffix);
  const decimal = /^[1-9]/.test(digits);
  if (decimal && !unsigned && value >= 1n << 63n)
    return wrong(
      `integer constant 0x${value.toString(16)} cannot be represented in any built-in integral type`,
      "D_INT_OFLOW",
    );
  const type =
    !long && !unsigned && value < 1n << 31n
      ? "int32"
      : !long && (unsigned || !decimal) && value < 1n << 32n
        ? "uint32"
        : !unsigned && value < 1n << 63n
          ? "int64"
          : "uint64";
  return { ...plain, number: value, type };
}

function scanQuoted(text: string, start: number, kind: "string" | "character"): Token {
  const { value, end, closed } = quoted(text, start, (code) => (/\W/.test(code) ? code : `\\${code}`));
  if (closed) {
    const found: Token = { kind, text: text.slice(start, end), start, end, value };
    return kind === "string" ? found : character(found, value);
  }
  const [what, tag] = kind === "string" ? ["string literal", "D_STR"] : ["character constant", "D_CHR"];
  const ended = end >= text.length;
  return {
    ...bad(text, start, end, `${ended ? "end-of-file" : "newline"} encountered in ${what}`),
    tag: `${tag}_${ended ? "EOF" : "NL"}`,
    noticed: Math.min(end + 1, text.length),
  };
}

/** Its bytes one behind the other, eight at most. */
function character(token: Token, value: string): Token {
  const bytes = Buffer.from(value, "latin1");
  if (bytes.length === 0) return { ...token, kind: "bad", problem: "empty character constant", tag: "D_CHR_NULL" };
  if (bytes.length > 8) return { ...token, kind: "bad", problem: "character constant is too long", tag: "D_CHR_OFLOW" };
  const all = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  if (bytes.length > 4) return { ...token, number: BigInt.asIntN(64, all), type: "int64" };
  return { ...token, number: BigInt.asIntN(bytes.length === 1 ? 8 : 32, all), type: "int32" };
}

/** All of them, the end included. */
export function tokensOf(text: string): Token[] {
  return wordsOf(text, scan);
}
