// Statements as those of the tree.
import { systemtap } from "../../messages/systemtap.ts";
import type { Span } from "../diagnostic.ts";
import type { Block, Expression, MapAccess, Statement, Variable } from "../program.ts";
import type { FunctionTypes } from "./declared.ts";
import { bucketsOf } from "./histograms.ts";
import { faultKinds, mayRead } from "./failing.ts";
import { ending } from "./leaving.ts";
import { libraryFunction, printers } from "./library.ts";
import { printStatements } from "./printing.ts";
import type { Expr, Foreach, Stmt } from "./syntax.ts";
import * as tree from "./tree.ts";
import type { Unit } from "./unit.ts";
import { assigned, atSign, condition, decided, storage, value } from "./values.ts";

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
    case "if": {
      const known = decided(s.condition, unit);
      if (known !== undefined) {
        const taken = known ? s.then : s.otherwise;
        return taken === undefined ? [] : [block(taken, unit)];
      }
      return [
        {
          kind: "if",
          condition: condition(s.condition, unit),
          then: block(s.then, unit),
          ...(s.otherwise === undefined ? {} : { otherwise: block(s.otherwise, unit) }),
          span,
        },
      ];
    }
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
      return unit.scope.function === undefined
        ? [...ending(unit, span), { kind: "next", span }]
        : [goesOn(unit.scope.function, unit, span)];
    case "break":
    case "continue":
      return [{ kind: s.kind, span }];
    case "return":
      return [
        { kind: "return", ...(s.value === undefined ? zero(unit, span) : { value: value(s.value, unit) }), span },
      ];
    case "delete":
      return emptied(s.target, unit) ?? [tree.statement(deleted(s.target, unit))];
    case "try": {
      const body = block(s.body, unit);
      const caught = s.message === undefined ? undefined : tree.variable(unit.shared.name(s.message), span);
      const handler = block(s.handler, unit);
      const functions = new Set([...unit.types.functions.values()].flat().map((one) => unit.nameOf(one)));
      return [
        {
          kind: "try",
          kinds: faultKinds,
          body,
          ...(caught === undefined ? {} : { caught }),
          handler: tree.block(
            caught === undefined
              ? handler.statements
              : [
                  tree.assign(tree.variable(s.message!, span), wordsOf(caught, mayRead(body, functions)), span),
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

/** What was caught, as text. Of memory that could not be read it has the address, which the host puts in. */
function wordsOf(caught: Variable, reads: boolean): Expression {
  const { span } = caught;
  const message = tree.member(caught, "message", span);
  if (!reads) return message;
  return tree.conditional(
    tree.binary("==", tree.member(caught, "kind", span), tree.text("read", span), span),
    tree.hostText("formattedText", [message, tree.member(caught, "address", span)], span),
    message,
    span,
  );
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
  const called = tree.call(unit.nameOf(next), given, span);
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
      return [tree.assign(target, given, atSign(e), operator)];
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

/** An array, or a part of it, is emptied at once: no clear() that the host does once it hears of it. */
function emptied(e: Expr, unit: Unit): Statement[] | undefined {
  const global = e.kind === "name" ? unit.types.globals.get(e.name) : undefined;
  if (global?.keys?.length === 0 && global.value !== "stats") {
    const none = global.value === "string" ? tree.text("", e.span) : tree.integer(0, e.span);
    return [tree.assign(tree.map(global.global.name, [], e.span), none, e.span)];
  }
  const array = e.kind === "name" ? (unit.types.globals.get(e.name)?.keys ?? []).map(() => undefined) : [];
  const slice = e.kind === "element" && e.keys.includes(undefined) ? e : undefined;
  const of =
    array.length > 0 && e.kind === "name"
      ? ({ kind: "element", name: e.name, keys: array, span: e.span } as const)
      : slice;
  if (of === undefined) {
    // A variable of the handler has what it had at the beginning.
    if (e.kind !== "name" || global !== undefined || !unit.scope.assigned.has(e.name)) return undefined;
    const none = unit.scope.locals.get(e.name) === "string" ? tree.text("", e.span) : tree.integer(0, e.span);
    return [tree.assign(tree.variable(e.name, e.span), none, e.span)];
  }
  return [eachOf(of, unit, (key, map) => [tree.statement(tree.call("delete", [map, key], e.span))])];
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

/** `foreach (b in @hist_log(s))`: over the numbers of all its buckets. */
function bucketLoop(s: Foreach, buckets: NonNullable<Foreach["buckets"]>, unit: Unit): Statement {
  const { span } = s;
  const [key] = s.keys;
  const number = tree.variable(unit.shared.name("bucket"), span);
  const count = tree.integer(bucketsOf(buckets), span);
  const descending = s.order?.descending === true;
  const at = descending ? tree.binary("-", tree.binary("-", count, tree.integer(1, span), span), number, span) : number;
  const limit = s.limit === undefined ? undefined : value(s.limit, unit);
  const inside = tree.binary("<", number, count, span);
  return {
    kind: "for",
    before: [tree.declare(number.name, tree.integer(0, span), tree.longType(span))],
    condition: limit === undefined ? inside : tree.binary("&&", inside, tree.binary("<", number, limit, span), span),
    step: [tree.assign(number, tree.integer(1, span), span, "+")],
    body: tree.block(
      [
        tree.assign(tree.variable(key, span), at, span),
        ...(s.value === undefined
          ? []
          : [
              tree.assign(
                tree.variable(s.value, span),
                value({ ...buckets, index: { kind: "name", name: key, span } }, unit),
                span,
              ),
            ]),
        ...block(s.body, unit).statements,
      ],
      span,
    ),
    span,
  };
}

/** `foreach`: the variables are the handler's own, and keep what they had in the last round. */
function loop(s: Foreach, unit: Unit): Statement {
  const { span } = s;
  if (s.buckets !== undefined) return bucketLoop(s, s.buckets, unit);
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
