// Clauses: descriptions, a predicate and a body, as probes of the tree.
import { dDescriptions } from "../../messages/d-descriptions.ts";
import { dPreprocessor } from "../../messages/d-preprocessor.ts";
import { dSyntax } from "../../messages/d-syntax.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { ProbeSpec } from "../probe-spec.ts";
import type { Expression, Probe, Statement } from "../program.ts";
import { attributesOf, isLess, spelledAttributes } from "./attributes.ts";
import type { Cursor } from "./cursor.ts";
import { expression } from "./expressions.ts";
import { assignments } from "./places.ts";
import { macroText } from "./preprocess.ts";
import { placed, type Placed } from "./probes.ts";
import { structOf } from "./prototypes.ts";
import { body } from "./statements.ts";
import type { Token } from "./tokens.ts";
import type { Unit } from "./unit.ts";

export function clause(unit: Unit): Probe[] {
  const p = unit.cursor;
  const first = p.token;
  const described = descriptions(unit);
  if (p.at(";")) p.unexpected("a predicate or actions");
  if (p.token.kind === "identifier") p.fail(dSyntax.noActions(), first);
  const places = described.flatMap(({ text, span }) => placed(text, span, unit));
  const { least } = unit.options;
  for (const { text } of least === undefined ? [] : described) {
    const { probe } = attributesOf(text);
    if (isLess(probe, least!)) p.fail(dDescriptions.tooUnstable("clause", spelledAttributes(probe)), first);
  }
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
  const description = p.source.text.slice(first.start, p.token.start).trim();
  if (place !== undefined) unit.clause = { ...place.scope, names, number: unit.nextClause(), several, description };
  const condition = p.index;
  const behind = p.at("/") ? endOfPredicate(p) : undefined;
  if (p.at("/") && behind === undefined) missesEnd(p);
  const readPredicate = (): Expression => {
    unit.inPredicate = true;
    p.seek(condition + 1);
    unit.takesAggregations = true;
    const read = expression(unit);
    unit.inPredicate = false;
    if (
      unit.aggregates.has(read) ||
      unit.known(read) === "string" ||
      unit.voids.has(read) ||
      structOf(read) !== undefined
    )
      p.fail(dSyntax.predicateType(), read.span);
    p.expect("/");
    return read;
  };
  // What it assigns, the body knows. One that does not end is complained of where it does not go on.
  const early = p.at("/") && (behind === undefined || assignsBefore(p, behind)) ? readPredicate() : undefined;
  if (behind !== undefined) p.seek(behind);
  if (!p.at("{")) {
    if (behind !== undefined) p.fail(dSyntax.noActionsBehindPredicate(), first);
    if (p.token.kind === "bad") p.unexpected("a predicate or actions");
    p.fail(dSyntax.noActions(), first);
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

/** A body stands where a predicate, which begins here, was to end: said there, whatever its names are. */
function missesEnd(p: Cursor): void {
  const start = p.index;
  do p.advance();
  while (p.token.kind !== "end" && p.token.kind !== "bad" && !p.at("{") && !p.at("/") && !p.at(";"));
  if (p.at("{") && p.index > start + 1) p.unexpected("`/`");
  p.seek(start);
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
      // Of a command that is not begun yet the number is not known.
      if (/^\$\$?target$/.test(macro))
        return typeof unit.given.target === "number" ? `${unit.given.target}` : "$target";
      unit.usedMacros.add(macro.replace(/^\$\$?/, ""));
      return macroText(macro, unit.given) ?? p.fail(dPreprocessor.macroUndefined(macro), span);
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
