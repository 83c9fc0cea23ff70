// A script as an editor has it: compiled for this machine, mistakes and all.
import { parseScript } from "../api/compile.ts";
import { thisMachine } from "../api/machine.ts";
import { compile, type Compiled } from "../compiler/compile.ts";
import { InternalError } from "../base/internal-error.ts";
import type { CheckedHandler } from "../language/checked-program.ts";
import type { Diagnostic, Source, Span } from "../language/diagnostic.ts";
import type { Editing, Language } from "../language/language.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import type { Expression, Probe, Program } from "../language/program.ts";
import { languageOf, languages } from "../language/registry.ts";
import { LinuxError } from "../linux/error.ts";
import { resolveSpec } from "../providers/registry.ts";

/** Enough for whatever `$N` a script may want: an editor has no command line. */
const positional = Array.from({ length: 9 }, (_, i) => String(i + 1));

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
  const { program, diagnostics } = parseScript(source, { positional, named: new Map() }, language);
  const hidden: Diagnostic[] = [];
  // Whoever writes a script need not be root, who will run it: what is hidden from us is a warning there, and the rest
  // goes on.
  const resolve: typeof resolveSpec = (spec, system, options) => {
    try {
      return resolveSpec(spec, system, options);
    } catch (error) {
      hidden.push({
        severity: "warning",
        code: "feature",
        span: spec.span,
        message: hiddenText(error),
        help: hiddenHelp,
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
    diagnostics: [...diagnostics, ...hidden, ...told].sort((a, b) => a.span.start - b.span.start),
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

/** What a word of the text is the name of. */
export function wordKind(word: string, language: Language): "map" | "variable" | "other" {
  const { maps, variables } = editingOf(language);
  const isWhole = (pattern: RegExp): boolean => new RegExp(`^(?:${pattern.source})$`).test(word);
  return word === "" ? "other" : isWhole(maps) ? "map" : isWhole(variables) ? "variable" : "other";
}

export const hiddenHelp =
  "run the language server as root to see everything (in an editor's settings, as the command `sudo strobe lsp`)";

/** What to say of facts that this machine keeps to itself; anything else that was thrown is thrown again. */
export function hiddenText(error: unknown): string {
  if (!(error instanceof Error && (error instanceof LinuxError || "code" in error))) throw error;
  return process.geteuid?.() === 0
    ? error.message
    : "this machine shows it to root alone, so it cannot be checked here";
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
    if (!contains(handler.probe.span, offset)) continue;
    const nodes = within([handler.predicate, handler.body], offset);
    if (nodes.length > 0) return { nodes, handler };
  }
  for (const { body } of typed.functions) {
    const nodes = within(body, offset);
    if (nodes.length > 0) return { nodes };
  }
  return { nodes: [] };
}

/** The probe whose header or body holds an offset. */
export function probeAt({ program }: Analysis, offset: number): Probe | undefined {
  return program.probes.find(({ span }) => contains(span, offset));
}

export function specAt({ program }: Analysis, offset: number): ProbeSpec | undefined {
  return program.probes.flatMap(({ specs }) => specs).find(({ span }) => contains(span, offset));
}

/**
 * The tree is plain data: whatever has a kind, a type and a span is an expression. Types are left alone, they reach
 * far.
 */
function within(node: unknown, offset: number): Expression[] {
  if (typeof node !== "object" || node === null) return [];
  if (Array.isArray(node)) return node.flatMap((item) => within(item, offset));
  const held = "span" in node ? contains(node.span as Span, offset) : true;
  if (!held) return [];
  const inner = Object.entries(node).flatMap(([key, value]) =>
    key === "type" || key === "span" || key === "path" ? [] : within(value, offset),
  );
  return "kind" in node && "type" in node && "span" in node ? [...inner, node as Expression] : inner;
}
