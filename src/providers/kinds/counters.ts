// software and hardware: the kernel's and the processor's event counters, firing every so many events.
import { userProbes } from "../../messages/user-probes.ts";
import { PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE } from "../../linux/perf/perf.ts";
import { Attaching } from "../attaching/attachment.ts";
import { attachEverywhere } from "../attaching/perf-sampling.ts";
import { perfEventContext } from "../../machine/contexts/perf-context.ts";
import type { Provider } from "../provider.ts";
import { parseCount } from "../quantity.ts";
import { didYouMean, missing, refused, resolved, wrongParts } from "../resolution.ts";
import { matches } from "../../machine/wildcard.ts";

interface Counter {
  readonly name: string;
  readonly alias?: string;
  /** perf_sw_ids or perf_hw_id (include/uapi/linux/perf_event.h). */
  readonly config: number;
  /** Events between two firings unless told. */
  readonly count: bigint;
}

const softwareCounters: readonly Counter[] = [
  { name: "cpu-clock", alias: "cpu", config: 0, count: 1_000_000n },
  { name: "task-clock", config: 1, count: 1n },
  { name: "page-faults", alias: "faults", config: 2, count: 100n },
  { name: "context-switches", alias: "cs", config: 3, count: 1_000n },
  { name: "cpu-migrations", config: 4, count: 1n },
  { name: "minor-faults", config: 5, count: 100n },
  { name: "major-faults", config: 6, count: 1n },
  { name: "alignment-faults", config: 7, count: 1n },
  { name: "emulation-faults", config: 8, count: 1n },
  { name: "dummy", config: 9, count: 1n },
  { name: "bpf-output", config: 10, count: 1n },
];

const hardwareCounters: readonly Counter[] = [
  { name: "cpu-cycles", alias: "cycles", config: 0, count: 1_000_000n },
  { name: "instructions", config: 1, count: 1_000_000n },
  { name: "cache-references", config: 2, count: 1_000_000n },
  { name: "cache-misses", config: 3, count: 1_000_000n },
  { name: "branch-instructions", alias: "branches", config: 4, count: 100_000n },
  { name: "branch-misses", config: 5, count: 100_000n },
  { name: "bus-cycles", config: 6, count: 100_000n },
  { name: "frontend-stalls", config: 7, count: 1_000_000n },
  { name: "backend-stalls", config: 8, count: 1_000_000n },
  { name: "ref-cycles", config: 9, count: 1_000_000n },
];

export interface CounterSite {
  readonly config: number;
  readonly count: bigint;
}

function counterProvider(
  name: "software" | "hardware",
  alias: string,
  type: number,
  counters: readonly Counter[],
  doc: string,
): Provider {
  const names = counters
    .flatMap((counter) => (counter.alias === undefined ? [counter.name] : [counter.name, counter.alias]))
    .sort();
  const provider: Provider = {
    name,
    aliases: [alias],
    usage: `${name}:EVENT[:COUNT]`,
    doc,
    followsProcess: true,
    followsCommand: true,
    *list(parts) {
      for (const event of names) if (matches(parts[0] ?? "*", event)) yield { probe: `${name}:${event}:` };
    },
    resolve(spec, system, options) {
      const [event, countText] = spec.parts;
      if (event === undefined || event === "" || spec.parts.length > 2) return wrongParts(spec, provider.usage);
      const counter = counters.find((one) => one.name === event || one.alias === event);
      if (counter === undefined) {
        return missing(
          spec,
          options,
          userProbes.notProbe(event, name, didYouMean(event, names) ?? `the events are ${names.join(", ")}`),
        );
      }
      const count = countText === undefined || countText === "" ? counter.count : parseCount(countText);
      if (count === undefined || count === 0n) {
        return refused(spec, userProbes.invalidCountProbeInvalidInteger(name, countText));
      }
      const data: CounterSite = { config: counter.config, count };
      const site = { name: countText ? `${name}:${event}:${countText}` : `${name}:${event}`, data };
      return resolved({ context: perfEventContext(name, system), provider: name, sites: [site] });
    },
    attach(request) {
      return new Attaching(request)
        .each((site, cookie) => {
          const { config, count } = site.data as CounterSite;
          return attachEverywhere(request.program, { type, config, samplePeriod: count }, cookie, request.pid);
        })
        .done();
    },
  };
  return provider;
}

export const software = counterProvider(
  "software",
  "s",
  PERF_TYPE_SOFTWARE,
  softwareCounters,
  "Events that the kernel counts: page faults, context switches.",
);
export const hardware = counterProvider(
  "hardware",
  "h",
  PERF_TYPE_HARDWARE,
  hardwareCounters,
  "Events that the processor counts: cycles, cache misses.",
);
