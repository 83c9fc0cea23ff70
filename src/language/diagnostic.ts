import type { DiagnosticCode, Message } from "../messages/message.ts";
import type { SourcePart } from "./source-parts.ts";
import { lazy } from "../base/lazy.ts";

// Loaded for the first mistake.
const rendering = lazy<typeof import("./render-diagnostic.ts")>(() => require("./render-diagnostic.ts"));

export type { DiagnosticCode };

/** A half-open range of UTF-16 offsets into a source text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text that a person wrote, and the name it goes by in messages (a path, or `-e`). */
export interface Source {
  readonly name: string;
  readonly text: string;
  /** The files that make it up, where it is of several; in the order of the text. */
  readonly parts?: readonly SourcePart[];
}

/** Something about a script that its author should know, and where. */
export interface Diagnostic extends Message {
  readonly severity: "error" | "warning";
  readonly span: Span;
}

/**
 * What a front-end, a provider or the checker throws or collects when a script cannot be run. Its message shows the
 * places.
 */
export class ScriptError extends Error {
  declare readonly diagnostics: readonly Diagnostic[];
  declare readonly source: Source;

  constructor(source: Source, diagnostics: readonly Diagnostic[]) {
    super(
      diagnostics
        .map((d) => rendering().renderDiagnostic(source, d, { color: false }))
        .join("")
        .trimEnd(),
    );
    this.name = "ScriptError";
    // Not enumerable: the message has said it all, and Node prints what is.
    Object.defineProperties(this, { diagnostics: { value: diagnostics }, source: { value: source } });
  }
}
