// How long do the jobs of a Node program take, by name? The program says when one ends, through a static probe of its
// own; while nobody listens, that costs some 10 ns.
//
//     sudo strobe run examples/own-probes.ts
//
// This program does its jobs and traces itself. Any other tracer can listen as well: `strobe -p PID -e
// 'usdt:*:jobs:done { … }'`.
//
//     small: 3 jobs, …
//     large: 1 jobs, …
import { setTimeout as sleep } from "node:timers/promises";
import { map, str, trace, usdt, usdtProvider } from "strobe";

const { path, probes } = usdtProvider("jobs", { done: ["string", "u64"] });
const microseconds = map<string, "stats">();

await using session = await trace(
  usdt(path, "jobs:done", (args) => {
    microseconds.at(str(args[0])).stats(args[1]);
  }),
  { pid: process.pid },
);
for (const [name, milliseconds] of [
  ["small", 2],
  ["large", 20],
  ["small", 3],
  ["small", 2],
] as const) {
  const start = performance.now();
  await sleep(milliseconds);
  probes.done(name, Math.round((performance.now() - start) * 1000));
}
session.stop();
await session.ended;
for (const name of ["small", "large"]) {
  const of = microseconds.get(name);
  console.log(`${name}: ${of?.count} jobs, ${of?.average} µs each`);
}
