// Tools by their names, from any folder; --for; strobe check.
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());
const file = (name: string, text: string): string => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
};

test("strobe tools names every tool, with its question", async () => {
  const { stdout, code } = await strobe(["tools"]);
  assert.equal(code, 0);
  const names = readdirSync("tools").flatMap((name) => /^(.+)\.(?:bt|ts)$/.exec(name)?.[1] ?? []);
  assert.deepEqual(
    stdout
      .split("\n\n")[0]
      .split("\n")
      .map((line) => /^([a-z-]+) {2,}[^ ].*[?.]$/.exec(line)?.[1]),
    names.sort(),
  );
});

test("a tool's --help shows its comment and its options", async () => {
  const { stdout, code } = await strobe(["opens", "--help"]);
  assert.equal(code, 0);
  assert.match(stdout, /^opens: which files are opened/);
  assert.match(stdout, /^ {2}strobe opens --failed {2,}only those that fail$/m);
  assert.match(stdout, /^ {2}--failed {2,}only opens that fail$/m);
});

test("a tool runs from any folder, with its own options, and no file there takes its place", async () => {
  file("opens", 'begin { printf("the wrong script\\n"); exit(); }');
  const missing = join(folder.path, "missing");
  const { stdout, code } = await strobe(["opens", "-q", "--failed", "-c", `cat ${missing}`], {
    cwd: folder.path,
  });
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /wrong script/);
  assert.match(stdout, new RegExp(`cat +-1 +2 ${missing}$`, "m"));
});

test("options may stand before the name of a tool or a subcommand", async () => {
  const missing = join(folder.path, "missing");
  const tool = await strobe(["-q", "-c", `cat ${missing}`, "opens", "--failed"]);
  assert.equal(tool.code, 0, tool.stderr);
  assert.match(tool.stdout, new RegExp(`cat +-1 +2 ${missing}$`, "m"));
  const program = file("one.ts", 'import { begin, trace } from "strobe"; await trace(begin(() => {}));');
  const dry = await strobe(["--dry-run", "run", program]);
  assert.deepEqual([dry.code, dry.stdout], [0, `${program}:1: begin\n`], dry.stderr);
  // An option may need another one behind the name.
  const followed = await strobe(["-q", "--follow", "opens", "--failed", "-c", `sh -c 'cat ${missing}; :'`]);
  assert.match(followed.stdout, new RegExp(`cat +-1 +2 ${missing}$`, "m"), followed.stderr);
  // Values of options, and words behind a script, are none.
  const other = await strobe(["-q", "--comm", "opens", "-e", 'begin { printf("%s\\n", str($1)); exit(); }', "opens"]);
  assert.deepEqual([other.code, other.stdout.trim()], [0, "opens"], other.stderr);
});

test("--for ends a script after that time", async () => {
  const { stdout, code } = await strobe(
    ["-q", "--for", "300ms", "-e", 'interval:ms:50 { @n++; } end { printf("%d\\n", @n > 1 && @n < 60); clear(@n); }'],
    {
      deadline: 60_000,
    },
  );
  assert.deepEqual([stdout.trim(), code], ["1", 0]);
});

test("strobe check says what is wrong with each script, and runs none", async () => {
  const good = file("good.bt", 'begin { printf("it runs\\n"); exit(); }');
  const bad = file("bad.bt", "begin { @x = foo(); }");
  const worse = file("worse.bt", "begin {");
  assert.deepEqual(await strobe(["check", good]), { stdout: "", stderr: "", code: 0, signal: null });
  const { stdout, stderr, code } = await strobe(["check", bad, good, worse]);
  assert.deepEqual([stdout, code], ["", 1]);
  assert.match(stderr, /bad\.bt:1:14: error: unknown function: 'foo'/);
  assert.match(stderr, /worse\.bt:1:7: error: /);
  const given = file("given.bt", "begin { print($1); exit(); }");
  assert.equal((await strobe(["check", given, "--", "7"])).code, 0);
});
