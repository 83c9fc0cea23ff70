// The lines that start with `#`: shebang, #include, #define and conditions. They are carried out in one pass and
// blanked out of the text, as is what a condition leaves out; everything keeps its offset, so that spans fit the text
// as written.
import type { Message } from "../../messages/message.ts";
import { preprocessor } from "../../messages/preprocessor.ts";
import type { Diagnostic, Span } from "../diagnostic.ts";
import { conditionValue } from "./conditions.ts";

export interface Definition {
  readonly name: string;
  /** Where its body stands in the text: the parser reads it there, at each use. */
  readonly body: Span;
  readonly span: Span;
}

export interface Preprocessed {
  /** As long as the text it came from. */
  readonly text: string;
  /** The text with nothing blanked but comments in directives: definitions' bodies are read from here. */
  readonly bodies: string;
  readonly definitions: ReadonlyMap<string, Definition>;
  /** The `#include` lines that no condition leaves out: whoever may open files puts their text in. */
  readonly includes: readonly Include[];
  readonly diagnostics: readonly Diagnostic[];
}

/** `#include <path>` or, not `system`, `#include "path"`. */
export interface Include {
  readonly path: string;
  readonly system: boolean;
  readonly span: Span;
}

interface Condition {
  readonly span: Span;
  readonly outer: boolean;
  taken: boolean;
  active: boolean;
}

export function preprocess(text: string): Preprocessed {
  const definitions = new Map<string, Definition>();
  const diagnostics: Diagnostic[] = [];
  const includes: Include[] = [];
  if (!text.includes("#")) return { text, bodies: text, definitions, includes, diagnostics };

  // What scripts test for; there is no body, and no need of one.
  const known = new Set(["BPFTRACE_HAVE_BTF"]);
  const conditions: Condition[] = [];
  const blanks: Span[] = [];
  const report = (severity: Diagnostic["severity"], span: Span, said: Message): void => {
    diagnostics.push({ severity, span, ...said });
  };
  const active = (): boolean => conditions.at(-1)?.active ?? true;
  const bodyOf = (name: string): string | undefined => {
    const definition = definitions.get(name);
    if (definition !== undefined)
      return text.slice(definition.body.start, definition.body.end).replace(/\/\/.*|\/\*[^]*?\*\/|\\\n/g, " ");
    return known.has(name) ? "1" : undefined;
  };
  /** What is not understood is false; where nothing depends on it, that need not be said. */
  const evaluate = (condition: string, span: Span, matters: boolean): boolean => {
    const value = conditionValue(condition.replaceAll("\\\n", " "), bodyOf);
    if (value === undefined && matters) {
      report("warning", span, preprocessor.conditionNotUnderstood());
    }
    return value !== undefined && value !== 0n;
  };

  let at = 0;
  if (text.startsWith("#!")) {
    at = lineEnd(text, 0);
    blanks.push({ start: 0, end: at });
  }
  if (!text.includes("#", at)) return { text: blank(text, blanks), bodies: text, definitions, includes, diagnostics };

  let inactiveFrom = -1;
  const lastClose = text.lastIndexOf("*/");
  while (at < text.length) {
    const start = nextDirective(text, at, lastClose);
    if (start < 0) break;
    let end = lineEnd(text, start);
    while (text[end - 1] === "\\" && end < text.length) end = lineEnd(text, end + 1);
    at = end;
    const line = text.slice(start, end);
    const match = /^#[ \t]*(\w*)[ \t]*/.exec(line)!;
    const rest = line
      .slice(match[0].length)
      .replace(/\/\/.*|\/\*[^]*?\*\//g, (c) => " ".repeat(c.length))
      .trimEnd();
    const restStart = start + match[0].length;
    const span = { start, end: restStart + rest.length };
    const wasActive = active();

    switch (match[1]) {
      case "ifdef":
      case "ifndef":
      case "if": {
        const holds =
          match[1] === "if" ? evaluate(rest, span, wasActive) : (bodyOf(rest) !== undefined) === (match[1] === "ifdef");
        conditions.push({ span, outer: wasActive, taken: holds, active: wasActive && holds });
        break;
      }
      case "elif":
      case "else": {
        const condition = conditions.at(-1);
        if (condition === undefined) {
          report("error", span, preprocessor.withoutIf(match[1]));
          break;
        }
        const holds = !condition.taken && (match[1] === "else" || evaluate(rest, span, condition.outer));
        condition.active = condition.outer && holds;
        condition.taken ||= holds;
        break;
      }
      case "endif":
        if (conditions.pop() === undefined) report("error", span, preprocessor.withoutIf("endif"));
        break;
      default:
        if (wasActive) directive(match[1], rest, restStart, span);
    }

    blanks.push({ start, end });
    if (wasActive && !active()) inactiveFrom = end;
    if (!wasActive && active()) blanks.push({ start: inactiveFrom, end: start });
  }
  if (!active()) blanks.push({ start: inactiveFrom, end: text.length });
  for (const condition of conditions) report("error", condition.span, preprocessor.withoutEndif());

  return { text: blank(text, blanks), bodies: text, definitions, includes, diagnostics };

  function directive(word: string, rest: string, restStart: number, span: Span): void {
    switch (word) {
      case "include": {
        const path = /^(?:<([^>]+)>|"([^"]+)")$/.exec(rest);
        if (path === null) report("error", span, preprocessor.includePath());
        else includes.push({ path: path[1] ?? path[2], system: path[1] !== undefined, span });
        break;
      }
      case "define": {
        const name = /^([A-Za-z_]\w*)(\()?/.exec(rest);
        if (name === null) {
          report("error", span, preprocessor.defineName());
        } else if (name[2] !== undefined) {
          report("warning", span, preprocessor.defineParameters(name[1]));
        } else {
          const gap = /^\s*/.exec(rest.slice(name[0].length))![0].length;
          const body = { start: restStart + name[0].length + gap, end: span.end };
          definitions.set(name[1], {
            name: name[1],
            body: body.start > body.end ? { start: span.end, end: span.end } : body,
            span,
          });
        }
        break;
      }
      case "undef":
        definitions.delete(rest);
        break;
      case "pragma":
      case "":
        break;
      case "error":
        report("error", span, preprocessor.userError(rest));
        break;
      case "warning":
        report("warning", span, preprocessor.userWarning(rest));
        break;
      default:
        report("error", span, preprocessor.unknownDirective(word));
    }
  }
}

/**
 * The offset of the next `#` that is first in its line and neither in a string nor in a comment; -1 when there is none.
 */
function nextDirective(text: string, from: number, lastClose: number): number {
  let lineStart = from === 0 || text[from - 1] === "\n" || text[from] === "\n";
  for (let at = from; at < text.length; at++) {
    switch (text[at]) {
      case "\n":
        lineStart = true;
        break;
      case " ":
      case "\t":
      case "\r":
        break;
      case "#":
        if (lineStart) return at;
        break;
      case '"':
        lineStart = false;
        for (at++; at < text.length && text[at] !== '"' && text[at] !== "\n"; at++) if (text[at] === "\\") at++;
        if (text[at] === "\n") lineStart = true;
        break;
      case "/":
        if (text[at + 1] === "/") {
          at = lineEnd(text, at) - 1;
        } else if (text[at + 1] === "*") {
          // Not closed: a path such as /lib/*/libfoo.so, or a mistake that the parser reports.
          if (lastClose < at + 2) return rescueDirective(text, at + 2);
          at = text.indexOf("*/", at + 2) + 1;
        } else {
          lineStart = false;
        }
        break;
      default:
        lineStart = false;
    }
  }
  return -1;
}

/** As nextDirective, where no comment can close any more. */
function rescueDirective(text: string, from: number): number {
  const match = /\n[ \t]*#/g;
  match.lastIndex = from;
  const found = match.exec(text);
  return found === null ? -1 : found.index + found[0].length - 1;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function blank(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    pieces.push(text.slice(at, Math.max(at, start)), text.slice(Math.max(at, start), end).replace(/[^\n]/g, " "));
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces.join("");
}
