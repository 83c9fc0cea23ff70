// Stacks of interpreted programs, frame by frame as the programs themselves tell them.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { bpfObjects, compileC, nothingLeft, startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";

const skip = process.geteuid?.() !== 0 ? "needs root" : process.arch !== "x64" ? "unwinding is for x86-64" : false;
const deadline = 300_000;

/** Pythons of this machine, one a version; more can be named with STROBE_PYTHONS, separated by colons. */
function pythons(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const command of [
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "python3.14",
    ...(process.env["STROBE_PYTHONS"] ?? "").split(":"),
  ]) {
    if (command === "") continue;
    const { stdout, status } = spawnSync(
      command,
      ["-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"],
      { encoding: "utf8" },
    );
    const [version, path] = stdout?.trim().split(" ") ?? [];
    if (status === 0 && version !== undefined && path !== undefined && Number(version.slice(2)) >= 11)
      found.set(version, found.get(version) ?? path);
  }
  return found;
}

/**
 * Calls in all ways that frames are made, in an order that a seed decides; at the bottom `note` tells the stack, then
 * getsid is called.
 */
const wanders = `
import asyncio, functools, os, sys, threading
seed = 7
noted = open(sys.argv[1], "w")
def turn(n):
    global seed
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return (seed >> 8) % n
def note():
    frame = sys._getframe(1)
    while frame is not None:
        noted.write("%s:%d " % (frame.f_code.co_qualname.replace(" ", "_"), frame.f_lineno))
        frame = frame.f_back
    noted.write("\\n")
    return 0
def plain(depth):
    x = depth
    wander(
        depth - 1)
    return x
def generator(depth):
    yield 1
    wander(depth - 1)
    yield 2
def through_generator(depth):
    for value in generator(depth):
        pass
def delegating(depth):
    def outer():
        yield from generator(depth)
    list(outer())
def by_sort(depth):
    once = [depth]
    def key(x):
        if once:
            wander(once.pop() - 1)
        return x
    sorted([3, 1, 2], key=key)
class Thing:
    def __init__(self, depth):
        if depth > 0: wander(depth - 1)
    def __getattr__(self, name):
        wander(int(name[1:]) - 1)
        return 1
    def method(self, depth):
        wander(depth - 1)
    @staticmethod
    def still(depth):
        wander(depth - 1)
    @property
    def prop(self):
        return self.method(2)
def constructs(depth): Thing(depth)
def attribute(depth): getattr(Thing(0), "a%d" % depth)
def method(depth): Thing(0).method(depth)
def static(depth): Thing.still(depth)
def comprehension(depth): return [wander(depth - 1) for _ in range(1)]
def executes(depth): exec("def made(d):\\n\\n  wander(d - 1)\\nmade(%d)" % depth, globals())
def raises(depth):
    try:
        try:
            raise KeyError(depth)
        finally:
            wander(depth - 1)
    except KeyError:
        pass
def caught(depth):
    try:
        {}[depth]
    except KeyError as error:
        wander(error.args[0] - 1)
def partial(depth): functools.partial(wander, depth - 1)()
def mapped(depth): list(map(lambda d: wander(d - 1), [depth]))
def größe(depth): wander(depth - 1)
def 名前(depth): wander(depth - 1)
def coroutine(depth):
    async def inner(): wander(depth - 1)
    async def middle(): await inner()
    try: middle().send(None)
    except StopIteration: pass
ways = [plain, through_generator, delegating, by_sort, constructs, attribute, method, static, comprehension, executes, raises, caught, partial, mapped, größe, 名前, coroutine]
def wander(depth):
    if depth <= 0:
        os.getsid(note())
        return
    ways[turn(len(ways))](depth)
def loop(times):
    for _ in range(times):
        wander(turn(9))
sys.stdin.readline()
loop(300)
thread = threading.Thread(target=loop, args=(100,))
thread.start()
thread.join()
asyncio.run(asyncio.sleep(0))
noted.close()
`;

const folder = temporaryFolder();
let objects = "";
before(() => {
  objects = skip === false ? bpfObjects() : "";
});
after(async () => {
  folder.remove();
  if (skip === false) await nothingLeft(objects);
});

/**
 * Runs a command that waits for a line, with a script over it; gives the stacks that the script printed, each a line a
 * frame.
 */
async function stacksOf(
  command: readonly string[],
  script: string,
  pidOf = (pid: number): Promise<number> => Promise.resolve(pid),
  said = /^Attached 1 probe\n$/,
): Promise<string[][]> {
  const [program = "", ...rest] = command;
  const child = spawn(program, rest, { stdio: ["pipe", "ignore", "inherit"] });
  try {
    const running = startStrobe(["-p", String(await pidOf(child.pid ?? 0)), "-e", script], { deadline });
    await running.attached;
    const ended = once(child, "exit");
    child.stdin.end("\n");
    assert.deepEqual(await ended, [0, null]);
    const { stdout, stderr } = await running.outcome;
    assert.match(stderr, said);
    return stdout
      .split("STACK")
      .slice(1)
      .map((text) =>
        text
          .split("\n")
          .map((line) => line.trim())
          .filter((line) => line !== ""),
      );
  } finally {
    child.kill("SIGKILL");
  }
}

const found = skip === false ? pythons() : new Map<string, string>();
test(
  "there is a Python whose frames are known",
  { skip: skip || (found.size === 0 && "needs Python 3.11 or later") },
  () => assert.ok(found.size > 0),
);

for (const [version, path] of found) {
  test(`Python ${version}: four hundred stacks are what the program tells`, { timeout: 2 * deadline }, async () => {
    const [script, noted] = [join(folder.path, "wanders.py"), join(folder.path, `noted-${version}`)];
    writeFileSync(script, wanders);
    const stacks = await stacksOf([path, script, noted], 'uprobe:libc:getsid { printf("STACK%s", ustack); }');
    const theirs = readFileSync(noted, "utf8").trim().split("\n");
    const ours = stacks.map((frames) =>
      frames
        .filter((frame) => frame.endsWith(" [python]"))
        .map((frame) =>
          frame.replace(
            /^(.*) \((.*):(\d+)\) \[python\]$/,
            (_, name: string, _file: string, line: string) => `${name.replaceAll(" ", "_")}:${line}`,
          ),
        ),
    );
    assert.equal(ours.length, 400);
    ours.forEach((frames, i) =>
      assert.equal(frames.join(" "), theirs[i]?.trim(), `stack ${i}:\n${stacks[i]?.join("\n")}`),
    );
    // Each run of them stands behind the interpreter's function that runs it: never behind another.
    for (const frames of stacks) {
      const before = frames.filter((frame, i) => !frame.endsWith("[python]") && frames[i + 1]?.endsWith("[python]"));
      assert.deepEqual(
        before.filter((frame) => !/^(_PyEval_EvalFrameDefault|\[(lib)?python3)/.test(frame)),
        [],
      );
    }
  });
}

/** The same of JavaScript: a line a function, so that names tell the lines where they begin. */
const wandersJs = `
"use strict";
const { writeFileSync, readSync } = require("node:fs");
Error.stackTraceLimit = Infinity;
let seed = 7;
const noted = [];
const turn = (n) => { seed = (seed * 48271) % 0x7fffffff; return seed % n; };
function note() {
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = new Error().stack;
  Error.prepareStackTrace = undefined;
  noted.push(sites.slice(1).filter((site) => !site.isAsync()).map((site) => (site.getFunctionName() || "(anonymous)").replace(/^eval$/, "(anonymous)").replaceAll(" ", "_")).join(" "));
}
function plain(depth) { wander(depth - 1); return depth; }
function *generator(depth) { yield 1; wander(depth - 1); yield 2; }
function throughGenerator(depth) { for (const value of generator(depth)) if (value === 3) return; }
function mapped(depth) { return [depth].map((d) => wander(d - 1)); }
function each(depth) { [depth].forEach(function named(d) { wander(d - 1); }); }
function reduced(depth) { return [1].reduce(function adds(sum) { wander(depth - 1); return sum; }, 0); }
class Thing {
  constructor(depth) { if (depth > 0) wander(depth - 1); }
  acts(depth) { wander(depth - 1); }
  static still(depth) { wander(depth - 1); }
  get prop() { return this.acts(2); }
  #hidden(depth) { wander(depth - 1); }
  shows(depth) { this.#hidden(depth); }
}
class Derived extends Thing { other = 1; own = () => this.other; }
function constructs(depth) { new Thing(depth); }
function derived(depth) { new Derived(depth); }
function method(depth) { new Thing(0).acts(depth); }
function hides(depth) { new Thing(0).shows(depth); }
function fixed(depth) { Thing.still(depth); }
function getter() { return new Thing(0).prop; }
function arrow(depth) { const inner = () => wander(depth - 1); inner(); }
function many(depth) { const [a, b, c, d] = [1, 2, 3, depth]; const inner = function () { return wander(d - 1) || a + b + c; }; inner(); }
function bound(depth) { wander.bind(null, depth - 1)(); }
function applied(depth) { Reflect.apply(wander, null, [depth - 1]); }
function caught(depth) { try { null.x; } catch { wander(depth - 1); } }
function evaluated(depth) { new Function("wander", "depth", "wander(depth - 1)")(wander, depth); }
function größe(depth) { wander(depth - 1); }
function 名前(depth) { wander(depth - 1); }
async function inner(depth) { wander(depth - 1); await null; }
function asynchronous(depth) { void inner(depth); }
const held = { kept: function (depth) { wander(depth - 1); }, short(depth) { wander(depth - 1); } };
held.later = function (depth) { wander(depth - 1); };
function objects(depth) { [held.kept, held.short, held.later][turn(3)](depth); }
const ways = [plain, throughGenerator, mapped, each, reduced, constructs, derived, method, hides, fixed, getter, arrow, many, bound, applied, caught, evaluated, größe, 名前, asynchronous, objects];
function wander(depth) {
  if (depth > 0) return void ways[turn(ways.length)](depth);
  note();
  process.getegid();
}
readSync(0, Buffer.alloc(1));
for (let i = 0; i < 400; i++) wander(turn(9));
Promise.resolve().then(function later() { for (let i = 0; i < 100; i++) wander(turn(9)); }).then(() => writeFileSync(process.argv[2], noted.join("\\n")));
`;

/** Nodes of this machine, one a version; more can be named with STROBE_NODES, separated by colons. */
function nodes(): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  for (const command of ["node", ...(process.env["STROBE_NODES"] ?? "").split(":")]) {
    if (command === "") continue;
    const [version, path] =
      spawnSync(command, ["-p", "process.versions.node.split('.')[0] + ' ' + process.execPath"], { encoding: "utf8" })
        .stdout?.trim()
        .split(" ") ?? [];
    if (version !== undefined && path !== undefined && Number(version) >= 20)
      known.set(version, known.get(version) ?? path);
  }
  return known;
}

/** What is in the shorter list is in the longer one, in this order. */
function isWithin(few: readonly string[], many: readonly string[]): boolean {
  let at = 0;
  return few.every((one) => (at = many.indexOf(one, at) + 1) > 0);
}

for (const [version, path] of skip === false ? nodes() : []) {
  for (const [how, flags] of Object.entries({ interpreted: ["--no-opt", "--no-maglev"], "as it is": [] })) {
    test(
      `Node ${version}, ${how}: five hundred stacks are what the program tells`,
      { timeout: 2 * deadline },
      async () => {
        const [script, noted] = [join(folder.path, "wanders.cjs"), join(folder.path, `noted-node-${version}`)];
        writeFileSync(script, wandersJs);
        const stacks = await stacksOf(
          [path, ...flags, script, noted],
          'uprobe:libc:getegid { printf("STACK%s", ustack); }',
        );
        const theirs = readFileSync(noted, "utf8").split("\n");
        const lines = wandersJs.split("\n");
        assert.equal(stacks.length, 500);
        stacks.forEach((stack, i) => {
          const frames = stack
            .filter((frame) => frame.endsWith(" [javascript]"))
            .map((frame) => /^(.*?)(?: \((.*?)(?::(\d+))?\))? \[javascript\]$/.exec(frame)?.slice(1) ?? []);
          // A name that is made of more than two parts is cut.
          const [ours, told] = [
            frames.map(([name = ""]) => name.replaceAll(" ", "_").replace(/^Module\.\.+$/, "Module._extensions..js")),
            theirs[i]?.split(" ") ?? [],
          ];
          // Where the compiler put a function into its caller, there is one frame for both.
          if (how === "interpreted") assert.deepEqual(ours, told, stack.join("\n"));
          else assert.ok(isWithin(ours, told), `${ours.join(" ")}\nof ${told.join(" ")}`);
          for (const [name = "", file, line] of frames) {
            if (file !== "wanders.cjs" || !lines.some((text) => text.startsWith(`function ${name}(`))) continue;
            assert.equal(
              lines[Number(line) - 1]?.startsWith(`function ${name}(`),
              true,
              `${name}:${line}\n${stack.join("\n")}`,
            );
          }
        });
      },
    );
  }
}

const busy = {
  python: {
    source:
      "import os, sys\ndef leaf(n): return sum(i % 7 for i in range(n))\ndef deep(n): return leaf(20000) if n == 0 else max([n], key=lambda x: deep(n - 1))\ndef main():\n  os.getsid(0)\n  for _ in range(300): deep(4)\n  os.getsid(0)\nsys.stdin.readline()\nmain()\n",
    wanted: ["deep (busy:3) [python]", "main (busy:6) [python]", "<module> (busy:9) [python]"],
    call: "getsid",
  },
  node: {
    source:
      "require('node:fs').readSync(0, Buffer.alloc(1));\nfunction leaf(n) { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum; }\nfunction deep(n) { return n === 0 ? leaf(1e6) : [n].map(() => deep(n - 1))[0]; }\nfunction main() { process.getegid(); for (let i = 0; i < 500; i++) deep(4); process.getegid(); }\nmain();\n",
    wanted: ["deep (busy:3) [javascript]", "main (busy:4) [javascript]", "(anonymous) (busy:1) [javascript]"],
    call: "getegid",
  },
};
for (const [kind, { source, wanted, call }] of Object.entries(busy)) {
  const path = kind === "node" ? process.execPath : [...found.values()][0];
  test(
    `${kind}, busy: samples are told from the first function on`,
    { timeout: 2 * deadline, skip: skip || (path === undefined && "needs Python 3.11 or later") },
    async () => {
      mkdirSync(join(folder.path, kind));
      const program = join(folder.path, kind, "busy");
      writeFileSync(program, source);
      // Samples count between two calls and in the program's own thread: neither while it begins or ends, nor where
      // code is compiled.
      const script = `uprobe:libc:${call} { @busy = 1 - @busy; } profile:hz:199 /@busy && tid == pid/ { printf("STACK%s", ustack); } end { clear(@busy); }`;
      // A sample may come where a page with a name is not in memory: that is said, and the name is there the next time.
      const stacks = await stacksOf(
        [path ?? "", program],
        script,
        undefined,
        /^Attached 3 probes\n(?:WARNING: \d+ interpreted functions? ha(?:s|ve) no name: .*\n)?$/,
      );
      const whole = stacks.filter(
        (stack) => wanted.every((frame) => stack.includes(frame)) && stack.at(-1)?.startsWith("_start+"),
      );
      // Others are taken where a function begins and has no frame yet.
      assert.ok(whole.length > 0, `none of ${stacks.length}`);
    },
  );
}

const unshares = skip === false && spawnSync("unshare", ["-mpf", "true"]).status === 0;

/** The process that `unshare -f` started, once it runs a program of that name. */
async function startedBy(pid: number, name: string): Promise<number> {
  for (;;) {
    const [started = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    if (started !== "" && readFileSync(`/proc/${started}/comm`, "utf8").startsWith(name)) return Number(started);
    await setTimeout(10);
  }
}

const contained = {
  python: {
    source: "import os, sys\ndef inner(): os.getsid(0)\ndef outer():\n  inner()\nsys.stdin.readline()\nouter()\n",
    call: "getsid",
    frames: ["inner (app:2)", "outer (app:4)", "<module> (app:6)"],
  },
  node: {
    source:
      "require('node:fs').readSync(0, Buffer.alloc(1));\nfunction inner() { process.getegid(); }\nfunction outer() { inner(); }\nouter();\nsetTimeout(() => {}, 3000);\n",
    call: "getegid",
    frames: ["inner (app:2)", "outer (app:3)", "(anonymous) (app:1)"],
  },
};
for (const [kind, { source, call, frames }] of Object.entries(contained)) {
  const path = kind === "node" ? process.execPath : [...found.values()][0];
  test(
    `${kind}, in namespaces where its script is elsewhere`,
    {
      timeout: 2 * deadline,
      skip:
        skip ||
        (!unshares && "namespaces are not allowed here") ||
        (path === undefined && "needs Python 3.11 or later"),
    },
    async () => {
      const [outside, inside] = [join(folder.path, `outside-${kind}`), join(folder.path, `inside-${kind}`)];
      for (const one of [outside, inside]) mkdirSync(one);
      writeFileSync(join(outside, "app"), source);
      const command = [
        "unshare",
        "-mpf",
        "--propagation",
        "private",
        "sh",
        "-c",
        `mount --bind ${outside} ${inside} && exec ${path} ${inside}/app`,
      ];
      const [stack = []] = await stacksOf(command, `uprobe:libc:${call} { printf("STACK%s", ustack); }`, (pid) =>
        startedBy(pid, basename(path ?? "")),
      );
      const told = stack
        .filter((frame) => / \[(?:python|javascript)\]$/.test(frame))
        .map((frame) => frame.replace(/ \[\w+\]$/, ""));
      assert.deepEqual(told.slice(0, 3), frames, stack.join("\n"));
    },
  );
}

/**
 * Says that it is Python 3.11, with a thread state, a ring of frames and a code object of its own making: what names
 * them is as long as numbers go, drives a terminal, or lies at the end of memory.
 */
const pretends = `
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
char _PyRuntime[4096];
const unsigned long Py_Version = 0x030b02f0;
static char state[256], cframe[64], frames[2][80], code[256], name[400], table[64];
__attribute__((noinline)) int hit(int x) { __asm__ volatile("" :: "r"(x) : "memory"); return x + 1; }
__attribute__((noinline)) int _PyEval_EvalFrameDefault(int x) { return hit(x) + 1; }
#define WORD(at, value) (*(unsigned long *)(at) = (unsigned long)(value))
int main(int argc, char **argv) {
	pthread_key_t key;
	char c, *edge = (char *)mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096 - 100;
	munmap(edge + 100, 4096);
	pthread_key_create(&key, 0);
	pthread_setspecific(key, state);
	*(int *)(_PyRuntime + 592) = 1;
	*(int *)(_PyRuntime + 596) = key;
	WORD(state + 152, pthread_self());
	WORD(state + 56, cframe);
	WORD(cframe + 8, frames[0]);
	for (int i = 0; i < 2; i++) { WORD(frames[i] + 32, code); WORD(frames[i] + 48, frames[1 - i]); WORD(frames[i] + 56, code + 184); }
	WORD(name + 16, argv[1][0] == 'l' ? -1ul >> 1 : 9);
	WORD(name + 32, 1 << 2 | 1 << 5 | 1 << 6);
	memcpy(name + 48, "\\x1b[31mred\\n", 10);
	WORD(edge + 16, 1 << 20); WORD(edge + 32, 1 << 2 | 1 << 5 | 1 << 6); memset(edge + 48, 'f', 52);
	memset(table + 32, 0xff, 32); WORD(table + 16, 1ul << 60);
	WORD(code + 112, argv[1][0] == 'e' ? edge : name); WORD(code + 120, 1); WORD(code + 128, name); WORD(code + 136, argv[1][0] == 'w' ? (char *)8 : table);
	if (argv[1][0] == 'c') WORD(frames[1] + 48, 0xdeadbeef);
	return read(0, &c, 1) == 1 && _PyEval_EvalFrameDefault(argc) > 0 ? 0 : 1;
}
`;

const compiles = spawnSync("gcc", ["--version"]).status === 0;
for (const [way, told] of Object.entries({ ring: 125, long: 125, edge: 125, wild: 125, cut: 2 })) {
  test(
    `a program that pretends to be Python: ${way}`,
    { timeout: 2 * deadline, skip: skip || (!compiles && "needs gcc") },
    async () => {
      const path = compileC(folder.path, "python3-not", pretends, ["-O1", "-rdynamic", "-fno-optimize-sibling-calls"]);
      const [stack = []] = await stacksOf([path, way], `uprobe:${path}:hit { printf("STACK%s", ustack); }`);
      assert.deepEqual(
        stack.slice(0, 2).map((frame) => frame.replace(/\+.*/, "")),
        ["hit", "_PyEval_EvalFrameDefault"],
      );
      const frames = stack.filter((frame) => frame.endsWith("[python]"));
      assert.equal(frames.length, told);
      for (const frame of frames) assert.match(frame, /^[ -~]*$/);
      // All that the last page has of the file's name.
      if (way === "edge") for (const frame of frames) assert.match(frame, / \(f{52}\.\.[:)]/);
      if (told > 100) assert.equal(stack.at(-1), "[no more than 127 frames are kept]");
      else assert.match(stack.at(-1) ?? "", /^_start\+/);
    },
  );
}

/** Whether there is such an interpreter, and in the executable: that is mapped before anything of it runs. */
const isWhole = (path: string): boolean => {
  const { status, stdout } = spawnSync("readelf", ["-d", path], { encoding: "utf8" });
  return status === 0 && !stdout.includes("libpython");
};
const early = ["/usr/bin/python3", ...found.values()].find(isWhole);

test(
  "a command's first stacks have interpreted frames",
  { skip: skip || (early === undefined && "needs a Python that is one file"), timeout: deadline },
  async () => {
    const [python, node] = [join(folder.path, "early.py"), join(folder.path, "early.cjs")];
    writeFileSync(python, "import os\ndef first():\n    os.getsid(0)\nfirst()\n");
    writeFileSync(node, "function first() { process.getegid(); }\nfirst();\n");
    const framesOf = async (command: string, call: string): Promise<(string | undefined)[]> => {
      const script = `uprobe:libc:${call} /pid == cpid/ { printf("STACK%s", ustack); }`;
      const { stdout, stderr, code } = await strobe(["-q", "-c", command, "-e", script], { deadline });
      assert.equal(code, 0, stderr);
      const last = stdout.split("STACK").at(-1) ?? "";
      return [...last.matchAll(/^\s*(\S+ \(early\..*\)) \[\w+\]$/gm)].map(([, frame]) => frame);
    };
    assert.deepEqual(await framesOf(`${early} ${python}`, "getsid"), ["first (early.py:3)", "<module> (early.py:4)"]);
    assert.deepEqual(await framesOf(`${process.execPath} ${node}`, "getegid"), [
      "first (early.cjs:1)",
      "(anonymous) (early.cjs:1)",
    ]);
  },
);
