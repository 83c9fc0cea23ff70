// Expressions, from the weakest operator to the strongest.
import { systemtap } from "../../messages/systemtap.ts";
import type { Span } from "../diagnostic.ts";
import type { Cursor } from "./cursor.ts";
import {
  statisticsOperators,
  type AssignWord,
  type BinaryWord,
  type Expr,
  type StatisticsOperator,
  type Step,
  type TargetExpr,
} from "./syntax.ts";

const assignments = new Set(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ".=", "<<<"]);

export function parseExpression(p: Cursor): Expr {
  return p.nested(() => {
    const left = conditional(p);
    if (p.token.kind !== "punctuation" || !assignments.has(p.token.text)) return left;
    const operator = p.advance();
    if (left.kind !== "name" && left.kind !== "element" && left.kind !== "target")
      p.fail(systemtap.assignmentTarget(operator.text), left.span);
    const value = parseExpression(p);
    return {
      kind: "assign",
      operator: operator.text as AssignWord,
      target: left,
      value,
      sign: spanOf(operator),
      span: p.from(left.span),
    };
  });
}

function spanOf({ start, end }: Span): Span {
  return { start, end };
}

function conditional(p: Cursor): Expr {
  const condition = binary(p, 0);
  if (!p.accept("?")) return condition;
  const then = p.nested(() => conditional(p));
  p.expect(":", "of the conditional");
  const otherwise = p.nested(() => conditional(p));
  return { kind: "conditional", condition, then, otherwise, span: p.from(condition.span) };
}

/** A level each, the weakest first; `in` stands between the fifth and the sixth. */
const levels: readonly (readonly BinaryWord[])[] = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!=", "<", "<=", ">", ">=", "=~", "!~"],
  ["<<", ">>"],
  ["."],
  ["+", "-"],
  ["*", "/", "%"],
];
const inLevel = 5;
const strengths = new Map(levels.flatMap((words, level) => words.map((word) => [word as string, level] as const)));

function binary(p: Cursor, weakest: number): Expr {
  if (p.at("[") && weakest <= inLevel) return membership(p);
  let left = unary(p);
  for (let links = 0; ; links++) {
    if (links > 2000) p.fail(systemtap.nestedTooDeeply());
    const { token } = p;
    if (weakest <= inLevel && p.atWord("in")) {
      p.advance();
      const array = p.expectName("an array behind `in`");
      left = { kind: "in", keys: [left], array: array.text, span: p.from(left.span) };
      continue;
    }
    const level = token.kind === "punctuation" ? strengths.get(token.text) : undefined;
    if (token.text === ">>>" && token.kind === "punctuation") p.fail(systemtap.noUnsignedShift());
    if (level === undefined || level < weakest) return left;
    p.advance();
    const right = p.nested(() => binary(p, level + 1));
    left = {
      kind: "binary",
      operator: token.text as BinaryWord,
      left,
      right,
      sign: spanOf(token),
      span: p.from(left.span),
    };
  }
}

/** `[a, *] in array`, and what goes on behind it. */
function membership(p: Cursor): Expr {
  const { token } = p;
  const keys = parseKeys(p);
  if (!p.acceptWord("in")) p.fail(systemtap.expected("`in` behind the keys", p.describe()));
  const array = p.expectName("an array behind `in`");
  return { kind: "in", keys, array: array.text, span: p.from(token) };
}

/** `[a, *, b]` */
export function parseKeys(p: Cursor): (Expr | undefined)[] {
  p.expect("[");
  const keys: (Expr | undefined)[] = [];
  do {
    if (p.at("*") && [",", "]"].includes(p.peek().text)) {
      p.advance();
      keys.push(undefined);
    } else keys.push(parseExpression(p));
  } while (p.accept(","));
  p.expect("]", "behind the keys");
  return keys;
}

function unary(p: Cursor): Expr {
  const { token } = p;
  if (token.kind === "punctuation") {
    switch (token.text) {
      case "-":
      case "!":
      case "~":
      case "+": {
        p.advance();
        const operand = p.nested(() => unary(p));
        const span = p.from(token);
        if (operand.kind === "number" && token.text === "-")
          return { kind: "number", value: BigInt.asIntN(64, -operand.value), span };
        return { kind: "unary", operator: token.text, operand, span };
      }
      case "++":
      case "--": {
        p.advance();
        const target = p.nested(() => unary(p));
        return increment(p, target, token.text, true, token.start);
      }
      case "&": {
        p.advance();
        const operand = p.nested(() => unary(p));
        if (operand.kind !== "target")
          p.fail(systemtap.expected("a target variable behind `&`", "another value"), operand.span);
        return { ...operand, address: true, span: p.from(token) };
      }
    }
  }
  const first = primary(p);
  const value =
    p.at("->") && first.kind !== "target" ? target(p, { kind: "value", of: first }, first.span.start) : first;
  const { text } = p.token;
  if ((p.at("++") || p.at("--")) && (value.kind === "name" || value.kind === "element" || value.kind === "target")) {
    p.advance();
    return increment(p, value, text, false, value.span.start);
  }
  return value;
}

function increment(p: Cursor, target: Expr, word: string, prefix: boolean, start: number): Expr {
  if (target.kind !== "name" && target.kind !== "element" && target.kind !== "target")
    p.fail(systemtap.assignmentTarget(word), target.span);
  return { kind: "increment", target, delta: word === "++" ? 1 : -1, prefix, span: { start, end: p.last } };
}

export function primary(p: Cursor): Expr {
  const { token } = p;
  switch (token.kind) {
    case "number":
      p.advance();
      return { kind: "number", value: token.number!, span: p.from(token) };
    case "string": {
      let value = "";
      // Strings side by side are one.
      while (p.token.kind === "string") value += p.advance().value!;
      return { kind: "string", value, span: p.from(token) };
    }
    case "target":
      p.advance();
      return target(p, { kind: "name", name: token.text.slice(1) }, token.start);
    case "at":
      return operator(p);
    case "embedded":
      return p.fail(systemtap.embedded());
    case "identifier":
      return named(p);
    case "punctuation":
      if (token.text === "(") {
        p.advance();
        const value = parseExpression(p);
        p.expect(")", "behind the expression");
        return value;
      }
      break;
    default:
      break;
  }
  return p.fail(systemtap.expected("an expression", p.describe()));
}

/** Words that are no names. */
export const keywords: ReadonlySet<string> = new Set([
  "probe",
  "global",
  "private",
  "function",
  "if",
  "else",
  "for",
  "foreach",
  "in",
  "limit",
  "return",
  "delete",
  "while",
  "break",
  "continue",
  "next",
  "string",
  "long",
  "try",
  "catch",
]);

function named(p: Cursor): Expr {
  if (keywords.has(p.token.text)) p.fail(systemtap.expected("an expression", `keyword \`${p.token.text}\``));
  const name = p.advance();
  if (p.at("(")) {
    const args = parseArguments(p);
    return { kind: "call", name: name.text, args, span: p.from(name) };
  }
  if (p.at("[")) {
    const keys = parseKeys(p);
    return { kind: "element", name: name.text, keys, span: p.from(name) };
  }
  return { kind: "name", name: name.text, span: p.from(name) };
}

function parseArguments(p: Cursor): Expr[] {
  p.expect("(");
  const args: Expr[] = [];
  if (!p.at(")")) {
    do args.push(parseExpression(p));
    while (p.accept(","));
  }
  p.expect(")", "behind the arguments");
  return args;
}

/** What stands behind a target variable: `->f`, `[i]`, `$`. */
function target(p: Cursor, base: TargetExpr["base"], start: number): TargetExpr {
  const steps: Step[] = [];
  for (;;) {
    const { token } = p;
    if (p.accept("->")) {
      const member = p.expectName("a member behind `->`");
      steps.push({ member: member.text, span: p.from(token) });
    } else if (p.at("[") && token.start <= p.last) {
      p.advance();
      const index = parseExpression(p);
      p.expect("]", "behind the index");
      steps.push({ index, span: p.from(token) });
    } else break;
  }
  let pretty: 0 | 1 | 2 = 0;
  if ((p.at("$") || p.at("$$")) && p.token.start <= p.last) pretty = p.advance().text.length as 1 | 2;
  return { kind: "target", base, steps, address: false, pretty, span: { start, end: p.last } };
}

function bucketIndex(p: Cursor): Expr {
  p.expect("[");
  const index = parseExpression(p);
  p.expect("]", "behind the number of the bucket");
  return index;
}

/** `@count(…)`, `@cast(…)`, `@defined(…)` */
function operator(p: Cursor): Expr {
  const token = p.advance();
  const name = token.text.slice(1);
  if (isStatistics(name)) {
    p.expect("(", `behind \`@${name}\``);
    const of = parseExpression(p);
    const parameters = numbers(p);
    p.expect(")");
    return { kind: "statistics", operator: name, of, parameters, span: p.from(token) };
  }
  switch (name) {
    case "hist_log":
    case "hist_linear": {
      p.expect("(", `behind \`@${name}\``);
      const of = parseExpression(p);
      const parameters = numbers(p);
      p.expect(")");
      if (parameters.length !== (name === "hist_log" ? 0 : 3))
        p.fail(systemtap.histogramParameters(name), p.from(token));
      const [low, high, step] = parameters;
      if (step !== undefined && (step <= 0n || low > high))
        p.fail(systemtap.histogramBuckets(low, high, step), p.from(token));
      const index = p.at("[") ? bucketIndex(p) : undefined;
      return {
        kind: "histogram",
        linear: name === "hist_linear",
        of,
        parameters,
        ...(index === undefined ? {} : { index }),
        span: p.from(token),
      };
    }
    case "var": {
      const [text, module] = strings(p, name, 1, 2);
      return target(p, { kind: "var", name: text, ...(module === undefined ? {} : { module }) }, token.start);
    }
    case "cast": {
      p.expect("(", "behind `@cast`");
      const of = parseExpression(p);
      p.expect(",", "behind the value");
      const type = expectString(p, "the type's name");
      const module = p.accept(",") ? expectString(p, "the module's name") : undefined;
      p.expect(")");
      return target(p, { kind: "cast", of, type, ...(module === undefined ? {} : { module }) }, token.start);
    }
    case "defined":
    case "entry":
    case "const":
    case "enum":
    case "perf":
    case "kderef":
    case "uderef":
    case "kregister":
    case "uregister":
    case "probewrite":
    case "enumname":
      return { kind: "operator", name, args: parseArguments(p), span: p.from(token) };
    case "errno":
      return { kind: "operator", name, args: [], span: p.from(token) };
    default:
      return p.fail(systemtap.unknownOperator(token.text), token);
  }
}

function isStatistics(name: string): name is StatisticsOperator {
  return (statisticsOperators as readonly string[]).includes(name);
}

function numbers(p: Cursor): bigint[] {
  const found: bigint[] = [];
  while (p.accept(",")) {
    const negative = p.accept("-");
    if (p.token.kind !== "number") p.fail(systemtap.expected("a number", p.describe()));
    const value = p.advance().number!;
    found.push(negative ? -value : value);
  }
  return found;
}

function expectString(p: Cursor, what: string): string {
  if (p.token.kind !== "string") p.fail(systemtap.expected(`${what} in quotes`, p.describe()));
  return p.advance().value!;
}

function strings(p: Cursor, name: string, least: number, most: number): string[] {
  p.expect("(", `behind \`@${name}\``);
  const found: string[] = [];
  do found.push(expectString(p, "a name"));
  while (p.accept(","));
  p.expect(")");
  if (found.length < least || found.length > most)
    p.fail(systemtap.expected("one name, or a name and a module", `${found.length}`));
  return found;
}
