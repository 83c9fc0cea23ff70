// Where a name was made, and what a script consists of.
import type { Span } from "../language/diagnostic.ts";
import type { Analysis } from "./analysis.ts";
import { editingOf, ownNameAt, placesOf } from "./analysis.ts";
import { wordAt } from "./text-position.ts";

/** The place that first gives a variable or map its value, or declares a function, macro, struct or enum constant. */
export function definition(analysis: Analysis, offset: number): Span | undefined {
  const { text } = analysis.source;
  const own = ownNameAt(analysis, offset);
  if (own !== undefined) {
    const places = placesOf(analysis, own);
    const { start, end } = places.find(({ declares }) => declares) ?? places[0];
    return { start, end };
  }
  const { word } = wordAt(text, offset, editingOf(analysis.language).sigils);
  if (word === "") return undefined;
  const { structs, enums } = analysis.program;
  const made =
    structs.find(({ name }) => name === word) ??
    enums.find(({ name, constants }) => name === word || constants.some((c) => c.name === word));
  return made === undefined ? undefined : named(text, word, made.span);
}

/** A name's first place in a part of the text, by whole words and outside of comments and strings. */
function named(text: string, word: string, { start, end }: Span): Span | undefined {
  const pattern = new RegExp(
    `//[^\\n]*|/\\*[^]*?\\*/|"(?:\\\\.|[^"\\\\])*"|(${word.replace(/^[$]/, "\\$")})(?!\\w)`,
    "g",
  );
  pattern.lastIndex = start;
  for (let match = pattern.exec(text); match !== null && match.index < end; match = pattern.exec(text)) {
    if (match[1] !== undefined && !/[\w$@]/.test(text[match.index - 1] ?? ""))
      return { start: match.index, end: match.index + word.length };
  }
  return undefined;
}

export interface OutlineEntry {
  readonly name: string;
  readonly kind: "probe" | "function" | "struct" | "enum";
  readonly span: Span;
  readonly nameSpan: Span;
}

export function outline({ program, source }: Analysis): readonly OutlineEntry[] {
  // What a language adds to a script stands nowhere in it; what it makes several probes of is one to its author.
  const seen = new Set<string>();
  const isWritten = ({ span: { start, end } }: { readonly span: Span }): boolean => {
    const key = `${start} ${end}`;
    if (start >= end || end > source.text.length || seen.has(key)) return false;
    seen.add(key);
    return true;
  };
  const entry = (kind: OutlineEntry["kind"], name: string, span: Span): OutlineEntry => ({
    kind,
    name,
    span,
    nameSpan: named(source.text, name, span) ?? span,
  });
  return [
    ...program.structs.map(({ name, span }) => entry("struct", name, span)),
    ...program.enums.filter(({ name }) => name !== "").map(({ name, span }) => entry("enum", name, span)),
    ...program.functions.filter(isWritten).map(({ name, span }) => entry("function", name, span)),
    ...program.probes.filter(isWritten).map((probe): OutlineEntry => {
      const name = probe.specs.map(({ text }) => text).join(", ");
      return {
        kind: "probe",
        name,
        span: probe.span,
        nameSpan: { start: probe.specs[0].span.start, end: probe.specs.at(-1)?.span.end ?? probe.span.end },
      };
    }),
  ].sort((a, b) => a.span.start - b.span.start);
}
