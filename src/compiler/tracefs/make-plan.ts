// What the tracefs engine is given of a script: which events, what is asked of each, and the handlers that run in
// strobe's process over their records.
import { Failure } from "../../base/failure.ts";
import { kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import { tracefs, tracefsReasons } from "../../messages/tracefs.ts";
import type { Context, RecordedRow } from "../../language/context.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { System, TracepointField } from "../../machine/system.ts";
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
import { isHandedOver, pairOf, storedAndTaken } from "./event-pairs.ts";
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
/** struct synth_trace_event: a u64 each, texts by their place (kernel/trace/trace_events_synth.c). */
const ofPair: RecordShape = { head: 8, slot: 8 };
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
  fn: IrFunction;
  event: EventKind;
  readonly sites: readonly SiteRef[];
  place: EventPlace;
  /** Keeps something for the others of its place. */
  readonly first: boolean;
  /** What is asked of its events, by it and by others that share some of them. */
  args: EventArguments;
  /** Events that it does something for. */
  filter: EventFilter;
  pair?: TracefsEvent["pair"];
  /** What an event on the event would not tell either. */
  refused?: string;
}

/** What a plan asks of the machine. */
type EventsOf = Pick<System, "tracepoint" | "eventsOnEvents" | "pairsOfEvents" | "capabilities">;

interface PlanOptions {
  /** Whether the kernel may find pairs of events. */
  readonly pairs: boolean;
  /** What maps have in the end is shown. */
  readonly mapsAtEnd: boolean;
  /** `--follow`: handlers do something for this process and its children. */
  readonly follows: bigint | "child" | undefined;
}

/** The programs, or what of the script no event of tracefs can tell. */
export function makeTracefsPlan(
  lowered: LoweredProgram,
  module: IrModule,
  machine: EventsOf,
  options: PlanOptions,
): { readonly plan?: TracefsPlan; readonly diagnostics: readonly Diagnostic[] } {
  const { handlers, schemas } = lowered;
  const { functions, maps } = module;
  const diagnostics: Diagnostic[] = [];
  const refuse = ({ span, text }: ProbeSpec, what: string): void =>
    void diagnostics.push({ severity: "error", span, ...tracefs.needsBpf(what, text) });
  const drafts: Draft[] = [];
  const programs: TracefsProgram[] = [];
  const stacks = new Set<"kernel" | "user">();
  const wanted = handlers.filter(({ handler }) => handler.placement !== "host");
  const asked = wanted.flatMap(({ handler: { context, provider, sites, probe }, function: index }) => {
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
  const pairedBy = options.pairs ? takePairs(drafts, lowered, module, machine, options.mapsAtEnd) : new Set<Draft>();
  for (const one of pairedBy) drafts.splice(drafts.indexOf(one), 1);
  const known = asked.filter(({ draft }) => !pairedBy.has(draft));
  for (const draft of drafts) tryOnEvent(draft, drafts, functions, machine);
  shareArguments(drafts);
  const counted = new Map<IrFunction, HandlerHistogram>();
  const ready: { readonly fn: IrFunction; readonly filter: EventFilter }[] = [];
  for (const { draft, spec } of known) {
    const fn = ofEvent(draft, functions);
    if (typeof fn === "string") {
      refuse(spec, draft.refused ?? fn);
      continue;
    }
    draft.filter = handlerFilter(fn);
    ready.push({ fn, filter: draft.filter });
    const passed = draft.pair === undefined ? [] : draft.args.all.filter(({ words }) => words.startsWith("$"));
    const histogram = handlerHistogram(fn, module, schemas, passed);
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
  // The first event of a pair may be of another process.
  const chosen = processesIn(
    drafts.map(({ filter, pair }) => (pair !== undefined && !pair[0].threads) || filter).reduce(either, false),
  );
  const processes = options.follows === undefined ? chosen : [options.follows];
  const events = eventsOf(drafts);
  const plan = {
    events,
    programs: withinRoom(programs, events),
    ...(processes === undefined ? {} : { processes: [...processes] }),
    ...(options.follows === undefined ? {} : { follows: true as const }),
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
    {
      event: EventKind;
      site: SiteRef;
      args: EventArgument[];
      handlers: TracefsHandler[];
      filter: EventFilter;
      pair?: NonNullable<TracefsEvent["pair"]>;
    }
  >();
  drafts.forEach(({ event, sites, args, first, filter, pair }, program) => {
    for (const site of sites) {
      const key = placeKey(event, site);
      let one = events.get(key);
      if (one === undefined)
        events.set(key, (one = { event, site, args: args.all, handlers: [], filter, ...(pair && { pair }) }));
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
  const [refused, ...others] = tried.map((one) => ofEvent(one, functions));
  // It has no stacks in any case: that would hide what the event itself lacks.
  if (typeof refused === "string" && !takesStack(draft.fn, "kernel")) draft.refused = refused;
  if ([refused, ...others].some((fn) => typeof fn === "string")) return;
  for (const one of together) putOnEvent(one, machine);
}

/**
 * Two handlers of one tracepoint each, which nobody else has, may be one of a pair that the kernel finds. @returns the first
 * of each, which the kernel is instead
 */
function takePairs(
  drafts: readonly Draft[],
  lowered: LoweredProgram,
  module: IrModule,
  machine: EventsOf,
  mapsAtEnd: boolean,
): ReadonlySet<Draft> {
  const taken = new Set<Draft>();
  if (machine.pairsOfEvents?.() !== true || !kernelHas(machine.capabilities.kernel, kernelFeatures.pairsOfEvents))
    return taken;
  const alone = (fn: IrFunction): Draft | undefined => {
    const draft = drafts.find((one) => one.fn === fn);
    if (draft?.event !== "tracepoint" || draft.sites.length !== 1) return undefined;
    const key = placeKey("tracepoint", draft.sites[0]);
    const others = drafts.filter((one) => one.sites.some((site) => placeKey("tracepoint", site) === key));
    return others.length === 1 ? draft : undefined;
  };
  for (const both of storedAndTaken(module, lowered, mapsAtEnd)) {
    const [start, end] = [alone(both.start), alone(both.end)];
    if (start === undefined || end === undefined || start === end) continue;
    const sites = [start.sites[0], end.sites[0]] as const;
    const fields = (site: SiteRef): readonly TracepointField[] =>
      machine.tracepoint(...tracepointOf(site))?.fields ?? [];
    const ofSites = [fields(sites[0]), fields(sites[1])] as const;
    const found = pairOf(both, module.maps, ofSites);
    if (found === undefined) continue;
    const named = (offset: number): string | undefined =>
      found.own.get(offset) ?? ofSites[1].find((field) => field.offset === offset)?.name;
    const draft: Draft = {
      ...end,
      fn: found.fn,
      event: "pair",
      place: { ...end.place, named },
      args: new EventArguments(ofPair),
      pair: [
        { site: sites[0], ...found.sides[0] },
        { site: sites[1], ...found.sides[1] },
      ],
    };
    const tried = { ...draft, args: new EventArguments(ofPair) };
    if (typeof ofEvent(tried, module.functions) === "string") continue;
    const { all } = tried.args;
    if (all.length === 0) draft.args.offset(onlyPassed);
    if (all.length > mostHandedOver || !all.every((one) => isHandedOver(one, ofSites[1]))) continue;
    Object.assign(end, draft);
    taken.add(start);
  }
  return taken;
}

/** A synthetic event has a field. */
const onlyPassed = { words: "$passed", type: "u64" };

/** TRACING_MAP_VARS_MAX of kernel/trace/tracing_map.h, some of which are the pair's own. */
const mostHandedOver = 12;

/** The handler as it runs over the event's records; what these cannot tell, in words. */
function ofEvent(draft: Draft, functions: readonly IrFunction[]): IrFunction | string {
  const fn = overRecords(draft, functions);
  if (fn instanceof Failure) return fn.reason;
  if ((draft.event === "eprobe" || draft.event === "pair") && takesStack(fn, "kernel"))
    return tracefsReasons.stackOfOwnEvent();
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
