// Variables that are watched by name: every write is seen that the program counts itself, wherever it was loaded, in
// threads and children.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing, runTool } from "../support/compilers.ts";
import { bpfObjects, interrupt, nothingLeft, startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";

/**
 * Writes as often as it is told, says how often that was, and waits for a line before if there is a second argument.
 */
const source = `#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long counter;
static volatile short narrow = 5;
volatile struct { char tag; struct { volatile int mode; } in; volatile unsigned table[4]; unsigned bits : 3; } state;
volatile char text[64];
__thread int local;
const long *volatile pointer;
static void *worker(void *times) {
  for (long i = 0; i < (long)times; i++) __sync_fetch_and_add(&counter, 1);
  return NULL;
}
int main(int argc, char **argv) {
  long times = atol(argv[1]);
  if (argc > 2) { puts("ready"); fflush(stdout); getchar(); }
  for (long i = 0; i < times; i++) {
    counter++;
    narrow = -i;
    state.in.mode = i * 2;
    state.table[i & 3]++;
    local++;
    text[8] = i;
  }
  pthread_t thread;
  pthread_create(&thread, NULL, worker, (void *)times);
  pthread_join(thread, NULL);
  if (fork() == 0) {
    for (long i = 0; i < times; i++) counter++;
    _exit(0);
  }
  wait(NULL);
  if (argc > 3) execv(argv[3], (char *[]){ argv[3], argv[1], NULL });
  return 0;
}
`;
const plus = `#include <cstdio>
namespace app {
struct Base { int id = 0; };
struct Server : Base { long hits = 0; };
Server live;
static volatile int level;
}
int main() {
  for (int i = 1; i <= 30; i++) { *(volatile int *)&app::live.id = i; *(volatile long *)&app::live.hits += i; if (i % 3 == 0) app::level = i; }
}
`;

const folder = temporaryFolder();
let objects = "";
before(() => {
  objects = bpfObjects();
  writeFileSync(join(folder.path, "writes.c"), source);
  writeFileSync(join(folder.path, "writes.cpp"), plus);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const skip = missing("gcc");
const compile = (name: string, ...flags: readonly string[]): string =>
  compileWith("gcc", folder.path, "writes.c", name, "-pthread", ...flags);

async function over(
  script: string,
  ...args: readonly string[]
): Promise<{ readonly shown: string; readonly said: string; readonly code: number | null }> {
  const output = join(folder.path, "output");
  writeFileSync(output, "");
  const { stderr, code } = await strobe(["-q", "-o", output, ...args, "-e", script]);
  return { shown: readFileSync(output, "utf8").trim(), said: stderr, code };
}

for (const [i, flags] of [["-O0"], ["-O2"], ["-O2", "-no-pie"], ["-O2", "-static-pie"], ["-O1", "-Wl,-S"]].entries()) {
  test(`each write of a command from its first instruction on, built with ${flags.join(" ")}`, { skip }, async () => {
    const path = compile(`writes${i}`, ...flags);
    const { shown, said } = await over(
      `watchpoint:${path}:counter:w { @ = count(); @last = max(args.value); }`,
      "-c",
      `${path} 100`,
    );
    // 100 in main, 100 in its thread; the child is another process.
    assert.deepEqual([shown, said], ["@: 200\n@last: 200", ""]);
    const all = await over(`watchpoint:${path}:counter:w { @ = count(); }`, "--follow", "-c", `${path} 100`);
    assert.deepEqual([all.shown, all.said], ["@: 300", ""]);
  });
}

test("members, elements, statics and narrow variables, with their values", { skip }, async () => {
  const path = compile("writes", "-O0");
  const probes = ["narrow", "state.in.mode", "state.table[3]", "text[8]"].map((name) => `watchpoint:${path}:${name}:w`);
  const { shown, said } = await over(
    `${probes.join(", ")} { @[probe] = count(); @last[probe] = (int64)args.value; }`,
    "-c",
    `${path} 40`,
  );
  const value = (map: string, i: number): number =>
    Number(
      shown
        .split("\n")
        .find((line) => line.startsWith(`@${map}[${probes[i]}]: `))
        ?.split(": ")
        .at(-1),
    );
  assert.equal(said, "");
  assert.deepEqual(
    probes.map((_, i) => [value("", i), value("last", i)]),
    [
      [40, -39],
      [40, 78],
      [10, 10],
      [40, 39],
    ],
  );
  const changes = await over(
    `watchpoint:${path}:narrow:w { if (args.value != @old[args.address]) { @ = count(); } @old[args.address] = (int64)args.value; } end { clear(@old); }`,
    "-c",
    `${path} 40`,
  );
  assert.equal(changes.shown, "@: 39", "from 0 to 0 at first, then 39 others");
  const reads = await over(`watchpoint:${path}:state.in.mode:rw { @ = count(); }`, "-c", `${path} 40`);
  assert.equal(reads.shown, "@: 40");
});

test("variables of C++ by their qualified names, members of base classes", { skip: missing("g++") }, async () => {
  const path = compileWith("g++", folder.path, "writes.cpp", "plus", "-O1");
  const { shown, said } = await over(
    ["app::live.id", "app::live.hits", "app::level"]
      .map((name, i) => `watchpoint:${path}:${name}:w { @[${i}] = sum((int64)args.value); @n[${i}] = count(); }`)
      .join("\n"),
    "-c",
    path,
  );
  assert.equal(said, "");
  const sums = [465, (30 * 31 * 32) / 6, 165];
  for (const [i, sum] of sums.entries()) assert.match(shown, new RegExp(`^@\\[${i}\\]: ${sum}$`, "m"));
  assert.deepEqual(
    [0, 1, 2].map((i) => new RegExp(`^@n\\[${i}\\]: (\\d+)$`, "m").exec(shown)?.[1]),
    ["30", "30", "10"],
  );
});

async function waiting(path: string, ...more: readonly string[]): Promise<ChildProcess> {
  const child = spawn(path, ["50", "wait", ...more], { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

test("a process that runs, wherever it was loaded; what it executes then is none of it", { skip }, async () => {
  const path = compile("fixed", "-O0", "-no-pie");
  const next = compile("next", "-O0", "-no-pie", "-DNEXT");
  const child = await waiting(path, next);
  try {
    const output = join(folder.path, "output");
    const running = startStrobe([
      "-o",
      output,
      "-p",
      `${child.pid}`,
      "-e",
      `watchpoint:${path}:counter:w { @ = count(); }`,
    ]);
    await running.attached;
    child.stdin!.end("\n");
    const { stderr } = await running.outcome;
    assert.equal(readFileSync(output, "utf8").trim(), "@: 100", stderr);
  } finally {
    child.kill("SIGKILL");
  }
});

test(
  "all processes that have the file, with their children; and those that come, which is said",
  { skip },
  async () => {
    const path = compile("everywhere", "-O0");
    const [one, two] = [await waiting(path), await waiting(path)];
    const output = join(folder.path, "output");
    const running = startStrobe([
      "-o",
      output,
      "-e",
      `watchpoint:${path}:counter:w { @[pid == ${one.pid}, pid == ${two.pid}] = count(); }`,
    ]);
    try {
      await running.attached;
      for (const child of [one, two]) {
        child.stdin!.end("\n");
        await once(child, "exit");
      }
      const late = await waiting(path);
      late.stdin!.end("\n");
      await once(late, "exit");
      const { stderr } = await interrupt(running);
      const shown = readFileSync(output, "utf8");
      assert.match(shown, /^@\[true, false\]: 100$/m);
      assert.match(shown, /^@\[false, true\]: 100$/m);
      // The children of the two, which the kernel watches by itself.
      assert.ok(Number(/^@\[false, false\]: (\d+)$/m.exec(shown)?.[1]) >= 100, shown);
      assert.match(
        stderr,
        /WARNING: watchpoint:\S+:counter:w: 1 process was watched from up to [\d.]+ ms after mapping the file on|1 process ended before being watched/,
      );
    } finally {
      for (const child of [one, two, running.child]) child.kill("SIGKILL");
    }
  },
);

/** Writes as often as each line of its input says, and then calls a function. */
const stepsSource = `#include <stdio.h>
volatile long counter;
__attribute__((noinline)) void done(void) { __asm__ volatile(""); }
int main(void) {
  long writes;
  while (scanf("%ld", &writes) == 1) {
    while (writes-- > 0) counter++;
    done();
  }
}
`;

test("unwatch() of a variable's address", { skip }, async () => {
  writeFileSync(join(folder.path, "steps.c"), stepsSource);
  const path = compileWith("gcc", folder.path, "steps.c", "steps", "-O0");
  const child = spawn(path, { stdio: ["pipe", "ignore", "inherit"] });
  try {
    const script = `watchpoint:${path}:counter:w { @n++; if (args.value == 3) { unwatch(args.address); } }
      uprobe:${path}:done { printf("seen %d\\n", @n); }`;
    const running = startStrobe(["-p", `${child.pid}`, "-e", script]);
    await running.attached;
    const seen: number[] = [];
    const step = async (writes: number): Promise<void> => {
      child.stdin.write(`${writes}\n`);
      await until(() => (running.stdout().match(/^seen \d+$/gm) ?? []).length > seen.length);
      seen.push(
        Number(
          running
            .stdout()
            .match(/^seen \d+$/gm)
            ?.at(-1)
            ?.slice(5),
        ),
      );
    };
    await step(3);
    assert.deepEqual(seen, [3]);
    // Some of those may be seen that come at once, and then none is any more.
    do await step(100);
    while (seen.at(-1) !== seen.at(-2));
    await step(100);
    assert.equal(seen.at(-1), seen.at(-2));
    child.stdin.end();
    assert.equal((await running.outcome).code, 0);
  } finally {
    child.kill("SIGKILL");
  }
});

const objectsSource = `#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
struct session { int id; int state; };
__attribute__((noinline)) void opened(struct session *s) { __asm__ volatile("" :: "r"(s) : "memory"); }
__attribute__((noinline)) void closed(struct session *s) { __asm__ volatile("" :: "r"(s) : "memory"); }
static void step(void) { puts("next"); fflush(stdout); getchar(); }
int main(void) {
  struct session *all[6];
  step();
  for (int i = 0; i < 6; i++) { all[i] = calloc(1, sizeof **all); opened(all[i]); }
  step();
  for (int i = 0; i < 6; i++) for (int w = 1; w <= 10; w++) *(volatile int *)&all[i]->state = w * 10 + i;
  closed(all[1]);
  step();
  for (int i = 0; i < 6; i++) *(volatile int *)&all[i]->state = 1000;
  getppid();
  step();
  for (int i = 1; i <= 9; i++) prctl(PR_SET_PDEATHSIG, i);
  return 0;
}
`;

/** Breakpoints that a process has open: a descriptor each, beside others that it has from the beginning. */
function events(pid: number | undefined): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === "anon_inode:[perf_event]";
    } catch {
      return false;
    }
  }).length;
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 20_000 && !holds(); tries++) await new Promise((done) => setTimeout(done, 10));
  assert.ok(holds());
}

test(
  "members of objects, from the handler that has them on to the one that lets go of them; four at once",
  { skip },
  async () => {
    writeFileSync(join(folder.path, "objects.c"), objectsSource);
    const path = compileWith("gcc", folder.path, "objects.c", "objects", "-O1");
    const child = spawn(path, { stdio: ["pipe", "pipe", "inherit"] });
    const next = async (): Promise<void> => {
      child.stdin.write("\n");
      await once(child.stdout, "data");
    };
    const output = join(folder.path, "output");
    const script = `uprobe:${path}:opened { watch("state", &args.s->state); }
    uprobe:${path}:closed { unwatch(&args.s->state); }
    watchpoint:state:4:w { @writes = count(); @last[args.value % 10] = max(args.value); }
    tracepoint:syscalls:sys_enter_getppid { $task = (struct task_struct *)curtask; watch("signal", &$task->pdeath_signal); }
    watchpoint:signal:4:w { @signals = count(); @sum = sum(args.value); }`;
    try {
      await once(child.stdout, "data");
      const running = startStrobe(["-o", output, "-p", `${child.pid}`, "-e", script]);
      await running.attached;
      const before = events(running.child.pid);
      await next();
      await until(() => events(running.child.pid) === before + 4);
      await until(() => (running.stderr().match(/is refused/g) ?? []).length === 2);
      await next();
      await until(() => events(running.child.pid) === before + 3);
      await next();
      // The kernel's memory is watched on each CPU.
      await until(() => events(running.child.pid) > before + 3);
      child.stdin.end("\n");
      const { stderr } = await running.outcome;
      const shown = readFileSync(output, "utf8");
      assert.match(shown, /^@writes: 43$/m, "four of ten, then those of the three that are left");
      for (const i of [1, 2, 3]) assert.match(shown, new RegExp(`^@last\\[${i}\\]: ${100 + i}$`, "m"));
      assert.match(shown, /^@last\[0\]: 1000$/m);
      assert.match(shown, /^@signals: 9$/m);
      assert.match(shown, /^@sum: 45$/m);
      assert.match(
        stderr,
        /watch\("state", 0x[0-9a-f]+\) is refused: [^]*all of the processor's breakpoint registers are in use[^;]*; it watches (?:0x[0-9a-f]+ of process \d+(?:, )?){4}$/m,
      );
      assert.match(
        stderr,
        /watchpoint:state:4:w: 4 addresses were watched from up to [\d.]+ ms after watch\(\) on: what was done until then is not seen; 2 calls of watch\(\) were refused/,
      );
      assert.match(stderr, /watchpoint:signal:4:w: 1 address was watched from up to [\d.]+ ms after watch\(\) on/);
    } finally {
      child.kill("SIGKILL");
    }
  },
);

test("watch() expects the name of a probe and an address", async () => {
  const refusal = async (script: string): Promise<string> => (await over(script)).said;
  assert.match(
    await refusal(
      'interval:s:1 { } tracepoint:sched:sched_switch { watch("stat", curtask); } watchpoint:state:8:w { }',
    ),
    /no watchpoint has the name "stat"[^]*did you mean `state`/,
  );
  assert.match(
    await refusal('tracepoint:sched:sched_switch { watch("state", curtask); }'),
    /no watchpoint has the name "state"[^]*write a probe watchpoint:state:8:w/,
  );
  assert.match(
    await refusal('tracepoint:sched:sched_switch { watch("state", comm); } watchpoint:state:8:w { }'),
    /watch\(\) expects an address, got/,
  );
  assert.match(
    await refusal("watchpoint:opened+arg0:8:w { }"),
    /write uprobe:BINARY:opened \{ watch\("opened", arg0\); \} and watchpoint:opened:8:w/,
  );
});

test("variables of libraries: a program's copy is named, and what was over too soon is said", { skip }, async () => {
  const library = join(folder.path, "libshared.so");
  writeFileSync(join(folder.path, "shared.c"), "long shared_count = 1; void bump(void) { shared_count++; }");
  writeFileSync(
    join(folder.path, "user.c"),
    '#include <stdio.h>\nvoid bump(void); int main(int argc, char **argv) { if (argc > 1) { puts("ready"); fflush(stdout); getchar(); } for (int i = 0; i < 25; i++) bump(); return 0; }',
  );
  writeFileSync(
    join(folder.path, "copies.c"),
    "extern long shared_count; void bump(void); int main(void) { for (int i = 0; i < 25; i++) bump(); return shared_count != 26; }",
  );
  runTool(folder.path, "gcc", ["-g", "-shared", "-fPIC", "-o", library, "shared.c"]);
  const user = compileWith(
    "gcc",
    folder.path,
    "user.c",
    "user",
    "-Wl,--no-as-needed",
    library,
    `-Wl,-rpath,${folder.path}`,
  );
  const copies = compileWith(
    "gcc",
    folder.path,
    "copies.c",
    "copies",
    "-no-pie",
    "-Wl,--no-as-needed",
    library,
    `-Wl,-rpath,${folder.path}`,
  );
  const late = await over(`watchpoint:${library}:shared_count:w { @ = count(); }`, "-c", user);
  // Twenty-five additions take less time than it takes to hear of the library.
  assert.match(
    late.said,
    /WARNING: watchpoint:\S+:shared_count:w: 1 process (?:ended before being watched|was watched from up to [\d.]+ ms after mapping the file on)/,
  );
  const copied = await over(`watchpoint:${library}:shared_count:w { @ = count(); }`, "-c", copies);
  assert.match(
    copied.said,
    new RegExp(
      `\`shared_count\` of \\S+libshared\\.so is in use as a copy in ${copies}\\n[^]*write watchpoint:${copies}:shared_count:w`,
    ),
  );
  const child = spawn(user, ["wait"], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    await once(child.stdout, "data");
    const output = join(folder.path, "output");
    const running = startStrobe([
      "-o",
      output,
      "-p",
      `${child.pid}`,
      "-e",
      "watchpoint:libshared.so:shared_count:w { @ = count(); }",
    ]);
    await running.attached;
    child.stdin.end("\n");
    const { stderr } = await running.outcome;
    assert.equal(readFileSync(output, "utf8").trim(), "@: 25", stderr);
  } finally {
    child.kill("SIGKILL");
  }
});

test(
  "the fifth is refused with the four that are in use; what cannot be watched, with its reason",
  { skip },
  async () => {
    const path = compile("writes", "-O0");
    const names = ["counter", "narrow", "state.in.mode", "state.table[0]", "state.table[1]"];
    const five = await over(
      names.map((name) => `watchpoint:${path}:${name}:w { @ = count(); }`).join("\n"),
      "-c",
      `${path} 10`,
    );
    assert.notEqual(five.code, 0);
    assert.match(
      five.said,
      /the processor watches 4 addresses at once, and those are in use: watchpoint:\S+, watchpoint:\S+, watchpoint:\S+, watchpoint:\S+$/m,
    );
    for (const [wanted, reason] of [
      ["counter:x", /a watchpoint on a variable cannot have mode x/],
      ["state:w", /`state` has \d+ bytes: watch a part of it, as in `state\.tag`/],
      ["state.in.mod:w", /has no member `mod`[^]*did you mean `mode`/],
      ["state.bits:w", /`state\.bits` is a bit field/],
      ["text:w", /`text` has 64 bytes: watch a part of it, as in `text\[0\]`/],
      ["text[64]:w", /has the elements 0 to 63, not 64/],
      ["local:w", /`local` is thread-local/],
      [
        "main+arg1:4:w",
        /has no variable `main\+arg1`[^]*help: an argument is watched in a handler of its function: watch\("main", arg1\)/,
      ],
      ["countre:w", /has no variable `countre`[^]*did you mean `counter`/],
      ["worker:w", /`worker` is a function/],
      ["pointer.x:w", /`pointer` is a pointer/],
      ["counter:3:w", /length must be one of 1, 2, 4, 8/],
      ["counter:q", /invalid watchpoint mode/],
      ["text[1]:8:w", /the address must be a multiple of the length/],
    ] as const) {
      const { said, code } = await over(`watchpoint:${path}:${wanted} { @ = count(); }`, "-c", `${path} 1`);
      assert.notEqual(code, 0, wanted);
      assert.match(said, reason, wanted);
    }
    const bare = compile("bare", "-O1", "-Wl,-S");
    assert.match(
      (await over(`watchpoint:${bare}:state.in.mode:w { }`, "-c", `${bare} 1`)).said,
      /the members of `state` are not known/,
    );
  },
);
