// Calls of functions that the program or the handler made, and what they return, which may be nothing.
import { handlers } from "../../messages/typescript.ts";
import { parseExpressionAt, type AnyNode } from "acorn";
import type * as js from "acorn";
import type { Expression, Statement, Variable } from "../program.ts";
import type { FunctionSource } from "./binding.ts";
import { isNothing, outside } from "./known.ts";
import { giving, missable } from "./missing.ts";
import { argumentValue, refer } from "./references.ts";
import type { Called, InnerFunction, Outcome, Reference, Reader } from "./reader.ts";
import { behind, block, call, tuplePart, variable } from "./reader.ts";
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
  reader: Reader,
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
      argument.type === "Identifier" || argument.type === "MemberExpression" ? refer(reader, argument) : undefined;
    if (object?.kind === "map" || object?.kind === "event") {
      given.set(i, object);
      return [];
    }
    const found = argument.type === "SpreadElement" ? undefined : missable(reader, argument);
    if (found === undefined) return [argumentValue(reader, argument)];
    before.push(...found.before);
    if (found.value === undefined) {
      nothing.add(i);
      return [];
    }
    missing.add(i);
    there.push(found.there);
    return [found.value];
  });
  const name = reader.translation.functionName(source, {
    count: node.arguments.length,
    given,
    missable: missing,
    nothing,
    tellsPresence,
  });
  return behind(before, call(name, [...args, ...there], reader.span(node)));
}

/** `(() => { const twice = x * 2; return twice + 1; })()`: statements where a value is wanted. */
export function calledAtOnce(reader: Reader, node: js.CallExpression, fn: FunctionNode, give?: Giving): Outcome {
  if (fn.async) reader.refuseSyntax(fn, "async");
  if (fn.generator) reader.refuseSyntax(fn, "generator");
  if (fn.params.length > 0 || node.arguments.length > 0)
    return reader.refuse(fn, handlers.functionCalledWhereStandsTakes());
  return inPlace(reader, node, fn, give);
}

/** A call of a function that the handler made: its body, with variables for its parameters. */
export function innerCall(
  reader: Reader,
  node: js.CallExpression,
  { node: fn, scopes }: Extract<Reference, { kind: "inner" }>,
  give?: Giving,
): Outcome {
  if (reader.inside.has(fn)) return reader.refuse(node, handlers.functionHandlerMakesCannotCall());
  if (node.arguments.length > fn.params.length)
    return reader.refuse(
      node,
      handlers.functionTakes(fn.params.length === 1 ? "one argument" : `${fn.params.length} arguments`),
    );
  const span = reader.span(node);
  const given = node.arguments.map((argument) =>
    argument.type === "SpreadElement"
      ? argumentValue(reader, argument)
      : (missable(reader, argument) ?? argumentValue(reader, argument)),
  );
  reader.inside.add(fn);
  try {
    return reader.within(scopes, () =>
      reader.scoped((): Outcome => {
        const declared = fn.params.flatMap((pattern, i): Statement[] => {
          const own = pattern.type === "AssignmentPattern" ? pattern.left : pattern;
          if (own.type !== "Identifier") return reader.refuse(pattern, handlers.parametersFunctionHandlerMakesNames());
          const otherwise = pattern.type === "AssignmentPattern" ? pattern.right : undefined;
          return parameter(reader, own, given[i], otherwise);
        });
        const result = inPlace(reader, node, fn, give);
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
    reader.inside.delete(fn);
  }
}

/** Gives a parameter its name: of what it is given, of its default, or of nothing. */
function parameter(
  reader: Reader,
  own: js.Identifier,
  given: Expression | ReturnType<typeof missable>,
  otherwise: js.Expression | undefined,
): Statement[] {
  const span = reader.span(own);
  const declare = (value: Expression): Statement[] => [
    { kind: "declare", variable: variable(reader.declareParameter(own.name), span), value, span },
  ];
  if (given !== undefined && "kind" in given) return declare(given);
  if (given?.value === undefined) {
    if (otherwise !== undefined) return declare(reader.grammar.value(reader, otherwise));
    reader.alias(own.name, () => ({ kind: "nothing", what: "undefined" }));
    return [...(given?.before ?? [])];
  }
  return missableParameter(reader, own, given, otherwise);
}

/** A parameter that may have got nothing: then its default. */
export function missableParameter(
  reader: Reader,
  own: js.Identifier,
  given: NonNullable<ReturnType<typeof missable>>,
  otherwise: js.Expression | undefined,
): Statement[] {
  const span = reader.span(own);
  const there = variable(reader.temporary("there"), span);
  const instead = otherwise === undefined ? undefined : reader.grammar.value(reader, otherwise);
  const name = variable(
    otherwise === undefined ? reader.declare(own.name, false, there.name) : reader.declareParameter(own.name),
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
function inPlace(reader: Reader, node: js.CallExpression, fn: InnerFunction, give?: Giving): Outcome {
  const span = reader.span(node);
  const { body } = fn;
  if (body.type !== "BlockStatement") {
    if (give !== undefined) return { kind: "statement", statement: block(give(body), span) };
    return body.type === "CallExpression"
      ? reader.grammar.call(reader, body)
      : { kind: "value", expression: reader.grammar.value(reader, body) };
  }
  const last = body.body.at(-1);
  const result = last?.type === "ReturnStatement" ? (last.argument ?? undefined) : undefined;
  const before = last?.type === "ReturnStatement" ? body.body.slice(0, -1) : body.body;
  const [early] = before.flatMap(returnsIn);
  if (early !== undefined) return reader.refuse(early, handlers.functionHandlerMakesReturnsEnd());
  return reader.scoped((): Outcome => {
    const statements = before.flatMap((each) => reader.grammar.statements(reader, each));
    if (result === undefined) return { kind: "statement", statement: block(statements, span) };
    if (give !== undefined) return { kind: "statement", statement: block([...statements, ...give(result)], span) };
    return {
      kind: "value",
      expression: {
        kind: "block-expression",
        statements,
        value: reader.grammar.value(reader, result),
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
export function called(reader: Reader, node: js.CallExpression): Called | undefined {
  const { callee } = node;
  const span = reader.span(node);
  const inner = (fn: InnerFunction, make: (give: Giving) => Outcome): Called => ({
    mayMiss: mayReturnNothing(fn),
    give: (there, to) => {
      const outcome = make((result) => giving(reader, result, there, to));
      return outcome.kind === "statement" ? [outcome.statement] : [];
    },
  });
  if (callee.type === "ArrowFunctionExpression" || callee.type === "FunctionExpression")
    return inner(callee, (give) => calledAtOnce(reader, node, callee, give));
  const meaning = callee.type === "Identifier" ? reader.find(callee.name) : undefined;
  const reference =
    meaning === undefined ? outside(reader, callee) : meaning.kind === "alias" ? meaning.refer(span) : undefined;
  if (reference?.kind === "inner") return inner(reference.node, (give) => innerCall(reader, node, reference, give));
  if (reference?.kind !== "function") return undefined;
  const { source } = reference;
  return {
    mayMiss: mayMissOf(reader, source),
    give: (there, to) => {
      const both = variable(reader.temporary("result"), span);
      const assign = (target: Variable, index: number): Statement => ({
        kind: "assign",
        target,
        operator: null,
        value: tuplePart(both, index, span),
        span,
      });
      return [
        { kind: "declare", variable: both, value: functionCall(reader, node, source, true), span },
        assign(there, 0),
        assign(to, 1),
      ];
    },
  };
}

function mayMissOf(reader: Reader, source: FunctionSource): boolean {
  const known = reader.translation.mayMiss.get(source.identity);
  if (known !== undefined) return known;
  let found = false;
  try {
    const parsed = parseFunction(source.text);
    found = parsed !== undefined && mayReturnNothing(parsed.node);
  } catch {
    // Said where it is compiled.
  }
  reader.translation.mayMiss.set(source.identity, found);
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
export function returnPresence(reader: Reader, argument: js.Expression, span: Expression["span"]): Statement[] {
  if (isNothing(reader, argument)) return [{ kind: "return", span }];
  const found = missable(reader, argument);
  const there: Expression = found?.there ?? { kind: "boolean", value: true, span, type: unknownType };
  const value = found === undefined ? reader.grammar.value(reader, argument) : found.value;
  const last: Statement =
    value === undefined
      ? { kind: "return", span }
      : { kind: "return", value: { kind: "tuple", elements: [there, value], span, type: unknownType }, span };
  return found === undefined || found.before.length === 0 ? [last] : [block([...found.before, last], span)];
}
