// `strobe timerlat`: how late timers and the threads behind them are on each CPU, by the kernel's tracer of that name.
import type { TracerSettings } from "../../linux/kernel/latency-tracers.ts";
import {
  cpusOption,
  cpusSetting,
  keptIn,
  histogramOf,
  histOptions,
  saveOption,
  needsTracer,
  whoWasAtWork,
  workers,
  workersEnd,
} from "./latency-parts.ts";
import type { Asked, MadeScript, Written } from "./made-script.ts";

export const timerlat: MadeScript = {
  name: "timerlat",
  about: `how late are timers, and the threads that they wake?

The kernel's tracer timerlat (CONFIG_TIMERLAT_TRACER) wakes a thread of its own on each CPU, again and again, and says how much
later than asked the timer's interrupt came, and the thread ran. For each CPU: how often, and the microseconds of the last,
the least, the average and the most.
  strobe timerlat --for 10s
  strobe timerlat --hist --bucket 5
  strobe timerlat --stop 100
--stop ends when a thread was so late, and tells who was at work on the CPU meanwhile, with the stack at the interrupt.
`,
  options: [
    { name: "period", takes: "number", fallback: "1000", description: "microseconds between two timers of a CPU" },
    {
      name: "stop",
      takes: "number",
      fallback: "0",
      description: "end when a thread was so many microseconds late, and say why",
    },
    { name: "stop-irq", takes: "number", fallback: "0", description: "the same of the timer's interrupt" },
    saveOption,
    cpusOption,
    ...histOptions,
  ],
  write,
};

function write(asked: Asked): Written {
  needsTracer(asked, "timerlat", "timerlat");
  const [stop, stopIrq] = [asked.number("stop", 0, 0), asked.number("stop-irq", 0, 0)];
  const settings: TracerSettings = [
    ["osnoise/timerlat_period_us", String(asked.number("period", 1000))],
    ["osnoise/stop_tracing_us", String(stopIrq)],
    ["osnoise/stop_tracing_total_us", String(stop)],
    ["osnoise/print_stack", String(stop)],
    ...cpusSetting(asked),
  ];
  const ends = stop > 0 || stopIrq > 0;
  return {
    text: asked.has("hist") ? distribution(asked, stop, stopIrq, ends) : table(stop, stopIrq, ends),
    options: { engine: "tracefs", tracerSettings: settings, ...keptIn(asked) },
  };
}

/** A handler for each context: what it does, and what ends the trace. */
function handlers(irq: string, thread: string, stop: number, stopIrq: number): string {
  const late = (who: string, microseconds: number, more: string): string =>
    microseconds === 0
      ? ""
      : `
  if (args.timer_latency >= ${microseconds}000) {
    printf("CPU %d: the ${who} was %d.%03d us late\\n", cpu, args.timer_latency / 1000, args.timer_latency % 1000);
    ${more}
    exit();
  }`;
  const guilty = `if (@irq_ns[(uint64)cpu] > 0) { printf("  the timer's interrupt was %d.%03d us late\\n", @irq_ns[(uint64)cpu] / 1000, @irq_ns[(uint64)cpu] % 1000); }
    ${whoWasAtWork("args.timer_latency")}
    printf("  at the interrupt:%s\\n", kstack);`;
  return `tracepoint:ftrace:timerlat /args.context == 0/ {
  ${irq}${stop === 0 ? "" : "\n  @irq_ns[(uint64)cpu] = args.timer_latency;"}${late("timer's interrupt", stopIrq, whoWasAtWork("args.timer_latency"))}
}
tracepoint:ftrace:timerlat /args.context == 1/ {
  ${thread}${late("thread", stop, guilty)}
}
`;
}

function table(stop: number, stopIrq: number, ends: boolean): string {
  const keep = (name: string): string => `$c = (uint64)cpu; $us = args.timer_latency / 1000;
  if (@${name}_count[$c] == 0 || $us < @${name}_least[$c]) { @${name}_least[$c] = $us; }
  if ($us > @${name}_most[$c]) { @${name}_most[$c] = $us; }
  @${name}_count[$c]++; @${name}_last[$c] = $us; @${name}_sum[$c] += args.timer_latency;`;
  const columns = (name: string): string =>
    `@${name}_last[$c], @${name}_least[$c], @${name}_sum[$c] / @${name}_count[$c] / 1000, @${name}_most[$c]`;
  const clear = ["irq", "thread"].flatMap((name) =>
    ["count", "last", "least", "most", "sum"].map((what) => `clear(@${name}_${what});`),
  );
  return `${ends ? workers : ""}${handlers(keep("irq"), keep("thread"), stop, stopIrq)}
end {
  printf("times in microseconds\\n%3s %9s %9s %9s %9s %9s %9s %9s %9s %9s\\n", "CPU", "COUNT", "IRQ CUR", "MIN", "AVG", "MAX", "THR CUR", "MIN", "AVG", "MAX");
  $c = (uint64)0;
  while ($c < ncpus) {
    if (@irq_count[$c] > 0 && @thread_count[$c] > 0) {
      printf("%3d %9d %9d %9d %9d %9d %9d %9d %9d %9d\\n", $c, @thread_count[$c], ${columns("irq")}, ${columns("thread")});
    }
    $c++;
  }
  ${clear.join(" ")}${stop === 0 ? "" : " clear(@irq_ns);"}${ends ? `\n  ${workersEnd}` : ""}
}
`;
}

function distribution(asked: Asked, stop: number, stopIrq: number, ends: boolean): string {
  const histogram = histogramOf(asked, "args.timer_latency / 1000");
  const end = [stop === 0 ? "" : "clear(@irq_ns);", ends ? workersEnd : ""].join(" ").trim();
  return `${ends ? workers : ""}${handlers(`@irq_us[cpu] = ${histogram};`, `@thread_us[cpu] = ${histogram};`, stop, stopIrq)}${end === "" ? "" : `end { ${end} }\n`}`;
}
