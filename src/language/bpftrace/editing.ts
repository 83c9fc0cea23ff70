import type { Span } from "../diagnostic.ts";
import type { Editing, EditingToken, OwnName } from "../language.ts";
import { everywhere, ownName, partsOf, tokens } from "../own-names.ts";
import { scan } from "./tokens.ts";

const callables = ["fn", "macro"];

export const editing: Editing = {
  keywords: ["if", "else", "while", "for", "unroll", "let", "return", "break", "continue", "sizeof", "offsetof"],
  declarations: ["config", "fn", "macro", "struct", "enum", "let"],
  sigils: "$@",
  callables,
  scan,
  names,
  probeStart: (before) =>
    /(^|\s)\/(?!\/)[^/]*$/.test(before) ? undefined : before.length - (/[^\s,]*$/.exec(before)?.[0].length ?? 0),
};

function names(text: string, headers: readonly Span[]): readonly OwnName[] {
  const code = [...tokens(text, { scan })].filter(
    ({ start }) => !headers.some((header) => header.start <= start && start < header.end),
  );
  const parts = partsOf(code);
  const declared = new Set(parts.flatMap(({ head }) => callableOf(head)?.text ?? []));
  return parts.flatMap(({ head, body, span }) => {
    const callable = callableOf(head);
    // A macro's parameter is nobody else's map.
    const parameters = new Set(callable === undefined ? [] : head.map(({ start, end }) => text.slice(start, end)));
    const all = [...head, ...body];
    return all.flatMap((token, i): OwnName[] => {
      const word = text.slice(token.start, token.end);
      const isDeclared = all[i - 1]?.text === "let";
      // What a `#define` says is in no probe.
      if (token.kind === "variable" && /^[ \t]*#/.test(text.slice(text.lastIndexOf("\n", token.start) + 1))) return [];
      if (token.kind === "variable") return [ownName(token, word, "variable", span, isDeclared)];
      if (token.kind === "map")
        return [ownName(token, word, "map", parameters.has(word) ? span : everywhere, isDeclared)];
      if (token.kind !== "identifier" || !declared.has(word)) return [];
      const before = all[i - 1]?.text;
      if (before === "." || before === "->") return [];
      const behind = all[i + 1]?.text === "!" ? all[i + 2]?.text : all[i + 1]?.text;
      return behind === "(" || callables.includes(before)
        ? [ownName(token, word, "function", everywhere, token === callable)]
        : [];
    });
  });
}

/** The name of the function or macro that a head declares. */
function callableOf(head: readonly EditingToken[]): EditingToken | undefined {
  const at = head.findIndex(({ kind, text }) => kind === "identifier" && callables.includes(text));
  return at >= 0 && head[at + 1]?.kind === "identifier" ? head[at + 1] : undefined;
}
