// Probes in TypeScript: from the source of handlers to the tree. No I/O; every mistake becomes a diagnostic.
import { handlers } from "../../messages/typescript.ts";
import type { ArrowFunctionExpression, FunctionExpression } from "acorn";
import type { Diagnostic } from "../diagnostic.ts";
import type { Block, Expression, FunctionDeclaration, Probe, Program, Statement } from "../program.ts";
import type { FunctionSource, Names, ProbeSource } from "./binding.ts";
import { writtenParts, type ParameterMeaning } from "../probe-spelling.ts";
import { callExpression } from "./calls.ts";
import { nameParts } from "./declarations.ts";
import { condition, value } from "./expressions.ts";
import { called, missableParameter, parseFunction, returnPresence } from "./functions.ts";
import { Pieces } from "./script-text.ts";
import { refer } from "./references.ts";
import { typescriptRules } from "./rules.ts";
import { body, expression, safely } from "./statements.ts";
import { block, builtin, refusal, Translation, Reader, variable, type CallForm, type Grammar } from "./reader.ts";

const grammar: Grammar = {
  value,
  condition,
  refer,
  call: callExpression,
  called,
  effect: expression,
  statements: safely,
  function: declareFunction,
};

export interface ParsedProbes {
  readonly program: Program;
  /** Their spans are in the program's source; `pieces` leads back to the files. */
  readonly diagnostics: readonly Diagnostic[];
  readonly pieces: Pieces;
  readonly names: Names;
}

export function parseProbes(sources: readonly ProbeSource[], config: Program["config"] = []): ParsedProbes {
  const pieces = new Pieces();
  const translation = new Translation(pieces, grammar);
  const probes = sources.map((source) => probe(translation, source));
  const span = { start: 0, end: 0 };
  const program: Program = {
    source: { name: sources[0]?.handler.place?.file ?? "script", text: pieces.text },
    rules: typescriptRules,
    config,
    structs: [...translation.structs.values()].flatMap(({ declaration }) => declaration ?? []),
    enums: [...translation.enums.values()],
    maps: [...translation.maps.values()].flatMap(({ name, map, span: used }) =>
      map.storage === undefined && map.entries === undefined
        ? []
        : [
            {
              name,
              storage: map.storage ?? "hash",
              ...(map.entries === undefined ? {} : { entries: map.entries }),
              span: used,
            },
          ],
    ),
    functions: [...translation.functions.values()].flatMap((made) =>
      [...made.values()].flatMap(({ declaration }) => declaration ?? []),
    ),
    probes,
  };
  if (probes.length === 0) {
    translation.diagnostics.push({ severity: "error", span, ...handlers.thereNoProbeTrace() });
  }
  const maps = new Map([...translation.maps].map(([identity, { name }]) => [identity, name]));
  return {
    program,
    diagnostics: translation.diagnostics,
    pieces,
    names: { maps, events: translation.events, exact: translation.exact },
  };
}

function probe(translation: Translation, source: ProbeSource): Probe {
  const { provider, parts, options, words, parameters, handler, filter } = source;
  const written = words.map((word) => JSON.stringify(word)).join(", ");
  const before = `${source.constructorName}(${written}${parts.length === 0 ? "" : ", "}`;
  const start = translation.pieces.function(handler, before, ")");
  const span = { start, end: start + handler.text.length };
  const specSpan =
    specSpanOf(source, start) ??
    (written === "" ? span : undefined) ??
    (translation.pieces.text.slice(start - before.length, start) === before
      ? { start: start - before.length + source.constructorName.length + 1, end: start - 2 }
      : { start, end: start + 1 });
  const predicate = filter === undefined ? undefined : predicateOf(translation, filter, parameters);
  return {
    specs: [{ provider, parts, ...(options && { options }) }, ...(source.also ?? [])].map((one) => ({
      ...one,
      text: [one.provider, ...writtenParts(one)].join(":"),
      span: specSpanOf({ handler, parts: one.parts }, start) ?? specSpan,
    })),
    ...(predicate === undefined ? {} : { predicate }),
    body: handlerBody(translation, handler, start, parameters),
    span,
  };
}

/** How far before a handler its probe's name is looked for, in characters. */
const near = 400;

/** Where the probe's name is written before the handler, in a file. */
function specSpanOf(
  { handler, parts }: Pick<ProbeSource, "handler" | "parts">,
  start: number,
): { start: number; end: number } | undefined {
  const last = parts.at(-1);
  if (handler.place === undefined || last === undefined) return undefined;
  const { text, offset } = handler.place;
  const from = Math.max(0, offset - near);
  const at = text.slice(from, offset).lastIndexOf(last);
  return at < 0 ? undefined : { start: start - (offset - from) + at, end: start - (offset - from) + at + last.length };
}

// ── functions ────────────────────────────────────────────────────────────────────────────────────────────────────────

type FunctionNode = ArrowFunctionExpression | FunctionExpression;

/** Reads a function's text; undefined after a diagnostic. */
function read(
  translation: Translation,
  source: FunctionSource,
  start: number,
): { node: FunctionNode; reader: Reader } | undefined {
  const { text } = source;
  let problem: unknown;
  try {
    const parsed = parseFunction(text);
    if (parsed !== undefined) {
      const { node, shift } = parsed;
      const reader = new Reader(translation, source, node, start - shift);
      if (node.async) reader.refuseSyntax({ start: node.start, end: node.start + 1 }, "async");
      if (node.generator) reader.refuseSyntax({ start: node.start, end: node.start + 1 }, "generator");
      return { node, reader };
    }
  } catch (error) {
    if (error === refusal) return undefined;
    problem = error;
  }
  const native = /\{\s*\[native code\]\s*\}\s*$/.test(text);
  const raised = problem as { readonly pos?: number; readonly message?: string } | undefined;
  const at = Math.min(Math.max((raised?.pos ?? 1) - 1, 0), text.length);
  translation.diagnostics.push({
    severity: "error",
    span: native ? { start, end: start + text.length } : { start: start + at, end: start + at + 1 },
    ...(native
      ? handlers.functionNoSourceCanRead(native)
      : handlers.doesNotParse((raised?.message ?? "no function").replace(/ \(\d+:\d+\)$/, "").toLowerCase(), native)),
  });
  return undefined;
}

function handlerBody(
  translation: Translation,
  source: FunctionSource,
  start: number,
  parameters: readonly ParameterMeaning[],
): Probe["body"] {
  const empty = block([], { start, end: start + source.text.length });
  const got = read(translation, source, start);
  if (got === undefined) return empty;
  const { node, reader } = got;
  try {
    nameParameters(reader, node, parameters);
    if (node.body.type === "BlockStatement") return body(reader, node.body);
    return block(expression(reader, node.body), reader.span(node.body));
  } catch (error) {
    if (error !== refusal) throw error;
    return empty;
  }
}

function nameParameters(reader: Reader, node: FunctionNode, parameters: readonly ParameterMeaning[]): void {
  node.params.forEach((pattern, i) => {
    const meaning = parameters[i];
    if (meaning === undefined) {
      const count =
        parameters.length === 0
          ? "no parameters"
          : parameters.length === 1
            ? "one parameter"
            : `${parameters.length} parameters`;
      reader.refuse(pattern, handlers.handlerProbe(count));
    }
    nameParts(reader, pattern, builtin(meaning, reader.span(pattern)));
  });
}

function predicateOf(
  translation: Translation,
  source: FunctionSource,
  parameters: readonly ParameterMeaning[],
): Expression | undefined {
  const start = translation.pieces.function(source);
  const got = read(translation, source, start);
  if (got === undefined) return undefined;
  const { node, reader } = got;
  try {
    nameParameters(reader, node, parameters);
    const { body: inside } = node;
    if (inside.type !== "BlockStatement") return condition(reader, inside);
    const [only] = inside.body;
    if (inside.body.length === 1 && only.type === "ReturnStatement" && only.argument)
      return condition(reader, only.argument);
    return reader.refuse(inside, handlers.filterOneExpression());
  } catch (error) {
    if (error !== refusal) throw error;
    return undefined;
  }
}

/** A function that handlers call, with so many arguments. Its parameters' types are those it is called with. */
function declareFunction(
  translation: Translation,
  source: FunctionSource,
  name: string,
  form: CallForm,
): FunctionDeclaration {
  const start = translation.pieces.function(source);
  const span = { start, end: start + source.text.length };
  const got = read(translation, source, start);
  if (got === undefined) return { name, parameters: [], body: block([], span), span };
  const { node, reader } = got;
  const { count, given, missable, nothing } = form;
  reader.tellsPresence = form.tellsPresence;
  const presences: typeof parameters = [];
  const parameters: { name: string; span: { start: number; end: number } }[] = [];
  try {
    const before = node.params.flatMap((pattern, i): Statement[] => {
      const at = reader.span(pattern);
      const object = given.get(i);
      const own = pattern.type === "AssignmentPattern" ? pattern.left : pattern;
      if (object !== undefined) {
        if (own.type !== "Identifier") return reader.refuse(pattern, handlers.cannotTakenApart(object.kind));
        reader.alias(own.name, () => object);
        return [];
      }
      if (own.type === "RestElement") return reader.refuseSyntax(own, "RestElement");
      if (missable.has(i) && own.type === "Identifier") {
        const [whole, there] = [reader.temporary("given"), reader.temporary("there")];
        parameters.push({ name: whole, span: at });
        presences.push({ name: there, span: at });
        return missableParameter(
          reader,
          own,
          { before: [], there: variable(there, at), value: variable(whole, at) },
          pattern.type === "AssignmentPattern" ? pattern.right : undefined,
        );
      }
      const missing = nothing.has(i) || i >= count;
      if (missing && own.type === "Identifier" && pattern.type !== "AssignmentPattern") {
        reader.alias(own.name, () => ({ kind: "nothing", what: "undefined" }));
        return [];
      }
      // Read before its name is there.
      const otherwise = pattern.type === "AssignmentPattern" && missing ? value(reader, pattern.right) : undefined;
      const variableName =
        own.type === "Identifier" ? reader.declareParameter(own.name) : reader.temporary("parameter");
      if (own.type !== "Identifier") nameParts(reader, own, variable(variableName, at));
      if (otherwise !== undefined)
        return [{ kind: "declare", variable: variable(variableName, at), value: otherwise, span: at }];
      parameters.push({ name: variableName, span: at });
      return [];
    });
    parameters.push(...presences);
    const whole = bodyOf(reader, node);
    return {
      name,
      parameters,
      body: before.length === 0 ? whole : block([...before, ...whole.statements], whole.span),
      span,
    };
  } catch (error) {
    if (error !== refusal) throw error;
    return { name, parameters, body: block([], span), span };
  }
}

/** A function's body; of an expression, its return. */
function bodyOf(reader: Reader, node: FunctionNode): Block {
  if (node.body.type === "BlockStatement") return body(reader, node.body);
  const inside = reader.span(node.body);
  if (reader.tellsPresence) return block(returnPresence(reader, node.body, inside), inside);
  const outcome =
    node.body.type === "CallExpression"
      ? reader.grammar.call(reader, node.body)
      : ({ kind: "value", expression: value(reader, node.body) } as const);
  return block(
    [outcome.kind === "statement" ? outcome.statement : { kind: "return", value: outcome.expression, span: inside }],
    inside,
  );
}
