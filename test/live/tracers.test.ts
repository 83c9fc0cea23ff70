// The kernel's own tracers: what is said where the kernel lacks them, and interrupts by eBPF instead of osnoise.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { strobe } from "../support/strobe.ts";

const tracing = "/sys/kernel/tracing";
const has = (tracer: string): boolean =>
  readFileSync(`${tracing}/available_tracers`, "latin1").split(/\s+/).includes(tracer);
const lacks = (tracer: string): { readonly skip: string | false } => ({
  skip: has(tracer) && `this kernel has ${tracer}: see test/guest`,
});
const instances = (): string =>
  readdirSync(`${tracing}/instances`)
    .filter((name) => /graph|settings/.test(name))
    .join();

test("graph says what the kernel lacks, and leaves nothing", lacks("function_graph"), async () => {
  const { code, stderr, stdout } = await strobe(["graph", "vfs_read", "--for", "1s"]);
  assert.deepEqual(
    { code, stderr, stdout },
    {
      code: 1,
      stdout: "",
      stderr:
        "strobe: cannot trace the calls of vfs_read: this kernel was built without ftrace's function graph (CONFIG_FUNCTION_GRAPH_TRACER)\n",
    },
  );
  assert.equal(instances(), "");
});

test("timerlat needs the kernel's tracer", lacks("timerlat"), async () => {
  const { code, stderr } = await strobe(["timerlat", "--for", "1s"]);
  assert.equal(code, 1);
  assert.ok(
    stderr.startsWith(
      "strobe: strobe timerlat needs the kernel's tracer timerlat, which this one was built without (CONFIG_TIMERLAT_TRACER)\n",
    ),
    stderr,
  );
});

test("noise says which options need the tracer", lacks("osnoise"), async () => {
  const { code, stderr } = await strobe(["noise", "--stop", "100"]);
  assert.equal(code, 1);
  assert.ok(
    stderr.startsWith(
      "strobe: --stop needs the kernel's tracer osnoise, which this one was built without (CONFIG_OSNOISE_TRACER)\n",
    ),
    stderr,
  );
});

test("what tracers write is no place for BPF", async () => {
  const { code, stderr } = await strobe(["-e", "tracepoint:ftrace:print { @ = count(); }"]);
  assert.equal(code, 1);
  assert.match(stderr, /no BPF program runs at tracepoint:ftrace:print: the kernel's tracers write it/);
  assert.match(stderr, /^help: --engine tracefs takes it$/m);
});

test("what others write to trace_marker, and what comes into no other buffer", async () => {
  const marker = `${tracing}/trace_marker`;
  const copies = existsSync(`${tracing}/options/copy_trace_marker`);
  const [one, other] = await Promise.all([
    strobe([
      "-q",
      "--engine=tracefs",
      "-c",
      `sh -c 'echo mark-$$ of $0 >${marker}'`,
      "-e",
      'tracepoint:ftrace:print /pid == cpid/ { printf("%d %s", pid, str(args.buf)); }',
    ]),
    strobe(["--engine", "tracefs", "-e", "tracepoint:ftrace:function { exit(); }"]),
  ]);
  if (copies) assert.match(one.stdout, /^(\d+) mark-\1 of \S*sh\n/, one.stderr);
  else assert.match(one.stderr, /^help: Linux 6\.16 copies what is written to trace_marker/m);
  assert.match(
    other.stderr,
    /error: the kernel writes tracepoint:ftrace:function into its top-level buffer alone, which strobe leaves to others/,
  );
});

/** How often each CPU ran soft interrupts of any kind. */
const softInterrupts = (text: string): number[] => {
  const [, ...rows] = text.trim().split("\n");
  const columns = rows.map((row) => row.trim().split(/\s+/).slice(1).map(Number));
  return columns[0].map((_, cpu) => columns.reduce((sum, row) => sum + row[cpu], 0));
};

test("noise by eBPF: as many soft interrupts as the kernel counts", lacks("osnoise"), async () => {
  const before = softInterrupts(readFileSync("/proc/softirqs", "latin1"));
  const { code, stdout, stderr } = await strobe([
    "noise",
    "-q",
    "-c",
    `sh -c 'cat /proc/softirqs; sleep 1; echo then; cat /proc/softirqs'`,
  ]);
  const after = softInterrupts(readFileSync("/proc/softirqs", "latin1"));
  assert.equal(code, 0, stderr);
  const [inside, ...more] = stdout.split(/^then\n/m);
  const [end, table] = more.join("").split(/^times in microseconds\n(?=CPU +RUNTIME)/m);
  const [least, most] = [inside, end].map(softInterrupts);
  const rows = table
    .trim()
    .split("\n")
    .slice(1)
    .map((row) => row.trim().split(/\s+/).map(Number));
  assert.equal(rows.length, before.length);
  for (const [cpu, runtime, noise, free, single, interrupts, soft] of rows) {
    // One that had begun before the handlers were there has no beginning.
    assert.ok(soft >= most[cpu] - least[cpu] - 1 && soft <= after[cpu] - before[cpu], `${stdout}\n${cpu}: ${soft}`);
    assert.ok(interrupts > 0 && single <= noise && noise < runtime, stdout);
    assert.ok(free > 0 && free < 100, stdout);
  }
});
