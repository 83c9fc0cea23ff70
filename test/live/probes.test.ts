// Every probe kind that this kernel has, with exact counts.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { callsFlags, callsSource, openSource, spinSource, syscallsSource, usdtSource } from "../support/programs.ts";
import { bpfObjects, compileC, nothingLeft, startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let calls = "";
let opens = "";
let spin = "";
let usdt = "";
let syscalls = "";
let objects = "";

before(() => {
  calls = compileC(folder.path, "calls", callsSource, callsFlags);
  opens = compileC(folder.path, "opens", openSource);
  spin = compileC(folder.path, "spin", spinSource);
  usdt = compileC(folder.path, "usdt", usdtSource);
  // No other test's program has this name.
  syscalls = compileC(folder.path, `calls-${process.pid}`, syscallsSource);
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** Runs a script over a command; gives what the script printed (the command's own output left out). */
async function over(command: string, script: string, ...args: string[]): Promise<string> {
  const output = join(folder.path, "output");
  const { stderr, code } = await strobe(["-q", "-o", output, "-c", command, "-e", script, ...args]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  return readFileSync(output, "utf8").trim();
}

const dd = "dd if=/dev/zero of=/dev/null bs=512 count=1000 status=none";

test("a thousand reads are a thousand", async () => {
  assert.equal(
    await over(dd, "tracepoint:syscalls:sys_enter_read /pid == cpid && args.fd == 0/ { @ = count(); }"),
    "@: 1000",
  );
});

test("entry and return pair up, and a histogram's buckets sum to the calls", async () => {
  const text = await over(
    dd,
    `
    tracepoint:syscalls:sys_enter_read /pid == cpid && args.fd == 0/ { @in[tid] = nsecs; }
    tracepoint:syscalls:sys_exit_read /@in[tid]/ {
      @bytes = sum(args.ret); @size = hist(args.ret); @ns = hist(nsecs - @in[tid]); delete(@in, tid);
    }
    end { clear(@in); }`,
  );
  assert.match(text, /^@bytes: 512000$/m);
  assert.match(text, /@size:\n\[512, 1K\) +1000 \|@{52}\|/);
  const latencies = text.slice(text.indexOf("@ns:"), text.indexOf("@size:"));
  const counts = [...latencies.matchAll(/^\[.*?\) +(\d+) \|/gm)].map((m) => Number(m[1]));
  assert.equal(
    counts.reduce((a, b) => a + b, 0),
    1000,
  );
});

test("a wildcard over every system call counts each", async () => {
  const text = await over(dd, "tracepoint:syscalls:sys_enter_* /pid == cpid/ { @[probe] = count(); }");
  assert.match(text, /^@\[tracepoint:syscalls:sys_enter_write\]: 1000$/m);
});

test("keys of comm and of several parts", async () => {
  assert.equal(
    await over(dd, "tracepoint:syscalls:sys_enter_write /pid == cpid/ { @[comm, args.fd, pid == cpid] = count(); }"),
    "@[dd, 1, true]: 1000",
  );
});

test("strings read from user space are what the program wrote", async () => {
  const path = join(folder.path, "a needle in the haystack");
  const script = `tracepoint:syscalls:sys_enter_openat /pid == cpid && strcontains(str(args.filename), "needle")/ { printf("%s|%d\\n", str(args.filename), args.dfd); }`;
  writeFileSync(path, "");
  assert.equal(await over(`${opens} '${path}'`, script), `${path}|-100`);
});

test("string keys and comparisons", async () => {
  const [a, b] = [join(folder.path, "alpha"), join(folder.path, "beta")];
  const text = await over(
    `${opens} ${a} ${b} ${a}`,
    `tracepoint:syscalls:sys_enter_openat /pid == cpid/ {
    @[str(args.filename)] = count(); if (str(args.filename) == "${b}") { @beta++; } }`,
  );
  assert.match(text, new RegExp(`^@\\[${b}\\]: 1$`, "m"));
  assert.match(text, new RegExp(`^@\\[${a}\\]: 2$`, "m"));
  assert.match(text, /^@beta: 1$/m);
});

test("a raw tracepoint's arguments", async () => {
  const ppid = 110; // x86-64
  assert.equal(
    await over(`${syscalls} 500`, `rawtracepoint:sys_enter /pid == cpid && args.id == ${ppid}/ { @ = count(); }`),
    "@: 500",
  );
  assert.equal(
    await over(`${syscalls} 500`, `rawtracepoint:sys_enter /pid == cpid && arg1 == ${ppid}/ { @ = count(); }`),
    "@: 500",
  );
});

test("raw system calls tell their numbers, results and arguments", async () => {
  const ppid = 110; // x86-64
  assert.equal(
    await over(
      `${syscalls} 500`,
      `
    tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id == ${ppid}/ { @in = count(); }
    tracepoint:raw_syscalls:sys_exit /pid == cpid && args.id == ${ppid} && args.ret > 0/ { @out = count(); }`,
    ),
    "@in: 500\n@out: 500",
  );
  assert.equal(
    await over(
      dd,
      "tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id == 0 && args.args[2] == 512/ { @ = count(); }",
    ),
    "@: 1000",
  );
});

test("kernel structures are what /proc says", async () => {
  const running = startStrobe([
    "-q",
    "-e",
    `tracepoint:syscalls:sys_enter_getppid /comm == "${basename(syscalls)}"/ { printf("%d %d %s %d\\n", curtask.tgid, curtask.real_parent.tgid, curtask.comm, pid); exit(); }
     interval:ms:20 { if (@ready == 0) { @ready = 1; printf("ready\\n"); } } end { clear(@ready); }`,
  ]);
  while (!running.stdout().includes("ready")) await new Promise((done) => setTimeout(done, 10));
  const child = spawn(syscalls, ["1"]);
  const { stdout } = await running.outcome;
  assert.equal(stdout.trim().split("\n")[1], `${child.pid} ${process.pid} ${basename(syscalls)} ${child.pid}`);
});

test("tracepoint fields: text in place, numbers, negative numbers", async () => {
  assert.equal(
    await over(
      "/bin/true",
      'tracepoint:sched:sched_process_exit /pid == cpid/ { printf("%s %d %d", args.comm, args.pid == cpid, args.prio); }',
    ),
    `true 1 ${120 + getPriority()}`,
  );
  assert.equal(
    await over("/bin/true", 'tracepoint:sched:sched_process_exec /pid == cpid/ { printf("%s", str(args.filename)); }'),
    "/bin/true",
  );
});

test("a function called so many times, its arguments and results", async () => {
  const text = await over(
    `${calls} 100`,
    `
    uprobe:${calls}:leaf_add { @adds = count(); @a = sum(arg0); @b = sum(arg1); }
    uretprobe:${calls}:leaf_add { @results = sum((int32)retval); }
    uprobe:${calls}:leaf_text { printf("%s\\n", str(arg0)); }`,
  );
  assert.equal(text, "hello from user space\n\n\n@a: 4950\n@adds: 100\n@b: 1000\n@results: 5950");
});

test("functions by wildcard, each by its name", async () => {
  const text = await over(`${calls} 20`, `uprobe:${calls}:leaf_* { @[func, probe] = count(); }`);
  assert.deepEqual(
    text.split("\n").sort(),
    ["add", "box", "sub", "text"].map(
      (name) => `@[leaf_${name}, uprobe:${calls}:leaf_${name}]: ${name === "add" || name === "sub" ? 20 : 1}`,
    ),
  );
});

test("structures of the script's own, bit-fields and nested ones, in user memory", async () => {
  const text = await over(
    `${calls} 1`,
    `
    struct point { int x; short y; char name[8]; };
    struct box { long id; struct point *corner; struct point center; unsigned small:3; unsigned big:20; };
    uprobe:${calls}:leaf_box {
      $b = (struct box *)arg0;
      printf("%d %d %d %s %d %d %s %d %d", $b->id, $b->corner->x, $b->corner->y, $b->corner->name, $b->center.x, $b->center.y, $b->center.name, $b->small, $b->big);
    }`,
  );
  assert.equal(text, "77 3 4 corner 5 -6 center 5 123456");
});

test("symbol and offset, and an address", async () => {
  const nm = spawnSync("nm", [calls], { encoding: "utf8" }).stdout;
  const address = /^([0-9a-f]+) T leaf_sub$/m.exec(nm)?.[1];
  assert.equal(await over(`${calls} 7`, `uprobe:${calls}:leaf_sub+0 { @ = count(); }`), "@: 7");
  assert.equal(await over(`${calls} 7`, `uprobe:${calls}:0x${address} { @ = count(); }`), "@: 7");
});

test("a library's function, found as the loader would", async () => {
  assert.equal(await over(`${calls} 3`, "uprobe:libc:puts, uprobe:libc:printf /pid == cpid/ { @ = count(); }"), "@: 1");
});

test("user stacks have names", async () => {
  const text = await over(`${calls} 2`, `uprobe:${calls}:leaf_add { @[ustack(3)] = count(); }`);
  // At a function's first instruction its frame does not stand yet, so that some kernels leave out its caller.
  assert.match(text, /^@\[\n {8}leaf_add\+0\n( {8}middle\+\d+\n)? {8}main\+\d+\n( {8}\S+\n)?\]: 2$/);
});

test("kernel stacks have names", async () => {
  const text = await over(
    `${syscalls} 4`,
    "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[kstack] = count(); }",
  );
  assert.match(text, /^@\[\n( {8}\S+\+\d+\n)+\]: 4$/);
  assert.match(text, /do_syscall_64\+\d+/);
});

test("static probes: every argument form, semaphores, wildcards", async () => {
  const steps = await over(usdt, `usdt:${usdt}:demo:step { printf("%d %d %d %s\\n", arg0, arg1, arg2, str(arg3)); }`);
  assert.equal(steps, [0, 1, 2, 3, 4].map((i) => `${i} ${-i} ${1000 + i} label`).join("\n"));
  assert.equal(await over(usdt, `usdt:${usdt}:demo:guarded { @ = sum(arg0); }`), "@: 20");
  const wild = await over(usdt, `usdt:${usdt}:* { @[probe] = count(); }`);
  assert.deepEqual(wild.split("\n").sort(), [`@[usdt:${usdt}:demo:guarded]: 5`, `@[usdt:${usdt}:demo:step]: 5`]);
});

test("a static probe's name without a namespace means those of all", async () => {
  const path = compileC(
    folder.path,
    "spaces",
    `#include <sys/sdt.h>
    int main(void) { for (int i = 0; i < 3; i++) { DTRACE_PROBE1(here, step, i); DTRACE_PROBE2(there, step, i, 10L); DTRACE_PROBE(here, rest); } return 0; }`,
  );
  for (const probe of ["step", "*:step"]) {
    assert.equal(
      await over(path, `usdt:${path}:${probe} { @[probe] = sum(arg0); }`),
      `@[usdt:${path}:here:step]: 3\n@[usdt:${path}:there:step]: 3`,
    );
  }
  const { code, stderr } = await strobe(["-e", `usdt:${path}:* { @ = sum(arg0); }`]);
  assert.equal(code, 1);
  assert.match(stderr, /error: usdt:.*\/spaces:here:rest has no arguments\n/);
});

test("clauses at one place run as they are written", async () => {
  for (const [command, probe, wild] of [
    [`${calls} 1`, `uprobe:${calls}:middle`, `uprobe:${calls}:middl*`],
    [`${calls} 1`, `uretprobe:${calls}:middle`, `uretprobe:${calls}:middl*`],
    [calls, `uprobe:${calls}:leaf_box+0`, `insn:${calls}:leaf_box:0`],
    [`${syscalls} 1`, "tracepoint:syscalls:sys_enter_getppid", "tracepoint:syscalls:sys_enter_getppi*"],
  ] as const) {
    const clauses = [probe, wild, probe, probe].map((one, i) => `${one} /pid == cpid/ { printf("${i}"); }`);
    assert.equal(await over(command, clauses.join("\n")), "0123", probe);
  }
});

test("probes of a program are named as it was", async () => {
  for (const [written, named] of [
    ["./calls", "./calls"],
    [`${folder.path}/./calls`, `${folder.path}/./calls`],
    [`"${calls}"`, calls],
  ]) {
    const { stdout } = await strobe(["-q", "-c", `${calls} 1`, "-e", `uprobe:${written}:leaf_box { print(probe); }`], {
      cwd: folder.path,
    });
    assert.match(stdout, new RegExp(`^uprobe:${named.replaceAll(".", "\\.")}:leaf_box$`, "m"));
    const { stdout: list } = await strobe(["-l", `uprobe:${written}:leaf_box`], { cwd: folder.path });
    assert.equal(list, `uprobe:${named}:leaf_box\n`);
  }
});

test("intervals tick on the host", async () => {
  const { stdout } = await strobe(["-q", "-e", "interval:ms:5 { @n++; if (@n == 3) { exit(); } }"]);
  assert.equal(stdout.trim(), "@n: 3");
});

test("profile samples a busy process", async () => {
  assert.equal(
    await over(spin, "profile:hz:199 /pid == cpid/ { @n++; if (@n == 5) { exit(); } if (@n > 5) { @n = 5; } }"),
    "@n: 5",
  );
});

test("software events", async () => {
  assert.equal(await over(spin, "software:cpu-clock:1000000 /pid == cpid/ { @n = 1; exit(); }"), "@n: 1");
});

test("a watchpoint sees each write", async () => {
  const nm = spawnSync("nm", [calls], { encoding: "utf8" }).stdout;
  const address = /^([0-9a-f]+) [BD] counter$/m.exec(nm)?.[1];
  assert.equal(await over(`${calls} 25`, `watchpoint:0x${address}:8:w { @ = count(); }`), "@: 25");
});

test("an iterator visits every task", async () => {
  const { stdout } = await strobe([
    "-q",
    "-e",
    `iter:task { if (ctx.task.pid == ${process.pid}) { printf("%s %d\\n", ctx.task.comm, ctx.task.tgid); } }`,
  ]);
  const comm = spawnSync("cat", [`/proc/${process.pid}/comm`], { encoding: "utf8" }).stdout.trim();
  assert.equal(stdout.trim(), `${comm} ${process.pid}`);
});

test("probes of one process only", async () => {
  const child = spawn(spin);
  const { stdout } = await strobe([
    "-q",
    "-p",
    String(child.pid),
    "-e",
    "profile:hz:99 { @[pid] = count(); @n++; if (@n >= 3) { exit(); } } end { clear(@n); }",
  ]);
  child.kill();
  assert.match(stdout.trim(), new RegExp(`^@\\[${child.pid}\\]: \\d+$`));
});

test("a folder with a strange name is a path like another", async () => {
  const strange = join(folder.path, "with-dash_and.dot");
  mkdirSync(strange);
  const program = compileC(strange, "x", syscallsSource);
  assert.equal(await over(`${program} 9`, `uprobe:${program}:main { @ = count(); }`), "@: 1");
});

test("-p narrows probes that attach everywhere", async () => {
  const child = spawn("bash", ["-c", "while :; do sleep 0.01; done"]);
  const { stdout } = await strobe([
    "-q",
    "-p",
    String(child.pid),
    "-e",
    "tracepoint:raw_syscalls:sys_enter { @[pid] = count(); @n++; if (@n >= 50) { exit(); } } end { clear(@n); }",
  ]);
  child.kill();
  assert.match(stdout.trim(), new RegExp(`^@\\[${child.pid}\\]: \\d+$`));
});

test("an offset inside an instruction is refused, since a breakpoint there would corrupt the program", async () => {
  const { stderr, code } = await strobe(["-e", `uprobe:${calls}:leaf_add+2 { }`]);
  assert.equal(code, 1);
  assert.match(stderr, /`leaf_add\+2` is inside an instruction, which begins at leaf_add\+0/);
});

test("variables of the program by their names, wherever it was loaded", async () => {
  const script = (program: string): string => `uprobe:${program}:leaf_box { printf("%d", *uaddr("counter")); }`;
  assert.equal(await over(`${calls} 12`, script(calls)), "13");
  const anywhere = compileC(folder.path, "calls-pie", callsSource, ["-O1", "-pie", "-fPIE"]);
  assert.equal(await over(`${anywhere} 12`, script(anywhere)), "13");
});
