// Probes: the constructor of the library that each is, and its handler.
import type { Probe, ProbeSpec } from "../../program.ts";
import { conditionText } from "./expressions.ts";
import { blockText } from "./statements.ts";
import { indented, type Writing } from "./writing.ts";

/** A constructor of the library: what stands before the handler, and whether the handler is given the arguments. */
interface Constructor {
  readonly name: string;
  readonly args: boolean;
  readonly words: (parts: readonly string[]) => readonly (string | number)[] | undefined;
}

const joined = (parts: readonly string[]): string[] | undefined => (parts.length > 0 ? [parts.join(":")] : undefined);
const ofBinary = ([binary, ...rest]: readonly string[]): string[] | undefined =>
  rest.length > 0 ? [binary, rest.join(":")] : undefined;
const rate = ([unit, count]: readonly string[]): string[] | undefined =>
  /^\d+$/.test(count ?? "") && /^(hz|s|ms|us)$/.test(unit) ? [count + unit] : undefined;
const counted = ([event, count]: readonly string[]): (string | number)[] | undefined =>
  /^\d+$/.test(count ?? "") ? [event, Number(count)] : undefined;
const alone = (parts: readonly string[]): string[] | undefined => (parts.length === 0 ? [] : undefined);

/** By the provider's name. What is none of them is a `probe("…")`. */
const constructors: Readonly<Record<string, Constructor>> = {
  tracepoint: { name: "tracepoint", args: true, words: joined },
  rawtracepoint: { name: "rawTracepoint", args: true, words: joined },
  kprobe: { name: "kprobe", args: true, words: joined },
  kretprobe: { name: "kretprobe", args: false, words: joined },
  fentry: { name: "fentry", args: true, words: joined },
  fexit: { name: "fexit", args: true, words: joined },
  uprobe: { name: "uprobe", args: true, words: ofBinary },
  uretprobe: { name: "uretprobe", args: false, words: ofBinary },
  usdt: { name: "usdt", args: true, words: ofBinary },
  profile: { name: "profile", args: false, words: rate },
  interval: { name: "interval", args: false, words: rate },
  software: { name: "software", args: false, words: counted },
  hardware: { name: "hardware", args: false, words: counted },
  begin: { name: "begin", args: false, words: alone },
  end: { name: "end", args: false, words: alone },
  iter: { name: "iter", args: false, words: joined },
};

/** Their names in the library. */
export const constructorNames: readonly string[] = Object.values(constructors).map(({ name }) => name);

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
  const known = Object.hasOwn(constructors, spec.provider) ? constructors[spec.provider] : undefined;
  const words = known && (known.args || !given) ? known.words(spec.parts) : undefined;
  if (known === undefined || words === undefined) return `${w.imported("probe")}(${JSON.stringify(specText(spec))}, `;
  return `${w.imported(known.name)}(${words.map((word) => `${JSON.stringify(word)}, `).join("")}`;
}

function specText({ provider, parts }: ProbeSpec): string {
  return [provider, ...parts].join(":");
}
