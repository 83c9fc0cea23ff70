// What handlers cost, and a limit to it: on a probe that fires as often as a process can make it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { constants, cpus, setPriority } from "node:os";
import { after, before, test } from "node:test";
import { trace, type TraceEvent } from "../../src/index.ts";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
const folder = temporaryFolder();
let workload = "";
let objects = "";

/** Shares are of all CPUs, and the workload has only one. */
const ofOneCpu = (share: number): number => share / cpus().length;

/**
 * Makes system calls and calls a function: so many times, or until its input ends, then at most 100,000 times a second
 * when "paced".
 */
const source = `
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) int hot(int x) { __asm__ volatile(""); return x + 1; }
int main(int argc, char **argv) {
  struct pollfd in = { 0, POLLIN, 0 };
  long limit = argc > 1 ? atol(argv[1]) : 0, done = 0;
  int x = 0, paced = argc > 2;
  while (limit == 0 ? poll(&in, 1, paced) == 0 : done < limit)
    for (int i = 0; i < (paced ? 100 : 1000); i++, done++) { syscall(SYS_getppid); x = hot(x); }
  printf("%ld\\n", done);
  return x == 0;
}`;

before(() => {
  if (deadline.skip) return;
  workload = compileC(folder.path, "busy", source);
  objects = bpfObjects();
});
after(async () => {
  folder.remove();
  if (!deadline.skip) await nothingLeft(objects);
});

/** The workload at work; `end` stops it and gives how many rounds it made. */
function busy(...words: readonly string[]): { readonly pid: number; end(): Promise<number> } {
  const child = spawn(workload, words, { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (data) => {
    text += data;
  });
  const closed = new Promise((resolve) => child.on("close", resolve));
  try {
    // However busy the machine is.
    setPriority(child.pid ?? 0, constants.priority.PRIORITY_HIGHEST);
  } catch {
    // It is not ours to say, in some containers.
  }
  return {
    pid: child.pid ?? 0,
    async end() {
      child.stdin.end();
      await closed;
      return Number(text);
    },
  };
}

async function collect(
  events: AsyncIterable<TraceEvent>,
  until: (event: TraceEvent) => boolean,
): Promise<TraceEvent[]> {
  const seen: TraceEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (until(event)) break;
  }
  return seen;
}

test("--stats counts every run of a handler, and says so at the end", deadline, async () => {
  const rounds = 20_000;
  const { stderr, stdout, code } = await strobe([
    "--stats",
    "-c",
    `${workload} ${rounds}`,
    "-e",
    "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @calls = count(); } interval:s:100 { }",
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`@calls: ${rounds}\\b`));
  const [, runs, handler] =
    /^ *([\d,]+) +([\d,]+) +40 +[\d.]+ % {2}tracepoint:syscalls:sys_enter_getppid$/m.exec(stderr) ?? [];
  // The program sits on the tracepoint of all system calls, so that it runs for those of others as well.
  assert.ok(Number(runs?.replaceAll(",", "")) >= rounds, stderr);
  assert.ok(Number(handler?.replaceAll(",", "")) > 0, stderr);
  assert.match(stderr, /^Handlers took [\d.]+ % of the CPUs in [\d.]+ s, strobe itself [\d.]+ %\.$/m);
});

test("stats() is there when asked for, while a trace runs and after it", deadline, async () => {
  await using without = await trace("interval:s:100 { }");
  assert.equal(without.stats(), undefined);
  const work = busy();
  const live = await trace(
    `tracepoint:syscalls:sys_enter_getppid /pid == ${work.pid}/ { @n++; if (@n == 1000) { exit(); } }`,
    { stats: true },
  );
  await collect(live, () => false);
  await work.end();
  const stats = live.stats();
  assert.equal(stats?.handlers.length, 1);
  const [handler] = stats.handlers;
  assert.ok(handler.runs >= 1000 && handler.handlerNanoseconds > 0 && handler.share > 0);
  assert.deepEqual(
    [handler.probe, handler.probes, handler.skipped, handler.state],
    ["tracepoint:syscalls:sys_enter_getppid", 1, 0, "running"],
  );
  assert.equal(stats.share, handler.share);
});

test(
  "an expensive handler on a busy probe is run for a part of its events, and the others are counted",
  deadline,
  async () => {
    const work = busy("0", "paced");
    const limit = ofOneCpu(0.05);
    const script = `tracepoint:syscalls:sys_enter_getppid /pid == ${work.pid}/ { @runs = count(); for ($i : 0..1000) { @sum = sum($i * rand); } }`;
    const live = await trace(script, { maxOverhead: limit });
    const events = await collect(live, (event) => event.type === "trouble" && event.trouble.kind === "throttled");
    const throttled = events.at(-1);
    assert.ok(throttled?.type === "trouble" && throttled.trouble.kind === "throttled");
    assert.equal(throttled.trouble.probe, "tracepoint:syscalls:sys_enter_getppid");
    assert.equal(throttled.trouble.limit, limit);
    assert.ok(throttled.trouble.every >= 2 && throttled.trouble.share > limit && throttled.trouble.rate > 0);
    assert.match(
      throttled.text,
      /^WARNING: tracepoint:syscalls:sys_enter_getppid fires [\d,]+ times a second and takes [\d.]+ % of the CPUs \(the limit is [\d.]+ %\): its handler runs for one event in [\d,]+ now$/,
    );
    await work.end();
  },
);

test(
  "a probe that is too expensive without its handler is detached, and its process runs on untouched",
  deadline,
  async () => {
    const work = busy();
    const live = await trace(`uprobe:${workload}:hot { @ = count(); }`, { maxOverhead: ofOneCpu(0.02) });
    const seen: TraceEvent[] = [];
    for await (const event of live) {
      seen.push(event);
      if (event.type !== "trouble" || event.trouble.kind !== "detached") continue;
      assert.equal(live.stats()?.handlers[0].state, "detached");
      // Nothing more arrives once the probe has gone.
      const runs = (): number | undefined => live.stats()?.handlers[0].runs;
      let before: number | undefined;
      do {
        before = runs();
        await new Promise((resolve) => setTimeout(resolve, 300));
      } while (runs() !== before);
      live.stop();
    }
    assert.ok((await work.end()) > 0);
    const troubles = seen.flatMap((event) => (event.type === "trouble" ? [event.trouble] : []));
    assert.deepEqual(
      troubles.map(({ kind }) => kind),
      ["detached", "skipped"],
    );
    const [handler] = live.stats()?.handlers ?? [];
    const map = seen.find((event) => event.type === "map");
    const counted = map?.type === "map" ? Number(map.map.entries[0][1]) : 0;
    // Every event is accounted for: either the handler saw it, or it was left out and counted.
    assert.equal(counted + handler.skipped, handler.runs);
    const skipped = troubles[1];
    assert.ok(skipped.kind === "skipped" && skipped.count === handler.skipped && skipped.count > 0);
  },
);

test("a share that makes no sense is refused", deadline, async () => {
  const { code, stderr } = await strobe(["--max-overhead", "fast", "-e", "begin { }"]);
  assert.equal(code, 1);
  assert.match(stderr, /^strobe: --max-overhead takes a share of the CPU time above 0 % and up to 100 %, not "fast"$/m);
});
