// `strobe func`: calls of a program's functions, held against what the program does.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const source = `
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define HIDDEN __attribute__((noinline))
#define KEEP asm volatile("" ::: "memory")
struct point { int x, y; };
static jmp_buf back;
HIDDEN int area(struct point *p, char *name, short n) { KEEP; int r = p->x * p->y + n; p->x++; return r; }
HIDDEN long factorial(long n) { long r = n < 2 ? 1 : n * factorial(n - 1); KEEP; return r; }
HIDDEN void nap(int ms) { struct timespec t = { 0, ms * 1000000 }; nanosleep(&t, 0); KEEP; }
HIDDEN void leap(int n) { KEEP; longjmp(back, 1); }
HIDDEN double half(double d, int by) { KEEP; return d / by; }
int main(void)
{
	struct point p = { 3, 4 };
	char name[16];
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "number %d", i);
		area(&p, name, -i);
	}
	factorial(6);
	for (int i = 0; i < 3; i++)
		if (!setjmp(back))
			leap(i);
	nap(20);
	nap(0);
	half(3, 2);
	return 0;
}
`;

const folder = temporaryFolder();
const program = compileC(folder.path, "calls", source);
const objects = bpfObjects();
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

async function func(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await strobe(["func", "-q", "-c", program, ...args]);
  assert.deepEqual([stderr, code], ["", 0]);
  return stdout.trim();
}

test("strobe func: how often each function returned, and what left otherwise", async () => {
  const text = await func(`${program}:area`, `${program}:factorial`, `${program}:[ln]*p`);
  const found = [...text.matchAll(/^@ns\[(\w+)\]: \{ \.count = (\d+), \.average = \d+, \.total = (\d+) \}$/gm)];
  assert.deepEqual(Object.fromEntries(found.map(([, name, count]) => [name, Number(count)])), {
    area: 5,
    factorial: 6,
    nap: 2,
  });
  assert.ok(Number(found.find(([, name]) => name === "nap")?.[3]) >= 20e6, text);
  assert.match(text, /^@unfinished\[leap\]: 3$/m);
});

test("strobe func --lines: arguments and results", async () => {
  const text = await func("--lines", `${program}:area`, `${program}:factorial`, `${program}:half`);
  const lines = text.split("\n").slice(1);
  assert.deepEqual(
    lines.map((line) => line.replace(/^\S+ +\d+ +calls +\d+\.\d{3} /, "").replaceAll(/0x[0-9a-f]+/g, "POINTER")),
    [
      ...[12, 15, 18, 21, 24].map((result, i) => `area(POINTER, number ${i}, ${-i || 0}) = ${result}`),
      ...[1, 2, 6, 24, 120, 720].map((result, i) => `factorial(${i + 1}) = ${result}`),
      "half(?, 2) = ?",
    ],
  );
});

test("strobe func --least, --hist: the calls that take so long", async () => {
  const text = await func("--hist", "--least", "15ms", `${program}:nap`);
  assert.match(text, /^@us\[nap\]:\n(?:\[.* 0 \|.*\n)*\[\S+ \S+ +1 \|@+\|$/);
});

test("strobe func says what makes no sense", async () => {
  for (const [args, message] of [
    [[], /^strobe: which functions\? strobe func 'vfs_\*'/],
    [[`${program}:area`, "vfs_read"], /^strobe: functions of the kernel and of programs/],
    [["uprobe:area"], /^strobe: "uprobe:area": a program's function is BINARY:FUNCTION/],
    [["area {"], /^strobe: "area \{" is no function's name/],
    [["--lines", "--hist", "vfs_read"], /^strobe: --lines or --hist/],
    [[`${program}:missing`], /no function/],
  ] as const) {
    const { stderr, code } = await strobe(["func", "-c", program, ...args]);
    assert.match(stderr, message);
    assert.equal(code, 1);
  }
});
