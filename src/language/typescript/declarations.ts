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
import type { InnerFunction, Reference, Reader } from "./reader.ts";
import { block, boolean, builtin, isPlain, member, refusal, tuplePart, variable, writtenKey } from "./reader.ts";

export function declaration(reader: Reader, node: js.VariableDeclaration): Statement[] {
  return node.declarations.flatMap(({ id, init }) => {
    try {
      return declarator(reader, node, id, init ?? undefined);
    } catch (error) {
      // What is wrong is said; that its names are not there then is no second mistake.
      if (error === refusal)
        for (const name of namesIn(id))
          reader.alias(name, () => {
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
  reader: Reader,
  node: js.VariableDeclaration,
  id: js.Pattern,
  init: js.Expression | undefined,
): Statement[] {
  const constant = node.kind === "const";
  if (init === undefined) {
    if (id.type !== "Identifier") return reader.fault(id, "a pattern without a value");
    const asked = isAskedFor(reader, id.name) ? variable(reader.temporary("there"), reader.span(id)) : undefined;
    const declared: Statement = {
      kind: "declare",
      variable: variable(reader.declare(id.name, constant, asked?.name), reader.span(id)),
      span: reader.span(node),
    };
    return asked === undefined
      ? [declared]
      : [{ kind: "declare", variable: asked, value: boolean(false, asked.span), span: reader.span(node) }, declared];
  }
  if (id.type === "Identifier" && (init.type === "ArrowFunctionExpression" || init.type === "FunctionExpression"))
    return innerFunction(reader, id, init);
  if (id.type === "Identifier" && constant && (isNothing(reader, init) || outside(reader, init)?.kind === "nothing")) {
    reader.alias(id.name, () => ({ kind: "nothing", what: "undefined" }));
    return [];
  }
  const found = id.type === "Identifier" && isAskedFor(reader, id.name) ? missable(reader, init) : undefined;
  if (id.type === "Identifier" && found !== undefined) {
    const span = reader.span(node);
    const there = variable(reader.temporary("there"), reader.span(init));
    if (found.before.length === 0 && found.value !== undefined)
      return [
        { kind: "declare", variable: there, value: found.there, span },
        {
          kind: "declare",
          variable: variable(reader.declare(id.name, constant, there.name), reader.span(id)),
          value: found.value,
          span,
        },
      ];
    const name = variable(reader.declareApart(id.name, constant, there.name), reader.span(id));
    return [
      { kind: "declare", variable: there, value: boolean(false, span), span },
      { kind: "declare", variable: name, span },
      block(giving(reader, found, there, name), span),
    ];
  }
  const reference = refer(reader, init);
  if (reference.kind === "entry" && id.type === "Identifier" && constant)
    return entryAlias(reader, id, reference, node);
  if (
    id.type === "Identifier" &&
    constant &&
    reference.kind !== "value" &&
    reference.kind !== "builtin" &&
    reference.kind !== "entry"
  ) {
    reader.alias(id.name, () => reference);
    return [];
  }
  if (reference.kind === "module") {
    nameMembers(reader, id, reference);
    return [];
  }
  const value = valueOf(reader, reference, init);
  if (id.type === "Identifier") return [declare(reader, id, value, constant, reader.span(node))];
  if (isPlain(value)) return takeApart(reader, id, value, constant);
  const whole = variable(reader.temporary("whole"), reader.span(init));
  return [
    { kind: "declare", variable: whole, value, span: reader.span(node) },
    ...takeApart(reader, id, whole, constant),
  ];
}

/** A function that the handler makes is called by its name, and stands for its body there. */
export function innerFunction(reader: Reader, id: js.Identifier, node: InnerFunction): Statement[] {
  if (node.async) reader.refuseSyntax(node, "async");
  if (node.generator) reader.refuseSyntax(node, "generator");
  const scopes = reader.scopesNow();
  reader.alias(id.name, () => ({ kind: "inner", node, scopes }));
  return [];
}

/** The name becomes visible after its value was read. */
function declare(reader: Reader, id: js.Identifier, value: Expression, constant: boolean, span: Span): Statement {
  return { kind: "declare", variable: variable(reader.declare(id.name, constant), reader.span(id)), value, span };
}

/** `const entry = m.at(key)`: the keys are read once, here. */
function entryAlias(
  reader: Reader,
  id: js.Identifier,
  { access }: Extract<Reference, { kind: "entry" }>,
  node: js.Node,
): Statement[] {
  const statements: Statement[] = [];
  const keys = access.keys.map((key): Expression => {
    if (key.kind === "integer" || key.kind === "string" || key.kind === "boolean" || key.kind === "builtin") return key;
    const kept = variable(reader.temporary("key"), key.span);
    statements.push({ kind: "declare", variable: kept, value: key, span: reader.span(node) });
    return kept;
  });
  reader.alias(id.name, (span) => ({ kind: "entry", access: { ...access, keys, span } }));
  return statements;
}

/** A variable for each part of a value. */
function takeApart(reader: Reader, pattern: js.Pattern, from: Expression, constant: boolean): Statement[] {
  return partsOf(reader, pattern, from).map(({ id, value }) => declare(reader, id, value, constant, reader.span(id)));
}

/** Names for the parts of a value that never changes: parameters. No variable is made. */
export function nameParts(reader: Reader, pattern: js.Pattern, from: Expression): void {
  for (const { id, value } of partsOf(reader, pattern, from))
    reader.alias(id.name, (span) => ({ kind: "value", expression: { ...value, span } }));
}

/** Names for the members of a list or an object around the handler, which are constants, maps, functions. */
function nameMembers(reader: Reader, pattern: js.Pattern, of: Binding | undefined): void {
  switch (pattern.type) {
    case "Identifier": {
      if (of === undefined) return reader.refuse(pattern, handlerNames.thereNo(pattern.name));
      return reader.alias(pattern.name, () => bound(reader, of, pattern.name, pattern));
    }
    case "AssignmentPattern": {
      if (of !== undefined && of.kind !== "nothing") return nameMembers(reader, pattern.left, of);
      if (pattern.left.type !== "Identifier") return reader.refuseSyntax(pattern, "RestElement");
      const otherwise = reader.grammar.value(reader, pattern.right);
      return reader.alias(pattern.left.name, () => ({ kind: "value", expression: otherwise }));
    }
    case "ObjectPattern":
    case "ArrayPattern": {
      if (of?.kind !== "module") return reader.refuse(pattern, handlerNames.cannotTakenApart());
      if (pattern.type === "ArrayPattern")
        return pattern.elements.forEach((element, i) => element && nameMembers(reader, element, of.member(String(i))));
      return pattern.properties.forEach((property) => {
        if (property.type === "RestElement") return reader.refuseSyntax(property, "RestElement");
        const { key } = property;
        const name = writtenKey(property);
        if (name === undefined) return reader.refuse(key, handlerNames.memberNameMustWrittenOut());
        return nameMembers(reader, property.value, of.member(name));
      });
    }
    case "RestElement":
      return reader.refuseSyntax(pattern, pattern.type);
    case "MemberExpression":
      return reader.fault(pattern, "a declaration of a member");
  }
}

function partsOf(reader: Reader, pattern: js.Pattern, from: Expression): { id: js.Identifier; value: Expression }[] {
  switch (pattern.type) {
    case "Identifier":
      return [{ id: pattern, value: from }];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) => {
        if (property.type === "RestElement") return reader.refuseSyntax(property, "RestElement");
        const { key } = property;
        const name = writtenKey(property);
        if (name === undefined) return reader.refuse(key, handlerNames.memberNameMustWrittenOut());
        const span = reader.span(property.value);
        return partsOf(reader, property.value, member(from, name, reader.span(key), span));
      });
    case "ArrayPattern":
      return pattern.elements.flatMap((element, i) =>
        element === null ? [] : partsOf(reader, element, elementOf(from, i, reader.span(element))),
      );
    // Nothing is ever missing in the kernel: what is not there reads as 0.
    case "AssignmentPattern":
      return partsOf(reader, pattern.left, from);
    case "RestElement":
      return reader.refuseSyntax(pattern, pattern.type);
    case "MemberExpression":
      return reader.fault(pattern, "a declaration of a member");
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
