// A question in SQL as a tree of its own, as tracefs_sql(3) describes the language: SELECT … FROM … [JOIN … ON …]
// [WHERE …]. What is strobe's besides: any probe as an event, COUNT(*) and its kin, `-`, `*`, `/` of any values, AND, OR.
import { sql } from "../../messages/sql.ts";
import type { Message } from "../../messages/message.ts";
import { type Diagnostic, type Source, type Span } from "../diagnostic.ts";
import type { BinaryOperator } from "../program.ts";
import { behindBlank, isClause, tokenAt, type Token as Written } from "./tokens.ts";

export interface Question {
  readonly items: readonly Item[];
  readonly start: EventName;
  /** Of a JOIN: the event that comes behind, and pairs of what both share. */
  readonly end?: EventName;
  readonly on: readonly { readonly left: Field; readonly right: Field; readonly span: Span }[];
  readonly where?: Term;
}

export interface Item {
  readonly value: Term;
  readonly alias?: string;
  readonly span: Span;
}

/** `sched_waking`, `sched.sched_waking`, `kprobe:vfs_read`, and what it is called here. */
export interface EventName {
  readonly name: string;
  readonly alias?: string;
  readonly span: Span;
}

/** By its alias, or by its own name, with or without its system. */
export function isCalled({ name, alias }: EventName, asked: string): boolean {
  return asked === alias || asked === name || asked === name.slice(name.search(/[^.:]*$/));
}

/** `start.pid`, and members behind it. */
export interface Field {
  readonly kind: "field";
  readonly names: readonly { readonly name: string; readonly span: Span }[];
  readonly span: Span;
}

export type Term =
  | Field
  | { readonly kind: "number"; readonly value: bigint; readonly span: Span }
  | { readonly kind: "text"; readonly value: string; readonly span: Span }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator | "~";
      readonly left: Term;
      readonly right: Term;
      readonly span: Span;
    }
  | { readonly kind: "not"; readonly of: Term; readonly span: Span }
  /** `to` in upper case; `size`: of BUCKETS. */
  | { readonly kind: "cast"; readonly of: Term; readonly to: string; readonly size?: bigint; readonly span: Span }
  /** No value: COUNT(*). */
  | { readonly kind: "call"; readonly name: string; readonly of?: Term; readonly span: Span };

interface Token extends Pick<Written, "kind" | "text"> {
  readonly span: Span;
}

/** Stops reading; what is wrong has been said. */
class Stop extends Error {}

/** In FROM and JOIN, where probes of any kind may stand. */
export const eventWords = /[A-Za-z_][\w.:/*?+@[\]-]*/y;
const operators: readonly (readonly [readonly string[], BinaryOperator | "~"])[][] = [
  [[["||", "OR"], "||"]],
  [[["&&", "AND"], "&&"]],
  [
    [["==", "="], "=="],
    [["!=", "<>"], "!="],
    [["<"], "<"],
    [["<="], "<="],
    [[">"], ">"],
    [[">="], ">="],
    [["~"], "~"],
  ],
  [
    [["&"], "&"],
    [["|"], "|"],
  ],
  [
    [["+"], "+"],
    [["-"], "-"],
  ],
  [
    [["*"], "*"],
    [["/"], "/"],
    [["%"], "%"],
  ],
];
/** Parentheses and NOTs within each other. */
const deepest = 100;

export function parseQuestion({ text }: Source): {
  readonly question?: Question;
  readonly diagnostics: readonly Diagnostic[];
} {
  const reading = new Reading(text);
  try {
    return { question: reading.question(), diagnostics: reading.diagnostics };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return { diagnostics: reading.diagnostics };
  }
}

class Reading {
  readonly diagnostics: Diagnostic[] = [];
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  question(): Question {
    this.#keyword("SELECT");
    const items = [this.#item()];
    while (this.#takes(",")) items.push(this.#item());
    this.#keyword("FROM");
    const start = this.#event();
    const end = this.#takes("JOIN") ? this.#event() : undefined;
    const on = end === undefined ? [] : this.#pairs();
    const where = this.#takes("WHERE") ? this.#term() : undefined;
    this.#takes(";");
    const rest = this.#next();
    if (rest.kind !== "end")
      this.#wrong(rest, end === undefined ? "`JOIN`, `WHERE` or the end" : where ? "the end" : "`WHERE` or the end");
    return { items, start, on, ...(end === undefined ? {} : { end }), ...(where === undefined ? {} : { where }) };
  }

  #item(): Item {
    const value = this.#term();
    if (!this.#takes("AS")) return { value, span: value.span };
    const { text, span } = this.#name("a name");
    return { value, alias: text, span: { start: value.span.start, end: span.end } };
  }

  #event(): EventName {
    this.#at = behindBlank(this.#text, this.#at);
    eventWords.lastIndex = this.#at;
    const found = eventWords.exec(this.#text);
    if (found === null) this.#wrong(this.#next(), "an event");
    const name = found[0];
    const span = { start: this.#at, end: this.#at + name.length };
    this.#at = span.end;
    if (this.#takes("AS")) return { name, alias: this.#name("a name").text, span };
    const { kind, text } = this.#peek();
    if (kind !== "word" || isClause(text)) return { name, span };
    return { name, alias: this.#name("a name").text, span };
  }

  #pairs(): Question["on"] {
    this.#keyword("ON");
    const pairs = [];
    do {
      const left = this.#field();
      if (!this.#takes("=") && !this.#takes("==")) this.#wrong(this.#next(), "`=`");
      const right = this.#field();
      pairs.push({ left, right, span: { start: left.span.start, end: right.span.end } });
    } while (this.#takes(",") || this.#takes("AND") || this.#takes("&&"));
    return pairs;
  }

  // ── values ──

  #term(level = 0): Term {
    if (level === operators.length) return this.#single();
    let left = this.#term(level + 1);
    for (;;) {
      const found = operators[level].find(([spellings]) => spellings.some((one) => this.#takes(one)));
      if (found === undefined) return left;
      const right = this.#term(level + 1);
      const span = { start: left.span.start, end: right.span.end };
      left = { kind: "binary", operator: found[1], left, right, span };
    }
  }

  #single(): Term {
    const token = this.#next();
    const { kind, text, span } = token;
    if (text === "(" || text === "!" || text === "-" || (kind === "word" && text.toUpperCase() === "NOT")) {
      if (++this.#depth > deepest) this.#wrong(token, "something less nested");
      const of = text === "(" ? this.#term() : this.#single();
      if (text === "(") this.#sign(")");
      this.#depth--;
      if (text === "(") return of;
      const whole = { start: span.start, end: of.span.end };
      if (text !== "-") return { kind: "not", of, span: whole };
      return { kind: "binary", operator: "-", left: { kind: "number", value: 0n, span }, right: of, span: whole };
    }
    if (kind === "number") return { kind: "number", value: BigInt(text), span };
    if (kind === "text") return { kind: "text", value: text.slice(1, -1), span };
    if (kind !== "word" || isClause(text)) this.#wrong(token, "a field");
    if (this.#takes("(")) return text.toUpperCase() === "CAST" ? this.#cast(span.start) : this.#call(text, span.start);
    return this.#members(token);
  }

  #cast(start: number): Term {
    const of = this.#term();
    this.#keyword("AS");
    let to = this.#name("a type").text.toUpperCase();
    if (to === "SYM" && this.#takes("-")) to += `-${this.#name("OFFSET").text.toUpperCase()}`;
    const sized = this.#takes("=") ? this.#next() : undefined;
    if (sized !== undefined && (sized.kind !== "number" || BigInt(sized.text) === 0n)) this.#wrong(sized, "a number");
    const { end } = this.#sign(")");
    return {
      kind: "cast",
      of,
      to,
      ...(sized === undefined ? {} : { size: BigInt(sized.text) }),
      span: { start, end },
    };
  }

  #call(name: string, start: number): Term {
    const of = this.#takes("*") ? undefined : this.#term();
    const { end } = this.#sign(")");
    return { kind: "call", name: name.toUpperCase(), ...(of === undefined ? {} : { of }), span: { start, end } };
  }

  #field(): Field {
    return this.#members(this.#name("a field"));
  }

  #members({ text, span }: Token): Field {
    const names = [{ name: text, span }];
    while (this.#takes(".")) {
      const { text: name, span: at } = this.#name("a field");
      names.push({ name, span: at });
    }
    return { kind: "field", names, span: { start: span.start, end: names[names.length - 1].span.end } };
  }

  // ── tokens ──

  #peek(): Token {
    const { kind, text, start, end } = tokenAt(this.#text, this.#at);
    return { kind, text, span: { start, end } };
  }

  #next(): Token {
    const token = this.#peek();
    this.#at = token.span.end;
    return token;
  }

  /** A sign, or a word in any case. */
  #takes(wanted: string): boolean {
    const { kind, text, span } = this.#peek();
    if (kind === "word" ? text.toUpperCase() !== wanted : kind !== "sign" || text !== wanted) return false;
    this.#at = span.end;
    return true;
  }

  #sign(wanted: string): Span {
    const token = this.#next();
    if (token.kind !== "sign" || token.text !== wanted) this.#wrong(token, `\`${wanted}\``);
    return token.span;
  }

  #keyword(wanted: string): void {
    if (!this.#takes(wanted)) this.#wrong(this.#next(), `\`${wanted}\``);
  }

  #name(what: string): Token {
    const token = this.#next();
    if (token.kind !== "word" || isClause(token.text)) this.#wrong(token, what);
    return token;
  }

  #wrong({ kind, text, span }: Token, what: string): never {
    this.report(span, sql.expected(what, kind === "end" ? "the end" : `\`${text}\``));
    throw new Stop();
  }

  report(span: Span, message: Message): void {
    this.diagnostics.push({ severity: "error", span, ...message });
  }
}
