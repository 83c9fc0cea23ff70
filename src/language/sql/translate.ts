// A question in SQL as a script. Without JOIN a row of the answer is an entry of maps: what is selected is the key, its
// hits and counters are the values. With one, the first event keeps what is asked of it under what both share, and the
// second takes that away and makes a row, as the kernel's synthetic events do (Documentation/trace/histogram.rst).
import { sql } from "../../messages/sql.ts";
import type { Message } from "../../messages/message.ts";
import type { Diagnostic, Source, Span } from "../diagnostic.ts";
import type { Parsed } from "../language.ts";
import { nearest } from "../nearest.ts";
import * as node from "../nodes.ts";
import type { ProbeSpec } from "../probe-spec.ts";
import type { Expression, Probe, Program, Statement } from "../program.ts";
import type { AggregateKind } from "../types.ts";
import { unknownType } from "../types.ts";
import { isCalled, parseQuestion, type EventName, type Field, type Item, type Question, type Term } from "./parse.ts";
import { sqlRules } from "./rules.ts";

export function parse(source: Source): Parsed {
  const { question, diagnostics } = parseQuestion(source);
  const nothing = { source, rules: sqlRules, config: [], structs: [], enums: [], maps: [], functions: [] };
  if (question === undefined) return { program: { ...nothing, probes: [] }, diagnostics };
  const writing = new Writing(question);
  const probes = writing.probes();
  const program: Program = { ...nothing, probes: writing.diagnostics.length === 0 ? probes : [] };
  return { program, diagnostics: [...diagnostics, ...writing.diagnostics] };
}

/** Where the first event of a JOIN keeps what is asked of it. */
const kept = "start";
const hits = "hitcount";

const aggregates: Readonly<Record<string, AggregateKind>> = {
  SUM: "sum",
  AVG: "avg",
  MIN: "min",
  MAX: "max",
  STATS: "stats",
  HIST: "hist",
};

/** What is known of any event, by the names that libtracefs and the kernel's histograms have for it. */
const known: Readonly<Record<string, string>> = {
  COMMON_PID: "tid",
  TID: "tid",
  PID: "pid",
  COMM: "comm",
  COMMON_COMM: "comm",
  CPU: "cpu",
  COMMON_CPU: "cpu",
  STACKTRACE: "kstack",
  COMMON_STACKTRACE: "kstack",
  TIMESTAMP: "nsecs",
  COMMON_TIMESTAMP: "nsecs",
};

type Side = "start" | "end";

/** A column of the answer. */
interface Column {
  readonly name: string;
  readonly value: Expression | undefined;
  /** Of its values; undefined: they are keys. */
  readonly aggregate: AggregateKind | undefined;
  readonly span: Span;
}

class Writing {
  readonly diagnostics: Diagnostic[] = [];
  readonly #question: Question;
  /** What the second event is given of the first, by its words. */
  readonly #kept = new Map<string, Expression>();
  /** Fields of the first event are read where it happens. */
  #at: Side = "start";

  constructor(question: Question) {
    this.#question = question;
  }

  probes(): readonly Probe[] {
    const { start, end, items, where } = this.#question;
    if (end === undefined) {
      const predicate = where === undefined ? undefined : this.#term(where);
      return [probe(specOf(start), this.#rows(this.#columns(items), start.span), predicate)];
    }
    return this.#joined(start, end, items);
  }

  #joined(start: EventName, end: EventName, items: readonly Item[]): readonly Probe[] {
    const { on, where } = this.#question;
    const keys: Record<Side, Expression[]> = { start: [], end: [] };
    for (const { left, right, span } of on) {
      const sides = [left, right].map((field) => this.#sideOf(field));
      const first = sides[0] === "start" ? left : right;
      const second = first === left ? right : left;
      if (sides[0] === sides[1] && sides[0] !== undefined)
        this.#report(span, sql.oneOfEach(nameOf(start), nameOf(end)));
      if (sides.includes(undefined)) continue;
      keys.start.push(this.#field(first, "start"));
      keys.end.push(this.#field(second, "end"));
    }
    const conditions = where === undefined ? [] : conjuncts(where);
    const of = (side: Side): readonly Term[] =>
      conditions.filter((one) => {
        const sides = this.#sidesIn(one);
        return sides.size < 2 ? (sides.has("start") ? side === "start" : side === "end") : false;
      });
    const mixed = conditions.filter((one) => this.#sidesIn(one).size === 2);
    this.#at = "start";
    const before = this.#all(of("start"));
    this.#at = "end";
    const behind = this.#all(of("end"));
    const matches = this.#all(mixed);
    const row = this.#rows(this.#columns(items), end.span);
    const { span } = end;
    const entry = node.map(kept, keys.end, span);
    const key = keys.end.length === 1 ? keys.end[0] : tuple(keys.end, span);
    const remove = node.statement(node.call("delete", [node.map(kept, [], span), key], span));
    const taken = [remove, ...row];
    const found: Statement[] = [node.declare(kept, entry), ...(matches === undefined ? taken : [when(matches, taken)])];
    const has = node.call("has_key", [node.map(kept, [], span), key], span);
    // A tuple has two elements at least.
    const values = [...this.#kept.values(), node.integer(1, start.span)];
    const value = values.length > 1 ? tuple(values, start.span) : values[0];
    const keep = node.assign(node.map(kept, keys.start, start.span), value, start.span);
    const clear = node.statement(node.call("clear", [node.map(kept, [], span)], span));
    return [
      // Where both are one event, it ends what was begun before it begins anew.
      probe(specOf(end), [when(has, found)], behind),
      probe(specOf(start), [keep], before),
      probe({ provider: "end", parts: [], text: "end", span }, [clear]),
    ];
  }

  // ── rows ──

  #columns(items: readonly Item[]): readonly Column[] {
    return items.flatMap(({ value, alias, span }): Column | readonly Column[] => {
      const column = (of: Term | undefined, aggregate: AggregateKind | undefined): Column => ({
        name: alias ?? (of === undefined ? hits : columnName(of)),
        value: of === undefined ? undefined : this.#term(of),
        aggregate,
        span,
      });
      if (value.kind === "call") {
        const { name, of } = value;
        if (name === "COUNT" && of === undefined) return column(undefined, "count");
        const aggregate = Object.hasOwn(aggregates, name) ? aggregates[name] : undefined;
        if (aggregate !== undefined && of !== undefined) return column(of, aggregate);
        this.#report(
          value.span,
          sql.unknownFunction(name, nearest(name, ["COUNT", ...Object.keys(aggregates)], 1)[0] ?? ""),
        );
        return column(of, "count");
      }
      if (value.kind === "cast" && value.to === "_COUNTER_") return column(value.of, "sum");
      // As the kernel shows it: the address, and what lies there.
      if (value.kind === "cast" && value.to === "SYM-OFFSET") {
        const { of } = value;
        const address = column({ ...value, of, to: "HEX" }, undefined);
        return [address, { ...column({ ...value, of, to: "SYM" }, undefined), name: `${address.name}_function` }];
      }
      if (value.kind === "cast" && (value.to === "LOG2" || value.to === "LOG")) return column(value.of, "hist");
      return column(value, undefined);
    });
  }

  #rows(columns: readonly Column[], span: Span): readonly Statement[] {
    const keys = columns.flatMap(({ aggregate, value }) =>
      aggregate === undefined && value !== undefined ? [value] : [],
    );
    const values = columns.filter(({ aggregate }) => aggregate !== undefined);
    if (values.length === 0 && this.#question.end !== undefined) {
      const names = unique(columns.map(({ name }) => name));
      const fields = columns.flatMap(({ value }, i) => (value === undefined ? [] : [{ name: names[i], value }]));
      return [node.statement(node.call("print", [{ kind: "record", fields, span, type: unknownType }], span))];
    }
    // Each row tells its hits, as the kernel's histograms do.
    const counted: readonly Column[] =
      values.length > 0 && values.every(({ aggregate }) => aggregate === "hist" || this.#question.end !== undefined)
        ? values
        : [
            ...(values.some(({ aggregate }) => aggregate === "count")
              ? []
              : [{ name: hits, value: undefined, aggregate: "count", span } as const]),
            ...values,
          ];
    const names = unique(counted.map(({ name }) => name));
    return counted.map(({ value, aggregate, span: at }, i): Statement => ({
      kind: "aggregate",
      target: node.map(names[i], keys, at),
      aggregate: aggregate ?? "count",
      ...(value === undefined ? {} : { value }),
      parameters: [],
      span: at,
    }));
  }

  // ── values ──

  #all(terms: readonly Term[]): Expression | undefined {
    return terms
      .map((one) => this.#term(one))
      .reduce<Expression | undefined>(
        (all, one) => (all === undefined ? one : node.binary("&&", all, one, one.span)),
        undefined,
      );
  }

  #term(term: Term): Expression {
    const { span } = term;
    switch (term.kind) {
      case "number":
        return node.integer(term.value, span);
      case "text":
        return node.text(term.value, span);
      case "not":
        return { ...node.not(this.#term(term.of)), span };
      case "field":
        return this.#field(term);
      case "binary":
        if (term.operator === "~") return this.#matching(term.left, term.right, span);
        return node.binary(term.operator, this.#term(term.left), this.#term(term.right), span);
      case "call":
        this.#report(span, sql.expected("a field", `\`${term.name}\``));
        return node.integer(0, span);
      case "cast":
        return this.#cast(term);
    }
  }

  #cast({ of, to, size, span }: Extract<Term, { kind: "cast" }>): Expression {
    switch (to) {
      case "HEX":
        return node.cast({ ...node.typeName("void", span), pointers: 1 }, this.#term(of), span);
      case "SYM":
        return node.call("ksym", [this.#term(of)], span);
      case "SYSCALL":
        return node.call("syscall_name", [this.#term(of)], span);
      case "EXECNAME": {
        const value = this.#term(of);
        if (value.kind !== "builtin" || value.name !== "tid") this.#report(span, sql.execnameOfThread());
        return node.builtin("comm", span);
      }
      case "BUCKETS": {
        const width = node.integer(size ?? 1n, span);
        return node.binary("*", node.binary("/", this.#term(of), width, span), width, span);
      }
      default: {
        const types = ["HEX", "SYM", "SYM-OFFSET", "SYSCALL", "EXECNAME", "LOG2", "BUCKETS", "_COUNTER_"];
        this.#report(span, sql.unknownCast(to, nearest(to, types, 1)[0] ?? ""));
        return this.#term(of);
      }
    }
  }

  /** `~ "abc*"` */
  #matching(left: Term, right: Term, span: Span): Expression {
    const value = this.#term(left);
    const [, before, middle, behind] = (right.kind === "text" && /^(\*?)([^*?[\]]+)(\*?)$/.exec(right.value)) || [];
    if (middle === undefined || (before !== "" && behind === "")) {
      this.#report(right.span, sql.patternEnds());
      return node.integer(0, span);
    }
    const wanted = node.text(middle, right.span);
    if (before !== "") return node.call("strcontains", [value, wanted], span);
    if (behind === "") return node.binary("==", value, wanted, span);
    const length = node.integer(Buffer.byteLength(middle), span);
    return node.binary("==", node.call("strncmp", [value, wanted, length], span), node.integer(0, span), span);
  }

  // ── fields ──

  /** `at`: where it is read, if that is not where the question stands. */
  #field(field: Field, at = this.#at): Expression {
    const { names, span } = field;
    const { end } = this.#question;
    const word = names[0].name.toUpperCase();
    if (names.length === 1 && (word === "TIMESTAMP_DELTA" || word === "TIMESTAMP_DELTA_USECS")) {
      if (end === undefined) {
        this.#report(span, sql.deltaOfJoin());
        return node.integer(0, span);
      }
      const time = (side: Side): Expression =>
        this.#value(side, [{ name: word.replace("_DELTA", ""), span }], span, at);
      return node.binary("-", time("end"), time("start"), span);
    }
    const side = this.#sideOf(field);
    if (side === undefined) return node.integer(0, span);
    return this.#value(side, this.#isAlias(names) ? names.slice(1) : names, span, at);
  }

  #value(side: Side, names: Field["names"], span: Span, at: Side): Expression {
    const read = readingOf(names, span);
    if (side === "end" || at === "start" || this.#question.end === undefined) return read;
    const words = names.map(({ name }) => name).join(".");
    if (!this.#kept.has(words)) this.#kept.set(words, read);
    const index = [...this.#kept.keys()].indexOf(words);
    return { kind: "tuple-index", object: node.variable(kept, span), index, span, type: unknownType };
  }

  /** The event of a field; undefined after an error. */
  #sideOf({ names, span }: Field): Side | undefined {
    const { start, end } = this.#question;
    const [{ name }] = names;
    if (names.length > 1) {
      if (end !== undefined && isCalled(end, name)) return "end";
      if (isCalled(start, name)) return "start";
    }
    if (end === undefined) return "start";
    if (names.length === 1) this.#report(span, sql.whichEvent(name, nameOf(start), nameOf(end)));
    else this.#report(names[0].span, sql.unknownEvent(name, `${nameOf(start)} and ${nameOf(end)}`));
    return undefined;
  }

  #isAlias(names: Field["names"]): boolean {
    const { start, end } = this.#question;
    return names.length > 1 && [start, end].some((event) => event !== undefined && isCalled(event, names[0].name));
  }

  #sidesIn(term: Term): ReadonlySet<Side> {
    switch (term.kind) {
      case "field": {
        if (term.names.length === 1) return new Set();
        const { start, end } = this.#question;
        const { name } = term.names[0];
        if (end !== undefined && isCalled(end, name)) return new Set(["end"]);
        return isCalled(start, name) ? new Set(["start"]) : new Set();
      }
      case "binary":
        return new Set([...this.#sidesIn(term.left), ...this.#sidesIn(term.right)]);
      case "not":
        return this.#sidesIn(term.of);
      case "cast":
        return this.#sidesIn(term.of);
      default:
        return new Set();
    }
  }

  #report(span: Span, message: Message): void {
    this.diagnostics.push({ severity: "error", span, ...message });
  }
}

// ── what questions are made of ──

function probe(spec: ProbeSpec, statements: readonly Statement[], predicate?: Expression): Probe {
  const { span } = spec;
  return { specs: [spec], ...(predicate === undefined ? {} : { predicate }), body: node.block(statements, span), span };
}

function when(condition: Expression, statements: readonly Statement[]): Statement {
  const { span } = condition;
  return { kind: "if", condition, then: node.block(statements, span), span };
}

function tuple(elements: readonly Expression[], span: Span): Expression {
  return { kind: "tuple", elements, span, type: unknownType };
}

/** An event's name alone is looked for in all systems. */
function specOf({ name, span }: EventName): ProbeSpec {
  const [provider, ...parts] = name.includes(":") ? name.split(":") : ["tracepoint", ...name.split(/\.(.*)/s, 2)];
  if (provider === "tracepoint" && parts.length === 1) parts.unshift("*");
  return { provider, parts, text: name.includes(":") ? name : `tracepoint:${parts.join(":")}`, span };
}

function nameOf({ name, alias }: EventName): string {
  return alias ?? name;
}

function readingOf(names: Field["names"], span: Span): Expression {
  const [{ name }] = names;
  const word = name.toUpperCase();
  if (names.length === 1) {
    if (word === "TIMESTAMP_USECS")
      return node.binary("/", node.builtin("nsecs", span), node.integer(1000, span), span);
    // The kernel's names are in lower case, libtracefs' own in upper case: `comm` and `pid` are fields.
    if (Object.hasOwn(known, word) && (name === word || name.startsWith("common_")))
      return node.builtin(known[word], span);
    if (name === "retval") return node.builtin("retval", span);
  }
  return names.reduce<Expression>((object, one) => node.member(object, one.name, one.span), node.builtin("args", span));
}

/** Parts that all have to hold. */
function conjuncts(term: Term): readonly Term[] {
  return term.kind === "binary" && term.operator === "&&"
    ? [...conjuncts(term.left), ...conjuncts(term.right)]
    : [term];
}

function columnName(term: Term): string {
  switch (term.kind) {
    case "field": {
      const { name } = term.names[term.names.length - 1];
      return name === name.toUpperCase() ? name.toLowerCase() : name;
    }
    case "cast":
      return columnName(term.of);
    default:
      return "value";
  }
}

function unique(names: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}_${count}`;
  });
}
