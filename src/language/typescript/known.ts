// What is known before a handler runs: whether something around it is undefined.
import type * as js from "acorn";
import type { Binding } from "./binding.ts";
import type { Reader } from "./reader.ts";

/**
 * What stands around the handler: a constant, or nothing; a member of an object that has none of that name is nothing,
 * too.
 */
export function outside(reader: Reader, node: js.Expression | js.Super): Binding | undefined {
  switch (node.type) {
    case "ParenthesizedExpression":
    case "ChainExpression":
      return outside(reader, node.expression);
    case "Identifier": {
      const meaning = reader.find(node.name);
      if (meaning === undefined) return reader.source.resolve(node.name);
      // A parameter that is not given.
      const reference = meaning.kind === "alias" ? meaning.refer(reader.span(node)) : undefined;
      return reference?.kind === "nothing" ? reference : undefined;
    }
    case "MemberExpression": {
      if (node.computed || node.property.type !== "Identifier") return undefined;
      const object = outside(reader, node.object);
      if (object?.kind === "nothing" && node.optional) return object;
      if (object?.kind !== "module") return undefined;
      return (
        object.member(node.property.name) ??
        (object.table?.form === "object" ? { kind: "nothing", what: "undefined" } : undefined)
      );
    }
    default:
      return undefined;
  }
}

/**
 * What a condition comes to, where that depends on whether something around the handler is undefined: `target !==
 * undefined && pid !== target`. What is not needed then is not read.
 */
export function knownTruth(reader: Reader, node: js.Expression): boolean | undefined {
  switch (node.type) {
    case "ParenthesizedExpression":
      return knownTruth(reader, node.expression);
    case "Identifier":
    case "MemberExpression":
    case "ChainExpression":
      return outside(reader, node)?.kind === "nothing" ? false : undefined;
    case "UnaryExpression": {
      const inner = node.operator === "!" ? knownTruth(reader, node.argument) : undefined;
      return inner === undefined ? undefined : !inner;
    }
    case "BinaryExpression": {
      const { left, right, operator } = node;
      if (!/^[!=]==?$/.test(operator) || left.type === "PrivateIdentifier") return undefined;
      const asked = isNothing(reader, right) ? left : isNothing(reader, left) ? right : undefined;
      const kind = asked === undefined ? undefined : outside(reader, asked)?.kind;
      return kind === "nothing" || kind === "constant" ? (kind === "constant") === operator.startsWith("!") : undefined;
    }
    case "LogicalExpression": {
      const first = knownTruth(reader, node.left);
      if (node.operator === "??" || first === undefined) return undefined;
      return first === (node.operator === "||") ? first : knownTruth(reader, node.right);
    }
    default:
      return undefined;
  }
}

/** `null` and `undefined`. */
export function isNothing(reader: Reader, node: js.Expression): boolean {
  if (node.type === "Literal") return node.raw === "null";
  // What bundlers make of `undefined`.
  if (node.type === "UnaryExpression") return node.operator === "void" && node.argument.type === "Literal";
  return node.type === "Identifier" && node.name === "undefined" && reader.find("undefined") === undefined;
}
