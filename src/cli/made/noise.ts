// `strobe noise`: what takes CPUs from whoever runs there, by the kernel's tracer osnoise, or without it by eBPF.
import { hasLatencyTracer, type TracerSettings } from "../../linux/kernel/latency-tracers.ts";
import { tracers } from "../../messages/tracers.ts";
import { UsageError } from "../usage-error.ts";
import {
  cpusOption,
  cpusSetting,
  keptIn,
  histogramOf,
  histOptions,
  saveOption,
  takesNoWords,
  whoWasAtWork,
  workers,
  workersEnd,
} from "./latency-parts.ts";
import type { Asked, MadeScript, Written } from "./made-script.ts";

export const noise: MadeScript = {
  name: "noise",
  about: `what takes CPUs from whoever runs there?

With the kernel's tracer osnoise (CONFIG_OSNOISE_TRACER) a thread on each CPU does nothing but to look at the clock, and tells
how much of its time it did not get: by the hardware, NMIs, interrupts, soft interrupts, and other threads. Elsewhere
strobe counts and times interrupts and soft interrupts by eBPF, and has no thread of its own: what other threads take is not noise then.
  strobe noise --for 10s
  strobe noise --hist --bucket 5
  strobe noise --stop 100
--stop ends when a CPU was taken for so many microseconds at once, and tells by whom. Options but --hist need the tracer.
`,
  options: [
    { name: "period", takes: "number", fallback: "1000000", description: "microseconds of a period" },
    {
      name: "runtime",
      takes: "number",
      fallback: "1000000",
      description: "microseconds of a period in which the thread looks; its period unless given",
    },
    { name: "threshold", takes: "number", fallback: "5", description: "microseconds of what is a noise" },
    {
      name: "stop",
      takes: "number",
      fallback: "0",
      description: "end at a noise of so many microseconds, and say who it was",
    },
    {
      name: "stop-total",
      takes: "number",
      fallback: "0",
      description: "end at a period with noises of so many microseconds together",
    },
    saveOption,
    cpusOption,
    ...histOptions,
  ],
  write,
};

const ofTracer = ["period", "runtime", "threshold", "stop", "stop-total", "save", "cpus"];

function write(asked: Asked): Written {
  takesNoWords(asked, "noise");
  if (!hasLatencyTracer("osnoise")) {
    const option = ofTracer.find((name) => asked.options.named.has(name));
    if (option !== undefined) throw new UsageError(tracers.optionNeedsTracer(option));
    return { text: byInterrupts(asked) };
  }
  const period = asked.number("period", 1_000_000);
  const runtime = asked.number("runtime", period);
  if (runtime > period) throw new UsageError(tracers.runtime(runtime, period));
  const stop = asked.number("stop", 0, 0);
  const total = asked.number("stop-total", 0, 0);
  const settings: TracerSettings = [
    // A runtime is never more than its period, and that never less.
    ["osnoise/runtime_us", "1"],
    ["osnoise/period_us", String(period)],
    ["osnoise/runtime_us", String(runtime)],
    ["osnoise/stop_tracing_us", String(stop)],
    ["osnoise/stop_tracing_total_us", String(total)],
    ["tracing_thresh", String(asked.number("threshold", 5))],
    ...cpusSetting(asked),
  ];
  return {
    text: byTracer(asked, stop, total),
    options: { engine: "tracefs", tracerSettings: settings, ...keptIn(asked) },
  };
}

const kinds = ["hw", "nmi", "irq", "softirq", "thread"];

function byTracer(asked: Asked, stop: number, total: number): string {
  const hist = asked.has("hist");
  const stops =
    stop === 0
      ? ""
      : `
  if (args.duration >= ${stop}000) {
    printf("CPU %d was taken for %d.%03d us\\n", cpu, args.duration / 1000, args.duration % 1000);
    ${whoWasAtWork("args.duration")}
    exit();
  }`;
  const samples =
    hist || stop > 0
      ? `tracepoint:osnoise:sample_threshold {${hist ? `\n  @us[cpu] = ${histogramOf(asked, "args.duration / 1000")};` : ""}${stops}
}
`
      : "";
  const ends = stop === 0 ? "" : `\n  ${workersEnd}`;
  // The kernel stops writing behind such a period.
  const stopsAtTotal =
    total === 0
      ? ""
      : `tracepoint:ftrace:osnoise /args.noise > ${total}/ {
  printf("CPU %d was taken for %d us of a period\\n", cpu, args.noise);
  exit();
}
`;
  if (hist) return `${stop > 0 ? workers : ""}${samples}${stopsAtTotal}${ends === "" ? "" : `end {${ends}\n}\n`}`;
  return `${stop > 0 ? workers : ""}${samples}tracepoint:ftrace:osnoise {
  $c = (uint64)cpu;
  @periods[$c]++; @runtime[$c] += args.runtime; @noise[$c] += args.noise;
  if (args.noise > @most[$c]) { @most[$c] = args.noise; }
  if (args.max_sample > @single[$c]) { @single[$c] = args.max_sample; }
  ${kinds.map((kind) => `@${kind}[$c] += (uint64)args.${kind}_count;`).join(" ")}
}
${stopsAtTotal}end {
  printf("times in microseconds\\n%3s %8s %12s %10s %9s %10s %10s %7s %7s %7s %7s %7s\\n", "CPU", "PERIODS", "RUNTIME", "NOISE", "% FREE", "MAX NOISE", "MAX SINGLE", "HW", "NMI", "IRQ", "SOFTIRQ", "THREAD");
  $c = (uint64)0;
  while ($c < ncpus) {
    if (@periods[$c] > 0) {
      $free = (@runtime[$c] - @noise[$c]) * 10000000 / @runtime[$c];
      printf("%3d %8d %12d %10d %3d.%05d %10d %10d %7d %7d %7d %7d %7d\\n", $c, @periods[$c], @runtime[$c], @noise[$c], $free / 100000, $free % 100000,
        @most[$c], @single[$c], ${kinds.map((kind) => `@${kind}[$c]`).join(", ")});
    }
    $c++;
  }
  clear(@periods); clear(@runtime); clear(@noise); clear(@most); clear(@single); ${kinds.map((kind) => `clear(@${kind});`).join(" ")}${ends}
}
`;
}

/** Vectors of x86-64 whose handlers are no irq:irq_handler; osnoise looks at these, too. */
const vectors = ["local_timer", "reschedule", "call_function", "call_function_single", "irq_work"];

function byInterrupts(asked: Asked): string {
  const hist = asked.has("hist");
  const entries = ["irq:irq_handler_entry", ...vectors.map((name) => `irq_vectors:${name}_entry`)];
  const exits = ["irq:irq_handler_exit", ...vectors.map((name) => `irq_vectors:${name}_exit`)];
  const probes = (names: readonly string[]): string => names.map((name) => `tracepoint:${name}`).join(",\n");
  const took = (kind: string): string =>
    hist
      ? `@us[cpu, "${kind}"] = ${histogramOf(asked, "$ns / 1000")};`
      : `@${kind}[$c]++; @noise[$c] += $ns; if ($ns > @single[$c]) { @single[$c] = $ns; }`;
  return `config = { missing_probes = "ignore" }
begin { @began = nsecs; }
${probes(entries)} { @irq_at[(uint64)cpu] = nsecs; }
${probes(exits)} {
  $c = (uint64)cpu;
  if (@irq_at[$c] > 0) {
    $ns = nsecs - @irq_at[$c]; @within[$c] += $ns; @irq_at[$c] = 0;
    ${took("irq")}
  }
}
tracepoint:irq:softirq_entry { $c = (uint64)cpu; @within[$c] = 0; @soft_at[$c] = nsecs; }
// Without the interrupts that came meanwhile.
tracepoint:irq:softirq_exit {
  $c = (uint64)cpu;
  if (@soft_at[$c] > 0) {
    $ns = nsecs - @soft_at[$c] - @within[$c]; @soft_at[$c] = 0;
    ${took("softirq")}
  }
}
end {
${
  hist
    ? ""
    : `  $all = nsecs - @began;
  printf("times in microseconds\\n%3s %12s %10s %9s %10s %9s %9s\\n", "CPU", "RUNTIME", "NOISE", "% FREE", "MAX SINGLE", "IRQ", "SOFTIRQ");
  $c = (uint64)0;
  while ($c < ncpus) {
    $free = ($all - @noise[$c]) * 10000000 / $all;
    printf("%3d %12d %10d %3d.%05d %10d %9d %9d\\n", $c, $all / 1000, @noise[$c] / 1000, $free / 100000, $free % 100000, @single[$c] / 1000, @irq[$c], @softirq[$c]);
    $c++;
  }
  clear(@noise); clear(@single); clear(@irq); clear(@softirq);
`
}  clear(@began); clear(@irq_at); clear(@soft_at); clear(@within);
}
`;
}
