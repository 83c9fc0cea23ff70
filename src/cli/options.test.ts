import assert from "node:assert/strict";
import { test } from "node:test";
import { readOptions } from "./options.ts";

const usageError = (message: string) => ({ name: "UsageError", message });

test("short switches join, and a value may be attached or follow", () => {
  const options = readOptions(["-lv", "-ofile", "-p", "42", "tracepoint:*"]);
  assert.equal(options.list, true);
  assert.equal(options.verbose, true);
  assert.equal(options.output, "file");
  assert.equal(options.pid, 42);
  assert.deepEqual(options.words, ["tracepoint:*"]);
});

test("--debuginfo takes folders, and more of them", () => {
  assert.deepEqual(readOptions(["--debuginfo", "/bin/debug:./lib", "--debuginfo=..", "-e", "x"]).debuginfo, [
    "/bin/debug",
    "./lib",
    "..",
  ]);
  assert.equal(readOptions(["-e", "x"]).debuginfo, undefined);
});

test("--vmlinux takes a file", () => {
  assert.equal(readOptions(["--vmlinux", "debug/vmlinux", "-e", "x"]).vmlinux, "debug/vmlinux");
  assert.throws(() => readOptions(["-e", "x", "--vmlinux"]), /--vmlinux.* requires an argument/);
});

test("options may stand behind the script, and what follows -- is the script's", () => {
  const options = readOptions(["script.bt", "one", "-q", "--", "two", "--size=5", "--all"]);
  assert.deepEqual(options.words, ["script.bt", "one", "two"]);
  assert.equal(options.quiet, true);
  assert.deepEqual(
    [...options.named],
    [
      ["size", "5"],
      ["all", true],
    ],
  );
});

test("-f takes formats, each with a file of its own but for one", () => {
  const formats = (...words: readonly string[]): unknown[] =>
    readOptions([...words, "-e", "x"]).formats.map(({ format, file }) => [format.name, file]);
  assert.deepEqual(formats(), [["text", undefined]]);
  assert.deepEqual(formats("-fjson"), [["json", undefined]]);
  assert.deepEqual(formats("-f", "text", "-f", "json=a=b", "-f", "folded=c"), [
    ["text", undefined],
    ["json", "a=b"],
    ["folded", "c"],
  ]);
  const refused = (message: string, ...words: readonly string[]): void => {
    assert.throws(() => readOptions([...words, "-e", "x"]), usageError(message));
  };
  refused("-f json and -f folded have one output: write -f folded=FILE", "-f", "json", "-f", "folded");
  refused("-f json= needs a file", "-f", "json=");
  refused("-o takes a format's output, and each -f has a place of its own", "-o", "x", "-f", "json=y");
  refused(
    'invalid output format "yaml": -f takes one of text, dtrace, stap, json, folded, svg, speedscope, pprof, trace_marker, user_events, not "yaml"',
    "-f",
    "yaml=x",
  );
});

test("-d takes stages, or all of them", () => {
  assert.deepEqual(readOptions(["-d", "-e", "x"]).debug, ["all"]);
  assert.deepEqual(readOptions(["-d", "ir,asm", "-e", "x"]).debug, ["ir", "asm"]);
  assert.equal(readOptions(["-d", "-e", "x"]).execute, "x");
  for (const words of [["-d", "foo"], ["-dast,foo"], ["--debug=foo"]]) {
    assert.throws(
      () => readOptions([...words, "-e", "x"]),
      usageError('invalid option for -d: foo: -d takes one of tree, ir, asm, verifier, all, not "foo"'),
    );
  }
});

test("-I and --include may be given more than once", () => {
  const { headers } = readOptions(["-I", "dir", "-Iother", "--include=a.h", "--include", "b.h", "-e", "x"]);
  assert.deepEqual(headers, { folders: ["dir", "other"], files: ["a.h", "b.h"] });
});

test("bpftrace's options for what strobe does anyway have no effect", () => {
  const plain = readOptions(["-e", "x", "one"]);
  assert.deepEqual(readOptions(["--usdt-file-activation", "-e", "x", "--no-feature", "uprobe_multi", "one"]), plain);
  assert.throws(() => readOptions(["-e", "x", "--no-feature"]), /--no-feature.* requires an argument/);
  assert.throws(() => readOptions(["-e", "x", "--usdt-file-activation=1"]), /--usdt-file-activation takes no value/);
  assert.throws(
    () => readOptions(["--no-feature=uprobe_multi,foo"]),
    usageError('--no-feature takes one of kprobe_multi, kprobe_session, uprobe_multi, not "foo"'),
  );
  assert.throws(
    () => readOptions(["--dwarf-pid", "x"]),
    usageError("failed to parse pid: invalid integer: x (--dwarf-pid takes the number of a process)"),
  );
  assert.throws(
    () => readOptions(["--traceable-functions", "/missing"]),
    /--traceable-functions takes a file that can be read: ENOENT/,
  );
  assert.deepEqual(readOptions(["--traceable-functions", "/proc/version", "-e", "x", "one"]), plain);
});

test("-k asks for warnings, as does -kk of old scripts", () => {
  for (const words of [["-k"], ["-kk"], ["--warnings"]])
    assert.equal(readOptions([...words, "-e", "x"]).switches.warnings, true);
});

test("bpftrace's stages are known by its names", () => {
  assert.deepEqual(readOptions(["-d", "ast,codegen-opt,dis", "-d", "libbpf", "-e", "x"]).debug, [
    "tree",
    "ir",
    "asm",
    "verifier",
  ]);
});

test("a filter of probes is a regular expression", () => {
  assert.deepEqual(readOptions(["--probe-filter", "read$", "-e", "x"]).probeFilter, /read$/);
  assert.throws(() => readOptions(["--probe-filter=(", "-e", "x"]), /--probe-filter takes a regular expression: /);
});

test("bpftrace's options that strobe has no way to follow are refused with the reason", () => {
  assert.throws(
    () => readOptions(["--emit-elf", "out", "-e", "x"]),
    usageError("--emit-elf is not supported: strobe makes its programs in memory: -d asm shows them"),
  );
  assert.throws(() => readOptions(["--emit-llvm", "out", "-e", "x"]), /is not supported: /);
});

test("--mode is another way to say what is done", () => {
  const { suite, fmt } = readOptions(["--mode", "bench", "-e", "x"]);
  assert.deepEqual([suite, fmt], ["bench", false]);
  assert.equal(readOptions(["--mode=test", "-e", "x"]).suite, "test");
  assert.equal(readOptions(["--mode=format", "-e", "x"]).fmt, true);
  assert.throws(
    () => readOptions(["--mode=codegen"]),
    usageError('--mode takes one of test, bench, format, not "codegen"'),
  );
});

test("the start of a long option's name will do where it is only one's", () => {
  assert.equal(readOptions(["--verb", "-e", "x"]).verbose, true);
  assert.equal(readOptions(["--out=file", "-e", "x"]).output, "file");
  assert.throws(() => readOptions(["--no"]), usageError("--no may be --no-warnings or --no-feature"));
  assert.equal(readOptions(["--debug", "ir", "-e", "x"]).debug[0], "ir");
});

test("what makes no sense is said", () => {
  assert.throws(
    () => readOptions(["-p", "none"]),
    usageError(
      "failed to parse pid: invalid integer: none (-p takes numbers of processes and names of programs, and none of this name runs)",
    ),
  );
  for (const pid of ["0", "-1", "4194305", "99999999999"]) {
    assert.throws(
      () => readOptions(["-p", pid]),
      usageError(`pid out of range: ${pid} (processes have the numbers 1 to 4194304)`),
    );
  }
  assert.throws(() => readOptions(["--quite"]), /unrecognized option '--quite' \(did you mean --quiet\?\)/);
  assert.throws(
    () => readOptions(["--frobnicate"]),
    /unrecognized option '--frobnicate' \(the script's own parameters/,
  );
  assert.throws(() => readOptions(["-n", "x"]), /invalid option -- 'n' \(DTrace's -n PROGRAM is -e PROGRAM\)/);
  assert.throws(() => readOptions(["--uid=0"]), /unrecognized option '--uid' \(--user takes numbers of users, too\)/);
  assert.throws(
    () => readOptions(["-f", "xml"]),
    /-f takes one of text, dtrace, stap, json, folded, svg, speedscope, pprof, trace_marker, user_events, not "xml"/,
  );
  assert.throws(() => readOptions(["-e"]), /option requires an argument -- 'e'/);
});

test("--for takes a time, under other tracers' names as well", () => {
  const duration = (...argv: readonly string[]): number | undefined => readOptions(argv).duration;
  assert.equal(duration(), undefined);
  assert.deepEqual(
    ["10", "500ms", "1.5s", "2m", "1h"].map((text) => duration("--for", text)),
    [10_000, 500, 1500, 120_000, 3_600_000],
  );
  assert.equal(duration("--timeout=3"), 3000);
  assert.equal(duration("--duration", "3s"), 3000);
  for (const text of ["", "0", "-1s", "1d", "600h", "s"])
    assert.throws(() => duration(`--for=${text}`), /--for takes a time such as 500ms, 10s, 5m or 1h/);
});

test("a tool's own options need no lone -- before them", () => {
  const source = { name: "tool", text: "" };
  const tool = {
    source,
    options: [
      { name: "failed", takes: "truth", fallback: "false" },
      { name: "pid", takes: "number", fallback: "0" },
    ],
  } as const;
  const options = readOptions(["--failed", "--pid", "3", "-p", "4", "word"], tool);
  assert.deepEqual(
    [options.script, options.pid, options.words, [...options.named]],
    [
      source,
      4,
      ["word"],
      [
        ["failed", true],
        ["pid", "3"],
      ],
    ],
  );
  assert.deepEqual([...readOptions(["--pid=5"], tool).named], [["pid", "5"]]);
  assert.throws(() => readOptions(["--pid"], tool), /option '--pid' requires an argument/);
});
