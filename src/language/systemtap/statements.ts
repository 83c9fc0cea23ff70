// Statements. A `;` is an empty one: it may stand between any two, and need not.
import { systemtap } from "../../messages/systemtap.ts";
import type { Cursor } from "./cursor.ts";
import { parseExpression, parseKeys, primary } from "./expressions.ts";
import { statisticsOperators, type Expr, type Foreach, type Stmt } from "./syntax.ts";

export function parseBlock(p: Cursor, of: string): Stmt {
  const open = p.token;
  if (open.kind === "embedded") p.fail(systemtap.embedded());
  p.expect("{", of);
  const statements: Stmt[] = [];
  while (!p.at("}")) {
    if (p.token.kind === "end") p.fail(systemtap.unclosedBlock(), open);
    if (p.atWord("probe") || (p.atWord("function") && p.peek().kind === "identifier") || p.atWord("global"))
      p.fail(systemtap.declarationInBlock(p.token.text));
    if (p.accept(";")) continue;
    statements.push(parseStatement(p));
  }
  p.advance();
  return { kind: "block", statements, span: p.from(open) };
}

export function parseStatement(p: Cursor): Stmt {
  return p.nested(() => statement(p));
}

function statement(p: Cursor): Stmt {
  const { token } = p;
  if (p.at("{")) return parseBlock(p, "");
  if (p.accept(";")) return { kind: "block", statements: [], span: p.from(token) };
  if (token.kind === "embedded") p.fail(systemtap.embedded());
  if (token.kind === "identifier") {
    switch (token.text) {
      case "if": {
        p.advance();
        const condition = parenthesized(p, "the condition");
        const then = parseStatement(p);
        // A lone `;` may stand between a body and its `else`.
        if (p.at(";") && p.peek().text === "else") p.advance();
        const otherwise = p.acceptWord("else") ? parseStatement(p) : undefined;
        return { kind: "if", condition, then, ...(otherwise === undefined ? {} : { otherwise }), span: p.from(token) };
      }
      case "while": {
        p.advance();
        const condition = parenthesized(p, "the condition");
        return { kind: "while", condition, body: parseStatement(p), span: p.from(token) };
      }
      case "for":
        return forLoop(p);
      case "foreach":
        return foreach(p);
      case "break":
      case "continue":
      case "next":
        p.advance();
        return { kind: token.text, span: p.from(token) };
      case "return": {
        p.advance();
        const none = p.at(";") || p.at("}") || p.token.kind === "end";
        return { kind: "return", ...(none ? {} : { value: parseExpression(p) }), span: p.from(token) };
      }
      case "delete": {
        p.advance();
        const target = parseExpression(p);
        if (target.kind !== "name" && target.kind !== "element") p.fail(systemtap.deleteTarget(), target.span);
        return { kind: "delete", target, span: p.from(token) };
      }
      case "try": {
        p.advance();
        const body = parseBlock(p, "behind `try`");
        if (!p.acceptWord("catch")) p.fail(systemtap.expected("`catch` behind the block of `try`", p.describe()));
        let message: string | undefined;
        if (p.accept("(")) {
          message = p.expectName("a variable for the message").text;
          p.expect(")");
        }
        const handler = parseBlock(p, "behind `catch`");
        return { kind: "try", body, ...(message === undefined ? {} : { message }), handler, span: p.from(token) };
      }
      case "else":
        p.fail(systemtap.expected("a statement", "`else` without an `if`"));
    }
  }
  const expression = parseExpression(p);
  return { kind: "expression", expression, span: p.from(token) };
}

function parenthesized(p: Cursor, what: string): Expr {
  p.expect("(", `before ${what}`);
  const value = parseExpression(p);
  p.expect(")", `behind ${what}`);
  return value;
}

function forLoop(p: Cursor): Stmt {
  const token = p.advance();
  p.expect("(", "behind `for`");
  const before = p.at(";") ? undefined : parseExpression(p);
  p.expect(";", "behind what the loop begins with");
  const condition = p.at(";") ? undefined : parseExpression(p);
  p.expect(";", "behind the loop's condition");
  const step = p.at(")") ? undefined : parseExpression(p);
  p.expect(")", "behind the loop's step");
  return {
    kind: "for",
    ...(before === undefined ? {} : { before }),
    ...(condition === undefined ? {} : { condition }),
    ...(step === undefined ? {} : { step }),
    body: parseStatement(p),
    span: p.from(token),
  };
}

/** `foreach (value = [a+, b] in array[*, x] @sum- limit n)` */
function foreach(p: Cursor): Foreach {
  const token = p.advance();
  p.expect("(", "behind `foreach`");
  let order: Foreach["order"];
  const sorted = (by: NonNullable<Foreach["order"]>["by"]): void => {
    const { token: sign } = p;
    if (!p.at("+") && !p.at("-")) return;
    p.advance();
    if (order !== undefined) p.fail(systemtap.secondOrder(), sign);
    order = { by, descending: sign.text === "-", span: p.from(sign) };
  };
  let value: string | undefined;
  const behindName = /^[-+]$/.test(p.peek().text) ? p.peek(2) : p.peek();
  if (p.token.kind === "identifier" && behindName.text === "=") {
    value = p.advance().text;
    sorted("value");
    p.advance();
  }
  const keys: string[] = [];
  const key = (): void => {
    const index = keys.length;
    keys.push(p.expectName("a variable for the key").text);
    sorted(index);
  };
  if (p.accept("[")) {
    do key();
    while (p.accept(","));
    p.expect("]", "behind the keys");
  } else key();
  if (!p.acceptWord("in")) p.fail(systemtap.expected("`in` behind the keys", p.describe()));
  const buckets = p.token.kind === "at" && p.token.text.startsWith("@hist_") ? primary(p) : undefined;
  if (buckets !== undefined && (buckets.kind !== "histogram" || keys.length !== 1))
    p.fail(systemtap.expected("a histogram, for one variable", "another value"), buckets.span);
  const array = buckets === undefined ? p.expectName("an array") : { text: "", ...buckets.span };
  const slice = p.at("[") ? parseKeys(p) : undefined;
  if (p.token.kind === "at") {
    const { token: word } = p;
    const operator = statisticsOperators.find((one) => `@${one}` === word.text);
    if (operator === undefined) p.fail(systemtap.unknownOperator(word.text));
    p.advance();
    if (!p.at("+") && !p.at("-")) p.fail(systemtap.expected(`\`+\` or \`-\` behind ${word.text}`, p.describe()));
    sorted(operator);
  } else sorted("value");
  const limit = p.acceptWord("limit") ? parseExpression(p) : undefined;
  p.expect(")", "behind the loop's head");
  return {
    kind: "foreach",
    ...(value === undefined ? {} : { value }),
    keys,
    ...(buckets?.kind === "histogram" ? { buckets } : {}),
    array: array.text,
    arraySpan: { start: array.start, end: array.end },
    ...(slice === undefined ? {} : { slice }),
    ...(order === undefined ? {} : { order }),
    ...(limit === undefined ? {} : { limit }),
    body: parseStatement(p),
    span: p.from(token),
  };
}
