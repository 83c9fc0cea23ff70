// What the tracefs engine is given of a plan: plain data.
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { EventFilter } from "./event-filter.ts";
import type { FetchWords } from "./fetch-words.ts";

/** A field that is asked of an event, and where its record has it. */
export interface EventArgument extends FetchWords {
  readonly offset: number;
}

/** `tracepoint`: an event that the kernel has; others are defined. */
export type EventKind = "tracepoint" | "kprobe" | "kretprobe" | "uprobe" | "uretprobe" | "fprobe" | "fretprobe";

/** An event, and the handlers that run for it, in the script's order. */
export interface TracefsEvent {
  readonly event: EventKind;
  readonly site: SiteRef;
  /** What a defined event is asked for. */
  readonly args: readonly EventArgument[];
  readonly handlers: readonly TracefsHandler[];
  /** The kernel need not write others. */
  readonly filter: EventFilter;
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
}

export interface TracefsPlan {
  readonly events: readonly TracefsEvent[];
  readonly programs: readonly TracefsProgram[];
  /** Handlers do something for events of these alone; absent: of any. */
  readonly processes?: readonly (bigint | "child")[];
  /** Stacks that the kernel is to write behind each record. */
  readonly stacks: readonly ("kernel" | "user")[];
}
