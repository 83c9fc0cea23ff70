// C's loops, `switch`, and what fails: statements that hold others.
import { declarations } from "../../messages/declarations.ts";
import { boolType } from "../types.ts";
import type { Block, Expression, Statement } from "../program.ts";
import { errorType } from "../faults.ts";
import { constantOf } from "./constants.ts";
import { mayLeave } from "./endless.ts";
import { settled } from "./integers.ts";
import type { Body } from "./pass.ts";
import { assignVariable, declareVariable, report, variableType } from "./pass.ts";
import { describe, isKnown, sameType, widen } from "./unify.ts";
import { checkCondition, checkExpression, checkValue } from "./values.ts";

/** What statements.ts has for what stands inside of them. */
export interface Inside {
  readonly block: (block: Block, body: Body) => Block;
  readonly statement: (statement: Statement, body: Body) => Statement;
}

type Of<Kind extends Statement["kind"]> = Extract<Statement, { kind: Kind }>;

/** A loop's body; `variable` lives in a scope around it. */
export function checkLoop(block: Block, body: Body, { block: check }: Pick<Inside, "block">): Block {
  body.loops++;
  body.breakable++;
  const checked = check(block, body);
  body.loops--;
  body.breakable--;
  return checked;
}

function refuseEndless(condition: Expression | undefined, node: Of<"while" | "do-while" | "for">, body: Body): void {
  const always = condition === undefined || (constantOf(condition) ?? 0n) !== 0n;
  if (!always || mayLeave(node.body, body.pass.functions)) return;
  report(body, node.condition?.span ?? node.span, declarations.loopNeverEnds());
}

export function checkWhile(node: Of<"while" | "do-while">, body: Body, inside: Inside): Statement {
  if (node.kind === "do-while") {
    const round = checkLoop(node.body, body, inside);
    const condition = checkCondition(node.condition, body);
    refuseEndless(condition, node, body);
    return { ...node, condition, body: round };
  }
  const condition = checkCondition(node.condition, body);
  refuseEndless(condition, node, body);
  return { ...node, condition, body: checkLoop(node.body, body, inside) };
}

export function checkFor(node: Of<"for">, body: Body, inside: Inside): Statement {
  body.scopes.push(new Map());
  const before = node.before.map((statement) => inside.statement(statement, body));
  const condition = node.condition === undefined ? undefined : checkCondition(node.condition, body);
  refuseEndless(condition, node, body);
  const round = checkLoop(node.body, body, inside);
  const step = node.step.map((statement) => inside.statement(statement, body));
  body.scopes.pop();
  return { ...node, before, ...(condition === undefined ? {} : { condition }), step, body: round };
}

export function checkSwitch(node: Of<"switch">, body: Body, inside: Inside): Statement {
  const of = checkValue(node.of, body);
  body.scopes.push(new Map());
  const slot = declareVariable(body, node.subject);
  assignVariable(body, slot, isKnown(of.type) ? widen(settled(of.type)) : of.type);
  const subject = { ...node.subject, slot, type: variableType(body, slot) };
  body.breakable++;
  const cases = node.cases.map((one) => ({
    ...one,
    values: one.values.map((value) => {
      // Checked as what it is: a comparison.
      const equal = checkExpression(
        { kind: "binary", operator: "==", left: node.subject, right: value, span: value.span, type: boolType },
        body,
      );
      return equal.kind === "binary" ? equal.right : checkValue(value, body);
    }),
    body: inside.block(one.body, body),
  }));
  body.breakable--;
  body.scopes.pop();
  return { ...node, of, subject, cases };
}

/** What a handler of errors is given: as long as the longest message that is thrown. */
export function checkTry(node: Of<"try">, body: Body, inside: Inside): Statement {
  const tried = inside.block(node.body, body);
  body.scopes.push(new Map());
  const { caught } = node;
  let variable = caught;
  if (caught !== undefined) {
    const slot = declareVariable(body, caught);
    assignVariable(body, slot, errorType(body.pass.messageCapacity));
    variable = { ...caught, slot, type: variableType(body, slot) };
  }
  const handler = inside.block(node.handler, body);
  body.scopes.pop();
  return { ...node, body: tried, ...(variable === undefined ? {} : { caught: variable }), handler };
}

export function checkThrow(node: Of<"throw">, body: Body): Statement {
  const value = checkValue(node.value, body);
  const { type } = value;
  if (type.kind === "string") {
    if (type.capacity > body.pass.messageCapacity) {
      body.pass.messageCapacity = type.capacity;
      body.pass.changed = true;
    }
  } else if (type.kind !== "unknown" && !sameType(type, errorType(body.pass.messageCapacity)))
    report(body, value.span, declarations.expectedTextOrCaughtError(describe(type)));
  return { ...node, value };
}

/** `break` and `continue`. */
export function checkJump(node: Of<"break" | "continue">, body: Body): Statement {
  if ((node.kind === "break" ? body.breakable : body.loops) === 0)
    report(
      body,
      node.span,
      declarations.statementNotAllowed(node.kind, body.function === undefined ? "probe" : "function"),
    );
  return node;
}
