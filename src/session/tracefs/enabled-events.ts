// The events of a plan as they are enabled in an instance: by filters, by histograms of the kernel's, or each record for the
// handlers that run here.
import { InternalError } from "../../base/internal-error.ts";
import { evaluate } from "../../compiler/javascript/evaluate.ts";
import type { Plan } from "../../compiler/plan.ts";
import type { HostFunction } from "../../compiler/runtime.ts";
import { filterWords } from "../../compiler/tracefs/event-filter.ts";
import { pairWords, tracepointOf } from "../../compiler/tracefs/event-lines.ts";
import type { EventKind, TracefsPlan } from "../../compiler/tracefs/tracefs-plan.ts";
import { ENOENT, LinuxError } from "../../linux/error.ts";
import { defineSynthetic, nextOwnName, type DynamicEvent } from "../../linux/kernel/dynamic-events.ts";
import { isLatencyTracer } from "../../linux/kernel/latency-tracers.ts";
import type { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import { parseTracepointFormat } from "../../machine/kernel/tracepoint-format.ts";
import type { HostServices } from "../host-runtime.ts";
import { AttachError } from "../live/attachments.ts";
import type { LiveMap } from "../maps.ts";
import { bootEventAt, bootFormat, type BootPlace } from "./boot-events.ts";
import { eventAt, type NamedEvent } from "./event-places.ts";
import { KernelHistograms } from "./kernel-histograms.ts";
import type { Lives } from "./lives.ts";
import type { TracefsEvent } from "./tracefs-event.ts";
import { attempts } from "../../messages/on-demand.ts";

/** A handler, and the probe's number among the plan's names. */
export interface Handler {
  readonly run: HostFunction;
  readonly cookie: bigint;
}

/** An event whose records are handled here. */
export interface Wanted {
  readonly kind: EventKind;
  readonly handlers: readonly Handler[];
}

export interface Enabling {
  readonly plan: Plan;
  readonly events: TracefsPlan;
  readonly instance: TraceInstance;
  readonly maps: ReadonlyMap<number, LiveMap>;
  readonly childPid: bigint;
  /** They were made and enabled at boot. */
  readonly boot: BootPlace | undefined;
  readonly log: ((line: string) => void) | undefined;
  readonly lives: Lives;
  readonly event: TracefsEvent;
  readonly services: HostServices;
  /** What is defined is put here as soon as it is there. */
  readonly defined: DynamicEvent[];
}

export interface Enabled {
  /** By the event's number in the kernel. */
  readonly wanted: ReadonlyMap<number, Wanted>;
  readonly histograms: KernelHistograms | undefined;
  /** Maps as they are read with what the kernel has counted. */
  readonly counted: ReadonlyMap<number, LiveMap>;
  /** Probes; several places of one are one. */
  readonly attached: number;
  /** Kprobes, by their events' names. */
  readonly kprobes: ReadonlyMap<string, { readonly probe: string; readonly returns: boolean }>;
  /** Events whose histograms find pairs: these may have no room for more. */
  readonly pairs: readonly (EventName & { readonly probe: string })[];
  /** Where the script goes on without them. */
  readonly failed: readonly { readonly probe: string; readonly reason: string }[];
}

/** @throws AttachError where some could not be enabled, and the script wants all */
export function enableEvents(asked: Enabling): Enabled {
  const { plan, events, instance, boot, log, childPid } = asked;
  // At boot it was said what waits for user space.
  const missingProbes = boot === undefined ? plan.config.missingProbes : "warn";
  const functions = events.programs.map(({ source }) => evaluate(source));
  const { histograms, counted } = kernelHistograms(asked);
  const wanted = new Map<number, Wanted>();
  const failed: { probe: string; reason: string }[] = [];
  const several = new Set<string>();
  const kprobes = new Map<string, { readonly probe: string; readonly returns: boolean }>();
  const pairs: Enabled["pairs"][number][] = [];
  let attached = 0;
  for (const [number, event] of events.events.entries()) {
    const { site, args } = event;
    try {
      const named: PairedEvent = boot === undefined ? ownEvent(asked, event) : bootEventAt(boot, event, number);
      if (named.defined !== undefined) asked.defined.push(named.defined);
      if (named.triggers !== undefined) {
        pairs.push(...named.triggers.map(({ category, name }) => ({ probe: site.name, category, name })));
        for (const one of named.triggers) instance.link(one.category, one.name, one.trigger);
        log?.(
          `the kernel pairs events for ${site.name}: ${named.triggers.map(({ trigger }) => trigger).join(" and ")}`,
        );
        attached++;
      }
      if (event.event === "kprobe" || event.event === "kretprobe")
        kprobes.set(named.name, { probe: site.name, returns: event.event === "kretprobe" });
      const { id, fields } = formatOf(named);
      args.forEach(({ offset }, i) => {
        const there = fields.find(({ name }) => name === `a${i}`)?.offset;
        if (there !== offset) throw new InternalError(`argument ${i} of ${site.name} is at ${there}, not ${offset}`);
      });
      const handlers = event.handlers.flatMap(({ program, site: { name } }): Handler[] => {
        const cookie = BigInt(Math.max(0, plan.probeNames.indexOf(name)));
        const { histogram } = events.programs[program];
        if (histogram !== undefined && histograms !== undefined) {
          const one = { probe: name, event: named, histogram, cookie };
          if (countByKernel(asked, histograms, one, fields)) return [];
        }
        return [{ run: functions[program], cookie }];
      });
      if (handlers.length > 0 && boot !== undefined) wanted.set(id, { kind: event.event, handlers });
      else if (handlers.length > 0) {
        const filter = filterWords(event.filter, fields, childPid);
        const filtered = !isWrittenUnasked(named) && filter !== undefined && filterEvent(instance, named, filter, log);
        if (isOfMarkers(named)) instance.write("options/copy_trace_marker", "1");
        else if (!isWrittenUnasked(named)) instance.enable(named.category, named.name);
        log?.(
          `enabled ${named.category}:${named.name} for ${site.name}${args.map(({ words, type }) => ` ${words}:${type}`).join("")}${filtered ? ` if ${filter}` : ""}`,
        );
        wanted.set(id, { kind: event.event, handlers });
      }
      for (const {
        site: { among, name },
      } of event.handlers) {
        const probe = among === undefined ? undefined : `${among} ${name}`;
        if (probe !== undefined && several.has(probe)) continue;
        if (probe !== undefined) several.add(probe);
        attached++;
      }
    } catch (error) {
      if (!(error instanceof LinuxError)) throw error;
      failed.push({ probe: site.name, reason: error.message });
    }
  }
  if (failed.length > 0 && missingProbes === "error") throw new AttachError(failed);
  return { wanted, histograms, counted, attached, kprobes, pairs, failed: missingProbes === "ignore" ? [] : failed };
}

/** Maps that the kernel counts for are read with what it has counted. */
function kernelHistograms({
  events,
  instance,
  lives,
  event,
  services,
  maps,
}: Enabling): Pick<Enabled, "histograms" | "counted"> {
  const asked = events.programs.flatMap(({ histogram }) => histogram ?? []);
  const counted = new Map<number, LiveMap>();
  if (asked.length === 0) return { histograms: undefined, counted };
  const histograms = new KernelHistograms(instance, lives, event, services);
  lives.remember = asked.some(({ keys }) => keys.includes("thread"));
  for (const index of new Set(asked.flatMap((one) => one.maps))) counted.set(index, histograms.over(maps.get(index)!));
  return { histograms, counted };
}

/** @returns whether the kernel counts for a handler */
function countByKernel(
  { boot, childPid, log }: Enabling,
  histograms: KernelHistograms,
  asked: Parameters<KernelHistograms["add"]>[0],
  fields: Parameters<KernelHistograms["add"]>[1],
): boolean {
  if (boot === "top-level" || isWrittenUnasked(asked.event)) return false;
  const added = histograms.add(asked, fields, childPid, boot !== undefined);
  const { category, name } = asked.event;
  if ("refused" in added) log?.(`${category}:${name} is not counted by the kernel: ${added.refused}`);
  else log?.(`the kernel counts ${category}:${name} for ${asked.probe} ${added.trigger}`);
  return "trigger" in added;
}

/** The handlers decide over each event, so it may come without its filter. @returns whether it has it */
function filterEvent(
  instance: TraceInstance,
  { category, name }: NamedEvent,
  filter: string,
  log: Enabling["log"],
): boolean {
  try {
    instance.filter(category, name, filter);
    return true;
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    log?.(`${category}:${name} has no filter, the kernel does not take "${filter}": ${error.message}`);
    return false;
  }
}

/** An event of a plan as it is enabled, defined where the kernel has none. @throws LinuxError */
function ownEvent({ childPid }: Enabling, event: TracefsPlan["events"][number]): PairedEvent {
  const { pair, site } = event;
  if (pair === undefined) return eventAt(event);
  const bases = pair.map((one) => {
    const [category, name] = tracepointOf(one.site);
    return { category, name };
  });
  const name = nextOwnName();
  const { definition, triggers } = pairWords(
    event,
    name,
    bases.map((base) => formatOf(base).fields),
    childPid,
  );
  const defined = defineSynthetic(name, definition, () => attempts().defineEvent(site.name));
  return {
    category: "synthetic",
    name,
    defined,
    triggers: bases.map((base, i) => ({ ...base, trigger: triggers[i] })),
  };
}

/** With what makes the kernel write it. */
interface PairedEvent extends NamedEvent {
  readonly triggers?: readonly (EventName & { readonly trigger: string })[];
}

type EventName = Pick<NamedEvent, "category" | "name">;

/** What is written to `trace_marker`: an instance has it where it is told to take a copy (Linux 6.16). */
function isOfMarkers({ category, name }: EventName): boolean {
  return category === "ftrace" && name === "print";
}

/** Without being enabled: by a tracer while it runs, or by whoever writes markers. */
function isWrittenUnasked(event: EventName): boolean {
  return isOfMarkers(event) || (event.category === "ftrace" && isLatencyTracer(event.name));
}

/** @throws LinuxError */
export function formatOf({ category, name }: EventName): NonNullable<ReturnType<typeof parseTracepointFormat>> {
  const text = bootFormat(category, name);
  if (text === undefined)
    throw new LinuxError({ call: "open", code: ENOENT, doing: attempts().readFormat(`${category}:${name}`) });
  const format = parseTracepointFormat(text);
  if (format === undefined) throw new InternalError(`the format of ${category}:${name} is none`);
  return format;
}
