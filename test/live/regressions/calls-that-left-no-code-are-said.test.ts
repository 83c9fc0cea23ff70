// Functions whose calls a compiler folded away. GCC tells of them; LLVM tells nothing, not even that it inlined the
// function: its probe says so where the function's code can run without changing anything.
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
    join(folder.path, "folded.c"),
    `#include <stdio.h>
    volatile int sink;
    int lowest(void) { return -131072; }
    int bounds(int what) { switch (what) { case 1: return 10; case 2: return 77; default: sink = what; return -1; } }
    __attribute__((noinline)) int stored(int what) { sink = what; return what; }
    __attribute__((noinline)) int printed(int what) { return puts(what ? "one" : "none"); }
    static int nowhere(int what) { return what == 3 ? 7 : 9; }
    int main(void) {
      int t = lowest() + bounds(1) + bounds(2) + nowhere(3);
      for (int i = 0; i < 3; i++) t += stored(i);
      return printed(t) < 0;
    }`,
  );
});

/** What is counted of each function, and what is said of it. */
async function counted(path: string, names: readonly string[]): Promise<readonly string[]> {
  const script = join(folder.path, "counts.bt");
  writeFileSync(
    script,
    `config = { missing_probes = warn }\n${names.map((name) => `uprobe:${path}:${name} { @["${name}"] = count(); }\n`).join("")}`,
  );
  const { stdout, stderr, code } = await strobe(["-c", path, script]);
  assert.equal(code, 0, stderr);
  return names.map((name, i) => {
    const count = new RegExp(`^@\\[${name}\\]: (\\d+)$`, "m").exec(stdout)?.[1] ?? "0";
    const said = [...stderr.matchAll(/counts\.bt:(\d+):\d+(?:-\d+)?: warning: (.*)$/gm)]
      .filter(([, line]) => Number(line) === i + 2)
      .map(([, , note]) => note);
    return `${name} ${count}: ${said.join("; ")}`;
  });
}

const names = ["lowest", "bounds", "stored", "printed", "nowhere"];

for (const flags of [["-O2"], ["-O2", "-gdwarf-4"], ["-O3", "-flto", "-fuse-ld=lld"]]) {
  test(`by clang ${flags.join(" ")}`, { skip: missing("clang") || missing("ld.lld") }, async () => {
    const path = compileWith("clang", folder.path, "folded.c", `clang${flags.join("")}`, ...flags);
    const body = (name: string): string =>
      `\`${name}\` is probed at its body alone: calls that clang inlined and folded away, of which it tells nothing, are not seen`;
    const all = await counted(path, names);
    const alone = flags.length < 3;
    // Linked together, what nobody calls is gone.
    assert.deepEqual(
      all.filter((line) => alone || !/^(lowest|bounds)/.test(line)),
      [
        ...(alone ? [`lowest 0: ${body("lowest")}`] : []),
        ...(alone ? [`bounds 0: ${body("bounds")}`] : []),
        "stored 3: ",
        "printed 1: ",
        `nowhere 0: no matches for uprobe ${path}:nowhere: there is no function \`nowhere\` in ${path}`,
      ],
    );
  });
}

test("by gcc -O2", { skip: missing("gcc") }, async () => {
  const path = compileWith("gcc", folder.path, "folded.c", "gcc-O2", "-O2");
  assert.deepEqual(await counted(path, names), [
    "lowest 0: `lowest` was also inlined where the compiler left no code of it: calls there are not seen",
    "bounds 0: `bounds` was also inlined where the compiler left no code of it: calls there are not seen",
    "stored 3: ",
    "printed 1: ",
    "nowhere 0: `nowhere` was inlined wherever it is called, and the compiler left no code of it",
  ]);
});
