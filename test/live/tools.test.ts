// Every ready script of tools/, run by the built command against a workload of known deeds. A script sees the whole
// machine; what is checked (and shown when a check fails) is only what it says of the workload's own processes.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createConnection, createServer, type AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { test } from "node:test";
import { strobe } from "../support/strobe.ts";
import {
  between,
  counted,
  documentation,
  documentOf,
  histogram,
  rows,
  run,
  start,
  traced,
} from "../support/tool-runs.ts";
import { comm, folder, work } from "../support/tool-workloads.ts";

const ownComm = readFileSync("/proc/self/comm", "utf8").trim();
const scripts = readdirSync("tools")
  .filter((name) => name.endsWith(".bt"))
  .map((name) => basename(name, ".bt"))
  .sort();

test("allocations: sizes and the sum, exactly", async () => {
  const { text, lines } = await traced("allocations", [], () => run(work, "allocate", "300"));
  assert.deepEqual(histogram(text, `@sizes[${comm}]`), [{ from: 512, count: 300 }]);
  assert.ok(lines.includes(`@total[${comm}]: ${300 * 777}`));
});

test("allocations: each way to ask for memory, once", async () => {
  const { text, lines, result } = await traced("allocations", [], () => run(work, "allocations"));
  const [bytes, count] = result.output.split(" ").map(Number);
  assert.deepEqual(histogram(text, `@sizes[${comm}]`), [{ from: 512, count }]);
  assert.ok(lines.includes(`@total[${comm}]: ${bytes}`), text);
});

test("allocations -p: one process only", async () => {
  const waiting = start(work, ["allocate", "20"]);
  const { lines } = await traced("allocations", ["-p", `${waiting.pid}`], async () => {
    await run(work, "allocate", "30");
    waiting.release();
    await waiting.output;
  });
  assert.deepEqual(
    lines.filter((line) => line.startsWith("@")),
    [`@sizes[${comm}]:`, `@total[${comm}]: ${20 * 777}`],
  );
});

/** Whether `command` is here at all. */
function has(command: string): boolean {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).error === undefined;
}

test("bash-lines: a typed line, as it was typed", async (t) => {
  if (!has("script")) return t.skip("needs the command `script`, for a terminal");
  const { stdout } = await strobe(["-l", "uprobe:/bin/bash:readline"]);
  if (stdout.trim() === "") return t.skip("needs a bash with its symbol `readline`");
  const typed = "echo strobe $((40 + 2)) $$";
  const trace = await traced("bash-lines", [], async () => {
    const terminal = start("env", ["HISTFILE=/dev/null", "script", "-qec", "bash --noprofile --norc -i", "/dev/null"]);
    terminal.child.stdin?.write(`${typed}\nexit\n`);
    const output = await terminal.output;
    return /strobe 42 (\d+)/.exec(output)?.[1];
  });
  const own = rows(trace, ([, pid]) => pid === trace.result);
  assert.deepEqual(
    own.map(([, , ...line]) => line.join(" ")),
    [typed, "exit"],
  );
  assert.ok(own.every(([time]) => trace.during(time)));
});

/** Writes that disks have completed since boot. */
function diskWrites(): number {
  const disks = readFileSync("/proc/diskstats", "utf8").trim().split("\n");
  return disks.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[7]), 0);
}

test("block-latency: a time for every write that went to the disk", async (t) => {
  const path = join(folder.path, "blocks");
  const write = (): number => {
    const first = diskWrites();
    const fd = openSync(path, "w");
    for (let i = 0; i < 20; i++) {
      writeSync(fd, Buffer.alloc(8192, i + 1), 0, 8192, i * 8192);
      fsyncSync(fd);
    }
    closeSync(fd);
    return diskWrites() - first;
  };
  const { text, missed, result } = await traced("block-latency", [], write, { mayMiss: true });
  if (result === 0) return t.skip("needs a temporary folder on a block device");
  const writes = [...text.matchAll(/^@us\[(\w*W\w*)\]:$/gm)].reduce(
    (sum, [, kind]) => sum + counted(text, `@us[${kind}]`),
    0,
  );
  between(writes + missed, 20, Infinity, "writes");
});

/** Whether what is below the test's folder is on a disk of the kernel's own: neither in memory nor one above others. */
function onDisk(): boolean {
  const { dev } = statSync(folder.path);
  const disk = `/sys/dev/block/${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
  return existsSync(disk) && ["", ".."].some((above) => existsSync(join(disk, above, "device")));
}

test("block-io: each request of a program to the disk", async (t) => {
  if (!onDisk()) return t.skip("needs a temporary folder on a disk");
  const trace = await traced("block-io", [], () => run(work, "direct", join(folder.path, "blocks")));
  if (trace.result.output !== "27\n") return t.skip("needs a file system with O_DIRECT");
  const own = rows(trace, ([, pid]) => pid === String(trace.result.pid));
  const direct = own.filter((columns) => ["4096", "8192"].includes(columns[6])).slice(-27);
  assert.deepEqual(
    direct.map((columns) => `${columns[4]} ${columns[6]}`),
    [...Array<string>(20).fill("write 4096"), ...Array<string>(7).fill("read 8192")],
  );
  const sectors = direct.map((columns) => Number(columns[5]));
  // What was written and read again lies at one place.
  assert.deepEqual(
    sectors.slice(20).map((sector) => sector - sectors[0]),
    sectors.slice(0, 14).flatMap((sector, i) => (i % 2 === 0 ? [sector - sectors[0]] : [])),
  );
  assert.ok(
    direct.every(
      ([time, , name, , , , , ms, error]) => trace.during(time) && name === comm && error === "0" && Number(ms) > 0,
    ),
  );
});

test("block-top: requests and bytes by program", async (t) => {
  if (!onDisk()) return t.skip("needs a temporary folder on a disk");
  const { text, result } = await traced("block-top", [], async () => {
    const done = await run(work, "direct", join(folder.path, "blocks"));
    // What it did is told at the end of the second.
    await new Promise((later) => setTimeout(later, 1500));
    return done;
  });
  if (result.output !== "27\n") return t.skip("needs a file system with O_DIRECT");
  const sums = (map: string, what: string): number =>
    [...text.matchAll(/^@(\w+)\[(\d+), (.*), \w+, (\w+)\]: (\d+)$/gm)]
      .filter(([, name, pid, , kind]) => name === map && pid === String(result.pid) && kind === what)
      .reduce((sum, [, , , , , value]) => sum + Number(value), 0);
  assert.deepEqual([sums("requests", "read"), sums("bytes", "read")], [7, 7 * 8192]);
  // Beside these, what it wrote through the page cache and made sure of.
  assert.ok(sums("requests", "write") >= 20 && sums("bytes", "write") >= 20 * 4096, text);
});

test("cpu-stacks -p: where a program spins", async () => {
  const spinning = start(work, ["spin"]);
  spinning.release();
  const ticks = () => Number(readFileSync(`/proc/${spinning.pid}/stat`, "utf8").split(") ")[1].split(" ")[11]);
  const { text } = await traced("cpu-stacks", ["-p", `${spinning.pid}`], async () => {
    // Half a second of CPU, however long that takes.
    const attached = ticks();
    while (ticks() < attached + 50) await new Promise((done) => setTimeout(done, 20));
  });
  spinning.child.kill();
  await spinning.output;
  const stacks = [...text.matchAll(/^@\[(.*?), (?:\n((?: {8}.*\n)+))?, (?:\n((?: {8}.*\n)+))?\]: (\d+)$/gm)];
  assert.equal(stacks.length, text.split("\n").filter((line) => line.startsWith("@")).length);
  assert.ok(stacks.every(([, name]) => name === comm));
  const inside = stacks.filter(([, , , user]) => /^ {8}spin_in_here\+\d+\n {8}main\+\d+\n/.test(user));
  assert.ok(inside.length > 0, text);
});

test("deletes: the paths of both system calls, also of those that fail", async () => {
  const [a, b, missing] = ["first", "second", "missing"].map((name) => join(folder.path, name));
  writeFileSync(a, "");
  writeFileSync(b, "");
  const trace = await traced("deletes", [], async () => [
    (await run("rm", "-f", a, missing)).pid,
    (await run("unlink", b)).pid,
  ]);
  const [rm, unlink] = trace.result.map(String);
  const own = rows(trace, ([, pid]) => pid === rm || pid === unlink);
  assert.deepEqual(
    own.map((columns) => columns.slice(1)),
    [
      [rm, "rm", a],
      [rm, "rm", missing],
      [unlink, "unlink", b],
    ],
  );
  assert.ok(own.every(([time]) => trace.during(time)));
});

test("execs: who started what, with which arguments", async () => {
  const trace = await traced("execs", [], () => run("/bin/echo", "one", "two words", "three"));
  const { pid, output } = trace.result;
  assert.equal(output, "one two words three\n");
  const [line, ...more] = trace.lines.filter((text) => text.split(/\s+/)[1] === String(pid));
  assert.deepEqual(more, []);
  const [own, parent] = [pid, process.pid].map((number) => String(number).padEnd(7));
  assert.equal(line.slice(9), `${own} ${parent} ${ownComm.padEnd(16)} /bin/echo one two words three`);
  assert.ok(trace.during(line.slice(0, 8)));
});

test("fsyncs: each way to wait for the disk, where it was called from", async () => {
  const path = join(folder.path, "synchronised");
  const trace = await traced("fsyncs", ["--ms=0"], async () => [
    (await run(work, "files", path)).pid,
    (await run(work, "ring-files", path)).pid,
  ]);
  const blocks = trace.text.split("\n\n").flatMap((block) => {
    const [line = "", ...stack] = block.split("\n").filter((text) => text !== "" && !text.startsWith("TIME "));
    const [time, , pid, ms, error, call, ...file] = line.split(/\s+/);
    if (!trace.result.map(String).includes(pid)) return [];
    assert.ok(trace.during(time) && /^\d+\.\d{3}$/.test(ms) && error === "0", line);
    const callers = stack.map((frame) => /^ {8}(\w+)\+\d+$/.exec(frame)?.[1]).slice(1, 3);
    return [[call, file.join(" "), ...callers].join(" ")];
  });
  const called = (call: string, file: string): string => `${call} ${file} files main`;
  const expected = ["fsync", "fdatasync", "sync_file_range", "syncfs"].map((call) => called(call, "synchronised"));
  expected.push(called("msync", "(mapped)"), called("sync", "(every file)"));
  const ring = blocks.slice(expected.length);
  assert.deepEqual(blocks.slice(0, expected.length), expected);
  // Where the kernel lets rings be made.
  if (ring.length > 0) assert.deepEqual(ring, ["io_uring synchronised ring_do ring_files"]);
});

test("futex-waits: one for each wait, whatever it is for, where it was", async () => {
  const { text, result } = await traced("futex-waits", [], () => run(work, "futexes"));
  assert.ok(Number(result.output) >= 10, result.output);
  assert.equal(counted(text, `@each[${comm}, ${result.pid}]`), Number(result.output));
  const stacks = [...text.matchAll(/^@us\[(.*), (\d+), \n((?: {8}.*\n)+)\]: (\d+)$/gm)].filter(
    ([, , pid]) => pid === String(result.pid),
  );
  assert.ok(
    stacks.every(([, , , stack]) => /^ {8}futexes\+\d+\n {8}main\+\d+$/m.test(stack)),
    text,
  );
  // Each is a line of its own.
  assert.equal(stacks.length, Number(result.output));
});

/** How often each device has interrupted, by its name; only those whose interrupt nobody shares. */
function deviceInterrupts(): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of readFileSync("/proc/interrupts", "utf8").trim().split("\n").slice(1)) {
    const match = /^ *\d+: +((?:\d+ +)+)\S.* (\S+)$/.exec(line);
    if (!match || line.includes(", ")) continue;
    found.set(
      match[2],
      (found.get(match[2]) ?? 0) +
        match[1]
          .trim()
          .split(/ +/)
          .reduce((sum, count) => sum + Number(count), 0),
    );
  }
  return found;
}

test("interrupts: as many as the kernel counts", async (t) => {
  const outer = deviceInterrupts();
  const { text, result } = await traced("interrupts", [], () => {
    const first = deviceInterrupts();
    writeFileSync(join(folder.path, "interrupt"), Buffer.alloc(1 << 16), { flush: true });
    return { first, last: deviceInterrupts() };
  });
  const end = deviceInterrupts();
  const moved = [...result.last].filter(([name, count]) => count > (result.first.get(name) ?? 0)).map(([name]) => name);
  if (moved.length === 0) return t.skip("needs a disk that interrupts");
  for (const name of moved) {
    const least = (result.last.get(name) ?? 0) - (result.first.get(name) ?? 0);
    between(counted(text, `@us[${name}]`), least, (end.get(name) ?? 0) - (outer.get(name) ?? 0), name);
  }
});

test("library-calls: each function by its name, also when the program has ended", async () => {
  const { lines } = await traced("library-calls", [], () => run(work, "lock", "1000"));
  const counts = new Map(
    lines.flatMap((line) => {
      const match = /^@\[(\S+), uprobe:\S+:(\w+)\]: (\d+)$/.exec(line);
      return match?.[1] === comm ? [[match[2], Number(match[3])] as const] : [];
    }),
  );
  // The C library may lock for itself as the program starts and ends.
  between(counts.get("pthread_mutex_lock") ?? 0, 1000, 1010, "pthread_mutex_lock");
  assert.equal(counts.get("pthread_mutex_unlock"), counts.get("pthread_mutex_lock"));
});

test("calltree: entries and returns, nested, with times that add up", async () => {
  const { lines } = await traced("calltree", [work, "[cp]a*s"], () => run(work, "calls", "3"));
  const calls = lines.slice(1);
  assert.deepEqual(
    calls.map((line) => line.slice(23)),
    ["> calls", "  > pause_ms", "  < pause_ms", "< calls"],
    lines.join("\n"),
  );
  const [inner = 0, outer = 0] = calls.slice(2).map((line) => Number(line.slice(9, 21)));
  assert.ok(inner >= 40_000 && outer >= inner && outer < 1_000_000_000, lines.join("\n"));
});

test("callees: what a function calls, and not what others do", async () => {
  const { lines } = await traced("callees", [work, "calls", "[acp]a*s"], async () => {
    await run(work, "calls", "3");
    return run(work, "sleep", "10");
  });
  const [line = "", ...more] = lines;
  const match = /^@calls\[pause_ms\]: \{ \.count = (\d+), \.average = (\d+), \.total = \2 \}$/.exec(line);
  assert.equal(match?.[1], "1", lines.join("\n"));
  assert.ok(Number(match?.[2]) >= 40_000_000, line);
  assert.deepEqual(more, []);
});

test("lifetimes: age, exit status and signal", async () => {
  const trace = await traced("lifetimes", [], async () => {
    const started = Date.now();
    const sleeper = await run(work, "sleep", "250");
    const most = Date.now() - started;
    const three = await run(work, "3");
    const killed = start(work, ["spin"]);
    killed.child.kill("SIGKILL");
    await killed.output;
    return { sleeper: sleeper.pid, most, three: three.pid, killed: killed.pid };
  });
  const { sleeper, most, three, killed } = trace.result;
  const own = rows(trace, ([, pid]) => [sleeper, three, killed].includes(Number(pid)));
  assert.ok(own.every(([time]) => trace.during(time)));
  assert.deepEqual(
    own.map(([, pid, parent, , , status, signal]) => [pid, parent, status, signal].map(Number)),
    [
      [sleeper, process.pid, 0, 0],
      [three, process.pid, 3, 0],
      [killed, process.pid, 0, 9],
    ],
  );
  assert.equal(own[0][3], comm);
  between(Number(own[0][4]), 250, most + 1, "age of the sleeper in ms");
});

test("lock-contention: each thread that waited for a pipe's lock", async (t) => {
  const { text, result } = await traced("lock-contention", [], () => run(work, "contend", "7"));
  if (result.output !== "7\n") return t.skip("needs userfaultfd(2)");
  // Who reads what it prints may have that pipe's lock for a moment.
  between(counted(text, `@each[${comm}, mutex]`), 7, 8, "waits");
  assert.match(text, new RegExp(`^@us\\[${comm}, mutex, \\n(?: {8}.*\\n)*? {8}\\w*pipe_write\\+\\d+\\n`, "m"));
});

test("off-cpu: a program that sleeps, where and how long", async () => {
  const { text, result } = await traced("off-cpu", [], async () => {
    const started = Date.now();
    await run(work, "sleep", "300");
    return Date.now() - started;
  });
  const stacks = [...text.matchAll(/^@us\[(.*?), \n((?: {8}.*\n)+), \n((?: {8}.*\n)+)\]: (\d+)$/gm)].filter(
    ([, name]) => name === comm,
  );
  const asleep = stacks.filter(([, , stack]) => /^ {8}hrtimer_nanosleep\+\d+$/m.test(stack));
  assert.equal(asleep.length, 1);
  assert.match(asleep[0][3], /^ {8}pause_ms\+\d+\n {8}main\+\d+$/m);
  between(Number(asleep[0][4]), 300_000, (result + 1) * 1000, "us asleep");
});

/** A group below one that has the memory controller, if this machine lets one make it. */
function memoryGroup(): string | undefined {
  const controller = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].find(
    (path) =>
      existsSync(join(path, "memory.limit_in_bytes")) ||
      (existsSync(join(path, "cgroup.subtree_control")) &&
        readFileSync(join(path, "cgroup.subtree_control"), "utf8").split(/\s+/).includes("memory")),
  );
  if (controller === undefined) return undefined;
  const group = join(controller, `strobe-test-${process.pid}`);
  try {
    mkdirSync(group);
    return group;
  } catch {
    return undefined;
  }
}

test("oom-kills: the victim and its size", async (t) => {
  const group = memoryGroup();
  if (group === undefined) return t.skip("needs the memory controller of control groups, and leave to make one");
  const limit = 24 << 20;
  try {
    // The limit's file of the first and of the second version of control groups; neither may swap its way out.
    const settings = {
      "memory.limit_in_bytes": limit,
      "memory.max": limit,
      "memory.swappiness": 0,
      "memory.swap.max": 0,
    };
    for (const [file, value] of Object.entries(settings)) {
      if (existsSync(join(group, file))) writeFileSync(join(group, file), String(value));
    }
    const trace = await traced("oom-kills", [], () => run(work, "hog", join(group, "cgroup.procs")));
    const pid = String(trace.result.pid);
    const own = rows(trace, ([, victim]) => victim === pid);
    assert.equal(own.length, 1);
    const [time, , name, total, anonymous, files, ...wanted] = own[0];
    assert.ok(trace.during(time));
    assert.equal(name, comm);
    assert.equal(wanted.join(" "), `${comm} (${pid})`);
    between(Number(anonymous), (limit >> 10) / 2, limit >> 10, "KiB of its own");
    between(Number(total), Number(anonymous) + Number(files), (limit >> 10) * 4, "KiB of address space");
  } finally {
    rmdirSync(group);
  }
});

test("opens -p: every form of open, its descriptor or its error", async () => {
  const [there, missing] = [join(folder.path, "there"), join(folder.path, "not there")];
  writeFileSync(there, "");
  const waiting = start(work, ["open", there, missing]);
  const pid = String(waiting.pid);
  const release = () => {
    waiting.release();
    return waiting.output;
  };
  const { text } = await traced("opens", ["-p", pid], release);
  const line = (fd: number, error: number, path: string) =>
    `${pid.padEnd(7)} ${comm.padEnd(16)} ${String(fd).padStart(4)} ${String(error).padStart(4)} ${path}`;
  assert.deepEqual(text.trim().split("\n").slice(1), [
    ...[3, 4, 5].map((fd) => line(fd, 0, there)),
    ...[1, 2, 3].map(() => line(-1, 2, missing)),
  ]);
});

test("opens --failed: only those that fail", async () => {
  const [there, missing] = [join(folder.path, "there"), join(folder.path, "not there")];
  writeFileSync(there, "");
  const trace = await traced("opens", ["--failed"], () => run(work, "open", there, missing));
  const paths = rows(trace, ([pid]) => pid === String(trace.result.pid)).map((columns) => columns.slice(2).join(" "));
  assert.ok(paths.every((path) => path.startsWith("-1 2 ")));
  assert.equal(paths.filter((path) => path === `-1 2 ${missing}`).length, 3);
});

test("opens, deletes, signals and execs: by every system call that does it", async () => {
  const [path, directory] = [join(folder.path, "created"), join(folder.path, "removed")];
  const deeds = () => run(work, "ways", path, directory);
  const opened = await traced("opens", [], deeds);
  const pid = (trace: typeof opened): string => String(trace.result.pid);
  const opens = rows(opened, ([own]) => own === pid(opened)).map((columns) => columns.slice(2));
  assert.deepEqual(
    opens.filter((columns) => columns[2] === path).map(([, error]) => error),
    ["0"],
  );
  assert.equal(opens.filter((columns) => columns.slice(2).join(" ") === "(by its handle)").length, 1);
  const deleted = await traced("deletes", [], deeds);
  assert.deepEqual(
    rows(deleted, ([, own]) => own === pid(deleted)).map((columns) => columns.slice(1)),
    [[pid(deleted), comm, directory]],
  );
  const sent = await traced("signals", [], deeds);
  const own = rows(sent, ([, from, , , to]) => from === pid(sent) && to === pid(sent));
  assert.deepEqual(
    own.map(([, , , number, , , result]) => `${number} ${result}`),
    Array<string>(6).fill("10 0"),
  );
  const started = await traced("execs", [], deeds);
  const lines = started.lines
    .filter((text) => text.split(/\s+/)[1] === pid(started))
    .map((text) => text.slice(24).trim());
  assert.equal(lines.at(-1), `${comm.padEnd(16)} true by descriptor`.trim());
});

test("page-faults: one for each page touched", async () => {
  const waiting = start(work, ["touch", "4000"]);
  const { lines, result } = await traced("page-faults", [], () => {
    waiting.release();
    return waiting.output;
  });
  const faults = Number(result);
  between(faults, 4000, 4010, "faults that the kernel counts");
  const own = lines
    .map((line) => /^@\[(.*), (\d+)\]: (\d+)$/.exec(line))
    .filter((match) => match?.[2] === String(waiting.pid));
  assert.equal(own.length, 1);
  assert.equal(own[0]?.[1], comm);
  // Beside the pages touched: the program's own code and stack, for what it does before and after.
  between(Number(own[0]?.[3]), faults, faults + 1000, "faults");
});

test("run-queue: a wait for each wake-up", async () => {
  const { text } = await traced("run-queue", [], () => run(work, "pingpong", "2000"));
  between(counted(text, "@us"), 4000, Infinity, "waits");
});

test("signals: from whom, to whom, and what became of it", async () => {
  const trace = await traced("signals", [], async () => {
    const receiver = start("sleep", ["600"]);
    // Until it is `sleep`; its predecessor catches what node catches.
    while (readFileSync(`/proc/${receiver.pid}/comm`, "utf8") !== "sleep\n")
      await new Promise((done) => setTimeout(done, 5));
    receiver.child.kill("SIGWINCH");
    receiver.child.kill("SIGUSR1");
    await receiver.output;
    return receiver.pid;
  });
  const receiver = String(trace.result);
  const [self, own] = [String(process.pid), rows(trace, ([, from, , , to]) => from === receiver || to === receiver)];
  assert.deepEqual(
    own.map((columns) => columns.slice(1)),
    [
      [self, ownComm, "28", receiver, "sleep", "1", "Window", "changed"],
      [self, ownComm, "10", receiver, "sleep", "0", "User", "defined", "signal", "1"],
      [receiver, "sleep", "17", self, ownComm, "0", "Child", "exited"],
    ],
  );
  assert.ok(own.every(([time]) => trace.during(time)));
});

test("slow-files: every call on a file, its bytes and its time", async () => {
  const path = join(folder.path, "slow");
  const trace = await traced("slow-files", ["--ms=0"], () => run(work, "files", path));
  const [bytes, most] = trace.result.output.split(" ").map(Number);
  const vectors = [1011, 1011, 1000, 1000, 1011, 1011];
  const moved = [321, 321, 77];
  assert.equal(
    bytes,
    [32 << 20, 4321, 1234, 567, ...vectors, ...moved].reduce((sum, size) => sum + size),
  );
  const own = rows(trace, ([, , pid, , , ...file]) => pid === String(trace.result.pid) && !file[0]?.startsWith("lib"));
  const sizes = [32 << 20, 0, 4321, 1234, 567, ...vectors, ...moved, ...Array<number>(6).fill(0)];
  const named = [path, "(mapped)", "(every file)", path, `${path}.new`, path];
  assert.deepEqual(
    own.map(([, name, , , size, ...file]) => [name, Number(size), file.join(" ")]),
    [...sizes.map((size) => [comm, size, "slow"]), ...named.map((file) => [comm, 0, file])],
  );
  assert.ok(own.every(([time, , , ms]) => trace.during(time) && /^\d+\.\d{3}$/.test(ms)));
  between(Number(own[0][3]), 0, most, "ms for 32 MiB");
});

test("slow-files --ms: nothing that is quicker", async () => {
  const trace = await traced("slow-files", ["--ms=100000"], () => run(work, "files", join(folder.path, "slow")));
  assert.equal(trace.lines.length, 1);
});

test("switches: as many as the kernel counts", async () => {
  const { lines, result } = await traced("switches", [], () => run(work, "pingpong", "500"));
  const [waited, preempted] = result.output.split(" ").map(Number);
  const count = (map: string) =>
    Number(lines.find((line) => line.startsWith(`@${map}[${comm}]: `))?.split(": ")[1] ?? 0);
  // Each hand-over is a switch: the first process waits, or is preempted by the one that it wakes.
  between(waited + preempted, 1000, Infinity, "switches that the kernel counts");
  // The program counts from its first deed to its last; its start and its end are switches as well.
  between(count("waited"), waited, waited + 1000, "waited");
  between(count("preempted"), preempted, preempted + 1000, "preempted");
});

test("syscall-latency -p: a time for each call, at its size", async () => {
  const waiting = start(work, ["calls", "500"]);
  const { text } = await traced("syscall-latency", ["-p", `${waiting.pid}`], () => {
    waiting.release();
    return waiting.output;
  });
  assert.equal(counted(text, "@us[getppid]"), 500);
  assert.equal(counted(text, "@us[clock_nanosleep]"), 1);
  assert.equal(counted(text, "@us[clock_nanosleep]", 32768), 1);
});

test("syscalls: exactly the calls of a program", async () => {
  const { lines } = await traced("syscalls", [], () => run(work, "calls", "700"));
  const own = lines.filter((line) => line.startsWith(`@[${comm}, `));
  assert.ok(own.includes(`@[${comm}, getppid]: 700`));
  assert.ok(own.includes(`@[${comm}, clock_nanosleep]: 1`));
  assert.equal(own.at(-1), `@[${comm}, getppid]: 700`);
});

test("syscalls -p: one process only", async () => {
  const waiting = start(work, ["calls", "250"]);
  const { lines } = await traced("syscalls", ["-p", `${waiting.pid}`], async () => {
    await run(work, "calls", "10");
    waiting.release();
    return waiting.output;
  });
  const expected = ["clock_nanosleep]: 1", "exit_group]: 1", "getppid]: 250"].map((line) => `@[${comm}, ${line}`);
  assert.deepEqual([...lines].sort(), expected);
});

interface Connection {
  readonly server: number;
  readonly client: number;
}

/** A connection over the loopback: 1200 bytes there, 5000 back. Gives the ports once both ends are closed. */
function connect(host: string): Promise<Connection> {
  return new Promise((done, failed) => {
    const server = createServer((socket) => {
      let received = 0;
      socket.on("data", (data) => {
        received += data.length;
        if (received === 1200) socket.end(Buffer.alloc(5000));
      });
      socket.on("error", failed);
    });
    server.on("error", failed);
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      const socket = createConnection({ host, port });
      let client = 0;
      socket.on("connect", () => {
        client = socket.localPort ?? 0;
        socket.write(Buffer.alloc(1200));
      });
      socket.on("error", failed);
      socket.setTimeout(120_000, () => socket.destroy(new Error("the connection hangs")));
      socket.resume();
      socket.on("close", () => server.close(() => done({ server: port, client })));
    });
  });
}

const sixth = "/proc/net/if_inet6";
const hosts = existsSync(sixth) && / lo$/m.test(readFileSync(sixth, "utf8")) ? ["127.0.0.1", "::1"] : ["127.0.0.1"];

test("tcp-connections: both ends, their addresses and ports", async () => {
  const trace = await traced("tcp-connections", [], () => Promise.all(hosts.map(connect)));
  trace.result.forEach(({ server, client }, i) => {
    const host = hosts[i];
    const own = rows(
      trace,
      (columns) => columns.slice(4).includes(String(client)) && columns.slice(4).includes(String(server)),
    );
    assert.deepEqual(own.map((columns) => columns.slice(3).join(" ")).sort(), [
      `IN ${host} ${server} ${host} ${client}`,
      `OUT ${host} ${client} ${host} ${server}`,
    ]);
    const out = own.find((columns) => columns[3] === "OUT");
    assert.deepEqual(out?.slice(1, 3), [String(process.pid), ownComm]);
    assert.ok(own.every(([time]) => trace.during(time)));
  });
});

test("tcp-lifetimes: what each end sent and received", async () => {
  const trace = await traced("tcp-lifetimes", [], async () => {
    const started = Date.now();
    const connections = await Promise.all(hosts.map(connect));
    await new Promise((done) => setTimeout(done, 50));
    return { connections, most: Date.now() - started };
  });
  trace.result.connections.forEach(({ server, client }, i) => {
    const host = hosts[i];
    const own = rows(trace, (columns) => columns.includes(String(server)) && columns.includes(String(client)));
    assert.deepEqual(
      own.map((columns) => columns.slice(1, 7)).sort((a, b) => Number(b[4]) - Number(a[4])),
      [
        [host, String(server), host, String(client), "5000", "1200"],
        [host, String(client), host, String(server), "1200", "5000"],
      ],
    );
    for (const columns of own) between(Number(columns[7]), 0, trace.result.most + 1, "ms");
  });
});

test("tcp-retransmits: a line for each SYN that is sent again", async () => {
  const trace = await traced("tcp-retransmits", [], () => run(work, "unanswered"));
  const [listener, ...waiting] = trace.result.output.split(" ");
  assert.ok(waiting.length > 0);
  const own = rows(trace, (columns) => columns[4] === listener);
  assert.ok(
    own.every(([time, local, , remote]) => trace.during(time) && local === "127.0.0.1" && remote === "127.0.0.1"),
  );
  // Once each, but for a machine so busy that the second time has come.
  assert.deepEqual([...new Set(own.map((columns) => columns[2]))].sort(), waiting.sort());
});

test("every script is traced by a test", () => {
  const tests = readdirSync("test/live").filter((name) => name.endsWith("tools.test.ts"));
  const traces = tests.flatMap((name) =>
    [...readFileSync(join("test/live", name), "utf8").matchAll(/\btraced\("([\w-]+)"/g)].map(([, script]) => script),
  );
  // Those of kernel functions run in guests (test/guest/cases.ts).
  assert.deepEqual(
    [...new Set(traces)].sort(),
    scripts.filter((name) => !name.startsWith("kernel-")),
  );
});

test("docs/tools.md has a section, an example and a line in its table for each script", () => {
  const headings = [...documentation.matchAll(/^## (.*)$/gm)].map((match) => match[1]);
  const table = [...documentation.matchAll(/^\| \[([\w-]+)\]\(#([\w-]+)\) \| (.*) \|$/gm)];
  assert.deepEqual([...headings].sort(), scripts);
  assert.deepEqual(
    table.map((match) => match[1]),
    headings,
  );
  for (const [, name, anchor, question] of table) {
    const [shebang, first] = readFileSync(`tools/${name}.bt`, "utf8").split("\n");
    assert.equal(shebang, "#!/usr/bin/env strobe");
    assert.equal(anchor, name);
    const asked = first.replace(`// ${name}: `, "");
    assert.equal(question, asked[0].toUpperCase() + asked.slice(1));
    assert.ok(
      documentOf(name).replace(/\s+/g, " ").includes(question),
      `the section of ${name} does not ask its question`,
    );
    assert.match(documentOf(name), new RegExp(`^\`\`\`\n# strobe tools/${name}\\.bt\\b.*\n[^\`]+\n\`\`\`$`, "m"));
  }
});
