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
import type { Reference, Unit } from "./unit.ts";
import { behind, binary, boolean, call, cast, conditional, isPlain, not, text, variable } from "./unit.ts";

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

export function value(unit: Unit, node: js.Expression): Expression {
  return unit.nested(node, () => valueWithin(unit, node));
}

function valueWithin(unit: Unit, node: js.Expression): Expression {
  const span = unit.span(node);
  switch (node.type) {
    case "Literal":
      return literal(unit, node);
    case "Identifier":
    case "MemberExpression":
    case "ChainExpression":
      return valueOf(unit, refer(unit, node), node);
    case "CallExpression": {
      const outcome = unit.grammar.call(unit, node);
      if (outcome.kind === "value") return outcome.expression;
      return unit.refuse(node, handlers.givesNoValue());
    }
    case "ParenthesizedExpression":
      return value(unit, node.expression);
    case "UnaryExpression":
      return unary(unit, node);
    case "BinaryExpression":
      return binaryExpression(unit, node);
    case "LogicalExpression":
      return node.operator === "??" ? coalesce(unit, node) : logical(unit, node);
    case "ConditionalExpression": {
      const known = knownTruth(unit, node.test);
      if (known !== undefined) return value(unit, known ? node.consequent : node.alternate);
      return conditional(condition(unit, node.test), value(unit, node.consequent), value(unit, node.alternate), span);
    }
    case "UpdateExpression":
      return update(unit, node);
    case "TemplateLiteral": {
      const pieces = node.quasis.flatMap((quasi, i): Expression[] => {
        const inside = node.expressions[i];
        const written = quasi.value.cooked ?? "";
        return [
          ...(written === "" ? [] : [text(written, unit.span(quasi))]),
          ...(inside === undefined ? [] : [value(unit, inside)]),
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
        if (element === null) return unit.refuse(node, handlers.tupleNoHoles());
        return element.type === "SpreadElement" ? unit.refuseSyntax(element, "SpreadElement") : value(unit, element);
      });
      return { kind: "tuple", elements, span, type: unknownType };
    }
    case "ObjectExpression":
      return record(unit, node);
    case "SequenceExpression": {
      const { expressions } = node;
      const before = expressions.slice(0, -1).flatMap((each) => unit.grammar.effect(unit, each));
      return {
        kind: "block-expression",
        statements: before,
        value: value(unit, expressions.at(-1)!),
        span,
        type: unknownType,
      };
    }
    // Assigned first; the value is what the place then holds.
    case "AssignmentExpression":
      return {
        kind: "block-expression",
        statements: unit.grammar.effect(unit, node),
        value: place(unit, node.left),
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
      return unit.refuseSyntax(node, node.type);
  }
}

/** Something that is asked whether it is true: no value is kept of it. */
export function condition(unit: Unit, node: js.Expression): Expression {
  if (node.type === "ParenthesizedExpression") return condition(unit, node.expression);
  const known = knownTruth(unit, node);
  if (known !== undefined) return boolean(known, unit.span(node));
  if (node.type === "LogicalExpression" && node.operator !== "??") {
    const { operator, left, right } = node;
    // What is known on the left leaves the right, or was all.
    if (knownTruth(unit, left) !== undefined) return condition(unit, right);
    return unit.nested(node, () => binary(operator, condition(unit, left), condition(unit, right), unit.span(node)));
  }
  const found = missable(unit, node);
  return found === undefined ? value(unit, node) : behind(found.before, isTrue(found));
}

function unary(unit: Unit, node: js.UnaryExpression): Expression {
  const span = unit.span(node);
  switch (node.operator) {
    case "!":
      return not(condition(unit, node.argument), span);
    case "-": {
      // One literal, so that the least number of 64 bits can be written.
      const { argument } = node;
      if (argument.type === "Literal" && typeof argument.value === "bigint")
        return constant(unit, -argument.value, node);
      return { kind: "unary", operator: "-", operand: value(unit, argument), span, type: unknownType };
    }
    case "+":
    case "~":
      return { kind: "unary", operator: node.operator, operand: value(unit, node.argument), span, type: unknownType };
    case "typeof":
    case "void":
    case "delete":
      return unit.refuseSyntax(node, node.operator);
  }
}

function binaryExpression(unit: Unit, node: js.BinaryExpression): Expression {
  const { left, right } = node;
  const span = unit.span(node);
  if (left.type === "PrivateIdentifier") return unit.refuseSyntax(left, "ClassExpression");
  switch (node.operator) {
    case "in":
    case "instanceof":
      return unit.refuseSyntax(node, node.operator);
    case "**": {
      const [base, power] = [value(unit, left), value(unit, right)];
      if (base.kind !== "integer" || power.kind !== "integer" || power.value < 0n || power.value > 64n)
        return unit.refuseSyntax(node, "power");
      return constant(unit, base.value ** power.value, node);
    }
    case ">>>":
      return unsignedShift(value(unit, left), value(unit, right), span);
    case "==":
    case "===":
    case "!=":
    case "!==": {
      const typed = typeofUndefined(left, right) ?? typeofUndefined(right, left);
      if (typed !== undefined) {
        const there = isThere(unit, typed, "undefined");
        return node.operator.startsWith("!") ? there : not(there, span);
      }
      const [asked, nothing] = isNothing(unit, right) ? [left, right] : [right, left];
      if (isNothing(unit, nothing)) {
        const there = isThere(unit, asked, nothing.type === "Literal" ? "null" : "undefined");
        return node.operator.startsWith("!") ? there : not(there, span);
      }
      break;
    }
    default:
  }
  return binary(binaryOperators[node.operator], value(unit, left), value(unit, right), span);
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
function coalesce(unit: Unit, node: js.LogicalExpression): Expression {
  const { left, right } = node;
  const around = outside(unit, left)?.kind;
  if (around === "nothing") return value(unit, right);
  if (around === "constant") return value(unit, left);
  const found = missable(unit, left);
  if (found === undefined && unit.isParameter(left)) return value(unit, left);
  if (found === undefined) return unit.refuse(node, handlers.nothingCanMissingHere());
  const otherwise = value(unit, right);
  return behind(
    found.before,
    found.value === undefined ? otherwise : conditional(found.there, found.value, otherwise, unit.span(node)),
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
function logical(unit: Unit, node: js.LogicalExpression): Expression {
  const span = unit.span(node);
  if (isTruth(node)) return condition(unit, node);
  // `port || 80`, where there is none.
  const known = knownTruth(unit, node.left);
  if (known !== undefined) return known === (node.operator === "||") ? boolean(known, span) : value(unit, node.right);
  const found = missable(unit, node.left);
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
        ? number(value(unit, node.left))
        : value(unit, node.left);
  const right = value(unit, node.right);
  const choose = (first: Expression, test = first): Expression =>
    node.operator === "&&" ? conditional(test, right, first, span) : conditional(test, first, right, span);
  if (found !== undefined)
    return behind(found.before, found.value === undefined ? right : choose(found.value, isTrue(found)));
  if (left === undefined) return right;
  if (isPlain(left)) return choose(left);
  const kept = variable(unit.temporary("left"), span);
  return {
    kind: "block-expression",
    span,
    type: unknownType,
    statements: [{ kind: "declare", variable: kept, value: left, span }],
    value: choose(kept),
  };
}

function update(unit: Unit, node: js.UpdateExpression): Expression {
  const target = place(unit, node.argument);
  return {
    kind: "increment",
    target,
    delta: node.operator === "++" ? 1 : -1,
    prefix: node.prefix,
    span: unit.span(node),
    type: unknownType,
  };
}

/** What can be assigned to: a variable that is no constant, an entry's `.value`. */
export function place(unit: Unit, node: js.Expression | js.Pattern): Extract<Expression, { kind: "variable" | "map" }> {
  switch (node.type) {
    case "ParenthesizedExpression":
      return place(unit, node.expression);
    case "Identifier": {
      const meaning = unit.find(node.name);
      if (meaning?.kind === "variable") {
        if (!meaning.constant) return variable(meaning.name, unit.span(node));
        return unit.refuse(node, handlers.constMessage(node.name));
      }
      if (meaning !== undefined) return unit.refuse(node, handlers.cannotAssigned(node.name));
      return unit.refuse(node, handlers.outsideHandlerWhichSeesConstant(node.name));
    }
    case "MemberExpression": {
      const reference: Reference = refer(unit, node);
      if (reference.kind === "value" && reference.expression.kind === "map") return reference.expression;
      return unit.refuse(node, handlers.memoryWhatTracedCannotWritten());
    }
    case "ObjectPattern":
    case "ArrayPattern":
      return unit.refuse(node, handlers.onlyDeclarationsCanTakeThings());
    default:
      return unit.refuse(node, handlers.targetCannotBeAssigned());
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
