import { spawnSync } from "node:child_process";
import { startTracer } from "./process.mjs";
import { median, spread, table } from "./statistics.mjs";

const programs = [
  ["hello", 'begin { printf("hi\\n"); exit(); }'],
  ["one-liner", 'tracepoint:raw_syscalls:sys_enter { printf("%d\\n", args.id); exit(); }'],
  ["count by comm", 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); if (pid) { printf("x\\n"); exit(); } }'],
  ["kernel struct chain", 'tracepoint:sched:sched_switch { printf("%s %d\\n", comm, curtask.real_parent.tgid); exit(); }'],
];

/** Milliseconds from spawn to the first line of output, and to the end of the command. */
async function once(peer, program) {
  const tracer = startTracer(peer, ["-e", program], { output: "pipe" });
  const first = await new Promise((resolve) => tracer.child.stdout.once("data", () => resolve(performance.now() - tracer.started)));
  tracer.child.stdout.resume();
  await tracer.ended;
  return { first, whole: performance.now() - tracer.started };
}

/** The limit: what Node takes to start, run nothing and end. */
function emptyNode(rounds) {
  return Array.from({ length: rounds }, () => {
    const started = performance.now();
    spawnSync(process.execPath, ["-e", "0"]);
    return performance.now() - started;
  });
}

export async function startup({ peers, rounds }) {
  const rows = [];
  // The first run after a build makes strobe's cache of compiled code.
  await once(peers[0], programs[0][1]);
  for (const [name, program] of programs) {
    const results = peers.map(() => ({ first: [], whole: [] }));
    for (let round = 0; round < rounds; round++) {
      for (const [index, peer] of peers.entries()) {
        const { first, whole } = await once(peer, program);
        results[index].first.push(first);
        results[index].whole.push(whole);
      }
    }
    for (const kind of ["first", "whole"]) {
      const ratio = peers.length > 1 ? (median(results[0][kind]) / median(results[1][kind])).toFixed(2) : "";
      rows.push([name, kind === "first" ? "to the first event" : "the whole command", ...results.map((r) => spread(r[kind])), ratio]);
    }
  }
  rows.push(["empty Node", "the whole command", spread(emptyNode(rounds)), ...peers.slice(1).map(() => ""), ""]);
  return table(["program", "milliseconds", ...peers.map((p) => p.name), "ratio"], rows);
}
