// All providers, and where each is. A run loads those it uses: most know binaries and debug information that other
// probes need not. A new kind of probe is a file and a line here.
import { DamageError } from "../debuginfo/damage.ts";
import type { Diagnostic } from "../language/diagnostic.ts";
import type { ProbeSpec } from "../language/program.ts";
import { instructions, kprobes, kretprobes, uprobes, uretprobes } from "./attaching/attachers.ts";
import { begin, end } from "./kinds/begin-end.ts";
import type { Attacher, Listed, ListOptions, Provider, Resolution, ResolveOptions } from "./provider.ts";
import { rawtracepoint } from "./kinds/rawtracepoint.ts";
import { didYouMean, missing } from "./resolution.ts";
import type { System } from "../machine/system.ts";
import { interval, profile } from "./kinds/timers.ts";
import { tracepoint } from "./kinds/tracepoint.ts";
import { hasWildcard, matches } from "../machine/wildcard.ts";
import { lazy } from "../base/lazy.ts";

const selfKind = lazy<typeof import("./kinds/self.ts")>(() => require("./kinds/self.ts"));
const fentryKind = lazy<typeof import("./kinds/fentry.ts")>(() => require("./kinds/fentry.ts"));
const kprobeKind = lazy<typeof import("./kinds/kprobe.ts")>(() => require("./kinds/kprobe.ts"));
const uprobeKind = lazy<typeof import("./kinds/uprobe.ts")>(() => require("./kinds/uprobe.ts"));
const insnKind = lazy<typeof import("./kinds/insn.ts")>(() => require("./kinds/insn.ts"));
const retKind = lazy<typeof import("./kinds/ret.ts")>(() => require("./kinds/ret.ts"));
const pltKind = lazy<typeof import("./kinds/plt.ts")>(() => require("./kinds/plt.ts"));
const usdtKind = lazy<typeof import("./kinds/usdt.ts")>(() => require("./kinds/usdt.ts"));
const processKind = lazy<typeof import("./kinds/process.ts")>(() => require("./kinds/process.ts"));
const countersKind = lazy<typeof import("./kinds/counters.ts")>(() => require("./kinds/counters.ts"));
const watchpointKind = lazy<typeof import("./kinds/watchpoint.ts")>(() => require("./kinds/watchpoint.ts"));
const iteratorKind = lazy<typeof import("./kinds/iterator.ts")>(() => require("./kinds/iterator.ts"));
const suitesKind = lazy<typeof import("./kinds/suites.ts")>(() => require("./kinds/suites.ts"));

/** By canonical name, with the other names that a provider says it has. */
const kinds: Readonly<
  Record<
    string,
    { readonly aliases: readonly string[]; readonly provider: () => Provider; readonly attacher?: Attacher }
  >
> = {
  begin: { aliases: ["BEGIN"], provider: () => begin },
  end: { aliases: ["END"], provider: () => end },
  self: { aliases: [], provider: () => selfKind().self },
  interval: { aliases: ["i"], provider: () => interval },
  profile: { aliases: ["p"], provider: () => profile },
  tracepoint: { aliases: ["t"], provider: () => tracepoint },
  rawtracepoint: { aliases: ["rt"], provider: () => rawtracepoint },
  fentry: {
    aliases: ["f", "kfunc"],
    provider: () => fentryKind().fentry,
  },
  fexit: {
    aliases: ["fr", "kretfunc"],
    provider: () => fentryKind().fexit,
  },
  kprobe: {
    aliases: ["k"],
    provider: () => kprobeKind().kprobe,
    attacher: kprobes,
  },
  kretprobe: {
    aliases: ["kr"],
    provider: () => kprobeKind().kretprobe,
    attacher: kretprobes,
  },
  uprobe: {
    aliases: ["u", "line"],
    provider: () => uprobeKind().uprobe,
    attacher: uprobes,
  },
  uretprobe: {
    aliases: ["ur"],
    provider: () => uprobeKind().uretprobe,
    attacher: uretprobes,
  },
  insn: {
    aliases: ["kinst"],
    provider: () => insnKind().insn,
    attacher: instructions,
  },
  ret: {
    aliases: [],
    provider: () => retKind().ret,
    attacher: instructions,
  },
  plt: {
    aliases: [],
    provider: () => pltKind().plt,
    attacher: uprobes,
  },
  usdt: {
    aliases: ["U"],
    provider: () => usdtKind().usdt,
    attacher: uprobes,
  },
  process: {
    aliases: [],
    provider: () => processKind().process,
  },
  thread: {
    aliases: [],
    provider: () => processKind().thread,
  },
  software: {
    aliases: ["s"],
    provider: () => countersKind().software,
  },
  hardware: {
    aliases: ["h"],
    provider: () => countersKind().hardware,
  },
  watchpoint: {
    aliases: ["w"],
    provider: () => watchpointKind().watchpoint,
  },
  asyncwatchpoint: {
    aliases: ["aw"],
    provider: () => watchpointKind().asyncWatchpoint,
  },
  iter: {
    aliases: ["it"],
    provider: () => iteratorKind().iterator,
  },
  test: { aliases: [], provider: () => suitesKind().test },
  bench: { aliases: [], provider: () => suitesKind().bench },
};

/** Canonical names, by all names. */
export const providerNames: ReadonlyMap<string, string> = new Map(
  Object.entries(kinds).flatMap(([name, { aliases }]) => [name, ...aliases].map((word) => [word, name] as const)),
);

/** By name or alias, both as written. */
export function findProvider(nameOrAlias: string): Provider | undefined {
  const name = providerNames.get(nameOrAlias);
  return name === undefined ? undefined : kinds[name].provider();
}

/** What attaches to the sites of a provider, by its canonical name; undefined where nothing does. */
export function findAttacher(name: string): Attacher | undefined {
  const { attacher, provider } = kinds[name];
  const known = attacher ?? provider();
  return attaches(known) ? known : undefined;
}

function attaches(kind: Partial<Attacher>): kind is Attacher {
  return kind.attach !== undefined;
}

/** All of them, loaded. */
export function allProviders(): readonly Provider[] {
  return Object.values(kinds).map(({ provider }) => provider());
}

/** The sites of a spec as a front-end gives it: finds the provider and lets it resolve the rest. */
export function resolveSpec(spec: ProbeSpec, system: System, options: ResolveOptions): Resolution {
  const provider = findProvider(spec.provider);
  if (!provider) return { variants: [], diagnostics: [unknownProvider(spec, system)] };
  try {
    return provider.resolve(spec, system, options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const message =
      error.file === undefined ? `what \`${spec.text}\` is in cannot be read: ${error.message}` : error.message;
    return missing(spec, options, message, "the file is damaged or cut short: build it again, or copy it anew");
  }
}

/** Bytes that are not what their format says. */
export function isDamage(error: unknown): error is DamageError {
  return error instanceof DamageError;
}

function unknownProvider(spec: ProbeSpec, system: System): Diagnostic {
  const base = { severity: "error", code: "name", span: spec.span } as const;
  if (hasWildcard(spec.provider)) {
    return {
      ...base,
      message: `invalid probe type: ${spec.provider}`,
      help: "wildcards over kinds of probes are for listings (-l)",
    };
  }
  // `sched:sched_switch { … }`: the kind was left out.
  const meant = allProviders().find((kind) => kind.hasExactly?.([spec.provider, ...spec.parts], system));
  const help = meant ? `did you mean \`${meant.name}:${spec.text}\`?` : didYouMean(spec.provider, Object.keys(kinds));
  return { ...base, message: `invalid probe type: ${spec.provider}`, ...(help === undefined ? {} : { help }) };
}

/**
 * What `-l` shows: `tracepoint:sched:*`, `*:vfs_read`, or text alone, which any part of a name may match. Without a
 * pattern everything but user probes.
 */
export function* listProbes(pattern: string | undefined, system: System, options: ListOptions): Iterable<Listed> {
  const [first = "*", ...rest] = pattern === undefined ? [] : splitPattern(pattern);
  const exact = findProvider(first);
  if (exact) {
    yield* exact.list(rest, system, options);
    return;
  }
  const files = options.pid !== undefined || (rest[0] ?? "").includes("/");
  const searched = allProviders().filter(
    ({ inSearches = "always" }) => inSearches === "always" || (inSearches === "in-files" && files),
  );
  if (rest.length === 0) {
    // Every provider takes a lone part for the name of what is probed.
    for (const provider of searched) yield* provider.list([first], system, options);
    return;
  }
  for (const provider of searched) {
    if (![provider.name, ...provider.aliases].some((name) => matches(first, name))) continue;
    // Some kinds list all that they have, whatever they are asked for.
    for (const listed of provider.list(rest, system, options)) {
      const [, ...parts] = splitPattern(listed.probe);
      if (parts.length > 0 && matches(rest.at(-1)!, parts.at(-1)!)) yield listed;
    }
  }
}

/** Parts at colons, but not within quotes; what is behind `kprobe@` is a part of its own. */
export function splitPattern(pattern: string): string[] {
  const [, kind, source] = /^(kprobe|k)(@.*)$/s.exec(pattern) ?? [];
  if (kind !== undefined) return [kind, ...splitPattern(source)];
  const parts = [""];
  let quoted = false;
  for (const char of pattern) {
    if (char === '"') quoted = !quoted;
    if (char === ":" && !quoted) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts;
}
