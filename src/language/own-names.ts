// Where the names stand that a script has made: what the languages' rules for them share.
import type { Span } from "./diagnostic.ts";
import type { EditingToken, OwnName } from "./language.ts";

/** The tokens of a text. What a path in a probe's header opens is no comment, and goes on behind it. */
export function* tokens(
  text: string,
  { scan }: { readonly scan: (text: string, at: number) => EditingToken },
  from = 0,
): Generator<EditingToken> {
  for (let token = scan(text, from); token.kind !== "end"; token = scan(text, token.end)) {
    if (token.kind === "bad" && token.end >= text.length) token = { ...token, end: token.start + 2 };
    yield token;
  }
}

/** A probe, function or declaration: what stands between one end at the top level and the next. */
export interface Part {
  /** Up to the `{` of its body; all of it without one. */
  readonly head: readonly EditingToken[];
  readonly body: readonly EditingToken[];
  readonly span: Span;
}

/** Parts end behind a body, and behind a `;` outside of braces. The last may be unfinished. */
export function partsOf(all: Iterable<EditingToken>): readonly Part[] {
  const parts: Part[] = [];
  let head: EditingToken[] = [];
  let body: EditingToken[] = [];
  let depth = 0;
  let start = 0;
  const finish = (end: number): void => {
    if (head.length > 0 || body.length > 0) parts.push({ head, body, span: { start, end } });
    [head, body, depth, start] = [[], [], 0, end];
  };
  for (const token of all) {
    const sign = token.kind === "punctuation" ? token.text : "";
    if (sign === "{") depth++;
    (depth > 0 ? body : head).push(token);
    if (sign === "}" && --depth <= 0) finish(token.end);
    else if (sign === ";" && depth <= 0) finish(token.end);
  }
  finish(Infinity);
  return parts;
}

/** All of the text. */
export const everywhere: Span = { start: 0, end: Infinity };

/** The name that a token is. */
export function ownName(
  { start, end }: Span,
  text: string,
  kind: OwnName["kind"],
  scope: Span,
  declares = false,
): OwnName {
  return { kind, text, start, end, scope, ...(declares ? { declares } : {}) };
}

/** Signs that store in what stands before them. */
export const storing: ReadonlySet<string> = new Set("= += -= *= /= %= &= |= ^= <<= >>= .= <<< ++ --".split(" "));
