// Recordings of perf's: what strobe counts in them is what perf prints of them.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const perf = (args: readonly string[], output?: number): string => {
  const { status, stdout, stderr } = spawnSync("perf", args, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    ...(output === undefined ? {} : { stdio: ["ignore", output, "pipe"] }),
  });
  assert.equal(status, 0, stderr);
  return stdout;
};
const skip = (() => {
  try {
    execFileSync("perf", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return "perf is not installed";
  }
})();
const work = ["--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do cat /etc/passwd > /dev/null; done"];
const events = ["-e", "sched:sched_process_exec", "-e", "sched:sched_process_fork", "-e", "syscalls:sys_enter_openat"];
const file = join(folder.path, "perf.data");

before(() => {
  if (skip === false) perf(["record", "-q", "-a", "-c", "1", ...events, "-o", file, ...work]);
});

after(() => folder.remove());

/** `@[a, b]: 3` as `a, b` and 3. */
function counts(stdout: string): ReadonlyMap<string, number> {
  return new Map([...stdout.matchAll(/^@\[(.*)\]: (\d+)$/gm)].map(([, key, count]) => [key, Number(count)]));
}

function tally(keys: Iterable<string>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const key of keys) sums.set(key, (sums.get(key) ?? 0) + 1);
  return sums;
}

const sorted = (of: ReadonlyMap<string, number>): unknown => [...of].sort(([a], [b]) => (a < b ? -1 : 1));

async function replayed(script: string, path = file): Promise<ReadonlyMap<string, number>> {
  const { code, stdout, stderr } = await strobe(["replay", path, "-e", script]);
  assert.equal(code, 0, stderr);
  return counts(stdout);
}

test("events by probe, command and thread are those that perf prints", { skip }, async () => {
  const lines = perf(["script", "-i", file, "-F", "comm,tid,cpu,event"]).trimEnd().split("\n");
  const printed = lines.map((line) => {
    const [, comm, tid, cpu, event] = /^\s*(.*?)\s+(\d+) \[(\d+)\]\s+([^ ]*):\s*$/.exec(line) ?? assert.fail(line);
    return `tracepoint:${event}, ${comm}, ${Number(tid)}, ${Number(cpu)}`;
  });
  const script = "t:*:* { @[probe, comm, tid, cpu] = count(); }";
  assert.deepEqual(sorted(await replayed(script)), sorted(tally(printed)));
});

test("fields of events are those that perf prints", { skip }, async () => {
  const lines = perf(["script", "-i", file, "-F", "event,trace"]).trimEnd().split("\n");
  const executed = lines.flatMap(
    (line) => /sched_process_exec: filename=(\S+) pid=(\d+)/.exec(line)?.slice(1, 3).join(", ") ?? [],
  );
  assert.ok(executed.length >= 9);
  assert.deepEqual(
    sorted(await replayed("tracepoint:sched:sched_process_exec { @[str(args.filename), args.pid] = count(); }")),
    sorted(tally(executed)),
  );
  const opened = lines.flatMap(
    (line) =>
      /sys_enter_openat: dfd: (0x\w+), filename: (0x\w+), flags: (0x\w+)/.exec(line)?.slice(2, 4).join(", ") ?? [],
  );
  assert.ok(opened.length > 0);
  const found = await replayed(
    "tracepoint:syscalls:sys_enter_openat { @[(uint64)args.filename, (uint64)args.flags] = count(); }",
  );
  const hexadecimal = new Map(
    [...found].map(([key, count]) => [
      key
        .split(", ")
        .map((word) => `0x${BigInt(word).toString(16)}`)
        .join(", "),
      count,
    ]),
  );
  assert.deepEqual(sorted(hexadecimal), sorted(tally(opened.map((key) => key.replaceAll(/0x0*(?=\w)/g, "0x")))));
});

test("through a pipe it is what it is in a file, compressed or not", { skip }, async () => {
  for (const packed of [[], ["-z"]]) {
    const path = join(folder.path, "piped.data");
    const output = openSync(path, "w");
    perf(["record", "-q", "-a", "-c", "1", ...packed, ...events, "-o", "-", ...work], output);
    closeSync(output);
    const opened = perf(["script", "-i", path, "-F", "event"]).match(/sys_enter_openat/g)?.length ?? 0;
    assert.ok(opened > 0);
    const count = "tracepoint:syscalls:sys_enter_openat { @[1] = count(); }";
    assert.deepEqual([...(await replayed(count, path))], [["1", opened]]);
    const command = 'cat "$1" | "$2" "$3" replay - -e "$4"; "$2" "$3" replay <(cat "$1") -e "$4"';
    const words = ["-c", command, "bash", path, process.execPath, resolve("dist/strobe.js"), count];
    const { stdout, stderr } = spawnSync("bash", words, { encoding: "utf8" });
    assert.deepEqual(
      [...stdout.matchAll(/^@\[1\]: (\d+)$/gm)].map(([, n]) => Number(n)),
      [opened, opened],
      stderr,
    );
  }
});

test("what perf did not keep is refused", { skip }, async () => {
  const { code, stderr } = await strobe([
    "replay",
    file,
    "-e",
    "t:syscalls:sys_enter_openat { @[str(args.filename)] = count(); }",
  ]);
  assert.equal(code, 1);
  assert.match(stderr, /the text behind a pointer/);
  const timed = await strobe(["replay", file, "-e", 't:*:* { print(strftime("%H", nsecs)); }']);
  assert.match(timed.stderr, /the time of day/);
  // As docs/recordings.md shows it.
  const [, shown] = /^strobe replay perf\.data -e '(.*)'$/m.exec(readFileSync("docs/recordings.md", "utf8")) ?? [];
  assert.ok((await replayed(shown)).size > 0);
  const info = await strobe(["info", file]);
  assert.equal(info.code, 0, info.stderr);
  assert.match(info.stdout, /^probe +tracepoint:sched:sched_process_fork +\d+$/m);
});
