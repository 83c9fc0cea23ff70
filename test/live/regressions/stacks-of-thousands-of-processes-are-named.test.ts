// Processes that ended long before their stacks are printed: names of all of them, or the number of those that have
// none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const skip =
  process.geteuid?.() !== 0 ? "needs root" : spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;
const folder = temporaryFolder();
after(() => folder.remove());
const processes = 6000;

test("thousands of processes of a few microseconds each", { skip }, async () => {
  const path = compileC(
    folder.path,
    "many",
    `
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) long work(void) { return getppid() + 1L; }
int main(void) {
	for (int i = 0; i < ${processes}; i++) {
		int pid = fork();
		if (pid == 0) _exit(work() == 0);
		if (pid < 0 || waitpid(pid, 0, 0) != pid) return 1;
	}
	return 0;
}
`,
    ["-O2", "-fno-optimize-sibling-calls"],
  );
  const script =
    'let @ = hash(10000); tracepoint:syscalls:sys_enter_getppid /comm == "many"/ { @[pid, ustack(2)] = count(); }';
  const { stdout, stderr } = await strobe(["-c", path, "-e", script], { deadline: 300_000 });
  assert.doesNotMatch(stderr, /WARNING/);
  const stacks = [...stdout.matchAll(/^@\[(\d+), \n {8}(\S+)\+\d+\n {8}(\S+)\+\d+\n\]: 1$/gm)];
  assert.equal(stacks.filter(([, , inner, outer]) => inner.endsWith("getppid") && outer === "work").length, processes);
});
