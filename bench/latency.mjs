import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { startTracer, stopTracer, usage } from "./process.mjs";
import { median, table } from "./statistics.mjs";

const samples = 40;
const everyMilliseconds = 25;
/** Events a second that others make meanwhile. */
const loads = [0, 1_000, 100_000, 500_000];
/** How long lines are printed before memory is looked at again, in milliseconds. */
const longRun = 10_000;
const program = 'tracepoint:syscalls:sys_enter_getppid { printf("%d %s %d\\n", pid, comm, nsecs); }';

/** Milliseconds from calls of this process to their lines in a pipe, while a workload makes events. */
async function latencies(peer, load, workload) {
  const tracer = startTracer(peer, ["-e", program], { output: "pipe" });
  const own = Buffer.from(`\n${process.pid} `);
  let seen;
  let rest = Buffer.alloc(0);
  tracer.child.stdout.on("data", (data) => {
    const text = Buffer.concat([rest, data]);
    if (text.indexOf(own) >= 0) seen?.(performance.now());
    rest = text.subarray(text.length - Math.min(text.length, own.length - 1));
  });
  await tracer.ready;
  // The first line of all has none before it.
  rest = Buffer.from("\n");
  const noise = load > 0 ? spawn(workload, [String(load * 60), String(load)], { stdio: "ignore" }) : undefined;
  await sleep(500);
  const list = [];
  for (let i = 0; i < samples; i++) {
    await sleep(everyMilliseconds);
    const line = new Promise((resolve) => {
      seen = resolve;
    });
    const called = performance.now();
    // getppid(2)
    if (process.ppid === 0) break;
    const at = await Promise.race([line, sleep(2000)]);
    // A line may be lost.
    list.push(at === undefined ? Infinity : at - called);
  }
  noise?.kill();
  await stopTracer(tracer);
  return list;
}

const shown = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  return `${median(list).toFixed(1)} (9 of 10 within ${sorted[Math.floor(sorted.length * 0.9)].toFixed(1)})`;
};

export async function latency({ peers, workload }) {
  const rows = [];
  for (const load of loads) {
    const results = [];
    for (const peer of peers) results.push(await latencies(peer, load, workload));
    rows.push([load === 0 ? "nothing else" : `${load / 1000}k other events a second`, ...results.map(shown)]);
  }
  return table(["meanwhile", ...peers.map(({ name }) => `${name}, milliseconds`)], rows);
}

const resident = (pid) => usage(pid).residentKilobytes / 1024;

/** MiB resident while lines are printed for long: early and late. */
export async function flatMemory(peer, workload) {
  const tracer = startTracer(peer, ["-e", program]);
  await tracer.ready;
  const noise = spawn(workload, [String(3e8), "300000"], { stdio: "ignore" });
  await sleep(3000);
  const early = resident(tracer.pid());
  await sleep(longRun);
  const late = resident(tracer.pid());
  noise.kill();
  await stopTracer(tracer);
  return { early, late };
}
