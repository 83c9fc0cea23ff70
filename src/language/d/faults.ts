// What fails in a clause: said in DTrace's words by its command, and given to ERROR's clauses.
import type { Span } from "../diagnostic.ts";
import { writtenMemory } from "../host-texts.ts";
import * as nodes from "../nodes.ts";
import type { Expression, Probe, Statement } from "../program.ts";
import type { ProbePart } from "../types.ts";
import { nothingRaised, raised, raisedFaults } from "./raise.ts";
import { mayFail } from "./may-fail.ts";
import type { Unit } from "./unit.ts";
import { clauseName, faultNumbers, faultVariables, numberOf } from "./variables.ts";

/** What fails in a clause ends it, and is said in DTrace's words by its command; ERROR's clauses are told. */
export function watched(probe: Probe, unit: Unit): Probe {
  const says = unit.given.settings?.has("command") === true;
  if (unit.errors.length === 0 && !says && !unit.raises) return probe;
  const { span } = probe;
  const caught = nodes.variable(unit.name("fault"), span);
  const of = (name: string): Expression => nodes.member(caught, name, span);
  // The kernel's verifier lets nobody compute with its pointers: only where a clause allocates, which runs in strobe.
  const allocates = has(probe.body, "allocatedMemory");
  const address = (): Expression => (allocates ? shownAddress(unit, of("address")) : of("address"));
  const is = (name: string): Expression => nodes.binary("==", of("kind"), nodes.text(name, span), span);
  const kind = faultNumbers.reduce<Expression>(
    (otherwise, [name, number]) => nodes.conditional(is(name), nodes.integer(number, span), otherwise, span),
    unit.raises
      ? nodes.conditional(is("error"), nodes.variable(raised.number, span), nodes.integer(0, span), span)
      : nodes.integer(0, span),
  );
  const told = says
    ? saidFault(unit, unit.clauseOf.get(probe.body) ?? 0, of, address, span)
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
      nodes.declare(faultVariables.address, unit.cast("int64", address()), nodes.typeName("int64", span)),
      // One that fails does not keep the next from running.
      ...unit.errors.map((one) => silently(unit, [one], span)),
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
    kinds: [
      ...(["read", "division", "index"] as const),
      ...(unit.errors.length === 0 ? [] : (["full", "key"] as const)),
      ...(unit.raises ? (["error"] as const) : []),
    ],
    caught,
    handler,
    span,
  };
  const before = unit.raises ? nothingRaised(unit, span) : [];
  return { ...(asksInside ? bare : probe), body: nodes.block([...before, tried], span) };
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

/** Whether a name is somewhere in a tree. */
function has(node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false;
  if ("name" in node && node.name === name) return true;
  return Object.values(node).some((one) => has(one, name));
}

/** In memory that alloca() gives, counted from where that begins, as DTrace has it. */
function shownAddress(unit: Unit, address: Expression): Expression {
  const { span } = address;
  const { start, scratchSize } = writtenMemory;
  const offset = (): Expression =>
    unit.cast("uint64", nodes.binary("-", unit.cast("uint64", address), nodes.integer(start, span), span));
  const inside = nodes.binary("<", offset(), nodes.integer(scratchSize, span), span);
  return nodes.conditional(inside, offset(), unit.cast("uint64", address), span);
}

/** `invalid address (0x8) at BPF pc 21`: the place is one in strobe's own program. */
function saidFault(
  unit: Unit,
  clause: number,
  of: (name: string) => Expression,
  address: () => Expression,
  span: Span,
): Statement {
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
    said("invalid address (0x%lx)", address()),
    when("division", said("divide-by-zero"), unit.raises ? when("error", saidRaised(), other()) : other()),
  );

  function other(): Statement {
    return said("%s", of("message"));
  }

  function saidRaised(): Statement {
    return Object.values(raisedFaults).reduce<Statement>((otherwise, { number, text }) => {
      const detail = text.includes("%") ? [nodes.variable(raised.detail, span)] : [];
      return {
        kind: "if",
        condition: nodes.binary("==", nodes.variable(raised.number, span), nodes.integer(number, span), span),
        then: nodes.block([said(text, ...detail)], span),
        otherwise: nodes.block([otherwise], span),
        span,
      };
    }, other());
  }
}
