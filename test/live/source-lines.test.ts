// Probes on source lines: ranges, lists, lines of functions and files with wildcards. Which lines have code is compared
// with readelf, where they begin with gdb, and how often they run with gcov and with what the programs do.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing, runTool } from "../support/compilers.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const helper = `static inline int twice(int x) {
  int y = x * 2;
  return y + 1;
}
int work(int n);
`;
const main = `#include <stdio.h>
#include <stdlib.h>
#include "util.h"
static int sift(int n) {
  int total = 0;
  int i = 0;
again:
  if (i < n) {
    total += twice(i);
    if (i % 3 == 0)
      total ^= 1;
    i++;
    goto again;
  }

  /* nothing is compiled here */

  return total;
}
int main(int argc, char **argv) {
  int rounds = atoi(argv[argc - 1]);
  int sum = 0;
next:
  rounds--;
  if (rounds >= 0) {
    sum += sift(rounds % 7);
    sum += work(rounds);
    goto next;
  }
  printf("%d\\n", sum);
  return 0;
}
`;
const other = `#include "util.h"
int work(int n) {
  int v = twice(n);
  if (v > 20)
    v -= 20;
  return v;
}
`;
const plus = `#include <cstdio>
namespace app {
struct Server {
  int hits = 0;
  int handle(int n);
  int handle(const char *text) { return hits += text[0]; }
};
int Server::handle(int n) {
  int total = n;
  auto add = [&](int k) {
    total += k;
    return total;
  };
  if (n > 2)
    add(n);
  return total;
}
#define GETTER(name, x) int name() { return x; }
GETTER(one, 1) GETTER(two, 2)
}
template <typename T> T larger(T a, T b) {
  if (a > b)
    return a;
  return b;
}
int main() {
  app::Server server;
  double sum = 0;
  int i = 0;
next:
  sum += server.handle(i);
  sum += server.handle("a");
  sum += larger(i, 2) + larger(2.5, (double)i);
  if (++i < 5)
    goto next;
  printf("%g %d %d\\n", sum, app::one(), app::two());
}
`;

const folder = temporaryFolder();
let objects = "";
const rounds = 20;
before(() => {
  objects = bpfObjects();
  mkdirSync(join(folder.path, "net"));
  for (const [name, text] of [
    ["util.h", helper],
    ["main.c", main],
    ["other.c", other],
    ["plus.cpp", plus],
  ])
    writeFileSync(join(folder.path, "net", name), text);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const compileC = (name: string, ...flags: readonly string[]): string =>
  compileWith("gcc", folder.path, "net/main.c", name, "net/other.c", ...flags);

/** What a script counted, by probe without the binary, and what was said. */
async function counts(
  path: string,
  probes: string,
): Promise<{ readonly lines: ReadonlyMap<string, number>; readonly said: string; readonly code: number | null }> {
  const output = join(folder.path, "output");
  writeFileSync(output, "");
  const { stderr, code } = await strobe(
    ["-o", output, "-c", `${path} ${rounds}`, "-e", `${probes} { @[probe] = count(); }`],
    { deadline: 300_000 },
  );
  const lines = new Map(
    [
      ...readFileSync(output, "utf8").matchAll(/^@\[uprobe:[^\]]*?((?::[^:\]@]+(?:::[^:\]@]+)*)?@[^\]]+)\]: (\d+)$/gm),
    ].map(([, place, count]) => [place, Number(count)]),
  );
  return { lines, said: stderr, code };
}

async function listed(pattern: string): Promise<readonly string[]> {
  const { stdout } = await strobe(["-l", pattern]);
  return stdout.split("\n").filter((line) => line !== "");
}

/** Lines of a file that begin a statement, as binutils read the table. */
function linesWithCode(path: string, file: string): readonly number[] {
  const text = execFileSync("readelf", ["--debug-dump=decodedline", path], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const rows = [...text.matchAll(/^(\S+)\s+(\d+)\s+0x[0-9a-f]+(?:\[\d+\])?\s+(?:\d+\s+)?x$/gm)].filter(
    ([, name, line]) => name.split("/").at(-1) === file && line !== "0",
  );
  return [...new Set(rows.map(([, , line]) => Number(line)))].sort((a, b) => a - b);
}

for (const [compiler, source, level, ...more] of [
  ["gcc", "main.c", "-O0"],
  ["gcc", "main.c", "-O2"],
  ["clang", "main.c", "-O2"],
  ["g++", "plus.cpp", "-O0"],
  ["g++", "plus.cpp", "-O2"],
  ["gcc", "main.c", "-O2", "-flto"],
  ["g++", "plus.cpp", "-O2", "-flto"],
] as const) {
  const how = [level, ...more].join(" ");
  test(`the lines of ${source} that have code, by ${compiler} ${how}`, { skip: missing(compiler) }, async () => {
    const path = compileWith(
      compiler,
      folder.path,
      `net/${source}`,
      `listed-${compiler}${level}${more.join("")}`,
      ...(source === "main.c" ? ["net/other.c"] : []),
      level,
      ...more,
    );
    const expected = linesWithCode(path, source);
    assert.ok(expected.length > 10, `${expected.length}`);
    assert.deepEqual(
      await listed(`line:${path}@net/${source}:*`),
      expected.map((line) => `uprobe:${path}@net/${source}:${line}`),
    );
    const some = expected.filter((line) => line <= 9 || (line >= 12 && line <= 22));
    assert.deepEqual(
      await listed(`uprobe:${path}@${source}:1-9,12-22`),
      some.map((line) => `uprobe:${path}@${source}:${line}`),
    );
  });
}

test("each line counts as often as gcov says", { skip: missing("gcc") || missing("gcov") }, async () => {
  const path = compileC("plain", "-O0");
  // Where the objects lie, their notes and counts do.
  runTool(folder.path, "gcc", ["-O0", "--coverage", "-o", "covered", "net/main.c", "net/other.c"]);
  runTool(folder.path, join(folder.path, "covered"), [`${rounds}`]);
  const notes = ["covered-main.gcno", "covered-other.gcno"];
  const reports = execFileSync("gcov", ["--json-format", "--stdout", ...notes], { cwd: folder.path, encoding: "utf8" })
    .trim()
    .split("\n");
  interface Report {
    readonly files: readonly {
      readonly file: string;
      readonly lines: readonly {
        readonly line_number: number;
        readonly count: number;
        readonly function_name?: string;
      }[];
    }[];
  }
  const expected = new Map<string, number>();
  for (const { files } of reports.map((text) => JSON.parse(text) as Report)) {
    for (const { file, lines } of files) {
      for (const { line_number: line, count } of lines)
        if (count > 0) expected.set(`@${file}:${line}`, (expected.get(`@${file}:${line}`) ?? 0) + count);
    }
  }
  const { lines, code } = await counts(path, `uprobe:${path}@net/*.[ch]:*`);
  assert.equal(code, 0);
  // Labels are lines to gcov, and the ends of functions are none.
  for (const label of ["@net/main.c:7", "@net/main.c:23"]) assert.ok(expected.delete(label));
  const counted = new Map([...lines].filter(([place]) => expected.has(place)));
  assert.deepEqual(Object.fromEntries(counted), Object.fromEntries(expected));
  const ends = [...lines].filter(([place]) => !expected.has(place)).map(([place]) => place);
  assert.deepEqual(ends.sort(), ["@net/main.c:19", "@net/main.c:32", "@net/other.c:7", "@net/util.h:4"]);
});

test("ranges, lists, and lines from a function's first on", { skip: missing("gcc") }, async () => {
  const path = compileC("plain", "-O0");
  const sifted = Array.from({ length: rounds }, (_, i) => i % 7);
  const inner = sifted.reduce((sum, n) => sum + n, 0);
  const list = await counts(path, `uprobe:${path}@main.c:5,8-9,18`);
  assert.deepEqual(Object.fromEntries(list.lines), {
    "@main.c:5": rounds,
    "@main.c:8": inner + rounds,
    "@main.c:9": inner,
    "@main.c:18": rounds,
  });
  assert.match(list.said, /^Attached 4 probes$/m);
  const relative = await counts(path, `uprobe:${path}:sift@net/main.c:+1,+4-5`);
  assert.deepEqual(Object.fromEntries(relative.lines), {
    ":sift@net/main.c:5": rounds,
    ":sift@net/main.c:8": inner + rounds,
    ":sift@net/main.c:9": inner,
  });
  const inHeader = await counts(path, `uprobe:${path}:twice@*.h:+1`);
  assert.deepEqual(Object.fromEntries(inHeader.lines), { ":twice@util.h:2": inner + rounds });
  const two = await counts(path, `uprobe:${path}@main.c:5,uprobe:${path}@other.c:3`);
  assert.deepEqual(Object.fromEntries(two.lines), { "@main.c:5": rounds, "@other.c:3": rounds });
  const named = await counts(path, `uprobe:${path}:s*@main.c:+0`);
  assert.deepEqual(Object.fromEntries(named.lines), { ":s*@main.c:4": rounds });
});

test(
  "lines of functions that are inlined, and of those that the compiler mixed",
  { skip: missing("gcc") },
  async () => {
    const path = compileC("optimised", "-O2");
    const inner = Array.from({ length: rounds }, (_, i) => i % 7).reduce((sum, n) => sum + n, 0);
    const copies = await counts(path, `uprobe:${path}:twice@util.h:+1`);
    assert.deepEqual(Object.fromEntries(copies.lines), { ":twice@util.h:2": inner + rounds });
    assert.match(copies.said, /^Attached 1 probe$/m);
    const all = await counts(path, `uprobe:${path}:sift@main.c:*`);
    // Nothing of main's, which sift is in.
    const numbers = [...all.lines.keys()].map((place) => Number(place.split(":").at(-1)));
    assert.ok(numbers.length >= 4 && numbers.every((line) => line >= 4 && line <= 19), numbers.join());
    assert.equal(all.lines.get(":sift@main.c:9"), inner);
  },
);

test("functions of C++: overloads, lambdas, templates, and several on one line", { skip: missing("g++") }, async () => {
  const path = compileWith("g++", folder.path, "net/plus.cpp", "plus", "-O0");
  const handled = await counts(path, `uprobe:${path}:app::Server::handle@plus.cpp:*`);
  const prefix = ":app::Server::handle@plus.cpp:";
  const expected = new Map([
    [6, 5],
    [8, 5],
    [9, 5],
    [10, 2],
    [11, 2],
    [12, 2],
    [13, 2 + 5],
    [14, 5],
    [15, 2],
    [16, 5],
    [17, 5],
  ]);
  for (const [line, count] of expected)
    if (line !== 13) assert.equal(handled.lines.get(`${prefix}${line}`), count, `${line}`);
  assert.deepEqual(
    [...handled.lines.keys()].map((place) => Number(place.slice(prefix.length))).sort((a, b) => a - b),
    [...expected.keys()],
  );
  const overload = await counts(path, `uprobe:${path}:handle(int)@plus.cpp:+1`);
  assert.deepEqual([...overload.lines.values()], [5]);
  const templates = await counts(path, `uprobe:${path}:larger@plus.cpp:+1`);
  assert.deepEqual([...templates.lines.values()], [10], "both instances");
  const [one, two] = [
    await counts(path, `uprobe:${path}:one@plus.cpp:*`),
    await counts(path, `uprobe:${path}:app::two@plus.cpp:*`),
  ];
  assert.deepEqual([[...one.lines.values()], [...two.lines.values()]], [[1], [1]]);
});

test("lines begin where gdb says", { skip: missing("gcc") || missing("gdb") }, async () => {
  const path = compileC("fixed", "-O0", "-no-pie");
  const output = join(folder.path, "output");
  const { code } = await strobe(
    ["-o", output, "-c", `${path} ${rounds}`, "-e", `uprobe:${path}@net/*.[ch]:* { @[probe, reg("ip")] = count(); }`],
    { deadline: 300_000 },
  );
  assert.equal(code, 0);
  const mine = [...readFileSync(output, "utf8").matchAll(/^@\[uprobe:[^\]]*@([^\]]+), (\d+)\]: \d+$/gm)].map(
    ([, place, address]) => `${place} ${Number(address).toString(16)}`,
  );
  const lines = [...new Set(mine.map((line) => line.split(" ")[0]))];
  assert.ok(lines.length > 25, lines.join());
  const told = execFileSync(
    "gdb",
    ["-nx", "-batch", ...lines.flatMap((place) => ["-ex", `info line ${place}`]), path],
    { encoding: "utf8" },
  );
  const theirs = [...told.matchAll(/^Line (\d+) of "([^"]+)" starts at address 0x([0-9a-f]+) /gm)].map(
    ([, line, file, address]) => `${file}:${line} ${address}`,
  );
  assert.deepEqual(mine.sort(), theirs.sort());
});

test("what has no code is named with the nearest that has", { skip: missing("gcc") }, async () => {
  const path = compileC("plain", "-O0");
  const refusal = async (probe: string): Promise<string> => {
    const { stderr, code } = await strobe(["-e", `uprobe:${path}${probe} { }`]);
    assert.notEqual(code, 0, probe);
    return stderr;
  };
  assert.match(
    await refusal("@main.c:15-16"),
    /lines 15 to 16 of main\.c have no code; the nearest lines that have some are 13 and 18/,
  );
  assert.match(await refusal("@main.c:500"), /line 500 of main\.c has no code; the nearest line that has some is 32/);
  assert.match(
    await refusal(":sift@main.c:25-26"),
    /lines 25 to 26 of `sift` in main\.c have no code; the nearest line that has some is 19/,
  );
  assert.match(await refusal("@main.c:+2"), /`\+2` counts from the first line of a function\n[^]*FUNCTION@main\.c:\+2/);
  assert.match(await refusal(":sitf@main.c:3"), /has no function `sitf`\n[^]*did you mean `sift`/);
  assert.match(await refusal(":work@main.c:3"), /`work` is not in a file main\.c\n[^]*it is in \S+net\/other\.c/);
  assert.match(await refusal("@main.c:30-10"), /the lines 30-10 end before they begin/);
  assert.match(await refusal("@main.c:5,0"), /`0` is not a line/);
  assert.match(await refusal("@main.c:5,6:3"), /`5,6:3` is not a line and a column/);
  assert.match(await refusal("@nothing*.c:*"), /no code of \S+ comes from a file nothing\*\.c/);
  const moved = await counts(path, `uprobe:${path}@main.c:15,18`);
  assert.match(moved.said, /line 15 of main\.c has no code: probing line 18/);
  assert.deepEqual(Object.fromEntries(moved.lines), { "@main.c:18": rounds });
});
