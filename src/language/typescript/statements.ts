// Statements. A mistake ends its statement, and the next one is read.
import { handlers } from "../../messages/typescript.ts";
import type * as js from "acorn";
import type { Block, Expression, Statement } from "../program.ts";
import { assigned, binaryOperators, place, unsignedShift } from "./expressions.ts";
import { throwStatement, tryStatement } from "./errors.ts";
import { returnPresence } from "./functions.ts";
import { knownTruth } from "./known.ts";
import { giving, isTrue, knownThere } from "./missing.ts";
import { declaration, innerFunction } from "./declarations.ts";
import { jump, labelled } from "./jumps.ts";
import { forLoop, forOf, whileLoop } from "./loops.ts";
import { choice } from "./switch.ts";
import type { Reader } from "./reader.ts";
import { block, expressionStatement, hasKey, not, refusal, variable } from "./reader.ts";

export function body(reader: Reader, node: js.Statement): Block {
  const statements = node.type === "BlockStatement" ? node.body : [node];
  return reader.nested(node, () =>
    reader.scoped(() => {
      // They may be called before the line that they stand in.
      for (const each of statements) if (each.type === "FunctionDeclaration") innerFunction(reader, each.id, each);
      return block(
        statements.flatMap((s) => safely(reader, s)),
        reader.span(node),
      );
    }),
  );
}

/** What could be read of a statement; nothing after a mistake, which is told already. */
export function safely(reader: Reader, node: js.Statement): Statement[] {
  try {
    return statement(reader, node);
  } catch (error) {
    if (error !== refusal) throw error;
    return [];
  }
}

function statement(reader: Reader, node: js.Statement): Statement[] {
  const span = reader.span(node);
  switch (node.type) {
    case "BlockStatement":
      return [body(reader, node)];
    case "EmptyStatement":
      return [];
    case "ExpressionStatement":
      return expression(reader, node.expression);
    case "VariableDeclaration":
      return declaration(reader, node);
    case "IfStatement": {
      const known = knownTruth(reader, node.test);
      if (known !== undefined) {
        const taken = known ? node.consequent : node.alternate;
        return taken ? [body(reader, taken)] : [];
      }
      const condition = reader.grammar.condition(reader, node.test);
      const then = body(reader, node.consequent);
      return [
        { kind: "if", condition, then, ...(!node.alternate ? {} : { otherwise: body(reader, node.alternate) }), span },
      ];
    }
    case "ForStatement":
      return forLoop(reader, node, body);
    case "ForOfStatement":
      return forOf(reader, node, body);
    case "WhileStatement":
    case "DoWhileStatement":
      return whileLoop(reader, node, body);
    case "SwitchStatement":
      return choice(reader, node);
    case "BreakStatement":
    case "ContinueStatement":
      return jump(reader, node);
    case "LabeledStatement":
      return labelled(reader, node);
    case "ReturnStatement":
      if (node.argument && isUndefined(reader, node.argument)) return [{ kind: "return", span }];
      // `return m.count()`: what has no value is done, and nothing is returned.
      if (node.argument?.type === "CallExpression" && !reader.tellsPresence) {
        const outcome = reader.grammar.call(reader, node.argument);
        if (outcome.kind === "statement") return [outcome.statement, { kind: "return", span }];
        return [{ kind: "return", value: outcome.expression, span }];
      }
      if (node.argument && reader.tellsPresence) return returnPresence(reader, node.argument, span);
      return [
        { kind: "return", ...(!node.argument ? {} : { value: reader.grammar.value(reader, node.argument) }), span },
      ];
    case "TryStatement":
      return tryStatement(reader, node, body);
    case "ThrowStatement":
      return throwStatement(reader, node);
    case "FunctionDeclaration":
      return [];
    case "ClassDeclaration":
    case "WithStatement":
    case "DebuggerStatement":
    case "ForInStatement":
      return reader.refuseSyntax(node, node.type);
  }
}

/** `undefined`, which is what a handler returns anyway; `void exit()` is for its effect. */
function isUndefined(reader: Reader, node: js.Expression): boolean {
  return node.type === "Identifier" && node.name === "undefined" && reader.find(node.name) === undefined;
}

/** An expression for its effect. */
export function expression(reader: Reader, node: js.Expression): Statement[] {
  const span = reader.span(node);
  switch (node.type) {
    case "ParenthesizedExpression":
      return expression(reader, node.expression);
    case "AssignmentExpression":
      return assignment(reader, node);
    case "CallExpression": {
      const outcome = reader.grammar.call(reader, node);
      return [outcome.kind === "statement" ? outcome.statement : expressionStatement(outcome.expression, span)];
    }
    case "ChainExpression":
      if (node.expression.type === "CallExpression") return expression(reader, node.expression);
      break;
    case "LogicalExpression": {
      // `a && m.count()`
      if (node.operator === "??") break;
      const condition = reader.grammar.condition(reader, node.left);
      const then = block(expression(reader, node.right), reader.span(node.right));
      return [
        { kind: "if", condition: node.operator === "&&" ? condition : not(condition, condition.span), then, span },
      ];
    }
    case "ConditionalExpression":
      return [
        {
          kind: "if",
          condition: reader.grammar.condition(reader, node.test),
          then: block(expression(reader, node.consequent), reader.span(node.consequent)),
          otherwise: block(expression(reader, node.alternate), reader.span(node.alternate)),
          span,
        },
      ];
    case "SequenceExpression":
      return node.expressions.flatMap((inner) => expression(reader, inner));
    case "UnaryExpression":
      if (node.operator === "void") return expression(reader, node.argument);
      break;
    default:
  }
  return [expressionStatement(reader.grammar.value(reader, node), span)];
}

/** `[a, b] = [b, a]`: all are read before any is written. */
function together(
  reader: Reader,
  left: js.ArrayPattern,
  right: js.ArrayExpression,
  span: Expression["span"],
): Statement[] {
  if (left.elements.length !== right.elements.length) return reader.refuse(left, handlers.manyAssignedThereValues());
  const kept = right.elements.map((element) => {
    if (element === null || element.type === "SpreadElement")
      return reader.refuse(right, handlers.valuesMustWrittenOut());
    return { name: reader.temporary("kept"), value: reader.grammar.value(reader, element) };
  });
  return [
    ...kept.map(({ name, value }): Statement => ({ kind: "declare", variable: variable(name, span), value, span })),
    ...left.elements.map((element, i): Statement => {
      if (element === null) return reader.refuse(left, handlers.thereNothingAssignHere());
      return {
        kind: "assign",
        target: place(reader, element),
        operator: null,
        value: variable(kept[i].name, span),
        span,
      };
    }),
  ];
}

function assignment(reader: Reader, node: js.AssignmentExpression): Statement[] {
  const span = reader.span(node);
  if (node.left.type === "ArrayPattern" && node.right.type === "ArrayExpression" && node.operator === "=")
    return together(reader, node.left, node.right, span);
  const target = place(reader, node.left);
  const there = knownThere(reader, node.left);
  if (there !== undefined && target.kind === "variable" && ["=", "??=", "||=", "&&="].includes(node.operator)) {
    // Whoever asks later is to know what it was given.
    const isThere = variable(there, span);
    const given = giving(reader, node.right, isThere, target);
    if (node.operator === "=") return given.some(({ kind }) => kind === "declare") ? [block(given, span)] : given;
    const true_ = isTrue({ before: [], there: isThere, value: target });
    return [
      {
        kind: "if",
        condition: node.operator === "??=" ? not(isThere, span) : node.operator === "||=" ? not(true_, span) : true_,
        then: block(given, span),
        span,
      },
    ];
  }
  const operand = reader.grammar.value(reader, node.right);
  const assign = (
    value: Expression,
    operator: Extract<Statement, { kind: "assign" }>["operator"] = null,
  ): Statement => ({ kind: "assign", target, operator, value, span });
  const only = (condition: Expression): Statement => ({
    kind: "if",
    condition,
    then: block([assign(operand)], span),
    span,
  });
  switch (node.operator) {
    case "=":
      return [target.kind === "map" ? assigned(target, operand, span) : assign(operand)];
    case "&&=":
      return [only(target)];
    case "||=":
      return [only(not(target, span))];
    case "??=":
      if (reader.isParameter(node.left)) return [];
      if (target.kind !== "map") return reader.refuse(node, handlers.variableNeverMissing());
      return [only(not(hasKey(target, span), span))];
    case ">>>=":
      return [assign(unsignedShift(target, operand, span))];
    case "**=":
      return reader.refuseSyntax(node, "power");
    default:
      return [assign(operand, binaryOperators[node.operator.slice(0, -1)])];
  }
}
