// D on the running kernel: what scripts print, to the letter.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const deadline = { timeout: 120_000, skip: process.geteuid?.() !== 0 && "needs root" };
const folder = temporaryFolder();
let objects = "";
before(() => {
  if (!deadline.skip) objects = bpfObjects();
});
after(async () => {
  folder.remove();
  if (!deadline.skip) await nothingLeft(objects);
});

async function run(script: string, ...more: string[]): Promise<string> {
  const path = join(folder.path, "script.d");
  writeFileSync(path, script);
  const { stdout, stderr, code } = await strobe(["-q", ...more, path]);
  assert.deepEqual({ stderr, code }, { stderr: "", code: 0 });
  return stdout;
}

test("a line for each clause that records something", deadline, async () => {
  const printed = await run(
    'BEGIN { trace("hi"); trace(3); trace((char)65); trace(1LL << 40); } BEGIN { x = 1; } BEGIN {} BEGIN { exit(0); }',
  );
  assert.equal(
    `${printed.replaceAll(/^ +\d+ /gm, "C ").trimEnd()} \n`,
    `CPU     ID                    FUNCTION:NAME
C      1                           :BEGIN   ${"hi".padEnd(33)}          3  65       1099511627776
C      1                           :BEGIN \nC      1                           :BEGIN \n`,
  );
});

test("what one clause of an event leaves in this->, the next one finds; self-> is the thread's", deadline, async () => {
  const printed = await run(
    `#pragma D option quiet
    syscall::write:entry /pid == $target/ { this->n = arg2; self->n = arg2; @n[execname] = count(); }
    syscall::write:entry /pid == $target/ { printf("%d %s\\n", this->n, copyinstr(arg1, 5)); }
    syscall::write:return /self->n/ { printf("%s:%s %d of %d, errno %d\\n", probefunc, probename, arg1, self->n, errno); }
    END { printa("%s %@d\\n", @n); }`,
    "-c",
    "/bin/sh -c 'printf hello'",
  );
  assert.ok(printed.includes("5 hell\nwrite:return 5 of 5, errno 0\n"), printed);
  assert.match(printed, /^sh 1$/m);
});

test("C's integers, texts and what is gathered", deadline, async () => {
  const printed = await run(`#pragma D option quiet
  int n;
  BEGIN {
    x = 1; x = 1LL << 40;
    printf("%d %d %d %d %u %x\\n", n, x, -7 / 2, (char)300, -1, (short)-1);
    printf("%d %d %d\\n", -1 > 1U, 1 << 31, "abc" < "abd");
    printf("%s %s %s\\n", strjoin("a", "b"), basename("/x/y/"), substr("hello", -3, 2));
    exit(0);
  }`);
  assert.equal(printed.trimEnd(), "0 0 -3 44 4294967295 ffff\n1 -2147483648 1\nab y ll");
});

test("a failing clause is told to ERROR, and the others run", deadline, async () => {
  const path = join(folder.path, "fails.d");
  writeFileSync(
    path,
    `#pragma D option quiet
    BEGIN { x = 0; trace(1 / x); trace(2); }
    BEGIN { trace(*(int *)8); }
    BEGIN { printf("on\\n"); exit(0); }
    ERROR { printf("%d %x\\n", arg4, arg5); }`,
  );
  const { stdout, stderr, code } = await strobe(["-q", path]);
  assert.deepEqual({ stdout: stdout.trimEnd(), code }, { stdout: "4 0\n1 8\non", code: 0 });
  assert.match(stderr, /division by zero\n.*cannot read 4 bytes of kernel memory\n$/);
});
