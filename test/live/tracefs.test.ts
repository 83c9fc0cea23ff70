// The tracefs engine answers as eBPF does: the same scripts over the same workload, both ways; and it leaves nothing
// behind, whatever ends it.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, test } from "node:test";
import { tracefsRoot } from "../../src/linux/kernel/tracefs.ts";
import { command, compileC, interrupt, startStrobe, strobe, temporaryFolder, type Outcome } from "../support/strobe.ts";

const folder = temporaryFolder();
const comm = `tfs-${process.pid}`;
let program = "";

const source = `
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/syscall.h>

struct inner { signed char small; const char *name; uint16_t pair[4]; };
struct outer { long number; struct inner *inner; struct outer *next; };

__attribute__((noinline)) int work(int number, const char *text, struct outer *outer)
{
	__asm__ volatile("" ::: "memory");
	return number * 2 + text[0];
}

static void *thread(void *argument)
{
	prctl(PR_SET_NAME, "tfs-thread");
	for (int i = 0; i < 20; i++)
		syscall(SYS_getppid);
	return argument;
}

int main(void)
{
	char bytes[200] = { 0 };
	struct inner inner = { -5, "inside", { 1, 2, 3, 65535 } };
	struct outer last = { 1L << 40, &inner, 0 };
	struct outer first = { -7, 0, &last };
	int null = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 200; i++) {
		if (write(null, bytes, i) < 0)
			return 1;
		inner.small = -(i % 4);
		work(i % 3 - 1, i % 2 ? "odd" : "even", i % 5 ? &first : &last);
		syscall(SYS_getppid);
	}
	pthread_t other;
	pthread_create(&other, 0, thread, 0);
	pthread_join(other, 0);
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			syscall(SYS_getppid);
			_exit(i);
		}
		wait(0);
	}
	return 0;
}
`;

const here = "/pid == cpid/";

/** Of the program that `-c` starts. */
const scripts = (): readonly string[] => [
  `tracepoint:syscalls:sys_enter_write ${here} { @[comm] = sum(args.count); @n = count(); }`,
  `tracepoint:syscalls:sys_enter_write ${here} {
     @h = hist(args.count); @l = lhist(args.count, 0, 100, 10); @s = stats(args.count);
     @least = min(args.count); @most[pid == tid] = max(args.count); @mean = avg(args.count);
   }`,
  // Whether a thread that waits for another calls futex (202) is a matter of time.
  `tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id != 202/ { @[args.id] = count(); @first[args.id] = max(args.args[0] < 1000 ? args.args[0] : 0); }`,
  `tracepoint:syscalls:sys_enter_getppid ${here} { @[comm, pid == tid] = count(); }`,
  `tracepoint:syscalls:sys_enter_write ${here} { @open[tid] = args.count; }
   tracepoint:syscalls:sys_exit_write ${here} { @same[@open[tid] == args.ret] = count(); delete(@open, tid); }`,
  `tracepoint:sched:sched_process_exit /strncmp(args.comm, "${comm}", 15) == 0/ { @gone[args.prio > 0] = count(); }`,
  `tracepoint:task:task_newtask ${here} { @[args.clone_flags & 0x10000, str(args.comm)] = count(); }`,
  `tracepoint:sched:sched_process_exit ${here} { @[kstack, pid == tid] = count(); @two[kstack(2)] = count(); }`,
  `tracepoint:sched:sched_process_exec ${here} { printf("%s %d\\n", str(args.filename), args.pid == pid); }`,
  `begin { @i = 5; printf("begin\\n"); }
   tracepoint:syscalls:sys_enter_getppid ${here} { @i++; if (@i == 100) { printf("hundred %s\\n", comm); } }
   end { printf("end %d\\n", @i); }`,
  `tracepoint:syscalls:sys_enter_getppid ${here} { @last = nsecs > @last ? nsecs : 0; @time[nsecs(monotonic) > 0, elapsed > 0] = count(); }
   end { printf("%d\\n", @last > 0); clear(@last); }`,
  `uprobe:${program}:work { @[args.number, str(args.text)] = count(); @sum = sum(arg0); @ip[reg("ip") > 4096] = count(); }`,
  `uprobe:${program}:work { @[args.outer.number, args.outer.next.inner.small, args.outer.inner.small] = count(); }`,
  `uprobe:${program}:work { @[str(args.outer.next.inner.name), str(args.outer.inner.name)] = count(); @p = args.outer.next.inner.pair[3]; }`,
  `uretprobe:${program}:work { @returned[(int32)retval] = count(); }`,
  `uretprobe:${program}:work { @[args.number, retval > 100] = count(); }`,
  `uprobe:${program}:work /args.number > 0/ { @a = count(); } uprobe:${program}:work { @b[func] = count(); @probe[probe] = count(); }`,
  `uprobe:${program}:work { @pair[args.outer.next.inner.pair[1]] = count(); $x = args.outer.next; if ($x != 0) { @number[$x->number >> 39] = count(); } }`,
  // Conditions that become the events' own filters, and such that look like it.
  `tracepoint:syscalls:sys_enter_write /args.count > 10 && args.count < 100 && tid == cpid/ { @ = count(); } tracepoint:syscalls:sys_enter_write /args.count == 7 && pid == cpid/ { @seven = count(); }`,
  `tracepoint:syscalls:sys_enter_write /comm == "${comm}" && (args.count & 0x81) == 0/ { @even[comm] = count(); }`,
  `tracepoint:sched:sched_process_exec /pid == cpid && str(args.filename) == "${program}"/ { @ = count(); } tracepoint:sched:sched_process_exec /pid == cpid && str(args.filename) == "${program.slice(0, -1)}"/ { @no = count(); }`,
  `tracepoint:task:task_rename /pid == cpid && strncmp(args.newcomm, "tfs-th", 6) == 0/ { @[str(args.newcomm)] = count(); } tracepoint:task:task_newtask /pid == cpid && args.comm != "${comm}"/ { @other = count(); }`,
  `tracepoint:syscalls:sys_exit_write { if (args.ret > 150 && args.ret <= 190) { if (pid == cpid) { @a = count(); } } else if ((int64)args.ret < 0 && tid == cpid) { @b = count(); } }`,
  `uprobe:${program}:work /args.number < 0/ { @negative = count(); } uprobe:${program}:work /(uint32)args.number > 1 || arg0 == 0/ { @rest[args.number] = count(); }`,
  `uprobe:${program}:work /str(args.text) == "odd" && args.outer.inner.small == -3/ { @[args.outer.inner.small] = count(); }`,
  `uprobe:${program}:work /args.outer.inner.small != -1/ { @[args.outer.inner.small] = count(); }`,
  `uprobe:${program}:work /args.outer.number <= -7/ { @ = count(); } uprobe:${program}:work /str(args.text) != "odd"/ { @even = count(); }`,
  `uretprobe:${program}:work /(int32)retval >= 101/ { @[(int32)retval] = count(); } uretprobe:${program}:work /@seen[retval] == 0/ { @seen[retval] = 1; }`,
  `uprobe:${program}:work { @text[tid == pid] = str(args.text, 3); for ($kv : @text) { @loops[$kv.0] = count(); } }`,
];

/** Nothing of strobe's is left in tracefs that was not there. */
function left(): string {
  const instances = readdirSync(`${tracefsRoot()}/instances`).filter((name) => name.startsWith("strobe"));
  const events = readFileSync(`${tracefsRoot()}/dynamic_events`, "latin1")
    .split("\n")
    .filter((line) => /^\w+:strobe/.test(line));
  return [...instances, ...events].join("\n");
}

/** What strobes of the process have left: other tests run beside. */
const leftOf = (pid: number): string =>
  left()
    .split("\n")
    .filter((line) => line.includes(`strobe-${pid}`) || line.includes(`strobe_${pid}/`))
    .join("\n");

before(() => {
  program = compileC(folder.path, comm, source, ["-g", "-O1", "-fno-omit-frame-pointer", "-pthread"]);
});

after(() => folder.remove());

/** Lines in an order of their own: entries of equal values come in any. */
function lines({ stdout }: Outcome): readonly string[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

test("eBPF and tracefs give equal answers", async (t) => {
  for (const script of scripts()) {
    await t.test(script.replace(/\s+/g, " ").slice(0, 70), async () => {
      const [bpf, events] = [
        await strobe(["--engine", "bpf", "-e", script, "-c", program]),
        await strobe(["-v", "--engine", "tracefs", "-e", script, "-c", program]),
      ];
      assert.equal(bpf.code, 0, bpf.stderr);
      assert.equal(events.code, 0, events.stderr);
      assert.doesNotMatch(events.stderr, /has no filter/);
      assert.ok(lines(bpf).length > 0, bpf.stderr);
      assert.deepEqual(lines(events), lines(bpf));
    });
  }
});

test("stacks begin in the traced code where another tracer is at the tracepoint", async () => {
  const script = "tracepoint:sched:sched_process_exit /pid == cpid/ { @[kstack(1)] = count(); }";
  const inner = `${process.execPath} ${command} --engine tracefs -q -e '${script}' -c /bin/true`;
  const { stdout, stderr, code } = await strobe(["-q", "-e", script.replace("[kstack(1)]", "n"), "-c", inner]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^\s*@\[\n\s+do_exit\+\d+\n\]: 1\s+@n: [1-9]\d*\s*$/);
});

test("conditions of the record are the kernel's filters, and --explain shows them", async () => {
  const explained = async (script: string): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await strobe(["--engine", "tracefs", "--explain", "-e", script]);
    assert.equal(code, 0, stderr);
    return stdout.split("\n").filter((line) => /^ {2}(filter|every)/.test(line));
  };
  const filter = async (predicate: string, event = "tracepoint:sched:sched_waking"): Promise<string> =>
    (await explained(`${event} /${predicate}/ { @ = count(); @x = 1; }`)).join();
  assert.equal(
    await filter("!(args.prio & 4) && tid == 3 && cpu == 1 && (args.pid > 3 || args.target_cpu)"),
    "  filter: !(prio & 4) && common_pid == 3 && CPU == 1 && (pid > 3 || target_cpu != 0)",
  );
  assert.equal(
    await filter('args.comm == "bash" && strncmp(comm, "sw", 2) == 0 && pid == 3'),
    '  filter: comm == "bash" && COMM ~ "sw*"',
  );
  assert.equal(
    await filter('str(args.filename) == "/bin/true" || comm != "x"', "tracepoint:sched:sched_process_exec"),
    '  filter: filename == "/bin/true" || COMM != "x"',
  );
  // The kernel takes arguments of system calls for unsigned.
  assert.equal(
    await filter("args.offset > 1000000 && tid != 3", "tracepoint:syscalls:sys_enter_lseek"),
    "  filter: offset > 1000000 && offset <= 9223372036854775807 && common_pid != 3",
  );
  assert.equal(
    await filter("args.offset < 0", "tracepoint:syscalls:sys_enter_lseek"),
    "  filter: offset < 0 || offset > 9223372036854775807",
  );
  // What might be said otherwise than it is meant: cut numbers, signs, quotes, maps, what is done before.
  for (const predicate of [
    "args.pid == 0x100000001",
    "(uint64)args.pid > 5",
    'args.comm == "a\\"b"',
    "@x == 0",
    "@n++ < 5 && args.pid == 1",
    "args.pid == 1 || @x",
    "args.pid % 2 == 0",
  ])
    assert.equal(await filter(predicate), "  every event", predicate);
  assert.deepEqual(
    await explained(
      `uprobe:${program}:work /args.number == 1/ { @a = count(); } uprobe:${program}:work /args.outer.inner.small > 3/ { @b = count(); }`,
    ),
    ["  filter: a0 == 1 || a3 > 3"],
  );
  const ofCommand = `tracepoint:sched:sched_switch ${here} { @ = count(); } tracepoint:sched:sched_waking /pid == 7 && tid != 8/ { @b = count(); }`;
  const { stdout: lines } = await strobe(["--engine", "tracefs", "--explain", "-e", ofCommand]);
  assert.match(lines, /^processes: the command, 7, and what they start$/m);
  assert.deepEqual(await explained(ofCommand), ["  every event", "  filter: common_pid != 8"]);
  const script = `uprobe:${program}:work /args.number < 0/ { @ = count(); }`;
  const { stdout, stderr } = await strobe(["-v", "--engine", "tracefs", "-e", script, "-c", program]);
  assert.match(stderr, /^events of the processes \d+ and of what they start$/m);
  assert.match(stderr, /^enabled strobe_\d+:uprobe_0 for uprobe:\S+ %di:s32 if a0 < 0$/m);
  assert.match(stdout, /^@: 67$/m);
});

test("what no event of tracefs tells is refused with its reason", async () => {
  const refused = async (script: string): Promise<string> => {
    const { code, stderr } = await strobe(["--engine", "tracefs", "-e", script]);
    assert.equal(code, 1, stderr);
    return stderr;
  };
  assert.match(
    await refused("tracepoint:syscalls:sys_enter_openat { @[uid] = count(); }"),
    /error: uid cannot be fetched on tracefs \(tracepoint:syscalls:sys_enter_openat\)[^]*help: it needs BPF: --engine bpf/,
  );
  assert.match(await refused("profile:hz:99 { @ = count(); }"), /profile probes cannot be fetched on tracefs/);
  assert.match(
    await refused(`uprobe:${program}:work { @i++; @ = args.outer.inner.pair[@i % 4]; }`),
    /a value that is computed, on the way to another cannot be fetched/,
  );
  assert.match(await refused("tracepoint:sched:sched_switch { @[curtask] = count(); }"), /curtask cannot be fetched/);
});

test("exit() ends it at its event", async () => {
  const script = `tracepoint:syscalls:sys_enter_getppid ${here} { @n++; if (@n == 50) { exit(); } }`;
  const outcome = await strobe(["--engine", "tracefs", "-e", script, "-c", program]);
  assert.deepEqual(lines(outcome), ["@n: 50"], outcome.stderr);
});

test("user stacks are of frame pointers, which is said", async () => {
  const { code, stdout, stderr } = await strobe([
    "--engine",
    "tracefs",
    "-e",
    `uprobe:${program}:work { @[ustack] = count(); }`,
    "-c",
    program,
  ]);
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /warning: user stacks on tracefs have 8 frames at most and follow frame pointers: code without them is left out/,
  );
  assert.match(stdout, /^@\[\n +work\+0\n[^]*\]: 200$/m);
});

test("nothing is left: at the end, by a signal, by a mistake, and by the next start when it was killed", async () => {
  const script = `tracepoint:syscalls:sys_enter_getppid { @ = count(); } uprobe:${program}:work { @s[str(args.text)] = count(); }`;
  const run = (): ReturnType<typeof startStrobe> => startStrobe(["--engine", "tracefs", "-e", script]);
  const ended = run();
  await ended.attached;
  const { pid } = ended.child;
  assert.notEqual(leftOf(pid!), "");
  const { code, stderr } = await interrupt(ended);
  assert.equal(code, 0, stderr);
  assert.equal(leftOf(pid!), "");

  const terminated = run();
  await terminated.attached;
  terminated.child.kill("SIGTERM");
  await terminated.outcome;
  assert.equal(leftOf(terminated.child.pid!), "");

  // A program that cannot be started, and a place that cannot be probed.
  const wrong = await strobe(["--engine", "tracefs", "-e", script, "-c", "/no/such/program"]);
  assert.notEqual(wrong.stderr, "");

  for (const moment of [0, 150, 250, 350, 500]) {
    const killed = run();
    if (moment === 0) await killed.attached;
    else await sleep(moment);
    killed.child.kill("SIGKILL");
    await killed.outcome;
    const next = await strobe([
      "--engine",
      "tracefs",
      "-e",
      "tracepoint:syscalls:sys_enter_getppid { exit(); }",
      "-c",
      program,
    ]);
    assert.equal(next.code, 0, next.stderr);
    assert.equal(leftOf(killed.child.pid!), "");
  }
});

test("what needs BPF or other numbers of processes is refused", async (t) => {
  const script = "tracepoint:syscalls:sys_enter_getppid { exit(); }";
  for (const flag of ["--stats", "--warnings", "--max-overhead=2%"]) {
    const { code, stderr } = await strobe(["--engine", "tracefs", flag, "-e", script, "-c", program]);
    assert.equal(code, 1);
    assert.match(stderr, /^strobe: --[a-z-]+ needs BPF: on tracefs handlers run in strobe itself$/m);
  }
  const { status, stderr } = spawnSync(
    "unshare",
    ["--pid", "--fork", "--mount-proc", process.execPath, command, "--engine", "tracefs", "-e", script],
    { encoding: "utf8", timeout: 60_000 },
  );
  if (/unshare/.test(stderr) || status === null) t.diagnostic("unshare is not there, or may not be used");
  else assert.match(stderr, /tracefs tells processes by the kernel's own numbers/);
});

test("strobe clean removes what a killed strobe left, and says so", async () => {
  const killed = startStrobe(["--engine", "tracefs", "-e", `uprobe:${program}:work { @ = count(); }`]);
  await killed.attached;
  const { pid } = killed.child;
  killed.child.kill("SIGKILL");
  await killed.outcome;
  const { code, stdout } = await strobe(["clean"]);
  assert.equal(code, 0);
  for (const name of [`instance strobe-${pid}`, `instance strobe-${pid}-lives`, `event strobe_${pid}/uprobe_0`])
    assert.ok(stdout.includes(`removed ${name} of tracefs\n`), stdout);
  assert.equal(leftOf(pid!), "");
  const wrong = await strobe(["clean", "all"]);
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.stderr, /strobe clean takes nothing, not "all"/);
});

test("instances and events of others stay", async () => {
  const others = [`${tracefsRoot()}/instances/strober-1`, `${tracefsRoot()}/instances/strobe-${process.pid}`];
  for (const other of others) mkdirSync(other);
  try {
    const { code, stderr } = await strobe([
      "--engine",
      "tracefs",
      "-e",
      "tracepoint:syscalls:sys_enter_getppid { exit(); }",
      "-c",
      program,
    ]);
    assert.equal(code, 0, stderr);
    const there = readdirSync(`${tracefsRoot()}/instances`);
    for (const other of others) assert.ok(there.includes(other.slice(other.lastIndexOf("/") + 1)));
  } finally {
    for (const other of others) rmdirSync(other);
  }
});

test("two at once do not disturb each other", async () => {
  const script = `uprobe:${program}:work { @ = count(); }`;
  const both = await Promise.all([0, 1].map(() => strobe(["--engine", "tracefs", "-e", script, "-c", program])));
  for (const outcome of both) assert.deepEqual(lines(outcome), ["@: 200"], outcome.stderr);
});

test("where BPF is refused tracefs is taken, and that is said", async (t) => {
  try {
    execFileSync("setpriv", ["--bounding-set=-sys_admin", "true"]);
  } catch {
    t.skip("setpriv is not there, or may not be used");
    return;
  }
  const script = 'tracepoint:syscalls:sys_enter_getppid { @[comm == "none"] = count(); exit(); }';
  const capabilities = "-sys_admin,-bpf,-perfmon,-sys_resource";
  const { status, stdout, stderr } = spawnSync(
    "setpriv",
    [`--bounding-set=${capabilities}`, process.execPath, command, "-e", script, "-c", program],
    { encoding: "utf8", timeout: 60_000 },
  );
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^strobe: BPF is refused here \(EPERM\); using tracefs$/m);
  assert.match(stdout, /^@\[false\]: 1$/m);
});
