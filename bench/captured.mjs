// What a handler costs that goes on at the host: counts by key on a map that lives there, beside the events of a `for await`
// loop in batches.
import { end, event, map, trace, tracepoint } from "../dist/index.mjs";
import { median, spread, table } from "./statistics.mjs";

const rates = [300_000, 1_000_000];
const seconds = 3;
const probe = "syscalls:sys_enter_getppid";

/** Each starts a trace of a command, and gives what has arrived of its events once it has ended. */
const ways = {
  "captured counts by key": async (command) => {
    const calls = map();
    const arrived = event();
    const session = await trace(
      // Not rewritten: names of the library mean themselves.
      tracepoint(
        probe,
        () => {
          if (pid === cpid) calls.at(comm).count();
        },
        { calls },
      ),
      // Never: but that the host would change the map keeps it there.
      tracepoint(
        "syscalls:sys_enter_reboot",
        () => {
          for (const [name] of calls.top(1)) calls.delete(name);
        },
        { calls },
      ),
      end(
        () => {
          for (const [, n] of calls) arrived.emit({ n });
        },
        { calls, arrived },
      ),
      { command, output: "events" },
    );
    return {
      session,
      read: async () => {
        let all = 0;
        for await (const { n } of arrived) all += n;
        return all;
      },
    };
  },
  "emitted events": async (command) => {
    const ticks = event();
    const session = await trace(
      tracepoint(
        probe,
        () => {
          if (pid === cpid) ticks.emit({ name: comm });
        },
        { ticks },
      ),
      { command, output: "events" },
    );
    return {
      session,
      read: async () => {
        let all = 0;
        for await (const batch of ticks.batches()) for (const { name } of batch) all += name === "" ? 0 : 1;
        return all;
      },
    };
  },
};

async function once(start, rate, workload) {
  const { session, read } = await start(`${workload} ${rate * seconds} ${rate}`);
  const before = process.cpuUsage();
  const count = await read();
  const { user, system } = process.cpuUsage(before);
  await session.ended;
  return { perCpuSecond: count / Math.max((user + system) / 1e6, 0.01), lost: rate * seconds - count };
}

export async function captured({ rounds, workload }) {
  const titles = Object.keys(ways);
  const rows = [];
  for (const rate of rates) {
    const results = titles.map(() => []);
    for (let round = 0; round < Math.min(rounds, 3); round++)
      for (const [index, title] of titles.entries()) results[index].push(await once(ways[title], rate, workload));
    const perSecond = results.map((list) => list.map((r) => r.perCpuSecond / 1000));
    rows.push([
      `${rate / 1000}k a second`,
      ...results.flatMap((list, i) => [spread(perSecond[i], 0), String(median(list.map(({ lost }) => lost)))]),
      (median(perSecond[0]) / median(perSecond[1])).toFixed(2),
    ]);
  }
  return table(
    ["events made", ...titles.flatMap((title) => [`${title}, thousand a CPU-second`, "lost"]), "ratio"],
    rows,
  );
}
