// `strobe check` of programs with probes: nothing of them runs, what is wrong is said where it is written, and so is what
// only the running program knows.
import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

async function checked(
  name: string,
  text: string,
  ...options: string[]
): Promise<{ lines: string[]; code: number | null }> {
  const file = join(folder.path, name);
  writeFileSync(file, text);
  const { stdout, stderr, code } = await strobe(["check", ...options, file]);
  assert.equal(stdout, "");
  return { lines: stderr.replaceAll(file, name).trimEnd().split("\n"), code };
}

const program = (body: string): string =>
  `import { writeFileSync } from "node:fs";
import { begin, comm, interval, map, pid, trace, tracepoint } from "strobe";
writeFileSync(${JSON.stringify(join(folder.path, "ran"))}, "");
const reads = map<string, "count">();
${body}
`;

test("a program without mistakes is right, and is not run", async () => {
  const text = program(`const least: number = Number(process.argv[2]) * 1000;
const own = process.pid;
const [first, second] = [3, "abc"];
function large(n: number): boolean {
  return n > least + first;
}
await trace(
  tracepoint("syscalls:sys_enter_read", {
    filter: () => pid === own,
    handler: ({ count }) => {
      if (large(count) && comm !== second) reads.at(comm).count();
    },
  }),
  { pid: process.pid },
);`);
  assert.deepEqual(await checked("right.ts", text), { lines: [""], code: 0 });
  assert.equal(existsSync(join(folder.path, "ran")), false);
});

test("mistakes of handlers, names, functions they call, constructors and scripts are told where they are", async () => {
  const text = program(`function large(n: number): boolean {
  return n > "a";
}
const probes = [
  tracepoint("syscalls:sys_enter_read", ({ coun }) => {
    if (coun > 1) reads.at(comm).count();
  }),
  tracepoint("syscalls:sys_exit_reed", () => reads.at(comm).count()),
];
await trace(...probes, { pid: 1 });
await trace(tracepoint("syscalls:sys_exit_read", ({ ret }) => { if (large(ret)) reads.at(comm).count(); }));
await trace(\`tracepoint:sched:sched_swich /pid == \${process.pid}/ { }\`);
await trace(interval("1z", () => {}));`);
  const { lines, code } = await checked("wrong.ts", text);
  assert.equal(code, 1);
  const told = lines.filter((line) => line.startsWith("wrong.ts:") || line.startsWith("help: "));
  assert.deepEqual(told, [
    'wrong.ts:17: strobe: interval() takes a rate such as "99hz", "10ms" or "1s", got "1z"',
    "wrong.ts:9:44: error: tracepoint:syscalls:sys_enter_read has no argument `coun`",
    "help: did you mean `count`?",
    "wrong.ts:12:24: error: no matches for tracepoint syscalls:sys_exit_reed",
    "help: did you mean `sys_exit_read`, `sys_exit_tee` or `sys_exit_rseq`?",
    "wrong.ts:6:10: error: type mismatch for '>': comparing int64 with string[2]",
    "wrong.ts:16:1:1: error: no matches for tracepoint sched:sched_swich",
    "help: did you mean `sched_switch`?",
  ]);
});

test("what only the running program knows is said, and the rest is checked", async () => {
  const text = program(`const named = process.argv[3];
const usual = process.argv[4] ?? "cat";
await trace(tracepoint(\`syscalls:sys_enter_\${named}\`, () => reads.at(comm).count()));
await trace(tracepoint("syscalls:sys_enter_read", () => { if (comm === named) reads.at(comm).count(); }));
await trace(tracepoint("syscalls:sys_enter_read", () => { if (comm === usual) reads.at(comm).count(); }));
export function counted(): void {
  reads.at(comm).count();
}
begin(() => reads.at(com).count());`);
  const { lines, code } = await checked("unknown.ts", text);
  assert.equal(code, 1);
  assert.deepEqual(
    lines.filter((line) => line.startsWith("unknown.ts:")),
    [
      "unknown.ts:13:22: error: there is no `com`",
      "unknown.ts:7: not checked: the probe's name is known to the running program alone",
      "unknown.ts:8: not checked: `named` is known to the running program alone",
      "unknown.ts:10: not checked: no probe of this file is known to run it",
    ],
  );
  const quiet = await checked("quiet.ts", program("begin(() => reads.at(process.argv[2]).count());"), "-q");
  assert.deepEqual([quiet.code, quiet.lines.filter((line) => line.includes("not checked"))], [1, []]);
});

test("JavaScript, CommonJS, and what does not parse", async () => {
  const script = 'const strobe = require("strobe");\nstrobe.trace(strobe.begin(() => strobe.print(strobe.pidd)));\n';
  assert.equal((await checked("common.cjs", script)).code, 1);
  assert.deepEqual(await checked("common.cjs", script.replace("pidd", "pid")), { lines: [""], code: 0 });
  assert.deepEqual(await checked("broken.js", "const x = ;"), {
    lines: ["strobe: broken.js does not parse: node --check broken.js says where"],
    code: 1,
  });
  assert.match((await checked("broken.ts", "const x: = 3;")).lines[0], /^broken\.ts:1:10: error: /);
  const absent = await strobe(["check", "absent.ts"]);
  assert.deepEqual([absent.stderr, absent.code], ["strobe: failed to open file 'absent.ts': no such file\n", 1]);
});

test("the examples and the tools in TypeScript have no mistakes", async () => {
  const files = ["examples", "tools"].flatMap((name) =>
    readdirSync(name)
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(name, file)),
  );
  assert.ok(files.length >= 8);
  const { stderr, code } = await strobe(["check", ...files]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    stderr.split("\n").filter((line) => line !== "" && !/^\S+\.ts:\d+: not checked: /.test(line)),
    [],
  );
});
