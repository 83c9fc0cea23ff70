// A language that strobe does not have, for tests of the door that languages come in by: an object as registry.ts has
// them, with rules of its own.
//
//     probe kprobe f
//       $m{1} is 10 / 3; total is total - 7; PRINTF "%d" total
//       $sizes{COMM} takes arg1; each c in $sizes by -sum most 3 PRINTF "%d" sum:$sizes{c}
//
// A line `probe KIND PARTS [when CONDITION]` begins a probe, among the parts options (`+maxactive=9`); the statements of the lines behind it are its own. `$m{…}` is a map, a name
// a variable (or, in capitals, a builtin), `is` assigns, `NAME value …` calls, and operators of one line go from left to
// right. `takes` adds a value to a statistic, `RESULT:$m{…}` and `RESULT(parameter …):$m{…}` are what comes of it.
import type { Diagnostic, Source, Span } from "../../src/language/diagnostic.ts";
import { builtinsFor } from "../../src/language/builtins/table.ts";
import type { Language, Parsed } from "../../src/language/language.ts";
import type { BinaryOperator, Expression, MapAccess, MapOrder, Probe, Statement } from "../../src/language/program.ts";
import type { Rules } from "../../src/language/rules.ts";
import { unknownType } from "../../src/language/types.ts";

const tallyRules: Rules = {
  language: "tally",
  spelling: {
    map: (name) => `$${name}`,
    variable: (name) => `the variable ${name}`,
    cast: () => undefined,
    builtin: (name) => name.toUpperCase(),
    probe: (name) => name.replaceAll(":", " "),
  },
  advice: { wantsText: "tally writes no numbers as texts" },
  integers: { widths: "64", signed: "all", division: "floors", byZero: "fault", literals: "wrap" },
  texts: { plusJoins: true, ordered: true },
  maps: {
    integerKeys: "64 bits",
    missing: "fault",
    storingZero: "deletes",
    outsideStores: false,
    zeroedExtreme: "none",
    warnsOfUnused: false,
  },
  variables: { scope: "handler" },
  formats: { anyValue: false, signsByType: false, registersAsInt: false },
  printsMapsAtEnd: false,
  objectsAreTrue: false,
  writesMemory: false,
  failedRead: "zero",
  defaultAction: { call: "printf", texts: ["nothing to do\n"] },
};

const operators: Readonly<Record<string, BinaryOperator>> = {
  "+": "+",
  "-": "-",
  "*": "*",
  "/": "/",
  "%": "%",
  "<": "<",
  ">": ">",
  "=": "==",
  "<<": "<<",
};

/** One statement's words. */
class Reader {
  readonly #words: readonly { readonly text: string; readonly span: Span }[];
  readonly #diagnostics: Diagnostic[];
  readonly #rules: Rules;
  #at = 0;

  constructor(rules: Rules, text: string, offset: number, diagnostics: Diagnostic[]) {
    this.#rules = rules;
    this.#words = [...text.matchAll(/"[^"]*"|\$\w+\{?|\w+|<<|[^\s\w]/g)].map(({ 0: word, index }) => ({
      text: word,
      span: { start: offset + index, end: offset + index + word.length },
    }));
    this.#diagnostics = diagnostics;
  }

  statement(): Statement | undefined {
    const first = this.#words[this.#at];
    if (first === undefined) return undefined;
    const { span } = first;
    if (first.text === "each") return this.#loop(span);
    if (first.text === "if") {
      this.#at++;
      const condition = this.value();
      const then = this.statement();
      const statements = then === undefined ? [] : [then];
      return { kind: "if", condition, then: { kind: "block", statements, span }, span };
    }
    const names = builtinsFor(this.#rules);
    const canonical = names.canonical(first.text);
    if (names.isFunction(first.text)) {
      this.#at++;
      const args: Expression[] = [];
      while (this.#at < this.#words.length) args.push(this.operand());
      return { kind: "expression", expression: { kind: "call", name: canonical, args, span, type: unknownType }, span };
    }
    const target = this.operand();
    if (target.kind !== "variable" && target.kind !== "map") return this.#refuse(span);
    const word = this.#words[this.#at++]?.text;
    if (word === "is") return { kind: "assign", target, operator: null, value: this.value(), span };
    if (word === "takes" && target.kind === "map")
      return { kind: "aggregate", target, aggregate: "statistic", value: this.value(), parameters: [], span };
    if (word === "more") return { kind: "assign", target, operator: "+", value: this.value(), span };
    return this.#refuse(span);
  }

  value(): Expression {
    let left = this.operand();
    for (;;) {
      const operator = operators[this.#words[this.#at]?.text ?? ""];
      if (operator === undefined) return left;
      this.#at++;
      const right = this.operand();
      const span = { start: left.span.start, end: right.span.end };
      left = { kind: "binary", operator, left, right, span, type: unknownType };
    }
  }

  operand(): Expression {
    const word = this.#words[this.#at++];
    if (word === undefined) {
      this.#refuse(this.#words.at(-1)?.span ?? { start: 0, end: 0 });
      return { kind: "integer", value: 0n, span: { start: 0, end: 0 }, type: unknownType };
    }
    const { text, span } = word;
    const node = { span, type: unknownType };
    if (text === "-") {
      const operand = this.operand();
      return { kind: "unary", operator: "-", operand, ...node };
    }
    if (/^\d/.test(text)) return { kind: "integer", value: BigInt(text), ...node };
    if (text.startsWith('"')) return { kind: "string", value: text.slice(1, -1).replaceAll("\\n", "\n"), ...node };
    if (text.startsWith("$")) return this.#map(text, span);
    if (this.#next(":") || this.#next("(")) return this.#result(text, span);
    const names = builtinsFor(this.#rules);
    if (names.isValue(text)) return { kind: "builtin", name: names.canonical(text), ...node };
    return { kind: "variable", name: text, ...node };
  }

  #next(text: string): boolean {
    return this.#words[this.#at]?.text === text;
  }

  /** `hist:$m`, `lhist(0 10 2):$m{1}` */
  #result(aggregate: string, span: Span): Expression {
    const parameters: Expression[] = [];
    if (this.#words[this.#at++]?.text === "(") {
      while (this.#at < this.#words.length && !this.#next(")")) parameters.push(this.operand());
      this.#at += 2;
    }
    const of = this.operand();
    if (of.kind === "map") return { kind: "result", of, aggregate, parameters, span, type: unknownType };
    this.#refuse(span);
    return of;
  }

  /** `each k in $m [by [-]key|value|RESULT] [most n] statement` */
  #loop(span: Span): Statement | undefined {
    this.#at++;
    const [key, , map] = [this.operand(), this.#at++, this.operand()];
    if (key.kind !== "variable" || map.kind !== "map") return this.#refuse(span);
    let order: MapOrder | undefined;
    if (this.#next("by")) {
      this.#at++;
      const descending = this.#next("-");
      if (descending) this.#at++;
      const by = this.#words[this.#at++]?.text ?? "";
      order = by === "key" || by === "value" ? { by, descending } : { by: "value", result: by, descending };
    }
    let limit: Expression | undefined;
    if (this.#next("most")) {
      this.#at++;
      limit = this.operand();
    }
    const inside = this.statement();
    const body = { kind: "block", statements: inside === undefined ? [] : [inside], span } as const;
    return {
      kind: "for-map",
      variable: { ...key, name: `entry of ${key.name}` },
      map,
      keys: [key],
      ...(order === undefined ? {} : { order }),
      ...(limit === undefined ? {} : { limit }),
      body,
      span,
    };
  }

  #map(text: string, span: Span): MapAccess {
    const keys: Expression[] = [];
    if (text.endsWith("{")) {
      while (this.#at < this.#words.length && this.#words[this.#at].text !== "}") keys.push(this.value());
      this.#at++;
    }
    return { kind: "map", name: text.replace(/^\$|\{$/g, ""), keys, span, type: unknownType };
  }

  #refuse(span: Span): undefined {
    this.#diagnostics.push({ severity: "error", code: "syntax", span, message: "tally does not know this" });
    return undefined;
  }
}

function parse(rules: Rules, source: Source): Parsed {
  const diagnostics: Diagnostic[] = [];
  const probes: Probe[] = [];
  let offset = 0;
  for (const line of source.text.split("\n")) {
    // `probe kprobe f when x > 1`
    const [probed, condition] = line.trim().split(" when ");
    const words = probed.split(" ");
    const [word, provider, ...parts] = words.filter((one) => !one.startsWith("+"));
    const span = { start: offset, end: offset + line.length };
    if (word === "probe") {
      const options = Object.fromEntries(
        words.flatMap((one) => [...one.matchAll(/^\+(\w+)=(.*)$/g)].map((m) => m.slice(1, 3))),
      );
      const spec = { provider, parts, options, text: probed.slice("probe ".length), span };
      const at = offset + line.indexOf(" when ") + 6;
      probes.push({
        specs: [spec],
        ...(condition === undefined ? {} : { predicate: new Reader(rules, condition, at, diagnostics).value() }),
        body: { kind: "block", statements: [], span },
        span,
      });
    } else {
      let at = offset;
      for (const piece of line.split(";")) {
        const statement = new Reader(rules, piece, at, diagnostics).statement();
        const probe = probes.pop();
        if (probe !== undefined) {
          const statements = [...probe.body.statements, ...(statement === undefined ? [] : [statement])];
          probes.push({ ...probe, body: { ...probe.body, statements } });
        }
        at += piece.length + 1;
      }
    }
    offset += line.length + 1;
  }
  const empty = { config: [], structs: [], enums: [], maps: [], functions: [] };
  return { program: { source, rules, ...empty, probes }, diagnostics };
}

/** Tally by other rules. */
export const tallyBy = (changes: Partial<Rules>): Language => {
  const rules = { ...tallyRules, ...changes };
  return {
    name: "tally",
    aliases: ["tly"],
    title: "Tally",
    doc: "a language of tests",
    endings: [".tally"],
    commands: ["tally"],
    rules,
    parse: (source) => parse(rules, source),
    format: ({ text }) => ({
      text: text
        .split("\n")
        .map((line) => (line.trim().startsWith("probe ") || line.trim() === "" ? line.trim() : `  ${line.trim()}`))
        .join("\n"),
      diagnostics: [],
    }),
  };
};

export const tally: Language = tallyBy({});
