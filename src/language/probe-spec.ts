// What a script asks for: a kind of probe, and which of its probes.
import type { Span } from "./diagnostic.ts";

/**
 * A wish for probes: provider (or an alias of it: the registry knows them) and the parts behind it, wildcards and all.
 * However its language writes it, these are its parts: nothing is quoted, escaped or joined (docs/languages.md).
 */
export interface ProbeSpec {
  readonly provider: string;
  readonly parts: readonly string[];
  /** What is wanted besides, by the names that the kind's line in the registry lists; absent: nothing. */
  readonly options?: SpecOptions;
  /** It need not exist. */
  readonly optional?: true;
  /** It is a mistake where it is not there yet; else a file that a traced process opens later may have it. */
  readonly present?: true;
  /** It is wanted where none of these exists. */
  readonly unless?: readonly ProbeSpec[];
  /** Handlers of one event run in the order of these numbers, and of the text where they are equal; 0 unless it says. */
  readonly sequence?: number;
  /** As written, in its own language, for messages. */
  readonly text: string;
  readonly span: Span;
}

export type SpecOptions = Readonly<Record<string, string>>;

/** `path`: of the program, all of it; the rest as far as debug information tells. Lines count from 1. */
export interface SourcePlace {
  readonly path: string;
  readonly function?: string;
  readonly file?: string;
  readonly line?: number;
}
