// D's expressions, as the tree has them.
import { d } from "../../messages/d.ts";
import type { Span } from "../diagnostic.ts";
import { nearest } from "../nearest.ts";
import * as nodes from "../nodes.ts";
import { precedence } from "../precedence.ts";
import type { BinaryOperator, Expression, MapAccess, Variable } from "../program.ts";
import { unknownType } from "../types.ts";
import { libraryFunction, libraryNames } from "./library.ts";
import { macroText, macroToken } from "./preprocess.ts";
import { registerOf } from "./registers.ts";
import { stableProbe } from "./stable-probes.ts";
import { readText, translatedMember, xlate } from "./translators.ts";
import { beginsType, constantValue, typeName } from "./type-names.ts";
import { common, isNumber, knownType, promoted, type Known } from "./types.ts";
import { type Storage, type Unit } from "./unit.ts";
import { builtinVariable, memberOf, variableNames } from "./variables.ts";

export const assignments = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/** With commas: the last one is the value. */
export function expression(unit: Unit): Expression {
  const p = unit.cursor;
  const first = assignment(unit);
  if (!p.at(",")) return first;
  const statements = [];
  let value = first;
  while (p.accept(",")) {
    statements.push(nodes.statement(value));
    value = assignment(unit);
  }
  const span = p.from(first.span);
  return unit.typed({ kind: "block-expression", statements, value, span, type: unknownType }, unit.known(value));
}

export function constant(unit: Unit): bigint {
  const { token } = unit.cursor;
  const value = constantValue(conditional(unit), unit);
  return value ?? unit.cursor.fail(d.near(`"${token.text}"`, "a constant"), token);
}

/** Where an expression is stored, of those that can be assigned to. */
interface Place {
  readonly target: Variable | MapAccess;
  readonly storage: Storage | undefined;
  readonly declare: (known: Known | undefined) => void;
}

const places = new WeakMap<Expression, Place>();

export function assignment(unit: Unit): Expression {
  const p = unit.cursor;
  return p.nested(() => {
    const target = conditional(unit);
    const operator = p.token.kind === "punctuation" && assignments.includes(p.token.text) ? p.token.text : undefined;
    if (operator === undefined) return target;
    const place = places.get(target);
    if (place === undefined)
      p.fail(d.cannotAssign(p.source.text.slice(target.span.start, target.span.end)), target.span);
    p.advance();
    const value = assignment(unit);
    return stored(unit, place!, operator.slice(0, -1), value, p.from(target.span));
  });
}

function stored(unit: Unit, place: Place, operator: string, value: Expression, span: Span): Expression {
  const { target, storage } = place;
  const type = unknownType;
  const given = unit.known(value);
  if (operator !== "") {
    if (storage === undefined) place.declare(given);
    const known = storage?.known ?? given;
    const op = operator as BinaryOperator;
    const node: Expression = { kind: "assignment", target, operator: op, value: unit.value(value), span, type };
    return unit.typed(node, known);
  }
  const known = storage === undefined ? given : storage.known;
  if (storage !== undefined && !isNumber(known) && value.kind === "integer" && value.value === 0n) {
    const gone = removed(target, known, span);
    if (gone !== undefined) return unit.typed(gone, "int32");
  }
  if (storage === undefined) place.declare(given);
  let own = unit.value(value);
  // What a variable was declared as, or first given, it stays.
  if (isNumber(known) && given !== known && given !== "string") own = unit.cast(known, own);
  return unit.typed({ kind: "assignment", target, operator: null, value: own, span, type }, known);
}

/** Storing 0 instead of a text or an address: the entry goes. */
function removed(target: Variable | MapAccess, known: Known | undefined, span: Span): Expression | undefined {
  if (target.kind === "variable" && target.lives === undefined) {
    if (known !== "string") return undefined;
    return { kind: "assignment", target, operator: null, value: nodes.text("", span), span, type: unknownType };
  }
  const keys = target.kind === "map" ? target.keys : [nodes.builtin("tid", span)];
  const map = nodes.map(target.name, [], span);
  if (keys.length === 0) return nodes.call("clear", [map], span);
  const [only] = keys;
  const key: Expression = keys.length === 1 ? only : { kind: "tuple", elements: keys, span, type: unknownType };
  return nodes.call("delete", [map, key], span);
}

export function conditional(unit: Unit): Expression {
  const p = unit.cursor;
  const condition = binary(unit, 1);
  if (!p.accept("?")) return condition;
  return p.nested(() => {
    const then = expression(unit);
    p.expect(":");
    const otherwise = conditional(unit);
    const [l, r] = [unit.known(then), unit.known(otherwise)];
    if ((l === "string" && isNumber(r)) || (isNumber(l) && r === "string"))
      p.fail(d.incompatibleBranches(), p.from(condition.span));
    const known = l === "string" || r === "string" ? "string" : common(l, r);
    const node = nodes.conditional(condition, unit.value(then), unit.value(otherwise), p.from(condition.span));
    return unit.typed(node, known);
  });
}

function binary(unit: Unit, least: number): Expression {
  const p = unit.cursor;
  let left = unary(unit);
  for (;;) {
    const { kind, text } = p.token;
    const operator = kind === "punctuation" ? text : "";
    if (operator === "/" && endsPredicate(unit)) return left;
    const strength =
      operator === "^^" ? 2.5 : Object.hasOwn(precedence, operator) ? precedence[operator as BinaryOperator] : 0;
    if (strength < least || strength === 0) return left;
    p.advance();
    const right = p.nested(() => binary(unit, Math.floor(strength) + 1));
    const span = p.from(left.span);
    if (operator === "^^") {
      const [l, r] = [left, right].map((one) => nodes.not(nodes.not(one)));
      left = unit.typed(nodes.binary("!=", l, r, span), "int32");
      continue;
    }
    const op = operator as BinaryOperator;
    const [l, r] = [unit.known(left), unit.known(right)];
    const compares = strength <= 3 || strength === 7 || strength === 8;
    const shifts = op === "<<" || op === ">>";
    const known = compares ? "int32" : shifts ? (isNumber(l) ? promoted(l) : undefined) : common(l, r);
    const texts = l === "string" || r === "string";
    if (texts && !compares) p.fail(d.arithmeticOperands(op), span);
    if ((op === "/" || op === "%") && right.kind === "integer" && right.value === 0n) p.fail(d.divisionByZero(), span);
    left = unit.typed(
      nodes.binary(op, texts ? noText(left) : operand(unit, left), texts ? noText(right) : operand(unit, right), span),
      known,
    );
  }
}

/** NULL beside a text is one that is empty. */
function noText(e: Expression): Expression {
  return e.kind === "integer" && e.value === 0n ? nodes.text("", e.span) : e;
}

/** A slash that no operand can stand behind. */
function endsPredicate({ inPredicate, cursor: p }: Unit): boolean {
  if (!inPredicate) return false;
  const next = p.peek();
  return next.kind === "end" || (next.kind === "punctuation" && (next.text === "{" || next.text === ";"));
}

/** A literal that C reads as no int has that type among the operands, too. */
function operand(unit: Unit, e: Expression): Expression {
  const known = unit.known(e);
  return e.kind === "integer" && isNumber(known) && known !== "int32" ? unit.cast(known, e) : e;
}

function unary(unit: Unit): Expression {
  const p = unit.cursor;
  const { token } = p;
  if (token.kind === "punctuation") {
    switch (token.text) {
      case "-":
      case "+":
      case "~":
      case "!":
      case "*":
      case "&": {
        p.advance();
        const of = p.nested(() => unary(unit));
        const { text: operator } = token;
        const node: Expression = {
          kind: "unary",
          operator,
          operand: operand(unit, of),
          span: p.from(token),
          type: unknownType,
        };
        const known = unit.known(of);
        if (known === "string" && operator !== "&")
          p.fail(operator === "!" ? d.scalarOperand(operator) : d.arithmeticOperand(operator), p.from(token));
        if (operator === "*" && of.kind === "integer") p.fail(d.notAPointer(), p.from(token));
        if (operator === "*" || operator === "&") return node;
        return unit.typed(node, operator === "!" ? "int32" : isNumber(known) ? promoted(known) : undefined);
      }
      case "++":
      case "--":
        p.advance();
        unit.increments = true;
        try {
          return increment(
            unit,
            p.nested(() => unary(unit)),
            token.text === "++" ? 1 : -1,
            true,
            token,
          );
        } finally {
          unit.increments = false;
        }
      case "(":
        if (beginsType(unit, 1)) {
          const start = p.index;
          p.advance();
          const to = typeName(unit, () => constant(unit));
          if (p.accept(")"))
            return castTo(
              unit,
              to,
              p.nested(() => unary(unit)),
              token,
            );
          p.seek(start);
        }
        break;
      default:
        break;
    }
  }
  if (token.kind === "identifier")
    switch (token.text) {
      case "sizeof":
        return sizeOf(unit);
      case "offsetof":
        return offsetOf(unit);
      case "stringof": {
        p.advance();
        const of = p.nested(() => unary(unit));
        return textOf(unit, of, p.from(token));
      }
      default:
        break;
    }
  return postfix(unit);
}

function castTo(unit: Unit, to: ReturnType<typeof typeName>, of: Expression, start: Span): Expression {
  const span = unit.cursor.from(start);
  if (to.name === "string" && to.pointers === 0) return textOf(unit, of, span);
  return unit.typed(nodes.cast(to, of, span), knownType(to));
}

/** stringof: text stays as it is. */
export function textOf(unit: Unit, of: Expression, span: Span): Expression {
  return unit.known(of) === "string" ? of : unit.typed(nodes.call("str", [of], span), "string");
}

function sizeOf(unit: Unit): Expression {
  const p = unit.cursor;
  const first = p.advance();
  const inParentheses = p.at("(") && beginsType(unit, 1);
  if (inParentheses) p.advance();
  const of = inParentheses ? typeName(unit, () => constant(unit)) : unit.value(unary(unit));
  if (inParentheses) p.expect(")");
  return unit.typed({ kind: "sizeof", of, span: p.from(first), type: unknownType }, "uint64");
}

function offsetOf(unit: Unit): Expression {
  const p = unit.cursor;
  const first = p.advance();
  p.expect("(");
  const of = typeName(unit, () => constant(unit));
  p.expect(",");
  const path = [p.expectName("a member").text];
  while (p.accept(".")) path.push(p.expectName("a member").text);
  p.expect(")");
  return unit.typed({ kind: "offsetof", of, path, span: p.from(first), type: unknownType }, "uint64");
}

function increment(unit: Unit, of: Expression, delta: 1 | -1, prefix: boolean, start: Span): Expression {
  const p = unit.cursor;
  const span = p.from(start);
  const place = places.get(of);
  if (place === undefined) return p.fail(d.cannotAssign(p.source.text.slice(of.span.start, of.span.end)), of.span);
  if (place.storage === undefined) place.declare("int64");
  const node: Expression = { kind: "increment", target: place.target, delta, prefix, span, type: unknownType };
  return unit.typed(node, place.storage?.known ?? "int64");
}

function postfix(unit: Unit): Expression {
  const p = unit.cursor;
  let e = primary(unit);
  for (;;) {
    const { start } = e.span;
    if (p.at("->") || p.at(".")) {
      p.advance();
      const name = p.expectName("a member's name");
      const member = { start, end: name.end };
      const special = translatedMember(e, name.text, member, unit, expression) ?? memberOf(e, name.text, member);
      e = special ?? {
        kind: "member",
        object: e,
        name: name.text,
        nameSpan: { start: name.start, end: name.end },
        span: { start, end: name.end },
        type: unknownType,
      };
    } else if (p.accept("[")) {
      const index = expression(unit);
      p.expect("]");
      const element = p.from({ start, end: start });
      e = registerOf(e, index, element, unit) ??
        stableArgument(e, index, element, unit) ?? {
          kind: "index",
          object: e,
          index: unit.value(index),
          span: p.from({ start, end: start }),
          type: unknownType,
        };
    } else if (p.at("++") || p.at("--")) {
      const { text } = p.advance();
      e = increment(unit, e, text === "++" ? 1 : -1, false, e.span);
    } else return e;
  }
}

function primary(unit: Unit): Expression {
  const p = unit.cursor;
  const { token } = p;
  const span = { start: token.start, end: token.end };
  switch (token.kind) {
    case "number":
    case "character":
      if (token.problem !== undefined) p.fail(d.unreadable(token.problem), token);
      p.advance();
      return unit.typed(nodes.integer(token.number ?? 0n, span), token.type);
    case "string": {
      p.advance();
      let value = token.value ?? "";
      while (p.token.kind === "string") value += p.advance().value ?? "";
      return unit.typed(nodes.text(value, p.from(token)), "string");
    }
    case "macro":
      p.advance();
      return macro(unit, token.text, token);
    case "aggregation":
      return p.fail(d.unknownFunction(token.text, "an aggregation is written to, and printed by printa()"), token);
    case "identifier":
      return name(unit);
    case "punctuation":
      if (token.text === "(") {
        p.advance();
        const e = expression(unit);
        p.expect(")");
        return e;
      }
      if (token.text === "`") {
        p.advance();
        return external(unit, p.from(token));
      }
      break;
    default:
      break;
  }
  return p.unexpected("an expression");
}

/** `` `symbol ``, behind the backquote. */
function external(unit: Unit, start: Span): Expression {
  const p = unit.cursor;
  let { text } = p.expectName("a symbol");
  if (p.accept("`")) ({ text } = p.expectName("a symbol"));
  const span = p.from(start);
  return nodes.call("var", [nodes.text(text, span)], span);
}

function macro(unit: Unit, text: string, span: Span): Expression {
  const plain = { start: span.start, end: span.end };
  unit.usedMacros.add(text.replace(/^\$\$?/, ""));
  if (/^\$\$?target$/.test(text) && unit.given.target === "command")
    return unit.cast("int32", nodes.builtin("cpid", plain));
  const meant = macroText(text, unit.given);
  if (meant === undefined) {
    if (text === "$target") return unit.typed(nodes.integer(0, plain), "int32");
    if (!unit.options.defaultargs || !/\d$/.test(text)) return unit.cursor.fail(d.macroUndefined(text), plain);
    return text.startsWith("$$")
      ? unit.typed(nodes.text("", plain), "string")
      : unit.typed(nodes.integer(0, plain), "int32");
  }
  const negative = /^-\d/.test(meant) && !text.startsWith("$$");
  const token = macroToken({ kind: "macro", text, ...plain }, negative ? meant.slice(1) : meant);
  if (token.kind === "string") return unit.typed(nodes.text(token.value ?? "", plain), "string");
  if (token.kind === "number" && token.problem === undefined && token.number !== undefined) {
    const value = unit.typed(nodes.integer(negative ? -token.number : token.number, plain), token.type);
    return value;
  }
  if (token.kind === "identifier") {
    const known = builtinVariable(meant, plain, unit);
    if (known !== undefined) return known;
  }
  return unit.cursor.fail(d.unknownVariable(meant, `$$${text.slice(1)} is the argument as text`), plain);
}

function name(unit: Unit): Expression {
  const p = unit.cursor;
  const token = p.advance();
  const span = { start: token.start, end: token.end };
  const { text } = token;
  if ((text === "self" || text === "this") && p.at("->")) {
    p.advance();
    const member = p.expectName("a variable's name");
    return local(unit, text, member.text, p.from(token));
  }
  if (text === "xlate" && p.at("<")) return xlate(unit, span, expression);
  if (p.at("(")) return called(unit, text, token);
  if (p.at("`")) {
    p.advance();
    return external(unit, span);
  }
  const inline = unit.inlines.get(text);
  if (inline !== undefined) return unit.typed({ ...inline.value, span }, inline.known);
  const number = unit.constants.get(text);
  if (number !== undefined) return unit.typed(nodes.integer(number, span), "int32");
  if (unit.globals.get(text) === undefined) {
    const known = builtinVariable(text, span, unit);
    if (known !== undefined) return known;
  }
  const storage = unit.globals.get(text);
  const keys = (storage?.keyed ?? true) && p.at("[") ? bracketed(unit) : [];
  while (keys.length < (storage?.dimensions ?? 0) && p.at("[")) keys.push(...bracketed(unit));
  return place(unit, {
    storage,
    target: nodes.map(`${text}#0`, keys, p.from(token)),
    written: text,
    declare: (known) => unit.globals.set(text, { known, keyed: keys.length > 0 }),
  });
}

/** `args[1]` of a probe whose arguments D defines. */
function stableArgument(object: Expression, index: Expression, span: Span, unit: Unit): Expression | undefined {
  const { provider, name: probe = "" } = unit.clause;
  const stable = object.kind === "builtin" && object.name === "args" ? stableProbe(provider, probe) : undefined;
  const number = stable === undefined ? undefined : constantValue(index, unit);
  if (stable === undefined || number === undefined) return undefined;
  const text = stable.args?.[Number(number)];
  return text === undefined
    ? unit.cursor.fail(d.noArgument(Number(number), `${provider}:::${probe}`, stable.args?.length ?? 0), span)
    : readText(unit, text, span, expression);
}

export function bracketed(unit: Unit): Expression[] {
  const p = unit.cursor;
  p.expect("[");
  const keys = [];
  do keys.push(unit.value(assignment(unit)));
  while (p.accept(","));
  p.expect("]");
  return keys;
}

function local(unit: Unit, of: "self" | "this", member: string, span: Span): Expression {
  const p = unit.cursor;
  const table = of === "self" ? unit.thread : unit.event;
  const storage = table.get(member);
  const written = `${of}->${member}`;
  const declare = (keyed: boolean) => (known: Known | undefined) => void table.set(member, { known, keyed });
  if (of === "self" && p.at("[") && (storage?.keyed ?? true)) {
    const keys = [nodes.builtin("tid", span), ...bracketed(unit)];
    const target = nodes.map(`${written}[]#0`, keys, p.from(span));
    return place(unit, { storage, target, written, declare: declare(true) });
  }
  const target: Variable =
    of === "self" ? { ...nodes.variable(`${written}#0`, span), lives: "thread" } : nodes.variable(written, span);
  return place(unit, { storage, target, written, declare: declare(false) });
}

/** A variable as it is read, and where it is, for what stands behind it. */
function place(unit: Unit, of: Place & { readonly written: string }): Expression {
  const p = unit.cursor;
  const { target, storage, written } = of;
  const assigned = p.token.kind === "punctuation" && (assignments.includes(p.token.text) || p.at("++") || p.at("--"));
  if (storage === undefined && !assigned && !unit.increments) {
    const near = nearest(written, [...unit.globals.keys(), ...variableNames()]);
    const help = near.length === 0 ? undefined : `did you mean \`${near[0]}\`?`;
    const said =
      target.kind === "map" && !written.includes("->") ? d.unknownVariable(written, help) : d.unassigned(written);
    p.fail(said, target.span);
  }
  const known = storage?.known;
  const e: Expression =
    isNumber(known) && known !== "int64" && !assigned
      ? nodes.cast({ name: known, pointers: 0, dimensions: [], span: target.span }, target)
      : { ...target };
  places.set(e, of);
  return unit.typed(e, known);
}

function called(unit: Unit, name: string, start: Span): Expression {
  const p = unit.cursor;
  const args = argumentsOf(unit);
  const span = p.from(start);
  const found = libraryFunction(name);
  if (found === undefined) {
    if (unit.statements.aggregating.has(name)) return p.fail(d.aggregatingFunction(name), span);
    if (unit.statements.actions.has(name)) return p.fail(d.noValue(name), span);
    const [near] = nearest(name, [...libraryNames(), ...unit.statements.actions]);
    return p.fail(d.unknownFunction(name, near === undefined ? undefined : `did you mean \`${near}\`?`), start);
  }
  checkCount(unit, name, args.length, found.least, found.most, span);
  return unit.typed(found.value(args, span, unit), found.known);
}

export function checkCount(unit: Unit, name: string, given: number, least: number, most: number, span: Span): void {
  if (given >= least && given <= most) return;
  const wanted = least === most ? String(least) : given < least ? `at least ${least}` : `at most ${most}`;
  unit.cursor.fail(d.argumentCount(name, given, wanted), span);
}

export function argumentsOf(unit: Unit): Expression[] {
  const p = unit.cursor;
  p.expect("(");
  const args: Expression[] = [];
  if (!p.at(")"))
    do args.push(assignment(unit));
    while (p.accept(","));
  p.expect(")");
  return args;
}
