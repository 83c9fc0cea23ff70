// What is recorded answers as the live kernel did: the same scripts over the same workload, both ways.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, linkSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  bpfObjects,
  command,
  compileC,
  interrupt,
  nothingLeft,
  startStrobe,
  strobe,
  temporaryFolder,
  type Outcome,
} from "../support/strobe.ts";

const folder = temporaryFolder();
const comm = `rec-${process.pid}`;
const file = join(folder.path, "run.strobe");
let program = "";
let objects = "";

const source = `
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/syscall.h>

__attribute__((noinline)) int work(int number, const char *text)
{
	__asm__ volatile("" ::: "memory");
	return number * 2 + text[0];
}

int main(void)
{
	char bytes[200] = { 0 };
	int null = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 200; i++) {
		close(open("/etc/passwd", O_RDONLY));
		if (i % 2)
			open("/no/such/file", O_RDWR);
		if (write(null, bytes, i) < 0)
			return 1;
		work(i % 3, i % 2 ? "odd" : "even");
		syscall(SYS_getppid);
	}
	for (int i = 0; i < 3; i++) {
		if (fork() == 0)
			_exit(i);
		wait(0);
	}
	return 0;
}
`;

const here = `/comm == "${comm}"/`;
const scripts = (): readonly string[] => [
  `tracepoint:syscalls:sys_enter_openat ${here} { @[str(args.filename), args.flags] = count(); }`,
  `t:syscalls:sys_enter_openat ${here} { printf("%s %x %d\\n", str(args->filename), args.flags, pid == tid); }`,
  `tracepoint:syscalls:sys_enter_openat ${here} { @flags[tid] = args.flags; }
   tracepoint:syscalls:sys_exit_openat ${here} {
     @results[args.ret < 0, @flags[tid]] = count();
     if (@flags[tid] == 2) { @twos++; }
     delete(@flags[tid]);
   }`,
  `tracepoint:syscalls:sys_enter_write ${here} {
     @h = hist(args.count); @l = lhist(args.count, 0, 100, 10); @s = stats(args.count);
     @least = min(args.count); @most[pid == 1] = max(args.count); @mean = avg(args.count);
   }`,
  `tracepoint:sched:sched_process_fork, t:sched:sched_process_exec, t:sched:sched_process_exit ${here} { @[probe] = count(); @names[comm, uid, gid] = count(); }`,
  `tracepoint:sched:sched_process_exit { if (strncmp(args.comm, "${comm}", 15) == 0) { @gone = count(); } }`,
  `uprobe:${program}:work { @[args.number, str(args.text)] = count(); @sum = sum(arg0); }
   uretprobe:${program}:work { @returned[retval] = count(); }`,
  `tracepoint:syscalls:sys_enter_getppid ${here} { @[kstack, ustack] = count(); @top[ustack(2)] = count(); }
   end { printf("done\\n"); }`,
];

const recorded = (): readonly string[] => [
  // What else runs on the machine may be more than the recorder takes while others have the CPUs.
  `tracepoint:syscalls:sys_enter_openat ${here}`,
  `tracepoint:syscalls:sys_exit_openat ${here}`,
  `tracepoint:syscalls:sys_enter_write ${here}`,
  `tracepoint:syscalls:sys_enter_getppid ${here}`,
  `uprobe:${program}:work`,
  `uretprobe:${program}:work`,
];

before(() => {
  objects = bpfObjects();
  program = compileC(folder.path, comm, source, ["-g", "-O1", "-fno-omit-frame-pointer"]);
});

after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** Waits for what is sure to come. */
async function until(is: () => boolean): Promise<void> {
  for (let left = 600; !is(); left--) {
    assert.ok(left > 0, "it has not come in a minute");
    await sleep(100);
  }
}

/** Lines in an order of their own: entries of equal values come in any. */
function lines({ stdout }: Outcome): readonly string[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

test("live and replayed answers are equal", async () => {
  const wanted = scripts();
  const recorder = startStrobe(["record", "-o", file, "--stack", "kernel,user", ...recorded()]);
  await recorder.attached;
  const live = wanted.map((script) => startStrobe(["-e", script]));
  await Promise.all(live.map(({ attached }) => attached));
  execFileSync(program);
  const outcomes = await Promise.all(live.map(interrupt));
  const made = await interrupt(recorder);
  assert.equal(made.code, 0, made.stderr);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  for (const [i, script] of wanted.entries()) {
    // Options stand in front of the path as well as behind it.
    const words = i % 2 === 0 ? [file, "-e", script] : ["-e", script, file];
    const replayed = await strobe(["replay", ...words]);
    assert.equal(replayed.code, 0, replayed.stderr);
    assert.ok(lines(outcomes[i]).length > 0, script);
    assert.deepEqual(lines(replayed), lines(outcomes[i]), script);
  }
});

test("a recording says what is in it, and what is not", async () => {
  const info = await strobe(["info", file]);
  assert.equal(info.code, 0, info.stderr);
  assert.match(info.stdout, /^end +whole$/m);
  assert.match(info.stdout, /^probe +tracepoint:syscalls:sys_enter_getppid +\d+$/m);
  const listed = await strobe(["-l", "--in", file, "tracepoint:syscalls:*"]);
  assert.deepEqual(listed.stdout.trim().split("\n"), [
    "tracepoint:syscalls:sys_enter_openat",
    "tracepoint:syscalls:sys_exit_openat",
    "tracepoint:syscalls:sys_enter_write",
    "tracepoint:syscalls:sys_enter_getppid",
  ]);
  const refused = async (script: string): Promise<string> => {
    const { code, stderr } = await strobe(["replay", file, "-e", script]);
    assert.equal(code, 1);
    return stderr;
  };
  assert.match(
    await refused("tracepoint:sched:sched_switch { @ = count(); }"),
    /was not recorded[\s\S]*strobe record 'tracepoint:sched:sched_switch'/,
  );
  assert.match(await refused("t:sched:sched_process_exit { @[ustack] = count(); }"), /strobe record --stack user/);
  assert.match(await refused("t:syscalls:sys_enter_openat { @[curtask] = count(); }"), /curtask/);
  assert.match(await refused("t:syscalls:sys_enter_write { @b = buf(args.buf, 4); }"), /memory behind a pointer/);
  // What processes write is theirs.
  assert.match(await refused("t:syscalls:sys_enter_write { @[str(args.buf)] = count(); }"), /text behind a pointer/);
});

test("inlined functions, lines and names of code are in it, whatever becomes of the program", async () => {
  const name = `inl-${process.pid}`;
  const own = join(folder.path, "inlined.strobe");
  const made = compileC(
    folder.path,
    name,
    `#include <sys/syscall.h>
#include <unistd.h>
static inline __attribute__((always_inline)) long deep(int n)
{
	return syscall(SYS_getppid) + n;
}
static inline __attribute__((always_inline)) long middle(int n)
{
	return deep(n) + 1;
}
__attribute__((noinline)) long outer(int n)
{
	return middle(n) + 2;
}
int chosen(int n)
{
	return n;
}
__attribute__((noinline)) int takes(int (*function)(int), const char *text)
{
	__asm__ volatile("" ::"r"(function), "r"(text) : "memory");
	return 1;
}
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 7; i++)
		sum += outer(i) + takes(chosen, "x");
	return sum == 0;
}
`,
    ["-g", "-O2", "-fno-omit-frame-pointer"],
  );
  const script = `config = { show_debug_info = true }
    tracepoint:syscalls:sys_enter_getppid /comm == "${name}"/ { @stack[ustack] = count(); }
    uprobe:${made}:takes { @function[usym(arg0), usym(args.function)] = count(); }
    tracepoint:kmem:kmalloc /comm == "${name}"/ { @kernel[ksym(args.call_site)] = count(); }`;
  const probes = ["tracepoint:syscalls:sys_enter_getppid", `uprobe:${made}:takes`, "tracepoint:kmem:kmalloc"];
  const recorder = startStrobe(["record", "-o", own, "--stack", "user", "--stats", ...probes]);
  await recorder.attached;
  const live = startStrobe(["-e", script]);
  await live.attached;
  execFileSync(made);
  const outcome = await interrupt(live);
  assert.equal((await interrupt(recorder)).code, 0, recorder.stderr());
  const buildId = /Build ID: (\w+)/.exec(execFileSync("readelf", ["-n", made], { encoding: "utf8" }))?.[1];
  rmSync(made);
  const replayed = await strobe(["replay", own, "-e", script]);
  assert.equal(replayed.code, 0, replayed.stderr);
  for (const shown of [outcome.stdout, replayed.stdout]) {
    assert.match(
      shown,
      / deep \[inlined\] \(.*:5\)\n +middle \[inlined\] \(.*:9\)\n +outer\+\d+ \(.*:13\)\n +main\+\d+ \(.*:28\)/,
    );
    assert.match(shown, /^@function\[chosen, chosen\]: 7$/m);
  }
  // The recorder's handlers and those of the live trace may miss different ones of the allocations that they cause.
  const events = ({ stdout }: Outcome): readonly string[] =>
    stdout.split("\n").filter((line) => !line.startsWith("@kernel"));
  assert.deepEqual(events(replayed), events(outcome));
  const kernel = [...replayed.stdout.matchAll(/^@kernel\[(.*)\]: \d+$/gm)].map(([, text]) => text);
  assert.ok(kernel.length > 0, replayed.stdout);
  assert.deepEqual(
    kernel.filter((text) => text.startsWith("0x")),
    [],
  );
  const { stdout } = await strobe(["info", own]);
  assert.ok(stdout.split("\n").includes(`code      ${made}  ${buildId}`), stdout);
  assert.match(stdout, /^cost +strobe used \d+\.\d+ s of CPU time in \d+\.\d+ s, /m);
  assert.match(stdout, /^cost +tracepoint:kmem:kmalloc: \d+ runs of \d+ ns, /m);
  const refused = await strobe(["record", "-q", "-o", own, "-c", "true", "tracepoint:syscalls:sys_enter_getppid"]);
  assert.equal(refused.code, 0);
  const asked = await strobe([own, "-e", "t:syscalls:sys_enter_getppid { @[usym(nsecs)] = count(); }"]);
  assert.match(asked.stderr, /usym was not recorded[\s\S]*strobe record --stack user/);
});

test("a part of it, and intervals in its time", async () => {
  const script = "tracepoint:syscalls:sys_enter_getppid { @ = count(); } interval:ms:100 { @ticks++; }";
  const whole = await strobe([file, "-e", `${script} end { printf("%d\\n", elapsed / 100000000); }`]);
  const [, ended] = /^(\d+)$/m.exec(whole.stdout) ?? [];
  assert.match(whole.stdout, new RegExp(`^@ticks: ${ended}$`, "m"));
  const left = await strobe([
    "replay",
    file,
    "-e",
    `t:syscalls:sys_enter_getppid ${here} { if (++@n == 100) { exit(); } }`,
  ]);
  assert.match(left.stdout, /^@n: 100$/m);
  const none = await strobe(["replay", file, "-e", script, "--from", "1h"]);
  assert.doesNotMatch(none.stdout, /^@:/m);
});

test("cut short, it is read to the last whole block", async () => {
  const bytes = readFileSync(file);
  const cut = join(folder.path, "cut.strobe");
  const last = bytes.lastIndexOf("STAT");
  writeFileSync(cut, bytes.subarray(0, last + 3));
  const { stdout, code, stderr } = await strobe([
    "replay",
    cut,
    "-e",
    `t:syscalls:sys_enter_getppid ${here} { @ = count(); }`,
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^@: 200$/m);
  writeFileSync(cut, bytes.subarray(0, 100));
  const short = await strobe(["info", cut]);
  assert.equal(short.code, 1);
  assert.match(short.stderr, /damaged recording/);
});

test("of a command's recording, cpid is its process; of others it is refused", async () => {
  const own = join(folder.path, "command.strobe");
  const probe = "tracepoint:syscalls:sys_enter_getppid";
  const made = await strobe(["record", "-o", own, "--stack", "kernel,user", "-c", program, probe]);
  assert.equal(made.code, 0, made.stderr);
  // Stacks of the last events, too.
  assert.doesNotMatch(made.stderr, /stacks were lost/);
  const { stdout, stderr } = await strobe([own, "-e", `${probe} /pid == cpid/ { @[has_cpid] = count(); }`]);
  assert.match(stdout, /^@\[true\]: 200$/m, stderr);
  assert.equal(stderr.includes("WARNING"), false, stderr);
  const stacks = await strobe([own, "-e", `${probe} /pid == cpid/ { @[ustack(2)] = count(); }`]);
  assert.match(stacks.stdout, /main\+/, stacks.stderr);
  const refused = await strobe([file, "-e", `${probe} /pid == cpid/ { @ = count(); }`]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /cpid was not recorded[\s\S]*strobe record -c COMMAND/);
});

test("where texts were cut when they were recorded, a script that asks for more is warned", async () => {
  const short = join(folder.path, "short.strobe");
  const probe = "tracepoint:syscalls:sys_enter_openat";
  const made = await strobe(["record", "-o", short, "-c", program, probe], { env: { STROBE_MAX_STRLEN: "8" } });
  assert.equal(made.code, 0, made.stderr);
  const asked = async (value: string): Promise<Outcome> =>
    strobe([short, "-e", `${probe} /pid == cpid/ { @[${value}] = count(); }`]);
  const cut = await asked("str(args.filename)");
  assert.equal(cut.code, 0, cut.stderr);
  assert.match(cut.stdout, /^@\[\/etc\/pas\]: /m);
  assert.match(
    cut.stderr,
    /^-e:1:1: warning: texts of more than 8 bytes were cut[\s\S]*STROBE_MAX_STRLEN=1024 strobe record 'tracepoint:syscalls:sys_enter_openat'/im,
  );
  // A text in the event's own record.
  const executed = await strobe([short, "-e", "t:sched:sched_process_exec { @[str(args.filename)] = count(); }"]);
  assert.match(executed.stderr, /texts of more than 8 bytes were cut/);
  const enough = await asked("str(args.filename, 8)");
  assert.match(enough.stdout, /^@\[\/etc\/pas\]: /m);
  assert.doesNotMatch(enough.stderr, /were cut/);
  const whole = await strobe([file, "-e", `${probe} { @[str(args.filename)] = count(); }`]);
  assert.doesNotMatch(whole.stderr, /were cut/);
});

const openat = "tracepoint:syscalls:sys_enter_openat";

/** The number in a line `@name: 3`. */
function counted({ stdout, stderr }: Outcome, name = ""): number {
  const [, count] = new RegExp(`^@${name}: (\\d+)$`, "m").exec(stdout) ?? assert.fail(`${stdout}${stderr}`);
  return Number(count);
}

test("a script says what is recorded, and replays as it ran live", async () => {
  const own = join(folder.path, "script.strobe");
  const script = join(folder.path, "asks.bt");
  const text = `begin { printf("begins\\n"); }
tracepoint:syscalls:sys_enter_openat ${here} { @flags[tid] = args.flags; @[str(args.filename), kstack(2)] = count(); }
tracepoint:syscalls:sys_exit_openat /@flags[tid] == 2/ { @twos = count(); delete(@flags[tid]); }
`;
  writeFileSync(script, text);
  const recorder = startStrobe(["record", "-o", own, script]);
  await recorder.attached;
  const live = startStrobe([script]);
  await live.attached;
  execFileSync(program);
  const outcome = await interrupt(live);
  const made = await interrupt(recorder);
  assert.equal(made.code, 0, made.stderr);
  const replayed = await strobe([own, script]);
  assert.equal(replayed.code, 0, replayed.stderr);
  assert.deepEqual(lines(replayed), lines(outcome));
  assert.equal(counted(replayed, "twos"), 100);
  const info = await strobe(["info", own]);
  assert.ok(info.stdout.includes(`script    ${script}\n`), info.stdout);
  // A predicate that looks at the event alone was asked when it was recorded.
  const others = await strobe([own, "-e", `${openat} /comm != "${comm}"/ { @ = count(); } end { printf("none\\n"); }`]);
  assert.deepEqual(lines(others), ["none"]);
});

test("types and constants that a script asks the kernel for are recorded with it", async () => {
  const own = join(folder.path, "types.strobe");
  const text = `${openat} ${here} { @[sizeof(struct list_head), PIDTYPE_SID, (enum pid_type)1, offsetof(struct list_head, prev)] = count(); }`;
  const made = await strobe(["record", "-o", own, "-c", program, "-e", text]);
  assert.equal(made.code, 0, made.stderr);
  const live = await strobe(["-q", "-c", program, "-e", text]);
  const replayed = await strobe(["-q", own, "-e", text]);
  assert.equal(replayed.stderr, "");
  assert.deepEqual(lines(replayed), lines(live));
  assert.match(replayed.stdout, /^@\[16, PIDTYPE_SID, PIDTYPE_TGID, 8\]: \d+$/m);
  const other = await strobe(["-q", own, "-e", `${openat} { @ = PIDTYPE_PGID; }`]);
  assert.match(other.stderr, /unknown identifier: 'PIDTYPE_PGID'/);
});

test("enumerators of a program's arguments have their names and their type when replayed", async () => {
  const own = join(folder.path, "enums.strobe");
  const path = compileC(
    folder.path,
    "enums",
    `enum color { RED, GREEN = 5 }; struct box { enum color c; struct box *next; };
     __attribute__((noinline)) int paint(enum color c, struct box *b, struct box by) { return c + b->c + by.c; }
     int main(void) { struct box b = { GREEN, 0 }; return paint(GREEN, &b, b) + paint(RED, &b, b) == 0; }`,
    ["-g", "-O0"],
  );
  const made = await strobe(["record", "-o", own, "-c", path, `uprobe:${path}:paint`]);
  assert.equal(made.code, 0, made.stderr);
  const text = `uprobe:${path}:paint { @[args.c, (enum color)args.by.c, sizeof(struct box)] = count(); }`;
  const [live, replayed] = [await strobe(["-q", "-c", path, "-e", text]), await strobe(["-q", own, "-e", text])];
  assert.deepEqual(lines(replayed), lines(live));
  assert.deepEqual(lines(replayed), ["@[GREEN, GREEN, 16]: 1", "@[RED, GREEN, 16]: 1"]);
  for (const read of ["args.b->c", "*args.b"]) {
    const { stderr } = await strobe(["-q", own, "-e", `uprobe:${path}:paint { print(${read}); }`]);
    assert.match(stderr, /memory behind a pointer can be told only at the moment of the event/);
  }
});

test("what no recording tells is refused before anything is recorded", async () => {
  const own = join(folder.path, "never.strobe");
  const { code, stderr } = await strobe([
    "record",
    "-o",
    own,
    "-e",
    "begin { } tracepoint:sched:sched_switch { @[curtask->pid] = count(); }",
  ]);
  assert.equal(code, 1);
  assert.match(stderr, /^-e:1:11: error: curtask can be told only at the moment of the event/m);
  assert.equal(existsSync(own), false);
});

test("a recording goes on with --append", async () => {
  const own = join(folder.path, "more.strobe");
  const write = "tracepoint:syscalls:sys_enter_write";
  for (const [i, probes] of [[openat], [openat, write]].entries()) {
    const recorder = startStrobe(["record", "-o", own, ...(i === 0 ? [] : ["--append"]), ...probes]);
    await recorder.attached;
    execFileSync(program);
    assert.equal((await interrupt(recorder)).code, 0, recorder.stderr());
  }
  const opened = `${openat} /comm == "${comm}" && str(args.filename) == "/etc/passwd"/`;
  const counts = await strobe([own, "-e", `${opened} { @ = count(); } ${write} ${here} { @w = count(); }`]);
  assert.equal(counted(counts), 400);
  assert.equal(counted(counts, "w"), 200);
  const info = await strobe(["info", own]);
  assert.match(info.stdout, /^end +whole$/m);
  assert.equal(info.stdout.match(/^probe +tracepoint:syscalls:sys_enter_openat /gm)?.length, 1, info.stdout);
  const listed = await strobe(["-l", "--in", own]);
  const lives = ["fork", "exec", "exit"].map((what) => `tracepoint:sched:sched_process_${what}`);
  assert.deepEqual(listed.stdout.trimEnd().split("\n").sort(), [...lives, openat, write].sort());
  const refused = await strobe(["record", "-o", own, "--append", "-c", "true", openat]);
  assert.match(refused.stderr, /cannot use both --append and -c/);
});

test("types that the scripts of later runs ask for are in it as well, and in what is cut of it", async () => {
  const own = join(folder.path, "more-types.strobe");
  const part = join(folder.path, "part-of-types.strobe");
  const keys = ["sizeof(struct list_head), PIDTYPE_SID", "offsetof(struct path, dentry), PIDTYPE_PID"];
  for (const [i, key] of keys.entries()) {
    const script = `${openat} ${here} { @[${key}] = count(); }`;
    const recorder = startStrobe(["record", "-o", own, ...(i === 0 ? [] : ["--append"]), "-e", script]);
    await recorder.attached;
    execFileSync(program);
    assert.equal((await interrupt(recorder)).code, 0, recorder.stderr());
  }
  assert.equal((await strobe(["cut", own, "--from", "0s", "-o", part])).code, 0);
  const ask = `begin { print((${keys.join(", ")})); exit(); }`;
  const told = /^\(16, PIDTYPE_SID, 8, PIDTYPE_PID\)$/m;
  const live = await strobe(["-e", ask]);
  assert.match(live.stdout, told, live.stderr);
  for (const file of [own, part]) {
    const replayed = await strobe([file, "-e", `${openat} { @ = count(); } ${ask.replace(" exit();", "")}`]);
    assert.match(replayed.stdout, told, replayed.stderr);
    assert.equal(counted(replayed) > 0, true, replayed.stderr);
  }
});

test("texts become hashes: equal ones stay equal, and what they were is gone", async () => {
  const own = join(folder.path, "redacted.strobe");
  const made = await strobe(["record", "-o", own, "--redact", "strings", "-c", program, openat]);
  assert.equal(made.code, 0, made.stderr);
  const { stdout } = await strobe([own, "-e", `${openat} /pid == cpid/ { @[comm, str(args.filename)] = count(); }`]);
  const counts = [...stdout.matchAll(/^@\[#[0-9a-f]{12}, #[0-9a-f]{12}\]: (\d+)$/gm)].map(([, count]) => Number(count));
  // Of the loader's, one each; /no/such/file and /etc/passwd.
  assert.deepEqual(
    counts.filter((count) => count > 1),
    [100, 200],
  );
  const all = await strobe([own, "-e", "tracepoint:sched:sched_process_fork { @[str(args.parent_comm)] = count(); }"]);
  for (const [, name] of all.stdout.matchAll(/^@\[(.*)\]:/gm)) assert.match(name, /^#[0-9a-f]{12}$/);
  assert.match((await strobe(["info", own])).stdout, /^redacted +texts are hashes$/m);
});

test("cut in two, every event is in one of the parts", async () => {
  const parts = ["first", "second"].map((name) => join(folder.path, `${name}.strobe`));
  const script = `${openat} { @[pid, str(args.filename)] = count(); } ${openat} { @ = count(); }`;
  const span = /from ([\d.]+) s to ([\d.]+) s/.exec((await strobe(["info", file])).stdout) ?? [];
  const middle = `${Math.round(((Number(span[1]) + Number(span[2])) / 2) * 1e6)}us`;
  for (const [i, way] of ["--to", "--from"].entries()) {
    const { code, stderr } = await strobe(["cut", file, way, middle, "-o", parts[i]]);
    assert.equal(code, 0, stderr);
    const [whole, part] = await Promise.all([
      strobe(["replay", file, way, middle, "-e", script]),
      strobe(["replay", parts[i], "-e", script]),
    ]);
    assert.deepEqual(lines(part), lines(whole), way);
    assert.match((await strobe(["info", parts[i]])).stdout, new RegExp(`^then +strobe cut .* ${way} ${middle}`, "m"));
  }
  const events = async (path: string): Promise<number> =>
    Number(/^events +(\d+)/m.exec((await strobe(["info", path])).stdout)?.[1]);
  assert.equal((await events(parts[0])) + (await events(parts[1])), await events(file));
});

test("a flight recorder has the last seconds, at a signal and when a probe says so", async () => {
  const own = join(folder.path, "ring.strobe");
  const write = "tracepoint:syscalls:sys_enter_write";
  const flight = compileC(
    folder.path,
    `fly-${process.pid}`,
    `#include <unistd.h>
#include <sys/syscall.h>
int main(void)
{
	char line[8];
	for (int i = 0; i < 5; i++) syscall(SYS_write, 1, "x", 1);
	if (read(0, line, 1) < 0) return 1;
	for (int i = 0; i < 7; i++) syscall(SYS_write, 1, "y", 1);
	syscall(SYS_getppid);
	return 0;
}
`,
    [],
  );
  const recorder = startStrobe([
    "record",
    "-o",
    own,
    "--ring",
    "1s",
    "--when",
    `tracepoint:syscalls:sys_enter_getppid /comm == "fly-${process.pid}"/`,
    write,
  ]);
  await recorder.attached;
  const child = spawn(flight, [], { stdio: ["pipe", "ignore", "ignore"] });
  await sleep(1500);
  recorder.child.kill("SIGUSR2");
  await until(() => recorder.stderr().includes("ring.1.strobe"));
  await sleep(2500);
  child.stdin.end("\n");
  const { code, stderr } = await recorder.outcome;
  assert.equal(code, 0, stderr);
  const script = `${write} /comm == "fly-${process.pid}"/ { @ = count(); }`;
  assert.equal(counted(await strobe([own, "-e", script])), 7);
  const asked = await strobe([own, "-e", "tracepoint:syscalls:sys_enter_getppid { @ = count(); }"]);
  assert.equal(counted(asked), 1);
  assert.equal(statSync(join(folder.path, "ring.1.strobe")).mode & 0o777, 0o600);
});

test("two recordings become one, with the answers of both", async () => {
  const parts = ["part.1", "part.2"].map((name) => join(folder.path, `${name}.strobe`));
  const both = join(folder.path, "both-parts.strobe");
  const probe = "tracepoint:syscalls:sys_enter_getppid";
  const write = "tracepoint:syscalls:sys_enter_write";
  for (const [i, part] of parts.entries()) {
    const probes = i === 0 ? [probe] : [write, probe];
    const made = await strobe(["record", "-q", "-o", part, "--stack", "kernel,user", "-c", program, ...probes]);
    assert.equal(made.code, 0, made.stderr);
  }
  const made = await strobe(["merge", ...parts, "-o", both]);
  assert.equal(made.code, 0, made.stderr);
  assert.equal(statSync(both).mode & 0o777, 0o600);
  const host = hostname();
  const script = `${probe} ${here} { @[hostname, kstack] = count(); @n = count(); }`;
  const counts = await strobe([both, "-e", script]);
  assert.equal(counted(counts, "n"), 400);
  // One start of a machine has one set of names: equal stacks are one.
  const single = await strobe([parts[0], "-e", script]);
  assert.deepEqual(lines(counts), lines({ ...single, stdout: single.stdout.replaceAll(/: 200$/gm, ": 400") }));
  assert.ok(counts.stdout.includes(`@[${host},`), counts.stdout);
  assert.equal(counted(await strobe([both, "-e", `${write} ${here} { @ = count(); }`])), 200);
  const info = await strobe(["info", both]);
  assert.equal(info.stdout.match(/^recorded /gm)?.length, 2, info.stdout);
  assert.match(info.stdout, new RegExp(`^probe +${probe} on ${host} +\\d+$`, "m"));
  const refused = await strobe(["record", "--append", "-o", both, probe]);
  assert.match(refused.stderr, /is of version 3 of the format: record into another file/);
  const other = await strobe(["convert", both, "-o", join(folder.path, "both.dat")]);
  assert.match(other.stderr, /a trace.dat is of one machine, and the recording is of several/);
  const cut = join(folder.path, "cut-parts.strobe");
  assert.equal((await strobe(["cut", both, "--to", "1h", "-o", cut])).code, 0);
  assert.deepEqual(lines(await strobe([cut, "-e", script])), lines(counts));
});

test("files and build ids of code are as they were live", async () => {
  const own = join(folder.path, "ids.strobe");
  const script = `tracepoint:syscalls:sys_enter_getppid ${here} { @[ustack(build_id)] = count(); @top[ustack(build_id, 1)] = count(); }`;
  const recorder = startStrobe(["record", "-o", own, "--stack", "user", "tracepoint:syscalls:sys_enter_getppid"]);
  await recorder.attached;
  const live = startStrobe(["-e", script]);
  await live.attached;
  execFileSync(program);
  const outcome = await interrupt(live);
  assert.equal((await interrupt(recorder)).code, 0, recorder.stderr());
  assert.match(outcome.stdout, /^[0-9a-f]{40} 0x[0-9a-f]+$/m);
  const replayed = await strobe([own, "-e", script]);
  assert.deepEqual(lines(replayed), lines(outcome), replayed.stderr);
});

test("what a recorder loses is told by each probe, and a script hears of its own probes alone", async () => {
  const own = join(folder.path, "lost.strobe");
  const [getuid, getgid] = ["tracepoint:syscalls:sys_enter_getuid", "tracepoint:syscalls:sys_enter_getgid"];
  const name = `many-${process.pid}`;
  const calls = 400_000;
  const many = compileC(
    folder.path,
    name,
    `#include <unistd.h>
#include <sys/syscall.h>
int main(void)
{
	for (int i = 0; i < ${calls}; i++) {
		syscall(SYS_getuid);
		syscall(SYS_getgid);
	}
	return 0;
}
`,
    [],
  );
  const of = `/comm == "${name}"/`;
  const recorder = startStrobe(["record", "-o", own, `tracepoint:syscalls:sys_enter_get?id ${of}`]);
  await recorder.attached;
  recorder.child.kill("SIGSTOP");
  execFileSync(many);
  recorder.child.kill("SIGCONT");
  assert.equal((await interrupt(recorder)).code, 0, recorder.stderr());
  const info = await strobe(["info", own]);
  for (const probe of [getuid, getgid]) {
    const lost = [...info.stdout.matchAll(new RegExp(`^lost +(\\d+) events of ${probe} \\(ring\\)$`, "gm"))];
    assert.ok(lost.length > 0, info.stdout);
    const gone = lost.reduce((sum, [, number]) => sum + Number(number), 0);
    const replayed = await strobe([own, "-e", `${probe} ${of} { @ = count(); }`]);
    assert.equal(counted(replayed) + gone, calls);
    assert.ok(replayed.stderr.includes(`of ${probe} were lost when they were recorded (ring)`), replayed.stderr);
    const other = probe === getuid ? getgid : getuid;
    assert.ok(!replayed.stderr.includes(other), replayed.stderr);
  }
});

test("the page on recordings says what happens", async () => {
  const page = readFileSync("docs/recordings.md", "utf8");
  const blocks = [...page.matchAll(/^```\n(.*?)^```$/gms)].map(([, text]) => text);
  const strobeHere = `strobe() { '${process.execPath}' '${command}' "$@"; }`;
  for (const [i, text] of blocks.entries()) {
    // Files of perf and trace-cmd are other tests'.
    if (!text.startsWith("strobe ") || /perf\.data|trace\.dat/.test(text)) continue;
    const { status, stderr } = spawnSync("sh", ["-ec", `${strobeHere}\n${text}`], {
      cwd: folder.path,
      encoding: "utf8",
    });
    const says = blocks[i + 1]?.startsWith("-e:") ? blocks[i + 1] : undefined;
    assert.equal(status, says === undefined ? 0 : 1, `${text}${stderr}`);
    if (says !== undefined) assert.equal(stderr, says);
  }
});

test("a recording is not written where another user would read it", async () => {
  const place = (name: string): string => join(folder.path, name);
  writeFileSync(place("theirs"), "kept");
  chownSync(place("theirs"), 65534, 65534);
  writeFileSync(place("elsewhere"), "kept");
  symlinkSync(place("elsewhere"), place("link"));
  linkSync(place("elsewhere"), place("second-name"));
  execFileSync("mkfifo", [place("fifo")]);
  for (const [name, why] of [
    ["theirs", /theirs belongs to another user, who could read the recording/],
    ["second-name", /second-name has other names, by which others could read the recording/],
    ["link", /ELOOP/],
    ["fifo", /ENXIO/],
    [".", /EISDIR/],
  ] as const) {
    const { code, stderr } = await strobe([
      "record",
      "-o",
      place(name),
      "-c",
      "true",
      "tracepoint:syscalls:sys_enter_getppid",
    ]);
    assert.equal(code, 1, name);
    assert.match(stderr, why);
  }
  for (const name of ["theirs", "elsewhere"]) assert.equal(readFileSync(place(name), "utf8"), "kept");
});
