// Programs that were optimised as they were linked have copies of a function in other units than its body, and in units
// that say nothing of it but where its origin is: a name means all of them, by whichever way the linker divided the
// program.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { missing, runTool } from "../../support/compilers.ts";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());
before(() => {
  writeFileSync(
    join(folder.path, "caller.c"),
    `
    int helper(int x), once_more(int x), apart(int x);
    volatile int sink;
    __attribute__((noinline)) int round_of(int i) { int t = helper(i); if (i & 1) t += helper(i * 2); return t + once_more(i) + apart(i); }
    int main(void) { int t = 0; for (int i = 0; i < 10; i++) t += round_of(i); return t == 7; }`,
  );
  writeFileSync(
    join(folder.path, "callee.c"),
    `
    extern volatile int sink;
    static int counted;
    static int inner(int x) { sink += x; return sink ^ x; }
    int helper(int x) { counted++; return inner(x); }
    int once_more(int x) { return helper(x + 1) * 3; }
    __attribute__((noinline)) int apart(int x) { sink = x; return helper(x); }
    int (*volatile pointer)(int) = helper;
    __attribute__((constructor)) static void first(void) { pointer(3); }`,
  );
});

// In 10 rounds: 10, and 5 of odd ones, and through `once_more` and `apart` 10 each; and once through a pointer.
const calls: Readonly<Record<string, number>> = { helper: 36, inner: 36, once_more: 10, apart: 10, round_of: 10 };

for (const [compiler, ...flags] of [
  ["gcc", "-O2"],
  ["gcc", "-O2", "-flto", "-flto-partition=none"],
  ["gcc", "-O2", "-flto", "-flto-partition=1to1"],
  ["gcc", "-O2", "-flto", "-flto-partition=max"],
  ["gcc", "-O3", "-flto", "-flto-partition=max", "-gdwarf-4"],
  ["clang", "-O2"],
  ["clang", "-O2", "-flto", "-fuse-ld=lld"],
  ["clang", "-O2", "-flto=thin", "-fuse-ld=lld"],
] as const) {
  test(
    `by ${compiler} ${flags.join(" ")}`,
    { skip: missing(compiler) || (flags.includes("-fuse-ld=lld" as never) && missing("ld.lld")) },
    async () => {
      const path = join(folder.path, `${compiler}${flags.join("")}`);
      runTool(folder.path, compiler, [...flags, "-g", "caller.c", "callee.c", "-o", path]);
      const script = Object.keys(calls).map(
        (name) =>
          `uprobe:${path}:${name} { @in["${name}"] = count(); } uretprobe:${path}:${name} { @out["${name}"] = count(); }`,
      );
      const { stdout, stderr, code } = await strobe(["-f", "json", "-e", script.join(" "), "-c", path]);
      assert.equal(code, 0, stderr);
      const maps = Object.assign(
        {},
        ...stdout
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as { type: string; data: object })
          .filter(({ type }) => type === "map")
          .map(({ data }) => data),
      ) as Record<string, unknown>;
      assert.deepEqual(maps, { "@in": calls, "@out": calls });
    },
  );
}
