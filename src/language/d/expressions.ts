// D's expressions, as the tree has them: how they are read.
import { dAggregations } from "../../messages/d-aggregations.ts";
import { dCalls } from "../../messages/d-calls.ts";
import { dExpressions } from "../../messages/d-expressions.ts";
import { dNames } from "../../messages/d-names.ts";
import { dSyntax } from "../../messages/d-syntax.ts";
import type { Message } from "../../messages/message.ts";
import * as nodes from "../nodes.ts";
import { precedence } from "../precedence.ts";
import type { BinaryOperator, Expression, TypeName } from "../program.ts";
import { unknownType } from "../types.ts";
import { libraryFunction } from "./library.ts";
import { cutText, descriptor, external, kindOfFunction, macro, name, stableArgument, type Readers } from "./names.ts";
import {
  binaryOf,
  bitWidthOf,
  castTo,
  checkComputed,
  floatOf,
  isStructVariable,
  textOf,
  unaryOf,
} from "./operators.ts";
import { present } from "./nulls.ts";
import { assignments, increment, isMemory, isOwnVariable, placeOf, stored, written } from "./places.ts";
import { structOf, typeOf, unfit } from "./prototypes.ts";
import { registerOf } from "./registers.ts";
import { isTranslated, translatedMember } from "./translators.ts";
import { beginsType, constantValue, isIncomplete, typeName } from "./type-names.ts";
import { common, isNumber, knownType, spelledType, textSize } from "./types.ts";
import type { Unit } from "./unit.ts";
import { memberOf } from "./variables.ts";

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

export function constant(unit: Unit, refused?: Message): bigint {
  const { token } = unit.cursor;
  const value = constantValue(conditional(unit), unit);
  return value ?? unit.cursor.fail(refused ?? dSyntax.near(`"${token.text}"`, "a constant"), token);
}

export function assignment(unit: Unit): Expression {
  const p = unit.cursor;
  const takesAggregations = unit.takesAggregations;
  unit.takesAggregations = false;
  return p.nested(() => {
    const target = conditional(unit);
    if (unit.aggregates.has(target) && !takesAggregations)
      p.fail(dAggregations.unknownAggregation(p.source.text.slice(target.span.start, target.span.end)), target.span);
    const operator = p.token.kind === "punctuation" && assignments.includes(p.token.text) ? p.token.text : undefined;
    if (operator === undefined) return target;
    const place = placeOf(target);
    if (place === undefined && isMemory(target)) {
      p.advance();
      const value = unit.value(assignment(unit));
      const op = operator.slice(0, -1);
      const span = p.from(target.span);
      return written(target, op === "" ? value : nodes.binary(op as BinaryOperator, target, value, span), span);
    }
    if (place === undefined)
      p.fail(
        isOwnVariable(target, p) ? dExpressions.cannotAssign(operator) : dExpressions.noLvalue(operator),
        target.span,
      );
    if (operator !== "=" && place!.storage === undefined) p.fail(dNames.unassigned(place!.written), target.span);
    p.advance();
    if (p.token.kind === "identifier" && p.peek().text === "(" && unit.statements.aggregating.has(p.token.text))
      p.fail(dAggregations.aggregatingValue());
    if (readsAction(unit)) {
      const { text } = p.token;
      const computes = Object.hasOwn(precedence, text);
      p.fail(dExpressions.incompatible("void", computes ? text : operator, computes ? "int" : "void"));
    }
    unit.takesAggregations = true;
    const value = assignment(unit);
    if (unit.aggregates.has(value))
      p.fail(dExpressions.incompatible("scalar", operator, "aggregation"), p.from(target.span));
    if (isTranslated(value))
      p.fail(dExpressions.incompatible("scalar", operator, "pointer to translated data"), p.from(target.span));
    const [l, r] = [place!.storage?.known, unit.known(value)];
    if (operator === "=" && unfit(l, r, value))
      p.fail(dExpressions.incompatible(spelledType(l!), "=", spelledType(r!)), p.from(target.span));
    const float = floatOf(place!.storage?.type) ?? floatOf(placeOf(value)?.storage?.type);
    if (float !== undefined)
      p.fail(dExpressions.incompatible(float, "=", r === undefined ? float : spelledType(r)), p.from(target.span));
    const pointer = unit.pointerOf(value);
    if (place!.storage === undefined && pointer !== undefined) unit.pointed.set(place!.written, pointer);
    return stored(unit, place!, operator.slice(0, -1), value, p.from(target.span));
  });
}

/** Reads the call of an action where a value is wanted; whether there was one. */
function readsAction(unit: Unit): boolean {
  const p = unit.cursor;
  const name = p.token;
  if (name.kind !== "identifier" || p.peek().text !== "(" || !unit.statements.actions.has(name.text)) return false;
  p.advance();
  const args = argumentsOf(unit);
  unit.statements.check(unit, name.text, args, p.from(name));
  return true;
}

export function conditional(unit: Unit): Expression {
  const p = unit.cursor;
  const condition = binary(unit, 1);
  if (!p.accept("?")) return condition;
  if (structOf(condition) !== undefined) p.fail(dExpressions.scalarCondition(), condition.span);
  return p.nested(() => {
    const then = expression(unit);
    p.expect(":");
    const otherwise = conditional(unit);
    const [l, r] = [unit.known(then), unit.known(otherwise)];
    if ((l === "string" && isNumber(r)) || (isNumber(l) && r === "string"))
      p.fail(dExpressions.incompatibleBranches(), p.from(condition.span));
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
    if (libraryFunction(p.token.text) === undefined && readsAction(unit))
      p.fail(dExpressions.incompatible(typeOf(left, unit) ?? "int", operator, "void"));
    const right = p.nested(() => binary(unit, Math.floor(strength) + 1));
    const span = p.from(left.span);
    if (operator === "^^") {
      const [l, r] = [left, right].map((one) => nodes.not(nodes.not(one)));
      left = unit.typed(nodes.binary("!=", l, r, span), "int32");
      continue;
    }
    left = binaryOf(unit, operator as BinaryOperator, left, right, span);
  }
}

/** A slash that no operand can stand behind. */
function endsPredicate({ inPredicate, cursor: p }: Unit): boolean {
  if (!inPredicate) return false;
  const next = p.peek();
  return next.kind === "end" || (next.kind === "punctuation" && (next.text === "{" || next.text === ";"));
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
        return unaryOf(unit, token.text, of, p.from(token));
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
        if (beginsType(unit, 1) || castsToName(unit)) {
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
        unit.takesAggregations = true;
        const of = p.nested(() => unary(unit));
        return textOf(unit, of, p.from(token));
      }
      default:
        break;
    }
  return postfix(unit);
}

/** `(name) operand`: nothing else can stand there. The name is that of a type of the kernel's, or a mistake. */
function castsToName({ cursor: p, given }: Unit): boolean {
  const [name, end, operand] = [p.peek(1), p.peek(2), p.peek(3)];
  if (name.kind !== "identifier" || end.text !== ")" || end.kind !== "punctuation") return false;
  if (operand.kind === "end" || operand.kind === "punctuation") return false;
  if (given.machine?.hasType?.(name.text) === true) return true;
  for (let i = 0; i < 3; i++) p.advance();
  return p.unexpected("an operator");
}

function sizeOf(unit: Unit): Expression {
  const p = unit.cursor;
  const first = p.advance();
  const inParentheses = p.at("(") && beginsType(unit, 1);
  if (inParentheses) p.advance();
  if (!inParentheses) {
    const ahead = p.at("(") ? 1 : 0;
    const { kind, text } = p.peek(ahead);
    if (kind === "aggregation" && unit.aggregations.has(text)) p.fail(dExpressions.sizeOfVoid(), p.peek(ahead));
    if (unit.globals.get(text)?.keyTypes !== undefined && p.peek(ahead + 1).text !== "[")
      p.fail(dNames.notAScalar("associative array", text), p.peek(ahead));
    if (p.peek(ahead + 1).text !== "(" && kindOfFunction(unit, text) === "function")
      p.fail(dNames.notAScalar("function", text), p.peek(ahead));
  }
  const whole = inParentheses ? undefined : arrayWhole(unit);
  const of = whole ?? (inParentheses ? typeName(unit, () => constant(unit)) : unit.value(unary(unit)));
  if ("kind" in of && bitWidthOf(of, unit) !== undefined) p.fail(dExpressions.sizeOfBits(), p.from(first));
  if ("name" in of && of.name === "void" && "pointers" in of && of.pointers === 0)
    p.fail(dExpressions.sizeOfVoid(), p.from(first));
  if (inParentheses) p.expect(")");
  if (!("kind" in of) && of.name === "long double" && of.pointers === 0)
    return unit.typed(
      nodes.integer(
        of.dimensions.reduce((all, one) => all * BigInt(one), 16n),
        p.from(first),
      ),
      "uint64",
    );
  const isText = "name" in of && "pointers" in of && of.name === "string" && of.pointers === 0;
  if (isText && of.dimensions.length === 1 && of.dimensions[0] === textSize)
    return unit.typed(nodes.integer((unit.options.textBytes ?? textSize - 1) + 1, p.from(first)), "uint64");
  // A text that is not written out has room for the longest.
  if ("kind" in of && of.kind !== "string" && unit.known(of) === "string")
    return unit.typed(
      nodes.integer(unit.options.textBytes === undefined ? textSize : unit.options.textBytes + 1, p.from(first)),
      "uint64",
    );
  return unit.typed({ kind: "sizeof", of, span: p.from(first), type: unknownType }, "uint64");
}

/** `(a)` and `(a[1])` of `int a[2][3]`: the type of the array and that of a row. */
function arrayWhole(unit: Unit): TypeName | undefined {
  const p = unit.cursor;
  const ahead = p.at("(") ? 1 : 0;
  const name = p.peek(ahead);
  const storage = name.kind === "identifier" ? unit.globals.get(name.text) : undefined;
  const isArray = storage?.dimensions !== undefined || (storage?.memory?.type.dimensions.length ?? 0) > 0;
  const type = isArray ? storage?.type : undefined;
  if (type === undefined) return undefined;
  const start = p.index;
  for (let i = 0; i <= ahead; i++) p.advance();
  const dimensions = [...type.dimensions];
  for (; p.at("[") && dimensions.length > 0; dimensions.shift()) {
    p.advance();
    expression(unit);
    p.expect("]");
  }
  if (dimensions.length > 0 && (ahead === 0 || p.accept(")")) && !p.at(".")) return { ...type, dimensions };
  p.seek(start);
  return undefined;
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
  if (knownType(of) !== undefined || isIncomplete(unit, of)) p.fail(dExpressions.offsetOfNoStruct(), p.from(first));
  const struct = unit.structs.find(({ name }) => name === of.name);
  const member = struct?.members.find(({ name }) => name === path[0]);
  if (struct !== undefined && member === undefined && struct.members.every(({ name }) => name !== ""))
    p.fail(dExpressions.offsetOfNoMember(path[0]), p.from(first));
  if (member?.bitWidth !== undefined) p.fail(dExpressions.offsetOfBits(path[0]), p.from(first));
  return unit.typed({ kind: "offsetof", of, path, span: p.from(first), type: unknownType }, "uint64");
}

function postfix(unit: Unit): Expression {
  const p = unit.cursor;
  let e = primary(unit);
  for (;;) {
    const { start } = e.span;
    if (p.at("->") || p.at(".")) {
      const arrow = p.advance().text === "->";
      const known = unit.known(e);
      const name = p.expectName("a member's name");
      const { alias, name: base } = unit.pointerOf(e) ?? {};
      if (base === "void" && /^(?:struct|union) /.test(alias ?? ""))
        p.fail(dExpressions.forwardDeclaration(arrow ? "->" : ".", alias!), p.from({ start, end: start }));
      if (known !== undefined)
        p.fail(
          arrow ? dExpressions.noPointer() : dExpressions.noStruct(spelledType(known)),
          p.from({ start, end: start }),
        );
      const type =
        e.kind === "unary" && e.operator === "*" && e.operand.kind === "cast"
          ? { ...e.operand.to, pointers: 0 }
          : undefined;
      if (arrow && isStructVariable(type)) p.fail(dExpressions.noPointer(), p.from({ start, end: start }));
      const pointer = arrow || isTranslated(e) ? undefined : unit.pointerOf(e);
      if (pointer !== undefined) p.fail(dExpressions.noStruct(spelledType(pointer)), p.from({ start, end: start }));
      const struct = type?.tag === undefined ? undefined : unit.structs.find((one) => one.name === type.name);
      if (struct?.members.every((one) => one.name !== "" && one.name !== name.text) === true)
        p.fail(dExpressions.noMemberOf(spelledType(type!), name.text), p.from({ start, end: start }));
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
      if (isNumber(unit.known(e))) p.fail(dExpressions.notAPointer(), p.from({ start, end: start }));
      const index = expression(unit);
      const array = e.kind === "builtin" || e.kind === "identifier" ? e.name : "";
      if (unit.known(index) === "string" && ["args", "uregs", "regs", "fds"].includes(array))
        p.fail(dNames.indexType(array, "string"), p.from({ start, end: start }));
      checkComputed(unit, "+", e, index, p.from({ start, end: start }));
      if (unit.known(index) === "string" && unit.known(e) === undefined)
        p.fail(dExpressions.incompatible("char *", "+", "string"), p.from({ start, end: start }));
      p.expect("]");
      const element = p.from({ start, end: start });
      e = registerOf(e, index, element, unit) ??
        stableArgument(e, index, element, unit, expression) ??
        descriptor(e, index, element, unit, expression) ?? {
          kind: "index",
          object: e,
          index: unit.value(index),
          span: p.from({ start, end: start }),
          type: unknownType,
        };
    } else if (p.at("++") || p.at("--")) {
      const { text } = p.advance();
      e = increment(unit, e, text === "++" ? 1 : -1, false, e.span);
    } else if (p.at("(")) {
      const symbol = e.kind === "call" && e.name === "var" ? p.source.text.slice(e.span.start, e.span.end) : undefined;
      return p.fail(symbol === undefined ? dCalls.noFunction() : dCalls.unknownFunction(symbol), e.span);
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
      if (token.problem !== undefined) p.fail(dSyntax.unreadable(token.problem, token.tag), token);
      p.advance();
      return unit.typed(nodes.integer(token.number ?? 0n, span), token.type);
    case "string": {
      p.advance();
      let value = token.value ?? "";
      if (p.token.kind === "string") p.unexpected("an operator");
      if (!unit.format && unit.options.textBytes !== undefined) value = cutText(value, unit.options.textBytes);
      return unit.typed(nodes.text(value, p.from(token)), "string");
    }
    case "macro":
      p.advance();
      return macro(unit, token.text, token, readers);
    case "aggregation": {
      const known = unit.aggregations.has(token.text);
      const operator = known ? p.peek().text : "";
      if (known && (!Object.hasOwn(precedence, operator) || (operator === "/" && unit.inPredicate))) {
        p.advance();
        const map = nodes.map(token.text.slice(1), p.at("[") ? bracketed(unit, "aggregation") : [], p.from(token));
        unit.aggregates.add(map);
        return map;
      }
      if (!Object.hasOwn(precedence, operator)) return p.fail(dAggregations.unknownAggregation(token.text), token);
      p.advance();
      p.advance();
      const other = typeOf(unary(unit), unit) ?? "int";
      return p.fail(dExpressions.incompatible("aggregation", operator, other), p.from(token));
    }
    case "identifier":
      return name(unit, readers);
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
  if (unit.inPredicate && p.at("/")) return p.fail(dSyntax.noActionsBehindPredicate());
  return p.unexpected("an expression");
}

export function bracketed(unit: Unit, of: "associative array" | "aggregation" = "associative array"): Expression[] {
  const p = unit.cursor;
  p.expect("[");
  const keys = [];
  do {
    unit.takesAggregations = true;
    const key = assignment(unit);
    if (unit.aggregates.has(key)) p.fail(dNames.aggregationKey(of, keys.length + 1), key.span);
    if (unit.voids.has(key)) p.fail(dNames.voidKey(keys.length + 1), key.span);
    keys.push(unit.value(present(unit, key)));
  } while (p.accept(","));
  p.expect("]");
  return keys;
}

/** `@a[1]` where an aggregation is meant as a whole: keys are read, and mean nothing. */
export function skipKeys(unit: Unit): void {
  if (unit.cursor.at("[")) bracketed(unit, "aggregation");
}

/** `formatted`: the first one is a format. */
export function argumentsOf(unit: Unit, formatted = false): Expression[] {
  const p = unit.cursor;
  p.expect("(");
  const args: Expression[] = [];
  unit.format = formatted;
  if (!p.at(")"))
    do {
      unit.takesAggregations = true;
      args.push(present(unit, assignment(unit)));
      unit.format = false;
    } while (p.accept(","));
  unit.format = false;
  p.expect(")");
  return args;
}

/** For names (names.ts). */
const readers: Readers = { expression, keys: bracketed, args: argumentsOf };
