// `ustack` without a mode: whole where code keeps no frame pointers, and nothing that is no code passes for a caller.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const source = `
#include <unistd.h>
__attribute__((noinline, noclone)) void hit(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
__attribute__((noinline, noclone)) long third(long x) { hit(x); return x + 1; }
__attribute__((noinline, noclone)) long second(long x) { return third(x) + 1; }
/* What frame pointers lead to from here is a number. */
__attribute__((noinline, noclone)) void lost(long *frame) {
	__asm__ volatile("push %%rbp\\n.cfi_adjust_cfa_offset 8\\nmov %0, %%rbp\\ncall getppid@plt\\npop %%rbp\\n.cfi_adjust_cfa_offset -8"
		:: "r"(frame) : "memory", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}
int main(void) {
	long frame[2] = { 0, 0x1234567 };
	long sum = second(1) + (getppid() > 0);
	lost(frame);
	return sum == 0;
}
`;

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

const plain = (text: string): string => text.replaceAll(/\+\d+/g, "").replaceAll(/\s+/g, " ").trim();
const callers = "__libc_start_call_main __libc_start_main _start";

test(
  "a program without frame pointers, from a uprobe and from the kernel, with and without a command to trace",
  { skip },
  async () => {
    const path = compileC(folder.path, "none", source, ["-O2", "-fomit-frame-pointer"]);
    const script = `uprobe:${path}:hit { @a[ustack] = count(); @n = len(ustack); } tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @b[ustack(2)] = count(); }`;
    const { stdout, stderr } = await strobe(["-c", path, "-e", script]);
    assert.doesNotMatch(stderr, /WARNING/);
    // The order of equal counts is not defined.
    const counted = plain(stdout)
      .split(/ (?=@)/)
      .sort();
    assert.deepEqual(counted, [
      `@a[ hit third second main ${callers} ]: 1`,
      "@b[ getppid lost ]: 1",
      "@b[ getppid main ]: 1",
      "@n: 7",
    ]);
  },
);

test("a program with frame pointers", { skip }, async () => {
  const path = compileC(folder.path, "kept", source, ["-O2", "-fno-omit-frame-pointer"]);
  const { stdout } = await strobe(["-c", path, "-e", `uprobe:${path}:hit { @[ustack] = count(); }`]);
  assert.equal(plain(stdout), `@[ hit third second main ${callers} ]: 1`);
});

/** Of code that is not the C library's, which keeps none on most systems. */
const bareSource = `
static long call(long n, long a, long b, long c) {
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
__attribute__((noinline, noclone)) long ask(void) { long r = call(110, 0, 0, 0); __asm__ volatile("" :: "r"(r) : "memory"); return r; }
__attribute__((noinline, noclone)) long down(int n) { long r = n <= 0 ? ask() : down(n - 1); __asm__ volatile("" :: "r"(r) : "memory"); return r + 1; }
__attribute__((used, noinline)) void begin(void) { for (int i = 0; i < 50; i++) down(3); call(231, 0, 0, 0); }
__asm__(".globl _start\\n.type _start, @function\\n_start: .cfi_startproc\\n.cfi_undefined rip\\nxor %ebp, %ebp\\nand $-16, %rsp\\ncall begin\\nhlt\\n.cfi_endproc");
`;

for (const [kind, flag] of [
  ["keeps", "-fno-omit-frame-pointer"],
  ["does not keep", "-fomit-frame-pointer"],
] as const) {
  test(`a program of one binary that ${kind} frame pointers`, { skip }, async () => {
    const flags = ["-O2", "-fno-optimize-sibling-calls", "-fno-stack-protector", "-nostdlib", "-static", flag];
    const path = compileC(folder.path, `bare${flag.length}`, bareSource, flags);
    const { stdout } = await strobe([
      "-c",
      path,
      "-e",
      `tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack] = count(); @n[len(ustack)] = count(); }`,
    ]);
    assert.equal(plain(stdout), "@[ ask down down down down begin _start ]: 50 @n[7]: 50");
  });
}

test("what is no code ends a stack, with a mark, as text, JSON and folded", { skip }, async () => {
  const path = compileC(folder.path, "lost", source, ["-O2", "-fomit-frame-pointer"]);
  const run = async (...args: string[]): Promise<string> =>
    (
      await strobe([
        ...args,
        "-q",
        "-c",
        path,
        "-e",
        `tracepoint:syscalls:sys_enter_getppid /pid == cpid && !@first++/ {} tracepoint:syscalls:sys_enter_getppid /pid == cpid && @first == 2/ { @s[ustack(fp)] = count(); } end { clear(@first); }`,
      ])
    ).stdout;
  assert.equal(plain(await run()), "@s[ getppid 0x1234567 [no code] ]: 1");
  assert.equal(await run("-f", "folded"), "[no code];getppid 1\n");
  const [stack] = Object.keys(
    (
      JSON.parse((await run("-f", "json")).split("\n").find((line) => line.includes("@s")) ?? "{}") as {
        data: { "@s": object };
      }
    ).data["@s"],
  );
  assert.equal(plain(stack), "getppid 0x1234567 [no code]");
});
