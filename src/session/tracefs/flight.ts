// A ring of events in memory that the kernel keeps over a reboot (reserve_mem, Linux 6.12; Documentation/trace/
// debugging.rst): what the machine did last before it went down, read by the next kernel as the events of a trace.dat.
import { existsSync } from "node:fs";
import { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import { tracefsRoot } from "../../linux/kernel/tracefs.ts";
import { namingEvents, takeEvents, type KeptEvents } from "./kept-events.ts";
import { RunError } from "../../base/run-error.ts";
import { runReasons } from "../../messages/on-demand.ts";

/** The instance that the command line makes. */
export const flightInstance = "strobe-flight";
const memory = "strobe";
/** The command line takes no other. */
const alignment = 4096;

/** Parameters of the kernel's command line. */
export function flightParameters(bytes: number): readonly string[] {
  return [
    `reserve_mem=${Math.ceil(bytes / alignment) * alignment}:${alignment}:${memory}`,
    `trace_instance=${flightInstance}@${memory}`,
  ];
}

/** What the ring has. */
export interface Flight extends KeptEvents {
  /** It was written since this kernel began: it had been started anew. */
  readonly ofThisBoot: boolean;
}

/** @throws RunError where the kernel was started without it */
function open(): TraceInstance {
  if (!existsSync(`${tracefsRoot()}/instances/${flightInstance}`))
    throw new RunError(runReasons().noFlight(flightInstance));
  return new TraceInstance(flightInstance, "made");
}

/** From now on these are written (`CATEGORY:EVENT`, with wildcards), over what was there. @throws LinuxError, RunError */
export function startFlight(wanted: readonly string[]): void {
  const instance = open();
  try {
    instance.clear();
    instance.write("options/overwrite", "1");
    for (const event of [...namingEvents, ...wanted]) instance.write("set_event", event);
    instance.tracing(true);
  } finally {
    instance.close();
  }
}

/** Takes what is there; the ring is empty then, and no more is written. @throws LinuxError, RunError */
export function takeFlight(): Flight {
  const instance = open();
  try {
    const ofThisBoot = instance.readFile("set_event").trim() !== "";
    return { ...takeEvents(instance), ofThisBoot };
  } finally {
    instance.close();
  }
}
