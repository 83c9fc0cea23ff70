// `try`, `catch` and `throw`. What is thrown is a text, as in `throw new Error("text")`, or what was caught.
import { handlers } from "../../messages/typescript.ts";
import type * as js from "acorn";
import type { Block, Expression, Statement } from "../program.ts";
import type { Unit } from "./unit.ts";
import { variable } from "./unit.ts";

type Body = (unit: Unit, node: js.Statement) => Block;

export function tryCatch(unit: Unit, node: js.TryStatement, body: Body): Statement[] {
  const span = unit.span(node);
  const { handler, finalizer } = node;
  if (finalizer) return unit.refuse(finalizer, handlers.handlerNoFinally());
  if (!handler) return unit.refuse(node, handlers.tryCatch());
  const tried = body(unit, node.block);
  const { param } = handler;
  return unit.scoped(() => {
    if (!param) return [{ kind: "try", body: tried, handler: body(unit, handler.body), span }];
    if (param.type !== "Identifier") return unit.refuse(param, handlers.errorCaughtUnderName());
    const caught = variable(unit.declare(param.name, true), unit.span(param));
    return [{ kind: "try", body: tried, caught, handler: body(unit, handler.body), span }];
  });
}

export function throwStatement(unit: Unit, node: js.ThrowStatement): Statement[] {
  return [{ kind: "throw", value: thrown(unit, node.argument), span: unit.span(node) }];
}

/** `new Error("text")` is the text. */
function thrown(unit: Unit, node: js.Expression): Expression {
  const made = node.type === "NewExpression" || node.type === "CallExpression" ? node : undefined;
  if (made === undefined || made.callee.type !== "Identifier" || made.callee.name !== "Error" || unit.find("Error"))
    return unit.grammar.value(unit, node);
  const [message] = made.arguments;
  if (made.arguments.length !== 1 || message.type === "SpreadElement")
    return unit.refuse(node, handlers.errorMessageNothingElse());
  return unit.grammar.value(unit, message);
}
