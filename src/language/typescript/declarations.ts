// `let`, `const`, and what they take apart.
import { handlerNames } from "../../messages/typescript-names.ts";
import type * as js from "acorn";
import type { Span } from "../diagnostic.ts";
import type { Expression, Statement } from "../program.ts";
import { unknownType } from "../types.ts";
import type { Binding } from "./binding.ts";
import { isNothing, outside } from "./known.ts";
import { giving, isAskedFor, missable } from "./missing.ts";
import { bound, refer, valueOf } from "./references.ts";
import type { InnerFunction, Reference, Unit } from "./unit.ts";
import { block, boolean, builtin, isPlain, member, refusal, tuplePart, variable, writtenKey } from "./unit.ts";

export function declaration(unit: Unit, node: js.VariableDeclaration): Statement[] {
  return node.declarations.flatMap(({ id, init }) => {
    try {
      return declarator(unit, node, id, init ?? undefined);
    } catch (error) {
      // What is wrong is said; that its names are not there then is no second mistake.
      if (error === refusal)
        for (const name of namesIn(id))
          unit.alias(name, () => {
            throw refusal;
          });
      throw error;
    }
  });
}

function namesIn(pattern: js.Pattern): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        namesIn(property.type === "RestElement" ? property.argument : property.value),
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element === null ? [] : namesIn(element)));
    case "AssignmentPattern":
      return namesIn(pattern.left);
    case "RestElement":
      return namesIn(pattern.argument);
    case "MemberExpression":
      return [];
  }
}

function declarator(
  unit: Unit,
  node: js.VariableDeclaration,
  id: js.Pattern,
  init: js.Expression | undefined,
): Statement[] {
  const constant = node.kind === "const";
  if (init === undefined) {
    if (id.type !== "Identifier") return unit.fault(id, "a pattern without a value");
    const asked = isAskedFor(unit, id.name) ? variable(unit.temporary("there"), unit.span(id)) : undefined;
    const declared: Statement = {
      kind: "declare",
      variable: variable(unit.declare(id.name, constant, asked?.name), unit.span(id)),
      span: unit.span(node),
    };
    return asked === undefined
      ? [declared]
      : [{ kind: "declare", variable: asked, value: boolean(false, asked.span), span: unit.span(node) }, declared];
  }
  if (id.type === "Identifier" && (init.type === "ArrowFunctionExpression" || init.type === "FunctionExpression"))
    return innerFunction(unit, id, init);
  if (id.type === "Identifier" && constant && (isNothing(unit, init) || outside(unit, init)?.kind === "nothing")) {
    unit.alias(id.name, () => ({ kind: "nothing", what: "undefined" }));
    return [];
  }
  const found = id.type === "Identifier" && isAskedFor(unit, id.name) ? missable(unit, init) : undefined;
  if (id.type === "Identifier" && found !== undefined) {
    const span = unit.span(node);
    const there = variable(unit.temporary("there"), unit.span(init));
    if (found.before.length === 0 && found.value !== undefined)
      return [
        { kind: "declare", variable: there, value: found.there, span },
        {
          kind: "declare",
          variable: variable(unit.declare(id.name, constant, there.name), unit.span(id)),
          value: found.value,
          span,
        },
      ];
    const name = variable(unit.declareApart(id.name, constant, there.name), unit.span(id));
    return [
      { kind: "declare", variable: there, value: boolean(false, span), span },
      { kind: "declare", variable: name, span },
      block(giving(unit, found, there, name), span),
    ];
  }
  const reference = refer(unit, init);
  if (reference.kind === "entry" && id.type === "Identifier" && constant) return entryAlias(unit, id, reference, node);
  if (
    id.type === "Identifier" &&
    constant &&
    reference.kind !== "value" &&
    reference.kind !== "builtin" &&
    reference.kind !== "entry"
  ) {
    unit.alias(id.name, () => reference);
    return [];
  }
  if (reference.kind === "module") {
    nameMembers(unit, id, reference);
    return [];
  }
  const value = valueOf(unit, reference, init);
  if (id.type === "Identifier") return [declare(unit, id, value, constant, unit.span(node))];
  if (isPlain(value)) return takeApart(unit, id, value, constant);
  const whole = variable(unit.temporary("whole"), unit.span(init));
  return [{ kind: "declare", variable: whole, value, span: unit.span(node) }, ...takeApart(unit, id, whole, constant)];
}

/** A function that the handler makes is called by its name, and stands for its body there. */
export function innerFunction(unit: Unit, id: js.Identifier, node: InnerFunction): Statement[] {
  if (node.async) unit.refuseSyntax(node, "async");
  if (node.generator) unit.refuseSyntax(node, "generator");
  const scopes = unit.scopesNow();
  unit.alias(id.name, () => ({ kind: "inner", node, scopes }));
  return [];
}

/** The name becomes visible after its value was read. */
function declare(unit: Unit, id: js.Identifier, value: Expression, constant: boolean, span: Span): Statement {
  return { kind: "declare", variable: variable(unit.declare(id.name, constant), unit.span(id)), value, span };
}

/** `const entry = m.at(key)`: the keys are read once, here. */
function entryAlias(
  unit: Unit,
  id: js.Identifier,
  { access }: Extract<Reference, { kind: "entry" }>,
  node: js.Node,
): Statement[] {
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
  for (const { id, value } of partsOf(unit, pattern, from))
    unit.alias(id.name, (span) => ({ kind: "value", expression: { ...value, span } }));
}

/** Names for the members of a list or an object around the handler, which are constants, maps, functions. */
function nameMembers(unit: Unit, pattern: js.Pattern, of: Binding | undefined): void {
  switch (pattern.type) {
    case "Identifier": {
      if (of === undefined) return unit.refuse(pattern, handlerNames.thereNo(pattern.name));
      return unit.alias(pattern.name, () => bound(unit, of, pattern.name, pattern));
    }
    case "AssignmentPattern": {
      if (of !== undefined && of.kind !== "nothing") return nameMembers(unit, pattern.left, of);
      if (pattern.left.type !== "Identifier") return unit.refuseSyntax(pattern, "RestElement");
      const otherwise = unit.grammar.value(unit, pattern.right);
      return unit.alias(pattern.left.name, () => ({ kind: "value", expression: otherwise }));
    }
    case "ObjectPattern":
    case "ArrayPattern": {
      if (of?.kind !== "module") return unit.refuse(pattern, handlerNames.cannotTakenApart());
      if (pattern.type === "ArrayPattern")
        return pattern.elements.forEach((element, i) => element && nameMembers(unit, element, of.member(String(i))));
      return pattern.properties.forEach((property) => {
        if (property.type === "RestElement") return unit.refuseSyntax(property, "RestElement");
        const { key } = property;
        const name = writtenKey(property);
        if (name === undefined) return unit.refuse(key, handlerNames.memberNameMustWrittenOut());
        return nameMembers(unit, property.value, of.member(name));
      });
    }
    case "RestElement":
      return unit.refuseSyntax(pattern, pattern.type);
    case "MemberExpression":
      return unit.fault(pattern, "a declaration of a member");
  }
}

function partsOf(unit: Unit, pattern: js.Pattern, from: Expression): { id: js.Identifier; value: Expression }[] {
  switch (pattern.type) {
    case "Identifier":
      return [{ id: pattern, value: from }];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) => {
        if (property.type === "RestElement") return unit.refuseSyntax(property, "RestElement");
        const { key } = property;
        const name = writtenKey(property);
        if (name === undefined) return unit.refuse(key, handlerNames.memberNameMustWrittenOut());
        const span = unit.span(property.value);
        return partsOf(unit, property.value, member(from, name, unit.span(key), span));
      });
    case "ArrayPattern":
      return pattern.elements.flatMap((element, i) =>
        element === null ? [] : partsOf(unit, element, elementOf(from, i, unit.span(element))),
      );
    // Nothing is ever missing in the kernel: what is not there reads as 0.
    case "AssignmentPattern":
      return partsOf(unit, pattern.left, from);
    case "RestElement":
      return unit.refuseSyntax(pattern, pattern.type);
    case "MemberExpression":
      return unit.fault(pattern, "a declaration of a member");
  }
}

/** `[first]` of the arguments is `arg0`; of anything else, what stands there. */
function elementOf(from: Expression, index: number, span: Span): Expression {
  if (from.kind === "builtin" && from.name === "args") return builtin(`arg${index}`, span);
  if (from.kind === "variable" || from.kind === "tuple-index") return tuplePart(from, index, span);
  return {
    kind: "index",
    object: from,
    index: { kind: "integer", value: BigInt(index), span, type: unknownType },
    span,
    type: unknownType,
  };
}
