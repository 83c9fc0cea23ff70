// examples/first-hour.sh, as it stands: it compares each answer with what the traced command says of itself.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, command, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";
before(() => {
  objects = bpfObjects();
  const wrapper = join(folder.path, "strobe");
  writeFileSync(wrapper, `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`);
  chmodSync(wrapper, 0o755);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

test("the first hour", () => {
  const { stdout, stderr, status } = spawnSync("sh", ["examples/first-hour.sh"], {
    encoding: "utf8",
    env: { ...process.env, PATH: `${folder.path}:${process.env["PATH"]}`, LC_ALL: "C" },
    timeout: 300_000,
  });
  assert.deepEqual([status, stderr], [0, ""], stdout);
  const checks = readFileSync("examples/first-hour.sh", "utf8").match(/^(?:is|has) /gm)!.length;
  const lines = stdout.trimEnd().split("\n");
  assert.equal(lines.pop(), "done");
  assert.ok(
    lines.every((line) => line.startsWith("ok: ")),
    stdout,
  );
  assert.equal(lines.length, checks);
});
