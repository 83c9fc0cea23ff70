// One of ftrace's tracers (osnoise, timerlat, hwlat) that runs while its events are wanted: what it is told, and what else
// happened last.
import type { TracefsEvent } from "../../compiler/tracefs/tracefs-plan.ts";
import { tracepointOf } from "../../compiler/tracefs/event-lines.ts";
import {
  hasLatencyTracer,
  isLatencyTracer,
  SharedSettings,
  type LatencyTracer,
  type TracerSettings,
} from "../../linux/kernel/latency-tracers.ts";
import { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import { namingEvents, takeEvents, type KeptEvents } from "./kept-events.ts";
import { RunError } from "../../base/run-error.ts";
import { runReasons } from "../../messages/on-demand.ts";

/** Events beside the plan's, the last of which are held in memory. */
export interface KeptWish {
  /** `CATEGORY:EVENT`, with wildcards. */
  readonly events: readonly string[];
  /** Called once, at the end. */
  readonly take: (events: KeptEvents) => void;
}

export interface TracerOptions {
  /** What the tracer is told whose events the plan has. */
  readonly tracerSettings?: TracerSettings | undefined;
  /** What else happened last, for whoever looks into it when the session has ended. */
  readonly kept?: KeptWish | undefined;
}

export interface RunningTracer {
  readonly name: LatencyTracer;
  /** Hands over what happened last. */
  end(): void;
  /** What is to be disposed of when the instance is gone that the tracer runs in, in this order. */
  parts(): readonly Disposable[];
}

/** Of the events that are held until the end. */
const keptBytes = 16 << 20;

/**
 * Starts the tracer that writes some of the events, into their instance; undefined where none is wanted. osnoise's own
 * events belong to timerlat's as well. @throws Error where the kernel lacks it, or two are wanted
 */
export function startTracer(
  events: readonly TracefsEvent[],
  instance: TraceInstance,
  { tracerSettings = [], kept }: TracerOptions,
): RunningTracer | undefined {
  const names = events.flatMap(({ event, site }): LatencyTracer[] => {
    if (event !== "tracepoint") return [];
    const [category, name] = tracepointOf(site);
    if (category === "osnoise") return ["osnoise"];
    return category === "ftrace" && isLatencyTracer(name) ? [name] : [];
  });
  const wanted = new Set(names.includes("timerlat") ? names.filter((name) => name !== "osnoise") : names);
  const [tracer, other] = wanted;
  if (tracer === undefined) return undefined;
  if (other !== undefined) throw new RunError(runReasons().oneTracer(tracer, other));
  if (!hasLatencyTracer(tracer)) throw new RunError(runReasons().noTracer(tracer));
  const parts: (TraceInstance | SharedSettings)[] = [];
  try {
    let last: TraceInstance | undefined;
    if (kept !== undefined) {
      last = new TraceInstance(`strobe-${process.pid}-last`, { bytes: keptBytes, options: { overwrite: true } });
      parts.push(last);
      for (const event of [...namingEvents, ...kept.events]) last.write("set_event", event);
      last.tracing(true);
    }
    if (tracerSettings.length > 0) parts.push(new SharedSettings(tracerSettings));
    instance.tracer(tracer);
    return {
      name: tracer,
      end() {
        if (last === undefined) return;
        last.tracing(false);
        kept?.take(takeEvents(last));
      },
      parts: () => parts.splice(0),
    };
  } catch (error) {
    for (const part of parts) part[Symbol.dispose]();
    throw error;
  }
}
