// What tools read of bpftrace's output is in the same form here: compared with bpftrace 0.27.1's on the same scripts.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const skip =
  process.geteuid?.() !== 0 ? "needs root" : spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;
const folder = temporaryFolder();
after(() => folder.remove());

test("widths of literals and tuples, numbers without a name, hexadecimal of negative numbers", { skip }, async () => {
  const { stdout } = await strobe([
    "-q",
    "-e",
    `begin { printf("%s|%s|%d %d %d %d\\n", signal_name(1024), signal_name(9), sizeof((1, (int8)2)), sizeof(1), sizeof("abc"), sizeof((int32)1));
       printf("%x %x\\n", -1, (int8)-1); exit(); }`,
  ]);
  assert.equal(stdout.trimEnd(), "N/A|Killed|2 1 4 4\nffffffff ffffffff");
});

test("arguments of a function, as its source writes them; floating-point members", { skip }, async () => {
  const path = compileC(
    folder.path,
    "taker",
    `struct S { float f; int *n; const char *name; double d[2]; unsigned bits : 3; } s = { 1.5f, 0, 0, { 1, 2.25 }, 5 };
     __attribute__((noinline)) int take(struct S *s, const char *t, int *n) { __asm__ volatile("" :: "r"(s), "r"(t) : "memory"); return s->n != n; }
     int main(void) { return take(&s, "abc", 0); }`,
    ["-O1", "-g"],
  );
  const { stdout } = await strobe(["-lv", `uprobe:${path}:take`]);
  assert.deepEqual(stdout.split("\n").slice(0, 4), [
    `uprobe:${path}:take`,
    "    struct S* s",
    "    const char* t",
    "    int* n",
  ]);
  const printed = await strobe(["-q", "-c", path, "-e", `uprobe:${path}:take { print(*args.s); }`]);
  assert.equal(printed.stdout.trim(), "{ .f = 1.5, .n = 0x0, .name = 0x0, .d = [1,2.25], .bits = 5 }");
});

test("measurements, as a table and in JSON", { skip }, async () => {
  const script = "bench:one { @ = count(); }";
  const { stdout } = await strobe(["--mode", "bench", "-e", script]);
  const [head, line, row] = stdout.split("\n");
  assert.equal(head, `Benchmark${" ".repeat(32)}Time(ns)${" ".repeat(7)}Iterations`);
  assert.equal(line, "-".repeat(66));
  assert.match(row, /^one {38}\d+ +\d+$/);
  const json = await strobe(["--mode", "bench", "-f", "json", "-e", script]);
  assert.match(json.stdout, /^\{"type":"benchmark_result","data":\{"one":\{"average":\d+,"iters":\d+\}\}\}\n$/);
});

test("a helper that fails, in JSON", { skip }, async () => {
  const script = "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @ = *(uint64 *)1; }";
  const path = compileC(folder.path, "asks", "#include <unistd.h>\nint main(void) { return getppid() < 0; }", []);
  const { stdout } = await strobe(["-q", "-k", "-f", "json", "-c", path, "-e", script]);
  const [line = ""] = stdout.split("\n").filter((text) => text.includes("helper_error"));
  const { col, count, ...rest } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual(rest, {
    type: "helper_error",
    msg: "Bad address",
    helper: "probe_read_user",
    retcode: -14,
    filename: "-e",
    line: 1,
  });
  assert.deepEqual([typeof col, count], ["number", 1]);
});

test("-c takes quotes as a shell does", { skip }, async () => {
  const { stdout } = await strobe(["-q", "-c", `/bin/echo "a  b" 'c d' e\\ f`, "-e", "begin { }"]);
  assert.equal(stdout.trim(), "a  b c d e f");
});
