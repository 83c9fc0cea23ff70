// `-p` with events that run in other processes: the tools about threads choose their process themselves, and of other
// scripts it is said what is not seen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { comm, work } from "../../support/tool-workloads.ts";
import { between, counted, start, waitsSeen } from "../../support/tool-runs.ts";
import { startStrobe } from "../../support/strobe.ts";

const skip = process.geteuid?.() !== 0 ? "needs root" : false;

/**
 * What a tool prints with -p of a process that does a deed meanwhile, until it ends; another does the same beside it.
 */
async function traced(
  script: string,
  deed: readonly string[],
): Promise<{ readonly text: string; readonly said: string; readonly output: string; readonly waits: number }> {
  const [wanted, other] = [start(work, deed), start(work, deed)];
  const waits = await waitsSeen(wanted.pid);
  const running = startStrobe(["-p", String(wanted.pid), `tools/${script}.bt`]);
  await running.attached;
  other.release();
  await other.output;
  wanted.release();
  const output = await wanted.output;
  const { stdout, stderr } = await running.outcome;
  return { text: stdout, said: stderr, output, waits: await waits() };
}

/** Microseconds by program that off-cpu counts. */
const offCpu = (text: string): { readonly name: string; readonly us: number }[] =>
  [...text.matchAll(/^@us\[([^,]+), [^\]]*\]: (\d+)$/gm)].map(([, name, us]) => ({ name, us: Number(us) }));

test("off-cpu: the wait of the process, and nobody else's", { skip }, async () => {
  const { text, said } = await traced("off-cpu", ["sleep", "300"]);
  // Of a process that was met a moment ago.
  assert.match(
    said,
    /^Attached 2 probes\n(?:WARNING: \d+ stacks? (?:ends? early|follows? frame pointers only): .*\n)*$/,
  );
  const found = offCpu(text);
  assert.deepEqual([...new Set(found.map(({ name }) => name))], [comm]);
  // The sleep; besides it, the wait until it was let go.
  assert.ok(
    found.some(({ us }) => us >= 300_000),
    text,
  );
});

test("run-queue: a wait for each time that the process got the CPU", { skip }, async () => {
  const { text, said, output, waits } = await traced("run-queue", ["naps", "100"]);
  assert.equal(said, "Attached 4 probes\n");
  assert.equal(counted(text, "@us"), waits);
  // No more than the kernel counts while it naps, its release and its end.
  between(waits, 50, Number(output) + 80, "waits");
});

for (const [script, what] of [
  [
    "tracepoint:sched:sched_wakeup { @ = count(); }",
    "-p sees tracepoint:sched:sched_wakeup only where the process wakes or moves a thread, not where one of its own is woken",
  ],
  [
    "tracepoint:irq:irq_handler_entry { @ = count(); }",
    "-p sees tracepoint:irq:irq_handler_entry only where it runs in the process, not in an interrupt or in a thread of the kernel",
  ],
  [
    "rawtracepoint:block_rq_complete { @ = count(); }",
    "-p sees rawtracepoint:vmlinux:block_rq_complete only where it runs in the process, not in an interrupt or in a thread of the kernel",
  ],
  [
    "tracepoint:sched:sched_switch { @ = count(); }",
    "-p sees tracepoint:sched:sched_switch only where a thread of the process leaves the CPU, not where one gets it",
  ],
] as const) {
  test(`what is not seen is said: ${script}`, { skip }, async () => {
    const child = start(work, ["0"]);
    const running = startStrobe(["-p", String(child.pid), "-e", script]);
    await running.attached;
    child.release();
    await child.output;
    const { stderr } = await running.outcome;
    assert.equal(
      stderr
        .split("\n")
        .filter((line) => line.includes("warning: "))
        .map((line) => line.split("warning: ")[1])
        .join(),
      what,
    );
  });
}

test("a handler in the process itself brings no warning", { skip }, async () => {
  const child = start(work, ["calls", "50"]);
  const running = startStrobe([
    "-p",
    String(child.pid),
    "-e",
    "tracepoint:syscalls:sys_enter_getppid { @ = count(); } tracepoint:syscalls:sys_enter_clock_nanosleep { @naps = count(); }",
  ]);
  await running.attached;
  child.release();
  await child.output;
  const { stdout, stderr } = await running.outcome;
  assert.equal(stderr, "Attached 2 probes\n");
  assert.ok(stdout.includes(`@naps: 1\n`) && Number(/^@: (\d+)$/m.exec(stdout)?.[1]) >= 50, stdout);
});
