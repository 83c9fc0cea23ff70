// Recordings of trace-cmd's: what strobe counts in them is what trace-cmd prints of them. STROBE_TRACE_CMD is another
// command than trace-cmd, of one word each.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const [program, ...words] = (process.env["STROBE_TRACE_CMD"] ?? "trace-cmd").split(" ");

function traceCmd(...args: readonly string[]): { readonly status: number | null; readonly stdout: string } {
  return spawnSync(program, [...words, ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: 60_000,
    cwd: folder.path,
  });
}

const events = [
  ["-e", "sched:sched_process_exec"],
  ["-e", "sched:sched_process_fork"],
  ["-e", "syscalls:sys_enter_openat"],
  ["-e", "sched:sched_switch"],
].flat();
const work = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do cat /etc/passwd > /dev/null; done"];
const files = [
  ["version 7, as it comes", "seven.dat", []],
  ["version 7 without compression", "plain.dat", ["--compression", "none"]],
  ["version 7 by zlib", "zlib.dat", ["--compression", "zlib"]],
  ["version 6", "six.dat", ["--file-version", "6"]],
] as const;
const record = (name: string, options: readonly string[]): boolean =>
  traceCmd("record", "-q", ...options, ...events, "-o", join(folder.path, name), ...work).status === 0;

let skip: string | false = false;

before(() => {
  if (traceCmd("--version").stdout === null) skip = "trace-cmd is not installed";
  // It writes to files of ftrace's that a locked kernel lets nobody write.
  else if (!record("seven.dat", [])) skip = "trace-cmd cannot record here";
});

after(() => folder.remove());

function tally(keys: Iterable<string>): unknown {
  const sums = new Map<string, number>();
  for (const key of keys) sums.set(key, (sums.get(key) ?? 0) + 1);
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function replayed(name: string, script: string): Promise<unknown> {
  const { code, stdout, stderr } = await strobe(["replay", join(folder.path, name), "-e", script]);
  assert.equal(code, 0, stderr);
  return [...stdout.matchAll(/^@\[(.*)\]: (\d+)$/gm)]
    .map(([, key, count]) => [key, Number(count)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Lines `cat-123 [001] d..2. 1.5: name: fields`, fields as they are in the record. */
function printed(name: string): readonly (readonly string[])[] {
  const { stdout } = traceCmd("report", "-R", "-N", "-i", join(folder.path, name));
  return stdout.split("\n").flatMap((line) => {
    const [, ...parts] = /^\s*(.*)-(\d+)\s+\[(\d+)\]\S*\s+\S*\s*\d+\.\d+:\s+(\w+):\s*(.*)$/.exec(line) ?? [];
    return parts.length === 0 ? [] : [parts];
  });
}

for (const [what, name, options] of files)
  test(`${what}: events by name, thread and CPU, and their fields, are those that trace-cmd prints`, async (t) => {
    if (skip !== false) return t.skip(skip);
    if (name !== "seven.dat") assert.ok(record(name, options));
    const lines = printed(name);
    assert.ok(lines.length >= 24, `${lines.length} lines`);
    const systems: Readonly<Record<string, string>> = { sys_enter_openat: "syscalls" };
    assert.deepEqual(
      await replayed(name, "t:*:* { @[probe, tid, cpu] = count(); }"),
      tally(
        lines.map(([, tid, cpu, event]) => `tracepoint:${systems[event] ?? "sched"}:${event}, ${tid}, ${Number(cpu)}`),
      ),
    );
    const switches = lines.flatMap(([, , , event, fields]) =>
      event === "sched_switch"
        ? (/prev_comm=(.*) prev_pid=(\d+) .*prev_state=(\d+) next_comm=(.*) next_pid=(\d+)/
            .exec(fields)
            ?.slice(1)
            .join(", ") ?? [])
        : [],
    );
    assert.ok(switches.length > 0);
    assert.deepEqual(
      await replayed(
        name,
        "t:sched:sched_switch { @[args.prev_comm, args.prev_pid, args.prev_state, args.next_comm, args.next_pid] = count(); }",
      ),
      tally(switches),
    );
  });

test("stacks of the kernel have the names that were recorded with them", async (t) => {
  if (skip !== false) return t.skip(skip);
  const path = join(folder.path, "stacks.dat");
  assert.equal(traceCmd("record", "-q", "-T", "-e", "sched:sched_process_exec", "-o", path, ...work).status, 0);
  const { stdout } = traceCmd("report", "-i", path);
  const [first] = stdout.split(/<stack trace ?>/).slice(1);
  const names = [...first.matchAll(/^=> (\S+) \(/gm)].map(([, symbol]) => symbol);
  assert.ok(names.length > 3, first);
  const { stdout: found } = await strobe([
    "replay",
    path,
    "-e",
    "t:sched:sched_process_exec { print(kstack); exit(); }",
  ]);
  assert.deepEqual(
    [...found.matchAll(/^\s+(\S+)\+\d+$/gm)].map(([, symbol]) => symbol),
    names,
  );
});

test("the process of a thread is refused: ftrace does not tell it", async (t) => {
  if (skip !== false) return t.skip(skip);
  const { code, stderr } = await strobe([
    "replay",
    join(folder.path, "seven.dat"),
    "-e",
    "t:sched:sched_switch { @[pid] = count(); }",
  ]);
  assert.equal(code, 1);
  assert.match(stderr, /error: pid was not recorded/);
});

const made = join(folder.path, "made.strobe");
const converted = join(folder.path, "made.dat");

test("a recording becomes a trace.dat with the same events", async () => {
  const script = join(folder.path, "work.sh");
  writeFileSync(script, "for i in 1 2 3; do cat /etc/passwd /no/such/file; done 2>/dev/null >/dev/null\n");
  const probes = [
    'tracepoint:syscalls:sys_enter_openat /cpid == pid || comm == "cat"/',
    'tracepoint:syscalls:sys_exit_openat /cpid == pid || comm == "cat"/',
    "tracepoint:sched:sched_process_exec",
    "tracepoint:sched:sched_switch",
  ];
  const recorded = await strobe(["record", "-o", made, "-c", `sh ${script}`, ...probes]);
  assert.equal(recorded.code, 0, recorded.stderr);
  const { code, stdout, stderr } = await strobe(["convert", made, "-o", converted]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /^\S*made\.dat: \d+ events of \d+ probes\n/);
  assert.equal(statSync(converted).mode & 0o777, 0o600);
  const all = await replayed("made.strobe", "t:*:* { @[probe, tid, cpu] = count(); }");
  assert.ok(Array.isArray(all) && all.length > 3);
  assert.deepEqual(await replayed("made.dat", "t:*:* { @[probe, tid, cpu] = count(); }"), all);
  for (const asked of [
    "t:syscalls:sys_enter_openat { @[args.dfd, (uint64)args.filename, args.flags, args.mode] = count(); }",
    "t:syscalls:sys_exit_openat { @[tid, args.ret] = count(); }",
    "t:sched:sched_process_exec { @[str(args.filename), args.pid] = count(); }",
    "t:sched:sched_switch { @[args.prev_comm, args.prev_pid, args.prev_state, args.next_comm, args.next_prio] = count(); }",
  ])
    assert.deepEqual(await replayed("made.dat", asked), await replayed("made.strobe", asked), asked);
  const times = async (name: string): Promise<string> =>
    (await strobe(["replay", join(folder.path, name), "-e", 't:*:* { printf("%d %d\\n", nsecs(monotonic), tid); }']))
      .stdout;
  const sorted = (text: string): readonly string[] => text.split("\n").sort();
  assert.deepEqual(sorted(await times("made.dat")), sorted(await times("made.strobe")));
});

test("what trace-cmd prints of a trace.dat of strobe's is what strobe counts in the recording", async (t) => {
  if (traceCmd("--version").stdout === null) return t.skip("trace-cmd is not installed");
  const lines = printed("made.dat");
  const named = (name: string, pattern: RegExp): unknown =>
    tally(
      lines.flatMap(([, tid, , event, fields]) => {
        const found = event === name ? pattern.exec(fields) : null;
        return found === null ? [] : [[tid, ...found.slice(1)].join(", ")];
      }),
    );
  assert.deepEqual(
    named("sys_enter_openat", /filename_text=(.*) flags=(\d+)/),
    await replayed("made.strobe", "t:syscalls:sys_enter_openat { @[tid, str(args.filename), args.flags] = count(); }"),
  );
  assert.deepEqual(
    named("sys_exit_openat", /ret=(-?\d+)/),
    await replayed("made.strobe", "t:syscalls:sys_exit_openat { @[tid, args.ret] = count(); }"),
  );
  assert.deepEqual(
    named("sched_process_exec", /filename=(.*) pid=(\d+)/),
    await replayed("made.strobe", "t:sched:sched_process_exec { @[tid, str(args.filename), args.pid] = count(); }"),
  );
  assert.deepEqual(
    named("sched_switch", /prev_comm=(.*) prev_pid=.* next_comm=(.*) next_pid=(\d+)/),
    await replayed(
      "made.strobe",
      "t:sched:sched_switch { @[tid, args.prev_comm, args.next_comm, args.next_pid] = count(); }",
    ),
  );
});

test("what cannot be converted is refused", async () => {
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await strobe(["convert", ...args]);
    assert.equal(code, 1);
    return stderr;
  };
  assert.match(await refused(made), /strobe convert takes a recording, and where to/);
  assert.match(await refused(converted, "-o", join(folder.path, "again.dat")), /made\.dat is no recording of strobe's/);
  assert.match(await refused(made, "--to", "x"), /strobe convert has no option --to/);
});
