// How the languages write the probes of a kind. Each kind's line in the registry (providers/registry.ts) says it; the
// languages ask, and know no kind by name.

import type { SpecOptions, ProbeSpec } from "./probe-spec.ts";

/** What a handler's parameters are, in order: canonical names of the table of builtins. */
export type ParameterMeaning = "args" | "retval" | "ctx";

export interface ProbeSpelling {
  /** The part that is a path, counted from 1 behind the kind: a slash in it begins no predicate. */
  readonly path?: number;
  /** A part may name lines of source, `WHERE@FILE:LINES`; `alone`: also without a part before, `KIND@FILE:LINES`. */
  readonly lines?: "behind" | "alone";
  /** What its probes take besides their parts (ProbeSpec.options): `NAME=VALUE` as a last part where all is parts. */
  readonly options?: readonly string[];
  /** The kind is the whole name: nothing stands behind it. */
  readonly alone?: true;
  /** Its constructor in the TypeScript library; kinds without one are written `probe("KIND:…", …)`. */
  readonly typescript?: ProbeConstructor;
}

/** What stands before the handler: `name("a:b")`, `name("/bin/x", "f")`, `name("99hz")`, `name("faults", 100)`, `name()`. */
export type WordForm = "name" | "binary-and-name" | "rate" | "event-and-count" | "nothing";

export interface ProbeConstructor {
  readonly name: string;
  readonly words: WordForm;
  readonly parameters: readonly ParameterMeaning[];
}

/** Of a kind by its name or an alias; undefined for what is no kind. */
export type FindSpelling = (kind: string) => ProbeSpelling | undefined;

/** All kinds' spellings, for those who write. */
export interface ProbeSpellings {
  readonly find: FindSpelling;
  /** Names that the TypeScript library has constructors by. */
  readonly constructors: readonly string[];
}

/** Parts as written where options stand among them: those at the end that the kind takes as options, apart. */
export function withOptions(
  parts: readonly string[],
  spelling: ProbeSpelling | undefined,
): { readonly parts: readonly string[]; readonly options?: SpecOptions } {
  const options: Record<string, string> = {};
  let count = parts.length;
  for (; count > 0; count--) {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(parts[count - 1]) ?? [];
    if (name === undefined || spelling?.options?.includes(name) !== true) break;
    options[name] = value;
  }
  return count === parts.length ? { parts } : { parts: parts.slice(0, count), options };
}

/** The parts again, with the options behind them. */
export function writtenParts({ parts, options = {} }: Pick<ProbeSpec, "parts" | "options">): readonly string[] {
  return [...parts, ...Object.entries(options).map(([name, value]) => `${name}=${value}`)];
}

/** A name as written, `KIND:part:part`, with the kind and `@FILE` behind it apart; parts still joined at colons. */
export function splitKind(text: string, find: FindSpelling): readonly [kind: string, rest: string | undefined] {
  const at = text.search(/[:@]/);
  if (at < 0) return [text, undefined];
  const kind = text.slice(0, at);
  if (text[at] === "@") return find(kind)?.lines === "alone" ? [kind, text.slice(at)] : splitAtColon(text);
  return [kind, text.slice(at + 1)];
}

function splitAtColon(text: string): readonly [kind: string, rest: string | undefined] {
  const colon = text.indexOf(":");
  return colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}
