// What the tracefs engine is given of a script: which events, what is asked of each, and the handlers that run in
// strobe's process over their records.
import { Failure } from "../../base/failure.ts";
import { tracefs, tracefsReasons } from "../../messages/tracefs.ts";
import type { Context, RecordedRow } from "../../language/context.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { System } from "../../machine/system.ts";
import { hostMachine } from "../../machine/contexts/registers.ts";
import { generate } from "../javascript/generate.ts";
import { notInRows } from "../javascript/recorded.ts";
import type { IrFunction, IrModule } from "../ir/ir.ts";
import type { LoweredProgram } from "../lower/lower.ts";
import { either, processesIn, type EventFilter } from "./event-filter.ts";
import { handlerFilter } from "./handler-filter.ts";
import { handlerHistogram } from "./handler-histogram.ts";
import { argumentNames, fieldNames, isTracedFunction, tracepointOf } from "./event-lines.ts";
import type { EventPlace } from "./fetch-words.ts";
import { EventArguments, withArguments, type RecordShape } from "./event-arguments.ts";
import type {
  EventArgument,
  EventKind,
  HandlerHistogram,
  TracefsEvent,
  TracefsHandler,
  TracefsPlan,
  TracefsProgram,
} from "./tracefs-plan.ts";

/** kernel/trace/trace.h: struct kprobe_trace_entry_head, struct kretprobe_trace_entry_head; uprobes' are alike. */
const atEntry: RecordShape = { head: 16, address: 8 };
const atReturn: RecordShape = { head: 24, address: 8 };
/** struct eprobe_trace_entry_head has nothing of its own. */
const onEvent: RecordShape = { head: 8 };

/** What is known of any event: of its record and of who was running. */
const row: RecordedRow = {
  words: {
    time: { offset: 0, size: 8 },
    cpu: { offset: 0, size: 4 },
    pid: { offset: 0, size: 4 },
    tid: { offset: 0, size: 4 },
  },
  comm: 0,
  site: 0,
  kernelStack: 0,
  userStack: 0,
  texts: [],
  absent: [],
};

/** A handler on its way to the plan. */
interface Draft {
  readonly fn: IrFunction;
  event: EventKind;
  readonly sites: readonly SiteRef[];
  place: EventPlace;
  /** Keeps something for the others of its place. */
  readonly first: boolean;
  /** What is asked of its events, by it and by others that share some of them. */
  args: EventArguments;
  /** Events that it does something for. */
  filter: EventFilter;
}

/** What a plan asks of the machine. */
type EventsOf = Pick<System, "tracepoint" | "eventsOnEvents" | "capabilities">;

/** The programs, or what of the script no event of tracefs can tell. */
export function makeTracefsPlan(
  { handlers, schemas }: LoweredProgram,
  module: IrModule,
  machine: EventsOf,
): { readonly plan?: TracefsPlan; readonly diagnostics: readonly Diagnostic[] } {
  const { functions, maps } = module;
  const diagnostics: Diagnostic[] = [];
  const refuse = ({ span, text }: ProbeSpec, what: string): void =>
    void diagnostics.push({ severity: "error", span, ...tracefs.needsBpf(what, text) });
  const drafts: Draft[] = [];
  const programs: TracefsProgram[] = [];
  const stacks = new Set<"kernel" | "user">();
  const wanted = handlers.filter(({ handler }) => handler.placement !== "host");
  const known = wanted.flatMap(({ handler: { context, provider, sites, probe }, function: index }) => {
    const event = context === "host" ? undefined : eventOf(context, provider, sites);
    if (event === undefined || context === "host") {
      refuse(probe.specs[0], `${provider} probes`);
      return [];
    }
    const draft: Draft = {
      fn: functions[index],
      event,
      sites,
      place: {
        machine: hostMachine,
        inProgram: context.inProgram === true,
        ...(isTracedFunction(provider) ? { named: argumentNames(context) } : {}),
      },
      first: context.kept?.at === "entry",
      args: new EventArguments(event.endsWith("retprobe") ? atReturn : atEntry),
      filter: true,
    };
    if (event === "eprobe") putOnEvent(draft, machine);
    drafts.push(draft);
    return [{ draft, spec: probe.specs[0] }];
  });
  for (const draft of drafts) tryOnEvent(draft, drafts, functions, machine);
  shareArguments(drafts);
  const counted = new Map<IrFunction, HandlerHistogram>();
  const ready: { readonly fn: IrFunction; readonly filter: EventFilter }[] = [];
  for (const { draft, spec } of known) {
    const fn = ofEvent(draft, functions);
    if (typeof fn === "string") {
      refuse(spec, fn);
      continue;
    }
    draft.filter = handlerFilter(fn);
    ready.push({ fn, filter: draft.filter });
    const histogram = handlerHistogram(fn, module, schemas);
    if (histogram !== undefined) counted.set(fn, histogram);
    for (const space of ["kernel", "user"] as const) if (takesStack(fn, space)) stacks.add(space);
    if (takesStack(fn, "user")) diagnostics.push({ severity: "warning", span: spec.span, ...tracefs.userStacks() });
  }
  if (diagnostics.some(({ severity }) => severity === "error")) return { diagnostics };
  // What looks at a map while events come has to see what each of them adds.
  const looked = new Set(ready.flatMap(({ fn }) => (counted.has(fn) ? [] : [...mapsLookedAt(fn, functions)])));
  for (const { fn, filter } of ready) {
    const histogram = counted.get(fn);
    const apart = histogram !== undefined && !histogram.maps.some((map) => looked.has(map));
    programs.push({
      name: fn.name,
      source: generate(fn, { functions, maps, schemas, eachEvent: true }),
      ...(apart ? { histogram: { ...histogram, filter } } : {}),
    });
  }
  const processes = processesIn(drafts.map(({ filter }) => filter).reduce(either, false));
  const events = eventsOf(drafts);
  const plan = {
    events,
    programs: withinRoom(programs, events),
    ...(processes === undefined ? {} : { processes: [...processes] }),
    stacks: [...stacks],
  };
  return { plan, diagnostics };
}

/** Entries of all histograms together; the kernel makes all at once, of some 200 bytes each (tracing_map_alloc_elts). */
const mostOfAll = 1 << 18;
/** With fewer, what there is no room for is more than what is saved. */
const fewestOfOne = 512;

/** Programs whose histograms are no larger, all together, than a machine has room for: a program has one for each event. */
function withinRoom(programs: readonly TracefsProgram[], events: readonly TracefsEvent[]): readonly TracefsProgram[] {
  const sizes = events.flatMap(({ handlers }) =>
    handlers.flatMap(({ program }) => programs[program].histogram?.entries ?? []),
  );
  const fits = (limit: number): boolean => sizes.reduce((sum, size) => sum + Math.min(size, limit), 0) <= mostOfAll;
  let limit = mostOfAll;
  while (!fits(limit) && limit > fewestOfOne) limit /= 2;
  const some = fits(limit);
  return programs.map(({ histogram, ...program }) => {
    if (histogram === undefined || !some) return program;
    return { ...program, histogram: { ...histogram, entries: Math.min(histogram.entries, limit) } };
  });
}

/** Handlers of one place have one event, and so have all places of theirs the same arguments. */
function shareArguments(drafts: readonly Draft[]): void {
  const at = new Map<string, Draft>();
  for (const draft of drafts) {
    for (const site of draft.sites) {
      const other = at.get(placeKey(draft.event, site));
      if (other === undefined) {
        at.set(placeKey(draft.event, site), draft);
        continue;
      }
      const { args } = other;
      for (const one of drafts) if (one.args === args) one.args = draft.args;
    }
  }
}

function eventsOf(drafts: readonly Draft[]): TracefsEvent[] {
  const events = new Map<
    string,
    { event: EventKind; site: SiteRef; args: EventArgument[]; handlers: TracefsHandler[]; filter: EventFilter }
  >();
  drafts.forEach(({ event, sites, args, first, filter }, program) => {
    for (const site of sites) {
      const key = placeKey(event, site);
      let one = events.get(key);
      if (one === undefined) events.set(key, (one = { event, site, args: args.all, handlers: [], filter }));
      else one.filter = either(one.filter, filter);
      one.handlers[first ? "unshift" : "push"]({ program, site });
    }
  });
  return [...events.values()];
}

function placeKey(event: EventKind, { name, found = name, data }: SiteRef): string {
  // A traced function is its name.
  return data === null || event === "tracepoint"
    ? found
    : `${event} ${JSON.stringify(data, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value))}`;
}

function eventOf({ program, inProgram }: Context, provider: string, sites: readonly SiteRef[]): EventKind | undefined {
  if (program.type === "tracepoint") return provider === "eprobe" ? "eprobe" : "tracepoint";
  if (isTracedFunction(provider)) return provider === "fexit" ? "fretprobe" : "fprobe";
  if (program.type !== "kprobe") return undefined;
  // Instructions of their own serve some returns: those are places like others.
  const inPlace = sites.some(({ data }) => (data as { readonly inPlace?: boolean }).inPlace === true);
  const returns = provider.endsWith("retprobe") && !inPlace;
  if (inProgram) return returns ? "uretprobe" : "uprobe";
  return returns ? "kretprobe" : "kprobe";
}

/** From now on it is of an event that is defined on the sites' events: what it is asked for is read where those happen. */
function putOnEvent(draft: Draft, machine: EventsOf): void {
  const fields = machine.tracepoint(...tracepointOf(draft.sites[0]))?.fields ?? [];
  draft.event = "eprobe";
  draft.place = { ...draft.place, named: fieldNames(fields, machine.capabilities.kernel), comm: "$COMM" };
  draft.args = new EventArguments(onEvent);
}

/**
 * A handler of an event's record asks for more than that has: memory behind its fields. An event on the event can tell it;
 * then all handlers of the place have that one, so that they run in the script's order.
 */
function tryOnEvent(draft: Draft, drafts: readonly Draft[], functions: readonly IrFunction[], machine: EventsOf): void {
  if (draft.event !== "tracepoint" || typeof ofEvent(draft, functions) !== "string") return;
  if (machine.eventsOnEvents?.() !== true) return;
  const together = new Set([draft]);
  const places = new Set(draft.sites.map((site) => placeKey("tracepoint", site)));
  for (const one of together) {
    for (const site of one.sites) places.add(placeKey("tracepoint", site));
    for (const other of drafts)
      if (other.event === "tracepoint" && other.sites.some((site) => places.has(placeKey("tracepoint", site))))
        together.add(other);
  }
  const tried = [...together].map((one) => ({ ...one }));
  for (const one of tried) putOnEvent(one, machine);
  if (tried.some((one) => typeof ofEvent(one, functions) === "string")) return;
  for (const one of together) putOnEvent(one, machine);
}

/** The handler as it runs over the event's records; what these cannot tell, in words. */
function ofEvent(draft: Draft, functions: readonly IrFunction[]): IrFunction | string {
  const fn = overRecords(draft, functions);
  if (fn instanceof Failure) return fn.reason;
  if (draft.event === "eprobe" && takesStack(fn, "kernel")) return tracefsReasons.stackOfOwnEvent();
  return notInRows(fn, functions, row) ?? fn;
}

function overRecords({ fn, event, place, args }: Draft, functions: readonly IrFunction[]): IrFunction | Failure {
  if (event === "tracepoint") return fn;
  for (const body of loopBodies(fn, functions)) {
    if (body.blocks.some(({ instructions }) => instructions.some(({ op }) => op === "load-context")))
      return new Failure(tracefsReasons.readInMapLoop());
  }
  return withArguments(fn, place, args);
}

/** Maps that a handler or a loop in it does more with than to add to aggregations. */
function* mapsLookedAt(fn: IrFunction, functions: readonly IrFunction[]): Iterable<number> {
  for (const one of [fn, ...loopBodies(fn, functions)])
    for (const { instructions } of one.blocks)
      for (const i of instructions) if ("map" in i && i.op !== "aggregate") yield i.map;
}

function* loopBodies(fn: IrFunction, functions: readonly IrFunction[]): Iterable<IrFunction> {
  for (const { instructions } of fn.blocks) {
    for (const i of instructions) {
      if ((i.op !== "for-each" && i.op !== "call") || functions[i.callback] === fn) continue;
      yield functions[i.callback];
      yield* loopBodies(functions[i.callback], functions);
    }
  }
}

function takesStack(fn: IrFunction, space: "kernel" | "user"): boolean {
  const isOne = (source: { readonly kind: string }): boolean =>
    source.kind === "stack" && "space" in source && source.space === space;
  return fn.blocks.some(({ instructions }) =>
    instructions.some((i) => ("source" in i && isOne(i.source)) || (i.op === "emit" && i.fields.some(isOne))),
  );
}
