// Loops: over numbers, over maps, and while something holds. The kernel ends a loop that does not end itself.
import { handlers } from "../../messages/typescript.ts";
import type * as js from "acorn";
import type { Block, Expression, Statement } from "../program.ts";
import { declaration, nameParts } from "./declarations.ts";
import { jumpable } from "./jumps.ts";
import { refer } from "./references.ts";
import { byNumber, itemsOf } from "./tables.ts";
import type { Reference, Reader } from "./reader.ts";
import { binary, block, integer, mapAccess, tuplePart, variable } from "./reader.ts";

type Body = (reader: Reader, node: js.Statement) => Block;

/** `for (let i = a; i < b; i++)` is a range, unless the body changes `i` or what it is compared with. */
export function forLoop(reader: Reader, node: js.ForStatement, body: Body): Statement[] {
  const span = reader.span(node);
  const range = rangeOf(node);
  if (range !== undefined) {
    const from = reader.grammar.value(reader, range.from);
    const limit = reader.grammar.value(reader, range.to);
    const to = range.included ? plusOne(limit) : limit;
    return jumpable(reader, "loop", span, () =>
      reader.scoped(() => {
        const counter = variable(reader.declare(range.name.name, true), reader.span(range.name));
        return { kind: "for-range", variable: counter, from, to, body: body(reader, node.body), span };
      }),
    );
  }
  return reader.scoped(() => {
    const before = !node.init
      ? []
      : node.init.type === "VariableDeclaration"
        ? declaration(reader, node.init)
        : reader.grammar.effect(reader, node.init);
    const { test, update } = node;
    const loop = jumpable(reader, "loop", span, () => ({
      kind: "for",
      before: [],
      ...(test ? { condition: reader.grammar.condition(reader, test) } : {}),
      step: update ? reader.grammar.effect(reader, update) : [],
      body: body(reader, node.body),
      span,
    }));
    // What the loop declares is seen in it alone.
    return before.length === 0 ? loop : [block([...before, ...loop], span)];
  });
}

function plusOne(limit: Expression): Expression {
  return limit.kind === "integer"
    ? { ...limit, value: limit.value + 1n }
    : binary("+", limit, integer(1n, limit.span), limit.span);
}

interface Range {
  readonly name: js.Identifier;
  readonly from: js.Expression;
  readonly to: js.Expression;
  readonly included: boolean;
}

function rangeOf({ init, test, update, body }: js.ForStatement): Range | undefined {
  if (init?.type !== "VariableDeclaration" || init.declarations.length !== 1 || test?.type !== "BinaryExpression")
    return undefined;
  const [{ id, init: from }] = init.declarations;
  if (id.type !== "Identifier" || !from) return undefined;
  const { name } = id;
  const isCounter = (node: js.Node): boolean => node.type === "Identifier" && (node as js.Identifier).name === name;
  if (test.left.type !== "Identifier" || !isCounter(test.left) || (test.operator !== "<" && test.operator !== "<="))
    return undefined;
  const steps =
    update?.type === "UpdateExpression"
      ? update.operator === "++" && isCounter(update.argument)
      : update?.type === "AssignmentExpression" &&
        update.operator === "+=" &&
        isCounter(update.left) &&
        update.right.type === "Literal" &&
        update.right.value === 1;
  if (!steps || assigns(body, name)) return undefined;
  const fixed = test.right.type === "Literal" || (test.right.type === "Identifier" && !assigns(body, test.right.name));
  return fixed ? { name: id, from, to: test.right, included: test.operator === "<=" } : undefined;
}

/** Whether a name is assigned to anywhere in a piece of source. */
function assigns(node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some((item) => assigns(item, name));
  if ("type" in node) {
    const target =
      node.type === "AssignmentExpression" && "left" in node
        ? node.left
        : node.type === "UpdateExpression" && "argument" in node
          ? node.argument
          : undefined;
    if (typeof target === "object" && target !== null && "name" in target && target.name === name) return true;
  }
  return Object.values(node).some((inner) => assigns(inner, name));
}

export function whileLoop(reader: Reader, node: js.WhileStatement | js.DoWhileStatement, body: Body): Statement[] {
  const span = reader.span(node);
  return jumpable(reader, "loop", span, () => ({
    kind: node.type === "WhileStatement" ? "while" : "do-while",
    condition: reader.grammar.condition(reader, node.test),
    body: body(reader, node.body),
    span,
  }));
}

/** `for (const i of range(a, b))`, `for (const [key, value] of m)`, `of m.keys()`, `of m.values()`. */
export function forOf(reader: Reader, node: js.ForOfStatement, body: Body): Statement[] {
  const span = reader.span(node);
  if (node.await) return reader.refuseSyntax(node, "AwaitExpression");
  const pattern =
    node.left.type === "VariableDeclaration"
      ? node.left.declarations[0].id
      : reader.refuse(node.left, handlers.loopVariableOwn());
  const over = iterated(reader, node.right);
  // What is written out is read before the first round.
  const before: Statement[] = [];
  const items =
    over.kind !== "list"
      ? []
      : over.items.map((item) => {
          if (item.kind === "integer" || item.kind === "string" || item.kind === "boolean") return item;
          const kept = variable(reader.temporary("item"), item.span);
          before.push({ kind: "declare", variable: kept, value: item, span: item.span });
          return kept;
        });
  const loop = jumpable(reader, "loop", span, () =>
    reader.scoped((): Statement => {
      if (over.kind === "range") {
        if (pattern.type !== "Identifier") return reader.refuse(pattern, handlers.rangeGivesNumbers());
        const counter = variable(reader.declare(pattern.name, true), reader.span(pattern));
        return {
          kind: "for-range",
          variable: counter,
          from: over.from,
          to: over.to,
          body: body(reader, node.body),
          span,
        };
      }
      if (over.kind === "value") {
        const item = variable(
          pattern.type === "Identifier" ? reader.declare(pattern.name, true) : reader.temporary("item"),
          reader.span(pattern),
        );
        if (pattern.type !== "Identifier") nameParts(reader, pattern, item);
        return { kind: "for-value", variable: item, of: over.of, body: body(reader, node.body), span };
      }
      if (over.kind === "list") return overList(reader, node, pattern, items, body);
      const ordered =
        over.most === undefined ? {} : ({ order: { by: "value", descending: true }, limit: over.most } as const);
      const pair = variable(
        pattern.type === "Identifier" ? reader.declare(pattern.name, true) : reader.temporary("entry"),
        reader.span(pattern),
      );
      if (over.part !== undefined) nameParts(reader, pattern, tuplePart(pair, over.part, reader.span(pattern)));
      else if (pattern.type !== "Identifier") nameParts(reader, pattern, pair);
      return {
        kind: "for-map",
        variable: pair,
        map: mapAccess(over.map.name, [], reader.span(node.right)),
        ...ordered,
        ...(over.part === 0 ? { keysOnly: true } : {}),
        body: body(reader, node.body),
        span,
      };
    }),
  );
  return before.length === 0 ? loop : [block([...before, ...loop], span)];
}

/** A loop over numbers, which finds its value by them. */
function overList(
  reader: Reader,
  node: js.ForOfStatement,
  pattern: js.Pattern,
  items: readonly Expression[],
  body: Body,
): Statement {
  const span = reader.span(node);
  if (pattern.type !== "Identifier") return reader.refuse(pattern, handlers.listHoldsNumbersOrTexts());
  const counter = variable(reader.temporary("at"), reader.span(pattern));
  const constant = node.left.type === "VariableDeclaration" && node.left.kind === "const";
  const item = variable(reader.declare(pattern.name, constant), reader.span(pattern));
  const inside = body(reader, node.body);
  const value = items.length === 0 ? integer(0n, span) : byNumber(items, counter);
  const declared: Statement = { kind: "declare", variable: item, value, span: reader.span(pattern) };
  return {
    kind: "for-range",
    variable: counter,
    from: integer(0n, span),
    to: integer(BigInt(items.length), span),
    body: block([declared, ...inside.statements], inside.span),
    span,
  };
}

type Iterated =
  | { readonly kind: "range"; readonly from: Expression; readonly to: Expression }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  | { readonly kind: "value"; readonly of: Expression }
  | {
      readonly kind: "map";
      readonly map: Extract<Reference, { kind: "map" }>;
      readonly part?: 0 | 1;
      readonly most?: Expression;
    };

function iterated(reader: Reader, node: js.Expression): Iterated {
  if (
    node.type === "CallExpression" &&
    node.callee.type === "MemberExpression" &&
    node.callee.property.type === "Identifier"
  ) {
    const map = refer(reader, node.callee.object);
    if (map.kind === "map") {
      switch (node.callee.property.name) {
        case "keys":
          return { kind: "map", map, part: 0 };
        case "values":
          return { kind: "map", map, part: 1 };
        case "entries":
          return { kind: "map", map };
        case "top": {
          const [most] = node.arguments;
          if (node.arguments.length !== 1 || most.type === "SpreadElement")
            return reader.refuse(node, handlers.topTakesHowManyWanted());
          return { kind: "map", map, most: reader.grammar.value(reader, most) };
        }
        default:
      }
    }
  }
  if (node.type === "CallExpression") {
    const callee = refer(reader, node.callee);
    if (callee.kind === "special" && callee.name === "range") {
      const bounds = node.arguments.map((bound) =>
        bound.type === "SpreadElement"
          ? reader.refuseSyntax(bound, "SpreadElement")
          : reader.grammar.value(reader, bound),
      );
      if (bounds.length === 1) return { kind: "range", from: integer(0n, bounds[0].span), to: bounds[0] };
      if (bounds.length === 2) return { kind: "range", from: bounds[0], to: bounds[1] };
      return reader.refuse(node, handlers.rangeTakesWhereEndsOr());
    }
  } else if (node.type === "Identifier" || node.type === "MemberExpression") {
    const map = refer(reader, node);
    if (map.kind === "map") return { kind: "map", map };
    if (map.kind !== "module" && node.type === "MemberExpression")
      return { kind: "value", of: reader.grammar.value(reader, node) };
    if (map.kind === "module" && (map.table?.form === "list" || map.table?.form === "set"))
      return { kind: "list", items: itemsOf(reader, map, node) };
  } else if (node.type === "ArrayExpression") {
    return {
      kind: "list",
      items: node.elements.map((element) =>
        element === null
          ? reader.refuse(node, handlers.listNoHolesHere())
          : element.type === "SpreadElement"
            ? reader.refuseSyntax(element, "SpreadElement")
            : reader.grammar.value(reader, element),
      ),
    };
  }
  return reader.refuse(node, handlers.handlerGoesOverMapsRanges());
}
