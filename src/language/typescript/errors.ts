// `try`, `catch`, `finally` and `throw`. What is thrown is a text, as in `throw new Error("text")`, or what was caught.
import { handlers } from "../../messages/typescript.ts";
import type * as js from "acorn";
import type { Block, Expression, Statement } from "../program.ts";
import type { Reader } from "./reader.ts";
import { block, variable } from "./reader.ts";

type Body = (reader: Reader, node: js.Statement) => Block;

export function tryStatement(reader: Reader, node: js.TryStatement, body: Body): Statement[] {
  const { finalizer, handler } = node;
  if (!finalizer) return tryCatch(reader, node, body);
  const leaving = leaves(node.block) ?? (handler ? leaves(handler.body) : undefined);
  if (leaving) return reader.refuse(leaving, handlers.leavesTryWithFinally());
  const span = reader.span(node);
  const tried = handler ? block(tryCatch(reader, node, body), span) : body(reader, node.block);
  const failed = variable(reader.temporary("failed"), span);
  const again: Statement = { kind: "throw", value: failed, span };
  const caught = block([body(reader, finalizer), again], span);
  return [{ kind: "try", body: tried, caught: failed, handler: caught, span }, body(reader, finalizer)];
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

function tryCatch(reader: Reader, node: js.TryStatement, body: Body): Statement[] {
  const span = reader.span(node);
  const { handler } = node;
  if (!handler) return reader.fault(node, "a try without a catch");
  const tried = body(reader, node.block);
  const { param } = handler;
  return reader.scoped(() => {
    if (!param) return [{ kind: "try", body: tried, handler: body(reader, handler.body), span }];
    if (param.type !== "Identifier") return reader.refuse(param, handlers.errorCaughtUnderName());
    const caught = variable(reader.declare(param.name, true), reader.span(param));
    return [{ kind: "try", body: tried, caught, handler: body(reader, handler.body), span }];
  });
}

export function throwStatement(reader: Reader, node: js.ThrowStatement): Statement[] {
  return [{ kind: "throw", value: thrown(reader, node.argument), span: reader.span(node) }];
}

/** `new Error("text")` is the text. */
function thrown(reader: Reader, node: js.Expression): Expression {
  const made = node.type === "NewExpression" || node.type === "CallExpression" ? node : undefined;
  if (made === undefined || made.callee.type !== "Identifier" || made.callee.name !== "Error" || reader.find("Error"))
    return reader.grammar.value(reader, node);
  const [message] = made.arguments;
  if (made.arguments.length !== 1 || message.type === "SpreadElement")
    return reader.refuse(node, handlers.errorMessageNothingElse());
  return reader.grammar.value(reader, message);
}
