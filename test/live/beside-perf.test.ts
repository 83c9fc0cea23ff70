// strobe and perf at the same events at once: neither keeps them from the other, and they see the same.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";
import { missedIn } from "../support/tool-runs.ts";
import { bpfObjects, compileC, interrupt, nothingLeft, startStrobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const objects = bpfObjects();
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const without = spawnSync("perf", ["--version"]).status !== 0 && "needs perf";

const signals = compileC(
  folder.path,
  "signals",
  `
#include <signal.h>
#include <unistd.h>
int main(void)
{
	signal(SIGUSR1, SIG_IGN);
	for (int i = 0; i < 50; i++)
		kill(getpid(), SIGUSR1);
	return 0;
}
`,
);

const contended = compileC(
  folder.path,
  "contended",
  `
#include <pthread.h>
#include <sys/mman.h>
static void *maps(void *unused)
{
	for (int i = 0; i < 5000; i++) {
		char *at = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*at = 1;
		munmap(at, 65536);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, maps, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	return 0;
}
`,
  ["-pthread"],
);

interface Beside {
  readonly ours: string;
  /** The kernel leaves out what happens while the CPU is in another tracer's handler. */
  readonly missed: number;
}

/** perf over a command while a script runs. */
async function beside(
  script: readonly string[],
  perf: readonly string[],
): Promise<Beside & { readonly theirs: string }> {
  const running = startStrobe(script);
  let theirs = "";
  try {
    await running.attached;
    const { status, stdout, stderr } = spawnSync("perf", perf, { encoding: "utf8", timeout: 60_000 });
    assert.equal(status, 0, stderr);
    theirs = stdout + stderr;
  } finally {
    await interrupt(running);
  }
  const { stdout, stderr } = await running.outcome;
  return { ours: stdout, missed: missedIn(stderr), theirs };
}

/** The events that perf recorded of a command, as it prints them. */
async function recorded(
  script: readonly string[],
  events: string,
  command: string,
): Promise<Beside & { readonly events: readonly string[] }> {
  const path = join(folder.path, "perf.data");
  const { ours, missed } = await beside(script, ["record", "-q", "-m", "1024", "-o", path, "-e", events, command]);
  const { stdout } = spawnSync("perf", ["script", "-i", path, "-F", "comm,tid,time,event,trace"], { encoding: "utf8" });
  return { ours, missed, events: stdout.trim().split("\n") };
}

for (const { handler, prints } of [
  { handler: "/comm == $1 && args.sig == 10/ { @ = count(); }", prints: "@: 50" },
  { handler: "/comm == $1 && args.sig == 9/ { @ = count(); }", prints: "" },
  {
    handler: "/comm == $1 && args.sig == 10/ { @[len(ustack) > 0, len(kstack) > 0] = count(); }",
    prints: "@[true, true]: 50",
  },
  { handler: '/comm == $1 && args.sig == 10/ { printf("%s ", args.comm); }', prints: "signals ".repeat(50).trim() },
])
  test(`perf counts the events of ${handler}`, { skip: without }, async () => {
    const script = ["-e", `tracepoint:signal:signal_generate ${handler}`, "signals"];
    const { ours, theirs } = await beside(script, ["stat", "-x,", "-e", "signal:signal_generate", signals]);
    assert.equal(ours.trim(), prints);
    assert.match(theirs, /^50,,signal:signal_generate,/);
  });

test("strobe lock-contention, and lock:contention_begin and _end of perf", { skip: without }, async () => {
  const { ours, missed, events } = await recorded(["lock-contention"], "lock:contention_*", contended);
  let waits = 0;
  const waiting = new Set<string>();
  // Until it becomes the program, it is perf's.
  for (const event of events.filter((line) => line.trim().startsWith("contended "))) {
    const [, tid, what, lock] = /^\s*\S+ +(\d+) .*lock:contention_(begin|end): (\S+)/.exec(event)!;
    if (what === "begin") waiting.add(`${tid} ${lock}`);
    else if (waiting.delete(`${tid} ${lock}`)) waits++;
  }
  const charts = ours.matchAll(/^@each\[contended, .*\]:\n((?:[[(].*\n)+)/gm);
  const counted = [...charts].flatMap(([, rows]) => [...rows.matchAll(/ (\d+) \|/g)].map(([, count]) => Number(count)));
  const ended = counted.reduce((sum, count) => sum + count, 0);
  // perf's events of a process go before its memory does, whose locks may be contended.
  const behind = ended - waits;
  assert.ok(waits > 0 && behind <= 10 && behind + missed >= 0, `${ended} of ${waits}, ${missed} missed\n${ours}`);
});
