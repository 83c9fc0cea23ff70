// What a tracer costs when there is nothing to say, and that it says everything when there is much.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { bpfObjects, compileC, nothingLeft, startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
const folder = temporaryFolder();
const source = `
#include <stdlib.h>
__attribute__((noinline)) void tick(long n) { __asm__ volatile("" : : "r"(n)); }
int main(int argc, char **argv) { for (long i = 0, n = atol(argv[1]); i < n; i++) tick(i); return 0; }`;

/** Some 50,000 ticks a second: a flood that strobe sleeps in. */
const flowing = source
  .replace("tick(i);", "{ tick(i); if (i % 100 == 0) usleep(2000); }")
  .replace("<stdlib.h>", "<stdlib.h>\n#include <unistd.h>");

let objects = "";
let program = "";
let flow = "";
before(() => {
  if (deadline.skip) return;
  program = compileC(folder.path, "ticks", source, ["-O1"]);
  flow = compileC(folder.path, "flow", flowing, ["-O1"]);
  objects = bpfObjects();
});
after(async () => {
  folder.remove();
  if (!deadline.skip) await nothingLeft(objects);
});

/** How often the threads of a process have gone to sleep. */
function sleeps(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
  }, 0);
}

/**
 * Until there are two seconds in which a tracer, to which nothing happens, wakes up so many times at most: Node and V8
 * tidy up for a while after the start.
 */
async function calm(pid: number, most: number): Promise<void> {
  for (;;) {
    const from = sleeps(pid);
    await sleep(2000);
    if (sleeps(pid) - from <= most) return;
  }
}

/** That a tracer comes to rest. */
async function rests(args: readonly string[], most: number): Promise<void> {
  const running = startStrobe(args);
  await running.attached;
  await calm(running.child.pid ?? 0, most);
  running.child.kill("SIGINT");
  assert.equal((await running.outcome).code, 0);
}

test("a tracer that waits for events sleeps", deadline, () =>
  rests(["-e", `uprobe:${program}:tick { printf("%d\\n", arg0); }`], 0),
);

test("one that fills a map looks once a second whether the map is full", deadline, () =>
  rests(["-e", `uprobe:${program}:tick { @[arg0] = count(); }`], 3),
);

test("one that traces a process sleeps until the process ends", deadline, async () => {
  const sleeper = spawn("sleep", ["600"], { stdio: "ignore" });
  try {
    const running = startStrobe(["-p", String(sleeper.pid), "-e", `uprobe:${program}:tick { printf("%d\\n", arg0); }`]);
    await running.attached;
    await calm(running.child.pid ?? 0, 0);
    sleeper.kill();
    assert.equal((await running.outcome).code, 0);
  } finally {
    sleeper.kill();
  }
});

test("in a flood of lines intervals tick, and Ctrl-C is heard", deadline, async () => {
  const path = join(folder.path, "flood");
  const running = startStrobe([
    "-o",
    path,
    "-c",
    `${flow} 100000000`,
    "-e",
    `uprobe:${flow}:tick { printf("%d\\n", arg0); } interval:ms:10 { printf("at %d\\n", nsecs / 1000000); }`,
  ]);
  await running.attached;
  const lines = (): string[] => readFileSync(path, "utf8").split("\n").slice(0, -1);
  const times = (): number[] =>
    lines()
      .filter((line) => line.startsWith("at "))
      .map((line) => Number(line.slice(3)));
  while (times().length < 20 || lines().length < 10_000) await sleep(100);
  running.child.kill("SIGINT");
  const { code, stderr } = await running.outcome;
  assert.equal(code, 0);
  assert.ok(times().every((at, i, all) => i === 0 || at >= all[i - 1]));
  // In order, and none is missing but for those that a busy machine is said to have lost.
  const numbers = lines()
    .filter((line) => /^\d+$/.test(line))
    .map(Number);
  const gaps = numbers.reduce((sum, number, i) => sum + number - (numbers[i - 1] ?? -1) - 1, 0);
  const lost = [...stderr.matchAll(/lost (\d+) events/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  assert.ok(numbers.every((number, i) => i === 0 || number > numbers[i - 1]));
  assert.ok(gaps <= lost, `${gaps} are missing, and ${lost} are said to be lost`);
});

for (const format of ["text", "json"]) {
  test(`a burst that the ring holds is printed to the last line, in order, as ${format}`, deadline, async () => {
    const events = 150_000;
    const path = join(folder.path, `lines.${format}`);
    // 64 MiB, which is more than they are.
    const env = { ...process.env, BPFTRACE_PERF_RB_PAGES: "16384" };
    const script = `uprobe:${program}:tick { printf("%d %s\\n", arg0, comm); }`;
    const { code, stderr } = await strobe(
      ["-q", "-f", format, "-o", path, "-c", `${program} ${events}`, "-e", script],
      { env },
    );
    assert.deepEqual([code, stderr], [0, ""]);
    const lines = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.includes("ticks"));
    assert.equal(lines.length, events);
    assert.ok(
      lines.every(
        (line, n) =>
          (format === "text" ? line : (JSON.parse(line) as { data: string }).data.trimEnd()) === `${n} ticks`,
      ),
    );
  });
}
