import { thisMachine } from "../api/machine.ts";
import { describe } from "../language/check/unify.ts";
import type { Span } from "../language/diagnostic.ts";
import type { Expression } from "../language/program.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import type { CheckedMap } from "../language/checked-program.ts";
import type { Language } from "../language/language.ts";
import { builtinsFor, findBuiltin } from "../language/builtins/table.ts";
import { findProvider, listProbes } from "../providers/registry.ts";
import {
  editingOf,
  expressionsAt,
  hiddenText,
  ownNameAt,
  signatureOf,
  specAt,
  variableType,
  wordsNamed,
  type Analysis,
} from "./analysis.ts";
import { declared } from "./signatures.ts";
import { wordAt } from "./text-position.ts";
import { scripts } from "../messages/scripts.ts";

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
  // As strobe itself writes it, whatever the language does.
  const listed = (of: ProbeSpec): string =>
    editingOf(language).probes === undefined ? of.text : [of.provider, ...of.parts].join(":");
  if (spec !== undefined)
    return {
      markdown: probeText(listed(spec), spec.provider, code),
      span: { start: spec.span.start, end: spec.span.end },
    };
  const { word, start, end } = wordAt(analysis.source.text, offset, editingOf(language).sigils);
  if (word === "") return undefined;
  const span = { start, end };
  const { nodes } = expressionsAt(analysis, offset);
  const own = ownNameAt(analysis, offset);
  if (own?.kind === "map") return { markdown: code(mapText(own.text, language, analysis.stages.typed.maps)), span };
  if (own?.kind === "variable")
    return { markdown: code([own.text, variableType(analysis, own)].filter(Boolean).join(" : ")), span };
  if (own?.kind === "function") {
    const [form] = declared(analysis.source.text, own.text, editingOf(language));
    return form && { markdown: code(form.label), span };
  }
  const said =
    !/(?:\.|->)\s*$/.test(analysis.source.text.slice(0, start)) && wordsNamed(language, word).length > 0
      ? builtinText(word, language, undefined)
      : undefined;
  if (said !== undefined) return { markdown: said, span };
  const isMember = (found: Expression): boolean =>
    found.kind === "member" && (found.name === word || `$${found.name}` === word);
  const node =
    nodes.find(isMember) ??
    nodes.find(
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
      if (!isMember(node)) return undefined;
      return { markdown: code(`${word} : ${describe(node.type)}`), span };
    case "builtin":
    case "call": {
      const builtin = builtinText(word, language, node.type.kind === "unknown" ? undefined : describe(node.type));
      return builtin === undefined ? undefined : { markdown: builtin, span };
    }
    case "identifier":
      if (node.constant !== undefined) return { markdown: code(`${word} = ${node.constant}`), span };
      break;
    default:
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
  const words = wordsNamed(language, name);
  if (words.length > 0)
    return [codeIn(language)(words.map(({ signature }) => signature).join("\n")), words[0].doc].join("\n\n");
  if (editingOf(language).closed === true) return undefined;
  const spec = findBuiltin(builtinsFor(language.rules).canonical(name));
  if (spec === undefined) return undefined;
  const needs = [
    ...(spec.unsafe ? ["needs `--unsafe`"] : []),
    ...(spec.kernel === undefined ? [] : [`needs Linux ${spec.kernel.join(".")}`]),
  ];
  return [
    codeIn(language)(`${signatureOf(spec, name)}${type === undefined ? "" : ` : ${type}`}`),
    spec.doc,
    ...needs,
  ].join("\n\n");
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
    const { message, help } = scripts.hiddenFromServer(hiddenText(error));
    return `${code(text)}\n\n${known.doc}\n\n${message}: ${help}`;
  }
  return `${code(lines.length === 0 ? text : lines.slice(0, mostLines).join("\n"))}\n\n${known.doc}`;
}
