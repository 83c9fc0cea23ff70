// Static probes of C programs: every argument has the value that the program itself prints, however it was compiled.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { shapesSource } from "../support/usdt-programs.ts";
import {
  bpfObjects,
  compileC,
  interrupt,
  nothingLeft,
  startStrobe,
  strobe,
  temporaryFolder,
} from "../support/strobe.ts";

const folder = temporaryFolder();
const atStart = bpfObjects();
after(async () => {
  await nothingLeft(atStart);
  folder.remove();
});

async function over(command: string, script: string): Promise<string> {
  const output = join(folder.path, "output");
  const { stderr, code } = await strobe(["-q", "-o", output, "-c", command, "-e", script]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  return readFileSync(output, "utf8").trim();
}

const clang = spawnSync("clang", ["--version"]).status === 0;
const builds: readonly (readonly [name: string, compiler: string, flags: readonly string[]])[] = [
  ...["-O0", "-O1", "-O2", "-O3", "-Os"].flatMap((level) => [
    [`gcc${level}`, "gcc", [level]] as const,
    [`gcc${level}-fixed`, "gcc", [level, "-no-pie", "-fno-pie"]] as const,
  ]),
  ["gcc-O2-frames", "gcc", ["-O2", "-fno-omit-frame-pointer"]],
  ...(clang ? ["-O0", "-O1", "-O2", "-O3"].map((level) => [`clang${level}`, "clang", [level]] as const) : []),
];

function compiled(name: string, compiler: string, flags: readonly string[]): string {
  if (compiler === "gcc") return compileC(folder.path, name, shapesSource, flags);
  const path = join(folder.path, name);
  execFileSync(compiler, [...flags, "-x", "c", "-o", path, "-"], { input: shapesSource });
  return path;
}

for (const [name, compiler, flags] of builds) {
  test(`arguments of all widths and places, as ${name} passes them`, async () => {
    const path = compiled(name, compiler, flags);
    const said = execFileSync(path, { encoding: "utf8" }).trim().split("\n");
    const traced = await over(
      path,
      `
      usdt:${path}:shapes:widths { printf("widths %d %d %d %d %d %u %d %lu\\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7); }
      usdt:${path}:shapes:many { printf("many %d %s %ld %d %d %d %d %d %ld %d %lu %d\\n", arg0, str(arg1), arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11); }
      usdt:${path}:shapes:inlined { printf("inlined %d %ld\\n", arg0, arg1); }
      usdt:${path}:shapes:high { printf("high %d %d %d\\n", arg0, arg1, arg2); }
      usdt:${path}:shapes:none { printf("none\\n"); }`,
    );
    assert.deepEqual(
      traced.split("\n"),
      said.filter((line) => !line.startsWith("real")),
    );
  });
}

test("arguments in args have their width and sign, and floating-point numbers are shown", async () => {
  const path = compiled("typed", "gcc", ["-O1"]);
  assert.equal(
    await over(
      path,
      `usdt:${path}:shapes:real { printf("%s %s ", args.arg0, args.arg1); } usdt:${path}:shapes:widths { print(args); exit(); }`,
    ),
    "{ .arg0 = -1, .arg1 = 255, .arg2 = -1, .arg3 = 65535, .arg4 = -1, .arg5 = 4294967295, .arg6 = -1, .arg7 = 18446744073709551615 }",
  );
  assert.equal(await over(path, `usdt:${path}:shapes:real { printf("%s %s", args.arg0, args.arg1); }`), "3.25 -0.5");
  const refused = await strobe(["-e", `usdt:${path}:shapes:real { print(arg0); }`]);
  assert.match(refused.stderr, /argument 0 of \S+ is a floating-point number/);
  assert.match(refused.stderr, /print\(args\.arg0\) shows it/);
  const { stdout } = await strobe(["-lv", `usdt:${path}:shapes:widths`]);
  assert.deepEqual(
    stdout
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.trim()),
    ["int8 arg0", "uint8 arg1", "int16 arg2", "uint16 arg3", "int32 arg4", "uint32 arg5", "int64 arg6", "uint64 arg7"],
  );
});

test("all places of a probe that was inlined, and wildcards over namespaces and names", async () => {
  const path = compiled("places", "gcc", ["-O2"]);
  assert.equal(await over(path, `usdt:${path}:inlined { @[arg0] = count(); }`), "@[2]: 1\n@[3]: 1\n@[4]: 1\n@[1]: 4");
  assert.equal(
    await over(path, `usdt:${path}:sh*:*n* { @[probe] = count(); }`),
    ["none]: 1", "many]: 4", "inlined]: 7"].map((end) => `@[usdt:${path}:shapes:${end}`).join("\n"),
  );
  assert.equal(await over(path, `usdt:${path}:*:no?e { @[probe] = count(); }`), `@[usdt:${path}:shapes:none]: 1`);
});

const librarySource = `
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
__extension__ unsigned short tools_turn_semaphore __attribute__((section(".probes")));
static int hidden = 40;
int turn(int by) { hidden += by; if (tools_turn_semaphore) { DTRACE_PROBE2(tools, turn, by, hidden); return 1; } return 0; }
`;
/** Turns whenever it is written a line, and answers whether somebody watched. */
const callerSource = `
#include <stdio.h>
int turn(int by);
int main(void) { char line[16]; while (fgets(line, sizeof line, stdin)) { printf("%d\\n", turn(2)); fflush(stdout); } return 0; }
`;

function ask({ stdin, stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    stdout?.once("data", (data: Buffer) => resolve(data.toString().trim()));
    stdin?.write("\n");
  });
}

test("in a library: the program is told while somebody watches, and only the one that is watched", async () => {
  const library = compileC(folder.path, "libturn.so", librarySource, ["-O2", "-shared", "-fPIC"]);
  const caller = compileC(folder.path, "caller", callerSource, ["-O2", "-Wl,--no-as-needed", library]);
  const [one, other] = [spawn(caller), spawn(caller)];
  try {
    assert.deepEqual([await ask(one), await ask(other)], ["0", "0"]);
    const script = 'usdt:libturn.so:tools:turn { printf("%d %d\\n", arg0, arg1); }';
    const running = startStrobe(["-p", String(one.pid), "-e", script]);
    await running.attached;
    assert.deepEqual([await ask(one), await ask(other), await ask(one)], ["1", "0", "1"]);
    assert.equal((await interrupt(running)).stdout.trim(), "2 44\n2 46");
    assert.deepEqual([await ask(one), await ask(other)], ["0", "0"]);

    const everyone = startStrobe(["-e", `usdt:${library}:tools:turn { @[pid == ${one.pid}] = count(); }`]);
    await everyone.attached;
    assert.deepEqual([await ask(one), await ask(other), await ask(other)], ["1", "1", "1"]);
    assert.deepEqual((await interrupt(everyone)).stdout.trim().split("\n").sort(), ["@[false]: 2", "@[true]: 1"]);

    // By the process alone, whichever of its files has the probe.
    const anywhere = startStrobe(["-p", String(other.pid), "-e", "usdt:*:tools:turn { @ = count(); }"]);
    await anywhere.attached;
    assert.deepEqual([await ask(one), await ask(other)], ["0", "1"]);
    assert.equal((await interrupt(anywhere)).stdout.trim(), "@: 1");
  } finally {
    one.kill();
    other.kill();
  }
});
