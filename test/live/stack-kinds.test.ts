// Frames of code that is no function of the program: what the kernel maps, what signal handlers return to, stubs,
// stripped files.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";

const skip =
  process.geteuid?.() !== 0
    ? "needs root"
    : process.arch !== "x64"
      ? "unwinding is for x86-64"
      : spawnSync("gcc", ["--version"]).status !== 0
        ? "needs gcc"
        : false;
const deadline = { timeout: 300_000, skip };

/** `faults` has no instruction but one that brings a signal; its handler is reached once. */
const source = `
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
void faults(void);
__asm__(".text\\n.globl faults\\n.type faults, @function\\nfaults:\\n.cfi_startproc\\nud2\\n.cfi_endproc\\n.size faults, .-faults");
__attribute__((noinline)) void hit(int number) { __asm__ volatile("" :: "r"(number) : "memory"); }
static void handler(int number) { hit(number); exit(0); }
__attribute__((noinline)) long asks(long turns) {
	struct timespec now;
	long sum = 0;
	while (turns-- > 0) { clock_gettime(CLOCK_MONOTONIC, &now); sum += now.tv_nsec; }
	return sum;
}
int main(int argc, char **argv) {
	signal(SIGILL, handler);
	if (argc > 1) { getchar(); return asks(atol(argv[1])) == 1; }
	puts(argv[0]);
	faults();
	return 1;
}
`;

const folder = temporaryFolder();
let objects = "",
  whole = "",
  stripped = "";
before(() => {
  if (skip !== false) return;
  objects = bpfObjects();
  whole = compileC(folder.path, "kinds", source, ["-O2", "-fomit-frame-pointer", "-Wl,-z,lazy"]);
  stripped = compileC(folder.path, "stripped", source, ["-O2", "-fomit-frame-pointer", "-s", "-pie", "-fPIE"]);
});
after(async () => {
  folder.remove();
  if (skip === false) await nothingLeft(objects);
});

async function frames(script: string, command: string): Promise<string[]> {
  const { stdout, stderr, code } = await strobe(["-q", "-c", command, "-e", script], { deadline: 300_000 });
  assert.deepEqual([stderr, code], ["", 0]);
  return stdout
    .split("\n")
    .filter((line) => line.startsWith("        "))
    .map((line) => line.trim().replace(/\+[1-9]\d*$/, "+N"));
}

/** Addresses that binutils give to the places where `main` of the stripped file calls and is called from. */
function disassembly(): string {
  return execFileSync("objdump", ["-d", "--no-show-raw-insn", stripped], { encoding: "utf8" });
}

test(
  "through a signal's frame to the instruction that it came to, which may be a function's first",
  deadline,
  async () => {
    assert.deepEqual((await frames(`uprobe:${whole}:hit { print(ustack(5)); }`, whole)).slice(0, 5), [
      "hit+0",
      "handler+N",
      "__restore_rt+0",
      "faults+0",
      "main+N",
    ]);
  },
);

test("a stub of an imported function", deadline, async () => {
  const found = await frames(`plt:${whole}:puts { print(ustack(2)); }`, whole);
  assert.deepEqual(found, ["puts@plt+0", "main+N"]);
});

test("frames of a stripped program: its name, and the address that objdump shows", deadline, async () => {
  const stack = await frames(`plt:${stripped}:puts { print(ustack(2)); }`, stripped);
  const [, at] = /^\[stripped\]\+0x([0-9a-f]+)$/.exec(stack[1] ?? "") ?? [];
  const call = new RegExp(`call +\\S+ <puts@plt>\\n +${at}:`);
  assert.match(disassembly(), call, stack.join("\n"));
});

test("what the kernel maps into processes", deadline, async () => {
  const child = spawn(whole, ["20000000"], { stdio: ["pipe", "ignore", "ignore"] });
  const running = startStrobe(["-p", String(child.pid), "-e", "profile:hz:199 { @[ustack] = count(); }"], {
    deadline: 300_000,
  });
  await running.attached;
  child.stdin.end("\n");
  const { stdout } = await running.outcome;
  const stacks = stdout
    .split("@[")
    .slice(1)
    .map((text) =>
      text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== ""),
    );
  // Which of its functions was interrupted, differs: some have no symbols.
  const through = stacks.filter(([top]) => /^(clock_gettime|\[vdso\])\+/.test(top ?? ""));
  assert.ok(through.length > 0, stdout);
  for (const stack of through)
    assert.ok(
      stack.some((frame) => frame.startsWith("asks+")) && stack.some((frame) => frame.startsWith("main+")),
      stack.join("\n"),
    );
});
