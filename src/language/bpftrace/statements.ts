// Statements and blocks, and where to go on after an error in one.
import { syntax } from "../../messages/syntax.ts";
import type { Span } from "../diagnostic.ts";
import type { BinaryOperator, Block, Expression, MapAccess, Statement } from "../program.ts";
import { unknownType } from "../types.ts";
import { blockValue, type Body, type Cursor, type IfElse } from "./cursor.ts";
import { around, inParentheses, parseExpression, parseVariable, spanOf } from "./expressions.ts";
import { parseType } from "./type-names.ts";
import { failure } from "../words.ts";

const assignments = new Map<string, BinaryOperator | null>([
  ["=", null],
  ["+=", "+"],
  ["-=", "-"],
  ["*=", "*"],
  ["/=", "/"],
  ["%=", "%"],
  ["&=", "&"],
  ["|=", "|"],
  ["^=", "^"],
  ["<<=", "<<"],
  [">>=", ">>"],
]);

export function parseBlock(p: Cursor, of: string): Block {
  return asBlock(parseBody(p, of));
}

export function parseBody(p: Cursor, of: string): Body {
  const open = p.expect("{", `at the start ${of}`);
  return p.nested(() =>
    inParentheses(p, () => {
      const statements: Statement[] = [];
      let value: Expression | undefined;
      while (!p.at("}")) {
        if (value !== undefined) {
          // The last one was not the last.
          statements.push(asStatement(value));
          value = undefined;
        }
        if (p.token.kind === "end" || startsProbe(p)) {
          if (!p.unclosed) {
            if (p.token.kind === "end") p.report("error", spanOf(open), syntax.unclosedBlock(of));
            else p.report("error", spanOf(p.token), syntax.probeInBlock(of));
          }
          p.unclosed = true;
          return { statements, span: { start: open.start, end: p.last } };
        }
        const start = p.token.start;
        try {
          value = p.statementLinks(() => parseStatement(p, statements));
        } catch (error) {
          if (error !== failure || p.tooManyErrors) throw error;
          recover(p, start);
        }
      }
      const close = p.advance();
      return { statements, ...(value === undefined ? {} : { value }), span: { start: open.start, end: close.end } };
    }),
  );
}

/** Reads one statement into `into`, with its `;`. Gives back an expression that stands at a block's end without one. */
function parseStatement(p: Cursor, into: Statement[]): Expression | undefined {
  const { token } = p;
  const start = token.start;
  p.statement = start;
  p.withoutValue = undefined;
  const end = (): { start: number; end: number } => ({ start, end: p.last });

  if (token.kind === "punctuation") {
    if (token.text === ";") {
      p.advance();
      return undefined;
    }
    if (token.text === "{") {
      const body = parseBody(p, "of the block");
      const value = p.at("}") ? blockValue(body) : undefined;
      if (value === undefined) into.push(asBlock(body));
      return value;
    }
  }
  if (token.kind === "identifier") {
    switch (token.text) {
      case "if": {
        const found = parseIf(p);
        if (p.at("}") && found.value !== undefined) return found.value;
        into.push(found.statement);
        return undefined;
      }
      case "while": {
        p.advance();
        const condition = parseExpression(p);
        const body = parseBlock(p, "of the loop");
        into.push({ kind: "while", condition, body, span: end() });
        return undefined;
      }
      case "unroll": {
        p.advance();
        const count = parseExpression(p);
        const body = parseBlock(p, "of the loop");
        into.push({ kind: "unroll", count, body, span: end() });
        return undefined;
      }
      case "for":
        into.push(parseFor(p));
        return undefined;
      case "break":
      case "continue": {
        p.advance();
        const span = end();
        endOfStatement(p);
        into.push({ kind: token.text, span });
        return undefined;
      }
      case "return": {
        p.advance();
        const value = p.at(";") || p.at("}") ? undefined : parseExpression(p);
        const span = end();
        endOfStatement(p);
        into.push({ kind: "return", ...(value === undefined ? {} : { value }), span });
        return undefined;
      }
      case "let": {
        p.advance();
        if (p.token.kind === "map") p.fail(syntax.mapInProbe());
        const variable = parseVariable(p);
        const declared = p.accept(":") ? parseType(p) : undefined;
        const value = p.accept("=") ? parseExpression(p) : undefined;
        const span = end();
        endOfStatement(p);
        into.push({
          kind: "declare",
          variable,
          ...(declared === undefined ? {} : { declared }),
          ...(value === undefined ? {} : { value }),
          span,
        });
        return undefined;
      }
      case "_":
        if (p.peek().text === "=") {
          p.advance();
          p.advance();
          const expression = parseExpression(p);
          const span = end();
          endOfStatement(p);
          into.push({ kind: "expression", expression, discard: true, span });
          return undefined;
        }
    }
  }

  const expression = parseExpression(p);
  const operator = p.token.kind === "punctuation" ? assignments.get(p.token.text) : undefined;
  if (operator !== undefined) {
    into.push(parseAssignment(p, expression, operator));
    return undefined;
  }
  // Narrowing does not see that reading the expression sets this.
  const withoutValue = p.withoutValue as Body | undefined;
  if (withoutValue !== undefined) {
    p.withoutValue = undefined;
    endOfStatement(p);
    into.push(asBlock(withoutValue));
    return undefined;
  }
  if (p.at("}")) return expression;
  const block = expression.kind === "block-expression" || expression.kind === "conditional";
  if (!(block && p.text[p.last - 1] === "}")) endOfStatement(p);
  into.push(asStatement(expression));
  return undefined;
}

function parseAssignment(p: Cursor, target: Expression, operator: BinaryOperator | null): Statement {
  const sign = p.advance();
  if (target.kind !== "variable" && target.kind !== "map") {
    if (target.kind === "tuple-index") return p.fail(syntax.immutableTuple(), target.span);
    return p.fail(syntax.assignmentTarget(sign.text, target.kind === "member" || target.kind === "index"), target.span);
  }
  const value = parseExpression(p);
  const span = around(target, value);
  // `$x = { … }` and `$x = if … { … } else { … }` may go without.
  endOfStatement(p);
  return (
    (operator === null && target.kind === "map" ? aggregation(p, target, value, span) : undefined) ?? {
      kind: "assign",
      target,
      operator,
      value,
      span,
    }
  );
}

/**
 * `@m = count()`, where a macro or a block may lead to the call: `@m = { let $x = f(); sum($x) }`. Undefined for any
 * other value.
 */
function aggregation(p: Cursor, target: MapAccess, value: Expression, span: Span): Statement | undefined {
  if (value.kind === "block-expression") {
    const last = aggregation(p, target, value.value, span);
    return last === undefined ? undefined : { kind: "block", statements: [...value.statements, last], span };
  }
  const aggregate = value.kind === "call" ? p.builtins.aggregate(value.name) : undefined;
  if (value.kind !== "call" || aggregate === undefined) return undefined;
  const [first, ...parameters] = value.args;
  return { kind: "aggregate", target, aggregate, ...(first === undefined ? {} : { value: first }), parameters, span };
}

/** `if … else if … else …`: a chain, however long, is no nesting. */
export function parseIf(p: Cursor): IfElse {
  return p.nested(() => {
    const arms: { readonly start: number; readonly condition: Expression; readonly then: Body }[] = [];
    let otherwise: Body | undefined;
    do {
      const { start } = p.advance();
      if (arms.length === mostArms) p.fail(syntax.tooManyArms(mostArms), { start, end: p.last });
      const condition = p.statementLinks(() => parseExpression(p));
      arms.push({ start, condition, then: parseBody(p, "of the `if`") });
      if (!p.atWord("else")) break;
      p.advance();
      if (!p.atWord("if")) otherwise = parseBody(p, "of the `else`");
    } while (otherwise === undefined);
    // From the last to the first: each is what the one before does otherwise.
    let rest: Body | undefined = otherwise;
    let value = otherwise && blockValue(otherwise);
    let statement: IfElse["statement"] | undefined;
    for (const { start, condition, then } of arms.reverse()) {
      const span = { start, end: p.last };
      statement = {
        kind: "if",
        condition,
        then: asBlock(then),
        ...(rest === undefined ? {} : { otherwise: asBlock(rest) }),
        span,
      };
      rest = { statements: [statement], span };
      const thenValue = blockValue(then);
      value =
        thenValue === undefined || value === undefined
          ? undefined
          : { kind: "conditional", condition, then: thenValue, otherwise: value, type: unknownType, span };
    }
    return { statement: statement as IfElse["statement"], ...(value === undefined ? {} : { value }) };
  });
}

/** What walks the tree goes down each `else`. */
const mostArms = 1000;

/** What may be a value of a program. */
function isPlace(of: Expression): boolean {
  return (
    of.kind === "member" ||
    of.kind === "index" ||
    of.kind === "builtin" ||
    (of.kind === "unary" && of.operator === "*") ||
    (of.kind === "call" && of.name === "var")
  );
}

function parseFor(p: Cursor): Statement {
  const { start } = p.advance();
  const parenthesis = p.accept("(");
  const variable = parseVariable(p);
  p.expect(":", "in `for ($x : …)`");
  const from = parseExpression(p);
  const to = p.accept("..") ? parseExpression(p) : undefined;
  if (to === undefined && !(from.kind === "map" ? from.keys.length === 0 : isPlace(from))) {
    p.fail(syntax.forOver(), from.span);
  }
  if (parenthesis) p.expect(")", "before the body of the loop");
  const body = parseBlock(p, "of the loop");
  const span = { start, end: p.last };
  if (to !== undefined) return { kind: "for-range", variable, from, to, body, span };
  if (from.kind !== "map") return { kind: "for-value", variable, of: from, body, span };
  return { kind: "for-map", variable, map: from, body, span };
}

function endOfStatement(p: Cursor): void {
  if (p.accept(";") || p.at("}")) return;
  if (p.text[p.last - 1] === "}" && p.lineEnds()) return;
  p.expect(";", "after the statement");
}

export function asBlock({ statements, value, span }: Body): Block {
  return { kind: "block", statements: value === undefined ? statements : [...statements, asStatement(value)], span };
}

function asStatement(expression: Expression): Statement {
  if (expression.kind === "block-expression") return asBlock({ ...expression, statements: expression.statements });
  return { kind: "expression", expression, span: expression.span };
}

/**
 * Whether a probe starts at the cursor, which is where a statement should: a `}` is missing. No statement starts with
 * a name and `:`, or with `begin {`.
 */
export function startsProbe(p: Cursor): boolean {
  if (p.token.kind !== "identifier" || p.expansion !== undefined) return false;
  const next = p.peek();
  if (next.kind !== "punctuation") return false;
  return next.text === ":" ? next.start === p.token.end : next.text === "{" && p.spelling(p.token.text)?.alone === true;
}

/** Goes on behind the statement that started at `start` and failed: its `;`, or the `}` of the block it is in. */
function recover(p: Cursor, start: number): void {
  if (p.token.start === start && !p.at("}")) p.advance();
  let depth = 0;
  while (p.token.kind !== "end") {
    if (p.at("{")) {
      depth++;
    } else if (p.at("}")) {
      if (depth === 0) return;
      depth--;
      if (depth === 0 && p.peek().text !== "else") {
        p.advance();
        return;
      }
    } else if (depth === 0 && (p.at(";") || (p.lineEnds() && startsProbe(p)))) {
      p.accept(";");
      return;
    }
    p.advance();
  }
}
