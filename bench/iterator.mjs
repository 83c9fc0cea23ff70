// Events that a `for await` loop takes from a probe in TypeScript, one at a time and in batches, at rates that a workload makes.
import { event, trace, tracepoint } from "../dist/index.mjs";
import { median, spread, table } from "./statistics.mjs";

const rates = [100_000, 300_000, 1_000_000];
const seconds = 3;

const ways = {
  "one at a time": async (events) => {
    let read = 0;
    for await (const { n } of events) read += n > 0 ? 1 : 0;
    return read;
  },
  "in batches": async (events) => {
    let read = 0;
    for await (const batch of events.batches()) for (const { n } of batch) read += n > 0 ? 1 : 0;
    return read;
  },
};

/** Every event is read, or counted as lost: in the kernel's ring or in the queue. */
async function once(take, rate, workload) {
  const ticks = event();
  const session = await trace(
    // Not rewritten: names of the library mean themselves.
    tracepoint("syscalls:sys_enter_getppid", () => { if (pid === cpid) ticks.emit({ n: tid, name: comm, at: nsecs }); }, { ticks }),
    { command: `${workload} ${rate * seconds} ${rate}`, output: "events" },
  );
  const before = process.cpuUsage();
  const read = await take(ticks);
  const { user, system } = process.cpuUsage(before);
  await session.ended;
  return { perCpuSecond: read / Math.max((user + system) / 1e6, 0.01), lost: rate * seconds - read };
}

export async function iterator({ rounds, workload }) {
  const rows = [];
  for (const rate of rates) {
    const results = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
    for (let round = 0; round < rounds; round++) {
      for (const [way, take] of Object.entries(ways)) results[way].push(await once(take, rate, workload));
    }
    rows.push([`${rate / 1000}k a second`, ...Object.values(results).flatMap((list) => [
      spread(list.map(({ perCpuSecond }) => perCpuSecond / 1000), 0), String(median(list.map(({ lost }) => lost))),
    ])]);
  }
  return table(["events made", ...Object.keys(ways).flatMap((way) => [`${way}, thousand events a CPU-second`, "lost"])], rows);
}
