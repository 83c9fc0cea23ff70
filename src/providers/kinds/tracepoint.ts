// tracepoint: the kernel's static events, by category and name. Four mechanisms serve them, the cheapest that will do:
// - system calls: one BTF-typed program on the raw sys_enter or sys_exit, which looks for the calls' numbers;
// - events whose record nobody reads (of raw_syscalls', little): the raw tracepoint of that name, cheap to fire and to leave;
// - events of programs: by a function of the kernel (user-events.ts);
// - all others: a perf event, whose program is given the event's record (the format file describes it).
import { probes } from "../../messages/probes.ts";
import { BPF_TRACE_FENTRY, rawTracepointOpen } from "../../linux/bpf/bpf.ts";
import { closeFd } from "../../linux/ffi.ts";
import { releasedLater } from "../../linux/perf/late-release.ts";
import { onlineCpus, openPerfEvent, PERF_TYPE_TRACEPOINT } from "../../linux/perf/perf.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Context } from "../../language/context.ts";
import type { Type } from "../../language/types.ts";
import { Attaching, attachToPerfEvent, closedAtOnce } from "../attaching/attachment.ts";
import type { Declares, Provider, Resolution, ResolveOptions } from "../provider.ts";
import { didYouMean, groupBy, missing, refused, variantsOf, wrongParts, type Variant } from "../resolution.ts";
import { describeField, recordArgument } from "./event-record.ts";
import { rawContext } from "./rawtracepoint.ts";
import type { System, TracepointField, TracepointFormat } from "../../machine/system.ts";
import {
  recordedArguments,
  isSystemCall,
  rawCallContext,
  systemCallVariants,
  type Event,
  type TracepointSite,
} from "./system-calls.ts";
import { seenOfOneProcess } from "../places/other-processes.ts";
import { hasWildcard, matcher, matches } from "../../machine/wildcard.ts";
import { kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import { lazy } from "../../base/lazy.ts";

const userEvents = lazy<typeof import("./user-events.ts")>(() => require("./user-events.ts"));

/**
 * What a program at an event's record returns: anything but 0, at which the kernel keeps the event from perf and whoever
 * else listens to it (perf_trace_run_bpf_submit, perf_syscall_enter, kprobe_perf_func).
 */
const PASSED_ON = 1;

/** Categories of events that are no tracepoints of the kernel's, whatever their names. */
const dynamicCategories = new Set(["ftrace", "kprobes", "uprobes", "synthetic", "eprobes", "fprobes"]);

/** Of programs; no program runs at these (user-events.ts). */
const userCategories = new Set(["user_events", "user_events_multi"]);

export const tracepoint: Provider = {
  name: "tracepoint",
  aliases: ["t"],
  usage: "tracepoint:CATEGORY:EVENT",
  doc: "Static events of the kernel.",
  declares: { what: "tracepoints", fills: "Tracepoints", all: declared },
  hasExactly: ([category, name, ...more], system) =>
    more.length === 0 && system.tracepoints().some((event) => event.category === category && event.name === name),
  seenOfOneProcess: ([category = "", name = category]) => seenOfOneProcess(name, category),

  *list(parts, system, options) {
    const events = system
      .tracepoints()
      .map((event) => ({ ...event, probe: `tracepoint:${event.category}:${event.name}` }));
    for (const { probe, ...event } of events.sort((a, b) => (a.probe < b.probe ? -1 : 1))) {
      // `tracepoint:*exec*` looks at categories and names alike.
      const [category = "*", name] = parts;
      const listed =
        name === undefined
          ? [event.name, event.category, `${event.category}:${event.name}`].some((text) => matches(category, text))
          : matches(category, event.category) && matches(name, event.name);
      if (!listed) continue;
      if (!options.verbose) yield { probe };
      else yield { probe, details: (system.tracepoint(event.category, event.name)?.fields ?? []).map(describeField) };
    }
  },

  resolve(spec, system, options) {
    const [category, name] = spec.parts;
    if (category === undefined || name === undefined || name === "" || spec.parts.length > 2) {
      const alone = system.tracepoints().find((event) => event.name === category);
      if (alone) return refused(spec, probes.tracepointCategoryName(alone.category, alone.name));
      return wrongParts(spec, tracepoint.usage);
    }
    const events = find(category, name, system);
    if (events.length === 0) return notFound(spec, category, name, system, options);
    if (options.asEvents !== true && category === "ftrace") return refused(spec, probes.writtenByTracers(spec.text));
    const elsewhere = events.find(({ category, name }) => category === "ftrace" && !comesToInstances(name, system));
    if (elsewhere !== undefined) return refused(spec, probes.notInInstances(nameOf(elsewhere), insteadOf(elsewhere)));
    const ofPrograms = events.filter(({ category }) => userCategories.has(category));
    const ofKernel = events.filter(({ category }) => !userCategories.has(category));
    const userVariants =
      ofPrograms.length === 0 ? [] : userEvents().userEventVariants(ofPrograms, "tracepoint", system, options);
    if (userVariants === undefined && ofKernel.length === 0) return refused(spec, probes.userEventsNeedTrampolines());
    const kernelVariants = variants(ofKernel, system, options);
    const [stackless] = withoutStacks(kernelVariants, system, options);
    const warnings = [
      ...(stackless === undefined ? [] : [probes.kernelStacksEmpty(stackless.name)]),
      ...(options.asEvents !== true && category === "osnoise" ? [probes.osnoiseNeedsTracer(spec.text)] : []),
    ];
    return {
      variants: [...(userVariants ?? []), ...kernelVariants],
      diagnostics: warnings.map((warning) => ({ severity: "warning", span: spec.span, ...warning })),
    };
  },

  // Events that programs emit are handed to programs at a kernel function.
  lastRunsFirst: ({ load }) => load?.attachType === BPF_TRACE_FENTRY,
  attach(request) {
    if ((request.sites[0].data as TracepointSite).kind === "user") return userEvents().attachUserEvents(request);
    const attaching = new Attaching(request);
    const events: number[] = [];
    /** Closing a link to a perf event waits, that of a raw tracepoint does not. */
    let waits = false;
    // A bound program serves all its sites at once.
    const bound = request.sites.flatMap((site, i) => ((site.data as TracepointSite).kind === "bound" ? [i] : []));
    if (bound.length > 0) attaching.together(bound, () => rawTracepointOpen(null, request.program));
    else
      attaching.each((site, cookie) => {
        const data = site.data as TracepointSite;
        switch (data.kind) {
          case "bound":
          case "user":
            return [];
          case "raw":
            return [rawTracepointOpen(data.event, request.program, request.binding.cookie ? cookie : 0n)];
          case "perf": {
            const [event, ...link] = attachPerf(request.program, data.id, cookie);
            if (link.length === 0) events.push(event);
            else waits = true;
            return [event, ...link];
          }
        }
      });
    const keeper = releasedLater(events);
    waits ||= events.length > 0 && keeper === undefined;
    const attachment = attaching.done(keeper === undefined ? {} : { closed: () => closeFd(keeper) });
    return waits ? attachment : closedAtOnce(attachment);
  },
};

/** Of what ftrace itself writes: whether an instance of strobe's own can have it. */
function comesToInstances(name: string, { capabilities }: System): boolean {
  if (name === "print") return kernelHas(capabilities.kernel, kernelFeatures.markerCopies);
  return name === "osnoise" || name === "timerlat" || name === "hwlat";
}

function insteadOf({ name }: Event): string | undefined {
  if (name === "print")
    return "Linux 6.16 copies what is written to trace_marker; user events and USDT probes are seen by any";
  if (name.startsWith("funcgraph_")) return "strobe graph draws calls";
  if (name === "function") return "fentry:FUNCTION and kprobe:FUNCTION are there for calls";
  return name.endsWith("_stack") ? "kstack and ustack are the stacks of an event" : undefined;
}

function find(category: string, name: string, system: System): Event[] {
  if (hasWildcard(category) || hasWildcard(name)) {
    const ofCategory = matcher(category);
    const ofName = matcher(name);
    return system.tracepoints().filter((event) => ofCategory(event.category) && ofName(event.name));
  }
  return system.tracepoint(category, name) ? [{ category, name }] : [];
}

function notFound(
  spec: Parameters<Provider["resolve"]>[0],
  category: string,
  name: string,
  system: System,
  options: ResolveOptions,
): Resolution {
  const all = system.tracepoints();
  if (all.length === 0) {
    return missing(spec, options, probes.noTracepointsCanSeenMachine());
  }
  if (hasWildcard(category) || hasWildcard(name)) {
    const names = category === "*" && !hasWildcard(name) ? new Set(all.map((event) => event.name)) : [];
    return missing(spec, options, probes.noTracepointMatches(spec.text, didYouMean(name, names)));
  }
  const inCategory = all.filter((event) => event.category === category);
  if (inCategory.length === 0) {
    const elsewhere = all.find((event) => event.name === name);
    const help = elsewhere
      ? `did you mean \`tracepoint:${elsewhere.category}:${name}\`?`
      : didYouMean(
          category,
          all.map((event) => event.category),
        );
    return missing(spec, options, probes.thereNoTracepointsCategory(category, help));
  }
  const help =
    didYouMean(
      name,
      inCategory.map((event) => event.name),
    ) ??
    all
      .filter((event) => event.name === name)
      .map((event) => `did you mean \`tracepoint:${event.category}:${name}\`?`)[0];
  return missing(spec, options, probes.noMatchesTracepoint(category, name, help));
}

function variants(events: readonly Event[], system: System, options: ResolveOptions): Variant[] {
  const { uses } = options;
  const found: Variant[] = [];
  // A stack taken on a raw tracepoint begins with the kernel's own tracing functions.
  const record = uses.has("ctx") || uses.has("kstack") || options.asEvents === true;
  let rest = events;
  // System calls take no stack by perf on older kernels.
  const stacked = !uses.has("ctx") && options.asEvents !== true && !hasSystemCallStacks(system);
  if (!record || stacked) {
    const calls = systemCallVariants(events.filter(isSystemCall), system, uses.has("args"));
    found.push(...calls.variants);
    const served = new Set(calls.served);
    rest = events.filter((event) => !served.has(event));
  }
  const rawSite = (event: Event): SiteRef => ({
    name: nameOf(event),
    data: { kind: "raw", event: event.name } satisfies TracepointSite,
  });
  if (!record && uses.has("args")) {
    rest = rest.filter((event) => {
      const raw = rawCallContext(event, system, uses);
      if (raw?.bound === true) {
        const site = { name: nameOf(event), data: { kind: "bound" } satisfies TracepointSite };
        found.push({ context: raw.context, provider: "tracepoint", sites: [site] });
      } else if (raw) found.push(...variantsOf(raw.context, [rawSite(event)], options));
      return raw === undefined;
    });
  }
  if (!record && !uses.has("args")) {
    const raw = rest.filter(
      (event) => !dynamicCategories.has(event.category) && !isSystemCall(event) && system.hasRawTracepoint(event.name),
    );
    if (raw.length > 0) found.push(...variantsOf(rawContext("tracepoint", system), raw.map(rawSite), options));
    const served = new Set(raw);
    rest = rest.filter((event) => !served.has(event));
  }
  found.push(...perfVariants(rest, system, options));
  return found;
}

function hasSystemCallStacks({ capabilities }: System): boolean {
  return kernelHas(capabilities.kernel, kernelFeatures.systemCallStacks);
}

/** Where a script asks for kernel stacks, and this kernel has none for BPF. */
function withoutStacks(found: readonly Variant[], system: System, { uses, asEvents }: ResolveOptions): SiteRef[] {
  if (!uses.has("kstack") || asEvents === true || hasSystemCallStacks(system)) return [];
  return found.flatMap(({ sites }) =>
    sites.filter(
      ({ name, data }) => (data as TracepointSite).kind === "perf" && name.startsWith("tracepoint:syscalls:"),
    ),
  );
}

function nameOf(event: Event): string {
  return `tracepoint:${event.category}:${event.name}`;
}

/** Events on perf; those whose records look alike share a program. */
function perfVariants(events: readonly Event[], system: System, options: ResolveOptions): Variant[] {
  const withFormat = events.flatMap((event) => {
    const format = system.tracepoint(event.category, event.name);
    return format ? [{ event, format }] : [];
  });
  const reads = options.uses.has("args") || options.uses.has("ctx");
  const groups = groupBy(withFormat, ({ event, format }) =>
    reads ? `${isSystemCall(event)} ${JSON.stringify(format.fields)}` : "",
  );
  return [...groups.values()].flatMap((group) => {
    const { event, format } = group[0];
    const context = perfContext(event, format, system);
    return variantsOf(
      context,
      group.map((one): SiteRef => ({
        name: nameOf(one.event),
        data: { kind: "perf", id: one.format.id } satisfies TracepointSite,
      })),
      options,
    );
  });
}

function perfContext(event: Event, format: TracepointFormat, system: System): Context {
  const record = system.types.find(`trace_event_raw_${event.name}`, "struct");
  const space = isSystemCall(event) ? "user" : "kernel";
  return {
    provider: "tracepoint",
    program: { type: "tracepoint", cookie: true, leavesLate: true, result: PASSED_ON },
    args: format.fields.map((field) => recordArgument(field, space, system)),
    ...(isSystemCall(event) ? { numbered: recordedArguments(event).slice(0, format.fields.length - 1) } : {}),
    ...(record ? { contextType: { kind: "pointer", target: record, space: "kernel" } } : {}),
    defaultSpace: space,
    stacks: true,
  };
}

/**
 * One descriptor on any CPU is enough: the program is called wherever the event happens. It takes no events itself, and
 * stays disabled.
 */
function attachPerf(program: number, id: number, cookie: bigint): number[] {
  const event = openPerfEvent({
    type: PERF_TYPE_TRACEPOINT,
    config: id,
    samplePeriod: 1,
    pid: -1,
    cpu: onlineCpus()[0] ?? 0,
    disabled: true,
  });
  return attachToPerfEvent(program, event, cookie);
}

function* declared(system: System): ReturnType<Declares["all"]> {
  // Thousands of events have fields that are declared alike.
  const known = new Map<string, Type>();
  const typeOf = (field: TracepointField, space: "kernel" | "user"): Type => {
    const key = `${field.declaration};${field.size};${field.signed};${space}`;
    let type = known.get(key);
    if (type === undefined) known.set(key, (type = recordArgument(field, space, system).type));
    return type;
  };
  for (const { category, name } of system.tracepoints()) {
    const fields = system.tracepoint(category, name)?.fields;
    if (fields === undefined) continue;
    const space = category === "syscalls" ? "user" : "kernel";
    yield {
      name: `${category}:${name}`,
      args: fields.map((field) => ({ name: field.name, type: typeOf(field, space) })),
    };
  }
}
