// What `strobe dtrace -l` lists.
import { compileScript } from "../api/compile.ts";
import { thisMachine } from "../api/machine.ts";
import type { Source } from "../language/diagnostic.ts";
import { listedRates } from "../language/d/probes.ts";
import { stableProbes } from "../language/d/stable-probes.ts";
import { findLanguage } from "../language/registry.ts";
import { listProbes } from "../providers/registry.ts";
import { described } from "./dtrace-attributes.ts";
import { tell } from "./files.ts";

const fixed = ["dtrace:::BEGIN", "dtrace:::END", "dtrace:::ERROR"];

/**
 * Where the ids of a provider's probes begin: so the id of a probe needs a list of its provider's only. What is not here
 * (probes of processes) has ids behind all, which mean something in one listing alone.
 */
const ranges: readonly (readonly [provider: string, first: number, listed?: string])[] = [
  ["dtrace", 1],
  ["profile", 10],
  ["proc", 100],
  ["sched", 200],
  ["io", 300],
  ["lockstat", 400],
  ["tcp", 500],
  ["syscall", 1000, "tracepoint:syscalls:*"],
  ["rawtp", 10_000, "rawtracepoint:*"],
  ["sdt", 20_000, "tracepoint:*"],
  ["fbt", 30_000, "kprobe:*"],
];
const behindAll = 10_000_000;

const listedNames = new Map<string, readonly string[]>();

/** The probes of a provider, in the order of their ids. */
function namesOf(provider: string, listed: string | undefined): readonly string[] {
  const known = listedNames.get(provider);
  if (known !== undefined) return known;
  const names = listed === undefined ? defined(provider) : spelledProbes(listed, provider);
  // A function and its return are beside each other.
  const all = provider === "fbt" ? names.flatMap((name) => [name, name.replace(/entry$/, "return")]) : names;
  listedNames.set(provider, all);
  return all;
}

/** Those that D has names for, whatever the machine is. */
function defined(provider: string): readonly string[] {
  if (provider === "dtrace") return fixed;
  if (provider === "profile") return listedRates;
  const own = stableProbes().filter((name) => name.startsWith(`${provider}:`));
  return own.map((name) => name.replace(":::", ":vmlinux::"));
}

/** Of a provider, among what a pattern of strobe's lists. */
function spelledProbes(pattern: string, provider: string): readonly string[] {
  const spelling = findLanguage("d")?.rules.spelling;
  const names = new Set<string>();
  for (const { probe } of listProbes(pattern, thisMachine(), { verbose: false })) {
    const name = spelling?.probe?.(probe) ?? probe;
    if (name.startsWith(`${provider}:`)) names.add(name);
  }
  return [...names];
}

/** The probe that `-l` lists with an id. */
export function probeOfId(id: number): string | undefined {
  const range = ranges.findLast(([, first]) => first <= id);
  return range === undefined ? undefined : namesOf(range[0], range[2])[id - range[1]];
}

const numbered = new Map<string, ReadonlyMap<string, number>>();

function idOf(name: string): number | undefined {
  const [provider] = name.split(":", 1);
  const range = ranges.find(([one]) => one === provider);
  if (range === undefined) return undefined;
  let own = numbered.get(provider);
  if (own === undefined) numbered.set(provider, (own = new Map(namesOf(provider, range[2]).map((one, i) => [one, i]))));
  const at = own.get(name);
  return at === undefined ? undefined : range[1] + at;
}

const heads = ["ID", "PROVIDER", "MODULE", "FUNCTION", "NAME"];

function row(cells: readonly string[]): string {
  return `${cells[0].padStart(5)} ${cells[1].padStart(10)} ${cells[2].padStart(17)} ${cells[3].padStart(33)} ${cells[4]}\n`;
}

/** The probes of a script, or all that have a name in D; a line each, with `verbose` its attributes behind it. */
export function listDtrace(source: Source | undefined, verbose: boolean, into: (text: string) => void): number {
  const names = source === undefined ? all() : ofScript(source);
  if (names.length === 0) {
    into(row(heads));
    for (const { name } of source?.parts ?? []) tell(`dtrace: failed to match ${name}: No probe matches description\n`);
    return 0;
  }
  const rows = names.map((name, at) => [idOf(name) ?? behindAll + at, name] as const).sort(([a], [b]) => a - b);
  const lines = rows.map(([id, name]) => {
    const [provider = "", module = "", of = "", last = ""] = name.split(":");
    return row([String(id), provider, module, of, last]) + (verbose ? described(name) : "");
  });
  into(row(heads) + lines.join(""));
  return 0;
}

function ofScript(source: Source): string[] {
  const language = findLanguage("d");
  const { stages } = compileScript(source, { language, unsafe: true });
  const names = stages.probes
    .filter(({ probe }) => probe.span.start < source.text.length)
    .flatMap(({ variants }) => variants.flatMap(({ sites }) => sites.map(({ name }) => name)));
  // No event: what runs where something failed.
  const errors = /(?:^|:)ERROR\b|(?:^|[\s,])dtrace:(?::\*?)*:\*?(?=\s*[;{/,])/m.test(source.text)
    ? ["dtrace:::ERROR"]
    : [];
  return [...new Set([...names, ...errors])];
}

function all(): readonly string[] {
  return ranges.flatMap(([provider, , listed]) => namesOf(provider, listed));
}
