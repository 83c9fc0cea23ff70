// The kernel's tracers that measure by threads of their own: osnoise, timerlat and hwlat (Documentation/trace/
// osnoise-tracer.rst, timerlat-tracer.rst, hwlat_detector.rst). They write into instances as ftrace's events of these names.
// What they are told is one for all instances: it is written down in an instance of strobe's own before it is changed, so
// that it is given back even where strobe is killed.
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { LinuxError } from "../error.ts";
import { TraceInstance } from "./trace-instance.ts";
import { tracefsRoot } from "./tracefs.ts";
import { attempts } from "../../messages/on-demand.ts";

export const latencyTracers = ["osnoise", "timerlat", "hwlat"] as const;
export type LatencyTracer = (typeof latencyTracers)[number];

export function isLatencyTracer(name: string): name is LatencyTracer {
  return (latencyTracers as readonly string[]).includes(name);
}

/** Files and what they are given, in this order: `osnoise/period_us`. */
export type TracerSettings = readonly (readonly [file: string, text: string])[];

/** Files that are one for all, and strobe sets. */
const settable = /^(?:osnoise\/[a-z_]+|hwlat_detector\/[a-z]+|tracing_thresh)$/;
const kept = "strobe keeps";
const ownSettings = /^strobe-\d+-settings$/;

/** Whether the kernel has it. @throws LinuxError without tracefs */
export function hasLatencyTracer(name: LatencyTracer): boolean {
  try {
    return readFileSync(`${tracefsRoot()}/available_tracers`, "latin1").split(/\s+/).includes(name);
  } catch (error) {
    if (error instanceof LinuxError) throw error;
    return false;
  }
}

/** Settings that are given back when it is disposed of. */
export class SharedSettings implements Disposable {
  readonly #before: (readonly [file: string, text: string])[] = [];
  readonly #notes: TraceInstance;

  /** @throws LinuxError with nothing changed */
  constructor(settings: TracerSettings) {
    this.#notes = new TraceInstance(`strobe-${process.pid}-settings`, { bytes: 0, options: {} });
    try {
      this.#notes.tracing(true);
      for (const [file, text] of settings) {
        const before = readSetting(file);
        this.#notes.write("trace_marker", `${kept} ${file} ${before}`);
        this.#before.unshift([file, before]);
        writeSetting(file, text);
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** @throws LinuxError */
  [Symbol.dispose](): void {
    for (const [file, text] of this.#before.splice(0)) writeSetting(file, text);
    this.#notes[Symbol.dispose]();
  }
}

/** Of an instance that a strobe left. @throws LinuxError */
export function giveBackSettings(instance: string): void {
  if (!ownSettings.test(instance)) return;
  const text = readFileSync(`${tracefsRoot()}/instances/${instance}/trace`, "latin1");
  const all = [...text.matchAll(new RegExp(`: ${kept} (\\S+) ?(.*)$`, "gm"))].reverse();
  for (const [, file, before] of all) if (settable.test(file)) writeSetting(file, before);
}

function readSetting(file: string): string {
  return attempt("read", file, () => readFileSync(`${tracefsRoot()}/${file}`, "latin1").trim());
}

function writeSetting(file: string, text: string): void {
  attempt("write", file, () => {
    const descriptor = openSync(`${tracefsRoot()}/${file}`, constants.O_WRONLY | constants.O_TRUNC);
    try {
      writeSync(descriptor, `${text}\n`);
    } finally {
      closeSync(descriptor);
    }
  });
}

function attempt<T>(call: "read" | "write", file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { errno = 0 } = error as NodeJS.ErrnoException;
    const doing = call === "read" ? attempts().readTracefsFile(file) : attempts().writeTracefsFile(file);
    throw new LinuxError({ call, code: -errno, doing });
  }
}
