// Stacks of programs without frame pointers, frame by frame as gdb finds them.
import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";

/** Frames of all kinds, in an order that a seed decides; `hit` is reached `hits` times, its argument counting them. */
const wandersSource = `
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define FRAME __attribute__((noinline, noclone))
#define KEEP(x) __asm__ volatile("" :: "r"(x) : "memory")
static unsigned seed = 12345, hits;
static unsigned turn(void) { return (seed = seed * 1103515245 + 12345) >> 16; }
static void wander(int depth);
FRAME void hit(int n) { KEEP((long)n); }
FRAME void plain(int depth) { wander(depth - 1); KEEP((long)depth); }
FRAME void large(int depth) { char memory[5000]; KEEP(memory); wander(depth - 1); KEEP(memory); }
FRAME void variable(int depth) { char *memory = alloca(turn() % 300 + 1); KEEP(memory); wander(depth - 1); KEEP(memory); }
FRAME void aligned(int depth) { char memory[128] __attribute__((aligned(64))); KEEP(memory); wander(depth - 1); KEEP(memory); }
FRAME void both(int depth) {
	char memory[64] __attribute__((aligned(32))), *more = alloca(turn() % 99 + 1);
	KEEP(memory); KEEP(more); wander(depth - 1); KEEP(memory); KEEP(more);
}
FRAME long saving(int a, int b, int c, int d, int e, int f, int g, int h) {
	wander(a - 1);
	return (long)a * b + (long)c * d + (long)e * f + (long)g * h;
}
FRAME void many(int depth) { long sum = saving(depth, turn(), turn(), turn(), turn(), turn(), turn(), turn()); KEEP(sum); }
static int sorting;
static int compare(const void *a, const void *b) { if (sorting) { int depth = sorting; sorting = 0; wander(depth - 1); } return *(const int *)a - *(const int *)b; }
FRAME void sorted(int depth) {
	int numbers[5] = { 5, 3, 1, 4, 2 };
	sorting = depth;
	qsort(numbers, 5, sizeof numbers[0], compare);
	KEEP(numbers);
}
static int deeper;
static void handler(int signal) { int depth = deeper; deeper = 0; if (depth) wander(depth - 1); KEEP((long)signal); }
FRAME void signalled(int depth) { deeper = depth; raise(SIGUSR1); KEEP((long)depth); }
static void (*const ways[])(int) = { plain, large, variable, aligned, both, many, sorted, signalled };
static void wander(int depth) {
	if (depth <= 0) { hit(hits++); return; }
	ways[turn() % 8](depth);
}
int main(int argc, char **argv) {
	char c;
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_NODEFER };
	sigaction(SIGUSR1, &action, 0);
	if (argc < 2 && read(0, &c, 1) != 1) return 1;
	while (hits < 1000) wander(turn() % 24);
	return 0;
}
`;

/** Prints each hit's frames, as addresses, innermost first. */
const gdbScript = `
import gdb
gdb.execute("set confirm off")
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
gdb.execute("set backtrace limit unlimited")
gdb.execute("handle SIGUSR1 nostop noprint pass")
class Hit(gdb.Breakpoint):
    def stop(self):
        frame = gdb.newest_frame()
        pcs = []
        while frame is not None:
            # Those of inlined copies and of calls that became jumps are nowhere on the stack: gdb infers them.
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                pcs.append("%x" % frame.pc())
            frame = frame.older()
        print("STACK " + " ".join(pcs))
        return False
Hit("*hit")
gdb.execute("run now > /dev/null")
gdb.execute("quit")
`;

const gdb = spawnSync("gdb", ["--version"]).status === 0;
const skip =
  process.geteuid?.() !== 0
    ? "needs root"
    : process.arch !== "x64"
      ? "unwinding is for x86-64"
      : spawnSync("gcc", ["--version"]).status !== 0
        ? "needs gcc"
        : false;
const deadline = { timeout: 300_000, skip };

const folder = temporaryFolder();
let objects = "";
before(() => {
  objects = skip === false ? bpfObjects() : "";
});
after(async () => {
  folder.remove();
  if (skip === false) await nothingLeft(objects);
});

/** Started at the same addresses as under gdb; waits for a byte. */
function waiting(path: string, ...args: string[]): ChildProcess {
  return spawn("setarch", ["-R", path, ...args], { stdio: ["pipe", "ignore", "ignore"] });
}

async function unwoundStacks(path: string): Promise<string[]> {
  const child = waiting(path);
  try {
    const running = startStrobe(
      ["-p", String(child.pid), "-e", `uprobe:${path}:hit { printf("STACK%s\\n", ustack(dwarf, raw)); }`],
      { deadline: 300_000 },
    );
    await running.attached;
    const ended = once(child, "exit");
    child.stdin!.end("x");
    await ended;
    const { stdout, stderr } = await running.outcome;
    assert.doesNotMatch(stderr, /WARNING/);
    return stdout
      .trim()
      .split("STACK")
      .slice(1)
      .map((text) =>
        text
          .trim()
          .split(/\s+/)
          .map((address) => address.replace(/^0x/, ""))
          .join(" "),
      );
  } finally {
    child.kill("SIGKILL");
  }
}

for (const [kind, flags] of Object.entries({
  "position-independent": ["-O2", "-fomit-frame-pointer"],
  static: ["-O2", "-fomit-frame-pointer", "-static"],
  "fully optimised": ["-O3", "-fomit-frame-pointer", "-march=x86-64-v3"],
})) {
  test(
    `a thousand stacks of a ${kind} program are gdb's`,
    { ...deadline, skip: skip || (!gdb && "needs gdb") },
    async () => {
      const path = compileC(folder.path, `wanders-${kind.replace(/ /g, "-")}`, wandersSource, flags);
      const script = join(folder.path, "hits.py");
      writeFileSync(script, gdbScript);
      const ours = await unwoundStacks(path);
      const { stdout } = spawnSync("gdb", ["-nx", "-batch", "-x", script, path], {
        encoding: "utf8",
        timeout: 300_000,
        maxBuffer: 1 << 28,
      });
      const theirs = stdout
        .split("\n")
        .filter((line) => line.startsWith("STACK "))
        .map((line) => line.slice(6));
      assert.equal(theirs.length >= 1000, true, stdout.slice(-2000));
      assert.equal(ours.length, theirs.length);
      ours.forEach((stack, i) => assert.equal(stack, theirs[i], `stack ${i}`));
    },
  );
}

const inlinedSource = `
#include <unistd.h>
volatile int sink;
__attribute__((noinline, noclone)) void hit(int x) { sink += x; __asm__ volatile("" ::: "memory"); }
static inline __attribute__((always_inline)) int inner(int x) { hit(x + 1); return sink * 2; }
static inline __attribute__((always_inline)) int middle(int x) { int r = inner(x * 3); return r + 1; }
__attribute__((noinline, noclone)) int outer(int x) {
	int r = middle(x);
	return r + 1;
}
int main(void) { char c; return read(0, &c, 1) == 1 ? outer(3) == 0 : 1; }
`;

test("inlined copies and source lines stand in a stack where they are asked for", deadline, async () => {
  const path = compileC(folder.path, "inlines", inlinedSource, ["-O2", "-g", "-fomit-frame-pointer"]);
  const frames = async (setting: string): Promise<string[]> => {
    const child = waiting(path);
    try {
      const running = startStrobe(
        ["-p", String(child.pid), "-e", `${setting} uprobe:${path}:hit { print(ustack(dwarf)); }`],
        { deadline: 300_000 },
      );
      await running.attached;
      child.stdin!.end("x");
      const { stdout } = await running.outcome;
      const lines = stdout
        .trim()
        .split("\n")
        .map((line) => line.trim().replace(/\+\d+/, ""));
      return lines.slice(0, lines.findIndex((line) => line.startsWith("main")) + 1);
    } finally {
      child.kill("SIGKILL");
    }
  };
  assert.deepEqual(await frames(""), ["hit", "outer", "main"]);
  assert.deepEqual(await frames("config = { show_debug_info = true }"), [
    "hit (inlines.c:4)",
    "inner [inlined] (inlines.c:5)",
    "middle [inlined] (inlines.c:6)",
    "outer (inlines.c:8)",
    "main (inlines.c:11)",
  ]);
});

const pluginSource = "void hit(int);\nint plug(int x) { hit(x); return x + 1; }\n";
const loadsSource = `
#include <dlfcn.h>
#include <unistd.h>
__attribute__((noinline, noclone)) void hit(int x) { __asm__ volatile("" :: "r"((long)x) : "memory"); }
__attribute__((noinline, noclone)) int calls(int (*plug)(int)) { return plug(3) + 1; }
int main(int argc, char **argv) {
	char c;
	int (*plug)(int) = 0;
	while (read(0, &c, 1) == 1) {
		if (!plug) plug = dlsym(dlopen(argv[1], RTLD_NOW), "plug");
		calls(plug);
	}
}
`;

test(
  "programs that start later, and libraries that they open later, are unwound as soon as they are known",
  deadline,
  async () => {
    const library = compileC(folder.path, "libplug.so", pluginSource, [
      "-O2",
      "-fomit-frame-pointer",
      "-shared",
      "-fPIC",
    ]);
    const path = compileC(folder.path, "loads", loadsSource, ["-O2", "-fomit-frame-pointer", "-rdynamic"]);
    const running = startStrobe(["-e", `uprobe:${path}:hit { print(ustack(dwarf)); }`], { deadline: 300_000 });
    await running.attached;
    const child = spawn(path, [library], { stdio: ["pipe", "ignore", "ignore"] });
    try {
      const stacks = (): string[] =>
        running
          .stdout()
          .split("\n\n")
          .map((text) =>
            text
              .trim()
              .split("\n")
              .map((line) => line.trim().replace(/\+\d+$/, ""))
              .join(" "),
          );
      const whole = "hit plug calls main __libc_start_call_main __libc_start_main _start";
      // How soon is the machine's business: each byte is one more stack.
      while (!stacks().includes(whole)) {
        child.stdin.write("x");
        await new Promise((done) => setTimeout(done, 100));
      }
      child.stdin.end("xxx");
      await once(child, "exit");
      running.child.kill("SIGINT");
      await running.outcome;
      assert.deepEqual(
        stacks()
          .filter((stack) => stack !== "")
          .slice(-3),
        [whole, whole, whole],
      );
    } finally {
      child.kill("SIGKILL");
      running.child.kill("SIGKILL");
    }
  },
);

test("the setting and dw_ustack mean the same", deadline, async () => {
  const path = compileC(folder.path, "settings", inlinedSource, ["-O2", "-fomit-frame-pointer"]);
  const run = async (script: string): Promise<string> => {
    const child = waiting(path);
    try {
      const running = startStrobe(["-p", String(child.pid), "-e", script], { deadline: 300_000 });
      await running.attached;
      child.stdin!.end("x");
      return (await running.outcome).stdout.replaceAll(/\+\d+/g, "").replaceAll(/\s+/g, " ").trim();
    } finally {
      child.kill("SIGKILL");
    }
  };
  const probe = `uprobe:${path}:hit`;
  assert.equal(
    await run(`config = { stack_unwinding = "dwarf" } ${probe} { @[ustack(3)] = count(); }`),
    "@[ hit outer main ]: 1",
  );
  assert.equal(
    await run(`${probe} { @[dw_ustack(3)] = count(); @n = len(ustack(dwarf, 3)); @same = dw_ustack(3); }`),
    "@[ hit outer main ]: 1 @n: 3 @same: hit outer main",
  );
});

test(
  "build ids of unwound stacks are those that the kernel finds through frame pointers, also when the process is gone",
  deadline,
  async () => {
    const path = compileC(folder.path, "ids", inlinedSource, ["-O2", "-fno-omit-frame-pointer", "-Wl,--build-id"]);
    const id = /Build ID: ([0-9a-f]+)/.exec(spawnSync("readelf", ["-n", path], { encoding: "utf8" }).stdout)?.[1];
    assert.ok(id !== undefined);
    const script = `uprobe:${path}:hit { @unwound[ustack(dwarf, build_id, 3)] = count(); @pointers[ustack(fp, build_id, 2)] = count(); @long[ustack(dwarf, build_id, 100)] = count(); @raw[ustack(dwarf, raw, 3)] = count(); }`;
    const run = async (...more: string[]): Promise<string> => {
      const output = join(folder.path, "ids.out");
      writeFileSync(`${path}.sh`, `echo x | ${path}\n`);
      const { stderr, code } = await strobe(
        ["-q", "-o", output, "--follow", ...more, "-c", `/bin/sh ${path}.sh`, "-e", script],
        { deadline: 300_000 },
      );
      assert.equal(stderr, "");
      assert.equal(code, 0);
      return readFileSync(output, "utf8");
    };
    const text = await run();
    const stackOf = (name: string): string[] =>
      new RegExp(`@${name}\\[\n([^\\]]*)\\]: 1$`, "m").exec(text)?.[1].trim().split("\n") ?? [];
    const unwound = stackOf("unwound");
    assert.equal(unwound.length, 3, text);
    for (const frame of unwound) assert.match(frame, new RegExp(`^${id} 0x[0-9a-f]+$`));
    // At its first instruction a function has no frame: frame pointers lead to the caller's caller.
    assert.deepEqual([unwound[0], unwound[2]], stackOf("pointers"));
    assert.ok(stackOf("long").length > 4, text);
    // The same places by their addresses, which differ from these by where the file was mapped.
    const raw = stackOf("raw").map((address) => BigInt(`0x${address}`));
    const offsets = unwound.map((frame) => BigInt(frame.split(" ")[1]));
    assert.equal(raw[0] - offsets[0], raw[1] - offsets[1]);
    const folded = await run("-f", "folded");
    assert.equal(folded.split("\n").filter((line) => line === `${unwound.toReversed().join(";")} 1`).length, 1, folded);
  },
);

const callsSource = `
#include <unistd.h>
__attribute__((noinline, noclone)) void hit(int x) { __asm__ volatile("" :: "r"((long)x) : "memory"); }
__attribute__((noinline, noclone)) int third(int x) { hit(x); return x + 1; }
__attribute__((noinline, noclone)) int second(int x) { return third(x) + 1; }
int main(int argc, char **argv) {
	int sum = 0;
	for (int i = 0; i < 20; i++) sum += second(i) + (getppid() > 0);
	return sum == 0;
}
`;
const callsStack = "hit third second main __libc_start_call_main __libc_start_main _start";
/** What counted stacks a script printed for one map, without offsets. */
const countedStacks = (stdout: string): string => stdout.replaceAll(/\+\d+/g, "").replaceAll(/\s+/g, " ").trim();

test("the first stack of a command is whole", deadline, async () => {
  const path = compileC(folder.path, "command", callsSource, ["-O2", "-fomit-frame-pointer"]);
  const { stdout, stderr } = await strobe(["-c", path, "-e", `uprobe:${path}:hit { @[ustack(dwarf)] = count(); }`]);
  assert.doesNotMatch(stderr, /WARNING/);
  assert.equal(countedStacks(stdout), `@[ ${callsStack} ]: 20`);
});

test("the first stack of a command is whole where everything is traced", deadline, async () => {
  const path = compileC(folder.path, "wide", callsSource, ["-O2", "-fomit-frame-pointer"]);
  const { stdout, stderr } = await strobe([
    "-c",
    path,
    "-e",
    "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack(dwarf, 3)] = count(); }",
  ]);
  assert.doesNotMatch(stderr, /WARNING/);
  assert.equal(countedStacks(stdout), "@[ getppid main __libc_start_call_main ]: 20");
});

test("the first stack of a program that starts later is whole", deadline, async () => {
  const path = compileC(folder.path, "later", callsSource, ["-O2", "-fomit-frame-pointer"]);
  const running = startStrobe(["-e", `uprobe:${path}:hit { @[ustack(dwarf)] = count(); }`], { deadline: 300_000 });
  await running.attached;
  try {
    for (let i = 0; i < 5; i++) await once(spawn(path, { stdio: "ignore" }), "exit");
    running.child.kill("SIGINT");
    const { stdout, stderr } = await running.outcome;
    assert.doesNotMatch(stderr, /WARNING/);
    // Stacks of different processes are different keys.
    assert.equal(countedStacks(stdout), Array(5).fill(`@[ ${callsStack} ]: 20`).join(" "));
  } finally {
    running.child.kill("SIGKILL");
  }
});

test("tables are kept by build id, and made again when they are damaged", deadline, async () => {
  const path = compileC(folder.path, "kept", callsSource, ["-O2", "-fomit-frame-pointer", "-static"]);
  const id = /Build ID: ([0-9a-f]+)/.exec(spawnSync("readelf", ["-n", path], { encoding: "utf8" }).stdout)![1];
  const kept = join(folder.path, "cache/unwind", id);
  const run = async (): Promise<string> => {
    const env = { STROBE_CACHE: join(folder.path, "cache") };
    const { stdout, stderr } = await strobe(
      ["-c", path, "-e", `uprobe:${path}:hit { @[ustack(dwarf, 4)] = count(); }`],
      { env },
    );
    assert.doesNotMatch(stderr, /WARNING/);
    return countedStacks(stdout);
  };
  const whole = "@[ hit third second main ]: 20";
  assert.equal(await run(), whole);
  const bytes = readFileSync(kept);
  const { mtimeMs: before } = statSync(kept);
  assert.equal(await run(), whole);
  assert.equal(statSync(kept).mtimeMs > before, true, "it was not used");
  for (const damaged of [
    bytes.subarray(0, bytes.length / 2),
    Buffer.alloc(0),
    Buffer.from(bytes).fill(0x55, bytes.length - 4000),
  ]) {
    writeFileSync(kept, damaged);
    assert.equal(await run(), whole);
    assert.deepEqual(readFileSync(kept), bytes);
  }
});

const returnsSource = `
#include <unistd.h>
__attribute__((noinline, noclone)) void hit(int x) { __asm__ volatile("" :: "r"((long)x) : "memory"); }
__attribute__((noinline, noclone)) int third(int x) { hit(x); return x + 1; }
__attribute__((noinline, noclone)) int second(int x) { return third(x) + 1; }
__attribute__((noinline, noclone)) int first(int x) { return second(x) + 1; }
int main(void) { char c; return read(0, &c, 1) == 1 ? first(3) == 0 : 1; }
`;

test("probes of returns, which replace return addresses, do not cut stacks", deadline, async () => {
  const path = compileC(folder.path, "returns", returnsSource, ["-O2", "-fomit-frame-pointer"]);
  const child = waiting(path);
  try {
    const script = `uprobe:${path}:hit { @hit[ustack(dwarf, 6)] = count(); } uretprobe:${path}:third { @third[ustack(dwarf, 4)] = count(); }
      uretprobe:${path}:second { @second[ustack(dwarf, 3)] = count(); } uretprobe:${path}:main { @main = count(); }
      tracepoint:syscalls:sys_exit_read { @read[ustack(dwarf, 2)] = count(); }`;
    const running = startStrobe(["-p", String(child.pid), "-e", script], { deadline: 300_000 });
    await running.attached;
    child.stdin!.end("x");
    const { stdout, stderr } = await running.outcome;
    assert.doesNotMatch(stderr, /WARNING/);
    assert.deepEqual(
      stdout
        .replaceAll(/\+\d+/g, "")
        .trim()
        .split(/\n(?=@)/)
        .map((text) => text.replaceAll(/\s+/g, " "))
        .sort(),
      [
        "@hit[ hit third second first main __libc_start_call_main ]: 1",
        "@read[ read main ]: 1",
        "@second[ first main __libc_start_call_main ]: 1",
        "@third[ second first main __libc_start_call_main ]: 1",
      ],
    );
  } finally {
    child.kill("SIGKILL");
  }
});

const stubsSource = `
#include <unistd.h>
#define FRAME __attribute__((noinline))
#define KEEP(x) __asm__ volatile("" :: "r"(x) : "memory")
FRAME long inner(long n) { long r = getppid() + n; KEEP(r); return r; }
FRAME long outer(long n) { long r = inner(n) + 1; KEEP(r); return r; }
int main(void) { KEEP(outer(1)); return 0; }
`;
/** Flags, and how many instructions the only call of getppid() goes through in the program's stubs. */
const stubs = {
  "bound at the first call": [["-fcf-protection=none", "-Wl,-z,lazy"], 5],
  "bound at the first call, with landing pads": [["-fcf-protection=full", "-Wl,-z,lazy", "-Wl,-z,ibtplt"], 7],
  "bound at the start": [["-fcf-protection=none", "-Wl,-z,now"], 1],
} as const;
for (const [[how, [flags, steps]], number] of Object.entries(stubs).map((each, i) => [each, i] as const)) {
  test(`every instruction of the PLT has its callers: ${how}`, deadline, async () => {
    const program = compileC(folder.path, `stubs${number}`, stubsSource, ["-O2", "-fomit-frame-pointer", ...flags]);
    const sections = [".plt", ".plt.sec", ".plt.got"].flatMap((section) => ["-j", section]);
    const listed = spawnSync("objdump", ["-d", "--no-show-raw-insn", ...sections, program], {
      encoding: "utf8",
    }).stdout;
    const places = [...listed.matchAll(/^ +([\da-f]+):\t(?!nop|xchg)/gm)].map(([, at]) => at);
    const probes = places.map((at) => `uprobe:${program}:0x${at}`).join(",");
    const { stdout, stderr } = await strobe(["-q", "-c", program, "-e", `${probes} { printf("STACK%s", ustack); }`], {
      deadline: 300_000,
    });
    assert.equal(stderr, "");
    const stacks = stdout
      .split("STACK")
      .map((text) => text.trim().split(/\s*\n\s*/))
      .filter((frames) => frames.some((frame) => frame.startsWith("inner+")));
    assert.equal(stacks.length, steps, stdout);
    for (const [stub = "", ...callers] of stacks) {
      // Those that go on to the linker have no name.
      assert.match(stub, new RegExp(`^(?:getppid@plt\\+\\d+|\\[stubs${number}\\]\\+0x[\\da-f]+)$`));
      assert.deepEqual(
        callers.map((frame) => frame.replace(/\+\d+$/, "")),
        ["inner", "outer", "main", "__libc_start_call_main", "__libc_start_main", "_start"],
      );
    }
  });
}

const scriptSource = `
const { accessSync } = require("node:fs");
function inner() { accessSync("/"); }
function outer() { inner(); }
process.stdin.once("data", () => { for (let i = 0; i < 50; i++) outer(); process.exit(0); });
`;

test("compiled JavaScript is passed by its frame pointers, between frames that have tables", deadline, async () => {
  const script = join(folder.path, "calls.js");
  writeFileSync(script, scriptSource);
  const flags = ["--perf-basic-prof", "--interpreted-frames-native-stack", "--no-opt"];
  const child = spawn(process.execPath, [...flags, script], { stdio: ["pipe", "ignore", "ignore"], cwd: folder.path });
  try {
    const probes =
      "tracepoint:syscalls:sys_enter_access,tracepoint:syscalls:sys_enter_faccessat,tracepoint:syscalls:sys_enter_faccessat2";
    const running = startStrobe(["-p", String(child.pid), "-e", `${probes} { @[ustack(dwarf)] = count(); }`], {
      deadline: 300_000,
    });
    await running.attached;
    child.stdin.write("x");
    const { stdout, stderr } = await running.outcome;
    assert.doesNotMatch(stderr, /WARNING/);
    let calls = 0;
    for (const text of stdout.trim().split(/\n(?=@)/)) {
      const frames = text
        .split("\n")
        .slice(1, -1)
        .map((line) => line.trim().replace(/\+\d+$/, ""));
      const places = [
        /^node::/,
        /^JS:.inner /,
        /^JS:.outer /,
        /^Builtins_JSEntry/,
        /^node::Start/,
        /^__libc_start_main/,
        /^_start/,
      ].map((name) => frames.findIndex((frame) => name.test(frame)));
      if (places[1] < 0) continue; // Node's own
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
        text,
      );
      assert.equal(places.includes(-1), false, text);
      calls += Number(/\]: (\d+)/.exec(text)![1]);
    }
    assert.equal(calls, 50);
  } finally {
    child.kill("SIGKILL");
    rmSync(`/tmp/perf-${child.pid}.map`, { force: true });
  }
});
