// Calls of functions that the program or the handler made, and what they return, which may be nothing.
import { handlers } from "../../messages/typescript.ts";
import { parseExpressionAt, type AnyNode } from "acorn";
import type * as js from "acorn";
import type { Expression, Statement, Variable } from "../program.ts";
import type { FunctionSource } from "./binding.ts";
import { isNothing, outside } from "./known.ts";
import { giving, missable } from "./missing.ts";
import { argumentValue, refer } from "./references.ts";
import type { Called, InnerFunction, Outcome, Reference, Unit } from "./unit.ts";
import { behind, block, call, tuplePart, variable } from "./unit.ts";
import { unknownType } from "../types.ts";

type FunctionNode = js.ArrowFunctionExpression | js.FunctionExpression;

/** A function's text as a tree, and how far its offsets are from the text's. @throws what the parser throws */
export function parseFunction(text: string): { readonly node: FunctionNode; readonly shift: number } | undefined {
  const options = { ecmaVersion: "latest", sourceType: "module", allowAwaitOutsideFunction: true } as const;
  let problem: unknown;
  // A method's text is no expression by itself.
  for (const [before, after] of [
    ["(", "\n)"],
    ["({", "\n})"],
  ] as const) {
    try {
      const parsed = parseExpressionAt(before + text + after, 0, options);
      const node =
        parsed.type === "ObjectExpression" && parsed.properties[0]?.type === "Property"
          ? parsed.properties[0].value
          : parsed;
      if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression")
        return { node: withPlainNames(node), shift: before.length };
    } catch (error) {
      problem ??= error;
    }
  }
  if (problem !== undefined) throw problem;
  return undefined;
}

/** The same tree, with `name` for each `(0, name)`: how compilers and bundlers write what they imported. */
function withPlainNames<N>(node: N): N {
  if (typeof node !== "object" || node === null) return node;
  for (const [key, inner] of Object.entries(node)) (node as Record<string, unknown>)[key] = withPlainNames(inner);
  const { type, expressions } = node as Partial<js.SequenceExpression>;
  const [zero, last] = type === "SequenceExpression" && expressions?.length === 2 ? expressions : [];
  return zero?.type === "Literal" && zero.value === 0 ? (last as N) : node;
}

// ── calls ──

/** A call of a function of the program, which is compiled for what it is given here. */
export function functionCall(
  unit: Unit,
  node: js.CallExpression,
  source: FunctionSource,
  tellsPresence = false,
): Expression {
  const given = new Map<number, Extract<Reference, { kind: "map" | "event" }>>();
  const missing = new Set<number>();
  const nothing = new Set<number>();
  const before: Statement[] = [];
  const there: Expression[] = [];
  const args = node.arguments.flatMap((argument, i) => {
    const object =
      argument.type === "Identifier" || argument.type === "MemberExpression" ? refer(unit, argument) : undefined;
    if (object?.kind === "map" || object?.kind === "event") {
      given.set(i, object);
      return [];
    }
    const found = argument.type === "SpreadElement" ? undefined : missable(unit, argument);
    if (found === undefined) return [argumentValue(unit, argument)];
    before.push(...found.before);
    if (found.value === undefined) {
      nothing.add(i);
      return [];
    }
    missing.add(i);
    there.push(found.there);
    return [found.value];
  });
  const name = unit.translation.functionName(source, {
    count: node.arguments.length,
    given,
    missable: missing,
    nothing,
    tellsPresence,
  });
  return behind(before, call(name, [...args, ...there], unit.span(node)));
}

/** `(() => { const twice = x * 2; return twice + 1; })()`: statements where a value is wanted. */
export function calledAtOnce(unit: Unit, node: js.CallExpression, fn: FunctionNode, give?: Giving): Outcome {
  if (fn.async) unit.refuseSyntax(fn, "async");
  if (fn.generator) unit.refuseSyntax(fn, "generator");
  if (fn.params.length > 0 || node.arguments.length > 0)
    return unit.refuse(fn, handlers.functionCalledWhereStandsTakes());
  return inPlace(unit, node, fn, give);
}

/** A call of a function that the handler made: its body, with variables for its parameters. */
export function innerCall(
  unit: Unit,
  node: js.CallExpression,
  { node: fn, scopes }: Extract<Reference, { kind: "inner" }>,
  give?: Giving,
): Outcome {
  if (unit.inside.has(fn)) return unit.refuse(node, handlers.functionHandlerMakesCannotCall());
  if (node.arguments.length > fn.params.length)
    return unit.refuse(
      node,
      handlers.functionTakes(fn.params.length === 1 ? "one argument" : `${fn.params.length} arguments`),
    );
  const span = unit.span(node);
  const given = node.arguments.map((argument) =>
    argument.type === "SpreadElement"
      ? argumentValue(unit, argument)
      : (missable(unit, argument) ?? argumentValue(unit, argument)),
  );
  unit.inside.add(fn);
  try {
    return unit.within(scopes, () =>
      unit.scoped((): Outcome => {
        const declared = fn.params.flatMap((pattern, i): Statement[] => {
          const own = pattern.type === "AssignmentPattern" ? pattern.left : pattern;
          if (own.type !== "Identifier") return unit.refuse(pattern, handlers.parametersFunctionHandlerMakesNames());
          const otherwise = pattern.type === "AssignmentPattern" ? pattern.right : undefined;
          return parameter(unit, own, given[i], otherwise);
        });
        const result = inPlace(unit, node, fn, give);
        if (result.kind === "statement")
          return { kind: "statement", statement: block([...declared, result.statement], span) };
        return {
          kind: "value",
          expression: {
            kind: "block-expression",
            statements: declared,
            value: result.expression,
            span,
            type: unknownType,
          },
        };
      }),
    );
  } finally {
    unit.inside.delete(fn);
  }
}

/** Gives a parameter its name: of what it is given, of its default, or of nothing. */
function parameter(
  unit: Unit,
  own: js.Identifier,
  given: Expression | ReturnType<typeof missable>,
  otherwise: js.Expression | undefined,
): Statement[] {
  const span = unit.span(own);
  const declare = (value: Expression): Statement[] => [
    { kind: "declare", variable: variable(unit.declareParameter(own.name), span), value, span },
  ];
  if (given !== undefined && "kind" in given) return declare(given);
  if (given?.value === undefined) {
    if (otherwise !== undefined) return declare(unit.grammar.value(unit, otherwise));
    unit.alias(own.name, () => ({ kind: "nothing", what: "undefined" }));
    return [...(given?.before ?? [])];
  }
  return missableParameter(unit, own, given, otherwise);
}

/** A parameter that may have got nothing: then its default. */
export function missableParameter(
  unit: Unit,
  own: js.Identifier,
  given: NonNullable<ReturnType<typeof missable>>,
  otherwise: js.Expression | undefined,
): Statement[] {
  const span = unit.span(own);
  const there = variable(unit.temporary("there"), span);
  const instead = otherwise === undefined ? undefined : unit.grammar.value(unit, otherwise);
  const name = variable(
    otherwise === undefined ? unit.declare(own.name, false, there.name) : unit.declareParameter(own.name),
    span,
  );
  return [
    ...given.before,
    { kind: "declare", variable: there, value: given.there, span },
    { kind: "declare", variable: name, value: given.value!, span },
    ...(instead === undefined
      ? []
      : [
          {
            kind: "if",
            condition: { kind: "unary", operator: "!", operand: there, span, type: unknownType },
            then: block([{ kind: "assign", target: name, operator: null, value: instead, span }], span),
            span,
          } as const,
        ]),
  ];
}

/** Statements for what a function returns, in the place of its value. */
type Giving = (result: js.Expression) => Statement[];

/** A function's body where a call of it stands. */
function inPlace(unit: Unit, node: js.CallExpression, fn: InnerFunction, give?: Giving): Outcome {
  const span = unit.span(node);
  const { body } = fn;
  if (body.type !== "BlockStatement") {
    if (give !== undefined) return { kind: "statement", statement: block(give(body), span) };
    return body.type === "CallExpression"
      ? unit.grammar.call(unit, body)
      : { kind: "value", expression: unit.grammar.value(unit, body) };
  }
  const last = body.body.at(-1);
  const result = last?.type === "ReturnStatement" ? (last.argument ?? undefined) : undefined;
  const before = last?.type === "ReturnStatement" ? body.body.slice(0, -1) : body.body;
  const [early] = before.flatMap(returnsIn);
  if (early !== undefined) return unit.refuse(early, handlers.functionHandlerMakesReturnsEnd());
  return unit.scoped((): Outcome => {
    const statements = before.flatMap((each) => unit.grammar.statements(unit, each));
    if (result === undefined) return { kind: "statement", statement: block(statements, span) };
    if (give !== undefined) return { kind: "statement", statement: block([...statements, ...give(result)], span) };
    return {
      kind: "value",
      expression: {
        kind: "block-expression",
        statements,
        value: unit.grammar.value(unit, result),
        span,
        type: unknownType,
      },
    };
  });
}

/** The returns within a statement, but for those of functions in it. */
function returnsIn(node: unknown): js.ReturnStatement[] {
  if (typeof node !== "object" || node === null) return [];
  if ("type" in node) {
    if (node.type === "ReturnStatement") return [node as js.ReturnStatement];
    if (
      node.type === "ArrowFunctionExpression" ||
      node.type === "FunctionExpression" ||
      node.type === "FunctionDeclaration"
    )
      return [];
  }
  return Object.values(node).flatMap(returnsIn);
}

// ── what may be returned ──

/** A call of a function that the program or the handler made; undefined for any other. */
export function called(unit: Unit, node: js.CallExpression): Called | undefined {
  const { callee } = node;
  const span = unit.span(node);
  const inner = (fn: InnerFunction, make: (give: Giving) => Outcome): Called => ({
    mayMiss: mayReturnNothing(fn),
    give: (there, to) => {
      const outcome = make((result) => giving(unit, result, there, to));
      return outcome.kind === "statement" ? [outcome.statement] : [];
    },
  });
  if (callee.type === "ArrowFunctionExpression" || callee.type === "FunctionExpression")
    return inner(callee, (give) => calledAtOnce(unit, node, callee, give));
  const meaning = callee.type === "Identifier" ? unit.find(callee.name) : undefined;
  const reference =
    meaning === undefined ? outside(unit, callee) : meaning.kind === "alias" ? meaning.refer(span) : undefined;
  if (reference?.kind === "inner") return inner(reference.node, (give) => innerCall(unit, node, reference, give));
  if (reference?.kind !== "function") return undefined;
  const { source } = reference;
  return {
    mayMiss: mayMissOf(unit, source),
    give: (there, to) => {
      const both = variable(unit.temporary("result"), span);
      const assign = (target: Variable, index: number): Statement => ({
        kind: "assign",
        target,
        operator: null,
        value: tuplePart(both, index, span),
        span,
      });
      return [
        { kind: "declare", variable: both, value: functionCall(unit, node, source, true), span },
        assign(there, 0),
        assign(to, 1),
      ];
    },
  };
}

function mayMissOf(unit: Unit, source: FunctionSource): boolean {
  const known = unit.translation.mayMiss.get(source.identity);
  if (known !== undefined) return known;
  let found = false;
  try {
    const parsed = parseFunction(source.text);
    found = parsed !== undefined && mayReturnNothing(parsed.node);
  } catch {
    // Said where it is compiled.
  }
  unit.translation.mayMiss.set(source.identity, found);
  return found;
}

/** Whether a function may return nothing besides something, by its form: rather too often than not. */
function mayReturnNothing(fn: InnerFunction): boolean {
  const { body } = fn;
  if (body.type !== "BlockStatement") return mayBeNothing(body);
  const returns = body.body.flatMap(returnsIn);
  const given = returns.flatMap(({ argument }) => argument ?? []);
  if (given.length === 0) return false;
  return given.length < returns.length || body.body.at(-1)?.type !== "ReturnStatement" || given.some(mayBeNothing);
}

function mayBeNothing(node: AnyNode): boolean {
  switch (node.type) {
    case "Identifier":
    case "CallExpression":
    case "ChainExpression":
    case "MemberExpression":
      return true;
    case "Literal":
      return node.raw === "null";
    case "UnaryExpression":
      return node.operator === "void";
    case "ParenthesizedExpression":
      return mayBeNothing(node.expression);
    case "SequenceExpression":
      return mayBeNothing(node.expressions.at(-1)!);
    case "ConditionalExpression":
      return mayBeNothing(node.consequent) || mayBeNothing(node.alternate);
    case "LogicalExpression":
      return mayBeNothing(node.left) && mayBeNothing(node.right);
    default:
      return false;
  }
}

/** What a function that tells whether it returns anything returns. */
export function returnPresence(unit: Unit, argument: js.Expression, span: Expression["span"]): Statement[] {
  if (isNothing(unit, argument)) return [{ kind: "return", span }];
  const found = missable(unit, argument);
  const there: Expression = found?.there ?? { kind: "boolean", value: true, span, type: unknownType };
  const value = found === undefined ? unit.grammar.value(unit, argument) : found.value;
  const last: Statement =
    value === undefined
      ? { kind: "return", span }
      : { kind: "return", value: { kind: "tuple", elements: [there, value], span, type: unknownType }, span };
  return found === undefined || found.before.length === 0 ? [last] : [block([...found.before, last], span)];
}
