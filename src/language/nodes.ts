// Nodes of the tree that all languages share, as front-ends make them that read a language of their own first.
import type { HostTextName } from "./host-texts.ts";
import type { Span } from "./diagnostic.ts";
import type { BinaryOperator, Block, Expression, MapAccess, Statement, TypeName, Variable } from "./program.ts";
import { unknownType } from "./types.ts";

export function integer(value: bigint | number, span: Span): Expression {
  return { kind: "integer", value: BigInt(value), span, type: unknownType };
}

export function text(value: string, span: Span): Expression {
  return { kind: "string", value, span, type: unknownType };
}

export function call(name: string, args: readonly Expression[], span: Span): Expression {
  return { kind: "call", name, args, span, type: unknownType };
}

/** What only the host does with texts. */
export function hostText(name: HostTextName, args: readonly Expression[], span: Span): Expression {
  return call("host_text", [word(name, span), ...args], span);
}

export function builtin(name: string, span: Span): Expression {
  return { kind: "builtin", name, span, type: unknownType };
}

export function word(name: string, span: Span): Expression {
  return { kind: "identifier", name, span, type: unknownType };
}

export function variable(name: string, span: Span): Variable {
  return { kind: "variable", name, span, type: unknownType };
}

export function map(name: string, keys: readonly Expression[], span: Span): MapAccess {
  return { kind: "map", name, keys, span, type: unknownType };
}

export function binary(
  operator: BinaryOperator,
  left: Expression,
  right: Expression,
  span: Span = right.span,
): Expression {
  return { kind: "binary", operator, left, right, span, type: unknownType };
}

export function not(operand: Expression): Expression {
  return { kind: "unary", operator: "!", operand, span: operand.span, type: unknownType };
}

export function conditional(condition: Expression, then: Expression, otherwise: Expression, span: Span): Expression {
  return { kind: "conditional", condition, then, otherwise, span, type: unknownType };
}

export function member(object: Expression, name: string, span: Span): Expression {
  return { kind: "member", object, name, nameSpan: span, span, type: unknownType };
}

export function cast(to: TypeName, operand: Expression, span: Span = operand.span): Expression {
  return { kind: "cast", to, operand, span, type: unknownType };
}

export function typeName(name: string, span: Span): TypeName {
  return { name, pointers: 0, dimensions: [], span };
}

export function block(statements: readonly Statement[], span: Span): Block {
  return { kind: "block", statements, span };
}

export function statement(expression: Expression): Statement {
  return { kind: "expression", expression, discard: true, span: expression.span };
}

export function assign(
  target: Variable | MapAccess,
  value: Expression,
  span: Span,
  operator: BinaryOperator | null = null,
): Statement {
  return { kind: "assign", target, operator, value, span };
}

export function declare(name: string, value: Expression, type?: TypeName): Statement {
  const { span } = value;
  return {
    kind: "declare",
    variable: variable(name, span),
    ...(type === undefined ? {} : { declared: type }),
    value,
    span,
  };
}
