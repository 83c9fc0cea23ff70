// Statements. A mistake ends its statement, and the next one is read.
import type * as js from "acorn";
import type { Block, Expression, Statement } from "../program.ts";
import { binaryOperators, hasKey, place } from "./expressions.ts";
import { declaration } from "./declarations.ts";
import { forLoop, forOf, whileLoop } from "./loops.ts";
import type { Unit } from "./unit.ts";
import { binary, block, expressionStatement, not, refusal, variable } from "./unit.ts";

export function body(unit: Unit, node: js.Statement): Block {
  const statements = node.type === "BlockStatement" ? node.body : [node];
  return unit.nested(node, () => unit.scoped(() => block(statements.flatMap((s) => safely(unit, s)), unit.span(node))));
}

/** What could be read of a statement; nothing after a mistake, which is told already. */
export function safely(unit: Unit, node: js.Statement): Statement[] {
  try {
    return statement(unit, node);
  } catch (error) {
    if (error !== refusal) throw error;
    return [];
  }
}

function statement(unit: Unit, node: js.Statement): Statement[] {
  const span = unit.span(node);
  switch (node.type) {
    case "BlockStatement": return [body(unit, node)];
    case "EmptyStatement": return [];
    case "ExpressionStatement": return expression(unit, node.expression);
    case "VariableDeclaration": return declaration(unit, node);
    case "IfStatement": {
      const condition = unit.grammar.condition(unit, node.test);
      const then = body(unit, node.consequent);
      return [{ kind: "if", condition, then, ...(!node.alternate ? {} : { otherwise: body(unit, node.alternate) }), span }];
    }
    case "ForStatement": return forLoop(unit, node, body);
    case "ForOfStatement": return forOf(unit, node, body);
    case "WhileStatement":
    case "DoWhileStatement": return whileLoop(unit, node, body);
    case "SwitchStatement": return choice(unit, node);
    case "BreakStatement":
    case "ContinueStatement": {
      if (node.label) return unit.refuseSyntax(node, "LabeledStatement");
      if (node.type === "BreakStatement") return [{ kind: "break", span }];
      const skipped = unit.loops.at(-1);
      if (skipped !== undefined) return unit.refuse(node, "placement",
        `continue would leave out \`${skipped}\` here`, "write for (let i = a; i < b; i++), or use if");
      return [{ kind: "continue", span }];
    }
    case "ReturnStatement":
      // `return m.count()`: what gives no value is done, and nothing is returned.
      if (node.argument?.type === "CallExpression") {
        const outcome = unit.grammar.call(unit, node.argument);
        if (outcome.kind === "statement") return [outcome.statement, { kind: "return", span }];
        return [{ kind: "return", value: outcome.expression, span }];
      }
      return [{ kind: "return", ...(!node.argument ? {} : { value: unit.grammar.value(unit, node.argument) }), span }];
    case "ClassDeclaration":
    case "FunctionDeclaration":
    case "TryStatement":
    case "ThrowStatement":
    case "LabeledStatement":
    case "WithStatement":
    case "DebuggerStatement":
    case "ForInStatement": return unit.refuseSyntax(node, node.type);
  }
}

/** An expression for its effect. */
export function expression(unit: Unit, node: js.Expression): Statement[] {
  const span = unit.span(node);
  switch (node.type) {
    case "ParenthesizedExpression": return expression(unit, node.expression);
    case "AssignmentExpression": return assignment(unit, node);
    case "CallExpression": {
      const outcome = unit.grammar.call(unit, node);
      return [outcome.kind === "statement" ? outcome.statement : expressionStatement(outcome.expression, span)];
    }
    case "ChainExpression":
      if (node.expression.type === "CallExpression") return expression(unit, node.expression);
      break;
    case "LogicalExpression": {
      // `a && m.count()`
      if (node.operator === "??") break;
      const condition = unit.grammar.condition(unit, node.left);
      const then = block(expression(unit, node.right), unit.span(node.right));
      return [{ kind: "if", condition: node.operator === "&&" ? condition : not(condition, condition.span), then, span }];
    }
    case "ConditionalExpression":
      return [{
        kind: "if", condition: unit.grammar.condition(unit, node.test), then: block(expression(unit, node.consequent), unit.span(node.consequent)),
        otherwise: block(expression(unit, node.alternate), unit.span(node.alternate)), span,
      }];
    case "SequenceExpression": return node.expressions.flatMap((inner) => expression(unit, inner));
    default:
  }
  return [expressionStatement(unit.grammar.value(unit, node), span)];
}

function assignment(unit: Unit, node: js.AssignmentExpression): Statement[] {
  const span = unit.span(node);
  const target = place(unit, node.left);
  // `a = b = 0` would be two statements in an order of its own.
  const assigned = unit.grammar.value(unit, node.right);
  const assign = (value: Expression, operator: Extract<Statement, { kind: "assign" }>["operator"] = null): Statement =>
    ({ kind: "assign", target, operator, value, span });
  const only = (condition: Expression): Statement => ({ kind: "if", condition, then: block([assign(assigned)], span), span });
  switch (node.operator) {
    case "=": return [assign(assigned)];
    case "&&=": return [only(target)];
    case "||=": return [only(not(target, span))];
    case "??=":
      if (target.kind !== "map") return unit.refuse(node, "type",
        "a variable is never missing", "`??=` is for entries of maps: m.at(key).value ??= 0");
      return [only(not(hasKey(unit, target, node), span))];
    case ">>>=":
    case "**=": return unit.refuse(node, "placement",
      `there is no \`${node.operator}\` in a handler`, `write the operation out: x = x ${node.operator.slice(0, -1)} n`);
    default: return [assign(assigned, binaryOperators[node.operator.slice(0, -1)])];
  }
}

/** A switch is a chain of ifs: each case ends in break or return, or is empty and shares the next one's body. */
function choice(unit: Unit, node: js.SwitchStatement): Statement[] {
  const span = unit.span(node);
  const subject = variable(unit.temporary("case"), unit.span(node.discriminant));
  const declared: Statement = { kind: "declare", variable: subject, value: unit.grammar.value(unit, node.discriminant), span };
  interface Branch {
    readonly tests: readonly js.Expression[];
    readonly otherwise: boolean;
    readonly body: readonly js.Statement[];
    readonly at: js.Node;
  }
  const branches: Branch[] = [];
  let tests: js.Expression[] = [];
  let otherwise = false;
  node.cases.forEach((item, i) => {
    if (!item.test) otherwise = true;
    else tests.push(item.test);
    const last = item.consequent.at(-1);
    const inner = last?.type === "BlockStatement" && item.consequent.length === 1 ? last.body : item.consequent;
    if (inner.length === 0 && i < node.cases.length - 1) return;
    const end = inner.at(-1);
    const ends = end?.type === "BreakStatement" || end?.type === "ReturnStatement" || end?.type === "ContinueStatement";
    if (!ends && i < node.cases.length - 1) unit.refuse(item, "placement",
      "this case goes on into the next", "end it with break");
    branches.push({ tests, otherwise, body: end?.type === "BreakStatement" && !end.label ? inner.slice(0, -1) : inner, at: item });
    tests = [];
    otherwise = false;
  });
  for (const branch of branches) refuseBreaks(unit, branch.body);
  const byDefault = branches.find((branch) => branch.otherwise);
  const chosen = branches.filter((branch) => !branch.otherwise);
  const bodyOf = (branch: Branch): Block => unit.scoped(() => block(branch.body.flatMap((s) => safely(unit, s)), unit.span(branch.at)));
  const chain = chosen.reduceRight<Block | undefined>((rest, branch) => {
    const condition = branch.tests
      .map((test) => binary("==", subject, unit.grammar.value(unit, test), unit.span(test)))
      .reduce((left, right) => binary("||", left, right, { start: left.span.start, end: right.span.end }));
    const otherwise = rest === undefined ? {} : { otherwise: rest };
    const made: Statement = { kind: "if", condition, then: bodyOf(branch), ...otherwise, span: unit.span(branch.at) };
    return block([made], made.span);
  }, byDefault === undefined ? undefined : bodyOf(byDefault));
  return [declared, ...(chain === undefined ? [] : chosen.length === 0 ? [chain] : chain.statements)];
}

/** A break deeper in a case would leave the switch, which is no loop here. */
function refuseBreaks(unit: Unit, statements: readonly js.Statement[]): void {
  for (const s of statements) {
    switch (s.type) {
      case "BreakStatement": unit.refuse(s, "placement",
        "break stands at the end of a case only", "use if and else within the case"); break;
      case "BlockStatement": refuseBreaks(unit, s.body); break;
      case "IfStatement": refuseBreaks(unit, !s.alternate ? [s.consequent] : [s.consequent, s.alternate]); break;
      default:
    }
  }
}
