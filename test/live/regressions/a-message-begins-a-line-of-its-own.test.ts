// Text of begin without a newline is not glued to the message behind it where both are read from one place, and is left
// as it is where they are not.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { command, strobe } from "../../support/strobe.ts";

const script = 'begin { printf("loading"); } interval:ms:50 { printf("x"); warnf("y"); printf("z\\n"); exit(); }';

test("into one pipe", () => {
  const { stdout } = spawnSync("/bin/sh", ["-c", 'exec "$0" "$@" 2>&1', process.execPath, command, "-e", script], {
    encoding: "utf8",
    timeout: 300_000,
  });
  assert.match(stdout, /^loading\nAttached 2 probes\nx\n(?:-e:1:\d+-\d+: )?WARNING: y\nz\n\n\n$/);
});

test("into two", async () => {
  const { stdout, stderr } = await strobe(["-e", script]);
  assert.equal(stdout, "loadingxz\n\n\n");
  assert.match(stderr, /^Attached 2 probes\n(?:-e:1:\d+-\d+: )?WARNING: y\n$/);
});
