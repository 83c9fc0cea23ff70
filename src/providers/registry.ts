// All providers. A new kind of probe is a file and a line here.
import type { Diagnostic } from "../language/diagnostic.ts";
import type { ProbeSpec } from "../language/program.ts";
import { begin, end } from "./begin-end.ts";
import { hardware, software } from "./counters.ts";
import { fentry, fexit } from "./fentry.ts";
import { insn } from "./insn.ts";
import { iterator } from "./iterator.ts";
import { kprobe, kretprobe } from "./kprobe.ts";
import type { Listed, ListOptions, Provider, Resolution, ResolveOptions } from "./provider.ts";
import { plt } from "./plt.ts";
import { rawtracepoint } from "./rawtracepoint.ts";
import { didYouMean } from "./resolution.ts";
import { ret } from "./ret.ts";
import { self } from "./self.ts";
import { bench, test } from "./suites.ts";
import { process, thread } from "./process.ts";
import type { System } from "./system.ts";
import { interval, profile } from "./timers.ts";
import { tracepoint } from "./tracepoint.ts";
import { uprobe, uretprobe } from "./uprobe.ts";
import { usdt } from "./usdt.ts";
import { asyncWatchpoint, watchpoint } from "./watchpoint.ts";
import { hasWildcard, matches } from "./wildcard.ts";

export const providers: readonly Provider[] = [
  begin, end, self, interval, profile, tracepoint, rawtracepoint, fentry, fexit, kprobe, kretprobe,
  uprobe, uretprobe, insn, ret, plt, usdt, process, thread, software, hardware, watchpoint, asyncWatchpoint, iterator, test, bench,
];

const byName = new Map(providers.flatMap((provider) => [provider.name, ...provider.aliases].map((name) => [name, provider] as const)));

/** By name or alias, both as written. */
export function findProvider(nameOrAlias: string): Provider | undefined {
  return byName.get(nameOrAlias);
}

/** The sites of a spec as a front-end gives it: finds the provider and lets it resolve the rest. */
export function resolveSpec(spec: ProbeSpec, system: System, options: ResolveOptions): Resolution {
  const provider = findProvider(spec.provider);
  return provider ? provider.resolve(spec, system, options) : { variants: [], diagnostics: [unknownProvider(spec, system)] };
}

function unknownProvider(spec: ProbeSpec, system: System): Diagnostic {
  const base = { severity: "error", code: "name", span: spec.span } as const;
  if (hasWildcard(spec.provider)) {
    return { ...base, message: `\`${spec.provider}\` is not a kind of probe`, help: "wildcards over kinds of probes are for listings (-l)" };
  }
  // `sched:sched_switch { … }`: the kind was left out.
  const category = system.tracepoints().some((event) => event.category === spec.provider && event.name === spec.parts[0]);
  const help = category ? `did you mean \`tracepoint:${spec.text}\`?` : didYouMean(spec.provider, providers.map((provider) => provider.name));
  return { ...base, message: `\`${spec.provider}\` is not a kind of probe`, ...(help === undefined ? {} : { help }) };
}

/** Kinds that a search over all kinds leaves out: their lists cost reading every binary, or say nothing. */
const onlyWhenAsked = new Set(["uprobe", "uretprobe", "insn", "ret", "plt", "usdt", "process", "thread", "test", "bench"]);

/**
 * What `-l` shows: `tracepoint:sched:*`, `*:vfs_read`, or text alone, which any part of a name may match. Without a pattern
 * everything but user probes.
 */
export function* listProbes(pattern: string | undefined, system: System, options: ListOptions): Iterable<Listed> {
  const [first = "*", ...rest] = pattern === undefined ? [] : splitPattern(pattern);
  const exact = findProvider(first);
  if (exact) {
    yield* exact.list(rest, system, options);
    return;
  }
  const searched = providers.filter((provider) => !onlyWhenAsked.has(provider.name));
  if (rest.length === 0) {
    // Every provider takes a lone part for the name of what is probed.
    for (const provider of searched) yield* provider.list([first], system, options);
    return;
  }
  for (const provider of searched) {
    if ([provider.name, ...provider.aliases].some((name) => matches(first, name))) yield* provider.list(rest, system, options);
  }
}

/** Parts at colons, but not within quotes. */
export function splitPattern(pattern: string): string[] {
  const parts = [""];
  let quoted = false;
  for (const char of pattern) {
    if (char === '"') quoted = !quoted;
    if (char === ":" && !quoted) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts;
}
