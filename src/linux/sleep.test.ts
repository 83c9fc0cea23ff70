import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { watchProcess } from "./processes/pidfd.ts";
import { sleepInThread } from "./sleep.ts";

/** Until the event loop watches what began, and has nothing left to do. */
async function settled(): Promise<void> {
  do {
    await sleep(20);
  } while (!sleepInThread(0));
}

test("sleeping takes its time, and nothing else happens meanwhile", async () => {
  await settled();
  let ticked = false;
  void setImmediate().then(() => {
    ticked = true;
  });
  for (const milliseconds of [2.5, 30, 1020]) {
    const before = performance.now();
    assert.equal(sleepInThread(milliseconds), true);
    assert.ok(performance.now() - before >= milliseconds);
  }
  assert.equal(ticked, false);
});

test("a signal ends it early", { timeout: 300_000 }, async () => {
  let heard = 0;
  const count = (): void => {
    heard++;
  };
  process.on("SIGUSR2", count);
  // Again and again: the first may come before the sleep on a busy machine.
  const child = spawn("sh", ["-c", `while sleep 0.2; do kill -USR2 ${process.pid}; done`]);
  await once(child, "spawn");
  await settled();
  const before = performance.now();
  assert.equal(sleepInThread(200_000), false);
  assert.ok(performance.now() - before < 190_000);
  child.kill();
  await once(child, "exit");
  await setImmediate();
  process.off("SIGUSR2", count);
  assert.ok(heard > 0);
});

test("the end of a watched process ends it early", { timeout: 300_000 }, async () => {
  // Not our child's, of whose end a signal tells.
  const child = spawn("sh", ["-c", "sleep 600 & echo $!"], { stdio: ["ignore", "pipe", "inherit"] });
  const [pid] = (await once(child.stdout, "data")) as [Buffer];
  await once(child, "exit");
  using watch = watchProcess(Number(String(pid)));
  child.stdout.destroy();
  await once(spawn("sh", ["-c", `(sleep 0.3; kill ${String(pid)}) &`], { stdio: "ignore" }), "exit");
  const heard: string[] = [];
  void watch.ended.then(() => heard.push("ended"));
  const before = performance.now();
  while (heard.length === 0) {
    await setImmediate();
    await setImmediate();
    if (heard.length === 0) sleepInThread(200_000);
    assert.ok(performance.now() - before < 190_000);
  }
});

test(
  "a descriptor that becomes readable ends it early, and is nothing for the event loop",
  { timeout: 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "strobe-sleep-"));
    const path = join(folder, "fifo");
    await once(spawn("mkfifo", [path]), "exit");
    const fifo = openSync(path, constants.O_RDWR);
    const child = spawn("sh", ["-c", `sleep 0.3; echo > ${path}; exec sleep 600`], { stdio: "ignore" });
    await settled();
    const before = performance.now();
    assert.equal(sleepInThread(200_000, fifo), true);
    assert.ok(performance.now() - before < 190_000);
    child.kill();
    await once(child, "exit");
    closeSync(fifo);
    rmSync(folder, { recursive: true });
  },
);
