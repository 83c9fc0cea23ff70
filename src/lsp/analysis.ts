// A script as an editor has it: compiled for this machine, mistakes and all.
import { parseScript } from "../api/compile.ts";
import { thisMachine } from "../api/machine.ts";
import { compile, type Compiled } from "../compiler/compile.ts";
import { InternalError } from "../base/internal-error.ts";
import type { BuiltinSpec } from "../language/builtins/signature.ts";
import type { CheckedHandler } from "../language/checked-program.ts";
import type { Diagnostic, Source, Span } from "../language/diagnostic.ts";
import type { Editing, EditingWord, Language, OwnName } from "../language/language.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import type { Expression, Program } from "../language/program.ts";
import { describe } from "../language/check/unify.ts";
import { languageOf, languages } from "../language/registry.ts";
import { LinuxError } from "../linux/error.ts";
import { resolveSpec } from "../providers/registry.ts";
import { scripts, scriptReasons } from "../messages/scripts.ts";
import { saidBy, type Reason } from "../base/failure.ts";

/** What stands for the command line's arguments: an editor has none, and the script may want some. */
function positionalFor(text: string): readonly string[] {
  const most = Math.max(0, ...[...text.matchAll(/[$@](\d)\b/g)].map(([, digit]) => Number(digit)));
  return Array.from({ length: most }, (_, i) => String(i + 1));
}

export interface Analysis extends Pick<Compiled, "stages" | "diagnostics"> {
  readonly source: Source;
  readonly language: Language;
  readonly program: Program;
}

/**
 * Up to its types, which is all that most answers need. `whole`: also what generating code finds wrong, in some five
 * times the time.
 */
export function analyse(source: Source, { whole = false } = {}): Analysis {
  const language = editedLanguage(source);
  const {
    program,
    diagnostics,
    told: placed = (span) => span,
  } = parseScript(source, { positional: positionalFor(source.text), named: new Map() }, language);
  const hidden: Diagnostic[] = [];
  // Whoever writes a script need not be root, who will run it: what is hidden from us is a warning there, and the rest
  // goes on.
  const resolve: typeof resolveSpec = (spec, system, options) => {
    try {
      return resolveSpec(spec, system, options);
    } catch (error) {
      hidden.push({
        severity: "warning",
        span: spec.span,
        ...scripts.hiddenFromServer(hiddenText(error)),
      });
      return { variants: [], diagnostics: [] };
    }
  };
  const compiled = compile(program, thisMachine(), {
    resolve,
    unsafe: true,
    env: {},
    until: whole ? undefined : "checked",
  });
  // That nothing is left to attach to would be news of this server, not of the script.
  const told = compiled.diagnostics.filter(
    ({ span }) => !hidden.some((one) => contains(span, one.span.start) && contains(span, one.span.end)),
  );
  return {
    stages: compiled.stages,
    program,
    language,
    diagnostics: [...diagnostics, ...hidden, ...told]
      .map((one) => ({ ...one, span: placed(one.span) }))
      .sort((a, b) => a.span.start - b.span.start),
    source,
  };
}

/** A document's language; the first where its own is not edited here. */
export function editedLanguage({ name, text }: Source): Language {
  const language = languageOf(name, text);
  return language.parse === undefined || language.editing === undefined ? languages[0] : language;
}

/** What editors are offered of a language. */
export function editingOf({ editing }: Language): Editing {
  if (editing === undefined) throw new InternalError("a language that is not edited");
  return editing();
}

/** What a language offers besides the table of builtins. */
export function wordsOf(language: Language): readonly EditingWord[] {
  let words = knownWords.get(language);
  if (words === undefined) knownWords.set(language, (words = editingOf(language).words?.() ?? []));
  return words;
}

/** Those of a name. */
export function wordsNamed(language: Language, name: string): readonly EditingWord[] {
  const anyCase = editingOf(language).closed === true ? name.toUpperCase() : name;
  return wordsOf(language).filter((word) => word.name === name || (word.kind === "function" && word.name === anyCase));
}

/** What a row of the table says of itself, by the name that a language has for it. */
export function signatureOf({ name, signature }: BuiltinSpec, spelled: string): string {
  return signature.replaceAll(new RegExp(`\\b${name}\\b`, "g"), spelled);
}

const knownWords = new Map<Language, readonly EditingWord[]>();

/** The names that the script has made, where they stand. */
export function ownNames({ source: { text }, program, language }: Analysis): readonly OwnName[] {
  return editingOf(language).names(
    text,
    program.probes.flatMap(({ specs }) => specs.map(({ span }) => span)),
  );
}

/** The one that an offset touches. */
export function ownNameAt(analysis: Analysis, offset: number): OwnName | undefined {
  return ownNames(analysis).find((name) => contains(name, offset));
}

/** What is in a variable, as far as that is known. */
export function variableType(
  { stages: { typed }, language: { rules } }: Analysis,
  { text, scope, means }: OwnName,
): string | undefined {
  if (means !== undefined) return means;
  const around = typed.handlers.filter(({ probe }) => contains(scope, probe.span.start));
  for (const { variables } of [...around, ...typed.functions]) {
    const found = variables.find((variable) => rules.spelling.variable(variable.name) === text);
    if (found !== undefined) return describe(found.type);
  }
  // What lives longer than a handler is a map to some languages' engine, and a variable to their authors.
  const kept = typed.maps.find(({ name, keys }) => keys.length === 0 && rules.spelling.map(name) === text);
  return kept && describe(kept.value);
}

/** Where a name means the same, in the order of the text. */
export function placesOf(analysis: Analysis, { kind, text, scope }: OwnName): readonly OwnName[] {
  return ownNames(analysis).filter(
    (name) =>
      name.kind === kind && name.text === text && name.scope.start === scope.start && name.scope.end === scope.end,
  );
}

/** What to say of facts that this machine keeps to itself; anything else that was thrown is thrown again. */
export function hiddenText(error: unknown): Reason {
  if (!(error instanceof Error && (error instanceof LinuxError || "code" in error))) throw error;
  return process.geteuid?.() === 0 ? saidBy(error) : scriptReasons.rootAlone();
}

/** What a person is shown: notes on the same place in several variants of a probe count once. */
export function diagnosticsOf({ diagnostics }: Analysis): readonly Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ span, message }) => {
    const key = `${span.start} ${span.end} ${message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

export function contains({ start, end }: Span, offset: number): boolean {
  return start <= offset && offset <= end;
}

export interface Found {
  /** Innermost first. */
  readonly nodes: readonly Expression[];
  readonly handler?: CheckedHandler;
}

/** The expressions that hold an offset, typed as far as types are known. */
export function expressionsAt({ stages: { typed } }: Analysis, offset: number): Found {
  for (const handler of typed.handlers) {
    const nodes = within([handler.predicate, handler.body], offset);
    if (nodes.length > 0) return { nodes, handler };
  }
  for (const { body } of typed.functions) {
    const nodes = within(body, offset);
    if (nodes.length > 0) return { nodes };
  }
  return { nodes: [] };
}

export function specAt({ program }: Analysis, offset: number): ProbeSpec | undefined {
  return program.probes.flatMap(({ specs }) => specs).find(({ span }) => contains(span, offset));
}

/**
 * The tree is plain data: whatever has a kind, a type and a span is an expression. Types are left alone, they reach far.
 * What a language puts around a handler has the place of its header, so that all of the tree is looked through.
 */
function within(node: unknown, offset: number): Expression[] {
  if (typeof node !== "object" || node === null) return [];
  if (Array.isArray(node)) return node.flatMap((item) => within(item, offset));
  const inner = Object.entries(node).flatMap(([key, value]) =>
    key === "type" || key === "span" || key === "path" ? [] : within(value, offset),
  );
  return "kind" in node && "type" in node && "span" in node && contains(node.span as Span, offset)
    ? [...inner, node as Expression]
    : inner;
}
