// Statements as those of the tree.
import { systemtap } from "../../messages/systemtap.ts";
import type { Span } from "../diagnostic.ts";
import type { Block, Expression, MapAccess, Statement, Variable } from "../program.ts";
import type { FunctionTypes } from "./infer.ts";
import { libraryFunction, printers } from "./library.ts";
import { printStatements } from "./printing.ts";
import type { Expr, Foreach, Stmt } from "./syntax.ts";
import * as tree from "./tree.ts";
import type { Unit } from "./unit.ts";
import { assigned, condition, storage, value } from "./values.ts";

export function block(s: Stmt, unit: Unit): Block {
  const statements = s.kind === "block" ? s.statements : [s];
  return tree.block(
    statements.flatMap((one) => statementsOf(one, unit)),
    s.span,
  );
}

/** With what has to be done before. */
function statementsOf(s: Stmt, unit: Unit): readonly Statement[] {
  const around = unit.before;
  unit.before = [];
  const made = statement(s, unit);
  const { before } = unit;
  unit.before = around;
  return before.length === 0 ? made : [tree.block([...before, ...made], s.span)];
}

function statement(s: Stmt, unit: Unit): readonly Statement[] {
  const { span } = s;
  switch (s.kind) {
    case "block":
      return [block(s, unit)];
    case "expression":
      return expressionStatement(s.expression, unit);
    case "if":
      return [
        {
          kind: "if",
          condition: condition(s.condition, unit),
          then: block(s.then, unit),
          ...(s.otherwise === undefined ? {} : { otherwise: block(s.otherwise, unit) }),
          span,
        },
      ];
    case "while":
      return [{ kind: "while", condition: repeated(s.condition, unit), body: block(s.body, unit), span }];
    case "for":
      return [
        {
          kind: "for",
          before: s.before === undefined ? [] : expressionStatement(s.before, unit),
          ...(s.condition === undefined ? {} : { condition: repeated(s.condition, unit) }),
          step: s.step === undefined ? [] : expressionStatement(s.step, unit),
          body: block(s.body, unit),
          span,
        },
      ];
    case "foreach":
      return [loop(s, unit)];
    case "next":
      return unit.scope.function === undefined ? [{ kind: "next", span }] : [goesOn(unit.scope.function, unit, span)];
    case "break":
    case "continue":
      return [{ kind: s.kind, span }];
    case "return":
      return [
        { kind: "return", ...(s.value === undefined ? zero(unit, span) : { value: value(s.value, unit) }), span },
      ];
    case "delete":
      return s.target.kind === "element" && s.target.keys.includes(undefined)
        ? [eachOf(s.target, unit, (key, of) => [tree.statement(tree.call("delete", [of, key], span))])]
        : [tree.statement(deleted(s.target, unit))];
    case "try": {
      unit.tries++;
      const body = block(s.body, unit);
      unit.tries--;
      const caught = s.message === undefined ? undefined : tree.variable(unit.shared.name(s.message), span);
      const handler = block(s.handler, unit);
      return [
        {
          kind: "try",
          body,
          ...(caught === undefined ? {} : { caught }),
          handler: tree.block(
            caught === undefined
              ? handler.statements
              : [
                  tree.assign(tree.variable(s.message!, span), tree.member(caught, "message", span), span),
                  ...handler.statements,
                ],
            handler.span,
          ),
          span,
        },
      ];
    }
  }
}

/** `next` in a function: the one of the same name behind it, with what this one was given. */
function goesOn({ definition, next, returns }: FunctionTypes, unit: Unit, span: Span): Statement {
  if (next === undefined) return { kind: "throw", value: tree.text("all functions exhausted", span), span };
  const given = definition.parameters.map(({ name }) => {
    // What is stored in a parameter stays in its own function.
    if (unit.scope.assigned.has(name))
      unit.refuse(span, systemtap.notYet(`\`next\` where the parameter ${name} is stored in`));
    return tree.variable(name, span);
  });
  const called = tree.call(next.name, given, span);
  return returns
    ? { kind: "return", value: called, span }
    : tree.block([tree.statement(called), { kind: "return", span }], span);
}

function zero(unit: Unit, span: Span): { readonly value?: Expression } {
  const own = unit.scope.function;
  if (own?.returns !== true) return {};
  return { value: own.result === "string" ? tree.text("", span) : tree.integer(0, span) };
}

/** A loop's condition: nothing can be done before each round. */
function repeated(e: Expr, unit: Unit): Expression {
  const { length } = unit.before;
  const found = condition(e, unit);
  if (unit.before.length > length)
    unit.refuse(e.span, systemtap.notHere("a function that does something", "in a loop's condition"));
  return found;
}

function expressionStatement(e: Expr, unit: Unit): readonly Statement[] {
  const { span } = e;
  switch (e.kind) {
    case "assign": {
      if (e.operator === "<<<") return [added(e, unit)];
      if (e.target.kind === "name" && unit.texts.get(e.target.name) === e.value) return [];
      const target = storage(e.target, unit);
      if (target.kind !== "variable" && target.kind !== "map") return [];
      const { operator, value: given } = assigned(e, target, unit);
      if (target.kind === "map" && grows(e)) {
        // It has all the room that a text may need from the first on.
        const text = tree.variable(unit.shared.name("text"), span);
        return [
          tree.block([tree.declare(text.name, given, tree.textType(span)), tree.assign(target, text, span)], span),
        ];
      }
      return [tree.assign(target, given, span, operator)];
    }
    case "call": {
      if (unit.types.function(e.name, e.args.length) !== undefined) return [tree.statement(value(e, unit))];
      if (printers.has(e.name)) return printStatements(e, unit);
      const known = libraryFunction(e.name);
      if (known?.does === undefined || e.args.length < (known.least ?? known.parameters.length)) break;
      return known.does(
        e.args.map((arg) => value(arg, unit)),
        span,
        unit,
      );
    }
    default:
      break;
  }
  return [tree.statement(value(e, unit))];
}

/** Text that is made of what the variable has, and more. */
function grows({ operator, target, value: given }: Extract<Expr, { kind: "assign" }>): boolean {
  if (operator === ".=") return true;
  const name = target.kind === "name" || target.kind === "element" ? target.name : "";
  return operator === "=" && given.kind === "binary" && given.operator === "." && mentions(given, name);
}

function mentions(e: Expr, name: string): boolean {
  if (e.kind === "binary") return mentions(e.left, name) || mentions(e.right, name);
  return (e.kind === "name" || e.kind === "element") && e.name === name;
}

/** `s <<< v` */
function added(e: Extract<Expr, { kind: "assign" }>, unit: Unit): Statement {
  const target = storage(e.target, unit);
  if (target.kind !== "map")
    return tree.statement(unit.refuse(e.span, systemtap.expected("a global on the left of `<<<`", "another variable")));
  return {
    kind: "aggregate",
    target,
    aggregate: "statistic",
    value: value(e.value, unit),
    parameters: [],
    span: e.span,
  };
}

function deleted(e: Expr, unit: Unit): Expression {
  const { span } = e;
  if (e.kind === "element") {
    const access = storage(e, unit);
    if (access.kind !== "map") return access;
    const key: Expression =
      access.keys.length === 1
        ? access.keys[0]
        : { kind: "tuple", elements: access.keys, span, type: { kind: "unknown" } };
    return tree.call("delete", [tree.map(access.name, [], span), key], span);
  }
  const global = e.kind === "name" ? unit.types.globals.get(e.name) : undefined;
  if (e.kind !== "name" || global === undefined) return unit.refuse(span, systemtap.deleteTarget());
  return tree.call("clear", [tree.map(e.name, [], span)], span);
}

/** A loop over the entries of a slice, `a[1, *]`. */
function eachOf(
  e: Extract<Expr, { kind: "element" }>,
  unit: Unit,
  each: (key: Expression, of: MapAccess) => readonly Statement[],
): Statement {
  const { span } = e;
  const of = tree.map(e.name, [], span);
  const keys = e.keys.map(() => tree.variable(unit.shared.name("key"), span));
  const key: Expression =
    keys.length === 1 ? keys[0] : { kind: "tuple", elements: keys, span, type: { kind: "unknown" } };
  return {
    kind: "for-map",
    variable: tree.variable(unit.shared.name("entry"), span),
    map: of,
    keys,
    slice: e.keys.map((one) => (one === undefined ? undefined : value(one, unit))),
    body: tree.block(each(key, of), span),
    span,
  };
}

/** `foreach`: the variables are the handler's own, and keep what they had in the last round. */
function loop(s: Foreach, unit: Unit): Statement {
  const { span } = s;
  const bound: { readonly name: string; readonly from: Variable }[] = [];
  const bind = (name: string): Variable => {
    const from = tree.variable(unit.shared.name(name), span);
    bound.push({ name, from });
    return from;
  };
  const keys = s.keys.map(bind);
  const of = s.value === undefined ? undefined : bind(s.value);
  const by = s.order?.by;
  // Statistics are ordered by how many there are, unless it says.
  const statistics = unit.types.globals.get(s.array)?.value === "stats";
  const body = block(s.body, unit);
  return {
    kind: "for-map",
    variable: tree.variable(unit.shared.name("entry"), span),
    map: tree.map(s.array, [], s.arraySpan),
    keys,
    ...(of === undefined ? {} : { value: of }),
    ...(s.order === undefined
      ? {}
      : {
          order: {
            by: typeof by === "number" ? ("key" as const) : ("value" as const),
            ...(typeof by === "number" ? { part: by } : {}),
            ...(typeof by === "string" && (by !== "value" || statistics)
              ? { result: by === "value" ? "count" : by }
              : {}),
            descending: s.order.descending,
          },
        }),
    ...(s.slice === undefined
      ? {}
      : { slice: s.slice.map((one) => (one === undefined ? undefined : value(one, unit))) }),
    ...(s.limit === undefined ? {} : { limit: value(s.limit, unit) }),
    body: tree.block(
      [...bound.map(({ name, from }) => tree.assign(tree.variable(name, span), from, span)), ...body.statements],
      body.span,
    ),
    span,
  };
}
