// D's expressions, as the tree has them.
import { d } from "../../messages/d.ts";
import type { Message } from "../../messages/message.ts";
import type { Span } from "../diagnostic.ts";
import { nearest } from "../nearest.ts";
import * as nodes from "../nodes.ts";
import { precedence } from "../precedence.ts";
import type { BinaryOperator, Expression, MapAccess, TypeName, Variable } from "../program.ts";
import { unknownType } from "../types.ts";
import { libraryConstant } from "./constants.ts";
import { libraryFunction, libraryNames, libraryTexts } from "./library.ts";
import { macroText, macroToken } from "./preprocess.ts";
import { isReserved } from "./tokens.ts";
import { registerOf } from "./registers.ts";
import {
  checkCount,
  checkIndexes,
  checkKeys,
  checkKeyTypes,
  checkPrototype,
  structOf,
  typeOf,
  unfit,
} from "./prototypes.ts";
import { stableProbe } from "./stable-probes.ts";
import { readText, translate, translatedMember, xlate } from "./translators.ts";
import { beginsType, constantValue, typeName } from "./type-names.ts";
import type { Cursor } from "./cursor.ts";
import { common, isNumber, knownType, named, promoted, spelledType, textSize, type Known } from "./types.ts";
import { type Inline, type Storage, type Unit } from "./unit.ts";
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

export function constant(unit: Unit, refused?: Message): bigint {
  const { token } = unit.cursor;
  const value = constantValue(conditional(unit), unit);
  return value ?? unit.cursor.fail(refused ?? d.near(`"${token.text}"`, "a constant"), token);
}

/** Where an expression is stored, of those that can be assigned to. */
interface Place {
  readonly target: Variable | MapAccess;
  readonly storage: Storage | undefined;
  readonly declare: (known: Known | undefined) => void;
  /** As the script names it. */
  readonly written: string;
}

const places = new WeakMap<Expression, Place>();

export function assignment(unit: Unit): Expression {
  const p = unit.cursor;
  return p.nested(() => {
    const target = conditional(unit);
    const operator = p.token.kind === "punctuation" && assignments.includes(p.token.text) ? p.token.text : undefined;
    if (operator === undefined) return target;
    const place = places.get(target);
    if (place === undefined && isMemory(target)) {
      p.advance();
      const value = unit.value(assignment(unit));
      const op = operator.slice(0, -1);
      const span = p.from(target.span);
      return written(target, op === "" ? value : nodes.binary(op as BinaryOperator, target, value, span), span);
    }
    if (place === undefined)
      p.fail(isOwnVariable(target, p) ? d.cannotAssign(operator) : d.noLvalue(operator), target.span);
    p.advance();
    if (p.token.kind === "identifier" && p.peek().text === "(") {
      if (unit.statements.aggregating.has(p.token.text)) p.fail(d.aggregatingValue());
      if (unit.statements.actions.has(p.token.text)) p.fail(d.incompatible("void", operator, "void"));
    }
    const value = assignment(unit);
    const [l, r] = [place!.storage?.known, unit.known(value)];
    if (operator === "=" && unfit(l, r, value))
      p.fail(d.incompatible(spelledType(l!), "=", spelledType(r!)), p.from(target.span));
    const pointer = unit.pointerOf(value);
    if (place!.storage === undefined && pointer !== undefined) unit.pointed.set(place!.written, pointer);
    return stored(unit, place!, operator.slice(0, -1), value, p.from(target.span));
  });
}

/** A variable of D's own, rather than a value. */
function isOwnVariable({ span }: Expression, { source }: Cursor): boolean {
  const written = source.text.slice(span.start, span.end);
  return variableNames().includes(written) || ["curpsinfo", "curlwpsinfo", "curcpu"].includes(written);
}

/** What a place in memory is written by. */
function written(target: Expression, value: Expression, span: Span): Expression {
  return nodes.call("write_memory", [target, value], span);
}

function isMemory({ kind, ...e }: Expression): boolean {
  return kind === "member" || kind === "index" || (kind === "unary" && "operator" in e && e.operator === "*");
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
    if (texts && !compares)
      p.fail(["+", "-", "*", "/"].includes(op) ? d.arithmeticOperands(op) : d.integralOperands(op), span);
    if (texts && strength >= 7 && unfit(l, r, l === "string" ? right : left))
      p.fail(d.incompatible(spelledType(l!), op, spelledType(r!)), span);
    checkComputed(unit, op, left, right, span);
    if ((op === "/" || op === "%") && right.kind === "integer" && right.value === 0n) p.fail(d.divisionByZero(), span);
    left = unit.typed(
      nodes.binary(op, texts ? noText(left) : operand(unit, left), texts ? noText(right) : operand(unit, right), span),
      known,
    );
  }
}

/** Structs are not computed with, and what a void pointer points to has no size. */
function checkComputed(unit: Unit, operator: string, left: Expression, right: Expression, span: Span): void {
  const isWhole = (e: Expression): boolean => structOf(e) !== undefined;
  const isVoid = (e: Expression): boolean => {
    const pointer = unit.pointerOf(e);
    return pointer?.name === "void" && pointer.pointers === 1;
  };
  const steps = operator === "+" || operator === "-";
  const moves =
    steps && ((isVoid(left) && isNumber(unit.known(right))) || (isVoid(right) && isNumber(unit.known(left))));
  if (!moves && !isWhole(left) && !isWhole(right)) return;
  const [l, r] = [typeOf(left, unit), typeOf(right, unit)];
  if (l !== undefined && r !== undefined) unit.cursor.fail(d.incompatible(l, operator, r), span);
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
          p.fail(
            operator === "!"
              ? d.scalarOperand(operator)
              : operator === "~"
                ? d.integralOperand(operator)
                : d.arithmeticOperand(operator),
            p.from(token),
          );
        if (operator === "*" && of.kind === "cast" && of.to.name === "void" && of.to.pointers === 1)
          p.fail(d.voidPointer(), p.from(token));
        if (operator === "&" && of.kind === "call" && of.name === "var")
          return unit.cast("uint64", nodes.call("kaddr", of.args, p.from(token)));
        if (operator === "&" && bitWidthOf(of, unit) !== undefined) p.fail(d.addressOfBits(), p.from(token));
        if (operator === "&" && (places.has(of) || (of.kind === "cast" ? of.operand : of).kind === "builtin"))
          p.fail(d.addressOfVariable(), p.from(token));
        if (operator === "&" && ["binary", "conditional", "integer", "call", "assignment"].includes(of.kind))
          p.fail(d.noAddress(), p.from(token));
        if (operator === "*" && of.kind === "integer") p.fail(d.notAPointer(), p.from(token));
        // An array is an address already.
        if (operator === "&" && of.kind === "cast" && of.to.pointers > 0) return of;
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
  const from = unit.known(of);
  const isNoNumber = (to.tag === "struct" || to.tag === "union") && to.pointers === 0;
  if (from !== undefined && (isNoNumber || (from === "string" && to.pointers === 0 && to.name !== "void")))
    unit.cursor.fail(d.invalidCast(spelledType(from), spelledType(to)), span);
  if (/^(?:float|(?:long )?double)$/.test(to.name) && to.pointers === 0)
    unit.cursor.fail(d.invalidCast(typeOf(of, unit) ?? "int", to.name), span);
  if (to.name === "void" && to.pointers === 0) {
    const nothing = { ...of, span };
    unit.voids.add(nothing);
    return nothing;
  }
  const enumeration =
    to.tag === "enum" && to.pointers === 0 ? unit.enums.find(({ name }) => name === to.name) : undefined;
  const value = enumeration === undefined ? undefined : constantValue(of, unit);
  if (value !== undefined && enumeration?.constants.every((one) => one.value !== value) === true)
    return unit.cast("int32", of, span);
  return unit.pointing(unit.typed(nodes.cast(to, of, span), knownType(to)), to);
}

/** stringof: text stays as it is. */
export function textOf(unit: Unit, of: Expression, span: Span): Expression {
  const type = of.kind === "unary" && of.operator === "*" && of.operand.kind === "cast" ? of.operand.to : undefined;
  if (type?.pointers === 1 && (type.tag === "struct" || type.tag === "union"))
    unit.cursor.fail(d.stringOfStruct(spelledType({ ...type, pointers: 0 })), span);
  return unit.known(of) === "string" ? of : unit.typed(nodes.call("str", [of], span), "string");
}

function sizeOf(unit: Unit): Expression {
  const p = unit.cursor;
  const first = p.advance();
  const inParentheses = p.at("(") && beginsType(unit, 1);
  if (inParentheses) p.advance();
  if (!inParentheses) {
    const ahead = p.at("(") ? 1 : 0;
    const { text } = p.peek(ahead);
    if (unit.globals.get(text)?.keyTypes !== undefined && p.peek(ahead + 1).text !== "[")
      p.fail(d.notAScalar("associative array", text), p.peek(ahead));
    if (libraryFunction(text) !== undefined && p.peek(ahead + 1).text !== "(")
      p.fail(d.notAScalar("function", text), p.peek(ahead));
  }
  const whole = inParentheses ? undefined : arrayWhole(unit);
  const of = whole ?? (inParentheses ? typeName(unit, () => constant(unit)) : unit.value(unary(unit)));
  if ("kind" in of && bitWidthOf(of, unit) !== undefined) p.fail(d.sizeOfBits(), p.from(first));
  if ("name" in of && of.name === "void" && "pointers" in of && of.pointers === 0)
    p.fail(d.sizeOfVoid(), p.from(first));
  if (inParentheses) p.expect(")");
  // A text that is not written out has room for the longest.
  if ("kind" in of && of.kind !== "string" && unit.known(of) === "string")
    return unit.typed(
      nodes.integer(unit.options.textBytes === undefined ? textSize : unit.options.textBytes + 1, p.from(first)),
      "uint64",
    );
  return unit.typed({ kind: "sizeof", of, span: p.from(first), type: unknownType }, "uint64");
}

/** Of a bit field in a struct of the script. */
function bitWidthOf(of: Expression, { structs }: Unit): number | undefined {
  if (of.kind !== "member" || of.object.kind !== "unary" || of.object.operand.kind !== "cast") return undefined;
  const { to } = of.object.operand;
  return structs.find(({ name }) => name === to.name)?.members.find(({ name }) => name === of.name)?.bitWidth;
}

/** `(a)` of `int a[2][3]`: its type. */
function arrayWhole(unit: Unit): TypeName | undefined {
  const p = unit.cursor;
  const ahead = p.at("(") ? 1 : 0;
  const name = p.peek(ahead);
  const storage = name.kind === "identifier" ? unit.globals.get(name.text) : undefined;
  const type = storage?.dimensions === undefined ? undefined : storage.type;
  if (type === undefined || p.peek(ahead + 1).text === "[") return undefined;
  for (let i = 0; i <= 2 * ahead; i++) p.advance();
  return type;
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
  if (knownType(of) !== undefined) p.fail(d.offsetOfNoStruct(), p.from(first));
  const struct = unit.structs.find(({ name }) => name === of.name);
  const member = struct?.members.find(({ name }) => name === path[0]);
  if (struct !== undefined && member === undefined && struct.members.every(({ name }) => name !== ""))
    p.fail(d.offsetOfNoMember(path[0]), p.from(first));
  if (member?.bitWidth !== undefined) p.fail(d.offsetOfBits(path[0]), p.from(first));
  return unit.typed({ kind: "offsetof", of, path, span: p.from(first), type: unknownType }, "uint64");
}

function increment(unit: Unit, of: Expression, delta: 1 | -1, prefix: boolean, start: Span): Expression {
  const p = unit.cursor;
  const span = p.from(start);
  const place = places.get(of);
  if (place === undefined && isMemory(of)) {
    const more = (e: Expression): Expression => nodes.binary(delta === 1 ? "+" : "-", e, nodes.integer(1, span), span);
    if (prefix) return written(of, more(of), span);
    const before = nodes.variable(unit.name("before"), span);
    const statements = [nodes.declare(before.name, of), nodes.statement(written(of, more({ ...before }), span))];
    return { kind: "block-expression", statements, value: before, span, type: unknownType };
  }
  const sign = delta === 1 ? "++" : "--";
  if (place === undefined) return p.fail(isOwnVariable(of, p) ? d.cannotAssign(sign) : d.noLvalue(sign), of.span);
  if (unit.known(of) === "string") p.fail(d.scalarCounted(sign), span);
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
      const arrow = p.advance().text === "->";
      const known = unit.known(e);
      const name = p.expectName("a member's name");
      if (known !== undefined)
        p.fail(arrow ? d.noPointer() : d.noStruct(spelledType(known)), p.from({ start, end: start }));
      const type =
        e.kind === "unary" && e.operator === "*" && e.operand.kind === "cast"
          ? { ...e.operand.to, pointers: 0 }
          : undefined;
      if (arrow && isStructVariable(type)) p.fail(d.noPointer(), p.from({ start, end: start }));
      const struct = type?.tag === undefined ? undefined : unit.structs.find((one) => one.name === type.name);
      if (struct?.members.every((one) => one.name !== "" && one.name !== name.text) === true)
        p.fail(d.noMemberOf(spelledType(type!), name.text), p.from({ start, end: start }));
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
      if (isNumber(unit.known(e))) p.fail(d.notAPointer(), p.from({ start, end: start }));
      const index = expression(unit);
      const array = e.kind === "builtin" || e.kind === "identifier" ? e.name : "";
      if (unit.known(index) === "string" && ["args", "uregs", "regs", "fds"].includes(array))
        p.fail(d.indexType(array, "string"), p.from({ start, end: start }));
      checkComputed(unit, "+", e, index, p.from({ start, end: start }));
      if (unit.known(index) === "string" && unit.known(e) === undefined)
        p.fail(d.incompatible("char *", "+", "string"), p.from({ start, end: start }));
      p.expect("]");
      const element = p.from({ start, end: start });
      e = registerOf(e, index, element, unit) ??
        stableArgument(e, index, element, unit) ??
        descriptor(e, index, element, unit) ?? {
          kind: "index",
          object: e,
          index: unit.value(index),
          span: p.from({ start, end: start }),
          type: unknownType,
        };
    } else if (p.at("++") || p.at("--")) {
      const { text } = p.advance();
      e = increment(unit, e, text === "++" ? 1 : -1, false, e.span);
    } else if (p.at("(")) return p.fail(d.noFunction(), e.span);
    else return e;
  }
}

function isStructVariable(type: TypeName | undefined): boolean {
  return type?.tag === "struct" || type?.tag === "union";
}

function primary(unit: Unit): Expression {
  const p = unit.cursor;
  const { token } = p;
  const span = { start: token.start, end: token.end };
  switch (token.kind) {
    case "number":
    case "character":
      if (token.problem !== undefined) p.fail(d.unreadable(token.problem, token.tag), token);
      p.advance();
      return unit.typed(nodes.integer(token.number ?? 0n, span), token.type);
    case "string": {
      p.advance();
      let value = token.value ?? "";
      while (p.token.kind === "string") value += p.advance().value ?? "";
      if (!unit.format && unit.options.textBytes !== undefined) value = cutText(value, unit.options.textBytes);
      return unit.typed(nodes.text(value, p.from(token)), "string");
    }
    case "macro":
      p.advance();
      return macro(unit, token.text, token);
    case "aggregation": {
      const operator = unit.aggregations.has(token.text) ? p.peek().text : "";
      if (!Object.hasOwn(precedence, operator)) return p.fail(d.unknownAggregation(token.text), token);
      p.advance();
      p.advance();
      const other = typeOf(unary(unit), unit) ?? "int";
      return p.fail(d.incompatible("aggregation", operator, other), p.from(token));
    }
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
  if (unit.inPredicate && p.at("/")) return p.fail(d.noActionsBehindPredicate());
  return p.unexpected("an expression");
}

/** Its first bytes, as far as they are whole characters. */
function cutText(text: string, most: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= most
    ? text
    : bytes
        .subarray(0, most)
        .toString()
        .replace(/\ufffd$/, "");
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
  if (meant !== undefined && /^[0-9]+$/.test(meant) && !text.startsWith("$$") && BigInt(meant) >= 1n << 64n)
    return unit.cursor.fail(d.macroOverflow(text, meant), plain);
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
    const known = builtinVariable(meant, plain, unit, expression);
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
  if (text === "args" && !p.at("[") && !p.at("->") && !p.at(".")) p.fail(d.notAScalar("associative array", text), span);
  if (isReserved(text)) p.fail(d.near(`"${text}"`, "an expression"), span);
  const inline = unit.inlines.get(text);
  if (inline !== undefined && inline.parameters !== undefined) return applied(unit, inline, inline.parameters, token);
  if (inline !== undefined) return unit.typed({ ...inline.value, span }, inline.known);
  const number = unit.constants.get(text);
  if (number !== undefined) return unit.typed(nodes.integer(number, span), "int32");
  if (unit.globals.get(text) === undefined) {
    const number = libraryConstant(text);
    if (number !== undefined) return unit.typed(nodes.integer(number, span), "int32");
    const known = builtinVariable(text, span, unit, expression);
    if (known !== undefined) return known;
  }
  if (unit.addressed.has(text) && unit.globals.get(text) === undefined && p.at("=")) {
    const known = p.peek().kind === "number" ? "int32" : "int64";
    unit.globals.set(text, { known, keyed: false, ...unit.memory(named(known, span)) });
  }
  const storage = unit.globals.get(text);
  const keys = (storage?.keyed ?? true) && p.at("[") ? bracketed(unit) : [];
  if (storage?.keyTypes !== undefined) checkKeys(unit, text, keys, storage.keyTypes, span);
  else if (storage?.keyKnown !== undefined) checkKeyTypes(unit, text, keys, storage.keyKnown, p.from(token));
  else if (storage === undefined && libraryFunction(text) !== undefined && keys.length === 0)
    p.fail(d.notAScalar("function", text), span);
  while (keys.length < (storage?.dimensions ?? 0) && p.at("[")) keys.push(...bracketed(unit));
  if (storage?.dimensions !== undefined) checkIndexes(unit, keys, storage.type?.dimensions ?? []);
  return place(unit, {
    storage,
    target: nodes.map(`${text}#0`, keys, p.from(token)),
    written: text,
    declare: (known) =>
      unit.globals.set(text, {
        known,
        keyed: keys.length > 0,
        ...(keys.length === 0 ? {} : { keyKnown: keys.map((key) => unit.known(key)) }),
      }),
  });
}

/** `f[x]` of `inline int f[int n] = n * 2;`: its words, with what stands in the brackets for its parameters. */
function applied(unit: Unit, inline: Inline, parameters: NonNullable<Inline["parameters"]>, token: Span): Expression {
  const p = unit.cursor;
  const name = p.source.text.slice(token.start, token.end);
  const given = p.at("[") ? bracketed(unit) : [];
  const span = p.from(token);
  if (given.length !== parameters.length) p.fail(d.keyCount(name, given.length, parameters.length), span);
  const before = parameters.map((parameter) => unit.inlines.get(parameter.name));
  for (const [i, { name: parameter, known }] of parameters.entries())
    unit.inlines.set(parameter, { value: isNumber(known) ? unit.cast(known, given[i]) : given[i], known });
  const value = unit.reading(p.elsewhere(inline.words ?? [], span), () => expression(unit));
  for (const [i, { name: parameter }] of parameters.entries()) {
    const own = before[i];
    if (own === undefined) unit.inlines.delete(parameter);
    else unit.inlines.set(parameter, own);
  }
  return isNumber(inline.known) && unit.known(value) !== inline.known ? unit.cast(inline.known, value, span) : value;
}

/** `fds[n]`: an open file of the process; none where there is no such descriptor. */
function descriptor(object: Expression, index: Expression, span: Span, unit: Unit): Expression | undefined {
  if (object.kind !== "identifier" || object.name !== "fds") return undefined;
  const text = `(struct file *)__kernel(
    (uint64_t)N >= curthread->files->fdt->max_fds ? 0 : (uint64_t)curthread->files->fdt->fd[N])`;
  return translate(unit, "fileinfo_t", readText(unit, text, span, expression, [["N", index]]), span);
}

/** `args[1]` of a probe whose arguments D defines. */
function stableArgument(object: Expression, index: Expression, span: Span, unit: Unit): Expression | undefined {
  const { provider, name: probe = "", names = [] } = unit.clause;
  const stable = object.kind === "builtin" && object.name === "args" ? stableProbe(provider, probe) : undefined;
  if (object.kind === "builtin" && object.name === "args" && provider === "dtrace")
    unit.cursor.fail(d.noArgumentsHere(Number(constantValue(index, unit) ?? 0n), `:::${probe}`), span);
  const number = stable === undefined ? undefined : constantValue(index, unit);
  if (stable === undefined || number === undefined) return undefined;
  const text = stable.args?.[Number(number)];
  const other = names.find((name) => stableProbe(provider, name)?.args?.[Number(number)] !== text);
  if (other !== undefined && text !== undefined)
    unit.cursor.fail(d.argumentsDiffer(Number(number), `:::${probe}`, `:::${other}`), span);
  if (text === "") unit.cursor.fail(d.argumentAbsent(Number(number), `${provider}:::${probe}`), span);
  return text === undefined
    ? unit.cursor.fail(d.noArgument(Number(number), `${provider}:::${probe}`, stable.args?.length ?? 0), span)
    : readText(unit, text, span, expression);
}

export function bracketed(unit: Unit): Expression[] {
  const p = unit.cursor;
  p.expect("[");
  const keys = [];
  do {
    const key = assignment(unit);
    if (unit.voids.has(key)) p.fail(d.voidKey(keys.length + 1), key.span);
    keys.push(unit.value(key));
  } while (p.accept(","));
  p.expect("]");
  return keys;
}

function local(unit: Unit, of: "self" | "this", member: string, span: Span): Expression {
  const p = unit.cursor;
  const table = of === "self" ? unit.thread : unit.event;
  const storage = table.get(member);
  const written = `${of}->${member}`;
  const declare = (keyed: boolean) => (known: Known | undefined) => void table.set(member, { known, keyed });
  if (of === "this" && p.at("[") && storage === undefined) p.fail(d.localArray(member), span);
  if (of === "self" && p.at("[") && (storage?.keyed ?? true)) {
    const given = bracketed(unit);
    if (storage?.keyTypes !== undefined) checkKeys(unit, member, given, storage.keyTypes, span);
    const keys = [nodes.builtin("tid", span), ...given];
    const target = nodes.map(`${written}[]#0`, keys, p.from(span));
    return place(unit, { storage, target, written, declare: declare(true) });
  }
  const target: Variable =
    of === "self" ? { ...nodes.variable(`${written}#0`, span), lives: "thread" } : nodes.variable(written, span);
  return place(unit, { storage, target, written, declare: declare(false) });
}

/** A variable at an address: an array is where its first element is. */
function inMemory(
  unit: Unit,
  target: Variable | MapAccess,
  { number, type }: NonNullable<Storage["memory"]>,
): Expression {
  const { span } = target;
  const size: Expression = { kind: "sizeof", of: type, span, type: unknownType };
  const keys = target.kind === "map" ? target.keys : target.lives === "thread" ? [nodes.builtin("tid", span)] : [];
  const address = nodes.hostText("variableMemory", [nodes.integer(number, span), size, ...keys], span);
  const pointer = nodes.cast({ ...type, pointers: 1, dimensions: [] }, address, span);
  if (type.dimensions.length > 0) return pointer;
  const e: Expression = { kind: "unary", operator: "*", operand: pointer, span, type: unknownType };
  return unit.typed(e, knownType(type));
}

/** A variable as it is read, and where it is, for what stands behind it. */
function place(unit: Unit, of: Place): Expression {
  const p = unit.cursor;
  const { target, storage, written } = of;
  if (storage?.memory !== undefined) return inMemory(unit, target, storage.memory);
  const assigned = p.token.kind === "punctuation" && (assignments.includes(p.token.text) || p.at("++") || p.at("--"));
  if (assigned || unit.increments) unit.assigned.add(written);
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
  return unit.pointing(unit.typed(e, known), storage?.type ?? unit.pointed.get(written));
}

function called(unit: Unit, name: string, start: Span): Expression {
  const p = unit.cursor;
  const args = argumentsOf(unit);
  const span = p.from(start);
  const found = libraryFunction(name);
  if (Object.hasOwn(libraryTexts, name)) {
    const { parameters, prototype = [], text, known } = libraryTexts[name];
    checkCount(unit, name, args.length, parameters.length, parameters.length, span);
    checkPrototype(unit, name, args, prototype);
    const meant = parameters.map((parameter, i) => [parameter, args[i]] as const);
    return unit.typed(readText(unit, text, span, expression, meant), known);
  }
  if (found === undefined) {
    if (unit.statements.aggregating.has(name)) return p.fail(d.aggregatingFunction(name), span);
    if (unit.inPredicate && unit.statements.actions.has(name)) return p.fail(d.predicateType(), span);
    if (unit.statements.actions.has(name)) return p.fail(d.noValue(name), span);
    const [near] = nearest(name, [...libraryNames(), ...unit.statements.actions]);
    return p.fail(d.unknownFunction(name, near === undefined ? undefined : `did you mean \`${near}\`?`), start);
  }
  checkCount(unit, name, args.length, found.least, found.most, span);
  checkPrototype(unit, name, args, found.prototype ?? []);
  const value = found.value(args, span, unit);
  const { textBytes } = unit.options;
  const cut =
    textBytes !== undefined && makesLonger.has(name)
      ? nodes.hostText("bytesOfText", [value, nodes.integer(0, span), nodes.integer(textBytes, span)], span)
      : value;
  return unit.typed(cut, found.known);
}

/** Subroutines whose texts may be longer than those that they are given. */
const makesLonger: ReadonlySet<string> = new Set([
  "strjoin",
  "lltostr",
  "inet_ntoa",
  "inet_ntoa6",
  "inet_ntop",
  "link_ntop",
]);

/** `formatted`: the first one is a format. */
export function argumentsOf(unit: Unit, formatted = false): Expression[] {
  const p = unit.cursor;
  p.expect("(");
  const args: Expression[] = [];
  unit.format = formatted;
  if (!p.at(")"))
    do {
      args.push(assignment(unit));
      unit.format = false;
    } while (p.accept(","));
  unit.format = false;
  p.expect(")");
  return args;
}
