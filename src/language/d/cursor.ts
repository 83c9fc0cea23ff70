// The parser's place in the words of a script, and how its mistakes are reported.
import { dSyntax } from "../../messages/d-syntax.ts";
import type { Message } from "../../messages/message.ts";
import type { Span } from "../diagnostic.ts";
import { failure, WordCursor } from "../words.ts";
import { isReserved, type Token } from "./tokens.ts";

export class Cursor extends WordCursor<Token> {
  /** To the first word that begins there or behind. */
  skipTo(offset: number): void {
    while (this.token.kind !== "end" && this.token.start < offset) this.advance();
  }

  expect(text: string): Token {
    return this.at(text) ? this.advance() : this.unexpected(`\`${text}\``);
  }

  expectName(what: string): Token {
    return this.token.kind === "identifier" ? this.advance() : this.unexpected(what);
  }

  unexpected(wanted: string): never {
    return this.fail(dSyntax.near(this.#near(), wanted));
  }

  /** A name with the rest of its line, as DTrace's scanner has it there. */
  #near(): string {
    const { kind, text, start } = this.token;
    if (kind === "end") return "end of input";
    if (kind !== "identifier" || isReserved(text)) return `"${text}"`;
    const rest = this.source.text.slice(start).split("\n", 1)[0];
    return `"${rest.startsWith(text) ? rest : text}"`;
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
      this.report({ start, end: Math.max(start, token.end) }, dSyntax.unreadable(token.problem, token.tag));
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

  protected nestedTooDeeply(): Message {
    return dSyntax.nestedTooDeeply();
  }
}
