// Perf events that run a program on every CPU, or on every thread of one process.
import { readdirSync } from "node:fs";
import type { PerfEventOptions } from "../../linux/perf/perf.ts";
import { onlineCpus, openPerfEvent } from "../../linux/perf/perf.ts";
import { attachToPerfEvent, openAll } from "./attachment.ts";

type Event = Omit<PerfEventOptions, "pid" | "cpu" | "inherit">;

/** Descriptors of the events, program attached. What a process begins, in the way of `inherit`, is watched as well. */
export function attachEverywhere(
  program: number,
  event: Event,
  cookie: bigint,
  pid: number | undefined,
  inherit: true | "threads" = "threads",
): number[] {
  return openAll(
    targets(pid, inherit).map(
      (target) => () => attachToPerfEvent(program, openPerfEvent({ ...event, ...target }), cookie),
    ),
  );
}

/** A perf event belongs to a CPU or to a thread; threads to come inherit it. */
function targets(
  pid: number | undefined,
  inherit: true | "threads",
): { pid: number; cpu: number; inherit?: true | "threads" }[] {
  if (pid === undefined) return onlineCpus().map((cpu) => ({ pid: -1, cpu }));
  return threads(pid).map((thread) => ({ pid: thread, cpu: -1, inherit }));
}

function threads(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    // Gone already: perf_event_open says so.
    return [pid];
  }
}
