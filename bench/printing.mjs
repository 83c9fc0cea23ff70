import { closeSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, startTracer, stopTracer, usage } from "./process.mjs";
import { median, spread, table } from "./statistics.mjs";

const program = 'tracepoint:syscalls:sys_enter_getppid { printf("%d %s %d\\n", pid, comm, nsecs); }';
const rates = [100_000, 300_000, 1_000_000, 2_000_000];
/** @type {readonly (readonly [title: string, options: readonly string[]])[]} */
const formats = [
  ["lines of text", []],
  ["lines of JSON", ["-f", "json"]],
];
/** Seconds a run: V8 goes on compiling what is hot for one of them, and sessions last longer than three. */
const secondsAt = (rate) => Math.max(3, 1_000_000 / rate);

/** Prints every event into a file while a workload makes them at a rate. */
async function once(peer, options, rate, workload, folder) {
  const path = join(folder, "lines");
  const file = openSync(path, "w");
  const tracer = startTracer(peer, [...options, "-e", program], { output: file });
  await (options.length > 0 ? hasAttached(path, tracer) : tracer.ready);
  const before = usage(tracer.pid());
  const events = Math.round(rate * secondsAt(rate));
  await run(workload, [String(events), String(rate)]);
  // What is still in the ring buffer belongs to the cost.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const after = usage(tracer.pid());
  await stopTracer(tracer);
  closeSync(file);
  const lines = countOf(path, "workload");
  return { perCpuSecond: lines / Math.max(after.cpuSeconds - before.cpuSeconds, 0.01), lost: events - lines };
}

/** In JSON, that the probes are attached is a line among the others. */
async function hasAttached(path, tracer) {
  tracer.ready.catch(() => {});
  while (countOf(path, "attached_probes") === 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * Lines of a file with this word in them, which is there once a line. Read by and by: a file may be larger than a
 * buffer can be.
 */
function countOf(path, word) {
  const file = openSync(path, "r");
  const chunk = Buffer.alloc(1 << 20);
  let count = 0;
  let kept = 0;
  for (let got; (got = readSync(file, chunk, kept, chunk.length - kept, null)) > 0;) {
    const end = kept + got;
    const whole = chunk.subarray(0, end).lastIndexOf(10) + 1;
    const lines = chunk.subarray(0, whole);
    for (let at = lines.indexOf(word); at >= 0; at = lines.indexOf(word, at + word.length)) count++;
    chunk.copyWithin(0, whole, end);
    kept = end - whole;
  }
  closeSync(file);
  return count;
}

export async function printing({ peers, rounds, workload }) {
  const folder = mkdtempSync(join(tmpdir(), "strobe-bench-"));
  const rows = [];
  for (const [title, options] of formats) {
    for (const rate of rates) {
      const results = peers.map(() => []);
      for (let round = 0; round < Math.min(rounds, 2); round++) {
        for (const [index, peer] of peers.entries())
          results[index].push(await once(peer, options, rate, workload, folder));
      }
      const perSecond = results.map((list) => list.map((r) => r.perCpuSecond / 1000));
      const ratio = peers.length > 1 ? (median(perSecond[0]) / median(perSecond[1])).toFixed(1) : "";
      rows.push([
        `${title}, ${rate / 1000}k a second`,
        ...results.flatMap((list, i) => [spread(perSecond[i], 0), String(median(list.map((r) => r.lost)))]),
        ratio,
      ]);
    }
  }
  rmSync(folder, { recursive: true });
  return table(
    ["events made", ...peers.flatMap((p) => [`${p.name}, thousand lines a CPU-second`, "lost"]), "ratio"],
    rows,
  );
}
