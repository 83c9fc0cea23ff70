import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { run, startTracer, stopTracer } from "./process.mjs";
import { geometricMean, table } from "./statistics.mjs";

/**
 * [name, title, program]: WORKLOAD stands for the program that makes the events; the C beside each is handlers/NAME.c.
 */
export const handlers = JSON.parse(readFileSync(new URL("handlers/list.json", import.meta.url), "utf8"));
const enter = (body) => `tracepoint:syscalls:sys_enter_getppid ${body}`;
const greet = (body) => `uprobe:WORKLOAD:greet ${body}`;
const calls = 30_000;
/** Runs of the workload a round. The least of all is taken: what others do to the machine only ever adds. */
const repeats = 12;
/** Nanoseconds that can be told apart: a ratio of less would mean nothing. */
const finest = 5;

/** A tracer's programs at work: their ids, how many instructions and bytes, and how to end them. */
async function attach(kernel, peer, name, program, workload) {
  const before = kernel.programsById();
  const started = await start(kernel, peer, name, program, workload);
  const own = [...kernel.programsById().values()].filter(({ id }) => !before.has(id));
  // Others may trace at the same time; a program is ours when it is there and gone with us, and there are few.
  const chosen = own.filter((info) => peer.owns(info, started));
  return {
    ids: chosen.map(({ id }) => id),
    stop: started.stop,
    instructions: chosen.reduce((sum, { translatedLength }) => sum + translatedLength / 8, 0),
    bytes: chosen.reduce((sum, { jitedLength }) => sum + jitedLength, 0),
  };
}

async function start(kernel, peer, name, program, workload) {
  if (peer.compile !== undefined) {
    const handler = new kernel.CompiledHandler(peer.compile(name), workload, {
      greet: kernel.functionOffset(workload, "greet"),
    });
    return { stop: () => handler[Symbol.dispose]() };
  }
  // A peer may live in a file system of its own, but reaches ours through this process.
  const path = peer.isPeer ? `/proc/${process.pid}/root${workload}` : workload;
  const args = ["-e", program.replaceAll("WORKLOAD", path)];
  const tracer = startTracer(peer, args, { environment: { BPFTRACE_PERF_RB_PAGES: "8192" } });
  await tracer.ready;
  return { pid: tracer.pid(), stop: () => stopTracer(tracer) };
}

/** Nanoseconds a run of the programs takes and how often they ran, during one run of the workload. */
async function measure(kernel, ids, workload, words) {
  const sum = (programs, field) => ids.reduce((total, id) => total + programs.get(id)[field], 0);
  const before = kernel.programsById();
  await run(workload, words);
  const after = kernel.programsById();
  return {
    time: sum(after, "runTimeNs") - sum(before, "runTimeNs"),
    runs: sum(after, "runCount") - sum(before, "runCount"),
  };
}

/** The least nanoseconds that the program of a handler took beyond those of the empty one. */
async function best(kernel, handler, workload, words, empty) {
  let least = Infinity;
  for (let repeat = 0; repeat < repeats; repeat++) {
    const { time, runs } = await measure(kernel, handler.ids, workload, words);
    // A program that serves one system call also runs, and leaves at once, for all others.
    least = Math.min(least, (time - runs * empty) / calls);
  }
  return least;
}

/**
 * What each handler's program costs, by the kernel's own statistics: instructions and bytes of machine code after the
 * verifier, and nanoseconds over an empty handler of the same tracer on the same probe.
 */
export async function handlerCost({ peers, rounds, workload, kernel, only }) {
  const all = [...peers, compiler(workload, kernel)].filter((peer) => peer !== undefined);
  for (const peer of all) peer.owns = (info, { pid = process.pid }) => kernel.holds(pid, info.id);
  const statistics = kernel.enableStats();
  const rows = [];
  const ratios = all.slice(1).map(() => []);
  const leastEmpty = new Map();
  try {
    for (const [name, title, program] of handlers) {
      if (only !== undefined && !only.split(",").includes(name)) continue;
      const words = program.startsWith("uprobe") ? [String(calls), "greet"] : [String(calls)];
      const results = all.map(() => ({ ns: Infinity, instructions: 0, bytes: 0 }));
      for (let round = 0; round < rounds; round++) {
        for (const [index, peer] of all.entries()) {
          const empty = await emptyCost(kernel, peer, words, workload, leastEmpty);
          const handler = await attach(kernel, peer, name, program, workload);
          const ns = await best(kernel, handler, workload, words, empty);
          await handler.stop();
          results[index] = { ...handler, ns: Math.min(results[index].ns, ns) };
        }
      }
      const [own, ...others] = results;
      rows.push([
        title,
        ...results.flatMap(({ ns, instructions, bytes }) => [String(instructions), String(bytes), ns.toFixed(1)]),
        ...others.map(({ ns }, i) => {
          const ratio = Math.max(own.ns, finest) / Math.max(ns, finest);
          ratios[i].push(ratio);
          return ratio.toFixed(2);
        }),
      ]);
      process.stderr.write(`${rows.at(-1).join(" | ")}\n`);
    }
  } finally {
    kernel.closeFd(statistics);
  }
  rows.push([
    "geometric mean",
    ...all.flatMap(() => ["", "", ""]),
    ...ratios.map((list) => geometricMean(list).toFixed(2)),
  ]);
  return table(
    [
      "handler",
      ...all.flatMap(({ name }) => [`${name}: instructions`, "bytes", "ns"]),
      ...all.slice(1).map(({ name }) => `ns to ${name}`),
    ],
    rows,
  );
}

/** Nanoseconds of a handler that does nothing: measured once a tracer and kind of probe. */
async function emptyCost(kernel, peer, words, workload, known) {
  const kind = `${peer.name} ${words[1] ?? ""}`;
  if (known.has(kind)) return known.get(kind);
  const handler = await attach(
    kernel,
    peer,
    words[1] === "greet" ? "empty-uprobe" : "empty",
    words[1] === "greet" ? greet("{ }") : enter("{ }"),
    workload,
  );
  let least = Infinity;
  for (let repeat = 0; repeat < repeats * 2; repeat++) {
    const { time, runs } = await measure(kernel, handler.ids, workload, words);
    least = Math.min(least, time / runs);
  }
  await handler.stop();
  known.set(kind, least);
  return least;
}

/** The limit: the same handlers in C, where there is a clang. */
function compiler(workload, kernel) {
  const version = spawnSync("clang", ["--version"], { encoding: "utf8" });
  if (version.status !== 0) return undefined;
  const source = (name) => fileURLToPath(new URL(`handlers/${name}.c`, import.meta.url));
  const options = ["-O2", "-target", "bpf", ...kernel.memberOffsets()];
  return {
    name: `clang ${/version (\d+)/.exec(version.stdout)?.[1] ?? ""}`,
    compile(name) {
      const object = `${workload}-${name}.o`;
      const compiled = spawnSync("clang", [...options, "-c", source(name), "-o", object], { encoding: "utf8" });
      if (compiled.status !== 0) throw new Error(compiled.stderr);
      return object;
    },
  };
}
