// Arguments of raw_syscalls:sys_enter are those of the event's record: of a call of 32 bits, other registers than of one of 64. User,
// group and cgroup are those that the process has.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

// getppid() by both doors: 110 of 64 bits, 64 of 32 bits. 5 before they are called: the wide one alone.
const source = `
#include <unistd.h>
#include <string.h>
int main(int argc, char **argv)
{
	long r;
	register long a4 __asm__("r10") = 14;
	register long a5 __asm__("r8") = 15;
	register long a6 __asm__("r9") = 16;
	__asm__ volatile("syscall" : "=a"(r) : "a"(110), "D"(11), "S"(12), "d"(13), "r"(a4), "r"(a5), "r"(a6) : "rcx", "r11", "memory");
	if (argc > 1)
		__asm__ volatile("int $0x80" : "=a"(r) : "a"(64), "b"(21), "c"(22), "d"(23), "S"(24), "D"(25) : "memory");
	return r > 0 ? 0 : 1;
}
`;
const isX86 = process.arch === "x64";
const calls = isX86 ? compileC(folder.path, "calls", source) : "";
const both = isX86 && spawnSync(calls, ["both"]).status === 0;

const script = (id: number, count: number): string =>
  `tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id == ${id}/ { printf("${"%d ".repeat(count)}%s\\n", ${Array.from(
    { length: count },
    (_, i) => `args.args[${i}]`,
  ).join(", ")}, comm); }`;

test("calls of 64 bits", { skip: isX86 ? false : "takes x86-64" }, async () => {
  const { code, stdout } = await strobe(["-q", "-e", script(110, 6), "-c", calls]);
  assert.deepEqual([code, stdout.trim()], [0, "11 12 13 14 15 16 calls"]);
});

test("calls of 32 bits", { skip: both ? false : "takes a kernel with calls of 32 bits" }, async () => {
  const { code, stdout } = await strobe(["-q", "-e", script(64, 5), "-c", `${calls} both`]);
  assert.deepEqual([code, stdout.trim()], [0, "21 22 23 24 25 calls"]);
});

test("user, group and cgroup", { skip: isX86 ? false : "takes x86-64" }, async () => {
  const asked =
    'tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id == 110 && comm != ""/ { printf("%d %d %d %d\\n", uid, gid, cgroup, args.args[0]); }';
  const { stdout } = await strobe(["-q", "-e", asked, "-c", calls]);
  const [, path = ""] = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8")) ?? [];
  const { ino } = statSync(`/sys/fs/cgroup${path}`, { throwIfNoEntry: false }) ?? {};
  const said = stdout.trim().split(" ").map(Number);
  assert.deepEqual([said[0], said[1], said[3]], [process.getuid!(), process.getgid!(), 11]);
  if (ino !== undefined && path !== "") assert.equal(said[2], ino);
});
