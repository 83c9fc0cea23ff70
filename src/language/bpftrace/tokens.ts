// The lexer: a pure function from an offset to the token there, so that the parser may look ahead, go back and read
// probe headers (which have no tokens) without any state to repair. Every call is linear in the token it returns.
import type { Message } from "../../messages/message.ts";
import { syntax } from "../../messages/syntax.ts";

export type TokenKind =
  | "identifier"
  | "integer"
  | "float"
  | "string"
  /** `$name`; the text is the name. */
  | "variable"
  /** `@name`; the text is the name, "" for `@`. */
  | "map"
  /** `$1` and `$#`; the text is "1" and "#". */
  | "positional"
  | "punctuation"
  | "end"
  /** Not a token: `problem` says why. */
  | "bad";

export interface Token {
  readonly kind: TokenKind;
  /** As written, but without sigil and quotes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly problem?: Message;
}

// Longest first.
const punctuation = [
  "<<=",
  ">>=",
  "...",
  "->",
  "++",
  "--",
  "<<",
  ">>",
  "<=",
  ">=",
  "==",
  "!=",
  "&&",
  "||",
  "+=",
  "-=",
  "*=",
  "/=",
  "%=",
  "&=",
  "|=",
  "^=",
  "..",
] as const;
const longer = new Map<string, readonly string[]>();
for (const text of punctuation) longer.set(text[0], [...(longer.get(text[0]) ?? []), text]);
const single = new Set("+-*/%&|^~!<>=?:;,.()[]{}#");

/** Letters belong to it, as to integers. */
const fraction = /\d[\d_]*(?:\.\d[\d_]*(?:[eE][-+]?\d+)?|[eE]-\d+)\w*/y;

/** The token at or after `offset`: white space and comments are passed over. */
export function scan(text: string, offset: number): Token {
  const start = skipTrivia(text, offset);
  if (start >= text.length) return { kind: "end", text: "", start: text.length, end: text.length };
  const code = text.charCodeAt(start);
  if (isNameStart(code)) {
    const end = nameEnd(text, start);
    return { kind: "identifier", text: text.slice(start, end), start, end };
  }
  if (isDigit(code)) {
    // Behind a dot they are elements of tuples: `$t.1.0`.
    fraction.lastIndex = start;
    if (text[start - 1] !== "." && fraction.test(text))
      return { kind: "float", text: text.slice(start, fraction.lastIndex), start, end: fraction.lastIndex };
    // Letters belong to it: suffixes, hexadecimal digits, and typing errors that are better reported whole.
    const end = nameEnd(text, start);
    return { kind: "integer", text: text.slice(start, end), start, end };
  }
  switch (text[start]) {
    case '"':
      return scanString(text, start);
    case "@": {
      const end = isNameStart(text.charCodeAt(start + 1)) ? nameEnd(text, start + 1) : start + 1;
      return { kind: "map", text: text.slice(start + 1, end), start, end };
    }
    case "$": {
      if (text[start + 1] === "#") return { kind: "positional", text: "#", start, end: start + 2 };
      const end = nameEnd(text, start + 1);
      const name = text.slice(start + 1, end);
      if (name === "") return bad(text, start, start + 1, syntax.namelessVariable());
      if (/^\d+$/.test(name)) return { kind: "positional", text: name, start, end };
      if (isDigit(name.charCodeAt(0))) return bad(text, start, end, syntax.badVariable(name));
      return { kind: "variable", text: name, start, end };
    }
    case "/":
      if (text[start + 1] === "*") return bad(text, start, text.length, syntax.unclosedComment());
      break;
    case "'": {
      const close = /^'(\\?.)'/.exec(text.slice(start, start + 4));
      return bad(text, start, start + (close?.[0].length ?? 1), syntax.characterLiteral());
    }
  }
  for (const candidate of longer.get(text[start]) ?? []) {
    if (text.startsWith(candidate, start)) {
      return { kind: "punctuation", text: candidate, start, end: start + candidate.length };
    }
  }
  if (single.has(text[start])) return { kind: "punctuation", text: text[start], start, end: start + 1 };
  const character = String.fromCodePoint(text.codePointAt(start)!);
  const shown = /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character)
    ? `\`${character}\``
    : `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
  return bad(text, start, start + character.length, syntax.meaninglessCharacter(shown));
}

/**
 * The offset of the next thing that is neither white space nor a comment. An unclosed comment is left where it starts.
 */
export function skipTrivia(text: string, offset: number): number {
  let at = offset;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 32 || (code >= 9 && code <= 13)) {
      at++;
    } else if (code === 92 && text.charCodeAt(at + 1) === 10) {
      // A directive that goes on in the next line.
      at += 2;
    } else if (code === 47 && text.charCodeAt(at + 1) === 47) {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end + 1;
    } else if (code === 47 && text.charCodeAt(at + 1) === 42) {
      const end = text.indexOf("*/", at + 2);
      if (end < 0) return at;
      at = end + 2;
    } else {
      return at;
    }
  }
}

function scanString(text: string, start: number): Token {
  for (let at = start + 1; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 34:
        return { kind: "string", text: text.slice(start + 1, at), start, end: at + 1 };
      case 92:
        at++;
        break;
      case 10:
        return bad(text, start, at, syntax.unclosedString());
    }
  }
  return bad(text, start, text.length, syntax.unclosedString());
}

function bad(text: string, start: number, end: number, problem: Message): Token {
  return { kind: "bad", text: text.slice(start, end), start, end, problem };
}

export function isNameStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function nameEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && (isNameStart(text.charCodeAt(end)) || isDigit(text.charCodeAt(end)))) end++;
  return end;
}
