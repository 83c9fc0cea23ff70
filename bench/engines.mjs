// What an event costs by eBPF and by tracefs: counts by key of one process's system calls, without what the kernel's side
// takes.
import { trace } from "../dist/index.mjs";
import { median, spread, table } from "./statistics.mjs";

const rates = [30_000, 100_000];
const seconds = 3;
const script = "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @calls[comm] = count(); }";
const engines = ["bpf", "tracefs"];

async function once(engine, rate, workload) {
  const session = await trace(script, { engine, command: `${workload} ${rate * seconds} ${rate}` });
  const before = process.cpuUsage();
  let counted = 0;
  for await (const event of session) if (event.type === "map") counted = Number(event.map.entries[0][1]);
  const { user, system } = process.cpuUsage(before);
  return { microseconds: (user + system) / (rate * seconds), lost: rate * seconds - counted };
}

export async function engineCost({ rounds, workload }) {
  const rows = [];
  for (const rate of rates) {
    const results = engines.map(() => []);
    for (let round = 0; round < Math.min(rounds, 3); round++)
      for (const [i, engine] of engines.entries()) results[i].push(await once(engine, rate, workload));
    rows.push([
      `${rate / 1000}k a second`,
      ...results.flatMap((list) => [
        spread(
          list.map(({ microseconds }) => microseconds),
          2,
        ),
        String(median(list.map(({ lost }) => lost))),
      ]),
    ]);
  }
  return table(
    ["events made", ...engines.flatMap((engine) => [`${engine}, microseconds of strobe's CPU time an event`, "lost"])],
    rows,
  );
}
