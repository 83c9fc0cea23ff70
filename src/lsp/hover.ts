import { thisMachine } from "../api/machine.ts";
import { describe } from "../language/check/unify.ts";
import type { Span } from "../language/diagnostic.ts";
import type { CheckedMap } from "../language/checked-program.ts";
import type { Language } from "../language/language.ts";
import { builtinsFor, findBuiltin } from "../language/builtins/table.ts";
import { findProvider, listProbes } from "../providers/registry.ts";
import { editingOf, expressionsAt, hiddenHelp, hiddenText, specAt, wordKind, type Analysis } from "./analysis.ts";
import { wordAt } from "./text-position.ts";

/** What an editor shows about a place. */
export interface Hover {
  readonly markdown: string;
  readonly span: Span;
}

/** Arguments shown of a probe, at most. */
const mostLines = 60;

export function hover(analysis: Analysis, offset: number): Hover | undefined {
  const { language } = analysis;
  const { spelling } = language.rules;
  const code = codeIn(language);
  const spec = specAt(analysis, offset);
  if (spec !== undefined) return { markdown: probeText(spec.text, spec.provider, code), span: spec.span };
  const { word, start, end } = wordAt(analysis.source.text, offset, editingOf(language).sigils);
  if (word === "") return undefined;
  const span = { start, end };
  const { nodes } = expressionsAt(analysis, offset);
  if (wordKind(word, language) === "map")
    return { markdown: code(mapText(word, language, analysis.stages.typed.maps)), span };
  const node = nodes.find(
    (found) =>
      found.kind === "variable" ||
      found.kind === "member" ||
      found.kind === "builtin" ||
      found.kind === "call" ||
      found.kind === "identifier",
  );
  switch (node?.kind) {
    case "variable":
      return { markdown: code(`${spelling.variable(node.name)} : ${describe(node.type)}`), span };
    case "member":
      if (node.name !== word) return undefined;
      return { markdown: code(`${word} : ${describe(node.type)}`), span };
    case "builtin":
    case "call": {
      const builtin = builtinText(word, language, node.type.kind === "unknown" ? undefined : describe(node.type));
      return builtin === undefined ? undefined : { markdown: builtin, span };
    }
    case "identifier":
      if (node.constant !== undefined) return { markdown: code(`${word} = ${node.constant}`), span };
      break;
    case undefined:
  }
  const builtin = builtinText(word, language, undefined);
  return builtin === undefined ? undefined : { markdown: builtin, span };
}

type Code = (text: string) => string;

function codeIn({ name }: Language): Code {
  return (text) => `\`\`\`${name}\n${text}\n\`\`\``;
}

function mapText(word: string, { rules }: Language, maps: readonly CheckedMap[]): string {
  const map = maps.find(({ name }) => rules.spelling.map(name) === word);
  if (map === undefined) return word;
  const keys = map.keys.length === 0 ? "" : `[${map.keys.map(describe).join(", ")}]`;
  return `${word}${keys} : ${describe(map.value)}`;
}

/** The row of the table: signature, type, doc. `name` is as the script spells it. */
export function builtinText(name: string, language: Language, type: string | undefined): string | undefined {
  const spec = findBuiltin(builtinsFor(language.rules).canonical(name));
  if (spec === undefined) return undefined;
  const needs = [
    ...(spec.unsafe ? ["needs `--unsafe`"] : []),
    ...(spec.kernel === undefined ? [] : [`needs Linux ${spec.kernel.join(".")}`]),
  ];
  return [codeIn(language)(`${spec.signature}${type === undefined ? "" : ` : ${type}`}`), spec.doc, ...needs].join(
    "\n\n",
  );
}

function probeText(text: string, provider: string, code: Code): string {
  const known = findProvider(provider);
  if (known === undefined) return code(text);
  const lines: string[] = [];
  // A wildcard may stand for thousands: the first few will do.
  try {
    for (const { probe, details = [] } of listProbes(text, thisMachine(), { verbose: true })) {
      lines.push(probe, ...details);
      if (lines.length >= mostLines) break;
    }
  } catch (error) {
    return `${code(text)}\n\n${known.doc}\n\n${hiddenText(error)}: ${hiddenHelp}`;
  }
  return `${code(lines.length === 0 ? text : lines.slice(0, mostLines).join("\n"))}\n\n${known.doc}`;
}
