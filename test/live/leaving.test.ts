// How tracepoints are let go of: without waiting for the kernel, which runs a handler some time longer than the session
// lasts.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
const command = resolve("dist/strobe.js");

let objects = "";
before(() => {
  if (!deadline.skip) objects = bpfObjects();
});
after(async () => {
  if (!deadline.skip) await nothingLeft(objects);
});

/** Events whose records handlers read, so that each is a perf event. */
const events = [
  "task:task_rename",
  "sched:sched_process_exec",
  "sched:sched_process_fork",
  "signal:signal_generate",
  "sock:inet_sock_set_state",
  "task:task_newtask",
];

test("ending a script with handlers on several tracepoints waits for the kernel at most once", deadline, async () => {
  const handlers = events
    .map((event) => `tracepoint:${event} /args.${firstField(event)} == 0x7fffffff/ { @ = count(); }`)
    .join(" ");
  const script = `
    tracepoint:syscalls:sys_enter_close /pid == cpid/ { @closing[tid] = 1; @closes++; }
    tracepoint:syscalls:sys_exit_close /pid == cpid/ { delete(@closing, tid); }
    tracepoint:sched:sched_switch /@closing[tid] && (args.prev_state & 2) != 0/ { @waits[kstack] = count(); }
    interval:hz:1 { }
    end { printf("%d closes\\n", @closes); clear(@closing); }`;
  const words = [process.execPath, command, "-q", "-e", `'${handlers} interval:ms:50 { exit(); }'`];
  const { stdout, stderr, code } = await strobe(["-q", "-c", words.join(" "), "-e", script]);
  assert.equal(code, 0, stderr);
  const [, closes] = /^(\d+) closes$/m.exec(stdout) ?? [];
  assert.ok(Number(closes) > events.length, stdout);
  // Whoever waits for a lock waits for other tracers.
  const waits = [...stdout.matchAll(/^@waits\[\n([^\]]*)\]: (\d+)$/gm)]
    .filter(([, stack = ""]) => /synchronize_|wait_for_completion/.test(stack))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
  assert.ok(waits <= 1, stdout);
});

function firstField(event: string): string {
  switch (event) {
    case "sched:sched_process_fork":
      return "child_pid";
    case "signal:signal_generate":
      return "sig";
    case "sock:inet_sock_set_state":
      return "oldstate";
    default:
      return "pid";
  }
}

test("no handler runs once `end` has", deadline, async () => {
  const folder = temporaryFolder();
  try {
    const renaming = join(folder.path, "renaming.sh");
    writeFileSync(renaming, "while :; do printf renamed > /proc/self/comm; done\n");
    const script = `
      tracepoint:task:task_rename /pid == cpid/ { @renames[args.pid] = count(); @before = count(); }
      interval:ms:500 { exit(); }
      end { clear(@renames); system("sleep 0.2"); }`;
    const { stdout, stderr, code } = await strobe(["-q", "--unsafe", "-c", `sh ${renaming}`, "-e", script]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^@before: [1-9]/m);
    assert.doesNotMatch(stdout, /@renames/);
  } finally {
    folder.remove();
  }
});
