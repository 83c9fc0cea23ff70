// user_events: events that programs define and write themselves (strobe emit, userEvent() of the library, and others).
// The kernel runs no BPF programs at them; it does hand each to perf, by one function. So the program is bound to that
// function and looks for the events' numbers, and a perf event on each CPU, which counts and no more, is what makes the
// kernel hand them over and tells the programs that somebody listens (kernel/trace/trace_events_user.c, user_event_perf).
import { kernelFeatures, needsOf } from "../../base/kernel-features.ts";
import type { Argument, Context, Fetch } from "../../language/context.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import { BPF_TRACE_FENTRY, rawTracepointOpen } from "../../linux/bpf/bpf.ts";
import { closeFd } from "../../linux/ffi.ts";
import { releasedLater } from "../../linux/perf/late-release.ts";
import { onlineCpus, openPerfEvent, PERF_TYPE_TRACEPOINT } from "../../linux/perf/perf.ts";
import type { System, TracepointField } from "../../machine/system.ts";
import { hasWildcard, matcher } from "../../machine/wildcard.ts";
import { probes } from "../../messages/probes.ts";
import { Attaching, closedAtOnce } from "../attaching/attachment.ts";
import type { AttachRequest, Attachment, Provider, ResolveOptions } from "../provider.ts";
import {
  didYouMean,
  groupBy,
  missing,
  refused,
  resolved,
  variantsOf,
  wrongParts,
  type Variant,
} from "../resolution.ts";
import type { Event, TracepointSite } from "./system-calls.ts";
import { describeField, recordArgument } from "./event-record.ts";

/** Those that stand beside others of their name: `NAME.1f`. */
const multiple = "user_events_multi";
const categories: ReadonlySet<string> = new Set(["user_events", multiple]);

/** void perf_tp_event(u16 event_type, u64 count, void *record, …) */
const HANDED_OVER = "perf_tp_event";
const NUMBER: Fetch = { kind: "context", offset: 0, size: 2, signed: false };
const RECORD: Fetch = { kind: "context", offset: 16, size: 8, signed: false };

type UserEventSite = Extract<TracepointSite, { kind: "user" }>;

export const userEvents: Provider = {
  name: "user_events",
  aliases: [],
  usage: "user_events:NAME",
  doc: "Events that programs emit themselves.",
  hasExactly: (parts, system) => find(parts, system).length > 0,

  *list(parts, system, { verbose }) {
    for (const event of find(parts.length === 0 ? ["*"] : parts, system)) {
      const probe = `user_events:${event.name}`;
      if (!verbose) yield { probe };
      else yield { probe, details: (system.tracepoint(event.category, event.name)?.fields ?? []).map(describeField) };
    }
  },

  resolve(spec, system, options) {
    if (spec.parts.length === 0 || spec.parts.includes("")) return wrongParts(spec, userEvents.usage);
    const events = find(spec.parts, system);
    if (events.length > 0) {
      const variants = userEventVariants(events, "user_events", system, options);
      return variants === undefined ? refused(spec, probes.userEventsNeedTrampolines()) : resolved(variants);
    }
    if (!hasUserEvents(system))
      return missing(spec, options, probes.kernelHasNoUserEvents(needsOf(kernelFeatures.userEvents)));
    const name = nameOf(spec.parts);
    const help = didYouMean(
      name,
      allEvents(system).map((event) => event.name),
    );
    return missing(spec, options, probes.noUserEvent(name, help));
  },

  // As other programs at a kernel function.
  lastRunsFirst: () => true,
  attach: attachUserEvents,
};

/** A program that registered an event has made the list of those of its kind; without any the kernel tells by its file. */
function hasUserEvents(system: System): boolean {
  return system.userEvents?.() ?? allEvents(system).length > 0;
}

function allEvents(system: System): Event[] {
  return system.tracepoints().filter(({ category }) => categories.has(category));
}

/** As the library has it: `app:request` is `app_request` in the kernel. */
function nameOf(parts: readonly string[]): string {
  return parts.join("_");
}

/** Events of the name, and those of several formats of it. */
function find(parts: readonly string[], system: System): Event[] {
  const name = nameOf(parts);
  const named = hasWildcard(name) ? matcher(name) : (one: string) => one === name;
  return allEvents(system).filter(
    (event) => named(event.name) || (event.category === multiple && named(event.name.replace(/\.[0-9a-f]+$/, ""))),
  );
}

/** Undefined where the kernel cannot bind a program to its functions. */
export function userEventVariants(
  events: readonly Event[],
  provider: string,
  system: System,
  options: ResolveOptions,
): Variant[] | undefined {
  if (options.asEvents === true) return recordVariants(events, provider, system);
  const handedOver = system.capabilities.btf ? system.kernelFunction(HANDED_OVER) : undefined;
  if (handedOver === undefined || system.capabilities.trampolines === false) return undefined;
  const withFormat = events.flatMap((event) => {
    const format = system.tracepoint(event.category, event.name);
    return format === undefined ? [] : [{ event, format }];
  });
  const reads = options.uses.has("args");
  const groups = groupBy(withFormat, ({ format }) => (reads ? JSON.stringify(format.fields) : ""));
  return [...groups.values()].flatMap((group) => {
    const context: Context = {
      provider,
      program: {
        type: "tracing",
        load: { attachType: BPF_TRACE_FENTRY, btfId: handedOver.btfId },
        dispatch: NUMBER,
        cookie: false,
      },
      args: group[0].format.fields.map((field) => inRecord(field, system)),
      defaultSpace: "kernel",
      stacks: true,
    };
    return variantsOf(
      context,
      group.map(({ event, format }): SiteRef => ({
        name: provider === "tracepoint" ? `tracepoint:${event.category}:${event.name}` : `${provider}:${event.name}`,
        match: BigInt(format.id),
        data: { kind: "user", id: format.id } satisfies UserEventSite,
      })),
      options,
    );
  });
}

/** Handlers run over the kernel's own records. */
function recordVariants(events: readonly Event[], provider: string, system: System): Variant[] {
  return events.flatMap(({ category, name }) => {
    const format = system.tracepoint(category, name);
    if (format === undefined) return [];
    const found = `tracepoint:${category}:${name}`;
    const context: Context = {
      provider,
      program: { type: "tracepoint", cookie: true },
      args: format.fields.map((field) => recordArgument(field, "kernel", system)),
      defaultSpace: "kernel",
      stacks: true,
    };
    const data = { kind: "perf", id: format.id } satisfies TracepointSite;
    const site = provider === "tracepoint" ? { name: found, data } : { name: `${provider}:${name}`, found, data };
    return { context, provider, sites: [site] };
  });
}

/** A field of the record that the function is given the address of. */
function inRecord(field: TracepointField, system: System): Argument {
  const argument = recordArgument(field, "kernel", system);
  const { fetch } = argument;
  switch (fetch.kind) {
    case "context":
      return { ...argument, fetch: { ...fetch, kind: "pointed", base: RECORD, space: "kernel" } };
    case "address":
      return { ...argument, fetch: { ...fetch, base: RECORD }, place: "kernel" };
    case "data-location": {
      const word: Fetch = {
        kind: "pointed",
        base: RECORD,
        offset: fetch.offset,
        size: 4,
        signed: false,
        space: "kernel",
      };
      const distance: Fetch = {
        kind: "binary",
        operator: "&",
        left: word,
        right: { kind: "constant", value: 0xffffn },
      };
      const from: Fetch = { kind: "address", base: RECORD, offset: fetch.relative ? fetch.offset + 4 : 0 };
      return { ...argument, fetch: { kind: "binary", operator: "+", left: from, right: distance } };
    }
    default:
      return argument;
  }
}

export function attachUserEvents(request: AttachRequest): Attachment {
  const events: number[] = [];
  let bound = false;
  const attaching = new Attaching(request).each((site) => {
    // Before anybody is told that somebody listens.
    const link = bound ? [] : [rawTracepointOpen(null, request.program)];
    try {
      const opened = counting((site.data as UserEventSite).id);
      bound = true;
      events.push(...opened);
      return [...opened, ...link];
    } catch (error) {
      for (const fd of link) closeFd(fd);
      throw error;
    }
  });
  const keeper = releasedLater(events);
  const attachment = attaching.done(keeper === undefined ? {} : { closed: () => closeFd(keeper) });
  return keeper === undefined ? attachment : closedAtOnce(attachment);
}

/** A perf event on each CPU: the kernel hands over what is written on those that have one. */
function counting(id: number): number[] {
  const opened: number[] = [];
  try {
    for (const cpu of onlineCpus())
      opened.push(openPerfEvent({ type: PERF_TYPE_TRACEPOINT, config: id, pid: -1, cpu }));
    return opened;
  } catch (error) {
    for (const fd of opened) closeFd(fd);
    throw error;
  }
}
