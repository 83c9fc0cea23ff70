// --test and --bench: what a script says of itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bpfObjects, nothingLeft, strobe } from "../support/strobe.ts";

const script = [
  "fn twice($x: int64): int64 { return $x * 2; }",
  'begin { @setup = 1; print("begin"); }',
  'test:passes { print("unseen"); assert(twice(4) == 8, "twice"); }',
  'test:returns { print("seen"); return @setup; }',
  "test:leaves { if (@setup == 1) { exit(3); } return 1; }",
  'test:errs { errorf("wrong\\n"); }',
  'test:asserts { assert(twice(1) == 3, "three\\n"); }',
  "test:zero { return 0; }",
  "bench:adds { @n += 1; }",
  'bench:prints { printf("%d\\n", 1); }',
].join("\n");

const withoutTimes = (text: string): string[] =>
  text
    .replaceAll(/ \(\d+ μs\)/g, "")
    .trimEnd()
    .split("\n");

test("--test runs each test: probe and shows the output of those that fail", async () => {
  const before = bpfObjects();
  const { stdout, stderr, code } = await strobe(["--test", "-e", script]);
  assert.equal(stderr, "");
  assert.equal(code, 1);
  const output = withoutTimes(stdout).filter((line) => !["begin", "", "@setup: 1"].includes(line));
  assert.deepEqual(output, [
    "[==========] Running 6 tests.",
    "[ RUN      ] passes",
    "[       OK ] passes",
    "[ RUN      ] returns",
    "seen",
    "[  FAILED  ] returns",
    "[ RUN      ] leaves",
    "[       OK ] leaves",
    "[ RUN      ] errs",
    "-e:6:13-30: ERROR: wrong",
    "[  FAILED  ] errs",
    "[ RUN      ] asserts",
    "-e:7:16-48: ERROR: assert failed: three",
    "[  FAILED  ] asserts",
    "[ RUN      ] zero",
    "[       OK ] zero",
    "[==========] 6 tests ran.",
    "[  PASSED  ] 3 tests.",
    "[  FAILED  ] 3 tests, listed below:",
    "[  FAILED  ] returns",
    "[  FAILED  ] errs",
    "[  FAILED  ] asserts",
  ]);
  await nothingLeft(before);
});

test("--test ends well when all tests do, and --probe-filter chooses among them", async () => {
  const { stdout, code } = await strobe(["--test", "--probe-filter", "zero|passes", "-e", script]);
  assert.equal(code, 0);
  assert.deepEqual(withoutTimes(stdout).slice(-2), ["[==========] 2 tests ran.", "[  PASSED  ] 2 tests."]);
});

test("a test that does not compile fails", async () => {
  const { stdout, code } = await strobe(["--test", "-e", "test:broken { nothing(); }"]);
  assert.equal(code, 1);
  assert.match(stdout, /^-e:1:15: error: unknown function: 'nothing'$/m);
});

test("--bench tells what a run of each bench: probe takes", async () => {
  const { stdout, stderr, code } = await strobe(["--bench", "-e", script]);
  assert.equal(code, 0, stderr);
  const [head, line, ...rows] = stdout.trimEnd().split("\n");
  assert.equal(head, `Benchmark${" ".repeat(32)}Time(ns)${" ".repeat(7)}Iterations`);
  assert.equal(line, "-".repeat(66));
  const found = rows.map((row) => row.split(/ +/));
  assert.deepEqual(
    found.map(([name]) => name),
    ["adds", "prints"],
  );
  for (const [, time, runs] of found) {
    assert.ok(Number(time) > 0, stdout);
    assert.ok(Number(runs) > 0, stdout);
  }
});

test("tests and measurements in JSON, a line each", async () => {
  const tests = await strobe([
    "--mode",
    "test",
    "-f",
    "json",
    "-e",
    'test:good { print("kept"); } test:bad { print(5); return 1; }',
  ]);
  const told = tests.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; data: Record<string, { duration?: number }> });
  for (const { data } of told)
    for (const result of Object.values(data)) {
      assert.ok(result.duration! > 0);
      delete result.duration;
    }
  assert.deepEqual(
    [tests.code, told],
    [
      1,
      [
        { type: "test_result", data: { good: { passed: true, output: "kept\n" } } },
        { type: "test_result", data: { bad: { passed: false, output: "5\n" } } },
      ],
    ],
  );
  const benches = await strobe(["--mode", "bench", "-f", "json", "-e", "bench:one { @ = count(); }"]);
  assert.match(benches.stdout, /^\{"type":"benchmark_result","data":\{"one":\{"average":\d+,"iters":\d+\}\}\}\n$/);
});

test("in a trace neither is there", async () => {
  const { stdout, code } = await strobe(["-q", "-e", `${script}\nbegin { clear(@setup); exit(); }`]);
  assert.equal(code, 0);
  assert.equal(stdout.trim(), "begin");
});
