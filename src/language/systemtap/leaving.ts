// exit(): a handler goes on behind it. The script ends when the handler has.
import type { Span } from "../diagnostic.ts";
import type { Expression, Probe, Statement } from "../program.ts";
import type { FunctionDefinition, Stmt } from "./syntax.ts";
import type { Scope } from "./declared.ts";
import { visit } from "./names.ts";
import type { Place } from "./place.ts";
import * as tree from "./tree.ts";

export interface Exits {
  /** Where those begin behind which nothing more runs. */
  readonly last: ReadonlySet<number>;
  /** There are others. */
  readonly goesOn: boolean;
  /** It calls functions that have one. */
  readonly called: boolean;
}

/** Of a handler's statements. */
export function exitsOf(body: Stmt, functions: readonly FunctionDefinition[]): Exits {
  const last = new Set<number>();
  findLast(body, last);
  const [own, exiting] = [new Set(functions.map(({ name }) => name)), exitingFunctions(functions)];
  let [goesOn, called] = [false, false];
  visit(body, ({ kind, name, span }) => {
    if (kind !== "call") return;
    if (name === "exit" && !own.has(name) && !last.has(span.start)) goesOn = true;
    if (exiting.has(name)) called = true;
  });
  return { last, goesOn, called };
}

function exitingFunctions(functions: readonly FunctionDefinition[]): ReadonlySet<string> {
  const found = new Set<string>();
  if (functions.some(({ name }) => name === "exit")) return found;
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { name, body } of functions)
      visit(body, (one) => {
        if (one.kind === "call" && (one.name === "exit" || found.has(one.name))) found.add(name);
      });
  }
  return found;
}

function findLast(s: Stmt | undefined, found: Set<number>): void {
  switch (s?.kind) {
    case "block":
      return findLast(s.statements.at(-1), found);
    case "if":
      findLast(s.then, found);
      return findLast(s.otherwise, found);
    case "expression":
      if (s.expression.kind === "call" && s.expression.name === "exit") found.add(s.expression.span.start);
      return;
    default:
      return;
  }
}

/** A handler, or a function, as far as exit() asks. */
interface Left {
  readonly scope: Scope;
  readonly exits: Exits | undefined;
  readonly where: Place;
  readonly shared: { readonly beginsAgain: boolean; leavesBegin: boolean };
}

/** In end probes the script is ending already: those behind them run. */
const isEnding = ({ phase }: Place): boolean => phase === "end" || phase === "error";

/** Set by functions: whoever called them ends the script. */
const asked = "exit#0";
/** The handler's own. */
const leaves = "exit#1";

/** The script ends here. Begin probes behind this one ask whether one has said so. */
export function leave({ where, shared }: Left, span: Span): Statement {
  const left = tree.statement(tree.call("exit", [], span));
  if (where.phase !== "begin" || !shared.beginsAgain) return left;
  shared.leavesBegin = true;
  return tree.block([tree.assign(tree.map(asked, [], span), tree.integer(1, span), span), left], span);
}

/** A begin probe runs where none before it has left. */
export function unlessLeft(probe: Probe): Probe {
  const { specs, span, predicate } = probe;
  if (specs[0]?.provider !== "begin") return probe;
  const stays = tree.binary("==", tree.map(asked, [], span), tree.integer(0, span), span);
  return { ...probe, predicate: predicate === undefined ? stays : tree.binary("&&", stays, predicate, span) };
}

/** exit() where it stands. */
export function exit(unit: Left, span: Span): Statement {
  const { scope, exits, where } = unit;
  if (isEnding(where)) return tree.block([], span);
  if (scope.function !== undefined) return tree.assign(tree.map(asked, [], span), tree.integer(1, span), span);
  if (exits?.last.has(span.start) !== false) return leave(unit, span);
  return tree.assign(tree.variable(leaves, span), tree.integer(1, span), span);
}

/** What a handler does when it ends, by itself or by `next`. */
export function ending(unit: Left, span: Span): Statement[] {
  const { exits, where } = unit;
  if (isEnding(where)) return [];
  const flags: Expression[] = [
    ...(exits?.goesOn === true ? [tree.variable(leaves, span)] : []),
    ...(exits?.called === true ? [tree.map(asked, [], span)] : []),
  ];
  return flags.map((flag) => ({
    kind: "if",
    condition: tree.binary("!=", flag, tree.integer(0, span), span),
    then: tree.block([leave(unit, span)], span),
    span,
  }));
}

export function withExit(statements: readonly Statement[], unit: Left, span: Span): readonly Statement[] {
  const behind = ending(unit, span);
  if (behind.length === 0) return statements;
  const before = unit.exits?.goesOn === true ? [tree.declare(leaves, tree.integer(0, span), tree.longType(span))] : [];
  return [...before, ...statements, ...behind];
}
