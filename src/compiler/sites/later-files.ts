// Files that traced processes open while a script runs: what its probes mean there, and the plan with that as well.
import type { ResolvedProbe } from "../../language/resolved-probe.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { Probe } from "../../language/program.ts";
import type { KnownPlaces } from "../../providers/places/follow.ts";
import type { Provider, Resolution, ResolveOptions } from "../../providers/provider.ts";
import { findProvider } from "../../providers/registry.ts";
import type { System } from "../../machine/system.ts";
import { hasWildcard } from "../../machine/wildcard.ts";
import { placesTogether } from "./places-together.ts";
import type { Plan } from "../plan.ts";
import { lazy } from "../../base/lazy.ts";

// Loaded when a script has such specs.
const follow = lazy<typeof import("../../providers/places/follow.ts")>(() =>
  require("../../providers/places/follow.ts"),
);

type Variant = ResolvedProbe["variants"][number];

/** A spec that may mean files that are opened later. */
export interface OpenSpec {
  readonly probe: Probe;
  readonly spec: ProbeSpec;
  /** Of the script's attach points. */
  readonly number: number;
  readonly provider: Provider;
  /** What it says of the file: a name or a pattern. */
  readonly target: string;
  readonly options: ResolveOptions;
}

/** Only where processes are traced that are known: with `-p` and `-c`. */
export function openSpec(probe: Probe, spec: ProbeSpec, number: number, options: ResolveOptions): OpenSpec | undefined {
  const provider = findProvider(spec.provider);
  if (provider?.inFiles === undefined || (options.pid === undefined && options.command === undefined)) return undefined;
  const target = follow().openTarget(spec, provider, options.pid);
  return target === undefined ? undefined : { probe, spec, number, provider, target, options };
}

/** As at any time, but that it is no mistake when nothing is there yet. */
export function resolveOpen({ spec, provider, target, options }: OpenSpec, system: System): Resolution {
  const { pid, command } = options;
  const anything = hasWildcard(target) && !target.includes("/");
  const resolution =
    pid === undefined && command !== undefined && anything
      ? spec.present === true
        ? provider.resolve(spec, follow().withFiles(follow().filesOfCommand(command, system), system), {
            ...options,
            pid: process.pid,
            symbolsOnly: true,
          })
        : follow().resolveIn(follow().filesOfCommand(command, system), spec, provider, system, {
            ...options,
            pid: process.pid,
          })
      : provider.resolve(spec, system, anything ? { ...options, symbolsOnly: true } : options);
  if (resolution.variants.some(({ sites }) => sites.length > 0)) return resolution;
  // The command's own program, and a library that only it finds, by their names.
  if (pid === undefined && command !== undefined && !anything && system.binary(target) === undefined) {
    const files = follow()
      .filesOfCommand(command, system)
      .filter((file) => follow().meansFile(target, file));
    if (files.length > 0) return provider.resolve(spec, follow().withFiles(files, system), options);
  }
  const mayCome = spec.present !== true && (hasWildcard(target) || system.binary(target, pid) === undefined);
  if (!mayCome || resolution.diagnostics.some(({ severity, code }) => severity === "error" && code !== "name"))
    return resolution;
  const diagnostics = resolution.diagnostics.map((diagnostic): Diagnostic => ({
    ...diagnostic,
    severity: "warning",
    help: `${diagnostic.help?.startsWith("did you mean") ? `${diagnostic.help} Otherwise it` : "it"} is probed as soon as the process opens a file that has it`,
  }));
  return { variants: [follow().awaiting(provider, system, options.uses)], diagnostics };
}

/** A variant without sites that keeps a place for what may come. */
export function isAwaiting({ context, provider, sites }: Variant): boolean {
  return sites.length === 0 && context !== "host" && findProvider(provider)?.inFiles !== undefined;
}

/** As compiling gives it. */
export interface GrownPlan {
  readonly plan?: Plan | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** To be called once it runs: what comes later is behind this. A plan that is not taken over leaves nothing. */
  readonly taken: () => void;
}

export class Following {
  readonly #specs: readonly OpenSpec[];
  #probes: readonly ResolvedProbe[];
  readonly #system: System;
  readonly #spelled: (variant: Variant, spec: ProbeSpec) => Variant;
  readonly #share: (variants: readonly Variant[], uses: ReadonlySet<string>) => Variant[];
  readonly #compile: (probes: readonly ResolvedProbe[]) => Omit<GrownPlan, "taken">;
  readonly #known = new Map<Probe, KnownPlaces>();

  constructor(
    specs: readonly OpenSpec[],
    probes: readonly ResolvedProbe[],
    system: System,
    spelled: (variant: Variant, spec: ProbeSpec) => Variant,
    share: (variants: readonly Variant[], uses: ReadonlySet<string>) => Variant[],
    compile: (probes: readonly ResolvedProbe[]) => Omit<GrownPlan, "taken">,
  ) {
    this.#specs = specs;
    this.#probes = probes;
    this.#system = system;
    this.#spelled = spelled;
    this.#share = share;
    this.#compile = compile;
  }

  /** Whether any probe can mean a file of this path, as the process names it. */
  concerns(path: string): boolean {
    return this.#specs.some(({ target }) => follow().meansFile(target, path));
  }

  /**
   * The plan with what the probes mean in files that a process has open: all that was there before, then more programs.
   * Undefined when there is nothing new.
   */
  grow(files: readonly string[], pid: number): GrownPlan | undefined {
    const more = this.#specs.flatMap((open): ResolvedProbe[] => {
      const { probe, spec, number, provider, target, options } = open;
      const meant = files.filter((file) => follow().meansFile(target, file));
      if (meant.length === 0) return [];
      const known = this.#placesOf(probe);
      const found = placesTogether(
        follow().resolveIn(meant, spec, provider, this.#system, { ...options, pid }).variants,
        number,
      )
        .map((variant) => this.#spelled(variant, spec))
        .map((variant) => ({ ...variant, sites: variant.sites.filter((site) => known.add(site)) }))
        .filter(({ sites }) => sites.length > 0);
      return found.length === 0 ? [] : [{ probe, variants: this.#share(found, options.uses) }];
    });
    if (more.length === 0) return undefined;
    const probes = [...this.#probes, ...more];
    return {
      ...this.#compile(probes),
      taken: () => {
        this.#probes = probes;
      },
    };
  }

  #placesOf(probe: Probe): KnownPlaces {
    let known = this.#known.get(probe);
    if (known === undefined) {
      known = new (follow().KnownPlaces)();
      for (const { variants } of this.#probes.filter((resolved) => resolved.probe === probe)) {
        for (const { sites } of variants) for (const site of sites) known.add(site);
      }
      this.#known.set(probe, known);
    }
    known.lookAgain();
    return known;
  }
}
