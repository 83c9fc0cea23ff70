import { startTracer, stopTracer, usage } from "./process.mjs";
import { median, spread, table } from "./statistics.mjs";

const programs = [
  ["count by comm", "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }"],
  ["all system calls by name", "tracepoint:syscalls:sys_enter_* { @[probe] = count(); }"],
];

export async function memory({ peers, rounds }) {
  const rows = [];
  for (const [name, program] of programs) {
    const peaks = peers.map(() => []);
    for (let round = 0; round < Math.min(rounds, 3); round++) {
      for (const [index, peer] of peers.entries()) {
        const tracer = startTracer(peer, ["-e", program]);
        await tracer.ready;
        await new Promise((resolve) => setTimeout(resolve, 500));
        peaks[index].push(usage(tracer.pid()).peakKilobytes / 1024);
        await stopTracer(tracer);
      }
    }
    const ratio = peers.length > 1 ? (median(peaks[0]) / median(peaks[1])).toFixed(2) : "";
    rows.push([name, ...peaks.map((values) => spread(values, 0)), ratio]);
  }
  return table(["program", ...peers.map((p) => `${p.name}, MiB at the peak`), "ratio"], rows);
}
