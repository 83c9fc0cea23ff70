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
import type { Unit } from "./unit.ts";
import { block, expressionStatement, hasKey, not, refusal, variable } from "./unit.ts";

export function body(unit: Unit, node: js.Statement): Block {
  const statements = node.type === "BlockStatement" ? node.body : [node];
  return unit.nested(node, () =>
    unit.scoped(() => {
      // They may be called before the line that they stand in.
      for (const each of statements) if (each.type === "FunctionDeclaration") innerFunction(unit, each.id, each);
      return block(
        statements.flatMap((s) => safely(unit, s)),
        unit.span(node),
      );
    }),
  );
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
    case "BlockStatement":
      return [body(unit, node)];
    case "EmptyStatement":
      return [];
    case "ExpressionStatement":
      return expression(unit, node.expression);
    case "VariableDeclaration":
      return declaration(unit, node);
    case "IfStatement": {
      const known = knownTruth(unit, node.test);
      if (known !== undefined) {
        const taken = known ? node.consequent : node.alternate;
        return taken ? [body(unit, taken)] : [];
      }
      const condition = unit.grammar.condition(unit, node.test);
      const then = body(unit, node.consequent);
      return [
        { kind: "if", condition, then, ...(!node.alternate ? {} : { otherwise: body(unit, node.alternate) }), span },
      ];
    }
    case "ForStatement":
      return forLoop(unit, node, body);
    case "ForOfStatement":
      return forOf(unit, node, body);
    case "WhileStatement":
    case "DoWhileStatement":
      return whileLoop(unit, node, body);
    case "SwitchStatement":
      return choice(unit, node);
    case "BreakStatement":
    case "ContinueStatement":
      return jump(unit, node);
    case "LabeledStatement":
      return labelled(unit, node);
    case "ReturnStatement":
      if (node.argument && isUndefined(unit, node.argument)) return [{ kind: "return", span }];
      // `return m.count()`: what has no value is done, and nothing is returned.
      if (node.argument?.type === "CallExpression" && !unit.tellsPresence) {
        const outcome = unit.grammar.call(unit, node.argument);
        if (outcome.kind === "statement") return [outcome.statement, { kind: "return", span }];
        return [{ kind: "return", value: outcome.expression, span }];
      }
      if (node.argument && unit.tellsPresence) return returnPresence(unit, node.argument, span);
      return [{ kind: "return", ...(!node.argument ? {} : { value: unit.grammar.value(unit, node.argument) }), span }];
    case "TryStatement":
      return tryStatement(unit, node, body);
    case "ThrowStatement":
      return throwStatement(unit, node);
    case "FunctionDeclaration":
      return [];
    case "ClassDeclaration":
    case "WithStatement":
    case "DebuggerStatement":
    case "ForInStatement":
      return unit.refuseSyntax(node, node.type);
  }
}

/** `undefined`, which is what a handler returns anyway; `void exit()` is for its effect. */
function isUndefined(unit: Unit, node: js.Expression): boolean {
  return node.type === "Identifier" && node.name === "undefined" && unit.find(node.name) === undefined;
}

/** An expression for its effect. */
export function expression(unit: Unit, node: js.Expression): Statement[] {
  const span = unit.span(node);
  switch (node.type) {
    case "ParenthesizedExpression":
      return expression(unit, node.expression);
    case "AssignmentExpression":
      return assignment(unit, node);
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
      return [
        { kind: "if", condition: node.operator === "&&" ? condition : not(condition, condition.span), then, span },
      ];
    }
    case "ConditionalExpression":
      return [
        {
          kind: "if",
          condition: unit.grammar.condition(unit, node.test),
          then: block(expression(unit, node.consequent), unit.span(node.consequent)),
          otherwise: block(expression(unit, node.alternate), unit.span(node.alternate)),
          span,
        },
      ];
    case "SequenceExpression":
      return node.expressions.flatMap((inner) => expression(unit, inner));
    case "UnaryExpression":
      if (node.operator === "void") return expression(unit, node.argument);
      break;
    default:
  }
  return [expressionStatement(unit.grammar.value(unit, node), span)];
}

/** `[a, b] = [b, a]`: all are read before any is written. */
function together(unit: Unit, left: js.ArrayPattern, right: js.ArrayExpression, span: Expression["span"]): Statement[] {
  if (left.elements.length !== right.elements.length) return unit.refuse(left, handlers.manyAssignedThereValues());
  const kept = right.elements.map((element) => {
    if (element === null || element.type === "SpreadElement")
      return unit.refuse(right, handlers.valuesMustWrittenOut());
    return { name: unit.temporary("kept"), value: unit.grammar.value(unit, element) };
  });
  return [
    ...kept.map(({ name, value }): Statement => ({ kind: "declare", variable: variable(name, span), value, span })),
    ...left.elements.map((element, i): Statement => {
      if (element === null) return unit.refuse(left, handlers.thereNothingAssignHere());
      return {
        kind: "assign",
        target: place(unit, element),
        operator: null,
        value: variable(kept[i].name, span),
        span,
      };
    }),
  ];
}

function assignment(unit: Unit, node: js.AssignmentExpression): Statement[] {
  const span = unit.span(node);
  if (node.left.type === "ArrayPattern" && node.right.type === "ArrayExpression" && node.operator === "=")
    return together(unit, node.left, node.right, span);
  const target = place(unit, node.left);
  const there = knownThere(unit, node.left);
  if (there !== undefined && target.kind === "variable" && ["=", "??=", "||=", "&&="].includes(node.operator)) {
    // Whoever asks later is to know what it was given.
    const isThere = variable(there, span);
    const given = giving(unit, node.right, isThere, target);
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
  const operand = unit.grammar.value(unit, node.right);
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
      if (unit.isParameter(node.left)) return [];
      if (target.kind !== "map") return unit.refuse(node, handlers.variableNeverMissing());
      return [only(not(hasKey(target, span), span))];
    case ">>>=":
      return [assign(unsignedShift(target, operand, span))];
    case "**=":
      return unit.refuseSyntax(node, "power");
    default:
      return [assign(operand, binaryOperators[node.operator.slice(0, -1)])];
  }
}
