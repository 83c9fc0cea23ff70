// Inlined copies whose beginning is at several places, is also reached round a loop, or belongs to a function that GCC
// split, and functions of several files that have one name: what is counted is what the program counts, or the probe
// says what it does not see.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { missing, runTool } from "../../support/compilers.ts";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

const names = ["first_tested", "versioned", "several", "in_loop", "early_out", "shared", "summed"] as const;

before(() => {
  writeFileSync(
    join(folder.path, "counted.h"),
    `${names.map((name) => `extern long n_${name};`).join(" ")} extern long n_namesake;
    #ifdef COUNTED
    #define COUNT(name) (n_##name++)
    #else
    #define COUNT(name) ((void)0)
    #endif
    extern volatile int sink; int other_file(int);`,
  );
  writeFileSync(
    join(folder.path, "loops.c"),
    `
    #include <stdio.h>
    #include "counted.h"
    ${names.map((name) => `long n_${name};`).join(" ")} long n_namesake;
    volatile int sink;
    struct node { struct node *next; int value; };
    static struct node nodes[8];
    static int first_tested(struct node *at) { COUNT(first_tested); int t = 0; while (at != 0 && at->value != 0) { sink += at->value; t += at->value; at = at->next; } return t; }
    static void versioned(int *to, const int *from, int n) { COUNT(versioned); for (int i = 0; i < n; i++) to[i] = from[i] * 3 + to[i]; }
    static int several(int k) { COUNT(several); if (k == 0) { sink += 5; return 5; } if (k == 1) { sink *= 3; return 9; } sink -= k; return k; }
    static int in_loop(int *p, int n) { COUNT(in_loop); int t = 0; do { t += *p++; sink ^= t; } while (--n > 0); return t; }
    static int early_out(const int *p, int n, int wanted) { COUNT(early_out); for (int i = 0; i < n; i++) if (p[i] == wanted) return i; return -1; }
    static int shared(int x) { COUNT(shared); if (x & 1) { sink += x; return sink; } sink -= x; return sink + 1; }
    static int summed(const int *p, int n) { COUNT(summed); int t = 0; for (int i = 0; i < n; i++) t += p[i] & 15; return t; }
    __attribute__((noinline)) static int namesake(int x) { COUNT(namesake); sink += x; return sink; }
    static int room[64], more[64];
    __attribute__((noinline)) int round_of(int i)
    {
      int t = first_tested(&nodes[i % 8]);
      versioned(room, more + i % 2, i % 40);
      t += several(i % 4);
      for (int j = 0; j < i % 5; j++) { t += several(j); t += in_loop(room + j, i % 7); }
      if (early_out(room, 30, i) >= 0) t++;
      t += i & 4 ? shared(i) : shared(i + 1);
      for (int j = 0; j < i % 4; j++) t += summed(room, j + 2);
      return t + namesake(i) + other_file(i);
    }
    int main(void)
    {
      int t = 0;
      for (int i = 0; i < 8; i++) { nodes[i].value = 7 - i; nodes[i].next = i < 7 ? &nodes[i + 1] : 0; }
      for (int i = 0; i < 64; i++) more[i] = i;
      for (int i = 0; i < 50; i++) t += round_of(i);
      fprintf(stderr, "%d\\n", t);
      ${[...names, "namesake"].map((name) => `printf("${name} %ld\\n", n_${name});`).join(" ")}
      return 0;
    }`,
  );
  writeFileSync(
    join(folder.path, "other.c"),
    `
    #include "counted.h"
    __attribute__((noinline)) static int namesake(int x) { COUNT(namesake); sink -= x * 3; return sink; }
    int other_file(int x) { return namesake(x) ^ namesake(x + 1); }`,
  );
});

/** Counts of the functions, as the program has them, which was compiled without optimisation to have them. */
function counted(compiler: string): ReadonlyMap<string, number> {
  runTool(folder.path, compiler, ["-O0", "-DCOUNTED", "loops.c", "other.c", "-o", "counted"]);
  const { stdout } = spawnSync(join(folder.path, "counted"), { encoding: "utf8" });
  return new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([name, count]) => [name, Number(count)]),
  );
}

for (const [compiler, ...flags] of [
  ["gcc", "-O2"],
  ["gcc", "-O3"],
  ["gcc", "-O3", "-flto", "-flto-partition=max"],
  ["clang", "-O1"],
  ["clang", "-O2"],
  ["clang", "-O3"],
] as const) {
  test(`by ${compiler} ${flags.join(" ")}`, { skip: missing(compiler) }, async (t) => {
    const expected = counted(compiler);
    assert.equal(expected.get("namesake"), 150);
    const path = join(folder.path, `${compiler}${flags.join("")}`);
    runTool(folder.path, compiler, [...flags, "-g", "loops.c", "other.c", "-o", path]);
    const script = join(folder.path, "counts.bt");
    const all = [...expected.keys()];
    writeFileSync(script, all.map((name) => `uprobe:${path}:${name} { @["${name}"] = count(); }\n`).join(""));
    const { stdout, stderr, code } = await strobe(["-c", path, script]);
    assert.equal(code, 0, stderr);
    const [told, silent]: [string[], string[]] = [[], []];
    for (const [i, name] of all.entries()) {
      const count = Number(new RegExp(`^@\\[${name}\\]: (\\d+)$`, "m").exec(stdout)?.[1] ?? 0);
      // A note of the probe's own, not only that there are copies.
      const said = [...stderr.matchAll(/counts\.bt:(\d+):\d+(?:-\d+)?: warning: (.*)$/gm)].filter(
        ([, line, note]) => Number(line) === i + 1 && !note.includes("is inlined: probing"),
      );
      if (said.length > 0) told.push(`${name}: ${count} of ${expected.get(name)}`);
      else if (count !== expected.get(name)) silent.push(`${name}: ${count} of ${expected.get(name)}`);
    }
    assert.deepEqual(silent, []);
    assert.ok(told.length <= 4, told.join(", "));
    t.diagnostic(`${all.length - told.length} exactly; told to be uncertain: ${told.join(", ") || "none"}`);
  });
}
