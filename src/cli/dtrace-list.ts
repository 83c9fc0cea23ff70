// What `strobe dtrace -l` lists.
import { compileScript, type CompiledScript, type ScriptOptions } from "../api/compile.ts";
import { thisMachine } from "../api/machine.ts";
import { descriptionsIn, globSource } from "../language/d/descriptions.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";
import { listedRates } from "../language/d/probes.ts";
import { stableProbes } from "../language/d/stable-probes.ts";
import { findLanguage } from "../language/registry.ts";
import { listSpec } from "../providers/registry.ts";
import { described as describedProbe } from "./dtrace-attributes.ts";
import type { DtraceProgram } from "./dtrace-voice.ts";
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
  ["ip", 600],
  ["udp", 700],
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
  const names = listed === undefined ? defined(provider) : isThere(provider) ? spelledProbes(listed, provider) : [];
  // A function and its return are beside each other; of a system call the return is in front, as the kernel lists them.
  const all =
    provider === "fbt"
      ? names.flatMap((name) => [name, name.replace(/entry$/, "return")])
      : provider === "syscall"
        ? names.filter((name) => name.endsWith(":entry")).flatMap((name) => [name.replace(/entry$/, "return"), name])
        : names;
  listedNames.set(provider, all);
  return all;
}

/** Whether the kernel has a way to probe its functions. */
function isThere(provider: string): boolean {
  const { kprobes = true, trampolines = true } = thisMachine().capabilities;
  return provider !== "fbt" || kprobes || trampolines;
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
  const [kind = "", ...parts] = pattern.split(":");
  const options = kind === "rawtracepoint" ? { options: { group: "*" } } : {};
  for (const { probe } of listSpec({ provider: kind, parts, ...options }, thisMachine(), { verbose: false })) {
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

/** What a listing is asked with: what -c and -p say, and settings. */
export type Asked = Pick<ScriptOptions, "command" | "target" | "languageSettings">;

/**
 * The probes that programs describe, in the order of their descriptions; of none, all that have a name in D. A line each,
 * with `verbose` its attributes behind it. 1: a program has a mistake, which is said.
 */
export function listDtrace(
  programs: readonly DtraceProgram[],
  wrong: (source: Source, diagnostics: readonly Diagnostic[]) => string,
  asked: Asked,
  verbose: boolean,
  into: (text: string) => void,
): number {
  const source = { name: programs.at(0)?.name ?? "dtrace", text: programs.map(({ text }) => `${text}\n`).join("") };
  // Descriptions alone have nothing that could be wrong, but for the number of their parts.
  const described = programs.every(({ letter, text }) => letter !== "s" && onlyDescriptions.test(text));
  if (programs.length > 0 && !described) {
    const mistakes = compiled(source, asked).diagnostics.filter(
      ({ severity, code }) => severity === "error" && code !== "unsafe",
    );
    if (mistakes.length > 0) {
      tell(wrong(source, mistakes));
      return 1;
    }
  }
  const names: string[] = programs.length === 0 ? [...all()] : [];
  for (const written of programs.filter(({ letter }) => letter !== "L").flatMap(({ text }) => descriptionsIn(text))) {
    const found = matching(written, asked);
    const whole = `${":".repeat(4 - written.split(":").length)}${written}`;
    if (found.length === 0) tell(`dtrace: failed to match ${whole}: No probe matches description\n`);
    names.push(...found);
  }
  const lines = names.map((name, at) => {
    const [provider = "", module = "", of = "", last = ""] = name.split(":");
    return (
      row([String(idOf(name) ?? behindAll + at), provider, module, of, last]) + (verbose ? describedProbe(name) : "")
    );
  });
  into(row(heads) + lines.join(""));
  return 0;
}

const onlyDescriptions =
  /^(?:[^\s:,{}/;"]*(?::[^\s:,{}/;"]*){0,3})(?:\s*,\s*[^\s:,{}/;"]*(?::[^\s:,{}/;"]*){0,3})*\s*\{\}$/;

/** What no event has is a listing's to say. */
function compiled(source: Source, asked: Asked): CompiledScript {
  const languageSettings = new Map([...(asked.languageSettings ?? []), ["zdefs", ""]]);
  return compileScript(source, { ...asked, languageSettings, language: findLanguage("d"), unsafe: true });
}

/** DTrace goes through those of an exact part from the last one on, else from the first one. */
function matching(written: string, asked: Asked): readonly string[] {
  const parts = written.split(":");
  const four = [...Array.from({ length: 4 - parts.length }, () => ""), ...parts];
  const [provider] = four;
  if (isOfProgram(provider)) return ofScript({ name: "-l", text: `${written} {}` }, asked).toReversed();
  const patterns = four.map((part) => (part === "" ? undefined : new RegExp(`^${globSource(part)}$`)));
  const found = ranges
    .filter(([name]) => patterns[0]?.test(name) !== false)
    .flatMap(([name, , listed]) => namesOf(name, listed))
    .filter((name) => name.split(":").every((part, at) => patterns[at]?.test(part) !== false));
  if (found.length > 0) return four.some((part) => part !== "" && !/[*?[]/.test(part)) ? found.reverse() : found;
  // Rates that are not listed; providers of which nothing is.
  const isMade = provider === "" ? /^(?:tick|profile)-/.test(four[3]) : !/[*?[]/.test(provider);
  return isMade ? ofScript({ name: "-l", text: `${written} {}` }, asked) : [];
}

/** `pid1234`, `usdt$target`: of a process. */
function isOfProgram(provider: string): boolean {
  return /(?:\d|\$target)$/.test(provider);
}

function ofScript(source: Source, asked: Asked): readonly string[] {
  const { stages } = compiled(source, asked);
  const names = stages.probes
    .filter(({ probe }) => probe.span.start < source.text.length)
    .flatMap(({ variants }) => variants.flatMap(({ sites }) => sites.map(({ name }) => name)));
  return [...new Set(names)];
}

function all(): readonly string[] {
  return ranges.flatMap(([provider, , listed]) => namesOf(provider, listed));
}
