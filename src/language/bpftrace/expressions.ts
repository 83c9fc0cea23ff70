// Expressions: a Pratt parser with C's precedence.
import { preprocessor } from "../../messages/preprocessor.ts";
import { syntax } from "../../messages/syntax.ts";
import type { Span } from "../diagnostic.ts";
import type {
  BinaryOperator,
  Expression,
  MapAccess,
  RecordLiteral,
  StringLiteral,
  TypeName,
  UnaryOperator,
  Variable,
} from "../program.ts";
import { unknownType } from "../types.ts";
import { precedence } from "../precedence.ts";
import { blockValue, type Cursor } from "./cursor.ts";
import { floatValue, integerValue, stringValue } from "./literals.ts";
import { callArguments, callMacro, expandParameter, localName, mapName } from "./macros.ts";
import { getopt, positionalText, positionalValue } from "./parameters.ts";
import { isTypeWord, parseType, tryCast, tryType } from "./type-names.ts";

const levels: Readonly<Record<string, number | undefined>> = precedence;

export function parseExpression(p: Cursor): Expression {
  return p.nested(() => {
    const condition = parseBinary(p, 2);
    if (!p.accept("?")) return condition;
    if (p.accept(":")) return valueOr(p, condition, parseExpression(p));
    const then = parseExpression(p);
    p.expect(":", "in `condition ? value : value`");
    const otherwise = parseExpression(p);
    return { kind: "conditional", condition, then, otherwise, type: unknownType, span: around(condition, otherwise) };
  });
}

/** `a ?: b` is a, unless that is 0; a is evaluated once. */
function valueOr(p: Cursor, value: Expression, otherwise: Expression): Expression {
  const { span } = value;
  const whole = { type: unknownType, span: around(value, otherwise) };
  if (["variable", "builtin", "integer", "float", "boolean", "identifier"].includes(value.kind)) {
    return { kind: "conditional", condition: value, then: value, otherwise, ...whole };
  }
  const variable = (): Variable => ({ kind: "variable", name: `value#${number}`, type: unknownType, span });
  const number = ++p.expansions;
  const conditional: Expression = { kind: "conditional", condition: variable(), then: variable(), otherwise, ...whole };
  return {
    kind: "block-expression",
    statements: [{ kind: "declare", variable: variable(), value, span }],
    value: conditional,
    ...whole,
  };
}

function parseBinary(p: Cursor, least: number): Expression {
  let left = parseUnary(p);
  for (;;) {
    const { token } = p;
    const level = token.kind === "punctuation" ? levels[token.text] : undefined;
    if (level === undefined || level < least) return left;
    if (token.text === "/" && p.predicate && p.peek().text === "{") return left;
    p.link();
    p.advance();
    const right = parseBinary(p, level + 1);
    left = {
      kind: "binary",
      operator: token.text as BinaryOperator,
      left,
      right,
      type: unknownType,
      span: around(left, right),
    };
  }
}

export function parseUnary(p: Cursor): Expression {
  const { token } = p;
  if (token.kind !== "punctuation") return parsePostfix(p);
  switch (token.text) {
    case "++":
    case "--":
      return p.nested(() => {
        p.advance();
        const target = parseUnary(p);
        if (target.kind !== "variable" && target.kind !== "map")
          return p.fail(syntax.incrementTarget(token.text), target.span);
        const span = { start: token.start, end: target.span.end };
        return {
          kind: "increment",
          target,
          delta: token.text === "++" ? 1 : -1,
          prefix: true,
          type: unknownType,
          span,
        };
      });
    case "-":
    case "+":
    case "!":
    case "~":
    case "*":
    case "&":
      return p.nested(() => {
        p.advance();
        const operand = parseUnary(p);
        const span = { start: token.start, end: operand.span.end };
        return { kind: "unary", operator: token.text as UnaryOperator, operand, type: unknownType, span };
      });
    case "(": {
      const to = tryCast(p);
      if (to === undefined) return parsePostfix(p);
      return p.nested(() => {
        const operand = parseUnary(p);
        return { kind: "cast", to, operand, type: unknownType, span: { start: token.start, end: operand.span.end } };
      });
    }
    default:
      return parsePostfix(p);
  }
}

function parsePostfix(p: Cursor): Expression {
  let object = parsePrimary(p);
  for (;;) {
    const { token } = p;
    if (token.kind !== "punctuation") return object;
    switch (token.text) {
      case ".":
      case "->": {
        p.link();
        p.advance();
        const field = p.token;
        const span = { start: object.span.start, end: field.end };
        if (field.kind === "integer" && /^\d{1,9}$/.test(field.text)) {
          p.advance();
          object = { kind: "tuple-index", object, index: Number(field.text), type: unknownType, span };
        } else {
          const { text: name, start, end } = p.expectName(`a field's name after \`${token.text}\``);
          object = { kind: "member", object, name, nameSpan: { start, end }, type: unknownType, span };
        }
        break;
      }
      case "[": {
        p.link();
        p.advance();
        const index = inParentheses(p, () => parseExpression(p));
        const close = p.expect("]", "after the index");
        object = {
          kind: "index",
          object,
          index,
          type: unknownType,
          span: { start: object.span.start, end: close.end },
        };
        break;
      }
      case "++":
      case "--": {
        if (object.kind !== "variable" && object.kind !== "map")
          return p.fail(syntax.incrementTarget(token.text), object.span);
        p.advance();
        const span = { start: object.span.start, end: token.end };
        return {
          kind: "increment",
          target: object,
          delta: token.text === "++" ? 1 : -1,
          prefix: false,
          type: unknownType,
          span,
        };
      }
      default:
        return object;
    }
  }
}

function parsePrimary(p: Cursor): Expression {
  const { token } = p;
  const span = spanOf(token);
  switch (token.kind) {
    case "integer": {
      const value = integerValue(token.text);
      if (typeof value === "object") p.report("error", span, value.problem);
      p.advance();
      return { kind: "integer", value: typeof value === "bigint" ? value : 0n, type: unknownType, span };
    }
    case "float": {
      const value = floatValue(token.text);
      if (typeof value === "object") p.report("error", span, value.problem);
      p.advance();
      return { kind: "float", value: typeof value === "number" ? value : 0, type: unknownType, span };
    }
    case "string":
      return parseString(p);
    case "variable":
      return parseVariable(p);
    case "map":
      return parseMap(p);
    case "positional":
      p.advance();
      return positionalValue(p, token.text, span);
    case "identifier":
      return parseName(p);
    case "punctuation":
      if (token.text === "(") return p.nested(() => inParentheses(p, () => parseParenthesis(p)));
      if (token.text === "{") {
        return p.nested(() =>
          inParentheses(p, () => {
            const body = p.grammar.body(p, "of a block expression");
            return blockValue(body) ?? p.fail(syntax.blockWithoutValue(), body.span);
          }),
        );
      }
      break;
    case "end":
    case "bad":
      break;
  }
  return p.fail(syntax.expected("an expression", p.describe()));
}

export function parseString(p: Cursor): StringLiteral {
  const token = p.advance();
  const { value, problems } = stringValue(token.text);
  for (const { at, problem } of problems) {
    p.report("error", { start: token.start + 1 + at, end: token.start + 3 + at }, problem);
  }
  return { kind: "string", value, type: unknownType, span: spanOf(token) };
}

export function parseVariable(p: Cursor): Variable {
  if (p.token.kind !== "variable") return p.fail(syntax.expected("a variable", p.describe()));
  const token = p.advance();
  return { kind: "variable", name: localName(p, token.text), type: unknownType, span: spanOf(token) };
}

export function parseMap(p: Cursor): MapAccess {
  const token = p.advance();
  const name = mapName(p, token);
  const keys: Expression[] = [];
  let end = token.end;
  if (p.at("[")) {
    p.advance();
    inParentheses(p, () => {
      do pushValue(p, keys);
      while (p.accept(",") && !p.at("]"));
    });
    end = p.expect("]", "after the map's key").end;
  }
  // `@m[(a, b)]` is `@m[a, b]`.
  const only = keys.length === 1 ? keys[0] : undefined;
  const flat = only?.kind === "tuple" && only.elements.length > 1 ? only.elements : keys;
  return { kind: "map", name, keys: flat, type: unknownType, span: { start: token.start, end } };
}

function parseName(p: Cursor): Expression {
  const token = p.token;
  const span = spanOf(token);
  const name = token.text;
  switch (name) {
    case "true":
    case "false":
      p.advance();
      return { kind: "boolean", value: name === "true", type: unknownType, span };
    case "sizeof":
    case "offsetof":
      if (p.peek().text === "(") return parseSizeOf(p);
      break;
    case "if":
      return p.nested(() => {
        const found = p.grammar.ifElse(p);
        return found.value ?? p.fail(syntax.ifWithoutValue(), found.statement.span);
      });
    case "comptime":
      // `comptime is_ptr(x)` is `comptime(is_ptr(x))`.
      if (p.peek().text === "(") break;
      return p.nested(() => {
        p.advance();
        const operand = parseUnary(p);
        return {
          kind: "call",
          name,
          args: [operand],
          type: unknownType,
          span: { start: token.start, end: operand.span.end },
        };
      });
    case "typeof":
      p.fail(syntax.typeofIsType());
    // falls through: fail() does not return
    case "let":
    case "for":
    case "while":
    case "unroll":
    case "return":
    case "break":
    case "continue":
    case "else":
    case "import":
    case "macro":
      p.fail(syntax.notInExpression(name));
  }

  const parameter = p.expansion?.arguments.get(name);
  if (parameter !== undefined) {
    p.advance();
    return expandParameter(p, token, parameter, parseExpression);
  }
  const definition = p.definitions.get(name);
  if (definition !== undefined) {
    p.advance();
    const text = p.bodies.slice(0, definition.body.end);
    if (definition.body.start === definition.body.end) p.fail(preprocessor.emptyDefinition(name), span);
    return p.replay({ text, start: definition.body.start, where: undefined, name, at: token }, () => {
      const value = parseExpression(p);
      if (p.token.kind !== "end") p.fail(preprocessor.notOneExpression(), definition.body);
      return value;
    });
  }

  const following = p.peek();
  const called = following.kind === "punctuation" && following.text === "(";
  const marked = following.kind === "punctuation" && following.text === "!";
  if (marked || p.macros.has(name)) {
    const macro = callMacro(p, token, called, marked);
    if (macro !== undefined) return macro;
  }
  if (called) return parseCall(p);
  p.advance();
  if (p.builtins.isValue(name)) return { kind: "builtin", name: p.builtins.canonical(name), type: unknownType, span };
  // A function without arguments may go without parentheses.
  if (p.builtins.isFunction(name) || p.builtins.aggregate(name) !== undefined) {
    return { kind: "call", name: p.builtins.canonical(name), args: [], type: unknownType, span };
  }
  return { kind: "identifier", name, type: unknownType, span };
}

function parseCall(p: Cursor): Expression {
  const token = p.advance();
  const isString = p.builtins.canonical(token.text) === "str";
  if (isString) {
    const text = positionalText(p, token);
    if (text !== undefined) return text;
  }
  // Only here a type is an argument: `container_of(p, struct t, member)`.
  const typed = p.builtins.canonical(token.text) === "container_of";
  const args = callArguments(p, token.text, () => (typed ? structName(p) : undefined) ?? parseExpression(p));
  const span = { start: token.start, end: p.last };
  if (token.text === "getopt") return getopt(p, args, span);
  const name = p.builtins.canonical(token.text);
  // `pid()` is `pid`.
  if (args.length === 0 && p.builtins.isValue(token.text)) return { kind: "builtin", name, type: unknownType, span };
  return { kind: "call", name, args, type: unknownType, span };
}

/** `struct t`, or `typeof(struct t)`, as a name. */
function structName(p: Cursor): Expression | undefined {
  const { token } = p;
  if (token.kind !== "identifier" || !["struct", "union", "typeof"].includes(token.text)) return undefined;
  const { name, span } = parseType(p);
  return { kind: "identifier", name, type: unknownType, span };
}

/** Each has a type of its own, and a key or a value of a map has some kilobytes at most. */
const mostValues = 1000;

function pushValue(p: Cursor, into: Expression[]): void {
  if (into.length === mostValues) p.fail(syntax.tooManyValues(mostValues));
  into.push(parseExpression(p));
}

/** What is behind `(`: an expression in parentheses, a tuple, or a record. */
function parseParenthesis(p: Cursor): Expression {
  const open = p.advance();
  const record = p.token.kind === "identifier" && p.peek().kind === "punctuation" && p.peek().text === "=";
  if (record) return parseRecord(p, open.start);
  const elements: Expression[] = [];
  let comma = false;
  while (!p.at(")")) {
    pushValue(p, elements);
    comma = p.accept(",");
    if (!comma) break;
  }
  const close = p.expect(")", elements.length > 1 || comma ? "after the tuple" : "after the expression");
  const only = elements[0];
  if (only !== undefined && elements.length === 1 && !comma) return only;
  return { kind: "tuple", elements, type: unknownType, span: { start: open.start, end: close.end } };
}

function parseRecord(p: Cursor, start: number): RecordLiteral {
  const fields: { name: string; value: Expression }[] = [];
  while (!p.at(")")) {
    const name = p.expectName("a field's name");
    if (fields.some((f) => f.name === name.text)) p.report("error", name, syntax.fieldTwice(name.text));
    p.expect("=", "after the field's name");
    fields.push({ name: name.text, value: parseExpression(p) });
    if (!p.accept(",")) break;
  }
  const close = p.expect(")", "after the record");
  return { kind: "record", fields, type: unknownType, span: { start, end: close.end } };
}

function parseSizeOf(p: Cursor): Expression {
  const token = p.advance();
  p.advance();
  const of = inParentheses(p, () => typeOrExpression(p));
  if (token.text === "sizeof") {
    const close = p.expect(")", "after `sizeof(…`");
    return { kind: "sizeof", of, type: unknownType, span: { start: token.start, end: close.end } };
  }
  p.expect(",", "between a type and its field in `offsetof(type, field)`");
  const path = [p.expectName("a field's name").text];
  while (p.accept(".") || p.accept("->")) path.push(p.expectName("a field's name").text);
  const close = p.expect(")", "after `offsetof(type, field`");
  return { kind: "offsetof", of, path, type: unknownType, span: { start: token.start, end: close.end } };
}

/** In a type context a name, and a name with `[n]`, is a type; anything that goes on behind it is an expression. */
function typeOrExpression(p: Cursor): TypeName | Expression {
  const { token } = p;
  const constant = token.text === "true" || token.text === "false";
  if (token.kind === "identifier" && !constant && (isTypeWord(token.text) || !p.builtins.isValue(token.text))) {
    const parameter = p.expansion?.arguments.get(token.text);
    const type =
      parameter === undefined || parameter.kind === "type" || parameter.kind === "parameter" ? tryType(p) : undefined;
    if (type !== undefined && (p.at(")") || p.at(","))) return type;
    if (token.text === "struct" || token.text === "union" || token.text === "enum") return parseType(p);
    p.seek(token.start);
  }
  return parseExpression(p);
}

/** Inside brackets of any kind, `/` followed by `{` is not the end of a predicate. */
export function inParentheses<T>(p: Cursor, read: () => T): T {
  const outer = p.predicate;
  p.predicate = false;
  try {
    return read();
  } finally {
    p.predicate = outer;
  }
}

export function around(first: { readonly span: Span }, last: { readonly span: Span }): Span {
  return { start: first.span.start, end: last.span.end };
}

export function spanOf(token: Span): Span {
  return { start: token.start, end: token.end };
}
