// From lowered handlers to the plan: what every engine needs, and the parts of the kernel's and of a recording's.
import { recordings } from "../messages/recordings.ts";
import type { CheckedProgram } from "../language/checked-program.ts";
import { onceIn } from "../language/context.ts";
import type { Diagnostic } from "../language/diagnostic.ts";
import type { Type } from "../language/types.ts";
import type { System } from "../machine/system.ts";
import type { IrModule } from "./ir/ir.ts";
import { generate } from "./javascript/generate.ts";
import { withWordsOfRows } from "./javascript/words-of-rows.ts";
import { cutText, notInRows, readsOfRow } from "./javascript/recorded.ts";
import type { LoweredProgram } from "./lower/lower.ts";
import { placementLines } from "./placements.ts";
import { makeBpfPlan, type BpfOptions } from "./bpf/make-plan.ts";
import type { EventSchema, HostProgram, Plan } from "./plan.ts";

export function makePlan(
  checked: CheckedProgram,
  lowered: LoweredProgram,
  module: IrModule,
  system: System,
  options: BpfOptions,
): Plan {
  return { ...planOfEngines(checked, lowered, module), bpf: makeBpfPlan(checked, lowered, module, system, options) };
}

/** What a plan has whatever runs the handlers of events. */
export function planOfEngines(checked: CheckedProgram, lowered: LoweredProgram, module: IrModule): Omit<Plan, "bpf"> {
  const { timeFormats, packetFiles, watches, handlers } = lowered;
  const schemas = withSources(lowered, module);
  const hosts = handlers
    .filter(({ handler }) => handler.placement === "host")
    .map((h): HostProgram => ({
      name: module.functions[h.function].name,
      provider: h.handler.provider,
      ...onceIn(h.handler.context),
      order: h.function,
      sites: h.handler.sites,
      source: generate(module.functions[h.function], { functions: module.functions, maps: module.maps, schemas }),
    }));
  return {
    config: checked.config,
    maps: module.maps,
    hosts,
    schemas,
    probeNames: module.probeNames,
    shown: shownTypes(module),
    timeFormats,
    packetFiles,
    watches,
    placements: placementLines(checked, lowered.captured),
  };
}

function shownTypes({ functions }: IrModule): readonly Type[] {
  return functions.flatMap(({ blocks }) =>
    blocks.flatMap(({ instructions }) =>
      instructions.flatMap((i) => (i.op === "host-text" && i.shown !== undefined ? [i.shown] : [])),
    ),
  );
}

/** The kinds of records, with what the host runs of those that handlers are captured in. */
function withSources({ schemas, captured }: LoweredProgram, { functions, maps }: IrModule): readonly EventSchema[] {
  const hosts = new Map(captured.handlers.map(({ schema, host }) => [schema, functions[host]]));
  if (hosts.size === 0) return schemas;
  return schemas.map((schema, i) => {
    const host = hosts.get(i);
    if (host === undefined) return schema;
    return {
      ...schema,
      action: { kind: "captured", source: generate(host, { functions, maps, schemas, eachEvent: true }) },
    };
  });
}

// ── over a recording ──

/** What handlers ask of the moment that the recording does not have, and texts that it has a part of. */
export function notRecorded({ handlers }: LoweredProgram, { functions }: IrModule): Diagnostic[] {
  return handlers.flatMap(({ handler, function: index }): Diagnostic[] => {
    const { context, placement, probe } = handler;
    if (placement === "host") return [];
    const row = context === "host" ? undefined : context.recorded;
    const [{ span, text }] = probe.specs;
    const asked = row === undefined ? `what ${handler.provider} asks` : notInRows(functions[index], functions, row);
    if (asked !== undefined) return [{ severity: "error", span, ...recordings.onlyAtTheMoment(asked) }];
    const cut = row === undefined ? undefined : cutText(functions[index], functions, row);
    if (cut === undefined) return [];
    const how = `STROBE_MAX_STRLEN=${cut.wanted} strobe record '${text}'`;
    return [{ severity: "warning", span, ...recordings.textsCut(cut.kept, how) }];
  });
}

export const noPrograms: Plan["bpf"] = {
  storage: [],
  loops: [],
  counters: { lost: [], watches: [], loops: [], missed: [] },
  maps: [],
  programs: [],
};

export function recordedPlan(checked: CheckedProgram, lowered: LoweredProgram, module: IrModule): Plan {
  const { functions, maps } = module;
  const { schemas } = lowered;
  const events = lowered.handlers.flatMap(({ handler: { context, placement, sites }, function: index }) => {
    const row = context === "host" || placement === "host" ? undefined : context.recorded;
    if (row === undefined) return [];
    const fn = withWordsOfRows(functions[index], row);
    const reads = readsOfRow(fn, functions, row);
    const source = generate(fn, { functions, maps, schemas, eachEvent: true });
    return [{ name: fn.name, sites, row, source, ...(reads === undefined ? {} : { reads }) }];
  });
  return { ...planOfEngines(checked, lowered, module), events, bpf: noPrograms };
}
