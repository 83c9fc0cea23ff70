// Expressions, copied and typed. Each function gives a new node; a node of unknown type after a mistake silences those
// above.
import { lazy } from "../../base/lazy.ts";
import { expressions } from "../../messages/expressions.ts";
import { findBuiltin } from "../builtins/table.ts";
import type { ChoiceLiteral, Expression } from "../program.ts";
import { textLength } from "../text-bytes.ts";
import { boolType, float64, unknownType } from "../types.ts";
import type { Alternative, Type } from "../types.ts";
import { checkResult } from "./aggregations.ts";
import { checkBuiltin } from "./builtin-values.ts";
import { checkCall } from "./calls.ts";
import { checkCast } from "./casts.ts";
import { constantOf } from "./constants.ts";
import { literalType, settled } from "./integers.ts";
import { checkMember } from "./members.ts";
import { checkPresence } from "./presence.ts";
import { report } from "./pass.ts";
import type { Body } from "./pass.ts";
import { checkAssignment, checkBlockExpression, checkSequence } from "./statements.ts";
import { describe, isKnown, unify, widen } from "./unify.ts";
import { checkCondition, checkValue } from "./values.ts";
import { checkIdentifier, checkVariable, checkMapRead } from "./names.ts";
import { checkIncrement, checkUnary } from "./unary-operators.ts";
import { checkBinary } from "./binary-operators.ts";
import { checkIndex, checkTupleIndex } from "./elements.ts";
import { checkSizeOf, checkOffsetOf } from "./sizes.ts";

// Loaded where a script asks for it.
const described = lazy<typeof import("./described.ts")>(() => require("./described.ts"));

export function checkExpression(node: Expression, body: Body): Expression {
  switch (node.kind) {
    case "integer":
      return { ...node, type: literalType(node.value) };
    case "float":
      return { ...node, type: float64 };
    case "string":
      return { ...node, type: { kind: "string", capacity: textLength(node.value) + 1 } };
    case "boolean":
      return { ...node, type: boolType };
    case "identifier":
      return checkIdentifier(node, body);
    case "builtin": {
      // `exit` and `time` without parentheses are calls.
      const call = findBuiltin(node.name)?.statement === true || node.name === "default_str_length";
      return call
        ? checkCall({ kind: "call", name: node.name, args: [], span: node.span, type: unknownType }, body, true)
        : checkBuiltin(node.name, node.span, body);
    }
    case "variable":
      return checkVariable(node, body);
    case "map":
      return checkMapRead(node, body);
    case "unary":
      return checkUnary(node, body);
    case "binary":
      return checkBinary(node, body);
    case "conditional":
      return checkConditional(node, body);
    case "assignment":
      return checkAssignment(node, body);
    case "increment":
      return checkIncrement(node, body);
    case "call":
      return checkCall(node, body);
    case "member":
      return checkMember(node, body);
    case "index":
      return checkIndex(node, body);
    case "tuple-index":
      return checkTupleIndex({ ...node, object: checkExpression(node.object, body) }, body);
    case "cast":
      return checkCast(node, body);
    case "sizeof":
      return checkSizeOf(node, body);
    case "offsetof":
      return checkOffsetOf(node, body);
    case "tuple": {
      const elements = node.elements.map((e) => checkValue(e, body));
      return { ...node, elements, type: known({ kind: "tuple", elements: elements.map((e) => widen(e.type)) }) };
    }
    case "record": {
      const fields = node.fields.map((f) => ({ name: f.name, value: checkValue(f.value, body) }));
      return {
        ...node,
        fields,
        type: known({ kind: "record", fields: fields.map((f) => ({ name: f.name, type: widen(f.value.type) })) }),
      };
    }
    case "result":
      return checkResult(node, body);
    case "presence":
      return checkPresence(node, body);
    case "described":
      return described().describe(node, body);
    case "block-expression":
      return checkBlockExpression(node, body);
    case "sequence":
      return checkSequence(node, body);
    case "choice":
      return checkChoice(node, body);
  }
}

function checkChoice(node: ChoiceLiteral, body: Body): Expression {
  const alternatives = node.alternatives.map((one) => ({
    ...one,
    ...(one.test === undefined ? {} : { test: checkCondition(one.test, body) }),
    ...(one.value === undefined ? {} : { value: checkValue(one.value, body) }),
  }));
  if (alternatives.some(({ value }) => value !== undefined && !isKnown(value.type)))
    return { ...node, alternatives, type: unknownType };
  const types = alternatives.map(({ name, none, value }): Alternative => ({
    ...(name === undefined ? {} : { name }),
    ...(none === undefined ? {} : { none }),
    ...(value === undefined ? {} : { type: settled(value.type) }),
  }));
  return { ...node, alternatives, type: { kind: "choice", alternatives: types } };
}

function known(type: Type): Type {
  return isKnown(type) ? type : unknownType;
}

function checkConditional(node: Extract<Expression, { kind: "conditional" }>, body: Body): Expression {
  const condition = checkCondition(node.condition, body);
  const decided = constantOf(condition);
  if (decided !== undefined) return checkExpression(decided === 0n ? node.otherwise : node.then, body);
  const then = checkExpression(node.then, body);
  const otherwise = checkExpression(node.otherwise, body);
  const type =
    unify(then.type, otherwise.type) ??
    report(
      body,
      node.span,
      expressions.branchesDifferentTypes(describe(settled(then.type)), describe(settled(otherwise.type))),
    );
  return { ...node, condition, then, otherwise, type: known(type) };
}
