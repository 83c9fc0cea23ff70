// DTrace's language: from text to the tree. No I/O; every mistake becomes a diagnostic.
import { d } from "../../messages/d.ts";
import type { Message } from "../../messages/message.ts";
import type { Diagnostic, Source, Span } from "../diagnostic.ts";
import type { Given, Parsed } from "../language.ts";
import { nearest } from "../nearest.ts";
import * as nodes from "../nodes.ts";
import type { ProbeSpec } from "../probe-spec.ts";
import type { Expression, MapDeclaration, Probe, Program, Statement, TypeName } from "../program.ts";
import { actionNames } from "./actions.ts";
import { aggregatingNames } from "./aggregations.ts";
import { failure } from "../words.ts";
import { Cursor } from "./cursor.ts";
import { assignments, expression, constant as readConstant } from "./expressions.ts";
import { helperEntries, helpers } from "./helpers.ts";
import { defaultOptions, optionNames, readOption, withoutEffect } from "./options.ts";
import { macroText, preprocess } from "./preprocess.ts";
import { printWhole } from "./printa.ts";
import { placed, type Placed } from "./probes.ts";
import { dRules } from "./rules.ts";
import { body } from "./statements.ts";
import { tokensOf, type Token } from "./tokens.ts";
import { baseType, beginsType, declarator, typeName, type ReadConstant } from "./type-names.ts";
import { declareTranslator } from "./translators.ts";
import { knownType, spelledType, textSize, type Known } from "./types.ts";
import { quietNow, Unit, type Options } from "./unit.ts";
import type { ProbePart } from "../types.ts";
import { clauseName, faultNumbers, faultVariables, isBuiltIn, numberOf } from "./variables.ts";

export function parse(source: Source, given: Given): Parsed {
  const { tokens, options, diagnostics } = preprocess(source, given);
  const cursor = new Cursor(source, tokens, diagnostics);
  const settings: Options = defaultOptions();
  // A text that is cut is shown as it is.
  const config: Program["config"][number][] = [{ name: "str_trunc_trailer", value: "", span: { start: 0, end: 0 } }];
  for (const [name, value] of given.settings ?? []) {
    const span = { start: 0, end: 0 };
    // The command has looked at what it was given; what the script says itself counts more.
    const read = readOption({ name, ...(value === "" ? {} : { value }), span }, settings);
    if (typeof read !== "string") config.push(...read);
    if (withoutEffect.has(name)) cursor.warn(span, d.optionWithoutEffect(name));
  }
  for (const option of options) {
    const read = readOption(option, settings);
    if (read === "unknown") {
      const [near] = nearest(option.name, optionNames);
      cursor.report(
        option.span,
        d.unknownOption(option.name, near === undefined ? undefined : `did you mean \`${near}\`?`),
      );
    } else if (read === "invalid") cursor.report(option.span, d.optionValue(option.name, option.value ?? ""));
    else config.push(...read);
    if (withoutEffect.has(option.name)) cursor.warn(option.span, d.optionWithoutEffect(option.name));
  }
  // What is said last counts.
  const sizes = config.filter(({ name }) => name === "max_strlen");
  for (const one of sizes.slice(0, -1)) config.splice(config.indexOf(one), 1);
  if (sizes.length === 0) config.push({ name: "max_strlen", value: String(textSize), span: { start: 0, end: 0 } });
  const unit = new Unit(
    cursor,
    given,
    settings,
    { actions: actionNames, aggregating: aggregatingNames },
    addressedNames(tokens),
  );
  unit.switches = tokens.some(
    ({ kind, text }, i) => kind === "identifier" && text === "setopt" && tokens[i + 1]?.text === "(",
  );
  const probes: Probe[] = [];
  while (cursor.token.kind !== "end") {
    try {
      if (cursor.accept(";")) continue;
      if (declares(unit)) declaration(unit);
      else probes.push(...clause(unit));
    } catch (error) {
      if (error !== failure) throw error;
      break;
    }
  }
  if (tokens.length === 1 && cursor.diagnostics.length === 0) cursor.report(tokens[0], d.noClauses());
  const span = { start: source.text.length, end: source.text.length };
  if (!settings.defaultargs && !settings.argref && cursor.diagnostics.length === 0)
    for (const [i, text] of given.positional.entries())
      if (!unit.usedMacros.has(String(i + 1))) cursor.report(span, d.macroUnused(text, i + 1));
  const needed = helperClauses(unit, span);
  const behind = unassigned(unit, span);
  const own =
    behind.length === 0
      ? probes
      : probes.map((probe) => {
          const block = nodes.block([probe.body, ...behind], probe.span);
          unit.clauseOf.set(block, unit.clauseOf.get(probe.body) ?? 0);
          return { ...probe, body: block };
        });
  const program: Program = {
    source,
    rules: dRules,
    config,
    structs: unit.structs,
    enums: unit.enums,
    maps: needed.maps,
    functions: [],
    probes: [
      ...heading(unit, span),
      ...declared(unit, span),
      ...needed.first,
      ...own.map((probe) => watched(probe, unit)),
      ...needed.last,
      ...unprinted(unit, span),
    ],
  };
  return { program, diagnostics: sorted(cursor.diagnostics) };
}

/** `&x`, but for `y & x`. */
function addressedNames(tokens: readonly Token[]): ReadonlySet<string> {
  return new Set(
    tokens.flatMap(({ kind, text }, i) => {
      const [before, sign] = [tokens[i - 2], tokens[i - 1]];
      const operator = before?.kind === "punctuation" && before.text !== ")" && before.text !== "]";
      return kind === "identifier" && sign?.text === "&" && sign.kind === "punctuation" && operator ? [text] : [];
    }),
  );
}

function sorted(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort((a, b) => a.span.start - b.span.start);
}

// ── declarations ─────────────────────────────────────────────────────────────────────────────────────────────────────

function declares(unit: Unit): boolean {
  const p = unit.cursor;
  const { token } = p;
  if (token.kind !== "identifier") return false;
  const next = p.peek();
  if (token.text === "provider") return next.kind === "identifier" || next.kind === "number";
  if (["inline", "typedef", "translator", "extern", "static", "auto", "register"].includes(token.text))
    return next.kind === "identifier";
  if (token.text === "self" || token.text === "this") return next.kind === "identifier";
  if (["struct", "union", "enum"].includes(token.text)) return next.kind === "identifier" || next.text === "{";
  return beginsType(unit) && (next.kind === "identifier" || next.text === "*" || next.text === ";");
}

function declaration(unit: Unit): void {
  const p = unit.cursor;
  const first = p.token;
  const constant = (refused?: Message): bigint => readConstant(unit, refused);
  switch (first.text) {
    case "inline":
      return inline(unit);
    case "translator":
      return declareTranslator(unit);
    case "provider":
      return provider(unit);
    default:
  }
  const storage = storageClass(unit);
  const table = storage === "self" ? unit.thread : storage === "this" ? unit.event : unit.globals;
  const base = baseType(unit, constant);
  if (p.at(";") && (storage !== "" || base.tag === undefined)) p.fail(d.uselessDeclaration(), p.from(first));
  if (p.accept(";")) return;
  do {
    const { name, type, keys, span } = declarator(unit, base, constant);
    // D has no functions of scripts' own: what is declared cannot be called.
    if (p.at("(")) {
      parameters(unit, constant);
      continue;
    }
    if (table === unit.event && keys !== undefined) p.fail(d.localAssociativeArray(name), span);
    if (storage === "typedef") {
      if (unit.typedefs.has(name)) p.fail(d.typedefRedeclared(name), span);
      unit.typedefs.set(name, type);
      continue;
    }
    if (type.name === "void" && type.pointers === 0) p.fail(isList(type) ? d.voidArray() : d.voidObject(name), span);
    if (table === unit.globals && isBuiltIn(name)) p.fail(d.builtinRedeclared(name), span);
    const before = table.get(name);
    if (before !== undefined) {
      const [now, then] = [type, before.type].map((one) => (one === undefined ? "" : spelledType(one)));
      if (now !== then || before.keyed !== (keys !== undefined || isList(type)))
        p.fail(d.redeclared(name, `scalar ${now}`, `scalar ${then}`), span);
      continue;
    }
    const array = keys !== undefined || isList(type);
    const element = array && keys === undefined ? { ...type, dimensions: [] } : type;
    const inMemory =
      (type.tag === "struct" ||
        type.tag === "union" ||
        // Variables of a clause have no keys.
        (table === unit.event && keys === undefined && isList(type)) ||
        (table === unit.globals && unit.addressed.has(name))) &&
      type.pointers === 0 &&
      type.behind === undefined;
    if (inMemory) {
      table.set(name, {
        known: knownType(element),
        keyed: keys !== undefined,
        declared: true,
        type,
        ...unit.memory(type),
      });
      continue;
    }
    const dimensions = keys === undefined && array ? { dimensions: type.dimensions.length } : {};
    table.set(name, {
      known: knownType(element),
      keyed: array,
      declared: true,
      type,
      ...dimensions,
      ...(keys === undefined ? {} : { keyTypes: keys }),
    });
  } while (p.accept(","));
  p.expect(";");
}

/** `self`, `typedef` or another word in front of a declaration; "" without one. */
function storageClass({ cursor: p }: Unit): string {
  const { text } = p.token;
  if (!storageClasses.has(text)) return "";
  const first = p.advance();
  if (storageClasses.has(p.token.text)) p.fail(d.storageClasses(), first);
  if (["static", "auto", "register"].includes(text)) p.fail(d.storageClass(), first);
  return text;
}

const storageClasses: ReadonlySet<string> = new Set("auto register static extern typedef self this".split(" "));

/** `(int, char *)` of a function. */
function parameters(unit: Unit, constant: ReadConstant): void {
  const p = unit.cursor;
  const first = p.expect("(");
  let count = 0;
  let empty = false;
  if (!p.at(")"))
    do {
      if (p.accept("...")) break;
      if (storageClasses.has(p.token.text)) p.fail(d.parameterClass());
      const { name, pointers } = typeName(unit, constant);
      empty ||= name === "void" && pointers === 0;
      count++;
      if (p.token.kind === "identifier") p.advance();
    } while (p.accept(","));
  if (empty && count > 1) p.fail(d.voidParameter(), first);
  p.expect(")");
}

function isList({ dimensions, name }: TypeName): boolean {
  return dimensions.length > 0 && name !== "string";
}

/** `provider x { probe y(int); };`: probes of programs are found in the programs. */
function provider(unit: Unit): void {
  const p = unit.cursor;
  p.advance();
  const { text } = p.expectName("a provider's name");
  const probes = new Set<string>();
  p.expect("{");
  while (!p.at("}")) {
    if (p.token.kind === "end") p.unexpected("`}`");
    if (p.advance().text !== "probe") continue;
    const probe = p.expectName("a probe's name");
    if (probes.has(probe.text)) p.fail(d.probeTwice(text, probe.text.replaceAll("__", "-")), probe);
    probes.add(probe.text);
  }
  p.expect("}");
  p.expect(";");
}

/** `inline int N = 5;`, `inline int f[int n] = n * 2;` */
function inline(unit: Unit): void {
  const p = unit.cursor;
  p.advance();
  const constant = (): bigint => readConstant(unit);
  const base = baseType(unit, constant);
  const { name, type, keys, keyNames = [], span } = declarator(unit, base, constant);
  if (unit.globals.has(name)) p.fail(d.inlineRedefines(name), span);
  p.expect("=");
  const known = knownType(type);
  if (keys !== undefined) {
    const words: Token[] = [];
    for (let depth = 0; depth > 0 || !p.at(";");) {
      if (p.token.kind === "end") p.unexpected("`;`");
      depth += p.at("(") || p.at("[") ? 1 : p.at(")") || p.at("]") ? -1 : 0;
      words.push(p.advance());
    }
    p.expect(";");
    const parameters = keys.map((key, i) => ({ name: keyNames[i] ?? "", known: knownType(key) }));
    unit.inlines.set(name, { value: nodes.integer(0, span), known, parameters, words });
    return;
  }
  const value = expression(unit);
  p.expect(";");
  const own = unit.known(value);
  if ((known === "string") !== (own === "string") && known !== undefined && own !== undefined)
    p.fail(d.inlineType(name, spelledType(type), spelledType(own)), span);
  const given = unit.known(value);
  unit.inlines.set(name, {
    value: known === undefined || known === "string" || known === given ? value : unit.cast(known, value),
    known: known ?? given,
  });
}

// ── clauses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function clause(unit: Unit): Probe[] {
  const p = unit.cursor;
  const first = p.token;
  const places = descriptions(unit).flatMap(({ text, span }) => placed(text, span, unit));
  // What `arg0` is, is not the same in all: each kind of places reads the clause for itself.
  const kinds = new Map<string, Placed[]>();
  for (const one of places) {
    const { provider, returns, user } = one.scope;
    const own = returns ? provider === "syscall" : provider === "error";
    const kind = `${returns} ${own} ${user}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), one]);
  }
  const { index } = p;
  return [...(kinds.size === 0 ? [[]] : kinds.values())].flatMap((some) => {
    p.seek(index);
    return clauseAt(some, first, unit);
  });
}

function isGlob(part: string): boolean {
  return /[*?[]/.test(part);
}

/** A clause behind its descriptions, at places that are given the same. */
function clauseAt(places: readonly Placed[], first: Token, unit: Unit): Probe[] {
  const p = unit.cursor;
  const [place] = places;
  const names = places.flatMap(({ scope: { name } }) => (name === undefined ? [] : [name]));
  const several = names.length > 1 || places.some(({ specs }) => specs.some(({ parts }) => parts.some(isGlob)));
  if (place !== undefined) unit.clause = { ...place.scope, names, number: unit.nextClause(), several };
  const condition = p.index;
  const behind = p.at("/") ? endOfPredicate(p) : undefined;
  const readPredicate = (): Expression => {
    unit.inPredicate = true;
    p.seek(condition + 1);
    const read = expression(unit);
    unit.inPredicate = false;
    if (unit.known(read) === "string" || unit.voids.has(read)) p.fail(d.predicateType(), read.span);
    p.expect("/");
    return read;
  };
  // What it assigns, the body knows. One that does not end is complained of where it does not go on.
  const early = p.at("/") && (behind === undefined || assignsBefore(p, behind)) ? readPredicate() : undefined;
  if (behind !== undefined) p.seek(behind);
  if (!p.at("{")) {
    if (behind !== undefined) p.fail(d.noActionsBehindPredicate(), first);
    if (p.at(";") || p.token.kind === "bad") p.unexpected("a predicate or actions");
    p.fail(d.noActions(), first);
  }
  const own = body(unit);
  // Else it is read after the body, so that it knows what is first assigned there: `tick-1s /n < 3/ { n++; }`.
  const end = p.index;
  const predicate = behind === undefined ? undefined : (early ?? readPredicate());
  p.seek(end);
  const span = p.from(first);
  if (place?.scope.provider === "error") {
    unit.errors.push({ kind: "clause", ...(predicate === undefined ? {} : { predicate }), body: own, span });
    return [];
  }
  // One process's probes leave at once in any other.
  const groups = new Map<Expression | undefined, ProbeSpec[]>();
  for (const { specs, guard } of places) {
    const same = guard === undefined ? groups.get(undefined) : undefined;
    if (same === undefined) groups.set(guard, [...specs]);
    else same.push(...specs);
  }
  const here = place === undefined || place.scope.provider === "dtrace" ? undefined : unit.options.cpu;
  return [...groups].map(([wanted, specs]) => {
    const guard = onProcessor(here, wanted, first);
    const both =
      guard === undefined || predicate === undefined
        ? (guard ?? predicate)
        : nodes.binary("&&", guard, predicate, predicate.span);
    const { number = 0 } = unit.clause;
    unit.clauseOf.set(own, number);
    if (both === undefined) return { specs, body: own, span };
    if (early === undefined && !places.some((one) => one.guard === wanted && one.assigns === true))
      return { specs, predicate: both, body: own, span };
    // What a probe's own predicate assigns is gone in its body.
    const inside: Statement = { kind: "clause", predicate: both, body: own, span };
    const block = nodes.block([inside], span);
    unit.clauseOf.set(block, number);
    return { specs, body: block, span };
  });
}

/** What else a probe means, on the one processor that the option `cpu` names. */
function onProcessor(
  cpu: number | undefined,
  guard: Expression | undefined,
  { start, end }: Span,
): Expression | undefined {
  if (cpu === undefined) return guard;
  const span = { start, end };
  const is = nodes.binary("==", nodes.builtin("cpu", span), nodes.integer(cpu, span), span);
  return guard === undefined ? is : nodes.binary("&&", is, guard, span);
}

/** Where the words go on behind the slash that ends a predicate, which begins here. */
function endOfPredicate(p: Cursor): number | undefined {
  const start = p.index;
  do p.advance();
  while (p.token.kind !== "end" && !(p.at("/") && endsClause(p.peek())));
  const end = p.token.kind === "end" ? undefined : p.index + 1;
  p.seek(start);
  return end;
}

function assignsBefore(p: Cursor, end: number): boolean {
  for (let ahead = 0; p.index + ahead < end; ahead++) {
    const { kind, text } = p.peek(ahead);
    if (kind === "punctuation" && (assignments.includes(text) || text === "++" || text === "--")) return true;
  }
  return false;
}

function endsClause({ kind, text }: Cursor["token"]): boolean {
  return kind === "end" || (kind === "punctuation" && (text === "{" || text === ";"));
}

/** In front of a predicate or a body: descriptions between commas, read as they are written. */
function descriptions(unit: Unit): { readonly text: string; readonly span: Span }[] {
  const p = unit.cursor;
  const { text } = p.source;
  const found: { text: string; span: Span }[] = [];
  let at = p.token.start;
  for (;;) {
    const part = /(?:\/\*[^]*?\*\/|\/\/[^\n]*|\s)*([^\s,;{}/"']*(?:[ \t]*:[^\s,;{}/"']*)*)/y;
    part.lastIndex = at;
    const written = part.exec(text)?.[1] ?? "";
    const end = part.lastIndex;
    const span = { start: end - written.length, end };
    if (written === "") {
      p.skipTo(end);
      return p.unexpected("a probe description");
    }
    const meant = written.replaceAll(/\$\$?\w+/g, (macro) => {
      if (/^\$\$?target$/.test(macro)) return "$target";
      unit.usedMacros.add(macro.replace(/^\$\$?/, ""));
      return macroText(macro, unit.given) ?? p.fail(d.macroUndefined(macro), span);
    });
    found.push({ text: meant.replaceAll(/\s/g, ""), span });
    const comma = /(?:\/\*[^]*?\*\/|\/\/[^\n]*|\s)*,/y;
    comma.lastIndex = end;
    if (!comma.test(text)) {
      p.skipTo(end);
      return found;
    }
    at = comma.lastIndex;
  }
}

/** What was declared is there before it is given a value: 0, or empty. An array has no entries, but types. */
function declared(unit: Unit, span: Span): Probe[] {
  const statements = [unit.globals, unit.thread].flatMap((table) =>
    [...table].flatMap(([name, storage]) => {
      const { known, keyed, keyTypes, dimensions = 0, type, declared: written, memory } = storage;
      const value = type === undefined ? undefined : zero(type, known, unit, span);
      if (written === undefined || value === undefined || memory !== undefined) return [];
      const thread = table === unit.thread;
      if (!keyed) {
        if (!thread) return [nodes.assign(nodes.map(`${name}#0`, [], span), value, span)];
        if (unit.assigned.has(`self->${name}`)) return [];
        const variable = { ...nodes.variable(`self->${name}#0`, span), lives: "thread" } as const;
        const gone = nodes.call("delete", [nodes.map(variable.name, [], span), nodes.builtin("tid", span)], span);
        return [nodes.assign(variable, value, span), nodes.statement(gone)];
      }
      const keys = keyTypes?.map(knownType) ?? Array.from({ length: dimensions }, () => "int32" as const);
      if (known === undefined || keys.some((key) => key === undefined)) return [];
      const all = [...(thread ? [nodes.builtin("tid", span)] : []), ...keys.map((key) => zeroOf(key!, unit, span))];
      const target = nodes.map(thread ? `self->${name}[]#0` : `${name}#0`, all, span);
      const entry: Expression =
        all.length === 1 ? all[0] : { kind: "tuple", elements: all, span, type: { kind: "unknown" } };
      return [
        nodes.assign(target, value, span),
        nodes.statement(nodes.call("delete", [{ ...target, keys: [] }, entry], span)),
      ];
    }),
  );
  if (unit.switches)
    statements.push(
      nodes.assign(quietNow(span), unit.cast("int64", nodes.integer(unit.options.quiet ? 1 : 0, span)), span),
    );
  if (statements.length === 0) return [];
  const spec: ProbeSpec = { provider: "begin", parts: [], sequence: -(2 ** 31), text: "declarations", span };
  return [{ specs: [spec], body: nodes.block(statements, span), span }];
}

function zeroOf(known: Known, unit: Unit, span: Span): Expression {
  return known === "string" ? nodes.text("", span) : unit.cast(known, nodes.integer(0, span));
}

/** Of a pointer, a number or a text. */
function zero(type: TypeName, known: Known | undefined, unit: Unit, span: Span): Expression | undefined {
  if (known !== undefined) return zeroOf(known, unit, span);
  return type.pointers > 0 ? nodes.cast(type, nodes.integer(0, span), span) : undefined;
}

/** Behind each clause, so that what no clause gives a value has a type in them. */
function unassigned(unit: Unit, span: Span): Statement[] {
  return [...unit.event].flatMap(([name, { known, type, declared: written, memory }]) => {
    if (written === undefined || type === undefined || memory !== undefined || unit.assigned.has(`this->${name}`))
      return [];
    const value = zero(type, known, unit, span);
    return value === undefined ? [] : [nodes.assign(nodes.variable(`this->${name}`, span), value, span)];
  });
}

/** What fails in a clause ends it, and is said in DTrace's words by its command; ERROR's clauses are told. */
function watched(probe: Probe, unit: Unit): Probe {
  const says = unit.given.settings?.has("command") === true;
  if (unit.errors.length === 0 && !says) return probe;
  const { span } = probe;
  const caught = nodes.variable(unit.name("fault"), span);
  const of = (name: string): Expression => nodes.member(caught, name, span);
  const kind = faultNumbers.reduce<Expression>(
    (otherwise, [name, number]) =>
      nodes.conditional(
        nodes.binary("==", of("kind"), nodes.text(name, span), span),
        nodes.integer(number, span),
        otherwise,
        span,
      ),
    nodes.integer(0, span),
  );
  const told = says
    ? saidFault(unit.clauseOf.get(probe.body) ?? 0, of, span)
    : nodes.statement(nodes.call("errorf", [nodes.text("%s", span), of("message")], span));
  const handler = nodes.block(
    [
      told,
      nodes.declare(
        faultVariables.probe,
        unit.cast("int64", numberOf(ends.indexOf(probe.specs[0].provider), span)),
        nodes.typeName("int64", span),
      ),
      nodes.declare(faultVariables.kind, unit.cast("int64", kind), nodes.typeName("int64", span)),
      nodes.declare(faultVariables.address, unit.cast("int64", of("address")), nodes.typeName("int64", span)),
      ...(unit.errors.length === 0 ? [] : [silently(unit, unit.errors, span)]),
    ],
    span,
  );
  const tried: Statement = {
    kind: "try",
    body: probe.body,
    kinds: unit.errors.length === 0 ? ["read", "division", "index"] : ["read", "division", "index", "full", "key"],
    caught,
    handler,
    span,
  };
  return { ...probe, body: nodes.block([tried], span) };
}

/** Of a fault in ERROR's clauses nobody is told. */
function silently(unit: Unit, statements: readonly Statement[], span: Span): Statement {
  return {
    kind: "try",
    body: nodes.block(statements, span),
    kinds: ["read", "division", "index", "full", "key"],
    caught: nodes.variable(unit.name("fault"), span),
    handler: nodes.block([], span),
    span,
  };
}

/** Kinds of the tree's, by the ids of what D calls them. */
const ends = ["begin", "end"];

/** `dtrace: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): invalid address (0x8) at BPF pc 21`: the place is one in strobe's own program. */
function saidFault(clause: number, of: (name: string) => Expression, span: Span): Statement {
  const part = (name: ProbePart): Expression =>
    nodes.call("probe_part", [nodes.builtin("probe", span), nodes.word(name, span)], span);
  const start = `dtrace: error in ${clauseName(clause)} for probe ID %s (%s:%s:%s:%s): `;
  const place = (["id", "provider", "module", "function", "name"] as const).map(part);
  const said = (what: string, ...args: Expression[]): Statement =>
    nodes.statement(
      nodes.call(
        "sayf",
        [nodes.text(`${start}${what} at BPF pc %d\n`, span), ...place, ...args, of("instruction")],
        span,
      ),
    );
  const when = (kind: string, then: Statement, otherwise: Statement): Statement => ({
    kind: "if",
    condition: nodes.binary("==", of("kind"), nodes.text(kind, span), span),
    then: nodes.block([then], span),
    otherwise: nodes.block([otherwise], span),
    span,
  });
  return when(
    "read",
    said("invalid address (0x%lx)", of("address")),
    when("division", said("divide-by-zero"), said("%s", of("message"))),
  );
}

/** What stands over the lines. */
function heading(unit: Unit, span: Span): Probe[] {
  if (unit.options.quiet || !unit.rows) return [];
  const { flowindent } = unit.options;
  const columns = unit.given.settings?.has("blankids") ? "" : flowindent ? "CPU " : "CPU     ID ";
  const title = flowindent ? "FUNCTION".padEnd(41) : "FUNCTION:NAME".padStart(32);
  const text = nodes.text(`${columns}${title}\n`, span);
  const spec: ProbeSpec = { provider: "begin", parts: [], sequence: -(2 ** 31), text: "heading", span };
  return [{ specs: [spec], body: nodes.block([nodes.statement(nodes.call("printf", [text], span))], span), span }];
}

/** A free line, and the aggregations that no printa() names, when the script ends. */
function unprinted(unit: Unit, span: Span): Probe[] {
  const left = [...unit.aggregations].filter(([, { printed }]) => !printed);
  const spec: ProbeSpec = { provider: "end", parts: [], sequence: 2 ** 31, text: "aggregations", span };
  const line = nodes.statement(nodes.call("printf", [nodes.text("\n", span)], span));
  const prints = [line, ...left.map(([name]) => printWhole(unit, [name], span))];
  return [{ specs: [spec], body: nodes.block(prints, span), span }];
}

/** What the script needs: clauses in front of its own and behind them, and their arrays. */
function helperClauses(
  unit: Unit,
  span: Span,
): { readonly first: readonly Probe[]; readonly last: readonly Probe[]; readonly maps: readonly MapDeclaration[] } {
  const made = { first: [] as Probe[], last: [] as Probe[], maps: [] as MapDeclaration[] };
  for (const name of unit.helpers) {
    const { arrays, clauses } = helpers[name];
    for (const array of Object.keys(arrays))
      made.maps.push({ name: `${array}#0`, storage: "hash", entries: helperEntries, span });
    for (const { kind = "rawtracepoint", event, last = false, body: text } of clauses) {
      const sequence = last ? 2 ** 31 : -(2 ** 31);
      const spec: ProbeSpec = { provider: kind, parts: [event], sequence, text: event, span };
      unit.clause = { provider: "rawtp", returns: false, user: false };
      const block = unit.reading(unit.cursor.elsewhere(tokensOf(text), span), () => body(unit));
      made[last ? "last" : "first"].push({ specs: [spec], body: block, span });
    }
  }
  return made;
}
