// The parser's place in the words of a script, and what all its parts share.
import { systemtap } from "../../messages/systemtap.ts";
import type { Message } from "../../messages/message.ts";
import type { Diagnostic, Source, Span } from "../diagnostic.ts";
import type { Token } from "./tokens.ts";

/** Thrown, after the diagnostic has been reported, to where the parser can go on. */
export const failure = new Error("syntax error already reported");

const errorLimit = 20;
const nestingLimit = 200;

export class Cursor {
  readonly source: Source;
  readonly diagnostics: Diagnostic[];
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;
  #errors = 0;

  constructor(source: Source, tokens: readonly Token[], diagnostics: readonly Diagnostic[]) {
    this.source = source;
    this.#tokens = tokens;
    this.diagnostics = [...diagnostics];
  }

  get token(): Token {
    return this.#tokens[this.#index];
  }

  get tooManyErrors(): boolean {
    return this.#errors >= errorLimit;
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

  expect(text: string, where = ""): Token {
    if (this.at(text)) return this.advance();
    return this.fail(systemtap.expected(`\`${text}\`${where === "" ? "" : ` ${where}`}`, this.describe()));
  }

  expectName(what: string): Token {
    if (this.token.kind === "identifier") return this.advance();
    return this.fail(systemtap.expected(what, this.describe()));
  }

  /** From a place to the end of the last word. */
  from({ start }: Span): Span {
    return { start, end: Math.max(start, this.last) };
  }

  describe(): string {
    const { kind, text } = this.token;
    if (kind === "end") return "the end of the script";
    return `${kind === "punctuation" || kind === "bad" ? "" : `${kind === "at" ? "operator" : kind === "target" ? "target variable" : kind} `}\`${text.length > 30 ? `${text.slice(0, 27)}…` : text}\``;
  }

  report(severity: Diagnostic["severity"], { start, end }: Span, said: Message): void {
    if (severity === "error") this.#errors++;
    this.diagnostics.push({ severity, span: { start, end }, ...said });
  }

  fail(said: Message, span: Span = this.token): never {
    const { token } = this;
    if (token.problem !== undefined && span === token) this.report("error", token, systemtap.unreadable(token.problem));
    else this.report("error", span, said);
    throw failure;
  }

  /** Keeps deep nesting from exhausting the stack, here and in all that walks what was read. */
  nested<T>(read: () => T): T {
    if (this.#depth >= nestingLimit) this.fail(systemtap.nestedTooDeeply());
    this.#depth++;
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }
}
