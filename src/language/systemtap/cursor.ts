// The parser's place in the words of a script, and how its mistakes are reported.
import { systemtap } from "../../messages/systemtap.ts";
import type { Message } from "../../messages/message.ts";
import type { Diagnostic, Span } from "../diagnostic.ts";
import { failure, WordCursor } from "../words.ts";
import type { Token } from "./tokens.ts";

const errorLimit = 20;
export class Cursor extends WordCursor<Token> {
  #errors = 0;

  get tooManyErrors(): boolean {
    return this.#errors >= errorLimit;
  }

  expect(text: string, where = ""): Token {
    if (this.at(text)) return this.advance();
    return this.fail(systemtap.expected(`\`${text}\`${where === "" ? "" : ` ${where}`}`, this.describe()));
  }

  expectName(what: string): Token {
    if (this.token.kind === "identifier") return this.advance();
    return this.fail(systemtap.expected(what, this.describe()));
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

  protected nestedTooDeeply(): Message {
    return systemtap.nestedTooDeeply();
  }
}
