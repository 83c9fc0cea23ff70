// Stacks end at 127 frames: a larger limit is a warning, and a stack that was cut says that it was.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const source = `
__attribute__((noinline, noclone)) void hit(int n) { __asm__ volatile("" :: "r"(n) : "memory"); }
__attribute__((noinline, noclone)) void down(int n) { if (n <= 0) hit(n); else down(n - 1); __asm__ volatile("" :: "r"(n) : "memory"); }
int main(void) { down(300); return 0; }
`;

const skip =
  process.geteuid?.() !== 0 ? "needs root" : spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;
const folder = temporaryFolder();
after(() => folder.remove());
const mark = "[no more than 127 frames are kept]";

for (const mode of ["fp, ", "dwarf, ", ""]) {
  test(
    `ustack(${mode}1000)`,
    { skip: skip || (mode === "dwarf, " && process.arch !== "x64" && "unwinding is for x86-64") },
    async () => {
      const path = compileC(folder.path, "deep", source, [
        "-O2",
        "-fno-optimize-sibling-calls",
        "-fno-omit-frame-pointer",
      ]);
      const run = (...args: string[]) =>
        strobe([...args, "-c", path, "-e", `uprobe:${path}:hit { @[ustack(${mode}1000)] = count(); }`]);
      const { stdout, stderr } = await run();
      assert.match(stderr, /warning: ustack\(\) keeps 127 frames at most, 1000 asked for/);
      const frames = stdout
        .trim()
        .split("\n")
        .slice(1, -1)
        .map((line) => line.trim().replace(/\+\d+$/, ""));
      assert.deepEqual(frames, ["hit", ...Array<string>(126).fill("down"), mark]);
      assert.equal(
        (await run("-f", "folded")).stdout,
        `${[mark, ...Array<string>(126).fill("down"), "hit"].join(";")} 1\n`,
      );
    },
  );
}

test("a limit that was asked for and met is no loss", { skip }, async () => {
  const path = compileC(folder.path, "deep", source, ["-O2", "-fno-optimize-sibling-calls", "-fno-omit-frame-pointer"]);
  const { stdout, stderr } = await strobe(["-q", "-c", path, "-e", `uprobe:${path}:hit { @[ustack(3)] = count(); }`]);
  assert.equal(stderr, "");
  assert.equal(stdout.replaceAll(/\+\d+/g, "").replaceAll(/\s+/g, " ").trim(), "@[ hit down down ]: 1");
});
