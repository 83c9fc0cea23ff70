// Every place of a map, a variable, a function or a macro of the script, and other names for them.
import { builtinsFor } from "../language/builtins/table.ts";
import type { Span } from "../language/diagnostic.ts";
import type { OwnName } from "../language/language.ts";
import { tokens } from "../language/own-names.ts";
import { analyse, editingOf, ownNameAt, placesOf, wordsOf, type Analysis } from "./analysis.ts";

export interface Named {
  readonly kind: OwnName["kind"];
  /** As written, with its sigil. */
  readonly word: string;
  /** The name at the offset. */
  readonly span: Span;
  /** In the order of the text. A variable's are those of its probe, function or macro, or wherever it means the same. */
  readonly places: readonly Span[];
}

/** Undefined where nothing stands that the script has made. */
export function named(analysis: Analysis, offset: number): Named | undefined {
  const { text } = analysis.source;
  const at = ownNameAt(analysis, offset);
  return (
    at && {
      kind: at.kind,
      word: text.slice(at.start, at.end),
      span: { start: at.start, end: at.end },
      places: placesOf(analysis, at).map(({ start, end }) => ({ start, end })),
    }
  );
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
  const [sigil] = /^[$@]?/.exec(old.word) ?? [""];
  const text = name.startsWith(sigil) ? name : sigil + name;
  if (!/^[A-Za-z_]\w*$/.test(text.slice(sigil.length))) return `\`${text}\` is no name`;
  if (text === old.word) return [];
  const editing = editingOf(language);
  if ([...tokens(source.text, editing)].some(({ start, end }) => source.text.slice(start, end) === text))
    return `the script has a \`${text}\` already`;
  if (
    sigil === "" &&
    ((editing.closed !== true && builtinsFor(language.rules).names().includes(text)) ||
      [...editing.keywords, ...editing.declarations].includes(text) ||
      wordsOf(language).some(({ name: word }) => word === text))
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
