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

/** By canonical name, with the other names that a provider says it has. */
const kinds: Readonly<
  Record<
    string,
    { readonly aliases: readonly string[]; readonly provider: () => Provider; readonly attacher?: Attacher }
  >
> = {
  begin: { aliases: ["BEGIN"], provider: () => begin },
  end: { aliases: ["END"], provider: () => end },
  self: { aliases: [], provider: () => (require("./kinds/self.ts") as typeof import("./kinds/self.ts")).self },
  interval: { aliases: ["i"], provider: () => interval },
  profile: { aliases: ["p"], provider: () => profile },
  tracepoint: { aliases: ["t"], provider: () => tracepoint },
  rawtracepoint: { aliases: ["rt"], provider: () => rawtracepoint },
  fentry: {
    aliases: ["f", "kfunc"],
    provider: () => (require("./kinds/fentry.ts") as typeof import("./kinds/fentry.ts")).fentry,
  },
  fexit: {
    aliases: ["fr", "kretfunc"],
    provider: () => (require("./kinds/fentry.ts") as typeof import("./kinds/fentry.ts")).fexit,
  },
  kprobe: {
    aliases: ["k"],
    provider: () => (require("./kinds/kprobe.ts") as typeof import("./kinds/kprobe.ts")).kprobe,
    attacher: kprobes,
  },
  kretprobe: {
    aliases: ["kr"],
    provider: () => (require("./kinds/kprobe.ts") as typeof import("./kinds/kprobe.ts")).kretprobe,
    attacher: kretprobes,
  },
  uprobe: {
    aliases: ["u", "line"],
    provider: () => (require("./kinds/uprobe.ts") as typeof import("./kinds/uprobe.ts")).uprobe,
    attacher: uprobes,
  },
  uretprobe: {
    aliases: ["ur"],
    provider: () => (require("./kinds/uprobe.ts") as typeof import("./kinds/uprobe.ts")).uretprobe,
    attacher: uretprobes,
  },
  insn: {
    aliases: ["kinst"],
    provider: () => (require("./kinds/insn.ts") as typeof import("./kinds/insn.ts")).insn,
    attacher: instructions,
  },
  ret: {
    aliases: [],
    provider: () => (require("./kinds/ret.ts") as typeof import("./kinds/ret.ts")).ret,
    attacher: instructions,
  },
  plt: {
    aliases: [],
    provider: () => (require("./kinds/plt.ts") as typeof import("./kinds/plt.ts")).plt,
    attacher: uprobes,
  },
  usdt: {
    aliases: ["U"],
    provider: () => (require("./kinds/usdt.ts") as typeof import("./kinds/usdt.ts")).usdt,
    attacher: uprobes,
  },
  process: {
    aliases: [],
    provider: () => (require("./kinds/process.ts") as typeof import("./kinds/process.ts")).process,
  },
  thread: {
    aliases: [],
    provider: () => (require("./kinds/process.ts") as typeof import("./kinds/process.ts")).thread,
  },
  software: {
    aliases: ["s"],
    provider: () => (require("./kinds/counters.ts") as typeof import("./kinds/counters.ts")).software,
  },
  hardware: {
    aliases: ["h"],
    provider: () => (require("./kinds/counters.ts") as typeof import("./kinds/counters.ts")).hardware,
  },
  watchpoint: {
    aliases: ["w"],
    provider: () => (require("./kinds/watchpoint.ts") as typeof import("./kinds/watchpoint.ts")).watchpoint,
  },
  asyncwatchpoint: {
    aliases: ["aw"],
    provider: () => (require("./kinds/watchpoint.ts") as typeof import("./kinds/watchpoint.ts")).asyncWatchpoint,
  },
  iter: {
    aliases: ["it"],
    provider: () => (require("./kinds/iterator.ts") as typeof import("./kinds/iterator.ts")).iterator,
  },
  test: { aliases: [], provider: () => (require("./kinds/suites.ts") as typeof import("./kinds/suites.ts")).test },
  bench: { aliases: [], provider: () => (require("./kinds/suites.ts") as typeof import("./kinds/suites.ts")).bench },
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
