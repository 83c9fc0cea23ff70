// The parser's place in the words of a script, and what all its parts share.
import { d } from "../../messages/d.ts";
import type { Message } from "../../messages/message.ts";
import type { Diagnostic, Source, Span } from "../diagnostic.ts";
import type { Token } from "./tokens.ts";

/** Thrown, after the diagnostic has been reported, to where the parser can go on. */
export const failure = new Error("syntax error already reported");

const nestingLimit = 200;

export class Cursor {
  readonly source: Source;
  readonly diagnostics: Diagnostic[];
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;

  constructor(source: Source, tokens: readonly Token[], diagnostics: readonly Diagnostic[]) {
    this.source = source;
    this.#tokens = tokens;
    this.diagnostics = [...diagnostics];
  }

  get token(): Token {
    return this.#tokens[this.#index];
  }

  /** The end of the word before. */
  get last(): number {
    return this.#tokens[Math.max(0, this.#index - 1)].end;
  }

  peek(ahead = 1): Token {
    return this.#tokens[Math.min(this.#index + ahead, this.#tokens.length - 1)];
  }

  /** For a way back: `seek` goes there. */
  get index(): number {
    return this.#index;
  }

  seek(index: number): void {
    this.#index = index;
  }

  /** To the first word that begins there or behind. */
  skipTo(offset: number): void {
    while (this.token.kind !== "end" && this.token.start < offset) this.#index++;
  }

  advance(): Token {
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

  expect(text: string): Token {
    return this.at(text) ? this.advance() : this.unexpected(`\`${text}\``);
  }

  expectName(what: string): Token {
    return this.token.kind === "identifier" ? this.advance() : this.unexpected(what);
  }

  /** From a place to the end of the last word. */
  from({ start }: Span): Span {
    return { start, end: Math.max(start, this.last) };
  }

  unexpected(wanted: string): never {
    const { kind, text } = this.token;
    return this.fail(d.near(kind === "end" ? "end of input" : kind === "string" ? text : `"${text}"`, wanted));
  }

  report({ start, end }: Span, said: Message): void {
    if (this.diagnostics.some((one) => one.span.start === start && one.message === said.message)) return;
    this.diagnostics.push({ severity: "error", span: { start, end }, ...said });
  }

  warn({ start, end }: Span, said: Message): void {
    this.diagnostics.push({ severity: "warning", span: { start, end }, ...said });
  }

  fail(said: Message, span: Span = this.token): never {
    const { token } = this;
    if (token.problem === undefined || span !== token) this.report(span, said);
    else {
      const start = token.noticed ?? token.start;
      this.report({ start, end: Math.max(start, token.end) }, d.unreadable(token.problem, token.tag));
    }
    throw failure;
  }

  /** Words that stand elsewhere, as if they stood at a place: mistakes in them are there. */
  elsewhere(tokens: readonly Token[], { start, end }: Span): Cursor {
    const last = tokens.at(-1)?.kind === "end" ? [] : [{ kind: "end" as const, text: "", start, end }];
    return new Cursor(
      this.source,
      [...tokens, ...last].map((token) => ({ ...token, start, end })),
      [],
    );
  }

  /** Keeps deep nesting from exhausting the stack, here and in all that walks what was read. */
  nested<T>(read: () => T): T {
    if (this.#depth >= nestingLimit) this.fail(d.nestedTooDeeply());
    this.#depth++;
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }
}
