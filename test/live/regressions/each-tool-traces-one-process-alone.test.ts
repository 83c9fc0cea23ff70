// `-p` with each ready script: what the process does is there to the last event, and nothing of another one that does the
// same beside it. What a script cannot see of one process is said.
import assert from "node:assert/strict";
import { linkSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { between, counted, histogram, missedIn, start, waitsSeen } from "../../support/tool-runs.ts";
import { interrupt, startStrobe } from "../../support/strobe.ts";
import { comm, folder, work } from "../../support/tool-workloads.ts";

const skip = process.geteuid?.() !== 0 ? "needs root" : false;
// The same file, so that its functions' probes are in both.
const otherComm = `other-${process.pid}`;
const other = join(folder.path, otherComm);
linkSync(work, other);

interface Seen {
  readonly text: string;
  /** Behind the heading, by columns. */
  readonly rows: readonly (readonly string[])[];
  readonly pid: string;
  /** What the workload printed. */
  readonly output: string;
  /** Events that the kernel left out since the CPU was in another handler. */
  readonly missed: number;
  /** As often as it was seen to wait for a CPU. */
  readonly waits: number;
}

interface Tool {
  readonly deed: readonly string[];
  readonly args?: readonly string[];
  /** Of each event, where -p does not see every one that concerns the process: in which it does. */
  readonly only?: readonly string[];
  readonly seen: (seen: Seen) => void;
}

const path = join(folder.path, "here");
const missing = join(folder.path, "missing");
const inside = "it runs in the process, not in an interrupt or in a thread of the kernel";

const tools: Readonly<Record<string, Tool>> = {
  allocations: {
    deed: ["allocations"],
    seen: ({ text, output }) => {
      const [bytes, count] = output.split(" ").map(Number);
      assert.deepEqual(histogram(text, `@sizes[${comm}]`), [{ from: 512, count }]);
      assert.match(text, new RegExp(`^@total\\[${comm}\\]: ${bytes}$`, "m"));
    },
  },
  "block-latency": {
    deed: ["sleep", "1"],
    only: [`block:block_rq_issue ${inside}`, `block:block_rq_complete ${inside}`],
    seen: ({ rows }) => assert.deepEqual(rows, []),
  },
  "block-io": {
    deed: ["direct", path],
    seen: ({ rows, pid }) => assert.ok(rows.every((columns) => columns[1] === pid)),
  },
  "block-top": {
    deed: ["direct", path],
    seen: ({ text, pid }) =>
      assert.ok(
        [...text.matchAll(/^@\w+\[(\d+), /gm)].every(([, of]) => of === pid),
        text,
      ),
  },
  callees: {
    deed: ["calls", "3"],
    args: [work, "calls", "[acp]a*s"],
    seen: ({ text }) => assert.match(text.trim(), /^@calls\[pause_ms\]: \{ \.count = 1, [^\n]+\}$/),
  },
  calltree: {
    deed: ["calls", "3"],
    args: [work, "[cp]a*s"],
    seen: ({ rows, pid }) =>
      assert.deepEqual(
        rows.map((columns) => [columns[0], ...columns.slice(-2)]),
        [">calls", ">pause_ms", "<pause_ms", "<calls"].map(([sign, ...name]) => [pid, sign, name.join("")]),
      ),
  },
  "cpu-stacks": {
    deed: ["touch", "200000"],
    seen: ({ text }) => {
      const samples = [...text.matchAll(/^@\[([^,]+), \n[\s\S]*?^\]: (\d+)$/gm)];
      assert.ok(samples.length > 0, text);
      assert.ok(samples.every(([, name]) => name === comm));
    },
  },
  deletes: {
    deed: ["ways", path, missing],
    seen: ({ rows, pid }) =>
      assert.deepEqual(
        rows.map((columns) => columns.slice(1)),
        [[pid, comm, missing]],
      ),
  },
  dns: {
    deed: ["sleep", "1"],
    seen: ({ rows }) => assert.deepEqual(rows, []),
  },
  drops: {
    deed: ["sleep", "1"],
    only: [`skb:kfree_skb ${inside}`],
    seen: ({ rows }) => assert.deepEqual(rows, []),
  },
  execs: {
    deed: ["ways", path, missing],
    seen: ({ rows, pid }) =>
      assert.deepEqual(
        rows.map((columns) => [columns[1], ...columns.slice(3)]),
        [[pid, comm, "true", "by", "descriptor"]],
      ),
  },
  fsyncs: {
    deed: ["files", path],
    args: ["--ms=0"],
    seen: ({ rows, pid }) => {
      const calls = rows.filter((columns) => /^\d\d:/.test(columns[0]));
      assert.deepEqual(
        calls.map(([, name, of, , , call]) => [name, of, call]),
        ["fsync", "fdatasync", "sync_file_range", "syncfs", "msync", "sync"].map((call) => [comm, pid, call]),
      );
    },
  },
  "futex-waits": {
    deed: ["futexes"],
    seen: ({ text, pid, output }) => assert.equal(counted(text, `@each[${comm}, ${pid}]`), Number(output)),
  },
  interrupts: {
    deed: ["sleep", "1"],
    only: [`irq:irq_handler_entry ${inside}`, `irq:irq_handler_exit ${inside}`],
    seen: ({ rows }) => assert.deepEqual(rows, []),
  },
  "library-calls": {
    deed: ["lock", "1000"],
    seen: ({ text }) => {
      const calls = new Map([...text.matchAll(/^@\[(\S+), uprobe:\S+:(\w+)\]: (\d+)$/gm)].map((m) => [m[2], m]));
      assert.deepEqual([...new Set([...calls.values()].map(([, name]) => name))], [comm]);
      // The C library may lock for itself as the program ends.
      between(Number(calls.get("pthread_mutex_lock")?.[3]), 1000, 1010, "pthread_mutex_lock");
    },
  },
  lifetimes: {
    deed: ["7"],
    seen: ({ rows, pid }) =>
      assert.deepEqual(
        rows.map((columns) => [columns[1], columns[3], columns[5]]),
        [[pid, comm, "7"]],
      ),
  },
  "lock-contention": {
    deed: ["contend", "3"],
    seen: ({ text, output }) => assert.ok(output === "" || counted(text, `@each[${comm}, mutex]`) >= 3, text),
  },
  "off-cpu": {
    deed: ["sleep", "300"],
    seen: ({ text }) => {
      const waits = [...text.matchAll(/^@us\[([^,]+), [^\]]*\]: (\d+)$/gm)];
      assert.deepEqual([...new Set(waits.map(([, name]) => name))], [comm]);
      assert.ok(waits.some(([, , us]) => Number(us) >= 300_000));
    },
  },
  "oom-kills": {
    deed: ["sleep", "1"],
    only: ["oom:mark_victim the process asked for the memory, not where it is the victim"],
    seen: ({ rows }) => assert.deepEqual(rows, []),
  },
  opens: {
    deed: ["open", missing],
    seen: ({ rows, pid }) =>
      assert.deepEqual(
        rows,
        [1, 2, 3].map(() => [pid, comm, "-1", "2", missing]),
      ),
  },
  "page-faults": {
    deed: ["touch", "4000"],
    seen: ({ text, pid, output }) => {
      const [, of, faults] = /^@\[(.*)\]: (\d+)$/.exec(text.trim()) ?? [];
      assert.equal(of, `${comm}, ${pid}`);
      between(Number(faults), Number(output), Number(output) + 1000, "faults");
    },
  },
  "run-queue": {
    deed: ["naps", "100"],
    // An event that is missed is the beginning or the end of a wait.
    seen: ({ text, output, missed, waits }) => {
      between(counted(text, "@us"), waits - missed, waits + missed, "waits");
      // No more than the kernel counts while it naps, its release and its end.
      between(waits, 50, Number(output) + 80, "waits that are seen");
    },
  },
  signals: {
    deed: ["ways", path, missing],
    only: ["signal:signal_generate the process sends a signal, not where it is sent one"],
    seen: ({ rows, pid }) =>
      assert.deepEqual(
        rows.filter((columns) => columns[3] !== "17").map((columns) => columns.slice(1, 7)),
        [1, 2, 3, 4, 5, 6].map(() => [pid, comm, "10", pid, comm, "0"]),
      ),
  },
  "slow-files": {
    deed: ["files", path],
    args: ["--ms=0"],
    seen: ({ rows, pid }) => {
      assert.equal(rows.length, 26);
      assert.ok(rows.every(([, name, of]) => name === comm && of === pid));
    },
  },
  switches: {
    deed: ["naps", "100"],
    only: ["sched:sched_switch a thread of the process leaves the CPU, not where one gets it"],
    seen: ({ text, output }) => {
      const counts = [...text.matchAll(/^@\w+\[(.*)\]: (\d+)$/gm)];
      assert.deepEqual([...new Set(counts.map(([, name]) => name))], [comm]);
      const sum = counts.reduce((all, [, , count]) => all + Number(count), 0);
      between(sum, Number(output), Number(output) + 80, "switches");
    },
  },
  "syscall-latency": {
    deed: ["calls", "500"],
    seen: ({ text }) => {
      assert.equal(counted(text, "@us[getppid]"), 500);
      assert.equal(counted(text, "@us[clock_nanosleep]", 32_768), 1);
    },
  },
  syscalls: {
    deed: ["calls", "50"],
    seen: ({ text }) => {
      const calls = [...text.matchAll(/^@\[(.*), (\w+)\]: (\d+)$/gm)].map(([, ...columns]) => columns.join(" "));
      assert.ok(calls.includes(`${comm} getppid 50`) && calls.includes(`${comm} clock_nanosleep 1`), text);
      assert.ok(calls.every((line) => line.startsWith(`${comm} `)));
    },
  },
  "tcp-connects": {
    deed: ["unanswered"],
    seen: ({ rows, pid, output }) => {
      const port = output.split(" ")[0];
      assert.deepEqual(
        rows.map((columns) => `${columns[1]} ${columns[5]}`),
        Array<string>(4).fill(`${pid} ${port}`),
      );
    },
  },
  "tcp-connections": {
    deed: ["sleep", "1"],
    only: [`sock:inet_sock_set_state ${inside}`],
    seen: ({ rows }) => assert.deepEqual(rows, []),
  },
  "tcp-lifetimes": {
    deed: ["sleep", "1"],
    only: [`sock:inet_sock_set_state ${inside}`],
    seen: ({ rows }) => assert.deepEqual(rows, []),
  },
  "tcp-retransmits": {
    deed: ["sleep", "1"],
    only: [`tcp:tcp_retransmit_skb ${inside}`],
    seen: ({ rows }) => assert.deepEqual(rows, []),
  },
  tls: {
    deed: ["sleep", "1"],
    seen: ({ rows }) => assert.deepEqual(rows, []),
  },
};

/** A typed line is bash's own; functions of the kernel are probed in the guests of other kernels. */
const elsewhere = ["bash-lines", "kernel-callees", "kernel-calltree"];

/** Whose events come in other processes. */
const byTask = new Set(["block-io", "block-top", "dns", "off-cpu", "run-queue", "tcp-connects"]);
const chosen = Object.entries(tools).flatMap(([name, tool]) =>
  (byTask.has(name) ? ["-p", "--comm"] : ["-p"]).map((flag) => ({ name, flag, ...tool })),
);

for (const { name, flag, deed, args = [], only = [], seen } of chosen) {
  test(`${name} ${flag}`, { skip }, async () => {
    const [wanted, beside] = [start(work, deed), start(other, deed)];
    const waits = name === "run-queue" ? await waitsSeen(wanted.pid) : () => Promise.resolve(0);
    const running = startStrobe([
      flag,
      flag === "-p" ? String(wanted.pid) : comm,
      `tools/${name}.bt`,
      ...(args.length > 0 ? ["--", ...args] : []),
    ]);
    await running.attached;
    beside.release();
    await beside.output;
    wanted.release();
    const output = await wanted.output;
    if (flag !== "-p") await interrupt(running);
    const { stdout, stderr, code } = await running.outcome;
    assert.equal(code, 0, stderr);
    assert.ok(!stdout.includes(otherComm), stdout);
    assert.deepEqual(
      [...stderr.matchAll(/warning: (?:-p|--comm) sees tracepoint:(\S+) only where (.*)$/gm)].map(
        ([, event, where]) => `${event} ${where}`,
      ),
      only,
    );
    const lines = stdout.split("\n").filter((line) => line !== "");
    const rows = lines.map((line) => line.trim().split(/\s+/));
    seen({
      text: stdout,
      rows: rows.slice(/^[A-Z ]+$/.test(lines[0] ?? "") ? 1 : 0),
      pid: String(wanted.pid),
      output,
      missed: missedIn(stderr),
      waits: await waits(),
    });
  });
}

test("every script was traced", () => {
  const all = readdirSync("tools").flatMap((name) => (name.endsWith(".bt") ? [basename(name, ".bt")] : []));
  assert.deepEqual([...Object.keys(tools), ...elsewhere].sort(), all.sort());
});
