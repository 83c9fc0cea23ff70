// Where in the script something stands: its line and columns, for what is told when it fails.
import { firstIndex } from "../../base/first-index.ts";
import type { Source, Span } from "../../language/diagnostic.ts";
import { partAt } from "../../language/source-parts.ts";
import type { ScriptPlace } from "../layouts/counted-places.ts";

/** The line that a place begins in. */
export function lineAt(source: Source, span: Span): string {
  const { text, start: first } = partAt(source, span.start);
  const start = span.start - first;
  const end = text.indexOf("\n", start);
  return text.slice(text.lastIndexOf("\n", start - 1) + 1, end < 0 ? text.length : end);
}

/** Lines and columns count from 1. */
export function placeIn(source: Source, span: Span): ScriptPlace {
  const { name, start } = partAt(source, span.start);
  const starts = lineStarts(source.text);
  const [line, first] = [lineOf(starts, span.start), lineOf(starts, start)];
  const column = span.start - Math.max(start, starts[line]) + 1;
  return { source: name, line: line - first + 1, column, endColumn: column + span.end - span.start };
}

let lines: { readonly text: string; readonly starts: readonly number[] } | undefined;

/** Where the lines of a text begin. The last text's are kept: each event asks. */
function lineStarts(text: string): readonly number[] {
  if (lines?.text !== text) {
    const starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    lines = { text, starts };
  }
  return lines.starts;
}

/** The number of the line, from 0, that an offset is in. */
function lineOf(starts: readonly number[], offset: number): number {
  return firstIndex(starts.length, (i) => starts[i] > offset) - 1;
}
