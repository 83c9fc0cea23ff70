// interval and profile: probes that time fires. An interval fires once a period, a profile on every CPU.
import { probes } from "../../messages/probes.ts";
import { onlineCpus, openPerfEvent, PERF_TYPE_SOFTWARE } from "../../linux/perf/perf.ts";
import { Attaching, attachToPerfEvent } from "../attaching/attachment.ts";
import { attachEverywhere } from "../attaching/perf-sampling.ts";
import { perfEventContext } from "../../machine/contexts/perf-context.ts";
import type { Provider } from "../provider.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { parseTiming, timingName, type Timing } from "../quantity.ts";
import { refused, resolved, wrongParts } from "../resolution.ts";
import { matches } from "../../machine/wildcard.ts";
import { Failure } from "../../base/failure.ts";

const CPU_CLOCK = 0;
const listed = ["hz", "ms", "s", "us"];

/** Nanoseconds between two firings; a rate is kept as it was written, since perf does rates itself. */
export interface TimerSite {
  readonly period: number;
  readonly timing: Timing;
}

function timerSite(provider: string, spec: ProbeSpec): { name: string; data: TimerSite } | Failure {
  const timing = parseTiming(provider, spec.parts);
  if (timing instanceof Failure) return timing;
  const period = timing.kind === "rate" ? Number(1_000_000_000n / timing.hertz) || 1 : Number(timing.nanoseconds);
  return { name: `${provider}:${timingName(timing, spec.parts)}`, data: { period, timing } };
}

/** The perf event of a site: the kernel's cpu-clock. */
function clock({
  timing,
}: TimerSite):
  | { type: number; config: number; samplePeriod: bigint }
  | { type: number; config: number; sampleFrequency: bigint } {
  const base = { type: PERF_TYPE_SOFTWARE, config: CPU_CLOCK };
  return timing.kind === "rate"
    ? { ...base, sampleFrequency: timing.hertz }
    : { ...base, samplePeriod: timing.nanoseconds };
}

export const interval: Provider = {
  name: "interval",
  aliases: ["i"],
  usage: "interval:TIME or interval:(s|ms|us|hz):COUNT",
  doc: "At a fixed interval, once.",
  followsProcess: true,
  inNoProcess: true,
  *list(parts) {
    for (const unit of listed) if (matches(parts[0] ?? "*", unit)) yield { probe: `interval:${unit}:` };
  },
  resolve(spec, system) {
    if (spec.parts.length < 1 || spec.parts.length > 2) return wrongParts(spec, interval.usage);
    const site = timerSite("interval", spec);
    if (site instanceof Failure) return refused(spec, probes.Message(site.reason, spec.text));
    // Timers run in strobe, unless the handler looks at what only the kernel sees: the checker decides.
    return resolved({
      context: perfEventContext("interval", system, "when-due"),
      provider: "interval",
      sites: [site],
    });
  },
  attach(request) {
    const cpu = onlineCpus()[0] ?? 0;
    return new Attaching(request)
      .each((site, cookie) => {
        const event = openPerfEvent({ ...clock(site.data as TimerSite), pid: -1, cpu });
        return attachToPerfEvent(request.program, event, cookie);
      })
      .done();
  },
};

export const profile: Provider = {
  name: "profile",
  aliases: ["p"],
  usage: "profile:TIME or profile:(hz|s|ms|us):COUNT",
  doc: "At a fixed rate on every CPU: timed sampling.",
  followsProcess: true,
  followsCommand: true,
  *list(parts) {
    for (const unit of listed) if (matches(parts[0] ?? "*", unit)) yield { probe: `profile:${unit}:` };
  },
  resolve(spec, system) {
    if (spec.parts.length < 1 || spec.parts.length > 2) return wrongParts(spec, profile.usage);
    const site = timerSite("profile", spec);
    if (site instanceof Failure) return refused(spec, probes.Message(site.reason, spec.text));
    return resolved({ context: perfEventContext("profile", system), provider: "profile", sites: [site] });
  },
  attach(request) {
    return new Attaching(request)
      .each((site, cookie) => attachEverywhere(request.program, clock(site.data as TimerSite), cookie, request.pid))
      .done();
  },
};
