// Every place of a map, a variable, a function or a macro of the script, and other names for them.
import { builtinsFor } from "../language/builtins/table.ts";
import type { Span } from "../language/diagnostic.ts";
import type { Editing, EditingToken } from "../language/language.ts";
import { analyse, contains, editingOf, probeAt, wordKind, type Analysis } from "./analysis.ts";
import { tokens, wordAt } from "./text-position.ts";

type Kind = "map" | "variable" | "callable";

export interface Named {
  readonly kind: Kind;
  readonly word: string;
  /** The name at the offset. */
  readonly span: Span;
  /** In the order of the text. A variable's are those of its probe, function or macro. */
  readonly places: readonly Span[];
}

/** Undefined where nothing stands that the script has made. */
export function named(analysis: Analysis, offset: number): Named | undefined {
  const { source, language } = analysis;
  const editing = editingOf(language);
  const { word, start, end } = wordAt(source.text, offset, editing.sigils);
  const code = codeOf(analysis, editing);
  if (word === "" || !code.some((token) => token.start === start && token.end === end)) return undefined;
  const declared = declarations(code, editing);
  const isWord = (token: EditingToken): boolean => source.text.slice(token.start, token.end) === word;
  const kind = wordKind(word, language);
  const found = (of: Kind, all: readonly EditingToken[]): Named => ({
    kind: of,
    word,
    span: { start, end },
    places: all.map((token) => ({ start: token.start, end: token.end })),
  });
  const around = declared.find(({ span }) => contains(span, start));
  switch (kind) {
    case "variable": {
      const scope = around?.span ?? probeAt(analysis, start)?.span;
      return (
        scope &&
        found(
          "variable",
          code.filter((token) => isWord(token) && contains(scope, token.start)),
        )
      );
    }
    case "map": {
      // A macro's parameter is nobody else's map.
      const own = declared.filter(({ head }) => head.some(isWord));
      const scope = own.find(({ span }) => contains(span, start))?.span;
      const isOurs = ({ start: at }: EditingToken): boolean =>
        scope === undefined ? !own.some(({ span }) => contains(span, at)) : contains(scope, at);
      return found(
        "map",
        code.filter((token) => isWord(token) && isOurs(token)),
      );
    }
    case "other": {
      if (!declared.some(({ name }) => name.text === word)) return undefined;
      const places = code.filter((token, i) => {
        if (token.kind !== "identifier" || token.text !== word) return false;
        const before = code[i - 1]?.text;
        if (before === "." || before === "->") return false;
        const behind = code[i + 1]?.text === "!" ? code[i + 2]?.text : code[i + 1]?.text;
        return behind === "(" || editing.callables.includes(before);
      });
      return places.some((token) => token.start === start) ? found("callable", places) : undefined;
    }
  }
}

export interface Edit {
  readonly span: Span;
  readonly text: string;
}

/** Another name everywhere; or why not, as one sentence. `name` is with its sigil or without. */
export function renamed(analysis: Analysis, offset: number, name: string): readonly Edit[] | string {
  const { source, language } = analysis;
  const old = named(analysis, offset);
  if (old === undefined) return "only the script's own maps, variables, functions and macros can be renamed";
  const sigil = old.kind === "callable" ? "" : old.word[0];
  const text = name.startsWith(sigil) ? name : sigil + name;
  if (!/^[A-Za-z_]\w*$/.test(text.slice(sigil.length))) return `\`${text}\` is no name`;
  if (text === old.word) return [];
  const editing = editingOf(language);
  if (codeOf(analysis, editing).some(({ start, end }) => source.text.slice(start, end) === text))
    return `the script has a \`${text}\` already`;
  if (
    old.kind === "callable" &&
    (builtinsFor(language.rules).names().includes(text) || editing.keywords.includes(text))
  )
    return `\`${text}\` is a word of the language`;
  const { imports = [] } = language.references?.of(source, false) ?? {};
  if (old.kind !== "variable" && imports.length > 0)
    return `the files that the script imports may use \`${old.word}\`, too`;
  const errors = (of: Analysis): number => of.diagnostics.filter(({ severity }) => severity === "error").length;
  if (errors(analysis) > 0) return "the script has mistakes: mend them first";
  const edits = old.places.map((span) => ({ span, text }));
  // What tokens do not tell (a `#define` that names it) shows in what then is wrong.
  if (errors(analyse({ ...source, text: applied(source.text, edits) })) > 0)
    return `the script would be wrong with \`${text}\``;
  return edits;
}

function applied(text: string, edits: readonly Edit[]): string {
  return edits.reduceRight((to, { span, text: by }) => to.slice(0, span.start) + by + to.slice(span.end), text);
}

/** Tokens outside of probes' headers, whose names are the machine's. */
function codeOf({ program, source }: Analysis, editing: Editing): readonly EditingToken[] {
  const headers = program.probes.flatMap(({ specs }) => specs.map(({ span }) => span));
  return [...tokens(source.text, editing)].filter(
    ({ start }) => !headers.some((header) => header.start <= start && start < header.end),
  );
}

interface Declared {
  readonly name: EditingToken;
  /** Up to the body. */
  readonly head: readonly EditingToken[];
  readonly span: Span;
}

/** The functions and macros of a text. */
function declarations(code: readonly EditingToken[], { callables }: Editing): readonly Declared[] {
  const found: Declared[] = [];
  let depth = 0;
  let from: number | undefined;
  let body = 0;
  for (const [i, { kind, text, end }] of code.entries()) {
    if (depth === 0 && from === undefined && kind === "identifier" && callables.includes(text)) from = i;
    if (kind !== "punctuation") continue;
    if (text === "{" && depth++ === 0) body = i;
    if (text !== "}" || --depth > 0) continue;
    depth = 0;
    if (from !== undefined && code[from + 1].kind === "identifier")
      found.push({ name: code[from + 1], head: code.slice(from, body), span: { start: code[from].start, end } });
    from = undefined;
  }
  return found;
}
