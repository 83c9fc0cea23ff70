// More different stacks than there is room for unless a script asks for it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const skip =
  process.geteuid?.() !== 0 ? "needs root" : spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;
const deadline = {
  timeout: 120_000,
  skip: skip !== false ? skip : process.arch !== "x64" && "the program is for x86-64",
};
const stacks = 20_000;

/** A system call below each of so many stacks: a function or the other at each of fifteen steps. */
const source = `
#include <sys/syscall.h>
#include <unistd.h>
static int left(unsigned long way, int depth), right(unsigned long way, int depth);
/* Without a function that has no frame pointer between. */
__attribute__((always_inline)) static inline int parent(void) {
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");
	return (int)result;
}
#define DESCEND { return depth == 0 ? parent() : 1 + (way & 1 ? right : left)(way >> 1, depth - 1); }
__attribute__((noinline, noclone)) static int left(unsigned long way, int depth) DESCEND
__attribute__((noinline, noclone)) static int right(unsigned long way, int depth) DESCEND
int main(void) {
	int sum = 0;
	for (long way = 0; way < ${stacks}; way++) sum += left(way, 15);
	return sum == 0;
}
`;

const folder = temporaryFolder();
let objects = "";
let program = "";
before(() => {
  if (skip !== false) return;
  objects = bpfObjects();
  program = compileC(folder.path, "stacks", source, [
    "-O1",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",
    "-fno-shrink-wrap",
  ]);
});
after(async () => {
  folder.remove();
  if (skip === false) await nothingLeft(objects);
});

interface Said {
  readonly type: string;
  readonly data: unknown;
}

/** What a script prints of the program as JSON, and how many updates found no room. */
async function said(script: string): Promise<{ stdout: readonly Said[]; stderr: string; full: number }> {
  const output = join(folder.path, "output");
  const { stderr } = await strobe(["-q", "-f", "json", "-o", output, "-c", program, "-e", script], {
    deadline: 100_000,
  });
  const lines = readFileSync(output, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Said);
  const full = lines
    .filter(({ type }) => type === "map_full")
    .reduce((sum, { data }) => sum + (data as { updates: number }).updates, 0);
  return { stdout: lines, stderr, full };
}

/** How often each of the program's stacks was counted. */
async function traced(mode: string): Promise<{ stacks: Record<string, number>; stderr: string; full: number }> {
  const { stdout, ...rest } = await said(`config = { max_map_keys = 100000; stack_unwinding = "${mode}" }
    tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack] = count(); }`);
  const [map] = stdout.filter(({ type }) => type === "map");
  return { stacks: (map.data as { "@": Record<string, number> })["@"], ...rest };
}

test(`a map of ${stacks} stacks keeps them all where it has room for them`, deadline, async () => {
  const { stacks: found, ...rest } = await traced("dwarf");
  assert.deepEqual(rest, { stderr: "", full: 0 });
  const ways = Object.keys(found).map((stack) => stack.match(/(left|right)\+/g)?.length);
  assert.deepEqual([ways.length, ways.filter((steps) => steps === 16).length], [stacks, stacks]);
});

test("stacks that find another one in their place of the kernel's map are kept beside it", deadline, async () => {
  const { stacks: found, ...rest } = await traced("fp");
  assert.deepEqual(rest, { stderr: "", full: 0 });
  assert.deepEqual([Object.keys(found).length, Object.values(found).filter((count) => count !== 1)], [stacks, []]);
});

test("stacks that there is no more room for are counted", deadline, async () => {
  const { stdout, stderr, full } = await said(
    `config = { stack_unwinding = "fp" } tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack); }`,
  );
  assert.equal(stderr, "");
  assert.ok(full > 0 && full < stacks / 2, `${full} of ${stacks}`);
  const printed = stdout.filter(({ type }) => type === "value").map(({ data }) => String(data));
  assert.deepEqual([printed.length, printed.filter((stack) => stack.trim() === "").length], [stacks, full]);
});
