// Probes and listings as bpftrace has them: execution watched at any address and with any length, structs of a process
// as keys, debugf(), listings of a process, over kinds of probes, with arguments.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
let program = "";

before(() => {
  program = compileC(
    folder.path,
    "program",
    `
    struct pair { int x; short y; float f; double d; };
    __attribute__((noinline)) int odd(const struct pair *p, const char *const name, unsigned long n) { __asm__ volatile ("" :: "r"(p), "r"(name) : "memory"); return p->x + (int)n; }
    int main(void) {
      struct pair pairs[3] = { { 1, 2, 1.5, -2.25 }, { 3, 4, 1.5, -2.25 }, { 1, 2, 1.5, -2.25 } };
      int sum = 0;
      for (int i = 0; i < 3; i++) sum += odd(&pairs[i], "x", i);
      return sum == 0;
    }`,
    ["-O1", "-g", "-no-pie", "-falign-functions=1"],
  );
});
after(() => folder.remove());

const run = (...args: readonly string[]) => strobe(["-q", ...args], { cwd: folder.path });

test("structs of a process are keys by what is in them", async () => {
  const { stdout, stderr } = await run(
    "-e",
    `uprobe:${program}:odd { @[*args.p] = count(); @n[*args.p, arg2 > 0] = count(); }`,
    "-c",
    program,
  );
  assert.equal(stderr, "");
  const [one, two] = ["{ .x = 1, .y = 2, .f = 1.5, .d = -2.25 }", "{ .x = 3, .y = 4, .f = 1.5, .d = -2.25 }"];
  assert.deepEqual(
    stdout.trim().split("\n").sort(),
    [`@[${one}]: 2`, `@[${two}]: 1`, `@n[${one}, false]: 1`, `@n[${one}, true]: 1`, `@n[${two}, true]: 1`].sort(),
  );
});

test("members that a script declares as floating-point numbers are shown", async () => {
  const script = `struct mine { int x; short y; float f; double d; }; uprobe:${program}:odd { $p = (struct mine *)arg0; print(($p.f, $p.d)); exit(); }`;
  assert.equal((await run("-e", script, "-c", program)).stdout, "(1.5, -2.25)\n\n\n");
});

test("execution is watched at any address, whatever length is given", async () => {
  const address = /^([0-9a-f]+) \w odd$/m.exec(spawnSync("nm", [program], { encoding: "utf8" }).stdout)?.[1];
  for (const length of [1, 2, 4, 8]) {
    const { stdout, stderr } = await run("-e", `watchpoint:0x${address}:${length}:x { @ = count(); }`, "-c", program);
    assert.deepEqual([stdout, stderr], ["\n\n@: 3\n", ""]);
  }
});

test("debugf() prints into the kernel's trace", async (t) => {
  // It is one for all, and anybody may have turned it off.
  if (readFileSync("/sys/kernel/tracing/tracing_on", "latin1").trim() !== "1")
    return t.skip("the kernel's trace is turned off");
  const mark = `strobe-${process.pid}`;
  const { stderr, code } = await run(
    "--no-warnings",
    "-e",
    `begin { debugf("${mark} %d %s %x|%c", -5, "text", 255, 65); exit(); }`,
  );
  assert.deepEqual([stderr, code], ["", 0]);
  assert.ok(readFileSync("/sys/kernel/tracing/trace", "utf8").includes(`bpf_trace_printk: ${mark} -5 text ff|A`));
});

const listed = async (...args: readonly string[]): Promise<string[]> =>
  (await strobe([...args], { cwd: folder.path })).stdout.trimEnd().split("\n");

test("listings tell arguments as bpftrace spells them", async () => {
  assert.deepEqual((await listed("-lv", `uprobe:${program}:odd`)).slice(0, 4), [
    `uprobe:${program}:odd`,
    "    const struct pair* p",
    "    const char* const name",
    "    long unsigned int n",
  ]);
  assert.deepEqual(await listed("-lv", "kprobe:vfs_read"), [
    "kprobe:vfs_read",
    "    struct file * file",
    "    char * buf",
    "    size_t count",
    "    loff_t * pos",
  ]);
  assert.deepEqual(await listed("-lv", "kretprobe:vfs_read"), ["kretprobe:vfs_read", "    ssize_t retval"]);
});

test("listings go over kinds of probes, and into a process", async () => {
  assert.ok((await listed("-l", "*:./program:*")).includes("uprobe:./program:odd"));
  assert.deepEqual(await listed("-l", "u*:./program:od?"), ["uprobe:./program:odd"]);
  const mine = await listed("-l", "-p", String(process.pid), "*:*:malloc");
  assert.ok(
    mine.some((probe) => /^uprobe:.*\/libc\.so\.6:malloc$/.test(probe)),
    mine.join("\n"),
  );
  assert.ok(
    mine.every((probe) => probe.endsWith("malloc")),
    mine.join("\n"),
  );
});

test("listings say which file is not there", async () => {
  writeFileSync(join(folder.path, "text"), "no program");
  for (const [pattern, said] of [
    ["none.bt", "strobe: it appears that 'none.bt' is a filename but the file does not exist\n"],
    ["./none", "strobe: it appears that './none' is a filename but the file does not exist\n"],
    [
      "uprobe:/none/there",
      "strobe: target file '/none/there' does not exist or is not executable\ngive a path, or a name that the shell or the loader finds\n",
    ],
    [
      "uprobe:/none/there:*",
      "strobe: target file '/none/there' does not exist or is not executable\ngive a path, or a name that the shell or the loader finds\n",
    ],
  ]) {
    assert.deepEqual(await strobe(["-l", pattern], { cwd: folder.path }), {
      stdout: "",
      stderr: said,
      code: 1,
      signal: null,
    });
  }
});

test("a file of bare code is probed with --unsafe", async () => {
  const code = join(folder.path, "code");
  // 16 nops; lea 1(%rdi), %eax; ret
  writeFileSync(
    code,
    Buffer.concat([Buffer.alloc(16, 0x90), Buffer.from([0x8d, 0x47, 0x01, 0xc3]), Buffer.alloc(4000, 0x90)]),
  );
  const runner = compileC(
    folder.path,
    "runner",
    `
    #include <fcntl.h>
    #include <sys/mman.h>
    int main(int argc, char **argv) {
      int (*f)(int) = (void *)((char *)mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(argv[1], O_RDONLY), 0) + 16);
      int sum = 0;
      for (int i = 0; i < 4; i++) sum += f(i);
      return sum == 0;
    }`,
  );
  const script = `uprobe:${code}:0x10 { @arguments = sum(arg0); } uretprobe:${code}:16 { @results = sum(retval); }`;
  const { stdout, stderr } = await strobe(["-q", "--unsafe", "-e", script, "-c", `${runner} ${code}`]);
  assert.deepEqual([stdout, stderr], ["\n\n@arguments: 6\n@results: 10\n", ""]);
  const warned = await strobe(["--unsafe", "-e", `begin { exit(); } ${script}`]);
  assert.match(
    warned.stderr,
    /warning: could not determine instruction boundary for uprobe:\S+:0x10: the file is no ELF file/,
  );
  const refused = await strobe(["-e", script]);
  assert.match(refused.stderr, /is no program and no library \(ELF\)\n[^]*an offset can be probed with --unsafe/);
});

test(
  "a header that there is not is said",
  { skip: existsSync("/usr/include/stdio.h") ? false : "no headers of programs are installed" },
  async () => {
    const said = await strobe(["-e", "#include <nope/none.h>\nbegin { exit(); }"]);
    assert.deepEqual(
      [said.code, said.stderr],
      [
        1,
        "-e:1:1: error: 'nope/none.h' file not found\n 1 │ #include <nope/none.h>\n   │ ^^^^^^^^^^^^^^^^^^^^^^\nhelp: -I names the folder that it is in\n",
      ],
    );
    const there = await strobe([
      "-q",
      "-e",
      "#include <linux/sched.h>\n#include <net/sock.h>\n#include <stdio.h>\n#include <stddef.h>\n#include <sys/types.h>\nbegin { print(1); exit(); }",
    ]);
    assert.deepEqual([there.stdout, there.stderr], ["1\n\n\n", ""]);
  },
);
