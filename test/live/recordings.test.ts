// What is recorded answers as the live kernel did: the same scripts over the same workload, both ways.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
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
  "tracepoint:syscalls:sys_enter_openat",
  "tracepoint:syscalls:sys_exit_openat",
  "tracepoint:syscalls:sys_enter_write",
  "tracepoint:syscalls:sys_enter_getppid",
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
    const replayed = await strobe(["replay", file, "-e", script]);
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
  assert.match(
    await refused("t:syscalls:sys_enter_write { @[str(args.buf)] = count(); @b = buf(args.buf, 4); }"),
    /memory behind a pointer/,
  );
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

test("the page on recordings says what happens", async () => {
  const page = readFileSync("docs/recordings.md", "utf8");
  const blocks = [...page.matchAll(/^```\n(.*?)^```$/gms)].map(([, text]) => text);
  const strobeHere = `strobe() { '${process.execPath}' '${command}' "$@"; }`;
  for (const [i, text] of blocks.entries()) {
    // perf's file is another test's.
    if (!text.startsWith("strobe ") || text.includes("perf.data")) continue;
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
