import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, startTracer, stopTracer, usage } from "./process.mjs";
import { median, spread, table } from "./statistics.mjs";

const program = 'tracepoint:syscalls:sys_enter_getppid { printf("%d %s %d\\n", pid, comm, nsecs); }';
const rates = [100_000, 300_000, 1_000_000];
const seconds = 5;

/** Prints every event into a file while a workload makes them at a rate. */
async function once(peer, rate, workload, folder) {
  const path = join(folder, "lines");
  const file = openSync(path, "w");
  const tracer = startTracer(peer, ["-e", program], { output: file });
  await tracer.ready;
  const before = usage(tracer.pid());
  await run(workload, [String(rate * seconds), String(rate)]);
  // What is still in the ring buffer belongs to the cost.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const after = usage(tracer.pid());
  await stopTracer(tracer);
  closeSync(file);
  let lines = 0;
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  lines = Math.max(0, lines - 2); // the blank lines at the end
  return { lines, perCpuSecond: lines / Math.max(after.cpuSeconds - before.cpuSeconds, 0.01), lost: rate * seconds - lines };
}

export async function printing({ peers, rounds, workload }) {
  const folder = mkdtempSync(join(tmpdir(), "strobe-bench-"));
  const rows = [];
  for (const rate of rates) {
    const results = peers.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [index, peer] of peers.entries()) results[index].push(await once(peer, rate, workload, folder));
    }
    const perSecond = results.map((list) => list.map((r) => r.perCpuSecond / 1000));
    const ratio = peers.length > 1 ? (median(perSecond[0]) / median(perSecond[1])).toFixed(1) : "";
    rows.push([`${rate / 1000}k a second`, ...results.flatMap((list, i) => [spread(perSecond[i], 0), String(median(list.map((r) => r.lost)))]), ratio]);
  }
  rmSync(folder, { recursive: true });
  return table(["events made", ...peers.flatMap((p) => [`${p.name}, thousand lines a CPU-second`, "lost"]), "ratio"], rows);
}
