// In a namespace of process numbers `pid` is the namespace's and `pid(init)` the kernel's: in handlers, and in what
// runs in strobe.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { command } from "../../support/strobe.ts";

const skip =
  process.geteuid?.() !== 0
    ? "needs root"
    : spawnSync("unshare", ["-pf", "--mount-proc", "true"]).status !== 0
      ? "needs unshare and new namespaces"
      : false;

const numbers = "pid, pid(curr_ns), pid(init), tid(init)";
const script = `begin { printf("b %d %d %d %d\\n", ${numbers}); } interval:s:1 { printf("i %d %d %d %d\\n", ${numbers}); exit(); }
  tracepoint:syscalls:sys_enter_newuname /pid == cpid/ { printf("k %d %d %d %d\\n", ${numbers}); }`;

test("pid(init) in a namespace", { skip }, async () => {
  const args = ["-pf", "--mount-proc", process.execPath, command, "-q", "-c", "/bin/uname", "-e", script];
  const child = spawn("unshare", args, { stdio: ["ignore", "pipe", "pipe"] });
  const deadline = setTimeout(() => child.kill("SIGKILL"), 300_000);
  let [stdout, stderr] = ["", ""];
  const seen = new Map<string, string>();
  child.stderr.setEncoding("utf8").on("data", (data: string) => {
    stderr += data;
  });
  child.stdout.setEncoding("utf8").on("data", (data: string) => {
    stdout += data;
    // While they live: what the machine calls strobe, which is unshare's child, and how that is called within.
    const [strobe = ""] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ");
    if (strobe !== "")
      seen.set(strobe, /^NSpid:\s+\d+\s+(\d+)$/m.exec(readFileSync(`/proc/${strobe}/status`, "utf8"))?.[1] ?? "");
  });
  await new Promise((done) => child.on("close", done));
  clearTimeout(deadline);
  assert.equal(seen.size, 1, stdout + stderr);
  const [[outside, inside]] = seen;
  const lines = stdout.split("\n");
  assert.ok(lines.includes(`b ${inside} ${inside} ${outside} ${outside}`), stdout);
  const [, own, named, kernels, thread] = lines.find((line) => line.startsWith("k "))?.split(" ") ?? [];
  assert.equal(own, named);
  assert.equal(kernels, thread);
  // The command was started by strobe, behind it.
  assert.ok(Number(own) > Number(inside) && Number(own) < 100 && Number(kernels) > Number(outside), stdout);
});
