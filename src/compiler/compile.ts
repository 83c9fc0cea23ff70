// From a parsed script to a plan: resolve, check, lower, optimize, generate. Deterministic, given what the system says.
import { compiler } from "../messages/compiler.ts";
import { asInternal, isUnexpected } from "../base/internal-error.ts";
import { lazy } from "../base/lazy.ts";
import type { CheckedProgram, TypedProgram } from "../language/checked-program.ts";
import type { ResolvedProbe } from "../language/resolved-probe.ts";
import { check } from "../language/check/check.ts";
import { resolveConfig } from "../language/check/config.ts";
import { type Diagnostic, ScriptError } from "../language/diagnostic.ts";
import type { Probe, Program } from "../language/program.ts";
import type { ResolveOptions, Suite } from "../providers/provider.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import { findProvider, resolveSpec } from "../providers/registry.ts";
import { hostMachine } from "../machine/contexts/registers.ts";
import { systemCallNumber } from "../machine/kernel/syscall-numbers.ts";
import type { System } from "../machine/system.ts";
import { hasWildcard } from "../machine/wildcard.ts";
import { amongProcesses, isCommand, currentPid, isOneOf, type ProcessFilter } from "./sites/process-filter.ts";
import { followingObjects } from "./sites/followed-objects.ts";
import { withChosenProcesses } from "./sites/chosen-process.ts";
import { followingChildren, isFollowed } from "./sites/follow-children.ts";
import { Following, isAwaiting, openSpec, resolveOpen, type OpenSpec } from "./sites/later-files.ts";
import type { IrModule } from "./ir/ir.ts";
import { type LoweredProgram, lower } from "./lower/lower.ts";
import { optimize } from "./optimize/optimize.ts";
import { joinedClauses } from "./sites/joined-clauses.ts";
import { placesTogether } from "./sites/places-together.ts";
import type { Plan } from "./plan.ts";
import { isOfAnyProcess, usedBuiltins } from "../language/check/uses.ts";
import type { HeaderField } from "./layouts/record-header.ts";
import { type Variant, filtered, likeFunctions, shareContexts, spelled } from "./sites/variants.ts";
import { makePlan, noPrograms, notRecorded, planOfEngines, recordedPlan } from "./make-plan.ts";

// Loaded for that engine.
const tracefsPlanning = lazy<typeof import("./tracefs/make-plan.ts")>(() => require("./tracefs/make-plan.ts"));

/** What a user says of how a script is compiled. The command and the library hand it on as it is. */
export interface ScriptFlags {
  /** With `pid` or `command`: trace that process, the children it has and those it starts, and no other. */
  readonly follow?: boolean | undefined;
  /** Handlers of events leave at once in processes that it does not let through. */
  readonly only?: ProcessFilter | undefined;
  /** Allow what changes the system. */
  readonly unsafe?: boolean | undefined;
  /** The one test: or bench: probe to run; without it there are none. */
  readonly suite?: Suite | undefined;
  /**
   * Load members of typed kernel pointers directly (the default). Some verifiers refuse a few of these loads;
   * `openScript` then compiles again without.
   */
  readonly directLoads?: boolean | undefined;
  /**
   * Write kernel programs that are easy for the verifier to walk through, if slower: where it gives up on the usual
   * ones, `openScript` compiles again with this. "calls": rounds of loops are calls, whatever else the kernel has for
   * loops.
   */
  readonly easyToVerify?: boolean | "calls" | undefined;
  /** Only probes whose names match are attached; `begin`, `end` and `self` always are. */
  readonly probeFilter?: RegExp | undefined;
  /** Counts memory reads and look-ups in maps that fail, by their place in the script, and tells them as trouble. */
  readonly warnings?: boolean | undefined;
  /** What events are stamped with: with a clock's time, a CPU, a process, a thread, a probe. */
  readonly stamp?: readonly HeaderField[] | undefined;
  /** Passes of the optimizer and of the generator to leave out, by name: for measuring what each is worth. */
  readonly withoutPasses?: readonly string[] | undefined;
}

export interface CompileOptions extends ScriptFlags {
  /** Resolves a probe spec: the registry's way, unless a test has its own. */
  readonly resolve?: typeof resolveSpec | undefined;
  /** `-p` */
  readonly pid?: number | undefined;
  /** `-c` */
  readonly command?: string | undefined;
  readonly env?: Record<string, string | undefined> | undefined;
  /** Options given to the script, for getopt(). */
  readonly parameters?: ReadonlyMap<string, string | true> | undefined;
  /** Gates before the handlers, with which a session bounds what they cost. */
  readonly governed?: boolean | undefined;
  /** What each handler costs will be measured: none shares a program with another. */
  readonly measured?: boolean | undefined;
  /** The program that traces may change maps. */
  readonly held?: boolean | undefined;
  /**
   * What the handlers of events run on; `recording`: probes are those of one (`resolve`), and handlers run here;
   * `tracefs`: handlers run here over events of the kernel's own tracing.
   */
  readonly engine?: "bpf" | "recording" | "tracefs" | undefined;
  /** With `tracefs`: the kernel makes the events while it starts, and pairs none. */
  readonly atBoot?: boolean | undefined;
  /** Stops there, without a plan: an editor asks far more often than it traces. */
  readonly until?: "checked" | undefined;
  /**
   * Handlers go on at the host whether they need to or not, and maps of these names live there: for tests and the bench.
   */
  readonly captureOf?: ((map: string) => boolean) | undefined;
}

export interface Compiled {
  /** There unless some diagnostic is an error. */
  readonly plan?: Plan | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** What each stage made, as far as it got: for `-d`. */
  readonly stages: {
    readonly program: Program;
    readonly probes: readonly ResolvedProbe[];
    /** Of any script that parses. */
    readonly typed: TypedProgram;
    readonly checked?: CheckedProgram;
    readonly lowered?: LoweredProgram;
    /** After optimizing. */
    readonly module?: IrModule;
  };
  /** Where probes may mean files that the traced processes have not opened yet. */
  readonly following?: Following | undefined;
}

export function compile(script: Program, system: System, options: CompileOptions): Compiled {
  try {
    const chosen = withChosenProcesses(script, options);
    const ordered = followingObjects({ ...chosen, probes: inSequence(chosen.probes) });
    const { program, own } = options.follow
      ? followingChildren(ordered, options.pid, options.engine === "tracefs")
      : { program: ordered, own: new Set<Probe>() };
    const { probes, diagnostics, open } = resolveProbes(program, system, options, own);
    const compiled = compileProbes(program, probes, diagnostics, system, { ...options, growing: open.length > 0 });
    if (open.length === 0 || compiled.plan === undefined) return compiled;
    const grow = (all: readonly ResolvedProbe[]): Compiled =>
      compileProbes(program, all, [], system, { ...options, growing: true });
    return {
      ...compiled,
      following: new Following(
        open,
        probes,
        system,
        (variant, spec) => spelled(variant, spec, program),
        (variants, uses) => shareContexts(variants, uses),
        grow,
      ),
    };
  } catch (error) {
    throw asFault(error, script);
  }
}

/** `growing`: with room in the maps for programs that come later. */
function compileProbes(
  program: Program,
  probes: readonly ResolvedProbe[],
  diagnostics: Diagnostic[],
  system: System,
  options: CompileOptions & { readonly growing: boolean },
): Compiled {
  const result = check(program, withEntries(joinedClauses(probes, program.rules)), system.types, {
    capabilities: system.capabilities,
    unsafe: options.unsafe ?? false,
    env: options.env ?? {},
    ...(options.pid === undefined ? {} : { pid: options.pid }),
    ...(options.command === undefined ? {} : { command: options.command }),
    ...(options.parameters === undefined ? {} : { parameters: options.parameters }),
    growing: options.growing,
    recorded: options.engine === "recording",
    facts: {
      kernelAddress: (symbol) => system.symbolAddress(symbol),
      addressesHidden: () => system.symbolsHidden?.(),
      cgroupId: (path) => system.cgroupId(path),
      kernelFunctionExists: (name) => system.kernelFunction(name) !== undefined,
      systemCall: (name) => systemCallNumber(name, hostMachine),
    },
  });
  diagnostics.push(...result.diagnostics);
  const { checked, typed } = result;
  let stages: Compiled["stages"] = { program, probes, typed };
  if (checked === undefined || hasError(diagnostics)) return { diagnostics, stages };
  stages = { ...stages, checked };
  if (options.until === "checked") return { diagnostics, stages };
  try {
    const directLoads = options.directLoads ?? true;
    const lowered = lower(checked, system.capabilities, {
      directLoads,
      watch: options.warnings,
      header: options.stamp,
      captureOf: options.captureOf,
    });
    stages = { ...stages, lowered };
    const module = optimize(lowered.module, options.withoutPasses);
    stages = { ...stages, module };
    if (options.engine === "recording") {
      diagnostics.push(...notRecorded(lowered, module));
      if (hasError(diagnostics)) return { diagnostics, stages };
      return { plan: recordedPlan(checked, lowered, module), diagnostics, stages };
    }
    if (options.engine === "tracefs") {
      const { plan: events, diagnostics: said } = tracefsPlanning().makeTracefsPlan(lowered, module, system, {
        pairs: options.atBoot !== true,
        mapsAtEnd: checked.config.printMapsOnExit,
        follows: followedOf(program, options),
      });
      diagnostics.push(...said);
      if (events === undefined) return { diagnostics, stages };
      const plan = { ...planOfEngines(checked, lowered, module), tracefs: events, bpf: noPrograms };
      return { plan, diagnostics, stages };
    }
    const { governed = false, measured = false, growing } = options;
    const plan = makePlan(checked, lowered, module, system, {
      directLoads,
      governed,
      growing,
      paired: !governed && !measured && !growing,
      without: options.withoutPasses,
      easyToVerify: options.easyToVerify === true || options.easyToVerify === "calls",
      calledRounds: options.easyToVerify === "calls",
      held: options.held === true,
    });
    return { plan, diagnostics, stages };
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    return { diagnostics: [...diagnostics, ...error.diagnostics], stages };
  }
}

/** Beside probes on returns and inside functions, what keeps for them what they are given of the entries. */
function withEntries(probes: readonly ResolvedProbe[]): readonly ResolvedProbe[] {
  return probes.flatMap((resolved) => {
    const entries = resolved.variants.flatMap(({ entry }) => entry ?? []);
    if (entries.length === 0) return [resolved];
    const { predicate: _, ...probe } = resolved.probe;
    return [
      resolved,
      { probe: { ...probe, body: { kind: "block", statements: [], span: probe.body.span } }, variants: entries },
    ];
  });
}

/** What no part of the compiler throws on purpose is a fault of strobe's, and told as one. */
function asFault(error: unknown, { source, probes }: Program): unknown {
  if (error instanceof RangeError && error.message.startsWith("Maximum call stack")) {
    const span = probes[0]?.specs[0]?.span ?? { start: 0, end: 0 };
    return new ScriptError(source, [{ severity: "error", span, ...compiler.scriptTooLarge() }]);
  }
  return isUnexpected(error) ? asInternal(error, "compiling the script") : error;
}

function hasError(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((d) => d.severity === "error");
}

// ── probes ──

/** In the order of their specs' sequence numbers: a probe whose specs have several is as many probes. */
function inSequence(probes: readonly Probe[]): readonly Probe[] {
  const numbers = new Set(probes.flatMap(({ specs }) => specs.map(({ sequence = 0 }) => sequence)));
  if (numbers.size < 2) return probes;
  return [...numbers]
    .sort((a, b) => a - b)
    .flatMap((number) =>
      probes.flatMap((probe) => {
        const specs = probe.specs.filter(({ sequence = 0 }) => sequence === number);
        return specs.length === 0 ? [] : [{ ...probe, specs }];
      }),
    );
}

/** The process whose events the kernel may choose, with those of its children; undefined where others' are wanted, too. */
function followedOf({ probes }: Program, { follow, pid }: CompileOptions): bigint | "child" | undefined {
  if (follow !== true || probes.some(isOfAnyProcess)) return undefined;
  return pid === undefined ? "child" : BigInt(pid);
}

/** `own`: those that keep the set of followed processes. */
function resolveProbes(
  program: Program,
  system: System,
  options: CompileOptions,
  own: ReadonlySet<Probe>,
): { probes: ResolvedProbe[]; diagnostics: Diagnostic[]; open: OpenSpec[] } {
  const diagnostics: Diagnostic[] = [];
  const open: OpenSpec[] = [];
  let specs = 0;
  // The checker reports what is wrong with the settings; here only the one about missing probes counts.
  const missing = resolveConfig(program.config, options.env ?? {}, program.rules).config.missingProbes;
  // Clauses that become one handler have a context that all of them can use.
  const together =
    program.rules.variables.scope === "event"
      ? new Set(program.probes.flatMap((probe) => [...usedBuiltins(probe, program.functions)]))
      : undefined;
  const probes = program.probes.flatMap((probe): ResolvedProbe[] => {
    const used = together ?? usedBuiltins(probe, program.functions);
    const anyProcess = isOfAnyProcess(probe);
    const traced =
      own.has(probe) || anyProcess
        ? probe
        : amongProcesses(probe, [...(options.follow ? [isFollowed(currentPid)] : []), ...isOneOf(options.only)]);
    const resolveOptions: ResolveOptions = {
      missing,
      ...(options.unsafe === true ? { unsafe: true } : {}),
      ...(options.engine === "tracefs" ? { asEvents: true } : {}),
      ...(program.rules.spelling.sources === true ? { sources: true } : {}),
      uses: options.stamp?.includes("probe") ? new Set([...used, "probe"]) : used,
      ...(options.pid === undefined ? {} : { pid: options.pid }),
      ...(options.command === undefined ? {} : { command: options.command }),
      ...(options.suite === undefined ? {} : { suite: options.suite }),
    };
    const { pid } = options;
    // What BPF attaches to one process alone is an event of everyone's on tracefs.
    const asEvents = options.engine === "tracefs";
    const ofOneProcess = (from: Probe, variants: readonly Variant[]): ResolvedProbe[] => {
      if (options.follow) return [{ probe: from, variants }];
      const looks = ({ context, provider: name }: Variant): boolean => {
        const provider = findProvider(name);
        if (context === "host") return false;
        if (pid === undefined) return asEvents && options.command !== undefined && provider?.followsCommand === true;
        return asEvents || !provider?.followsProcess;
      };
      const looking = variants.filter(looks);
      if (looking.length === 0) return [{ probe: from, variants }];
      const own = pid === undefined ? [isCommand] : isOneOf({ pids: [pid] });
      return [
        { probe: from, variants: variants.filter((variant) => !looks(variant)) },
        { probe: amongProcesses(from, own), variants: looking },
      ];
    };
    const unmatched: Diagnostic[] = [];
    const resolves = (spec: ProbeSpec): ReturnType<typeof resolveSpec> =>
      (options.resolve ?? resolveSpec)(spec, system, resolveOptions);
    const variants = probe.specs.flatMap((spec) => {
      if (spec.unless?.some((other) => resolves(other).variants.length > 0) === true) return [];
      // No file comes later to what is recorded, nor to events that are defined once.
      const found =
        options.engine === "recording" || options.engine === "tracefs"
          ? undefined
          : openSpec(traced, spec, specs, resolveOptions);
      if (found !== undefined) open.push(found);
      const resolution = found === undefined ? resolves(spec) : resolveOpen(found, system);
      // A wildcard beside other places may match nothing: `kprobe:f, kprobe:f.constprop.*`.
      const optional = probe.specs.length > 1 && resolution.variants.length === 0 && spec.parts.some(hasWildcard);
      if (resolution.variants.length === 0 && spec.optional === true) return [];
      for (const diagnostic of resolution.diagnostics)
        (optional && diagnostic.code === "name" ? unmatched : diagnostics).push(diagnostic);
      return placesTogether(resolution.variants, specs++).map((variant) => spelled(variant, spec, program));
    });
    if (variants.length === 0) diagnostics.push(...unmatched);
    const shared = likeFunctions(
      shareContexts(
        variants
          .map((variant) => filtered(variant, options.probeFilter))
          .filter((variant) => variant.sites.length > 0 || isAwaiting(variant)),
        resolveOptions.uses,
      ),
      resolveOptions,
    );
    if (anyProcess) return [{ probe, variants: shared }];
    const filter = filterFlag(options);
    if (filter !== undefined) diagnostics.push(...leftOut(probe, shared, filter, system));
    if (traced !== probe) {
      const anywhere = (variant: Variant): boolean =>
        variant.context === "host" || findProvider(variant.provider)?.inNoProcess === true;
      return [
        { probe, variants: shared.filter(anywhere) },
        ...ofOneProcess(
          traced,
          shared.filter((variant) => !anywhere(variant)),
        ),
      ];
    }
    return ofOneProcess(probe, shared);
  });
  if (!hasError(diagnostics) && program.probes.length > 0 && probes.every((probe) => probe.variants.length === 0)) {
    diagnostics.push({ severity: "error", span: program.probes[0].span, ...compiler.nothingToAttach() });
  }
  return { probes, diagnostics, open };
}

/** What chooses among processes, as the command's option is called. */
function filterFlag({ follow, pid, only = {} }: CompileOptions): string | undefined {
  if (follow) return "--follow";
  if (pid !== undefined || only.pids !== undefined) return "-p";
  if (only.comms !== undefined) return "--comm";
  if (only.users !== undefined) return "--user";
  return only.cgroups === undefined ? undefined : "--cgroup";
}

/** Says what is not seen of one process: handlers run in the current one, which an event need not be about. */
function leftOut(probe: Probe, variants: readonly Variant[], filter: string, system: System): Diagnostic[] {
  const seen = new Map<string, string>();
  for (const { provider, sites } of variants) {
    const kind = findProvider(provider);
    for (const { name, found = name } of sites) {
      const how = kind?.seenOfOneProcess?.(found.split(":").slice(1), system);
      if (how !== undefined && !seen.has(how)) seen.set(how, name);
    }
  }
  return [...seen].map(([how, name]) => ({
    severity: "warning",
    span: probe.span,
    ...compiler.notOfProcess(name, how, filter),
  }));
}
