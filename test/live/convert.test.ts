// strobe convert: what other tools read of a recording says what the recording says.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const comm = `conv-${process.pid}`;
const file = join(folder.path, "run.strobe");
const probes = ["getppid", "openat", "getuid"].map((name) => `tracepoint:syscalls:sys_enter_${name}`);
let program = "";
let objects = "";

const source = `
#include <fcntl.h>
#include <unistd.h>
#include <sys/syscall.h>
__attribute__((noinline)) long inner(void) { return syscall(SYS_getppid) + 1; }
__attribute__((noinline)) long outer(void) { return inner() + 1; }
int main(void)
{
	long sum = 0;
	/* On a page that is there. */
	char path[] = "/etc/passwd";
	for (int i = 0; i < 30; i++)
		sum += i % 3 ? inner() : outer();
	for (int i = 0; i < 5; i++)
		close(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
	for (int i = 0; i < 7; i++)
		syscall(SYS_getuid);
	return sum == 0;
}
`;

before(async () => {
  objects = bpfObjects();
  program = compileC(folder.path, comm, source, ["-g", "-O1", "-fno-omit-frame-pointer"]);
  const own = probes.map((probe) => `${probe} /pid == cpid/`);
  const made = await strobe(["record", "-q", "-o", file, "--stack", "kernel,user", "-c", program, ...own]);
  assert.equal(made.code, 0, made.stderr);
});

after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

interface Shown {
  readonly comm: string;
  readonly pid: number;
  readonly tid: number;
  readonly time: number;
  readonly event: string;
  readonly text: string;
  /** Innermost first: function, offset, file. */
  readonly frames: readonly (readonly [symbol: string, offset: string | undefined, file: string])[];
}

/** Text of perf script's: `COMM PID/TID [CPU] SECONDS: EVENT: TEXT`, a line for each frame, an empty line. */
function events(text: string): Shown[] {
  return text
    .trimEnd()
    .split("\n\n")
    .map((block) => {
      const [head, ...lines] = block.split("\n");
      const [, name, pid, tid, time, event, more] =
        /^(\S+) +(\d+)\/(\d+) +\[\d{3}\] +(\d+\.\d{6}): +(\S+:\S+): (.*)$/.exec(head) ?? assert.fail(head);
      const frames = lines.map((line) => {
        const [, symbol, offset, path] =
          /^\t[ 0-9a-f]{16} (.+?)(?:\+0x([0-9a-f]+))? \((.*)\)$/.exec(line) ?? assert.fail(line);
        return [symbol, offset, path] as const;
      });
      return { comm: name, pid: Number(pid), tid: Number(tid), time: Number(time), event, text: more, frames };
    });
}

function counts(names: readonly string[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const name of names) all[name] = (all[name] ?? 0) + 1;
  return all;
}

const ofProgram = (all: readonly Shown[]): Shown[] => all.filter((one) => one.comm === comm);

test("perf script's text has each event, its arguments and its stack", async () => {
  const text = join(folder.path, "run.perf");
  const made = await strobe(["convert", file, "-o", text]);
  assert.equal(made.code, 0, made.stderr);
  assert.equal(statSync(text).mode & 0o777, 0o600);
  const all = ofProgram(events(readFileSync(text, "utf8")));
  const named = counts(all.map(({ event }) => event));
  assert.equal(named["syscalls:sys_enter_getppid"], 30);
  assert.equal(named["syscalls:sys_enter_getuid"], 7);
  const opened = all.filter(
    ({ event, text: said }) => event.endsWith("openat") && said.includes('filename="/etc/passwd"'),
  );
  assert.equal(opened.length, 5);
  assert.deepEqual(
    all.map(({ time }) => time),
    all.map(({ time }) => time).sort((a, b) => a - b),
  );
  // Functions and their offsets are those of the same frames in strobe's own text.
  const probe = probes[0];
  const { stdout } = await strobe([file, "-e", `${probe} { @[ustack, kstack] = count(); }`]);
  const replayed = [...stdout.matchAll(/^@\[\n(.*?)\n\]: (\d+)$/gms)].map(([, frames, count]) => [
    frames.split("\n").flatMap((line) => line.match(/^ +(\S+)$/)?.[1] ?? []),
    Number(count),
  ]);
  const written = Object.entries(
    counts(
      all
        .filter(({ event }) => event === "syscalls:sys_enter_getppid")
        .map(({ frames }) => {
          const texts = frames.map(([symbol, offset]) =>
            offset === undefined ? symbol : `${symbol}+${Number(`0x${offset}`)}`,
          );
          const kernel = frames.filter(([, , path]) => path.startsWith("[")).length;
          return [...texts.slice(kernel), ...texts.slice(0, kernel)].join(" ");
        }),
    ),
  );
  const byCount = (a: readonly unknown[], b: readonly unknown[]): number => Number(a[1]) - Number(b[1]);
  assert.deepEqual(
    written.sort(byCount),
    replayed.map(([frames, count]) => [(frames as string[]).join(" "), count]).sort(byCount),
  );
  assert.ok(
    all.some(({ frames }) => frames.some(([symbol, , path]) => symbol === "inner" && path === program)),
    "a function of the program, with its file",
  );
});

const perf = (args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync("perf", args, { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(status, 0, stderr);
  return stdout;
};
const skip = ((): false | string => {
  try {
    execFileSync("perf", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return "perf is not installed";
  }
})();

test("it is shaped as perf's own of the same program", { skip }, () => {
  const data = join(folder.path, "perf.data");
  const asked = probes.flatMap((probe) => ["-e", probe.slice("tracepoint:".length)]);
  perf(["record", "-q", "-g", ...asked, "-o", data, "--", program]);
  const theirs = ofProgram(
    events(perf(["script", "-i", data, "-F", "comm,pid,tid,cpu,time,event,ip,sym,symoff,dso,trace"])),
  );
  const ours = ofProgram(events(readFileSync(join(folder.path, "run.perf"), "utf8")));
  const named = (all: readonly Shown[]): Record<string, number> => counts(all.map(({ event }) => event));
  assert.deepEqual(named(ours), named(theirs));
  // Calls without arguments have the same words; by frame pointers alone, perf does not see who called the C library.
  const plain = (all: readonly Shown[]): string[] =>
    all
      .filter(({ event }) => event !== "syscalls:sys_enter_openat")
      .map(({ event, text, frames }) => {
        const own = event.endsWith("getppid") ? frames.filter(([name]) => name === "outer" || name === "main") : [];
        return `${event}: ${text} ${own.map(([name, offset, path]) => `${name}+${offset} ${path}`).join(" ")}`;
      });
  assert.deepEqual(plain(ours), plain(theirs));
});

test("pictures and profiles are of the stacks that were recorded", async () => {
  const folded = join(folder.path, "run.folded");
  const made = await strobe(["convert", file, "-o", folded]);
  assert.equal(made.code, 0, made.stderr);
  const lines = readFileSync(folded, "utf8").trimEnd().split("\n");
  const total = lines.reduce((sum, line) => sum + Number(/ (\d+)$/.exec(line)?.[1]), 0);
  const { stdout } = await strobe([file, "-e", `${probes.join(", ")} { @ = count(); }`]);
  assert.equal(total, Number(/^@: (\d+)$/m.exec(stdout)?.[1]));
  assert.ok(
    lines.some((line) => line.includes(";main;outer;inner;")),
    lines.join("\n"),
  );
  for (const [name, begins] of [
    ["run.svg", "<?xml"],
    ["run.speedscope.json", '{"$schema":'],
    ["run.pb.gz", "\x1f"],
  ]) {
    const path = join(folder.path, name);
    const { code, stderr } = await strobe(["convert", file, "-o", path]);
    assert.equal(code, 0, stderr);
    assert.equal(readFileSync(path, "latin1").slice(0, begins.length), begins, name);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  }
});

test("what there is no way for is refused", async () => {
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await strobe(["convert", ...args]);
    assert.equal(code, 1);
    return stderr;
  };
  assert.match(await refused(file, "-o", join(folder.path, "run")), /run does not end as a format does/);
  assert.match(await refused(file, "-o", "x", "-f", "json"), /a recording is not converted to json/);
  const none = join(folder.path, "none.strobe");
  assert.equal((await strobe(["record", "-q", "-o", none, "-c", "true", probes[0]])).code, 0);
  assert.match(await refused(none, "-o", join(folder.path, "none.svg")), /shows stacks, and none were recorded/);
});
