// All providers, and where each is. A run loads those it uses: most know binaries and debug information that other
// probes need not. A new kind of probe is a file and a line here.
import { probes } from "../messages/probes.ts";
import { DamageError } from "../debuginfo/damage.ts";
import type { Diagnostic } from "../language/diagnostic.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import { instructions, kprobes, kretprobes, uprobes, uretprobes } from "./attaching/attachers.ts";
import { begin, end } from "./kinds/begin-end.ts";
import type { Attacher, Listed, ListOptions, Provider, Resolution, ResolveOptions } from "./provider.ts";
import { rawtracepoint } from "./kinds/rawtracepoint.ts";
import { splitKind, type ProbeConstructor, type ProbeSpelling } from "../language/probe-spelling.ts";
import { didYouMean, missing, refused } from "./resolution.ts";
import type { System } from "../machine/system.ts";
import { interval, profile } from "./kinds/timers.ts";
import { tracepoint } from "./kinds/tracepoint.ts";
import { hasWildcard, matches } from "../machine/wildcard.ts";
import { lazy } from "../base/lazy.ts";
import { library } from "../messages/on-demand.ts";

// Loaded for a kind that is not known.
const otherTools = lazy<typeof import("./other-tools.ts")>(() => require("./other-tools.ts"));

const kernelPlaces = lazy<typeof import("./places/kernel-places.ts")>(() => require("./places/kernel-places.ts"));
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
const eprobeKind = lazy<typeof import("./kinds/eprobe.ts")>(() => require("./kinds/eprobe.ts"));
const userEventsKind = lazy<typeof import("./kinds/user-events.ts")>(() => require("./kinds/user-events.ts"));
const suitesKind = lazy<typeof import("./kinds/suites.ts")>(() => require("./kinds/suites.ts"));

/** A kind's line: what is asked of it before its file is loaded. */
export interface Kind {
  /** Other names; the provider says the same. */
  readonly aliases: readonly string[];
  readonly spelling?: ProbeSpelling;
  readonly provider: () => Provider;
  /** Apart where a plan that was kept needs only this. */
  readonly attacher?: Attacher;
}

/** By canonical name. */
const kinds: Record<string, Kind> = {
  begin: {
    aliases: ["BEGIN"],
    spelling: { alone: true, typescript: { name: "begin", words: "nothing", parameters: [] } },
    provider: () => begin,
  },
  end: {
    aliases: ["END"],
    spelling: { alone: true, typescript: { name: "end", words: "nothing", parameters: [] } },
    provider: () => end,
  },
  self: { aliases: [], provider: () => selfKind().self },
  interval: {
    aliases: ["i"],
    spelling: { typescript: { name: "interval", words: "rate", parameters: [] } },
    provider: () => interval,
  },
  profile: {
    aliases: ["p"],
    spelling: { typescript: { name: "profile", words: "rate", parameters: [] } },
    provider: () => profile,
  },
  tracepoint: {
    aliases: ["t"],
    spelling: { typescript: { name: "tracepoint", words: "name", parameters: ["args"] } },
    provider: () => tracepoint,
  },
  eprobe: { aliases: ["ep"], provider: () => eprobeKind().eprobe },
  rawtracepoint: {
    aliases: ["rt"],
    spelling: { options: ["group"], typescript: { name: "rawTracepoint", words: "name", parameters: ["args"] } },
    provider: () => rawtracepoint,
  },
  fentry: {
    aliases: ["f", "kfunc"],
    spelling: { typescript: { name: "fentry", words: "name", parameters: ["args"] } },
    provider: () => fentryKind().fentry,
  },
  fexit: {
    aliases: ["fr", "kretfunc"],
    spelling: { typescript: { name: "fexit", words: "name", parameters: ["args", "retval"] } },
    provider: () => fentryKind().fexit,
  },
  kprobe: {
    aliases: ["k"],
    spelling: { lines: "alone", typescript: { name: "kprobe", words: "name", parameters: ["args"] } },
    provider: () => kprobeKind().kprobe,
    attacher: kprobes,
  },
  kretprobe: {
    aliases: ["kr"],
    spelling: { options: ["maxactive"], typescript: { name: "kretprobe", words: "name", parameters: ["retval"] } },
    provider: () => kprobeKind().kretprobe,
    attacher: kretprobes,
  },
  uprobe: {
    aliases: ["u", "line"],
    spelling: {
      path: 1,
      lines: "behind",
      typescript: { name: "uprobe", words: "binary-and-name", parameters: ["args"] },
    },
    provider: () => uprobeKind().uprobe,
    attacher: uprobes,
  },
  uretprobe: {
    aliases: ["ur"],
    spelling: { path: 1, typescript: { name: "uretprobe", words: "binary-and-name", parameters: ["retval"] } },
    provider: () => uprobeKind().uretprobe,
    attacher: uretprobes,
  },
  insn: {
    aliases: ["kinst"],
    spelling: { path: 1 },
    provider: () => insnKind().insn,
    attacher: instructions,
  },
  ret: {
    aliases: [],
    spelling: { path: 1 },
    provider: () => retKind().ret,
    attacher: instructions,
  },
  plt: {
    aliases: [],
    spelling: { path: 1 },
    provider: () => pltKind().plt,
    attacher: uprobes,
  },
  pltret: {
    aliases: [],
    spelling: { path: 1 },
    provider: () => pltKind().pltret,
    attacher: uretprobes,
  },
  usdt: {
    aliases: ["U"],
    spelling: {
      path: 1,
      options: ["function"],
      typescript: { name: "usdt", words: "binary-and-name", parameters: ["args"] },
    },
    provider: () => usdtKind().usdt,
    attacher: uprobes,
  },
  process: {
    aliases: [],
    spelling: { path: 1 },
    provider: () => processKind().process,
  },
  thread: {
    aliases: [],
    spelling: { path: 1 },
    provider: () => processKind().thread,
  },
  software: {
    aliases: ["s"],
    spelling: { typescript: { name: "software", words: "event-and-count", parameters: [] } },
    provider: () => countersKind().software,
  },
  hardware: {
    aliases: ["h"],
    spelling: { typescript: { name: "hardware", words: "event-and-count", parameters: [] } },
    provider: () => countersKind().hardware,
  },
  watchpoint: {
    aliases: ["w"],
    spelling: { path: 1 },
    provider: () => watchpointKind().watchpoint,
  },
  asyncwatchpoint: {
    aliases: ["aw"],
    spelling: { path: 1 },
    provider: () => watchpointKind().asyncWatchpoint,
  },
  iter: {
    aliases: ["it"],
    spelling: { path: 2, typescript: { name: "iter", words: "name", parameters: ["ctx"] } },
    provider: () => iteratorKind().iterator,
  },
  user_events: { aliases: [], provider: () => userEventsKind().userEvents },
  test: { aliases: [], provider: () => suitesKind().test },
  bench: { aliases: [], provider: () => suitesKind().bench },
};

/** Canonical names, by all names. */
const canonical = new Map<string, string>();
for (const [name, kind] of Object.entries(kinds)) addNames(name, kind);

function addNames(name: string, { aliases }: Kind): void {
  for (const word of [name, ...aliases]) canonical.set(word, name);
}

/** Canonical names, by all names. */
export const providerNames: ReadonlyMap<string, string> = canonical;

/** A kind from outside: known from now on until it is disposed of. @throws RangeError for a name that is taken */
export function addKind(provider: Provider, spelling: ProbeSpelling = {}): Disposable {
  const { name, aliases } = provider;
  for (const word of [name, ...aliases])
    if (canonical.has(word)) throw new RangeError(library().kindThere(word).message);
  const kind: Kind = { aliases, spelling, provider: () => provider };
  kinds[name] = kind;
  addNames(name, kind);
  return {
    [Symbol.dispose]: () => {
      delete kinds[name];
      for (const word of [name, ...aliases]) canonical.delete(word);
    },
  };
}

/** How the languages write a kind's probes, by its name or an alias. Loads nothing. */
export function spellingOf(nameOrAlias: string): ProbeSpelling | undefined {
  const name = canonical.get(nameOrAlias);
  return name === undefined ? undefined : (kinds[name].spelling ?? {});
}

/** Names of the TypeScript library's constructors of probes. */
export function constructorNames(): string[] {
  return Object.values(kinds).flatMap(({ spelling }) => spelling?.typescript?.name ?? []);
}

/** The kind that a constructor of the TypeScript library makes probes of. */
export function findConstructor(constructor: string): (ProbeConstructor & { readonly provider: string }) | undefined {
  for (const [provider, { spelling }] of Object.entries(kinds)) {
    if (spelling?.typescript?.name === constructor) return { ...spelling.typescript, provider };
  }
  return undefined;
}

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
  const known = spellingOf(spec.provider)?.options ?? [];
  for (const option of Object.keys(spec.options ?? {}))
    if (!known.includes(option)) return refused(spec, probes.takesNoOption(provider.name, option, known));
  try {
    const found = provider.resolve(spec, system, options);
    return options.uses.has("var") ? kernelPlaces().withKernelGlobals(found, system, options) : found;
  } catch (error) {
    if (!isDamage(error)) throw error;
    const message =
      error.file === undefined ? `what \`${spec.text}\` is in cannot be read: ${error.message}` : error.message;
    return missing(spec, options, probes.damagedFile(message));
  }
}

/** Bytes that are not what their format says. */
export function isDamage(error: unknown): error is DamageError {
  return error instanceof DamageError;
}

function unknownProvider(spec: ProbeSpec, system: System): Diagnostic {
  const base = { severity: "error", span: spec.span } as const;
  if (hasWildcard(spec.provider)) return { ...base, ...probes.kindsByWildcard(spec.provider) };
  // `sched:sched_switch { … }`: the kind was left out.
  const meant = allProviders().find((kind) => kind.hasExactly?.([spec.provider, ...spec.parts], system));
  const help = meant
    ? `did you mean \`${meant.name}:${spec.text}\`?`
    : (otherTools().otherToolsKind(spec.provider) ?? didYouMean(spec.provider, Object.keys(kinds)));
  return { ...base, ...probes.unknownKind(spec.provider, help) };
}

/**
 * What `-l` shows: `tracepoint:sched:*`, `*:vfs_read`, or text alone, which any part of a name may match. Without a
 * pattern everything but user probes.
 */
export function* listProbes(pattern: string | undefined, system: System, options: ListOptions): Iterable<Listed> {
  const [first = "*", ...rest] = pattern === undefined ? [] : splitPattern(pattern);
  yield* listSpec({ provider: first, parts: rest }, system, options);
}

/** The same of a name that a language has read; wildcards may be in the kind's name, too. */
export function* listSpec(
  { provider: first, parts: rest, options: own }: Pick<ProbeSpec, "provider" | "parts" | "options">,
  system: System,
  options: ListOptions,
): Iterable<Listed> {
  const exact = findProvider(first);
  if (exact) {
    yield* exact.list(rest, system, own === undefined ? options : { ...options, own });
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
  const [kind, rest] = splitKind(pattern, spellingOf);
  return rest === undefined ? partsOf(kind) : [...partsOf(kind), ...partsOf(rest)];
}

function partsOf(text: string): string[] {
  const parts = [""];
  let quoted = false;
  for (const char of text) {
    if (char === '"') quoted = !quoted;
    if (char === ":" && !quoted) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts;
}
