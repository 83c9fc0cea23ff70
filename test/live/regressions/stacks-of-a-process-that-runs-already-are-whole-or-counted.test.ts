// `ustack(dwarf)` of a process that runs when strobe comes: from the first event on each stack is whole, or one of those that
// the warning counts.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const skip =
  process.geteuid?.() !== 0
    ? "needs root"
    : process.arch !== "x64"
      ? "unwinding is for x86-64"
      : spawnSync("gcc", ["--version"]).status !== 0
        ? "needs gcc"
        : false;
const folder = temporaryFolder();
after(() => folder.remove());

const source = `
#include <unistd.h>
#include <poll.h>
__attribute__((noinline, noclone)) void hit(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
__attribute__((noinline, noclone)) long third(long x) { hit(x); return x + 1; }
__attribute__((noinline, noclone)) long second(long x) { return third(x) + 1; }
int main(void) {
	struct pollfd input = { 0, POLLIN, 0 };
	long sum = 0;
	while (poll(&input, 1, 1) == 0)
		sum += second(sum);
	return 0;
}
`;

for (const [name, probe, whole] of [
  ["a uprobe", "hit { @[ustack(dwarf)] = count(); @n = count();", "hit third second main"],
  ["its system calls", "", "poll main"],
] as const) {
  test(`by ${name}`, { skip }, async () => {
    const path = compileC(folder.path, "runs", source, ["-O2", "-fomit-frame-pointer"]);
    const child = spawn(path, { stdio: ["pipe", "ignore", "inherit"] });
    try {
      const { stdout, stderr, code } = await strobe([
        "-p",
        String(child.pid),
        "-e",
        `${probe === "" ? "tracepoint:syscalls:sys_enter_poll { @[ustack(dwarf)] = count(); @n = count();" : `uprobe:${path}:${probe}`} if (@n >= 100) { exit(); } }`,
      ]);
      assert.equal(code, 0, stderr);
      const stacks = [...stdout.matchAll(/^@\[\n([\s\S]*?)\n\]: (\d+)$/gm)].map(([, frames, count]) => ({
        frames: frames
          .split("\n")
          .map((line) => line.trim().replace(/\+\d+$/, ""))
          .join(" "),
        count: Number(count),
      }));
      const all = Number(/^@n: (\d+)$/m.exec(stdout)?.[1]);
      assert.equal(
        stacks.reduce((sum, { count }) => sum + count, 0),
        all,
      );
      const good = stacks.filter(({ frames }) => frames === `${whole} __libc_start_call_main __libc_start_main _start`);
      const cut = [...stderr.matchAll(/^WARNING: (\d+) stacks? (?:follows?|ends?) /gm)];
      assert.equal(
        good.reduce((sum, { count }) => sum + count, 0) + cut.reduce((sum, [, count]) => sum + Number(count), 0),
        all,
        stdout + stderr,
      );
      assert.ok(good.length > 0, stdout);
    } finally {
      child.stdin.end();
    }
  });
}
