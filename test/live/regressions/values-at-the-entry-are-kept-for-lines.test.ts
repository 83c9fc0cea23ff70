// Variables of optimised programs of which nothing is left but what the function was called with (DW_OP_entry_value):
// kept from the entry of each call, however calls nest, and what gdb and the program itself have at the same lines.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing } from "../../support/compilers.ts";
import { bpfObjects, nothingLeft, startStrobe, strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";

const source = String.raw`
#include <stdio.h>
#define N __attribute__((noinline, noipa))
volatile int sink;
N int use(int value) { sink += value; return value * 3; }
static inline __attribute__((always_inline)) int inner(int value, int scale) {
  int doubled = use(scale);
  sink += doubled; /* in inner */
  return doubled + 7;
}
N int work(int first, long second, const char *text) {
  printf("%d %ld %s\n", first, second, text);
  int a = use(1);
  sink = a; /* in work */
  return a + inner(first, a);
}
N int down(int depth, int tag) {
  printf("%d %d\n", depth, tag);
  int under = depth > 0 ? down(depth - 1, tag * 2) : 0;
  sink = under; /* in down */
  return under + use(1);
}
int main(void) {
  int total = 0;
  for (int i = 0; i < 3; i++) total += work(10 + i, 1000 + i, i % 2 ? "odd" : "even");
  total += down(3, 5);
  return total == 0;
}
`;
const lineOf = (text: string): number => source.split("\n").findIndex((line) => line.includes(text)) + 1;
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

before(() => {
  objects = bpfObjects();
  writeFileSync(join(folder.path, "kept.c"), source);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

async function over(
  path: string,
  script: string,
): Promise<{ readonly seen: readonly string[]; readonly said: string }> {
  const output = join(folder.path, "output");
  const { stderr, code } = await strobe(["-o", output, "-c", path, "-e", script]);
  assert.equal(code, 0, stderr);
  return { seen: lines(spawnSync("cat", [output], { encoding: "utf8" }).stdout), said: stderr };
}

const printed = (path: string): readonly string[] => lines(spawnSync(path, { encoding: "utf8" }).stdout);

for (const compiler of ["gcc", "clang"]) {
  test(`by name, in the order of the calls, by ${compiler}`, { skip: missing(compiler) }, async () => {
    const path = compileWith(compiler, folder.path, "kept.c", `kept-${compiler}`, "-O2");
    const { seen, said } = await over(
      path,
      `
      line:${path}@kept.c:${lineOf("in work")} { printf("%d %d %s\\n", var("first"), args.second, str(vars.text)); }
      line:${path}@kept.c:${lineOf("in down")} { printf("%d %d\\n", args.depth, args.tag); }`,
    );
    assert.doesNotMatch(said, /WARNING/);
    const own = printed(path);
    // Calls that nest come back in the opposite order.
    assert.deepEqual(seen, [...own.slice(0, 3), ...own.slice(3).toReversed()]);
  });
}

test(
  "as gdb has them, and in copies that were inlined into the function",
  { skip: missing("gcc") || missing("gdb") },
  async () => {
    const path = compileWith("gcc", folder.path, "kept.c", "kept", "-O2");
    const at = (text: string, names: readonly string[]): string[] => [
      "-ex",
      `break kept.c:${lineOf(text)}`,
      "-ex",
      `commands\nsilent\nprintf "${text}: ${names.map(() => "%ld").join(" ")}\\n", ${names.map((name) => `(long)${name}`).join(", ")}\ncontinue\nend`,
    ];
    const commands = [
      "set pagination off",
      ...at("in work", ["first", "second"]),
      ...at("in inner", ["value"]),
      ...at("in down", ["depth", "tag"]),
      "run",
    ].filter((part) => part !== "-ex");
    writeFileSync(join(folder.path, "commands"), commands.join("\n"));
    const theirs = lines(
      spawnSync("gdb", ["-batch", "-nx", "-x", join(folder.path, "commands"), path], { encoding: "utf8" }).stdout,
    ).filter((line) => line.startsWith("in "));
    assert.equal(theirs.length, 10);
    const { seen } = await over(
      path,
      `
    line:${path}@kept.c:${lineOf("in work")} { printf("in work: %d %d\\n", args.first, args.second); }
    line:${path}@kept.c:${lineOf("in inner")} { printf("in inner: %d\\n", args.value); }
    line:${path}@kept.c:${lineOf("in down")} { printf("in down: %d %d\\n", args.depth, args.tag); }`,
    );
    assert.deepEqual(seen, theirs);
  },
);

test("all that a copy has in scope", { skip: missing("gcc") }, async () => {
  const path = compileWith("gcc", folder.path, "kept.c", "kept", "-O2");
  const { seen } = await over(path, `uprobe:${path}:inner { print(args); @[func] = count(); }`);
  assert.deepEqual(seen, [
    "{ .value = 10, .scale = 3 }",
    "{ .value = 11, .scale = 3 }",
    "{ .value = 12, .scale = 3 }",
    "@[inner]: 3",
  ]);
});

test("all that is in scope, and args", { skip: missing("gcc") }, async () => {
  const path = compileWith("gcc", folder.path, "kept.c", "kept", "-O2");
  const { seen, said } = await over(path, `line:${path}@kept.c:${lineOf("in down")} { print(args); @ = count(); }`);
  assert.match(said, /^Attached 1 probe\n$/);
  assert.deepEqual(seen, [
    "{ .depth = 0, .tag = 40 }",
    "{ .depth = 1, .tag = 20 }",
    "{ .depth = 2, .tag = 10 }",
    "{ .depth = 3, .tag = 5 }",
    "@: 4",
  ]);
  const as = await over(path, `line:${path}@kept.c:${lineOf("in work")} { @[args] = count(); }`);
  assert.deepEqual(as.seen, [
    "@[{ .first = <known at the entry>, .second = <known at the entry>, .text = <known at the entry> }]: 3",
  ]);
});

test(
  "of a call that began before, what is named is left out and counted, and among others said to be gone",
  { skip: missing("gcc") },
  async () => {
    writeFileSync(
      join(folder.path, "waits.c"),
      String.raw`
#include <unistd.h>
#define N __attribute__((noinline, noipa))
volatile int sink;
N void wait_line(void) { char c; while (read(0, &c, 1) == 1 && c != '\n') { } }
N int step(int k) {
  wait_line();
  sink = 1;
  wait_line();
  return 7;
}
int main(void) { for (int i = 0; i < 3; i++) step(i); return 0; }`,
    );
    const path = compileWith("gcc", folder.path, "waits.c", "waits", "-O2");
    for (const [print, expected, warned] of [
      ['print(var("k"))', ["1", "2"], true],
      ["print(vars)", ["{ .k = <known at the entry> }", "{ .k = 1 }", "{ .k = 2 }"], false],
    ] as const) {
      const waiting = spawn(path, { stdio: ["pipe", "ignore", "ignore"] });
      try {
        const running = startStrobe(["-p", String(waiting.pid), "-e", `line:${path}@waits.c:8 { ${print}; }`]);
        await running.attached;
        waiting.stdin.write("\n".repeat(6));
        const { stdout, stderr } = await running.outcome;
        assert.deepEqual(lines(stdout), expected);
        if (warned)
          assert.match(
            stderr,
            /WARNING: uprobe:.*:8 missed 1 event \(in calls whose entry it did not see: it asks for what they were called with\)/,
          );
        else assert.doesNotMatch(stderr, /missed/);
      } finally {
        waiting.kill("SIGKILL");
      }
    }
  },
);

test(
  "where a loop comes by the function's first instruction again, the entry is not told from it",
  { skip: missing("gcc") || (process.arch === "x64" ? false : "needs x86-64") },
  async () => {
    writeFileSync(
      join(folder.path, "spin.c"),
      String.raw`
#define N __attribute__((noinline, noipa))
volatile int sink;
N void spin(int left, int other) {
  do { sink = other; other = sink + 1; } while (--left);
}
int main(void) { spin(3, 1); return 0; }`,
    );
    const path = compileWith("gcc", folder.path, "spin.c", "spin", "-Os");
    const code = spawnSync("objdump", ["-d", "--no-show-raw-insn", "--disassemble=spin", path], {
      encoding: "utf8",
    }).stdout;
    const [, first] = /^\s+([0-9a-f]+):\tmov +%esi,/m.exec(code) ?? [];
    assert.match(code, new RegExp(`jne +${first} <spin>`));
    const { stderr, code: status } = await strobe(["-c", path, "-e", `insn:${path}:spin:6 { print(vars.left); }`]);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /`left` is optimised out here: what the function was called with tells it, and a loop comes by its first instruction again/,
    );
  },
);

test(
  "which lines have a value, where one has none, and why a parameter that nobody passes has none",
  { skip: missing("gcc") },
  async () => {
    writeFileSync(
      join(folder.path, "reasons.c"),
      String.raw`
volatile int sink;
static __attribute__((noinline)) int cut(int kept, int dropped) {
  sink = kept;
  return kept + 1;
}
__attribute__((noinline)) int live(int n) {
  int twice = sink * n;
  sink = twice;
  sink = twice + 1;
  sink = 5;
  sink = 6;
  return 7;
}
int main(int argc, char **argv) { return cut(argc, argc * 3) + live(argc) > 99; }`,
    );
    const path = compileWith("gcc", folder.path, "reasons.c", "reasons", "-O2");
    const refusal = async (script: string): Promise<string> => (await strobe(["-e", script])).stderr;
    assert.match(
      await refusal(`line:${path}@reasons.c:13 { print(var("twice")); }`),
      /`twice` is optimised out here; it has a value at lines? [\d, -]+/,
    );
    assert.match(
      await refusal(`line:${path}@reasons.c:4 { print(var("dropped")); }`),
      /`dropped` is optimised out: no caller passes it any more/,
    );
    const { seen } = await over(path, `line:${path}@reasons.c:4 { print(vars); }`);
    assert.deepEqual(seen, ["{ .kept = 1, .dropped = <depends on the caller> }"]);
  },
);
