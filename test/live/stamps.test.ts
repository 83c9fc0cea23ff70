// What --stamp says of events, beside what the program that made them says itself.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { trace, type Stamp } from "../../src/index.ts";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const comm = `stamp-${process.pid}`;
let program = "";
let objects = "";

/** A thread of its own on the last CPU that it may have; a rest between each reading of the clock and the call. */
const source = `
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *thread(void *unused)
{
	cpu_set_t may, one;
	struct timespec rest = { 0, 20000000 };
	int cpu = CPU_SETSIZE - 1;
	sched_getaffinity(0, sizeof may, &may);
	while (!CPU_ISSET(cpu, &may))
		cpu--;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
	for (int i = 0; i < 3; i++) {
		long long before = now();
		nanosleep(&rest, 0);
		syscall(i == 1 ? SYS_getuid : SYS_getppid);
		nanosleep(&rest, 0);
		fprintf(stderr, "made %d %ld %d %lld %lld\\n", getpid(), syscall(SYS_gettid), cpu, before, now());
	}
	return unused;
}

int main(void)
{
	pthread_t other;
	pthread_create(&other, 0, thread, 0);
	pthread_join(other, 0);
	return 0;
}
`;

before(() => {
  program = compileC(folder.path, comm, source, ["-O1", "-pthread"]);
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const probes = ["getppid", "getuid", "getppid"].map((call) => `tracepoint:syscalls:sys_enter_${call}`);
const script = `tracepoint:syscalls:sys_enter_getppid, tracepoint:syscalls:sys_enter_getuid /comm == "${comm}"/ { printf("%s %d\\n", "called", 7); }`;

interface Made {
  readonly pid: number;
  readonly tid: number;
  readonly cpu: number;
  readonly before: bigint;
  readonly after: bigint;
}

function madeBy(stderr: string): Made[] {
  return [...stderr.matchAll(/^made (\d+) (\d+) (\d+) (\d+) (\d+)$/gm)].map(([, pid, tid, cpu, from, to]) => ({
    pid: Number(pid),
    tid: Number(tid),
    cpu: Number(cpu),
    before: BigInt(from),
    after: BigInt(to),
  }));
}

/** Nanoseconds since the epoch of `2026-11-22T22:35:25.711144919Z`. */
function nanoseconds(text: string): bigint {
  const [, whole, part] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})Z$/.exec(text) ?? [];
  return BigInt(Date.parse(`${whole}Z`)) * 1_000_000n + BigInt(part);
}

test("--stamp: members of JSON objects are what the program knows of its calls", async () => {
  const { stdout, stderr } = await strobe([
    "-f",
    "json",
    "--stamp",
    "time,cpu,pid,tid,probe",
    "-c",
    program,
    "-e",
    script,
  ]);
  const made = madeBy(stderr);
  assert.equal(made.length, 3);
  assert.notEqual(made[0].pid, made[0].tid);
  const events = stdout
    .split("\n")
    .filter((line) => line.startsWith('{"type": "printf"'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  assert.deepEqual(
    events,
    made.map(({ pid, tid, cpu }, i) => ({
      type: "printf",
      time: events[i]["time"],
      cpu,
      pid,
      tid,
      probe: probes[i],
      data: "called 7\n",
    })),
  );
  for (const [i, { time }] of events.entries()) {
    const at = nanoseconds(time as string);
    assert.ok(made[i].before < at && at < made[i].after, `${made[i].before} ${at} ${made[i].after}`);
  }
});

test("--stamp: columns before lines, in the order that was asked for", async () => {
  const { stdout, stderr } = await strobe(["--stamp", "tid,probe,cpu", "-c", program, "-e", script]);
  assert.deepEqual(
    stdout.split("\n").filter((line) => line !== ""),
    madeBy(stderr).map(
      ({ tid, cpu }, i) => `${String(tid).padStart(7)} ${probes[i]} ${String(cpu).padStart(3)} called 7`,
    ),
  );
});

test("--stamp: a line begins once, whoever writes it; what runs in strobe is strobe's", async () => {
  const text =
    'begin { printf("a "); printf("b\\nc\\n"); print((1, pid)); printf(""); print(pid); } interval:ms:1 { printf("tick\\n"); exit(); } end { @x = 1; }';
  const { stdout } = await strobe(["--stamp", "pid,probe", "-e", text]);
  const [, pid] = /\((?:1), (\d+)\)/.exec(stdout) ?? [];
  const stamp = (probe: string): string => `${pid.padStart(7)} ${probe} `;
  assert.equal(
    stdout,
    [
      `${stamp("begin")}a b`,
      "c",
      `${stamp("begin")}(1, ${pid})`,
      `${stamp("begin")}${pid}`,
      `${stamp("interval:ms:1")}tick`,
      "",
      "",
      "@x: 1",
      "",
    ].join("\n"),
  );
});

test("events of the library carry what they are stamped with", async () => {
  const stamps: Stamp[] = [];
  const session = await trace(`${script} begin { print((1, 2)); }`, {
    command: program,
    stamp: ["probe", "time", "tid"],
  });
  for await (const event of session) if ("stamp" in event && event.stamp !== undefined) stamps.push(event.stamp);
  assert.deepEqual(
    stamps.map(({ probe }) => probe),
    ["begin", ...probes],
  );
  const [own, ...threads] = stamps;
  assert.equal(own.tid, process.pid);
  assert.equal(new Set(threads.map(({ tid }) => tid)).size, 1);
  const times = stamps.map(({ time }) => time!);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

test("--stamp: the time of day is the machine's", async () => {
  const { stdout } = await strobe(["--stamp", "time", "-e", 'begin { print("x"); exit(); }'], {
    env: { TZ: "Asia/Kathmandu" },
  });
  const now = execFileSync("date", ["+%H:%M"], { encoding: "utf8", env: { ...process.env, TZ: "Asia/Kathmandu" } });
  const [, hours, minutes] = /^(\d\d):(\d\d):\d\d\.\d{6} x\n/.exec(stdout) ?? [];
  const of = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
  // A day has 1440 minutes; a busy machine may take some of them.
  assert.ok((of(now) - of(`${hours}:${minutes}`) + 1440) % 1440 < 10, `${stdout} ${now}`);
});

test("--stamp takes fields that there are, each once", async () => {
  for (const [fields, message] of [
    ["tme", '--stamp takes one of time, cpu, pid, tid, probe, not "tme"'],
    ["", '--stamp takes one of time, cpu, pid, tid, probe, not ""'],
    ["pid,time,pid", "--stamp has pid twice"],
  ]) {
    const { stderr, code } = await strobe(["--stamp", fields, "-e", "begin { exit(); }"]);
    assert.deepEqual([stderr.split("\n")[0].replace(/^[^:]*: /, ""), code], [message, 1]);
  }
});
