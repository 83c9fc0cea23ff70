import type { Reason } from "../base/failure.ts";
import type { KernelFeature } from "../base/kernel-features.ts";

/**
 * The closed list of what can be wrong with a script. A code is stable: tests and editors match on it, never on the
 * words.
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

/** What a command line that makes no sense is told. */
export interface UsageMessage {
  readonly code: "usage";
  /** One sentence, no full stop: it stands behind `strobe: `. */
  readonly message: string;
}

/** What is said of a run of a script. */
export interface SessionMessage {
  readonly code: "session";
  /** One sentence, no full stop: it stands behind `WARNING: ` or `ERROR: `. */
  readonly message: string;
}

/** What a program is told whose call of a function of the library makes no sense. */
export interface LibraryMessage {
  readonly code: "library";
  /** What the error says. */
  readonly message: string;
}

/** What a message may show as it is. */
export type Shown = string | number | bigint | boolean | undefined;

/** What a diagnostic says. */
export interface Message {
  readonly code: DiagnosticCode;
  /** One sentence, lower case, no full stop; the subject first. */
  readonly message: string;
  /** What to do about it: "did you mean `sched_switch`?" */
  readonly help?: string;
  /** What the kernel lacks, where that is why. */
  readonly missing?: KernelFeature;
  /** What the language's own compiler calls the mistake: DTrace's `D_SYNTAX`. */
  readonly tag?: string;
  /** What it is about, for commands that say it in another tool's words. */
  readonly about?: About;
}

export type About =
  /** Types that do not go together; `=`: what is stored, on the right, where something else is. */
  | { readonly kind: "types"; readonly operator: string; readonly left: string; readonly right: string }
  /** A symbol that the kernel does not have. */
  | { readonly kind: "symbol"; readonly name: string }
  /** Nothing on this machine is what a probe names. */
  | { readonly kind: "probes" }
  /** The program or library that a probe names is not there. */
  | { readonly kind: "program" }
  /** A function that is not as long as an offset says. */
  | { readonly kind: "function"; readonly name: string };

/** With what it is about. */
export function saysOf(about: About, said: Message): Message {
  return { ...said, about };
}

/** An entry about a feature that the kernel lacks. */
export function lacks(missing: KernelFeature, message: string, help?: string): Message {
  return { ...says("feature", message, help), missing };
}

/** Makes the entries of the tables about command lines. */
export function usage(message: string): UsageMessage {
  return { code: "usage", message };
}

/** Makes the entries of the tables about runs of scripts. */
export function sessionSays(message: string): SessionMessage {
  return { code: "session", message };
}

/** Makes the entries of the table about calls of the library: programs show them among messages of their own. */
export function librarySays(message: string): LibraryMessage {
  return { code: "library", message: `strobe: ${message}` };
}

/** `1 event`, `2 events`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Makes the entries of the tables of reasons: parts of what is said, or what stands behind a colon. */
export function reason(text: string): Reason {
  return text as Reason;
}

/** Makes the entries of the tables of messages about scripts. */
export function says(code: DiagnosticCode, message: string, help?: string): Message {
  return help === undefined ? { code, message } : { code, message, help };
}

/** An entry that the language's own compiler has a name for: DTrace's `D_SYNTAX`. */
export function tagged(tag: string, code: DiagnosticCode, message: string, help?: string): Message {
  return { ...says(code, message, help), tag };
}
