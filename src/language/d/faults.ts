// What fails in a clause: said in DTrace's words by its command, and given to ERROR's clauses.
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression, Probe, Statement } from "../program.ts";
import type { ProbePart } from "../types.ts";
import { mayFail } from "./may-fail.ts";
import type { Unit } from "./unit.ts";
import { clauseName, faultNumbers, faultVariables, numberOf } from "./variables.ts";

/** What fails in a clause ends it, and is said in DTrace's words by its command; ERROR's clauses are told. */
export function watched(probe: Probe, unit: Unit): Probe {
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
  // A predicate that may fail is looked at inside.
  const { predicate, ...bare } = probe;
  const asksInside = predicate !== undefined && mayFail(predicate);
  const asked: Statement | undefined = asksInside ? { kind: "clause", predicate, body: probe.body, span } : undefined;
  const tried: Statement = {
    kind: "try",
    body: asked === undefined ? probe.body : nodes.block([asked], span),
    kinds: unit.errors.length === 0 ? ["read", "division", "index"] : ["read", "division", "index", "full", "key"],
    caught,
    handler,
    span,
  };
  return { ...(asksInside ? bare : probe), body: nodes.block([tried], span) };
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

/** `dtrace: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): …` */
export function saidInClause(clause: number, text: string, args: readonly Expression[], span: Span): Statement {
  const part = (name: ProbePart): Expression =>
    nodes.call("probe_part", [nodes.builtin("probe", span), nodes.word(name, span)], span);
  const place = (["id", "provider", "module", "function", "name"] as const).map(part);
  const format = `dtrace: error in ${clauseName(clause)} for probe ID %s (%s:%s:%s:%s): ${text}`;
  return nodes.statement(nodes.call("sayf", [nodes.text(format, span), ...place, ...args], span));
}

/** `invalid address (0x8) at BPF pc 21`: the place is one in strobe's own program. */
function saidFault(clause: number, of: (name: string) => Expression, span: Span): Statement {
  const said = (what: string, ...args: Expression[]): Statement =>
    saidInClause(clause, `${what} at BPF pc %d\n`, [...args, of("instruction")], span);
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
