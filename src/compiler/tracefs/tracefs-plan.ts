// What the tracefs engine is given of a plan: plain data.
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { EventFilter, RecordedNumber } from "./event-filter.ts";
import type { FetchWords } from "./fetch-words.ts";

/** A field that is asked of an event, and where its record has it. */
export interface EventArgument extends FetchWords {
  readonly offset: number;
}

/** `tracepoint`: an event that the kernel has; others are defined, `eprobe` on such a one, `pair` of two. */
export type EventKind =
  | "tracepoint"
  | "eprobe"
  | "pair"
  | "kprobe"
  | "kretprobe"
  | "uprobe"
  | "uretprobe"
  | "fprobe"
  | "fretprobe";

/** An event, and the handlers that run for it, in the script's order. */
export interface TracefsEvent {
  readonly event: EventKind;
  readonly site: SiteRef;
  /** What a defined event is asked for. */
  readonly args: readonly EventArgument[];
  readonly handlers: readonly TracefsHandler[];
  /** The kernel need not write others. */
  readonly filter: EventFilter;
  /** Of a pair: its events, `site` is that of the second. */
  readonly pair?: readonly [PairedEvent, PairedEvent];
}

/** Events of a site that fulfil the filter, and by what of them they find the other. */
export interface PairedEvent {
  readonly site: SiteRef;
  readonly keys: readonly HistogramKey[];
  readonly filter: EventFilter;
  /** Both events are of one thread, and of processes that the handler decides on. */
  readonly threads: boolean;
}

export interface TracefsHandler {
  /** Index in the plan's programs. */
  readonly program: number;
  /** The probe, as this handler's site names it. */
  readonly site: SiteRef;
}

/** A handler: source of `(runtime) => void`, as an event program's; the context is the event's record. */
export interface TracefsProgram {
  readonly name: string;
  readonly source: string;
  /** The kernel can count for it: of the events that pass the filter. */
  readonly histogram?: HandlerHistogram & { readonly filter: EventFilter };
}

export interface TracefsPlan {
  readonly events: readonly TracefsEvent[];
  readonly programs: readonly TracefsProgram[];
  /** Handlers do something for events of these alone; absent: of any. */
  readonly processes?: readonly (bigint | "child")[];
  /** And of the children that they have already. */
  readonly follows?: true;
  /** Stacks that the kernel is to write behind each record. */
  readonly stacks: readonly ("kernel" | "user")[];
}

/** What the kernel counts by, and the handler as it runs for a combination of that. */
export interface HandlerHistogram {
  /** One to three. */
  readonly keys: readonly HistogramKey[];
  /** Of these only the sum is asked; they are found behind the record, as 8 bytes from `sumsAt` on. */
  readonly sums: readonly RecordedNumber[];
  /** Combinations that there is room for. */
  readonly entries: number;
  /** As TracefsProgram.source; a weight of 0 says that the value is a sum. */
  readonly source: string;
  /** That it adds to, by their numbers. */
  readonly maps: readonly number[];
}

/** `powers`: by the power of two that the number does not exceed. */
export type HistogramKey = (RecordedNumber & { readonly powers?: true }) | "thread" | "cpu";

/** Behind the longest record. */
export const sumsAt = 4096;

/** The kernel forgets no key of a pair: a thread of each has one. Others it drops, and counts. */
export const keysOfPairs = 65_536;

/** Events that tell whose a thread is and what it is called; all are in every kernel with CONFIG_EVENT_TRACING. */
export const lifeEvents = [
  ["task", "task_newtask"],
  ["task", "task_rename"],
  ["sched", "sched_process_exit"],
  ["sched", "sched_process_free"],
] as const;

export type LifeEvent = (typeof lifeEvents)[number][1];
