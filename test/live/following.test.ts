// What traced processes open while a script runs is probed as it appears: libraries by dlopen, and programs of
// children.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import {
  bpfObjects,
  compileC,
  nothingLeft,
  startStrobe,
  strobe,
  temporaryFolder,
  type Running,
} from "../support/strobe.ts";

const folder = temporaryFolder();
const atStart = bpfObjects();
let opener = "";
let plugin = "";
let other = "";
let forker = "";
function pluginSource(name: string): string {
  return `#include <sys/sdt.h>
    static int calls = 40;
    __attribute__((noinline)) int ${name}_step(int n) { __asm__ volatile(""); return n + calls; }
    int ${name}(int n) { calls++; DTRACE_PROBE2(plugin, ${name}, n, calls); return ${name}_step(n); }`;
}

/**
 * Opens each library it is given, and calls it ten times once there is a file of its name and `.go`, which says that it
 * is probed. With "wait", begins when told.
 */
const openerSource = `
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "wait")) { getchar(); continue; }
		char go[4096], *colon = strchr(argv[i], '=');
		*colon = 0;
		void *library = dlopen(colon + 1, RTLD_NOW);
		if (!library) { fprintf(stderr, "%s\\n", dlerror()); return 1; }
		int (*call)(int) = (int (*)(int))dlsym(library, argv[i]);
		snprintf(go, sizeof go, "%s.go", colon + 1);
		while (access(go, F_OK)) usleep(1000);
		for (int n = 0; n < 10; n++) call(n);
	}
	return 0;
}`;

/** Forks three children; each calls own() as often as its number, its parent a hundred times. */
const forkerSource = `
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int sum;
__attribute__((noinline)) void own(int n) { sum += n; }
int main(int argc, char **argv)
{
	if (argc > 1) getchar();
	for (int child = 1; child <= 3; child++) {
		if (fork() == 0) { for (int i = 0; i < child; i++) own(i); getppid(); _exit(0); }
	}
	for (int i = 0; i < 100; i++) own(i);
	getppid();
	while (wait(0) > 0) ;
	(void)argv;
	return 0;
}`;

before(() => {
  plugin = compileC(folder.path, "libplugin.so", pluginSource("work"), ["-O2", "-shared", "-fPIC"]);
  other = compileC(folder.path, "libother.so", pluginSource("toil"), ["-O2", "-shared", "-fPIC"]);
  opener = compileC(folder.path, "opener", openerSource, ["-O2"]);
  forker = compileC(folder.path, "forker", forkerSource, ["-O2"]);
});
after(async () => {
  await nothingLeft(atStart);
  folder.remove();
});

/** Lets the programs go on that opened libraries, once strobe says that it probes these, or at once. */
function letGo(running: Running, atOnce: readonly string[] = []): Running {
  const go = (library: string): void => writeFileSync(`${library}.go`, "");
  for (const name of readdirSync(folder.path)) if (name.endsWith(".go")) rmSync(join(folder.path, name));
  atOnce.forEach(go);
  running.child.stderr?.on("data", () => {
    for (const [, files = ""] of running.stderr().matchAll(/ opened (.*): attached \d+ more probe/g))
      files.split(", ").forEach(go);
  });
  return running;
}

/** Of a library that has nothing to probe, or where it was probed from the beginning, nothing is said. */
async function overWith(
  atOnce: readonly string[],
  command: string,
  script: string,
  ...more: string[]
): Promise<string> {
  const output = join(folder.path, "output");
  const words = ["-v", "--no-warnings", "-o", output, ...more, "-c", command, "-e", script];
  const { stderr, code } = await letGo(startStrobe(words), atOnce).outcome;
  assert.doesNotMatch(stderr, /^(?:WARNING|ERROR)/m);
  assert.equal(code, 0);
  return readFileSync(output, "utf8").trim();
}

const over = (command: string, script: string, ...more: string[]): Promise<string> =>
  overWith([], command, script, ...more);

/** Traces a program by its pid, which goes on once probes are attached. */
async function overRunning(
  program: string,
  args: readonly string[],
  script: string,
  more: readonly string[] = [],
  atOnce: readonly string[] = [],
  listens: (stderr: string) => void = () => {},
): Promise<{ stdout: string; stderr: string }> {
  const child = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"] });
  try {
    const running = letGo(startStrobe(["-v", ...more, "-p", String(child.pid), "-e", script]), atOnce);
    running.child.stderr?.on("data", () => listens(running.stderr()));
    await running.attached;
    child.stdin.end("\n");
    await once(child, "exit");
    const { stdout, stderr, code } = await running.outcome;
    assert.equal(code, 0);
    return { stdout: stdout.trim(), stderr };
  } finally {
    child.kill();
  }
}

test("-c: a library that the command opens later, by its name", async () => {
  assert.equal(
    await over(
      `${opener} work=${plugin}`,
      "uprobe:libplugin.so:work_step { @[probe, func] = count(); @sum = sum(arg0); }",
    ),
    `@[uprobe:${plugin}:work_step, work_step]: 10\n@sum: 45`,
  );
});

test("-p: the same, in the process alone, and strobe says that it waits and that it found it", async () => {
  const stranger = spawn(opener, ["wait", `work=${plugin}`], { stdio: ["pipe", "inherit", "inherit"] });
  try {
    setTimeout(() => stranger.stdin.end("\n"), 300);
    const { stdout, stderr } = await overRunning(
      opener,
      ["wait", `work=${plugin}`],
      "uprobe:libplugin:work { @ = count(); } uretprobe:libplugin:work { @results = sum(retval); }",
    );
    assert.equal(
      stdout.replaceAll("\n\n", "\n"),
      `@: 10\n@results: ${Array.from({ length: 10 }, (_, n) => n + 41 + n).reduce((a, b) => a + b)}`,
    );
    assert.match(stderr, /warning: target file 'libplugin' does not exist or is not executable/);
    assert.match(stderr, /help: it is probed as soon as the process opens a file that has it/);
    assert.match(stderr, /opened \S*libplugin\.so: attached 2 more probes/);
  } finally {
    stranger.kill();
  }
});

test("wildcards over files, of functions and static probes, of libraries one after the other", async () => {
  const { stdout } = await overRunning(
    opener,
    ["wait", `work=${plugin}`, `toil=${other}`],
    `
    uprobe:*:*_step { @calls[func] = count(); }
    usdt:*:plugin:* { @values[probe] = sum(arg1); printf("%s %d\\n", str(arg0) == "" ? "n" : "", arg0); }
    usdt:*:plugin:toil { @toil = count(); }`,
  );
  const lines = stdout
    .split("\n")
    .filter((line) => line.startsWith("@"))
    .sort();
  const values = Array.from({ length: 10 }, (_, i) => 41 + i).reduce((a, b) => a + b);
  assert.deepEqual(
    lines,
    [
      "@calls[toil_step]: 10",
      "@calls[work_step]: 10",
      "@toil: 10",
      `@values[usdt:${other}:plugin:toil]: ${values}`,
      `@values[usdt:${plugin}:plugin:work]: ${values}`,
    ].sort(),
  );
  assert.deepEqual(
    stdout.split("\n").filter((line) => line.startsWith("n ")),
    [...Array(20).keys()].map((n) => `n ${n % 10}`),
  );
});

test("names as text that are longer than all before, in more programs than there were", async () => {
  // Each opens a program of its own, whose key is text that needs more memory than the kernel's stack has.
  const copies = Array.from({ length: 20 }, (_, i) => join(folder.path, `lib${"plug".repeat(i + 1)}.so`));
  for (const copy of copies) copyFileSync(plugin, copy);
  const command = [opener, ...copies.map((copy) => `work=${copy}`)].join(" ");
  const output = await over(
    command,
    "pid$target:*:dlsym:entry, pid$target:*plug*:work*:entry { @[probemod, probefunc, probename, probeprov] = count(); }",
    "--lang",
    "d",
  );
  const rows = output
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([module, name]) => module.includes("plug") && name !== "dlsym");
  assert.deepEqual(
    rows.map(([module, name, , , count]) => `${module} ${name} ${count}`).sort(),
    copies.flatMap((copy) => ["work", "work_step"].map((name) => `${basename(copy)} ${name} 10`)).sort(),
  );
});

test("a name that there is no room for is told, and the others are counted", async () => {
  const name = `work_${"x".repeat(130)}`;
  const long = compileC(folder.path, "liblong.so", pluginSource(name), ["-O2", "-shared", "-fPIC"]);
  const again = join(folder.path, "libagain.so");
  copyFileSync(plugin, again);
  const running = letGo(
    startStrobe([
      "-v",
      "--lang=d",
      "-c",
      `${opener} work=${plugin} ${name}=${long} work=${again}`,
      "-e",
      "pid$target:*:dlsym:entry, pid$target:*:work*:entry { @[probefunc] = count(); }",
    ]),
  );
  running.child.stderr?.on("data", () => {
    if (/^WARNING: .*liblong/m.test(running.stderr())) writeFileSync(`${long}.go`, "");
  });
  const { stdout, stderr } = await running.outcome;
  assert.match(
    stderr,
    /WARNING: what process \d+ opened is not probed \(\S*liblong\.so\): names of its probes are too long for @_, whose entries keep the size that they have/,
  );
  // What comes after it as well.
  assert.match(stdout, /^ +work +20\n/m);
  assert.match(stdout, /^ +work_step +20\n/m);
  assert.doesNotMatch(stdout, /xxx/);
});

test("a file that is there already is not probed twice when it is opened", async () => {
  const { stdout } = await overRunning(
    opener,
    ["wait", `work=${plugin}`],
    `uprobe:${plugin}:work_step { @path = count(); } uprobe:*:work_step { @any = count(); }`,
  );
  assert.deepEqual(
    stdout.split("\n").filter((line) => line !== ""),
    ["@any: 10", "@path: 10"],
  );
  assert.equal(await over(`${opener} work=${plugin} work=${plugin}`, "usdt:*:plugin:work { @ = count(); }"), "@: 20");
});

test("-c: any function of the command itself from its first instruction on, and of no other program", async () => {
  const script = "uprobe:*:own { @[pid == cpid] = count(); } uprobe:*:main { @main = count(); }";
  assert.equal(await over(forker, script), "@[true]: 100\n@main: 1");
  assert.equal(await over(forker, script, "--follow"), "@[false]: 6\n@[true]: 100\n@main: 1");
});

test("--follow -c: what a child of the command opens", async () => {
  assert.equal(
    await over(`/bin/sh -c '${opener} work=${plugin}; exit 0'`, "usdt:*:plugin:work { @ = sum(arg0); }", "--follow"),
    "@: 45",
  );
});

test("places inside functions, lines with their variables, and the library's own calls", async () => {
  const own = compileC(
    folder.path,
    "libinside.so",
    `#include <stdlib.h>
    static int calls = 40;
    __attribute__((noinline)) int inside_step(int n)
    {
      int sum = n + calls;
      calls++; /* here */
      return sum;
    }
    int inside(int n) { if (abs(n) != n) return 0; return inside_step(n) + (int)labs(n); }`,
    ["-O0", "-g", "-shared", "-fPIC", "-fno-builtin"],
  );
  const script = `
    ret:libinside:inside_step { @ret[func] = sum(retval); }
    insn:libinside:inside_step:0 { @insn[func] = count(); }
    insn:libinside:inside_step:* { @steps[probe] = count(); }
    plt:libinside:abs { @plt[func] = count(); }
    plt:*:lab* { @wild[func] = count(); }
    line:libinside.so@libinside.so.c:6 { @line[var("sum") - args.n] = count(); @sums = sum(vars.sum); }`;
  const sums = Array.from({ length: 10 }, (_, n) => n + 40 + n).reduce((a, b) => a + b);
  const check = (text: string): void => {
    const lines = text.split("\n").filter((line) => line.startsWith("@"));
    const steps = lines.filter((line) => line.startsWith("@steps["));
    assert.ok(steps.length > 8, text);
    for (const step of steps) assert.match(step, /^@steps\[insn:\S*libinside\.so:inside_step:\d+\]: 10$/);
    assert.deepEqual(lines.filter((line) => !line.startsWith("@steps[") && !line.startsWith("@line[")).sort(), [
      "@insn[inside_step]: 10",
      "@plt[abs]: 10",
      "@ret[inside_step]: " + sums,
      "@sums: " + sums,
      "@wild[labs]: 10",
    ]);
    assert.deepEqual(
      lines.filter((line) => line.startsWith("@line[")).sort(),
      Array.from({ length: 10 }, (_, n) => `@line[${40 + n}]: 1`),
    );
  };
  check((await overRunning(opener, ["wait", `inside=${own}`], script)).stdout);
  check(await over(`${opener} inside=${own}`, script));
});

test("under --max-overhead and --stats as well, and what comes is held back, too", async () => {
  const { stdout, stderr } = await overRunning(
    opener,
    ["wait", `work=${plugin}`, `toil=${other}`],
    "uprobe:*:*_step { @[func] = count(); }",
    ["--max-overhead", "50%", "--stats"],
  );
  assert.deepEqual(
    stdout
      .split("\n")
      .filter((line) => line.startsWith("@"))
      .sort(),
    ["@[toil_step]: 10", "@[work_step]: 10"],
  );
  // Each library's handler is in the account.
  assert.match(stderr + stdout, /uprobe:\S*libplugin\.so:work_step\b/);
  assert.match(stderr + stdout, /uprobe:\S*libother\.so:toil_step\b/);
  // As often as it can, until strobe says that it is too often.
  const told = join(folder.path, "told");
  const busy = compileC(
    folder.path,
    "libbusy.so",
    `#include <unistd.h>
    __attribute__((noinline)) int busy_step(int n) { __asm__ volatile(""); return n; }
    int busy(int n) { int sum = 0; while (access("${told}", F_OK)) for (int i = 0; i < 1000; i++) sum += busy_step(n); return sum; }`,
    ["-O2", "-shared", "-fPIC"],
  );
  const held = await overRunning(
    opener,
    ["wait", `busy=${busy}`],
    "uprobe:*:busy_step { @ = count(); }",
    ["--max-overhead", "0.5%"],
    [],
    (stderr) => {
      if (/^WARNING: .*busy_step/m.test(stderr)) writeFileSync(told, "");
    },
  );
  assert.match(held.stdout, /^@: \d+$/m);
});

test("a library without the function leaves the others alone, and one that never comes is no failure", async () => {
  assert.equal(
    await overWith(
      [other],
      `${opener} toil=${other} work=${plugin}`,
      "uprobe:*:work_step { @ = count(); } uprobe:libnowhere.so:f { @never = count(); }",
    ),
    "@: 10",
  );
});

for (const engine of ["bpf", "tracefs"])
  test(`--follow: the process and the children it starts, counted by each, and nobody else (${engine})`, async () => {
    const flags = ["--follow", "--engine", engine];
    const script = `uprobe:${forker}:own { @[pid == cpid] = count(); } tracepoint:syscalls:sys_enter_getppid { @getppid = count(); } end { @end = count(); }`;
    assert.equal(await over(forker, script, ...flags), "@[false]: 6\n@[true]: 100\n@end: 1\n@getppid: 4");
    const { stdout } = await overRunning(
      forker,
      ["wait"],
      `uprobe:${forker}:own { @[comm] = count(); } tracepoint:syscalls:sys_enter_getppid { @getppid = count(); }`,
      flags,
    );
    assert.deepEqual(
      stdout.split("\n").filter((line) => line !== ""),
      ["@[forker]: 106", "@getppid: 4"],
    );
  });

for (const engine of ["bpf", "tracefs"])
  test(`--follow: children that the process has already (${engine})`, async () => {
    const script = `${folder.path}/parent-${engine}`;
    const gone = "dd if=/dev/zero of=/dev/null bs=1 count=7 status=none";
    writeFileSync(script, `#!/bin/sh\nexec 3<&0\nsh -c 'read word; ${gone}; exit 0' <&3 &\nread word; ${gone}; wait\n`);
    chmodSync(script, 0o755);
    const { stdout } = await overRunning(
      script,
      [],
      "tracepoint:syscalls:sys_enter_write /args.count == 1/ { @[comm] = count(); }",
      ["--follow", "--engine", engine],
    );
    assert.equal(stdout.trim(), "@[dd]: 14");
  });

test("-p without --follow is the process alone", async () => {
  const { stdout } = await overRunning(
    forker,
    ["wait"],
    `uprobe:${forker}:own { @ = count(); } tracepoint:syscalls:sys_enter_getppid { @getppid = count(); }`,
  );
  assert.deepEqual(
    stdout.split("\n").filter((line) => line !== ""),
    ["@: 100", "@getppid: 1"],
  );
});

test("--follow: programs that children become, and the libraries these open", async () => {
  const command = `/bin/sh -c '(/bin/true; ${opener} work=${plugin}); exit 0'`;
  const text = await over(
    command,
    "usdt:*:plugin:work { @work = count(); } tracepoint:sched:sched_process_exec { @[comm] = count(); }",
    "--follow",
  );
  assert.deepEqual(text.split("\n").sort(), ["@[opener]: 1", "@[sh]: 1", "@[true]: 1", "@work: 10"]);
});

test("--follow wants a process", async () => {
  const { stderr, code } = await strobe(["--follow", "-e", "begin { exit(); }"]);
  assert.equal(code, 1);
  assert.match(stderr, /--follow needs a process: -p or -c/);
});
