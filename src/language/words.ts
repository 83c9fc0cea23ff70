// What languages share that are cut into words before they are parsed (D, SystemTap): where a word ends, what C's escapes
// stand for, and the parser's place among the words.
import type { Message } from "../messages/message.ts";
import type { Source, Span, Diagnostic } from "./diagnostic.ts";

export interface Word extends Span {
  /** "end" is behind the last one. */
  readonly kind: string;
  readonly text: string;
}

/** Thrown, after the diagnostic has been reported, to where the parser can go on. */
export const failure = new Error();

/** Where a sticky pattern's match at an offset ends; the offset itself where it does not match. */
export function behind(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

/** All words of a text, the end included. */
export function wordsOf<T extends Word>(text: string, scan: (text: string, from: number) => T): T[] {
  const words: T[] = [];
  for (let at = 0; ;) {
    const next = scan(text, at);
    words.push(next);
    if (next.kind === "end") return words;
    at = next.end;
  }
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

/**
 * What stands between quotes, C's escapes carried out, a character a byte. `end` is behind the closing quote; without one
 * (`closed` is false) it is where the line or the text ends.
 */
export function quoted(
  text: string,
  start: number,
  unknown = (code: string): string => code,
): { value: string; end: number; closed: boolean } {
  const quote = text[start];
  let value = "";
  let at = start + 1;
  while (at < text.length) {
    const char = text[at];
    if (char === quote) return { value, end: at + 1, closed: true };
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
    else if (!code.endsWith("\n")) value += escapes[code] ?? unknown(code);
    at += 1 + code.length;
  }
  return { value, end: Math.min(at, text.length), closed: false };
}

const nestingLimit = 200;

/** The parser's place in the words of a script. A language adds how it reports mistakes. */
export abstract class WordCursor<T extends Word> {
  readonly source: Source;
  readonly diagnostics: Diagnostic[];
  readonly #words: readonly T[];
  #index = 0;
  #depth = 0;

  constructor(source: Source, words: readonly T[], diagnostics: readonly Diagnostic[]) {
    this.source = source;
    this.#words = words;
    this.diagnostics = [...diagnostics];
  }

  /** Reports a mistake, by default at the word that is next, and throws `failure`. */
  abstract fail(said: Message, span?: Span): never;
  protected abstract nestedTooDeeply(): Message;

  get token(): T {
    return this.#words[this.#index];
  }

  /** The end of the word before. */
  get last(): number {
    return this.#words[Math.max(0, this.#index - 1)].end;
  }

  peek(ahead = 1): T {
    return this.#words[Math.min(this.#index + ahead, this.#words.length - 1)];
  }

  /** For a way back: `seek` goes there. */
  get index(): number {
    return this.#index;
  }

  seek(index: number): void {
    this.#index = index;
  }

  advance(): T {
    const { token } = this;
    if (token.kind !== "end") this.#index++;
    return token;
  }

  at(text: string): boolean {
    return this.token.kind === "punctuation" && this.token.text === text;
  }

  atWord(text: string): boolean {
    return this.token.kind === "identifier" && this.token.text === text;
  }

  accept(text: string): boolean {
    const found = this.at(text);
    if (found) this.advance();
    return found;
  }

  acceptWord(text: string): boolean {
    const found = this.atWord(text);
    if (found) this.advance();
    return found;
  }

  /** From a place to the end of the last word. */
  from({ start }: Span): Span {
    return { start, end: Math.max(start, this.last) };
  }

  /** Keeps deep nesting from exhausting the stack, here and in all that walks what was read. */
  nested<R>(read: () => R): R {
    if (this.#depth >= nestingLimit) this.fail(this.nestedTooDeeply());
    this.#depth++;
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }
}
