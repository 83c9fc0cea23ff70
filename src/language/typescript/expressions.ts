// Expressions: what TypeScript writes, in the operators of the tree. Values and conditions differ: `a || b` as a value
// is one of the two, as a condition it is true or false.
import { handlers } from "../../messages/typescript.ts";
import type * as js from "acorn";
import type { BinaryOperator, Expression, Statement } from "../program.ts";
import { unknownType } from "../types.ts";
import { constant, literal } from "./constants.ts";
import { isNothing, knownTruth, outside } from "./known.ts";
import { isNamed, isThere, isTrue, missable } from "./missing.ts";
import { record, refer, valueOf } from "./references.ts";
import type { Reference, Reader } from "./reader.ts";
import { behind, binary, boolean, call, cast, conditional, isPlain, not, text, variable } from "./reader.ts";

export const binaryOperators: Readonly<Record<string, BinaryOperator>> = {
  "+": "+",
  "-": "-",
  "*": "*",
  "/": "/",
  "%": "%",
  "&": "&",
  "|": "|",
  "^": "^",
  "<<": "<<",
  ">>": ">>",
  "==": "==",
  "===": "==",
  "!=": "!=",
  "!==": "!=",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
};

export function value(reader: Reader, node: js.Expression): Expression {
  return reader.nested(node, () => valueWithin(reader, node));
}

function valueWithin(reader: Reader, node: js.Expression): Expression {
  const span = reader.span(node);
  switch (node.type) {
    case "Literal":
      return literal(reader, node);
    case "Identifier":
    case "MemberExpression":
    case "ChainExpression":
      return valueOf(reader, refer(reader, node), node);
    case "CallExpression": {
      const outcome = reader.grammar.call(reader, node);
      if (outcome.kind === "value") return outcome.expression;
      return reader.refuse(node, handlers.givesNoValue());
    }
    case "ParenthesizedExpression":
      return value(reader, node.expression);
    case "UnaryExpression":
      return unary(reader, node);
    case "BinaryExpression":
      return binaryExpression(reader, node);
    case "LogicalExpression":
      return node.operator === "??" ? coalesce(reader, node) : logical(reader, node);
    case "ConditionalExpression": {
      const known = knownTruth(reader, node.test);
      if (known !== undefined) return value(reader, known ? node.consequent : node.alternate);
      return conditional(
        condition(reader, node.test),
        value(reader, node.consequent),
        value(reader, node.alternate),
        span,
      );
    }
    case "UpdateExpression":
      return update(reader, node);
    case "TemplateLiteral": {
      const pieces = node.quasis.flatMap((quasi, i): Expression[] => {
        const inside = node.expressions[i];
        const written = quasi.value.cooked ?? "";
        return [
          ...(written === "" ? [] : [text(written, reader.span(quasi))]),
          ...(inside === undefined ? [] : [value(reader, inside)]),
        ];
      });
      if (pieces.length === 0) return text("", span);
      // A lone value is made text as well.
      return pieces.length === 1 && pieces[0].kind !== "string"
        ? call("str_concat", [pieces[0], text("", span)], span)
        : pieces.reduce((all, piece) => call("str_concat", [all, piece], span));
    }
    case "ArrayExpression": {
      const elements = node.elements.map((element) => {
        if (element === null) return reader.refuse(node, handlers.tupleNoHoles());
        return element.type === "SpreadElement"
          ? reader.refuseSyntax(element, "SpreadElement")
          : value(reader, element);
      });
      return { kind: "tuple", elements, span, type: unknownType };
    }
    case "ObjectExpression":
      return record(reader, node);
    case "SequenceExpression": {
      const { expressions } = node;
      const before = expressions.slice(0, -1).flatMap((each) => reader.grammar.effect(reader, each));
      return {
        kind: "block-expression",
        statements: before,
        value: value(reader, expressions.at(-1)!),
        span,
        type: unknownType,
      };
    }
    // Assigned first; the value is what the place then holds.
    case "AssignmentExpression":
      return {
        kind: "block-expression",
        statements: reader.grammar.effect(reader, node),
        value: place(reader, node.left),
        span,
        type: unknownType,
      };
    case "ArrowFunctionExpression":
    case "FunctionExpression":
    case "ClassExpression":
    case "NewExpression":
    case "ThisExpression":
    case "MetaProperty":
    case "AwaitExpression":
    case "YieldExpression":
    case "ImportExpression":
    case "TaggedTemplateExpression":
      return reader.refuseSyntax(node, node.type);
  }
}

/** Something that is asked whether it is true: no value is kept of it. */
export function condition(reader: Reader, node: js.Expression): Expression {
  if (node.type === "ParenthesizedExpression") return condition(reader, node.expression);
  const known = knownTruth(reader, node);
  if (known !== undefined) return boolean(known, reader.span(node));
  if (node.type === "LogicalExpression" && node.operator !== "??") {
    const { operator, left, right } = node;
    // What is known on the left leaves the right, or was all.
    if (knownTruth(reader, left) !== undefined) return condition(reader, right);
    return reader.nested(node, () =>
      binary(operator, condition(reader, left), condition(reader, right), reader.span(node)),
    );
  }
  const found = missable(reader, node);
  return found === undefined ? value(reader, node) : behind(found.before, isTrue(found));
}

function unary(reader: Reader, node: js.UnaryExpression): Expression {
  const span = reader.span(node);
  switch (node.operator) {
    case "!":
      return not(condition(reader, node.argument), span);
    case "-": {
      // One literal, so that the least number of 64 bits can be written.
      const { argument } = node;
      if (argument.type === "Literal" && typeof argument.value === "bigint")
        return constant(reader, -argument.value, node);
      return { kind: "unary", operator: "-", operand: value(reader, argument), span, type: unknownType };
    }
    case "+":
    case "~":
      return { kind: "unary", operator: node.operator, operand: value(reader, node.argument), span, type: unknownType };
    case "typeof":
    case "void":
    case "delete":
      return reader.refuseSyntax(node, node.operator);
  }
}

function binaryExpression(reader: Reader, node: js.BinaryExpression): Expression {
  const { left, right } = node;
  const span = reader.span(node);
  if (left.type === "PrivateIdentifier") return reader.refuseSyntax(left, "ClassExpression");
  switch (node.operator) {
    case "in":
    case "instanceof":
      return reader.refuseSyntax(node, node.operator);
    case "**": {
      const [base, power] = [value(reader, left), value(reader, right)];
      if (base.kind !== "integer" || power.kind !== "integer" || power.value < 0n || power.value > 64n)
        return reader.refuseSyntax(node, "power");
      return constant(reader, base.value ** power.value, node);
    }
    case ">>>":
      return unsignedShift(value(reader, left), value(reader, right), span);
    case "==":
    case "===":
    case "!=":
    case "!==": {
      const typed = typeofUndefined(left, right) ?? typeofUndefined(right, left);
      if (typed !== undefined) {
        const there = isThere(reader, typed, "undefined");
        return node.operator.startsWith("!") ? there : not(there, span);
      }
      const [asked, nothing] = isNothing(reader, right) ? [left, right] : [right, left];
      if (isNothing(reader, nothing)) {
        const there = isThere(reader, asked, nothing.type === "Literal" ? "null" : "undefined");
        return node.operator.startsWith("!") ? there : not(there, span);
      }
      break;
    }
    default:
  }
  return binary(binaryOperators[node.operator], value(reader, left), value(reader, right), span);
}

/** What `typeof x === "undefined"` asks for. */
function typeofUndefined(asked: js.Expression, what: js.Expression): js.Expression | undefined {
  return asked.type === "UnaryExpression" &&
    asked.operator === "typeof" &&
    what.type === "Literal" &&
    what.value === "undefined"
    ? asked.argument
    : undefined;
}

export function unsignedShift(left: Expression, right: Expression, span: Expression["span"]): Expression {
  return binary(
    ">>",
    cast({ name: "uint64", pointers: 0, dimensions: [], span: left.span }, left, left.span),
    right,
    span,
  );
}

/**
 * `a ?? b`: of what may be missing. What `a?.b` reads behind a pointer that leads nowhere is 0, as every such read is;
 * `??` tells the two apart.
 */
function coalesce(reader: Reader, node: js.LogicalExpression): Expression {
  const { left, right } = node;
  const around = outside(reader, left)?.kind;
  if (around === "nothing") return value(reader, right);
  if (around === "constant") return value(reader, left);
  const found = missable(reader, left);
  if (found === undefined && reader.isParameter(left)) return value(reader, left);
  if (found === undefined) return reader.refuse(node, handlers.nothingCanMissingHere());
  const otherwise = value(reader, right);
  return behind(
    found.before,
    found.value === undefined ? otherwise : conditional(found.there, found.value, otherwise, reader.span(node)),
  );
}

/** True or false by its form alone. */
function isTruth(node: js.Expression): boolean {
  switch (node.type) {
    case "Literal":
      return typeof node.value === "boolean";
    case "UnaryExpression":
      return node.operator === "!";
    case "BinaryExpression":
      return ["==", "===", "!=", "!==", "<", "<=", ">", ">="].includes(node.operator);
    case "LogicalExpression":
      return node.operator !== "??" && isTruth(node.left) && isTruth(node.right);
    case "ParenthesizedExpression":
      return isTruth(node.expression);
    case "CallExpression":
      return node.callee.type === "MemberExpression" && isNamed(node.callee, "has");
    default:
      return false;
  }
}

/** `a || b` as a value: the first that is not 0. Truth is left as it is. */
function logical(reader: Reader, node: js.LogicalExpression): Expression {
  const span = reader.span(node);
  if (isTruth(node)) return condition(reader, node);
  // `port || 80`, where there is none.
  const known = knownTruth(reader, node.left);
  if (known !== undefined) return known === (node.operator === "||") ? boolean(known, span) : value(reader, node.right);
  const found = missable(reader, node.left);
  // True or false is 1 or 0 beside a number.
  const number = (of: Expression): Expression => ({
    kind: "unary",
    operator: "+",
    operand: of,
    span,
    type: unknownType,
  });
  const left =
    found !== undefined
      ? undefined
      : isTruth(node.left) && !isTruth(node.right)
        ? number(value(reader, node.left))
        : value(reader, node.left);
  const right = value(reader, node.right);
  const choose = (first: Expression, test = first): Expression =>
    node.operator === "&&" ? conditional(test, right, first, span) : conditional(test, first, right, span);
  if (found !== undefined)
    return behind(found.before, found.value === undefined ? right : choose(found.value, isTrue(found)));
  if (left === undefined) return right;
  if (isPlain(left)) return choose(left);
  const kept = variable(reader.temporary("left"), span);
  return {
    kind: "block-expression",
    span,
    type: unknownType,
    statements: [{ kind: "declare", variable: kept, value: left, span }],
    value: choose(kept),
  };
}

function update(reader: Reader, node: js.UpdateExpression): Expression {
  const target = place(reader, node.argument);
  return {
    kind: "increment",
    target,
    delta: node.operator === "++" ? 1 : -1,
    prefix: node.prefix,
    span: reader.span(node),
    type: unknownType,
  };
}

/** What can be assigned to: a variable that is no constant, an entry's `.value`. */
export function place(
  reader: Reader,
  node: js.Expression | js.Pattern,
): Extract<Expression, { kind: "variable" | "map" }> {
  switch (node.type) {
    case "ParenthesizedExpression":
      return place(reader, node.expression);
    case "Identifier": {
      const meaning = reader.find(node.name);
      if (meaning?.kind === "variable") {
        if (!meaning.constant) return variable(meaning.name, reader.span(node));
        return reader.refuse(node, handlers.constMessage(node.name));
      }
      if (meaning !== undefined) return reader.refuse(node, handlers.cannotAssigned(node.name));
      return reader.refuse(node, handlers.outsideHandlerWhichSeesConstant(node.name));
    }
    case "MemberExpression": {
      const reference: Reference = refer(reader, node);
      if (reference.kind === "value" && reference.expression.kind === "map") return reference.expression;
      return reader.refuse(node, handlers.memoryWhatTracedCannotWritten());
    }
    case "ObjectPattern":
    case "ArrayPattern":
      return reader.refuse(node, handlers.onlyDeclarationsCanTakeThings());
    default:
      return reader.refuse(node, handlers.targetCannotBeAssigned());
  }
}

const steps: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]);

/** `m.set(key, m.get(key) + 1)` is a step of the entry: it is found once, and begins with 0. */
export function assigned(
  target: Extract<Expression, { kind: "map" }>,
  to: Expression,
  span: Expression["span"],
): Statement {
  const step =
    to.kind === "binary" &&
    steps.has(to.operator) &&
    to.right.kind !== "string" &&
    to.left.kind === "map" &&
    sameEntry(to.left, target);
  return step
    ? {
        kind: "assign",
        target,
        operator: to.operator as Extract<Statement, { kind: "assign" }>["operator"],
        value: to.right,
        span,
      }
    : { kind: "assign", target, operator: null, value: to, span };
}

function sameEntry(a: Extract<Expression, { kind: "map" }>, b: Extract<Expression, { kind: "map" }>): boolean {
  const written = (key: Expression): string =>
    JSON.stringify(key, (name, of: unknown) =>
      name === "span" || name === "nameSpan" ? undefined : typeof of === "bigint" ? `${of}n` : of,
    );
  return (
    a.name === b.name &&
    a.keys.length === b.keys.length &&
    a.keys.every((key, i) => isPlain(key) && written(key) === written(b.keys[i]))
  );
}
