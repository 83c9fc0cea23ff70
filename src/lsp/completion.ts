// What may stand at an offset.
import { thisMachine } from "../api/machine.ts";
import { builtins } from "../language/builtins/table.ts";
import { configNames } from "../language/check/config.ts";
import { describe } from "../language/check/unify.ts";
import type { Source, Span } from "../language/diagnostic.ts";
import type { Editing, OwnName } from "../language/language.ts";
import type { StructType, Type } from "../language/types.ts";
import { allProviders, listProbes } from "../providers/registry.ts";
import {
  analyse,
  editedLanguage,
  editingOf,
  expressionsAt,
  hiddenText,
  contains,
  ownNames,
  variableType,
  wordsOf,
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
      return probeCompletions(
        text.slice(place.start, offset),
        { start: place.start, end: offset },
        editing,
        text.slice(offset),
      );
    case "code": {
      const word = wordAt(text.slice(0, offset), offset, editing.sigils);
      const dot = /(\.|->)\s*$/.exec(text.slice(0, word.start));
      const span = { start: word.start, end: offset };
      if (dot !== null && !/\d$/.test(text.slice(0, dot.index)))
        return { items: memberCompletions(source, place, dot.index, span), incomplete: false };
      if (editing.closed === true)
        return { items: nameCompletions(source, offset, word.word, span, place), incomplete: false };
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
      const items = nameCompletions(source, offset, word.word, span, place);
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

interface Code {
  readonly kind: "code";
  /** Where the statement begins, open braces there, and behind the first of them. */
  readonly statement: number;
  readonly depth: number;
  readonly body: number;
  readonly predicate: boolean;
}

type Place =
  | { readonly kind: "nothing" }
  /** In a probe's header; `start` is where the spec begins. */
  | { readonly kind: "header"; readonly start: number }
  /** In a body or a predicate. */
  | Code;

/** Tokens before an offset tell where it is; headers have none, but what they are made of does no harm. */
function placeAt(text: string, offset: number, editing: Editing): Place {
  let depth = 0;
  let statement = 0;
  let body = 0;
  let at = 0;
  for (;;) {
    const token = editing.scan(text, at);
    if (token.kind === "end" || token.start >= offset) break;
    if ((token.end > offset && token.kind === "string") || (token.end >= offset && token.kind === "bad")) {
      // A probe's name may be in one.
      const begun = depth === 0 ? editing.probeStart(text.slice(statement, token.start)) : undefined;
      if (editing.probes === undefined || begun === undefined || text.slice(token.start, offset).includes("\n"))
        return { kind: "nothing" };
      return { kind: "header", start: statement + begun };
    }
    at = token.end;
    if (token.kind !== "punctuation") continue;
    if (token.text === "{") {
      if (depth++ === 0) body = token.end;
    } else if (token.text === "}") depth = Math.max(0, depth - 1);
    if (token.text === "{" || token.text === "}" || token.text === ";") statement = token.end;
  }
  if (insideComment(text, at, offset, editing.lineComment)) return { kind: "nothing" };
  if (depth > 0) return { kind: "code", statement, depth, predicate: false, body };
  const header = text.slice(statement, offset);
  const begun = editing.probeStart(header);
  return begun === undefined
    ? { kind: "code", statement, depth, predicate: true, body: offset }
    : { kind: "header", start: statement + begun };
}

function probeCompletions(written: string, span: Span, { declarations, probes }: Editing, behind: string): Completions {
  const words = declarations.map((label): Completion => ({ label, kind: "keyword", span }));
  const [provider, part] = written.split(":");
  if (probes === undefined && part === undefined) {
    const kinds = allProviders().flatMap(({ name, aliases, usage, doc }): Completion[] =>
      [name, ...aliases].map((label) => ({ label, kind: "probe", detail: usage, doc, span })),
    );
    return { items: [...kinds, ...words], incomplete: false };
  }
  // The list has full names; what was written may be an alias.
  const offeredProbes = probes?.(written) ?? {
    words: [],
    pattern: `${written}*`,
    spelled: (found: string) => `${provider}${found.slice(found.indexOf(":"))}`,
  };
  const items: Completion[] = offeredProbes.words
    .filter(({ name }) => name.startsWith(written))
    .map(({ name, doc }) => ({ label: name, kind: "probe", doc, span }));
  if (probes !== undefined && written === "") items.push(...words);
  const { pattern, spelled = (found: string) => found } = offeredProbes;
  if (pattern === undefined) return { items, incomplete: false };
  const seen = new Set<string>();
  try {
    for (const { probe } of listProbes(pattern, thisMachine(), { verbose: false })) {
      // An editor has closed the text already that is being written.
      const label = behind.startsWith('"') ? spelled(probe).replace(/"\)?$/, "") : spelled(probe);
      if (!label.startsWith(written) || seen.has(label)) continue;
      seen.add(label);
      items.push({ label, kind: "probe", span });
      if (items.length >= mostOffered) return { items, incomplete: true };
    }
  } catch (error) {
    hiddenText(error);
  }
  return { items, incomplete: false };
}

/** What comes before the dot is compiled as a statement of its own, in the place of the unfinished one. */
function memberCompletions(source: Source, place: Code, dot: number, span: Span): Completion[] {
  const { text } = source;
  const object = objectBefore(text, dot);
  if (object === "config") return configNames.map((label): Completion => ({ label, kind: "constant", span }));
  const { reading } = editingOf(editedLanguage(source));
  if (reading !== undefined) return membersRead(source, reading(text, object, placeholder), span);
  const link = text.startsWith("->", dot) ? "->" : ".";
  const front = `${object}${link}`;
  const names = editingOf(editedLanguage(source)).names(text, []);
  const own = new Set(
    names.flatMap((name) => (name.start === span.start || !name.text.startsWith(front) ? [] : name.text)),
  );
  if (own.size > 0) return [...own].map((name) => ({ label: name.slice(front.length), kind: "variable", span }));
  const before = place.predicate
    ? text.slice(0, place.statement) + headerOf(text.slice(place.statement, dot))
    : text.slice(0, place.statement);
  const start = `${before}${place.predicate ? "{ " : " "}${object}`;
  const analysis = analyse({
    ...source,
    text: `${start}${link}${placeholder}; ${"}".repeat(Math.max(1, place.depth))}`,
  });
  const { nodes } = expressionsAt(analysis, start.length);
  if (object === "args") {
    return fields(contextArguments(analysis, start.length) ?? [], span);
  }
  const member = nodes.find((node) => node.kind === "member" && node.name === placeholder);
  return member?.kind === "member" ? membersOf(member.object.type, span) : [];
}

/** What may stand for the placeholder in a script that was made for it. */
function membersRead(source: Source, text: string | undefined, span: Span): Completion[] {
  if (text === undefined) return [];
  const analysis = analyse({ ...source, text });
  const { nodes, handler } = expressionsAt(analysis, text.indexOf(placeholder));
  const read = nodes.find((node) => node.kind === "member" && node.name === placeholder);
  if (read?.kind !== "member") return [];
  if (read.object.kind !== "builtin" || read.object.name !== "args") return membersOf(read.object.type, span);
  const context = handler?.context;
  return context === undefined || context === "host" ? [] : fields(context.args ?? [], span);
}

/** What the probe around an offset is called with: the last that begins before it. */
function contextArguments(
  { stages: { typed } }: Analysis,
  offset: number,
): readonly { readonly name: string; readonly type: Type }[] | undefined {
  const context = typed.handlers
    .filter(({ probe: { span } }) => span.start < span.end && span.start <= offset)
    .sort((a, b) => b.probe.span.start - a.probe.span.start)[0]?.context;
  return context === undefined || context === "host" ? undefined : context.args;
}

/** The specs of a header whose predicate is being written. */
function headerOf(header: string): string {
  return header.slice(0, header.search(/(^|\s)\/(?!\/)[^/]*$/));
}

function fields(all: readonly { readonly name: string; readonly type: Type }[], span: Span): Completion[] {
  return all.map(({ name, type }): Completion => ({ label: name, kind: "field", detail: describe(type), span }));
}

function membersOf(type: Type, span: Span): Completion[] {
  const container = type.kind === "pointer" ? type.target : type;
  if (container.kind === "record") return fields(container.fields, span);
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

function nameCompletions(
  source: Source,
  offset: number,
  word: string,
  span: Span,
  { body, depth }: Code,
): Completion[] {
  const { text } = source;
  // Without the word being written, which may be the beginning of no name at all.
  const analysis = analyse({ ...source, text: text.slice(0, span.start) + text.slice(offset) });
  const { spelling, language } = analysis.language.rules;
  const editing = editingOf(analysis.language);
  const known = ownNames(analysis);
  const named = (kind: OwnName["kind"]): readonly OwnName[] => {
    const all = known.filter((name) => name.kind === kind && contains(name.scope, span.start));
    const behindArrow = /->\s*$/.test(text.slice(0, span.start));
    return all
      .filter((name, i) => !behindArrow && all.findIndex((other) => other.text === name.text) === i)
      .sort((a, b) => (a.text < b.text ? -1 : 1));
  };
  const variables = named("variable").map((name): Completion => ({
    label: name.text,
    kind: "variable",
    ...detail(variableType(analysis, name)),
    span,
  }));
  const maps = named("map").map(({ text: label }): Completion => {
    const map = analysis.stages.typed.maps.find(({ name }) => spelling.map(name) === label);
    return { label, kind: "map", ...detail(map === undefined ? undefined : describe(map.value)), span };
  });
  if (word !== "" && editing.sigils.includes(word[0])) {
    // By the header alone: of a text with a mistake in it some languages have no handlers.
    const headed =
      editing.targets === true ? analyse({ ...source, text: `${text.slice(0, body)} $${placeholder} }` }) : analysis;
    const parameters = (contextArguments(headed, body) ?? []).map(({ name, type }): Completion => ({
      label: `$${name}`,
      kind: "field",
      detail: describe(type),
      span,
    }));
    const all = [...variables, ...maps, ...(editing.targets === true ? parameters : [])];
    return all.filter(({ label }) => label.startsWith(word[0]));
  }
  const table = (editing.closed === true ? [] : builtins()).flatMap(
    ({ name, form, signature, doc, spelling: spellings }): Completion[] =>
      (spellings?.[language] ?? [spelling.builtin(name)])
        .filter((label) => label !== "argN")
        .map((label) => ({ label, kind: form === "value" ? "value" : "function", detail: signature, doc, span })),
  );
  const words = wordsOf(analysis.language).flatMap(({ name, kind, signature, doc }): Completion[] =>
    kind === "probe" ? [] : [{ label: name, kind, detail: signature, doc, span }],
  );
  const own = named("function").map(({ text: label }): Completion => ({ label, kind: "function", span }));
  const constants = analysis.program.enums.flatMap(({ constants: all }) =>
    all.map(({ name }): Completion => ({ label: name, kind: "constant", span })),
  );
  return [
    ...variables,
    ...maps,
    ...membersRead(source, editing.reading?.(text, "", placeholder), span),
    ...words,
    ...table.filter(({ label }) => !words.some((of) => of.label === label)),
    ...own,
    ...constants,
    ...[...editing.keywords, ...(depth === 0 ? editing.declarations : [])].map((label): Completion => ({
      label,
      kind: "keyword",
      span,
    })),
  ];
}

function detail(text: string | undefined): { detail?: string } {
  return text === undefined ? {} : { detail: text };
}
