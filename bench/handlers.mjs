import { run, startTracer, stopTracer } from "./process.mjs";
import { median, spread, table } from "./statistics.mjs";

const probe = "tracepoint:syscalls:sys_enter_getppid";
const handlers = [
  ["empty", `${probe} { }`],
  ["count, keyless", `${probe} { @ = count(); }`],
  ["++ on a map", `${probe} { @++; }`],
  ["count by pid", `${probe} { @[pid] = count(); }`],
  ["count by comm", `${probe} { @[comm] = count(); }`],
  ["count by two keys", `${probe} { @[pid, cpu] = count(); }`],
  ["sum", `${probe} { @ = sum(tid); }`],
  ["stats", `${probe} { @ = stats(tid); }`],
  ["hist", `${probe} { @ = hist(nsecs); }`],
  ["hist by pid", `${probe} { @[pid] = hist(nsecs); }`],
  ["lhist", `${probe} { @ = lhist(tid, 0, 100000, 1000); }`],
  ["filter that does not match", `${probe} /pid == 1/ { @ = count(); }`],
];
const calls = 400_000;

/** Nanoseconds that tracing adds to a getppid(2), against the same loop untraced just before. */
export async function handlerCost({ peers, rounds, workload }) {
  const rows = [];
  const ratios = [];
  const once = async () => Number(await run(workload, [String(calls)]));
  await once();
  for (const [name, program] of handlers) {
    const added = peers.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [index, peer] of peers.entries()) {
        const before = await once();
        const tracer = startTracer(peer, ["-e", program]);
        await tracer.ready;
        const traced = await once();
        await stopTracer(tracer);
        added[index].push(traced - before);
      }
    }
    const ratio = peers.length > 1 ? median(added[0]) / median(added[1]) : undefined;
    if (ratio !== undefined && name !== "empty") ratios.push(ratio);
    rows.push([name, ...added.map((values) => spread(values)), ratio?.toFixed(2) ?? ""]);
  }
  const mean = ratios.length ? Math.exp(ratios.reduce((sum, r) => sum + Math.log(Math.max(r, 0.001)), 0) / ratios.length).toFixed(2) : "";
  rows.push(["geometric mean without the empty one", ...peers.map(() => ""), mean]);
  return table(["handler", ...peers.map((p) => `${p.name}, ns an event`), "ratio"], rows);
}
