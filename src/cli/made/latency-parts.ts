// What `strobe noise` and `strobe timerlat` have in common: what the kernel's tracers are told, and who was at work on a
// CPU when a threshold was passed.
import { hasLatencyTracer, type LatencyTracer, type TracerSettings } from "../../linux/kernel/latency-tracers.ts";
import type { ScriptOption } from "../../language/program.ts";
import { tracers } from "../../messages/tracers.ts";
import type { KeptEvents } from "../../session/tracefs/kept-events.ts";
import { tell } from "../files.ts";
import { writeKept } from "../kept-events.ts";
import type { Options } from "../options.ts";
import { UsageError } from "../usage-error.ts";
import type { Asked } from "./made-script.ts";

export const cpusOption: ScriptOption = {
  name: "cpus",
  takes: "text",
  fallback: '""',
  description: "measure on these alone: 0-3,8",
};
export const saveOption: ScriptOption = {
  name: "save",
  takes: "text",
  fallback: '""',
  description: "what happened last, as a recording in this file: switches, interrupts, noises",
};
export const histOptions: readonly ScriptOption[] = [
  { name: "hist", takes: "truth", fallback: "false", description: "how the times are distributed, by CPU" },
  { name: "bucket", takes: "number", fallback: "1", description: "microseconds of a bucket of --hist" },
  { name: "buckets", takes: "number", fallback: "256", description: "so many buckets" },
];

export function cpusSetting(asked: Asked): TracerSettings {
  const cpus = asked.text("cpus");
  if (cpus === undefined) return [];
  if (!/^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/.test(cpus)) throw new UsageError(tracers.cpus(cpus));
  return [["osnoise/cpus", cpus]];
}

/** What may have kept somebody from running. */
const looked = ["osnoise:*", "sched:sched_switch", "sched:sched_waking", "irq:*", "irq_vectors:*"];

/** --save: written when the trace has ended. */
export function keptIn(asked: Asked): Partial<Options> {
  const file = asked.text("save");
  if (file === undefined) return {};
  const take = (kept: KeptEvents): void => {
    writeKept(file, kept);
    tell(`${file}: the last ${kept.events.length} events\n`);
  };
  return { kept: { events: looked, take } };
}

/** `lhist()` of microseconds, as --bucket and --buckets have it. */
export function histogramOf(asked: Asked, microseconds: string): string {
  const bucket = asked.number("bucket", 1);
  return `lhist(${microseconds}, 0, ${bucket * asked.number("buckets", 256)}, ${bucket})`;
}

/** @throws UsageError where words stand behind the command, or the kernel lacks the tracer */
export function needsTracer(asked: Asked, name: string, tracer: LatencyTracer): void {
  takesNoWords(asked, name);
  if (!hasLatencyTracer(tracer))
    throw new UsageError(tracers.noTracer(name, tracer, `CONFIG_${tracer.toUpperCase()}_TRACER`));
}

export function takesNoWords({ words }: Asked, name: string): void {
  if (words.length > 0) throw new UsageError(tracers.takesNoWords(name, words[0]));
}

/** How many of a CPU's last are remembered. */
const remembered = 64;

/** Keeps who was at work, by CPU: interrupts, soft interrupts, other threads; as of each one's end. */
export const workers = `
tracepoint:osnoise:nmi_noise { $c = (uint64)cpu; $i = @n[$c] % ${remembered}; @n[$c]++;
  @kind[$c, $i] = 1; @which[$c, $i] = 0; @ns[$c, $i] = (int64)args.duration; @ended[$c, $i] = nsecs; }
tracepoint:osnoise:irq_noise { $c = (uint64)cpu; $i = @n[$c] % ${remembered}; @n[$c]++; @irq_name[(int64)args.vector] = str(args.desc);
  @kind[$c, $i] = 2; @which[$c, $i] = (int64)args.vector; @ns[$c, $i] = (int64)args.duration; @ended[$c, $i] = nsecs; }
tracepoint:osnoise:softirq_noise { $c = (uint64)cpu; $i = @n[$c] % ${remembered}; @n[$c]++;
  @kind[$c, $i] = 3; @which[$c, $i] = (int64)args.vector; @ns[$c, $i] = (int64)args.duration; @ended[$c, $i] = nsecs; }
tracepoint:osnoise:thread_noise { $c = (uint64)cpu; $i = @n[$c] % ${remembered}; @n[$c]++; @thread_name[(int64)args.pid] = args.comm;
  @kind[$c, $i] = 4; @which[$c, $i] = (int64)args.pid; @ns[$c, $i] = (int64)args.duration; @ended[$c, $i] = nsecs; }
`;

/** Prints those of the CPU that ended within so many nanoseconds before now. */
export function whoWasAtWork(nanoseconds: string): string {
  return `$c = (uint64)cpu; $i = (uint64)0;
  while ($i < ${remembered}) {
    $at = (@n[$c] + $i) % ${remembered};
    if (has_key(@ended, ($c, $at)) && @ended[$c, $at] + (uint64)${nanoseconds} >= nsecs) {
      $w = @which[$c, $at]; $us = @ns[$c, $at] / 1000; $rest = @ns[$c, $at] % 1000;
      if (@kind[$c, $at] == 1) { printf("  %8d.%03d  NMI\\n", $us, $rest); }
      if (@kind[$c, $at] == 2) { printf("  %8d.%03d  interrupt %d %s\\n", $us, $rest, $w, @irq_name[$w]); }
      if (@kind[$c, $at] == 3) { printf("  %8d.%03d  soft interrupt %d\\n", $us, $rest, $w); }
      if (@kind[$c, $at] == 4) { printf("  %8d.%03d  thread %d %s\\n", $us, $rest, $w, @thread_name[$w]); }
    }
    $i++;
  }`;
}

export const workersEnd =
  "clear(@n); clear(@kind); clear(@which); clear(@ns); clear(@ended); clear(@irq_name); clear(@thread_name);";
