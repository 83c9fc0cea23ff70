// Events that a `for await` loop takes at rates that a workload makes: from a probe in TypeScript, one at a time and in
// batches, and lines of a script's printf, likewise.
import { event, trace, tracepoint } from "../dist/index.mjs";
import { median, spread, table } from "./statistics.mjs";

const rates = [100_000, 300_000, 1_000_000, 2_000_000];
const seconds = 3;

const emitted = {
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

const script = 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf("%d %s %d\\n", pid, comm, nsecs); }';

const printed = {
  "lines of printf": async (session) => {
    let read = 0;
    for await (const { type } of session) read += type === "printf" ? 1 : 0;
    return read;
  },
  "lines in batches": async (session) => {
    let read = 0;
    for await (const batch of session.batches()) for (const { type } of batch) read += type === "printf" ? 1 : 0;
    return read;
  },
};

/**
 * [title, starts a trace and gives what is read from it].
 * @type {readonly (readonly [title: string, start: (command: string) => Promise<{ session: import("../dist/index.mjs").Trace, read: () => Promise<number> }>])[]}
 */
const ways = [
  ...Object.entries(emitted).map(([title, take]) => [
    title,
    async (command) => {
      const ticks = event();
      const session = await trace(
        // Not rewritten: names of the library mean themselves.
        tracepoint(
          "syscalls:sys_enter_getppid",
          () => {
            if (pid === cpid) ticks.emit({ n: tid, name: comm, at: nsecs });
          },
          { ticks },
        ),
        { command, output: "events" },
      );
      return { session, read: () => take(ticks) };
    },
  ]),
  ...Object.entries(printed).map(([title, take]) => [
    title,
    async (command) => {
      const session = await trace(script, { command });
      return { session, read: () => take(session) };
    },
  ]),
];

/** Every event is read, or counted as lost: in the kernel's ring or in the queue. */
async function once(start, rate, workload) {
  const { session, read } = await start(`${workload} ${rate * seconds} ${rate}`);
  const before = process.cpuUsage();
  const count = await read();
  const { user, system } = process.cpuUsage(before);
  await session.ended;
  return { perCpuSecond: count / Math.max((user + system) / 1e6, 0.01), lost: rate * seconds - count };
}

export async function iterator({ rounds, workload }) {
  const rows = [];
  for (const rate of rates) {
    const results = ways.map(() => []);
    for (let round = 0; round < Math.min(rounds, 2); round++) {
      for (const [index, [, start]] of ways.entries()) results[index].push(await once(start, rate, workload));
    }
    rows.push([
      `${rate / 1000}k a second`,
      ...results.flatMap((list) => [
        spread(
          list.map(({ perCpuSecond }) => perCpuSecond / 1000),
          0,
        ),
        String(median(list.map(({ lost }) => lost))),
      ]),
    ]);
  }
  return table(["events made", ...ways.flatMap(([title]) => [`${title}, thousand events a CPU-second`, "lost"])], rows);
}
