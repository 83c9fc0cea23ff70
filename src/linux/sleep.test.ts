import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sleepInThread } from "./sleep.ts";

test("sleeping takes its time, and nothing else happens meanwhile", () => {
  let ticked = false;
  void setImmediate().then(() => { ticked = true; });
  for (const milliseconds of [2.5, 30, 1020]) {
    const before = performance.now();
    assert.equal(sleepInThread(milliseconds), true);
    assert.ok(performance.now() - before >= milliseconds);
  }
  assert.equal(ticked, false);
});

test("a signal ends it early", { timeout: 30_000 }, async () => {
  let heard = 0;
  const count = (): void => { heard++; };
  process.on("SIGUSR2", count);
  // Again and again: the first may come before the sleep on a busy machine.
  const child = spawn("sh", ["-c", `while sleep 0.2; do kill -USR2 ${process.pid}; done`]);
  await once(child, "spawn");
  const before = performance.now();
  assert.equal(sleepInThread(20_000), false);
  assert.ok(performance.now() - before < 19_000);
  child.kill();
  await once(child, "exit");
  await setImmediate();
  process.off("SIGUSR2", count);
  assert.ok(heard > 0);
});
