// What may stand at an offset.
import { thisMachine } from "../api/machine.ts";
import { builtins } from "../language/builtins/table.ts";
import { configNames } from "../language/check/config.ts";
import { describe } from "../language/check/unify.ts";
import type { Source, Span } from "../language/diagnostic.ts";
import type { Editing } from "../language/language.ts";
import type { StructType, Type } from "../language/types.ts";
import { allProviders, listProbes } from "../providers/registry.ts";
import {
  analyse,
  editedLanguage,
  editingOf,
  expressionsAt,
  hiddenText,
  probeAt,
  wordKind,
  type Analysis,
} from "./analysis.ts";
import { insideComment, wordAt } from "./text-position.ts";

export interface Completion {
  readonly label: string;
  readonly kind: "probe" | "field" | "value" | "function" | "variable" | "map" | "keyword" | "constant" | "type";
  /** Shown beside the label: a type or a signature. */
  readonly detail?: string;
  readonly doc?: string;
  /** What the label replaces. */
  readonly span: Span;
}

export interface Completions {
  readonly items: readonly Completion[];
  /** There are more: to be asked again with more letters. */
  readonly incomplete: boolean;
}

/** Probes, types or constants offered at once; a kernel has many tens of thousands. */
const mostOffered = 400;
const placeholder = "strobe_member";

export function complete(source: Source, offset: number): Completions {
  const { text } = source;
  const editing = editingOf(editedLanguage(source));
  const place = placeAt(text, offset, editing);
  switch (place.kind) {
    case "nothing":
      return { items: [], incomplete: false };
    case "header":
      return probeCompletions(text.slice(place.start, offset), { start: place.start, end: offset }, editing);
    case "code": {
      const word = wordAt(text.slice(0, offset), offset, editing.sigils);
      const dot = /(\.|->)\s*$/.exec(text.slice(0, word.start));
      const span = { start: word.start, end: offset };
      if (dot !== null && !/\d$/.test(text.slice(0, dot.index)))
        return { items: memberCompletions(source, place, dot.index, span), incomplete: false };
      const tag = /\b(struct|union|enum)\s+$/.exec(text.slice(0, word.start))?.[1] as
        | "struct"
        | "union"
        | "enum"
        | undefined;
      if (tag !== undefined)
        return offered(thisMachine().typeNames?.(tag) ?? [], word.word, (label) => ({
          label,
          kind: "type",
          detail: tag,
          span,
        }));
      const items = nameCompletions(source, offset, word.word, span);
      const constants = /^[A-Za-z_]\w/.test(word.word)
        ? offered(kernelConstants().keys(), word.word, (label) => ({
            label,
            kind: "constant",
            detail: String(kernelConstants().get(label)),
            span,
          }))
        : { items: [], incomplete: false };
      return { items: [...items, ...constants.items], incomplete: constants.incomplete };
    }
  }
}

let constantsKnown: ReadonlyMap<string, bigint> | undefined;

function kernelConstants(): ReadonlyMap<string, bigint> {
  return (constantsKnown ??= new Map(
    [...(thisMachine().enumConstants?.() ?? [])].map(({ name, value }) => [name, value]),
  ));
}

/** Names that begin as written, each once, as many as there is use for. */
function offered(names: Iterable<string>, written: string, completion: (label: string) => Completion): Completions {
  const items = new Map<string, Completion>();
  for (const name of names) {
    if (name === "" || !name.startsWith(written) || items.has(name)) continue;
    if (items.size >= mostOffered) return { items: [...items.values()], incomplete: true };
    items.set(name, completion(name));
  }
  return { items: [...items.values()], incomplete: false };
}

type Place =
  | { readonly kind: "nothing" }
  /** In a probe's header; `start` is where the spec begins. */
  | { readonly kind: "header"; readonly start: number }
  /** In a body or a predicate. `statement`: where the statement begins. `depth`: open braces there. */
  | { readonly kind: "code"; readonly statement: number; readonly depth: number; readonly predicate: boolean };

/** Tokens before an offset tell where it is; headers have none, but what they are made of does no harm. */
function placeAt(text: string, offset: number, editing: Editing): Place {
  let depth = 0;
  let statement = 0;
  let at = 0;
  for (;;) {
    const token = editing.scan(text, at);
    if (token.kind === "end" || token.start >= offset) break;
    if (token.end > offset && (token.kind === "string" || token.kind === "bad")) return { kind: "nothing" };
    at = token.end;
    if (token.kind !== "punctuation") continue;
    if (token.text === "{") depth++;
    else if (token.text === "}") depth = Math.max(0, depth - 1);
    if (token.text === "{" || token.text === "}" || token.text === ";") statement = token.end;
  }
  if (insideComment(text, at, offset)) return { kind: "nothing" };
  if (depth > 0) return { kind: "code", statement, depth, predicate: false };
  const header = text.slice(statement, offset);
  if (/(^|\s)\/(?!\/)[^/]*$/.test(header)) return { kind: "code", statement, depth, predicate: true };
  const spec = /[^\s,]*$/.exec(header)?.[0] ?? "";
  return { kind: "header", start: offset - spec.length };
}

function probeCompletions(written: string, span: Span, { declarations }: Editing): Completions {
  if (!written.includes(":")) {
    const kinds = allProviders().flatMap(({ name, aliases, usage, doc }): Completion[] =>
      [name, ...aliases].map((label) => ({ label, kind: "probe", detail: usage, doc, span })),
    );
    return {
      items: [...kinds, ...declarations.map((label): Completion => ({ label, kind: "keyword", span }))],
      incomplete: false,
    };
  }
  const [provider] = written.split(":");
  const items: Completion[] = [];
  try {
    for (const { probe } of listProbes(`${written}*`, thisMachine(), { verbose: false })) {
      // The list has full names; what was written may be an alias.
      const label = `${provider}${probe.slice(probe.indexOf(":"))}`;
      if (!label.startsWith(written)) continue;
      items.push({ label, kind: "probe", span });
      if (items.length >= mostOffered) return { items, incomplete: true };
    }
  } catch (error) {
    hiddenText(error);
  }
  return { items, incomplete: false };
}

/** What comes before the dot is compiled as a statement of its own, in the place of the unfinished one. */
function memberCompletions(
  source: Source,
  place: Extract<Place, { kind: "code" }>,
  dot: number,
  span: Span,
): Completion[] {
  const { text } = source;
  const object = objectBefore(text, dot);
  if (object === "config") return configNames.map((label): Completion => ({ label, kind: "constant", span }));
  const before = place.predicate
    ? text.slice(0, place.statement) + headerOf(text.slice(place.statement, dot))
    : text.slice(0, place.statement);
  const start = `${before}${place.predicate ? "{ " : " "}${object}`;
  const analysis = analyse({ ...source, text: `${start}.${placeholder}; ${"}".repeat(Math.max(1, place.depth))}` });
  const { nodes, handler } = expressionsAt(analysis, start.length);
  if (object === "args") {
    const context = handler?.context;
    if (context === undefined || context === "host") return [];
    return (context.args ?? []).map(({ name, type }): Completion => ({
      label: name,
      kind: "field",
      detail: describe(type),
      span,
    }));
  }
  const member = nodes.find((node) => node.kind === "member" && node.name === placeholder);
  return member?.kind === "member" ? membersOf(member.object.type, span) : [];
}

/** The specs of a header whose predicate is being written. */
function headerOf(header: string): string {
  return header.slice(0, header.search(/(^|\s)\/(?!\/)[^/]*$/));
}

function membersOf(type: Type, span: Span): Completion[] {
  const container = type.kind === "pointer" ? type.target : type;
  if (container.kind === "record") {
    return container.fields.map(({ name, type: of }): Completion => ({
      label: name,
      kind: "field",
      detail: describe(of),
      span,
    }));
  }
  return container.kind === "struct" ? structMembers(container, span) : [];
}

/** Members of nameless structs are members of what holds them. */
function structMembers({ members }: StructType, span: Span): Completion[] {
  return members.flatMap(({ name, type }): Completion[] => {
    if (name === "") return type.kind === "struct" ? structMembers(type, span) : [];
    return [{ label: name, kind: "field", detail: describe(type), span }];
  });
}

/** The operand that ends at an offset: names, members, indexes, calls, parentheses. */
function objectBefore(text: string, end: number): string {
  let at = end;
  for (;;) {
    while (at > 0 && /\s/.test(text[at - 1])) at--;
    const last = text[at - 1];
    if (last === ")" || last === "]") {
      at = openingOf(text, at - 1);
      // A call's or a map's name.
      while (at > 0 && /[\w$@]/.test(text[at - 1])) at--;
    } else {
      while (at > 0 && /[\w$@]/.test(text[at - 1])) at--;
    }
    const link = /(\.|->)\s*$/.exec(text.slice(0, at));
    if (link === null) return text.slice(at, end).trim();
    at = link.index;
  }
}

function openingOf(text: string, close: number): number {
  let depth = 0;
  for (let at = close; at >= 0; at--) {
    if (text[at] === ")" || text[at] === "]") depth++;
    else if (text[at] === "(" || text[at] === "[") depth--;
    if (depth === 0) return at;
  }
  return 0;
}

function nameCompletions(source: Source, offset: number, word: string, span: Span): Completion[] {
  const { text } = source;
  // Without the word being written, which may be the beginning of no name at all.
  const analysis = analyse({ ...source, text: text.slice(0, span.start) + text.slice(offset) });
  const { spelling, language } = analysis.language.rules;
  const editing = editingOf(analysis.language);
  const variables = namesIn(text, span, editing.variables, bodyAt(analysis, span.start)).map((label): Completion => ({
    label,
    kind: "variable",
    ...detail(variableType(analysis, label)),
    span,
  }));
  const maps = namesIn(text, span, editing.maps).map((label): Completion => {
    const map = analysis.stages.typed.maps.find(({ name }) => spelling.map(name) === label);
    return { label, kind: "map", ...detail(map === undefined ? undefined : describe(map.value)), span };
  });
  const kind = wordKind(word, analysis.language);
  if (kind !== "other") return kind === "map" ? maps : variables;
  if (word !== "" && editing.sigils.includes(word))
    return [...variables, ...maps].filter(({ label }) => label.startsWith(word));
  const table = builtins().flatMap(({ name, form, signature, doc, spelling: spellings }): Completion[] =>
    (spellings?.[language] ?? [spelling.builtin(name)])
      .filter((label) => label !== "argN")
      .map((label) => ({ label, kind: form === "value" ? "value" : "function", detail: signature, doc, span })),
  );
  const own = analysis.program.functions.map(({ name }): Completion => ({ label: name, kind: "function", span }));
  const macros = (editing.macros === undefined ? [] : namesIn(text, span, editing.macros)).map((label): Completion => ({
    label,
    kind: "function",
    span,
  }));
  const constants = analysis.program.enums.flatMap(({ constants: all }) =>
    all.map(({ name }): Completion => ({ label: name, kind: "constant", span })),
  );
  return [
    ...variables,
    ...maps,
    ...table,
    ...own,
    ...macros,
    ...constants,
    ...editing.keywords.map((label): Completion => ({ label, kind: "keyword", span })),
  ];
}

function bodyAt(analysis: Analysis, offset: number): Span {
  return probeAt(analysis, offset)?.span ?? { start: 0, end: Infinity };
}

function detail(text: string | undefined): { detail?: string } {
  return text === undefined ? {} : { detail: text };
}

function variableType({ stages: { typed }, language: { rules } }: Analysis, name: string): string | undefined {
  for (const { variables } of [...typed.handlers, ...typed.functions]) {
    const found = variables.find((variable) => rules.spelling.variable(variable.name) === name);
    if (found !== undefined) return describe(found.type);
  }
  return undefined;
}

/** Names that a text has elsewhere, each once. */
function namesIn(text: string, except: Span, pattern: RegExp, within: Span = { start: 0, end: Infinity }): string[] {
  const found = [...text.matchAll(pattern)].filter(
    ({ index }) => index !== except.start && index >= within.start && index <= within.end,
  );
  return [...new Set(found.map(([name]) => name))].sort();
}
