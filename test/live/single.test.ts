// The command as one file: built, and run where there is no Node, nothing installed and no environment.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const single = join(folder.path, "strobe");
let objects = "";

before(() => {
  objects = bpfObjects();
  const built = spawnSync(process.execPath, ["single/build.mjs", single], { encoding: "utf8", timeout: 300_000 });
  assert.equal(built.status, 0, built.stderr);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

function run(...args: string[]): { stdout: string; stderr: string; status: number | null } {
  const { stdout, stderr, status } = spawnSync(single, args, {
    encoding: "utf8",
    cwd: folder.path,
    env: {},
    timeout: 300_000,
  });
  return { stdout, stderr, status };
}

test("it traces", () => {
  const program = compileC(
    folder.path,
    "calls",
    "__attribute__((noinline)) int half(int x) { return x / 2; } int main(void) { int s = 0; for (int i = 0; i < 50; i++) s += half(i); return s & 0; }",
    ["-O0"],
  );
  assert.deepEqual(run("-q", "-c", program, "-e", `uprobe:${program}:half { @sum = sum(arg0); @calls = count(); }`), {
    stdout: "\n\n@calls: 50\n@sum: 1225\n",
    stderr: "",
    status: 0,
  });
});

test("the instruction decoder is in it", () => {
  const { stderr, status } = run("-e", `uprobe:${join(folder.path, "calls")}:half+2 { }`);
  assert.equal(status, 1);
  assert.match(stderr, /is inside an instruction/);
});

test("options, mistakes and listings are the command's", () => {
  assert.deepEqual(run("-l", "tracepoint:sched:sched_switch"), {
    stdout: "tracepoint:sched:sched_switch\n",
    stderr: "",
    status: 0,
  });
  assert.match(run("-e", "begin { print(pidd) }").stderr, /did you mean `pid`\?/);
});

test("what is not in it says where it is", () => {
  const { stderr, status } = run("lsp");
  assert.equal(status, 1);
  assert.match(stderr, /not part of strobe as a single file: install strobe with npm/);
});

test("it leaves no file behind", () => {
  assert.deepEqual(readdirSync(folder.path).sort(), ["calls", "calls.c", "strobe"]);
});
