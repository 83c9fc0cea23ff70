// Lines for a reader who does not read: a signal ends strobe all the same, and it says that output is lost. A slow
// reader gets all.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { bpfObjects, command, nothingLeft } from "../../support/strobe.ts";

const objects = bpfObjects();
after(() => nothingLeft(objects));

/** Until a process waits for the reader of its pipe. */
async function full(pid: number | undefined): Promise<void> {
  const waits = (): boolean => /pipe|unix|sock/.test(readFileSync(`/proc/${pid}/wchan`, "latin1"));
  while (!waits()) await new Promise((resolve) => setTimeout(resolve, 50));
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  for (const format of ["text", "json"]) {
    test(`${signal}, ${format}`, { timeout: 300_000 }, async () => {
      // Nobody reads from this end.
      const child = spawn(
        process.execPath,
        [command, "-q", "-f", format, "-e", `interval:ms:1 { printf("%s\\n", "${"x".repeat(900)}") }`],
        { stdio: ["ignore", "pipe", "pipe"] },
      );
      child.stdout.pause();
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      await full(child.pid);
      child.kill(signal);
      const [code] = (await once(child, "exit")) as [number];
      assert.deepEqual([code, stderr], [0, "WARNING: the output is not read: what was left of it is lost\n"]);
      child.stdout.destroy();
    });
  }
}

test("a slow reader gets every line", { timeout: 300_000 }, async () => {
  const child = spawn(
    process.execPath,
    [
      command,
      "-q",
      "-e",
      `begin { $i = 0; while ($i < 3000) { printf("%d ${"y".repeat(90)}\\n", $i); $i++ } } interval:s:60 { }`,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  await full(child.pid);
  child.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 200));
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const [code] = (await once(child, "close")) as [number];
  assert.equal(code, 0);
  assert.deepEqual(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => Number.parseInt(line, 10)),
    Array.from({ length: 3000 }, (_, i) => i),
  );
});
