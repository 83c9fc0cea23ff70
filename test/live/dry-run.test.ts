// `strobe run --dry-run`: what a program would attach is said, and nothing is attached.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const file = join(folder.path, "program.ts");
let objects = "";
before(() => {
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

test("each handler with its probes and their places, of all traces that begin together", async () => {
  const functions =
    "__attribute__((noinline)) int one_a(void) { return 1; } __attribute__((noinline)) int one_b(void) { return 2; }";
  const program = compileC(folder.path, "two", `${functions} int main(void) { return one_a() + one_b() - 3; }`, [
    "-O0",
  ]);
  writeFileSync(
    file,
    `import { begin, print, trace, tracepoint, uprobe } from "strobe";
console.log("before", process.argv[2]);
const both = [
  trace(
    tracepoint("sched:sched_switch", () => print(1)),
    uprobe("${program}", "one_*", () => print(2)),
    begin(() => print(3)),
  ),
  trace("tracepoint:sched:sched_wakeup { print(4); }", { name: "text" }),
];
await both[0];
console.log("behind");
`,
  );
  const { stdout, stderr, code } = await strobe(["run", "--dry-run", file, "argument"]);
  assert.deepEqual([stderr, code], ["", 0]);
  const [first, ...lines] = stdout.trimEnd().split("\n");
  assert.equal(first, "before argument");
  const expected = [
    `${file}:5: tracepoint:sched:sched_switch`,
    `${file}:6: uprobe:${program}:one_*`,
    `  uprobe:${program}:one_a`,
    `  uprobe:${program}:one_b`,
    `${file}:7: begin`,
    "text:1: tracepoint:sched:sched_wakeup",
  ];
  // Which of the traces is compiled first is Node's affair.
  assert.deepEqual(lines.sort(), expected.sort());
});

test("mistakes are said as without it", async () => {
  writeFileSync(
    file,
    'import { trace, tracepoint } from "strobe";\nawait trace(tracepoint("sched:sched_swich", () => {}));\n',
  );
  const { stdout, stderr, code } = await strobe(["run", "--dry-run", file]);
  assert.deepEqual([stdout, code], ["", 1]);
  assert.match(stderr, /program\.ts:2:.*sched_swich/);
});
