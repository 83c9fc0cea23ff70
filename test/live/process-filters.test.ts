// -p with several, --comm, --user, --cgroup: each against programs that read a known number of times.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, nothingLeft, startStrobe, strobe, temporaryFolder, type Outcome } from "../support/strobe.ts";

const folder = temporaryFolder();
const atStart = bpfObjects();
// Blocks of a size that nobody else reads.
const size = 4093;
const reads = `tracepoint:syscalls:sys_enter_read /args.count == ${size}/ { @[comm] = count(); }`;

before(() => {
  for (const name of ["one", "two", "three"]) copyFileSync("/bin/dd", join(folder.path, name));
});

after(async () => {
  folder.remove();
  await nothingLeft(atStart);
});

/** What dd does, as a command. */
function copies(name: string, blocks: number): string {
  return `${join(folder.path, name)} if=/dev/zero of=/dev/null status=none bs=${size} count=${blocks}`;
}

/** A process that becomes dd when it is told to. */
function waiting(name: string, blocks: number): ChildProcess {
  return spawn("/bin/sh", ["-c", `read go; exec ${copies(name, blocks)}`], { stdio: ["pipe", "ignore", "inherit"] });
}

/** The maps that a run printed. */
function counts({ stdout, stderr, code }: Outcome): Record<string, number> {
  assert.equal(code, 0, stderr);
  return Object.fromEntries([...stdout.matchAll(/^@\[(.*)\]: (\d+)$/gm)].map(([, key, value]) => [key, Number(value)]));
}

const all = `sh -c '${copies("one", 11)}; ${copies("two", 22)}; ${copies("three", 33)}'`;

test("--comm sees the threads of these names", async () => {
  assert.deepEqual(counts(await strobe(["-e", reads, "-c", all])), { one: 11, two: 22, three: 33 });
  assert.deepEqual(counts(await strobe(["--comm", "two", "-e", reads, "-c", all])), { two: 22 });
  assert.deepEqual(counts(await strobe(["--comm", "one,three", "-e", reads, "-c", all])), { one: 11, three: 33 });
});

test("a handler that says any_process is let through in those that are not chosen, too", async () => {
  // Others on the machine may read as much at a time.
  const ours = '(comm == "one" || comm == "two" || comm == "three")';
  const ends = `tracepoint:syscalls:sys_exit_read /any_process && args.ret == ${size} && ${ours}/ { @[comm] = count(); }`;
  const only = ["--comm", "two", "-c", all];
  assert.deepEqual(counts(await strobe(["-e", ends, ...only])), { one: 11, two: 22, three: 33 });
  assert.deepEqual(counts(await strobe(["-e", ends.replace("any_process && ", ""), ...only])), { two: 22 });
});

test("a script that ran is not taken for the same one with another filter", async () => {
  for (const name of ["one", "two", "one"])
    assert.deepEqual(Object.keys(counts(await strobe(["--comm", name, "-e", reads, "-c", all]))), [name]);
});

test("-p takes several processes, and ends when the last has", async () => {
  const [one, two, three] = [waiting("one", 11), waiting("two", 22), waiting("three", 33)];
  const running = startStrobe(["-p", `${one.pid},${two.pid}`, "-e", reads]);
  await running.attached;
  three.stdin?.end("\n");
  await once(three, "exit");
  one.stdin?.end("\n");
  await once(one, "exit");
  two.stdin?.end("\n");
  assert.deepEqual(counts(await running.outcome), { one: 11, two: 22 });
});

test("of several processes, those that are not there are said", async () => {
  const one = waiting("one", 11);
  const running = startStrobe(["-p", `${one.pid},4194303`, "-e", reads]);
  await running.attached;
  one.stdin?.end("\n");
  const outcome = await running.outcome;
  assert.match(outcome.stderr, /^WARNING: 1 process of -p was not there, or had ended: 4194303$/m);
  assert.deepEqual(counts(outcome), { one: 11 });
  const none = await strobe(["-p", "4194302,4194303", "-e", reads]);
  assert.equal(none.stderr, "strobe: failed to attach to pid 4194302, 4194303: no such process\n");
});

test("chosen_process asks for the process by itself, of the current one or of a task", async () => {
  const name = `chosen-${process.pid}`.slice(0, 15);
  copyFileSync("/bin/sleep", join(folder.path, name));
  const command = `sh -c '${join(folder.path, name)} 0.05; sleep 0.05; true'`;
  const script =
    "rawtracepoint:sched_process_exit /any_process && chosen_process(args.p)/ { @task[comm] = count(); } " +
    "tracepoint:sched:sched_process_exit /any_process/ { if (chosen_process) { @current[comm] = count(); } }";
  const counted = async (...flags: readonly string[]): Promise<Record<string, number>> => {
    const { stdout, stderr } = await strobe([...flags, "-f", "json", "-e", script, "-c", command]);
    assert.equal(stderr, "");
    const maps = stdout
      .split("\n")
      .filter((line) => line.includes('"map"'))
      .map((line) => (JSON.parse(line) as { data: Record<string, Record<string, number>> }).data);
    return Object.fromEntries(
      maps.flatMap((map) =>
        Object.entries(map).flatMap(([which, rows]) =>
          Object.entries(rows)
            .filter(([thread]) => ["sleep", name].includes(thread))
            .map(([thread, count]) => [`${which} ${thread === name ? "named" : thread}`, count]),
        ),
      ),
    );
  };
  assert.deepEqual(await counted("--comm", name), { "@task named": 1, "@current named": 1 });
  const both = { "@task named": 1, "@task sleep": 1, "@current named": 1, "@current sleep": 1 };
  assert.deepEqual(await counted("--follow"), both);
  assert.deepEqual(await counted("--follow", "--user", "root", "--cgroup", "/"), both);
  assert.deepEqual(await counted("--follow", "--user", "nobody"), {});
});

test("--follow sees the children that are there already, and theirs", async () => {
  const parent = spawn("/bin/sh", ["-c", `sh -c 'echo; read go; ${copies("one", 11)}; ${copies("two", 22)}'; true`], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(parent.stdout, "data");
  const running = startStrobe(["-p", `${parent.pid}`, "--follow", "-e", reads]);
  await running.attached;
  parent.stdin.end("\n");
  assert.deepEqual(counts(await running.outcome), { one: 11, two: 22 });
});

test("-p takes a program's name", async () => {
  const name = `strobe-${process.pid}`.slice(0, 15);
  copyFileSync("/bin/sh", join(folder.path, name));
  const started = spawn(join(folder.path, name), ["-c", `read go; ${copies("two", 22)}; exec ${copies("one", 11)}`], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  const running = startStrobe(["-p", name, "-e", reads]);
  await running.attached;
  started.stdin?.end("\n");
  // What it starts is another process, what it becomes is not.
  assert.deepEqual(counts(await running.outcome), { one: 11 });
  const none = await strobe(["-p", "no-such-program", "-e", reads]);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /failed to parse pid: invalid integer: no-such-program .*none of this name runs/);
});

test("--user sees the processes of these users", async () => {
  const mixed = `sh -c '${copies("one", 11)}; setpriv --reuid 65534 ${copies("two", 22)}; setpriv --reuid 65533 ${copies("three", 33)}'`;
  assert.deepEqual(counts(await strobe(["--user", "nobody", "-e", reads, "-c", mixed])), { two: 22 });
  assert.deepEqual(counts(await strobe(["--user", "root,65533", "-e", reads, "-c", mixed])), { one: 11, three: 33 });
  const both = await strobe(["--user", "nobody", "--comm", "one", "-e", reads, "-c", mixed]);
  assert.deepEqual(counts(both), {});
  assert.match((await strobe(["--user", "no-such-user", "-e", reads])).stderr, /no user is called "no-such-user"/);
});

test("--cgroup sees the processes in a cgroup and below it", async () => {
  const root = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .find(([, , type]) => type === "cgroup2")?.[1];
  assert.ok(root, "a mounted cgroup2");
  const outer = join(root, `strobe-test-${process.pid}`);
  const inner = join(outer, "inner");
  mkdirSync(inner, { recursive: true });
  try {
    const inside = (where: string, what: string): string => `sh -c "echo \\$\\$ > ${where}/cgroup.procs; exec ${what}"`;
    const command = join(folder.path, "mixed");
    writeFileSync(
      command,
      `#!/bin/sh\n${copies("one", 11)}\n${inside(outer, copies("two", 22))}\n${inside(inner, copies("three", 33))}\n`,
      { mode: 0o755 },
    );
    const run = (path: string): Promise<Outcome> => strobe(["--cgroup", path, "-e", reads, "-c", command]);
    assert.deepEqual(counts(await run(outer)), { two: 22, three: 33 });
    assert.deepEqual(counts(await run(inner)), { three: 33 });
    assert.deepEqual(counts(await run("/")), { one: 11, two: 22, three: 33 });
    const level = `tracepoint:syscalls:sys_enter_read /args.count == ${size}/ { @[comm, cgroup(1) == cgroupid("${outer}"), cgroup(2) == 0, cgroup(9)] = count(); }`;
    assert.deepEqual(counts(await strobe(["-e", level, "-c", command])), {
      "one, false, true, 0": 11,
      "two, true, true, 0": 22,
      "three, true, false, 0": 33,
    });
  } finally {
    rmdirSync(inner);
    rmdirSync(outer);
  }
  assert.match((await strobe(["--cgroup", "/no/such", "-e", reads])).stderr, /there is no cgroup \/no\/such/);
});
