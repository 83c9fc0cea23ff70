// More different stacks than there is room for unless a script asks for it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const skip =
  process.geteuid?.() !== 0 ? "needs root" : spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;
const deadline = { timeout: 120_000, skip };
const stacks = 20_000;

/** A system call below each of so many stacks: a function or the other at each of fifteen steps. */
const source = `
#include <sys/syscall.h>
#include <unistd.h>
static int left(unsigned long way, int depth), right(unsigned long way, int depth);
#define DESCEND { return depth == 0 ? (int)syscall(SYS_getppid) : 1 + (way & 1 ? right : left)(way >> 1, depth - 1); }
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
  program = compileC(folder.path, "stacks", source, ["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]);
});
after(async () => {
  folder.remove();
  if (skip === false) await nothingLeft(objects);
});

/** What is printed of all stacks, and said. */
async function traced(mode: string): Promise<{ stacks: Record<string, number>; stderr: string; full: number }> {
  const script = `config = { max_map_keys = 100000; stack_unwinding = "${mode}" }
    tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack] = count(); }`;
  const { stdout, stderr } = await strobe(["-q", "-f", "json", "-c", program, "-e", script], { deadline: 100_000 });
  const said = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; data: { "@": Record<string, number>; updates: number } });
  const [map] = said.filter(({ type }) => type === "map");
  const full = said.filter(({ type }) => type === "map_full").reduce((sum, { data }) => sum + data.updates, 0);
  return { stacks: map.data["@"], stderr, full };
}

test(
  `a map of ${stacks} stacks keeps them all where it has room for them`,
  { ...deadline, skip: skip !== false ? skip : process.arch !== "x64" && "unwinding is for x86-64" },
  async () => {
    const { stacks: found, ...rest } = await traced("dwarf");
    assert.deepEqual(rest, { stderr: "", full: 0 });
    const ways = Object.keys(found).map((stack) => stack.match(/(left|right)\+/g)?.length);
    assert.deepEqual([ways.length, ways.filter((steps) => steps === 16).length], [stacks, stacks]);
  },
);

test("stacks whose places in the kernel's map others have are counted", deadline, async () => {
  const { stacks: found, stderr, full } = await traced("fp");
  assert.equal(stderr, "");
  assert.ok(full > 0);
  assert.equal(found[""] ?? 0, full);
});
