import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { startTracer } from "./process.mjs";
import { median, spread, table } from "./statistics.mjs";

const tool = (name) => readFileSync(new URL(`../tools/${name}.bt`, import.meta.url), "utf8");
const printing = [
  ["hello", 'begin { printf("hi\\n"); exit(); }'],
  ["one-liner", 'tracepoint:raw_syscalls:sys_enter { printf("%d\\n", args.id); exit(); }'],
  ["count by comm", 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); if (pid) { printf("x\\n"); exit(); } }'],
  [
    "kernel struct chain",
    'tracepoint:sched:sched_switch { printf("%s %d\\n", comm, curtask.real_parent.tgid); exit(); }',
  ],
];
const tools = [
  ["tools/opens.bt", tool("opens")],
  ["tools/tcp-lifetimes.bt", tool("tcp-lifetimes")],
];

/** Milliseconds from spawn to the first line of output, and to the end of a command that ends itself. */
async function untilFirstLine(peer, program) {
  const tracer = startTracer(peer, ["-e", program], { output: "pipe" });
  const first = await new Promise((resolve) =>
    tracer.child.stdout.once("data", () => resolve(performance.now() - tracer.started)),
  );
  tracer.child.stdout.resume();
  await tracer.ended;
  return { first, whole: performance.now() - tracer.started };
}

/**
 * Milliseconds from spawn until it says that it traces, and that with what it takes to end when it is interrupted at
 * once.
 */
async function untilAttached(peer, program) {
  const tracer = startTracer(peer, ["-e", program]);
  const first = await tracer.ready;
  process.kill(tracer.pid(), "SIGINT");
  await tracer.ended;
  return { first, whole: performance.now() - tracer.started };
}

/** The limit: what this Node takes to start, run nothing and end. */
function emptyNode({ node }) {
  const started = performance.now();
  spawnSync(node, ["-e", "0"]);
  return performance.now() - started;
}

const pause = 200;

const none = () => ({ first: [], whole: [], beyond: [] });

/** `builds`: strobe on each Node, and as one file. */
export async function startup({ peers, builds, rounds }) {
  const all = [...builds, ...peers.slice(1)];
  // The first run after a build makes strobe's cache of compiled code.
  for (const build of builds) await untilFirstLine(build, printing[0][1]);
  const empty = builds.map(() => []);
  const rows = [];
  let texts = 0;
  const measure = async (name, program, once, firstTitle) => {
    // What strobe compiled it keeps; a peer compiles every time.
    const runs = { "": all.map(none), ", again": all.map(none) };
    for (let round = 0; round < rounds; round++) {
      for (const [index, peer] of all.entries()) {
        const text = `${program} // ${process.pid} ${texts++}`;
        for (const results of Object.values(runs)) {
          // The kernel lets go of the run before's probes after its end, with the locks that the next one needs.
          await setTimeout(pause);
          const node = peer.node ? emptyNode(peer) : undefined;
          if (node !== undefined) empty[index].push(node);
          const { first, whole } = await once(peer, text);
          // The machine is now faster, now slower: compared with what came just before.
          if (node !== undefined) results[index].beyond.push(first - node);
          results[index].first.push(first);
          results[index].whole.push(whole);
        }
      }
    }
    for (const [again, results] of Object.entries(runs)) {
      for (const kind of ["first", "whole"]) {
        const ratios =
          peers.length > 1
            ? builds.map((_, i) => (median(results[i][kind]) / median(results.at(-1)[kind])).toFixed(2))
            : [];
        const beyond =
          kind === "first"
            ? results.filter((r) => r.beyond.length > 0).map((r) => `+ ${median(r.beyond).toFixed(0)}`)
            : [];
        rows.push([
          name + again,
          kind === "first" ? firstTitle : "the whole command",
          ...results.map((r) => spread(r[kind], 0)),
          beyond.join(", "),
          ratios.join(", "),
        ]);
      }
    }
  };
  for (const [name, program] of printing) await measure(name, program, untilFirstLine, "to the first event");
  for (const [name, program] of tools) await measure(name, program, untilAttached, "to its probes attached");
  rows.push([
    "empty Node",
    "the whole process",
    ...empty.map((list) => (list.length ? spread(list, 0) : "")),
    ...peers.slice(1).map(() => ""),
    "",
    "",
  ]);
  rows.push([
    "",
    "MiB on disk, with Node",
    ...builds.map(({ files }) => size(files)),
    ...peers.slice(1).map(() => ""),
    "",
    "",
  ]);
  return table(
    ["program", "milliseconds", ...all.map(({ name }) => name), "over an empty Node just before", "ratios to the peer"],
    rows,
  );
}

function size(files) {
  return (files.reduce((sum, file) => sum + statSync(file).size, 0) / 2 ** 20).toFixed(0);
}
