// uprobe, uretprobe, ret and insn mean the same functions by the same names, in scripts and in lists: ret: and insn:
// knew symbols only, and -l found no names of C++. A cold part, which goes by its function's name, is no function of
// its own: one that throws was counted twice.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing } from "../../support/compilers.ts";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

before(() => {
  writeFileSync(
    join(folder.path, "names.cpp"),
    String.raw`
    #include <cstdio>
    #include <stdexcept>
    #define N __attribute__((noinline))
    namespace app {
    struct Server { int n; N int handle(int x); N long handle(const char *s); };
    template<class T> N T twice(T x) { asm volatile("" : "+r"(x)); return x * 2; }
    int Server::handle(int x) { if (x == 3) throw std::runtime_error("three"); asm volatile("" ::: "memory"); return x + n; }
    long Server::handle(const char *s) { asm volatile("" ::: "memory"); return s[0] + n; }
    N int leaf(int x) { asm volatile("" : "+r"(x)); return x + 1; }
    static N int hidden(int x) { asm volatile("" : "+r"(x)); return x + 5; }
    }
    int main() {
      app::Server s{100}; int sum = 0;
      for (int i = 0; i < 6; i++) try { sum += s.handle(i); } catch (std::exception &) { sum++; }
      for (int i = 0; i < 4; i++) sum += app::leaf(i);
      sum += s.handle("a") + app::twice(21) + (int)app::twice(4L) + app::hidden(2);
      return sum == 0;
    }`,
  );
});

/** Names, and how often what they mean is entered, and returns. */
const names: readonly (readonly [string, number, number])[] = [
  ["app::Server::handle", 7, 6],
  ["Server::handle", 7, 6],
  ["app::Server::handle(int)", 6, 5],
  ["app::Server::handle(char const*)", 1, 1],
  ["app::twice", 2, 2],
  ["app::twice<long>", 1, 1],
  ["app::leaf", 4, 4],
  ["cpp:app::l*", 4, 4],
  ["leaf", 4, 4],
  ["app::hidden", 1, 1],
  ["_ZN3app4leafEi", 4, 4],
  ["app::*", 14, 13],
];

for (const compiler of ["g++", "clang++"]) {
  test(`the same functions by every name, by ${compiler}`, { skip: missing(compiler) }, async () => {
    const path = compileWith(compiler, folder.path, "names.cpp", "names", "-O2");
    const script = names
      .map(
        ([name], i) => `
      uprobe:${path}:"${name}" { @[${i}, "uprobe"] = count(); }
      uretprobe:${path}:"${name}" { @[${i}, "uretprobe"] = count(); }
      ret:${path}:"${name}" { @[${i}, "ret"] = count(); }
      insn:${path}:"${name}":0 { @[${i}, "insn"] = count(); }`,
      )
      .join("\n");
    const { stdout, stderr, code } = await strobe(["-c", path, "-e", script]);
    assert.equal(code, 0, stderr);
    const counts = new Map(
      [...stdout.matchAll(/^@\[(\d+), (\w+)\]: (\d+)$/gm)].map(([, i, kind, n]) => [
        `${names[Number(i)][0]} ${kind}`,
        Number(n),
      ]),
    );
    const expected = names.flatMap(
      ([name, entered, returned]) =>
        [
          [`${name} uprobe`, entered],
          [`${name} uretprobe`, returned],
          [`${name} ret`, returned],
          [`${name} insn`, entered],
        ] as const,
    );
    assert.deepEqual(Object.fromEntries(counts), Object.fromEntries(expected));
  });
}

test("lists find what probes take", { skip: missing("g++") }, async () => {
  const path = compileWith("g++", folder.path, "names.cpp", "names", "-O2");
  const list = async (what: string, ...flags: readonly string[]): Promise<string[]> => {
    const { stdout, code } = await strobe([...flags, what]);
    assert.equal(code, 0);
    return stdout.trimEnd().split("\n");
  };
  const functions = ["app::Server::handle", "app::hidden", "app::leaf", "app::twice<int>", "app::twice<long>"];
  for (const kind of ["uprobe", "uretprobe", "ret"]) {
    assert.deepEqual(
      await list(`${kind}:${path}:app::*`, "-l"),
      functions.map((name) => `${kind}:${path}:${name}`),
    );
    assert.deepEqual(
      await list(`${kind}:${path}:cpp:app::[hl]*`, "-l"),
      ["hidden", "leaf"].map((name) => `${kind}:${path}:cpp:app::${name}`),
    );
    assert.deepEqual(await list(`${kind}:${path}:leaf`, "-l"), [`${kind}:${path}:leaf`]);
  }
  // Overloads are told apart by what is said of them.
  const overloads = await list(`uprobe:${path}:app::Server::handle`, "-lv");
  assert.equal(overloads.filter((line) => line === `uprobe:${path}:app::Server::handle`).length, 2);
  assert.ok(overloads.includes("    int x") && overloads.includes("    const char* s"), overloads.join("\n"));
  const returns = await list(`ret:${path}:app::Server::handle`, "-lv");
  assert.deepEqual(
    returns.map((line) => line.replace(/ at .*/, "")),
    [`ret:${path}:app::Server::handle`, "    returns", `ret:${path}:app::Server::handle`, "    returns"],
  );
  const [first] = await list(`insn:${path}:app::leaf:*`, "-l");
  assert.equal(first, `insn:${path}:app::leaf:0`);
});
