// A diagnostic as a person reads it:
//
//   opens.bt:3:9: error: there is no builtin `pidd`
//    3 │ { print(pidd) }
//      │         ^^^^
//   help: did you mean `pid`?

import { typography } from "../messages/syntax.ts";
import { partAt, type SourcePart } from "./source-parts.ts";

// As much of diagnostic.ts as is shown: it renders its own errors, and imports this.
interface Span {
  readonly start: number;
  readonly end: number;
}
interface Source {
  readonly name: string;
  readonly text: string;
  readonly parts?: readonly SourcePart[];
}
interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly span: Span;
  readonly message: string;
  readonly help?: string;
}

export interface RenderOptions {
  readonly color: boolean;
  /** Errors as the script's language tells them. */
  readonly mistakes?: MistakeShape | undefined;
}

/** A line that says what is wrong and where, and what stands before the script's line below it. */
export interface MistakeShape {
  head(mistake: {
    readonly message: string;
    /** What stands there: a name, an operator, a literal. */
    readonly word: string;
    readonly source: string;
    readonly line: number;
    readonly column: number;
  }): string;
  readonly margin: string;
}

/** Columns of a source line that are shown; longer lines are cut to a window around the span. */
const window = 120;

const plain = { bold: "", error: "", warning: "", faint: "", help: "", reset: "" };
const colored = {
  bold: "\x1b[1m",
  error: "\x1b[1;31m",
  warning: "\x1b[1;35m",
  faint: "\x1b[34m",
  help: "\x1b[1;36m",
  reset: "\x1b[0m",
};

/** Text of several lines, the last one ended. */
export function renderDiagnostic(whole: Source, diagnostic: Diagnostic, { color, mistakes }: RenderOptions): string {
  const style = color ? colored : plain;
  const source = partAt(whole, diagnostic.span.start);
  const { text } = source;
  const span = clamp(text, { start: diagnostic.span.start - source.start, end: diagnostic.span.end - source.start });
  const help = plainCharacter(text.slice(span.start, span.end)) ?? diagnostic.help;
  const first = lineAt(text, span.start);
  const last = lineAt(text, Math.max(span.start, span.end - 1));
  if (mistakes !== undefined && diagnostic.severity === "error") {
    const column = span.start - first.start;
    const { shown, before } = cut(text.slice(first.start, first.end), column, column + 1);
    const head = mistakes.head({
      message: shortened(diagnostic.message),
      word: wordAt(text, span.start),
      source: source.name,
      line: first.number,
      column: column + 1,
    });
    const below = " ".repeat(mistakes.margin.length);
    return `${printable(head)}\n${mistakes.margin}${shown.trimEnd()}\n${below}${before}^\n${help === undefined ? "" : `help: ${printable(shortened(help))}\n`}`;
  }
  const mark = style[diagnostic.severity];
  const lines = [
    `${style.bold}${printable(source.name)}:${first.number}:${span.start - first.start + 1}:${style.reset} ${mark}${diagnostic.severity}:${style.reset} ` +
      `${style.bold}${printable(shortened(diagnostic.message))}${style.reset}`,
  ];
  const width = String(last.number).length;
  const gutter = (number: number | ""): string => `${style.faint} ${String(number).padStart(width)} │${style.reset}`;
  const show = (line: Line, start: number, end: number): void => {
    const { shown, before, marked } = cut(text.slice(line.start, line.end), start - line.start, end - line.start);
    lines.push(
      `${gutter(line.number)} ${shown}`.trimEnd(),
      `${gutter("")} ${before}${mark}${"^".repeat(marked)}${style.reset}`,
    );
  };
  if (first.number === last.number) {
    show(first, span.start, span.end);
  } else {
    show(first, span.start, first.end);
    if (last.number > first.number + 1) lines.push(`${gutter("")} …`);
    show(last, last.start + /^\s*/.exec(text.slice(last.start, span.end))![0].length, span.end);
  }
  if (help !== undefined) lines.push(`${style.help}help:${style.reset} ${printable(shortened(help))}`);
  return `${lines.join("\n")}\n`;
}

/** What stands in slides, pages and mail for a character that scripts are written with. */
const typographic =
  /[\u201c-\u201f\u00ab\u00bb]|[\u2018-\u201b]|[\u2010-\u2015\u2212]|[\u00a0\u2007\u202f\u200b\ufeff]/u;

/** What helps where a mistake has one, outside text in quotes. */
function plainCharacter(text: string): string | undefined {
  const found = typographic.exec(text.replaceAll(/"[^"\n]*"/g, ""))?.[0];
  if (found === undefined) return undefined;
  const code = `U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  if (/[\u201c-\u201f\u00ab\u00bb]/.test(found)) return typography.replaced(`\`${found}\``, '`"`');
  if (/[\u2018-\u201b]/.test(found)) return typography.replaced(`\`${found}\``, "`'`");
  return /[\u2010-\u2015\u2212]/.test(found)
    ? typography.replaced(`\`${found}\` (${code})`, "`-`")
    : typography.replaced(code, "a space");
}

/** A name, an operator or a literal, as far as it fits a message. */
export function wordAt(text: string, start: number): string {
  const word = /[$@]?[\w$]+|"(?:[^"\\\n]|\\.)*"|[-+*/%<>=!&|^~.?:]+|\S/y;
  return word.exec(text.slice(start, start + mostWord))?.[0] ?? "";
}

const mostWord = 100;

interface Line {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

function lineAt(text: string, offset: number): Line {
  let number = 1;
  let start = 0;
  for (let next = text.indexOf("\n"); next >= 0 && next < offset; next = text.indexOf("\n", start)) {
    number++;
    start = next + 1;
  }
  const next = text.indexOf("\n", start);
  const end = next < 0 ? text.length : next;
  return { number, start, end: text[end - 1] === "\r" && end > start ? end - 1 : end };
}

function clamp(text: string, { start, end }: Span): Span {
  // What is missing at the end of the script is shown behind its last character, not on an empty line after it.
  const limit = text.trimEnd().length;
  const from = Math.max(0, Math.min(start, limit));
  return { start: from, end: Math.max(from, Math.min(end, limit)) };
}

/** A line, the blank text (tabs kept) that stands before the marks below it, and how many marks. */
function cut(line: string, start: number, end: number): { shown: string; before: string; marked: number } {
  let from = 0;
  let to = line.length;
  if (line.length > window) {
    from = Math.max(0, Math.min(start - 30, line.length - window));
    to = Math.min(line.length, from + window);
  }
  const head = from > 0 ? "…" : "";
  const tail = to < line.length ? "…" : "";
  const visible = (piece: string): string => printable(piece);
  const before =
    head.replace(/./g, " ") +
    Array.from(visible(line.slice(from, start)), (c) => (c === "\t" ? c : " ".repeat(columns(c)))).join("");
  const marked = Array.from(visible(line.slice(start, Math.min(end, to)))).reduce((sum, c) => sum + columns(c), 0);
  return { shown: head + visible(line.slice(from, to)) + tail, before, marked: Math.max(1, marked) };
}

/** Names are quoted in messages, and a name of a megabyte says no more than its beginning. */
function shortened(text: string): string {
  return text.replace(/\S{1025,}/g, (word) => `${word.slice(0, 80)}…`);
}

/** What a terminal could take for a command: control characters, and halves of a character of UTF-16. */
const unprintable =
  // oxlint-disable-next-line no-control-regex
  /[\x00-\x08\x0a-\x1f\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function printable(text: string): string {
  return text.replace(unprintable, "?");
}

function columns(character: string): number {
  if (/\p{M}/u.test(character)) return 0;
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
    character,
  )
    ? 2
    : 1;
}
