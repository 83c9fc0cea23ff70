import type { SourcePart } from "./source-parts.ts";
import { renderDiagnostic } from "./render-diagnostic.ts";

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

/**
 * The closed list of what can be wrong with a script. A code is stable: tests and editors match on it, never on the words.
 * - `syntax`: the text does not parse
 * - `name`: something is named that does not exist (probe, field, builtin, function, variable, type, config variable)
 * - `type`: a value of the wrong type, or a conversion that is not allowed
 * - `arguments`: a call with the wrong number or kind of arguments
 * - `placement`: used where it cannot be (outside a loop, in the wrong probe, on the host, in an expression)
 * - `limit`: more than the kernel or strobe allows (stack, key size, unroll count)
 * - `feature`: this kernel or machine lacks what it needs
 * - `unsafe`: needs `--unsafe`
 * - `unused`: a warning: has no effect
 */
export type DiagnosticCode =
  | "syntax"
  | "name"
  | "type"
  | "arguments"
  | "placement"
  | "limit"
  | "feature"
  | "unsafe"
  | "unused";

/** Something about a script that its author should know, and where. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly code: DiagnosticCode;
  readonly span: Span;
  /** One sentence, lower case, no full stop. */
  readonly message: string;
  /** What to do about it: "did you mean `sched_switch`?" */
  readonly help?: string;
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
        .map((d) => renderDiagnostic(source, d, { color: false }))
        .join("")
        .trimEnd(),
    );
    this.name = "ScriptError";
    // Not enumerable: the message has said it all, and Node prints what is.
    Object.defineProperties(this, { diagnostics: { value: diagnostics }, source: { value: source } });
  }
}
