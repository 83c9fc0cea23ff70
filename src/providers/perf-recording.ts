// perf.data as a recording: its tracepoints with their fields, and its sampling of the CPU's clock.
import type { PerfData } from "../recordings/perf-data.ts";
import { foreignRow, foreignTracepoint, type ForeignTrace } from "./foreign-recording.ts";

const typeSoftware = 1;
const typeTracepoint = 2;
const cpuClock = 0n;
const callChain = 1 << 5;
const kept = ["time", "cpu", "pid", "tid"] as const;

export function perfTrace(perf: PerfData): ForeignTrace {
  const formats = new Map(perf.formats.map((format) => [/^ID:\s*(\d+)/m.exec(format.text)?.[1], format]));
  const { hostname, release, machine, cpus, commandLine } = perf;
  return {
    by: "perf",
    hostname,
    release,
    machine,
    cpus,
    commandLine,
    samples: () => perf.samples(),
    kindOf(event, raw, system) {
      const { type, config, frequency, period, sampleType } = perf.events[event];
      const row = foreignRow(raw, kept, (sampleType & callChain) !== 0);
      if (type === typeSoftware && config === cpuClock && frequency)
        return {
          name: `profile:hz:${period}`,
          context: {
            provider: "profile",
            program: { type: "perf_event", cookie: true },
            defaultSpace: "kernel",
            stacks: row.kernelStack !== undefined,
            recorded: row,
          },
        };
      const format = type === typeTracepoint ? formats.get(String(config)) : undefined;
      return format && foreignTracepoint(format, raw, row, system);
    },
    symbols: () => [],
  };
}
