// `let`, `const`, and what they take apart.
import type * as js from "acorn";
import type { Span } from "../diagnostic.ts";
import type { Expression, Statement } from "../program.ts";
import { unknownType } from "../types.ts";
import { hasKey, isAskedFor } from "./expressions.ts";
import { isPlain, refer, valueOf } from "./references.ts";
import type { Reference, Unit } from "./unit.ts";
import { builtin, member, refusal, tuplePart, variable } from "./unit.ts";

export function declaration(unit: Unit, node: js.VariableDeclaration): Statement[] {
  return node.declarations.flatMap(({ id, init }) => {
    try {
      return declarator(unit, node, id, init ?? undefined);
    } catch (error) {
      // What is wrong is said; that its names are not there then is no second mistake.
      if (error === refusal) for (const name of namesIn(id)) unit.alias(name, () => { throw refusal; });
      throw error;
    }
  });
}

function namesIn(pattern: js.Pattern): string[] {
  switch (pattern.type) {
    case "Identifier": return [pattern.name];
    case "ObjectPattern": return pattern.properties.flatMap((property) => namesIn(property.type === "RestElement" ? property.argument : property.value));
    case "ArrayPattern": return pattern.elements.flatMap((element) => element === null ? [] : namesIn(element));
    case "AssignmentPattern": return namesIn(pattern.left);
    case "RestElement": return namesIn(pattern.argument);
    case "MemberExpression": return [];
  }
}

function declarator(unit: Unit, node: js.VariableDeclaration, id: js.Pattern, init: js.Expression | undefined): Statement[] {
  const constant = node.kind === "const";
  if (init === undefined) {
    if (id.type !== "Identifier") return unit.refuse(id, "syntax", "there is nothing to take apart");
    return [{ kind: "declare", variable: variable(unit.declare(id.name, constant), unit.span(id)), span: unit.span(node) }];
  }
  const reference = refer(unit, init);
  if (reference.kind === "entry" && id.type === "Identifier" && constant) return entryAlias(unit, id, reference, node);
  if (id.type === "Identifier" && constant && reference.kind !== "value" && reference.kind !== "builtin" && reference.kind !== "entry") {
    unit.alias(id.name, () => reference);
    return [];
  }
  const value = valueOf(unit, reference, init);
  const read = id.type === "Identifier" && constant && value.kind === "map" && value.keys.length > 0 && isAskedFor(unit, id.name) ? value : undefined;
  if (id.type === "Identifier" && read !== undefined) {
    const there = variable(unit.temporary("there"), unit.span(init));
    const name = variable(unit.declare(id.name, constant, there.name), unit.span(id));
    return [
      { kind: "declare", variable: there, value: hasKey(unit, read, init), span: unit.span(node) },
      { kind: "declare", variable: name, value, span: unit.span(node) },
    ];
  }
  if (id.type === "Identifier") return [declare(unit, id, value, constant, unit.span(node))];
  if (isPlain(value)) return takeApart(unit, id, value, constant);
  const whole = variable(unit.temporary("whole"), unit.span(init));
  return [{ kind: "declare", variable: whole, value, span: unit.span(node) }, ...takeApart(unit, id, whole, constant)];
}

/** The name becomes visible after its value was read. */
function declare(unit: Unit, id: js.Identifier, value: Expression, constant: boolean, span: Span): Statement {
  return { kind: "declare", variable: variable(unit.declare(id.name, constant), unit.span(id)), value, span };
}

/** `const entry = m.at(key)`: the keys are read once, here. */
function entryAlias(unit: Unit, id: js.Identifier, { access }: Extract<Reference, { kind: "entry" }>, node: js.Node): Statement[] {
  const statements: Statement[] = [];
  const keys = access.keys.map((key): Expression => {
    if (key.kind === "integer" || key.kind === "string" || key.kind === "boolean" || key.kind === "builtin") return key;
    const kept = variable(unit.temporary("key"), key.span);
    statements.push({ kind: "declare", variable: kept, value: key, span: unit.span(node) });
    return kept;
  });
  unit.alias(id.name, (span) => ({ kind: "entry", access: { ...access, keys, span } }));
  return statements;
}

/** A variable for each part of a value. */
function takeApart(unit: Unit, pattern: js.Pattern, from: Expression, constant: boolean): Statement[] {
  return partsOf(unit, pattern, from).map(({ id, value }) => declare(unit, id, value, constant, unit.span(id)));
}

/** Names for the parts of a value that never changes: parameters. No variable is made. */
export function nameParts(unit: Unit, pattern: js.Pattern, from: Expression): void {
  for (const { id, value } of partsOf(unit, pattern, from)) unit.alias(id.name, (span) => ({ kind: "value", expression: { ...value, span } }));
}

function partsOf(unit: Unit, pattern: js.Pattern, from: Expression): { id: js.Identifier; value: Expression }[] {
  switch (pattern.type) {
    case "Identifier": return [{ id: pattern, value: from }];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) => {
        if (property.type === "RestElement") return unit.refuseSyntax(property, "RestElement");
        const { key } = property;
        const name = property.computed ? undefined : key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : undefined;
        if (name === undefined) return unit.refuse(key, "arguments", "a member's name must be written out");
        const span = unit.span(property.value);
        return partsOf(unit, property.value, member(from, name, unit.span(key), span));
      });
    case "ArrayPattern":
      return pattern.elements.flatMap((element, i) => element === null ? [] : partsOf(unit, element, elementOf(from, i, unit.span(element))));
    case "AssignmentPattern":
    case "RestElement": return unit.refuseSyntax(pattern, pattern.type);
    case "MemberExpression": return unit.refuse(pattern, "syntax", "a declaration makes variables");
  }
}

/** `[first]` of the arguments is `arg0`; of anything else, what stands there. */
function elementOf(from: Expression, index: number, span: Span): Expression {
  if (from.kind === "builtin" && from.name === "args") return builtin(`arg${index}`, span);
  if (from.kind === "variable" || from.kind === "tuple-index") return tuplePart(from, index, span);
  return { kind: "index", object: from, index: { kind: "integer", value: BigInt(index), span, type: unknownType }, span, type: unknownType };
}
