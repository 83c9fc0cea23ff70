// What an event costs by eBPF and by tracefs, beside perf and trace-cmd where they are: counts by key of one process's system
// calls, and records of the same calls. CPU time of all processes, beyond that of a run that sees next to none.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { timed } from "./timed.mjs";
import { median, spread, table } from "./statistics.mjs";

const rates = [30_000, 100_000];
const seconds = 3;
const few = 10;
const script = "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @calls[comm] = count(); }";
const strobe = (engine) => (file, load) => [
  process.execPath,
  resolve("dist/strobe.js"),
  "-q",
  "--engine",
  engine,
  "-o",
  file,
  "-c",
  load.join(" "),
  "-e",
  script,
];
const event = "syscalls:sys_enter_getppid";

const tools = [
  { name: "strobe on bpf: counts", command: strobe("bpf") },
  { name: "strobe on tracefs: counts", command: strobe("tracefs") },
  { name: "perf record", command: (file, load) => ["perf", "record", "-q", "-o", file, "-e", event, "--", ...load] },
  {
    name: "trace-cmd record",
    command: (file, load) => ["trace-cmd", "record", "-q", "-o", file, "-e", event, "-F", ...load],
  },
];

export async function engineCost({ rounds, workload }) {
  const folder = mkdtempSync(join(tmpdir(), "strobe-bench-"));
  try {
    const file = join(folder, "output");
    const there = tools.filter(({ command }) => {
      const [program, ...words] = command(file, [workload, "1", "1000"]);
      return spawnSync(program, words, { stdio: "ignore" }).status === 0;
    });
    const rows = [];
    for (const rate of rates) {
      const results = there.map(() => []);
      const load = (events) => [workload, String(events), String(rate)];
      for (let round = 0; round < Math.min(rounds, 3); round++)
        for (const [i, { command }] of there.entries()) {
          const beyond = (events) =>
            timed(command(file, load(events)), "ignore").cpu - timed(load(events), "ignore").cpu;
          results[i].push(((beyond(rate * seconds) - beyond(few)) / (rate * seconds)) * 1e6);
        }
      rows.push([
        `${rate / 1000}k a second`,
        ...results.map((list) => spread(list, 2)),
        (median(results[1]) / median(results.at(-1))).toFixed(2),
      ]);
    }
    return table(
      [
        "events made",
        ...there.map(({ name }) => `${name}, microseconds of CPU time an event`),
        `tracefs to ${there.at(-1).name}`,
      ],
      rows,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
