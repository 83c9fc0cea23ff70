// A script as the formatter sees it: tokens, comments, directives and probe specs, each with the line breaks before it.
import type { Span } from "../diagnostic.ts";
import { preprocess } from "./preprocess.ts";
import { scan } from "./tokens.ts";

export interface FormatItem {
  /** `directive`: a whole line that the preprocessor took, or several that a condition leaves out. */
  readonly kind: "word" | "punctuation" | "line-comment" | "block-comment" | "directive" | "spec";
  /** As written. */
  readonly text: string;
  /** Line breaks between the item before and this one. */
  readonly newlines: number;
}

/** Where the `name=` before a spec begins; the spec's own start where there is none. */
function nameStart(text: string, spec: number): number {
  if (text[spec - 1] !== "=") return spec;
  let start = spec - 1;
  while (start > 0 && /\w/.test(text[start - 1])) start--;
  return start === spec - 1 ? spec : start;
}

/** `specs` are the spans of probe specs, which are no tokens. The text must parse. */
export function formatItems(text: string, specs: readonly Span[]): FormatItem[] {
  const items: FormatItem[] = [];
  const { text: blanked } = preprocess(text);
  // A probe's name belongs to its spec: `name=interval:s:1`.
  const ends = new Map(specs.map(({ start, end }) => [nameStart(text, start), end]));
  let at = 0;
  let newlines = 0;
  const add = (kind: FormatItem["kind"], end: number): void => {
    items.push({ kind, text: text.slice(at, end).trimEnd(), newlines });
    newlines = 0;
    at = end;
  };
  while (at < text.length) {
    const spec = ends.get(at);
    if (blanked[at] !== text[at]) {
      add("directive", directiveEnd(text, blanked, at));
    } else if (text[at] === "\n") {
      newlines++;
      at++;
    } else if (/\s/.test(text[at])) {
      at++;
    } else if (text.startsWith("//", at)) {
      add("line-comment", lineEnd(text, at));
    } else if (text.startsWith("/*", at)) {
      add("block-comment", text.indexOf("*/", at + 2) + 2);
    } else if (spec !== undefined) {
      add("spec", spec);
    } else {
      const { kind, end } = scan(text, at);
      add(kind === "punctuation" ? "punctuation" : "word", end);
    }
  }
  return items;
}

/** The end of the last line of which something is blanked, as long as nothing but white space is left of it. */
function directiveEnd(text: string, blanked: string, from: number): number {
  let end = lineEnd(text, from);
  for (;;) {
    const next = lineEnd(text, end + 1);
    const rest = blanked.slice(end, next).trim();
    if (next <= end || rest !== "" || text.slice(end, next).trim() === "") return end;
    end = next;
  }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}
