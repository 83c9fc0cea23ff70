import assert from "node:assert/strict";
import { test } from "node:test";
import { readOptions, UsageError } from "./options.ts";

test("short switches join, and a value may be attached or follow", () => {
  const options = readOptions(["-lv", "-ofile", "-p", "42", "tracepoint:*"]);
  assert.equal(options.list, true);
  assert.equal(options.verbose, true);
  assert.equal(options.output, "file");
  assert.equal(options.pid, 42);
  assert.deepEqual(options.words, ["tracepoint:*"]);
});

test("--debuginfo takes folders, and more of them", () => {
  assert.deepEqual(readOptions(["--debuginfo", "/bin/debug:./lib", "--debuginfo=..", "-e", "x"]).debuginfo, ["/bin/debug", "./lib", ".."]);
  assert.deepEqual(readOptions(["-e", "x"]).debuginfo, []);
});

test("--vmlinux takes a file", () => {
  assert.equal(readOptions(["--vmlinux", "debug/vmlinux", "-e", "x"]).vmlinux, "debug/vmlinux");
  assert.throws(() => readOptions(["-e", "x", "--vmlinux"]), /--vmlinux needs a value/);
});

test("options may stand behind the script, and what follows -- is the script's", () => {
  const options = readOptions(["script.bt", "one", "-q", "--", "two", "--size=5", "--all"]);
  assert.deepEqual(options.words, ["script.bt", "one", "two"]);
  assert.equal(options.quiet, true);
  assert.deepEqual([...options.named], [["size", "5"], ["all", true]]);
});

test("-d takes stages, or all of them", () => {
  assert.deepEqual(readOptions(["-d", "-e", "x"]).debug, ["all"]);
  assert.deepEqual(readOptions(["-d", "ir,asm", "-e", "x"]).debug, ["ir", "asm"]);
  assert.equal(readOptions(["-d", "-e", "x"]).execute, "x");
});

test("-I and --include may be given more than once", () => {
  const { headers } = readOptions(["-I", "dir", "-Iother", "--include=a.h", "--include", "b.h", "-e", "x"]);
  assert.deepEqual(headers, { folders: ["dir", "other"], files: ["a.h", "b.h"] });
});

test("bpftrace's options for what strobe does anyway have no effect", () => {
  const plain = readOptions(["-e", "x", "one"]);
  assert.deepEqual(readOptions(["--usdt-file-activation", "-e", "x", "--no-feature", "uprobe_multi", "one"]), plain);
  assert.throws(() => readOptions(["-e", "x", "--no-feature"]), /--no-feature needs a value/);
});

test("-k asks for warnings, as does -kk of old scripts", () => {
  for (const words of [["-k"], ["-kk"], ["--warnings"]]) assert.equal(readOptions([...words, "-e", "x"]).warnings, true);
});

test("bpftrace's stages are known by its names", () => {
  assert.deepEqual(readOptions(["-d", "ast,codegen-opt,dis", "-d", "libbpf", "-e", "x"]).debug, ["tree", "ir", "asm", "verifier"]);
});

test("a filter of probes is a regular expression", () => {
  assert.deepEqual(readOptions(["--probe-filter", "read$", "-e", "x"]).probeFilter, /read$/);
  assert.throws(() => readOptions(["--probe-filter=(", "-e", "x"]), /--probe-filter takes a regular expression: /);
});

test("bpftrace's options that strobe has no way to follow are refused with the reason", () => {
  assert.throws(() => readOptions(["--emit-elf", "out", "-e", "x"]), new UsageError("--emit-elf is not supported: strobe makes its programs in memory: -d asm shows them"));
  for (const option of ["--emit-llvm", "--mode=bench"]) assert.throws(() => readOptions([option, "-e", "x"]), /is not supported: /);
});

test("what makes no sense is said", () => {
  assert.throws(() => readOptions(["-p", "none"]), new UsageError("-p takes the number of a process, not \"none\""));
  assert.throws(() => readOptions(["--quite"]), /unknown option --quite/);
  assert.throws(() => readOptions(["-f", "xml"]), /-f takes one of text, json, folded, not "xml"/);
  assert.throws(() => readOptions(["-e"]), /-e needs a value/);
});
