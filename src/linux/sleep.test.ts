import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { sleepInThread } from "./sleep.ts";

test("sleeping takes its time, and nothing else happens meanwhile", () => {
  let ticked = false;
  setImmediate(() => { ticked = true; });
  for (const milliseconds of [2.5, 30, 1020]) {
    const before = performance.now();
    assert.equal(sleepInThread(milliseconds), true);
    assert.ok(performance.now() - before >= milliseconds);
  }
  assert.equal(ticked, false);
});

test("a signal ends it early", { timeout: 20_000 }, async () => {
  const heard = once(process, "SIGUSR2");
  const child = spawn("sh", ["-c", `sleep 0.3; kill -USR2 ${process.pid}`]);
  await once(child, "spawn");
  const before = performance.now();
  assert.equal(sleepInThread(10_000), false);
  assert.ok(performance.now() - before < 9000);
  await heard;
  if (child.exitCode === null) await once(child, "exit");
});
