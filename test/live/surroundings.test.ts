// Where strobe is started: in a container, without a home, with few files to open.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, symlinkSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { bpfObjects, command, compileC, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
const folder = temporaryFolder();
const cached = { ...process.env, STROBE_CACHE: `${folder.path}/cache` };

let objects = "";
before(() => {
  if (!deadline.skip) objects = bpfObjects();
});
after(async () => {
  if (!deadline.skip) await nothingLeft(objects);
  folder.remove();
});

interface Told {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a shell's line; `$0` is strobe, `$1` and so on are `args`. */
function shell(line: string, args: readonly string[], env: NodeJS.ProcessEnv = cached): Told {
  return spawnSync("sh", ["-c", line.replaceAll("$0", `${process.execPath} ${command}`), "sh", ...args], {
    encoding: "utf8",
    env,
    timeout: 300_000,
    cwd: folder.path,
  });
}

const script = `
  tracepoint:syscalls:sys_enter_newuname /pid == cpid/ { printf("%d %d\\n", pid == tid, pid == pid(init)); @a[ustack(1)] = count(); @b[ustack(1, dwarf)] = count(); }`;
const stacks = /^@a\[\s+uname\+\d+\s+\]: 1\n@b\[\s+uname\+\d+\s+\]: 1$/m;

test("in a container, processes have the container's numbers", { ...deadline }, () => {
  const inside = "unshare --mount --pid --fork --mount-proc";
  // What was compiled outside is not taken inside, nor the other way round.
  for (let round = 0; round < 2; round++) {
    const outer = shell('$0 -q -c uname -e "$1"', [script]);
    assert.match(outer.stdout, /^1 1$/m, outer.stderr);
    assert.match(outer.stdout, stacks);
    const inner = shell(`${inside} $0 -q -c uname -e "$1"`, [script]);
    assert.match(inner.stdout, /^1 0$/m, inner.stderr);
    assert.match(inner.stdout, stacks);
  }
  const waits = "until grep -q Attached said; do sleep 0.1; done";
  const byNumber = shell(
    `mkfifo go; ${inside} sh -c '(read go; exec uname) <go & ($0 -p $! -e "$1" $! 2>said & ${waits}; echo >go; wait)' sh "$1"`,
    ['tracepoint:syscalls:sys_enter_newuname { printf("%d %d\\n", pid == $1, tid == $1); }'],
  );
  assert.match(byNumber.stdout, /^1 1$/m, byNumber.stderr);
});

test("with too few files to open, a message says so", { ...deadline }, () => {
  const said = [20, 24, 256].map((files) =>
    shell(`ulimit -n ${files}; exec $0 -c uname -e "$1"`, [
      "tracepoint:syscalls:sys_enter_newuname /pid == cpid/ { @ = count(); }",
    ]),
  );
  for (const { status, stderr } of said) {
    assert.match(stderr, status === 0 ? /^Attached 1 probe$/m : /^strobe: cannot .*ulimit -n/);
    assert.doesNotMatch(stderr, /^ {4}at /m);
  }
  assert.deepEqual([said[0].status, said[2].status], [1, 0]);
});

test("homes are not made, and a relative cache folder counts as none", () => {
  const {
    XDG_CACHE_HOME: _cache,
    STROBE_CACHE: _store,
    ...others
  } = { ...process.env, ...cached } as NodeJS.ProcessEnv;
  const args = ["begin { print(1); exit() }"];
  const home = `${folder.path}/gone`;
  assert.equal(shell('$0 -q -e "$1"', args, { ...others, HOME: home }).stdout, "1\n\n\n");
  assert.equal(shell('$0 -q -e "$1"', args, { ...others, HOME: home, XDG_CACHE_HOME: "relative" }).stdout, "1\n\n\n");
  assert.deepEqual(
    ["gone", "relative"].filter((name) => existsSync(`${folder.path}/${name}`)),
    [],
  );
});

test("without /proc, a message asks for it", { ...deadline }, () => {
  const bare = (args: string, script: string) =>
    shell(`unshare --mount sh -c 'umount -l /proc; exec $0 ${args} -e "$1"' sh "$1"`, [script]).stderr;
  assert.match(
    bare("-c uname", "begin { }"),
    /^strobe: cannot run a command without \/proc: mount -t proc proc \/proc$/m,
  );
  assert.match(bare("", "fentry:vfs_read { }"), /\n\/proc must be mounted: mount -t proc proc \/proc$/m);
});

describe("a program that was removed or replaced is probed as it runs", deadline, () => {
  // Two functions of one name, at places that differ.
  const source = (before: string, pause: string) => `
    #include <unistd.h>
    ${before}
    __attribute__((noinline)) int work(int x) { asm volatile(""); return x + 1; }
    int main(void) { int n = 0; for (int i = 0; i < 60000; i++) { n += work(i); ${pause} } return n == 0; }`;
  const others =
    "int first(int x) { return x * 3; } int second(int x) { return x / 7; } int third(int x) { return x % 11; }";
  for (const [name, line] of [
    ["removed", "rm"],
    ["replaced", "mv newer"],
  ] as const) {
    for (const probe of ["uprobe:$path:work", "uprobe:$link:work", "uprobe:daemon:work"]) {
      test(`${name}, ${probe}`, () => {
        const runs = temporaryFolder();
        try {
          const path = compileC(runs.path, "daemon", source("", "usleep(10000);"));
          compileC(runs.path, "newer", source(others, ""));
          symlinkSync(runs.path, `${runs.path}/link`);
          const where = probe.replace("$path", path).replace("$link", `${runs.path}/link/daemon`);
          const { stdout, stderr } = shell(
            `cd "$1" && { ./daemon & pid=$!; until [ "$(cat /proc/$pid/comm)" = daemon ]; do sleep 0.02; done; ${line} daemon; $0 -q -p $pid -e "$2"; kill $pid; wait; }`,
            [runs.path, `${where} { @[ustack(1)] = count(); if (@n++ == 5) { exit(); } }`],
          );
          assert.match(stdout, /^@\[\n {8}work\+0\n\]: \d+$/m, stderr);
        } finally {
          runs.remove();
        }
      });
    }
  }
});
