// `try`, `catch`, `finally` and `throw`. What is thrown is a text, as in `throw new Error("text")`, or what was caught.
import { handlers } from "../../messages/typescript.ts";
import type * as js from "acorn";
import type { Block, Expression, Statement } from "../program.ts";
import type { Unit } from "./unit.ts";
import { block, variable } from "./unit.ts";

type Body = (unit: Unit, node: js.Statement) => Block;

export function tryStatement(unit: Unit, node: js.TryStatement, body: Body): Statement[] {
  const { finalizer, handler } = node;
  if (!finalizer) return tryCatch(unit, node, body);
  const leaving = leaves(node.block) ?? (handler ? leaves(handler.body) : undefined);
  if (leaving) return unit.refuse(leaving, handlers.leavesTryWithFinally());
  const span = unit.span(node);
  const tried = handler ? block(tryCatch(unit, node, body), span) : body(unit, node.block);
  const failed = variable(unit.temporary("failed"), span);
  const again: Statement = { kind: "throw", value: failed, span };
  const caught = block([body(unit, finalizer), again], span);
  return [{ kind: "try", body: tried, caught: failed, handler: caught, span }, body(unit, finalizer)];
}

/** What goes on elsewhere than behind a piece of source: a return, or a jump out of it. */
function leaves(node: unknown, inLoop = false, inSwitch = false): js.Node | undefined {
  if (typeof node !== "object" || node === null) return undefined;
  if (Array.isArray(node)) {
    for (const one of node) {
      const found = leaves(one, inLoop, inSwitch);
      if (found) return found;
    }
    return undefined;
  }
  const { type } = node as js.Node;
  if (/Function/.test(type)) return undefined;
  if (type === "ReturnStatement") return node as js.Node;
  if (type === "BreakStatement" || type === "ContinueStatement") {
    const { label } = node as js.BreakStatement;
    const stays = !label && (inLoop || (inSwitch && type === "BreakStatement"));
    return stays ? undefined : (node as js.Node);
  }
  const loop = inLoop || /^(For|While|DoWhile)/.test(type);
  return leaves(Object.values(node), loop, inSwitch || type === "SwitchStatement");
}

function tryCatch(unit: Unit, node: js.TryStatement, body: Body): Statement[] {
  const span = unit.span(node);
  const { handler } = node;
  if (!handler) return unit.fault(node, "a try without a catch");
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
