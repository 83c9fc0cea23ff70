// Probes: the constructor of the library that each is, and its handler.
import { writtenParts } from "../../probe-spelling.ts";
import type { ProbeSpec } from "../../probe-spec.ts";
import type { Probe } from "../../program.ts";
import { conditionText } from "./expressions.ts";
import { blockText } from "./statements.ts";
import { wordsOf } from "../probe-words.ts";
import { indented, type Writing } from "./writing.ts";

export function probeText(w: Writing, { specs, predicate, body }: Probe): string {
  const write = (inside: () => string): { readonly text: string; readonly parameter: string } => {
    w.usesArguments = false;
    w.scopes = [new Set()];
    const text = inside();
    return { text, parameter: w.usesArguments ? "args" : "" };
  };
  const filter = predicate && write(() => conditionText(w, predicate));
  const handler = write(() => blockText(w, body));
  const arrow = `(${handler.parameter}) => ${handler.text}`;
  const both = filter
    ? `{\n  filter: (${filter.parameter}) => ${filter.text},\n${indented(`handler: ${arrow}`)},\n}`
    : arrow;
  const given = (filter?.parameter ?? "") + handler.parameter !== "";
  if (specs.length === 1) return `${constructed(w, specs[0], given)}${both})`;
  return `${w.imported("probe")}([${specs.map((spec) => JSON.stringify(specText(spec))).join(", ")}], ${both})`;
}

/** The constructor's call, as far as the handler. */
function constructed(w: Writing, spec: ProbeSpec, given: boolean): string {
  const known = w.spelling(spec.provider)?.typescript;
  const words =
    known && (known.parameters[0] === "args" || !given) ? wordsOf(known.words, writtenParts(spec)) : undefined;
  if (known === undefined || words === undefined) return `${w.imported("probe")}(${JSON.stringify(specText(spec))}, `;
  return `${w.imported(known.name)}(${words.map((word) => `${JSON.stringify(word)}, `).join("")}`;
}

function specText(spec: ProbeSpec): string {
  return [spec.provider, ...writtenParts(spec)].join(":");
}
