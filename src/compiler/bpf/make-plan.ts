// What eBPF is given of a plan: every handler that runs in the kernel as a program, and the maps that they share.
import { asInternal, InternalError, isUnexpected } from "../../base/internal-error.ts";
import type { CheckedHandler, CheckedProgram } from "../../language/checked-program.ts";
import { bindingOf, onceIn } from "../../language/context.ts";
import { ScriptError } from "../../language/diagnostic.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { System } from "../../machine/system.ts";
import { compiler } from "../../messages/compiler.ts";
import type { IrFunction, IrModule } from "../ir/ir.ts";
import { findsMappings, mappedFiles } from "../kernel-structures/mapped-files.ts";
import { returnInstances } from "../kernel-structures/return-instances.ts";
import {
  taskComm,
  taskCgroup,
  taskIds,
  taskUser,
  threadPointer,
  wayToTask,
  type WayToTask,
} from "../kernel-structures/task.ts";
import type { LoweredProgram } from "../lower/lower.ts";
import { pairReturns } from "../sites/return-pairs.ts";
import { mostScratchBytes, TooLarge, TooMuchMemory } from "./allocate.ts";
import type { BpfPlan, KernelMap, KernelProgram, ScratchEntry } from "./bpf-plan.ts";
import { generateProgram, scratchBytes } from "./generate.ts";
import { ownTables } from "./own-tables.ts";
import { scratchPool, sharesItsCpu } from "./scratch.ts";
import { gatesMap, grownPrograms, kernelMaps, layRegions, packetsMap, scratchMap } from "./maps.ts";

export interface BpfOptions {
  readonly directLoads: boolean;
  /** Gates before the handlers, with which a session bounds what they cost. */
  readonly governed: boolean;
  /** More handlers may come while it runs: room is left for them. */
  readonly growing: boolean;
  /** Handlers at both ends of the same functions may share a program. */
  readonly paired: boolean;
  /** Passes to leave out. */
  readonly without: readonly string[] | undefined;
  readonly easyToVerify: boolean;
  /** The program that traces may delete entries of maps. */
  readonly held: boolean;
  /** Rounds of loops are calls (bpf_loop), whether or not the kernel counts rounds itself (may_goto). */
  readonly calledRounds: boolean;
}

/** @throws ScriptError for what is too much for eBPF */
export function makeBpfPlan(
  checked: CheckedProgram,
  lowered: LoweredProgram,
  module: IrModule,
  system: System,
  options: BpfOptions,
): BpfPlan {
  const capabilities = options.calledRounds ? { ...system.capabilities, mayGoto: false } : system.capabilities;
  const { directLoads, governed, growing, paired, without, easyToVerify, held } = options;
  const { schemas, watches, loops, handlers } = lowered;
  const inKernel = handlers.filter(({ handler }) => handler.placement !== "host");
  const mayScratch = inKernel.map((h) =>
    scratchBytes(module.functions[h.function], module, { easyToVerify, capabilities }),
  );
  const pools = inKernel.map(
    ({ handler: { context } }, i) => mayScratch[i] > 0 && context !== "host" && sharesItsCpu(context),
  );
  const pooled = pools.filter(Boolean).length;
  // A plan that grows has probes that nobody knows of yet.
  const probes = !growing && schemas.some(({ header }) => header?.includes("probe")) ? module.probeNames.length : 0;
  const regions = layRegions(
    module.maps,
    capabilities.cpus,
    {
      schemas: schemas.length,
      probes,
      watches: watches.length,
      loops: loops.length,
      pooled,
      growing,
    },
    ownTables(module, { hashTables: checked.config.hashTables, schemas, growing, easyToVerify, held, capabilities }),
  );
  const { storage, counters } = regions;
  const maps = kernelMaps(module.maps, regions, checked.config, capabilities);
  const mostScratch = Math.max(0, ...mayScratch);
  const scratchUsers = mayScratch.filter((bytes, i) => bytes > 0 && !pools[i]).length;
  const hasPool = pooled > 0 || growing;
  const scratchOf = (bytes: number): KernelMap => scratchMap(bytes, scratchUsers, hasPool);
  // What comes to a plan that grows may need some where nothing did before.
  if (mostScratch > 0 || growing) maps.push(scratchOf(mostScratch));

  if (lowered.packetFiles.length > 0) maps.push(packetsMap(capabilities));
  if (governed && inKernel.length > 0)
    maps.push(gatesMap(growing ? Math.max(inKernel.length, grownPrograms) : inKernel.length, capabilities));

  const unwinds = maps.some(({ role }) => role.kind === "unwind-processes");
  const instances = unwinds ? returnInstances(system.types) : undefined;
  const files = unwinds && findsMappings(capabilities) ? mappedFiles(system.types) : undefined;
  const pointer = unwinds ? threadPointer(system.types) : undefined;
  let way: WayToTask | undefined;
  const numbers = new Map<string, number>();
  const cookieOf = ({ name }: SiteRef): number => {
    if (numbers.size === 0) for (const [i, one] of module.probeNames.entries()) numbers.set(one, i);
    return numbers.get(name) ?? 0;
  };
  let scratchIndex = hasPool ? scratchPool : 0;
  const missed = counters.missed.values();
  let scratchUsed = 8;
  const programs = inKernel.map((h, i): KernelProgram => {
    const { handler } = h;
    const { context } = handler;
    if (context === "host") throw new InternalError("a handler without a context cannot run in the kernel");
    const fn = module.functions[h.function];
    const entry: ScratchEntry | undefined =
      mayScratch[i] === 0 ? undefined : pools[i] ? { missed: missed.next().value! } : { index: scratchIndex++ };
    const { scratch, ...generated } = asDiagnostic(checked, handler, () =>
      generateProgram(fn, module, {
        schemas,
        kernelMaps: maps,
        capabilities,
        directLoads,
        storage,
        counters,
        countedProbes: probes,
        returnInstances: instances,
        mappedFiles: files,
        threadPointer: pointer,
        without,
        easyToVerify,
        ...(directLoads
          ? {
              taskComm: () => taskComm(capabilities, system.types),
              taskIds: () => taskIds(capabilities, system.types),
              taskUser: () => taskUser(capabilities, system.types),
              taskCgroup: () => taskCgroup(capabilities, system.types),
              wayToTask: () => (way ??= wayToTask(capabilities, system)),
              taskAt: regions.taskAt,
            }
          : {}),
        ...(entry === undefined ? {} : { scratch: entry }),
        ...(governed ? { gate: i } : {}),
      }),
    );
    scratchUsed = Math.max(scratchUsed, scratch);
    const asks = asksWhich(fn);
    return {
      name: fn.name,
      provider: handler.provider,
      ...onceIn(context),
      order: h.function,
      type: context.program.type,
      binding: bindingOf(context),
      sites: handler.sites,
      cookies: handler.sites.map((site) => (asks ? cookieOf(site) : 0)),
      ...(entry !== undefined && "missed" in entry ? { missed: entry.missed } : {}),
      ...generated,
    };
  });
  // The ring of events takes some milliseconds to make and to let go of, and megabytes.
  const asked = new Set(
    programs.flatMap(({ relocations }) => relocations.filter(({ kind }) => kind === "map").map(({ map }) => map)),
  );
  const created = growing
    ? maps
    : maps.map((map, i): KernelMap => {
        if (map.role.kind === "events" && !asked.has(i)) return { ...map, unused: true };
        return map.role.kind === "scratch" ? scratchOf(scratchUsed) : map;
      });
  return { storage, loops, counters, maps: created, programs: paired ? pairReturns(programs) : programs };
}

/** A cookie takes a link more where a site is a perf event, and kernels that know of them. */
function asksWhich({ blocks }: IrFunction): boolean {
  return blocks.some(({ instructions }) =>
    instructions.some((one) => one.op === "builtin" && one.name === "attach-cookie"),
  );
}

/** What is too much for eBPF is the script's to change. */
function asDiagnostic<T>(checked: CheckedProgram, handler: CheckedHandler, generateIt: () => T): T {
  try {
    return generateIt();
  } catch (error) {
    const { span, text } = handler.probe.specs[0];
    if (!(error instanceof TooLarge))
      throw isUnexpected(error) && !(error instanceof RangeError) ? asInternal(error, `compiling \`${text}\``) : error;
    throw new ScriptError(checked.program.source, [
      error instanceof TooMuchMemory
        ? { severity: "error", span, ...compiler.tooMuchMemory(error.bytes, mostScratchBytes) }
        : { severity: "error", span, ...compiler.tooMuchForKernel(error.message) },
    ]);
  }
}
