// Tracing in a worker thread: the main thread's event loop turns while the trace starts and stops, Node's own count of
// the thread's descriptors is right, and nothing is left when the thread is ended.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { run } from "../../support/registry.ts";
import { bpfObjects, compileC, nothingLeft, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
let busy = "";
let objects = "";
before(() => {
  busy = compileC(
    folder.path,
    "busy",
    "__attribute__((noinline)) int spin(volatile int *n) { for (int i = 0; i < 1000; i++) ++*n; return *n; }\nint main(void) { volatile int n = 0; for (;;) spin(&n); }\n",
  );
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

test("stacks with names, started and stopped", async () => {
  const program = join(folder.path, "program.mjs");
  const child = spawn(busy, { stdio: "ignore" });
  try {
    writeFileSync(
      program,
      `
      import { once } from "node:events";
      import { readFileSync } from "node:fs";
      import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
      import { trace } from ${JSON.stringify(pathToFileURL(resolve("dist/index.mjs")).href)};
      const script = "profile:hz:999 { @samples[ustack(1)] = count(); }";
      if (isMainThread) {
        let turns = 0;
        setInterval(() => turns++, 1).unref();
        const worker = new Worker(new URL(import.meta.url), { workerData: { pid: ${child.pid} } });
        const phase = async () => { const before = turns; const [said] = await once(worker, "message"); return [said, turns - before]; };
        const [live, whileStarting] = await phase();
        // Until it has spun for a fifth of a second.
        const ticks = () => Number(readFileSync("/proc/${child.pid}/stat", "utf8").split(") ")[1].split(" ")[11]);
        for (const before = ticks(); ticks() < before + 20;) await new Promise((done) => setTimeout(done, 20));
        worker.postMessage("stop");
        const [spinning] = await phase();
        console.log(live, spinning, whileStarting >= 3);
        const other = new Worker(new URL(import.meta.url), { workerData: { pid: ${child.pid} } });
        await once(other, "message");
        await other.terminate();
      } else {
        const session = await trace(script, { pid: workerData.pid });
        parentPort.once("message", () => session.stop());
        parentPort.postMessage("live");
        let named = "";
        for await (const event of session) if (event.type === "map") named = event.map.entries.map(([key]) => key.frames[0].symbol).includes("spin");
        parentPort.postMessage(named);
      }
    `,
    );
    assert.deepEqual(await run(process.execPath, [program], folder.path), {
      stdout: "live true true\n",
      stderr: "",
      code: 0,
    });
  } finally {
    child.kill("SIGKILL");
  }
});
