// Source lines, inlined functions and variables of a kernel that tells them: our own, moved by address space randomisation.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, test } from "node:test";
import { temporaryFolder } from "../support/strobe.ts";
import type { ProbeCase } from "./cases.ts";
import { check, listOf, programs, resultsIn } from "./drive.ts";
import { kernelFiles, type KernelFiles } from "./fetch-kernel.ts";
import { complaint, runGuest } from "./guest.ts";
import { missingForGuests } from "./initramfs.ts";
import { kernels } from "./kernels.ts";

// A minute or two, but for a machine that has no CPU to spare.
const guestSeconds = 900;
const folder = temporaryFolder();
after(() => folder.remove());

function filesOrReason(): KernelFiles | string {
  const missing = missingForGuests();
  const own = kernels.find(({ source }) => source === "own");
  if (missing !== undefined || own === undefined) return missing ?? "there is no kernel of our own";
  try {
    return kernelFiles(own);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The source line that a function begins at, as binutils say. */
function lineOf(vmlinux: string, name: string): { readonly file: string; readonly line: string } {
  const [, address = ""] = new RegExp(`^([0-9a-f]+) \\w ${name}$`, "m").exec(execFileSync("nm", [vmlinux], { encoding: "utf8", maxBuffer: 1 << 28 })) ?? [];
  const [, file = "", line = ""] = /([^/]+\/[^/]+):(\d+)/.exec(execFileSync("addr2line", ["-e", vmlinux, `0x${address}`], { encoding: "utf8" })) ?? [];
  return { file, line };
}

function casesOf(vmlinux: string): readonly ProbeCase[] {
  const command = "/bin/work 1000";
  const { file, line } = lineOf(vmlinux, "vfs_read");
  return [
    { name: "kprobe@FILE:LINE", command, script: `kprobe@${file}:${line} /pid == cpid && var("count") == 512/ { @[func] = count(); }`, output: "@[vfs_read]: 1000" },
    {
      name: "var() of a kernel function, and struct members behind it", command,
      script: "kprobe:vfs_read /pid == cpid && var(\"count\") == 512/ { @[str(var(\"file\").f_path.dentry.d_name.name)] = count(); }", output: "@[zero]: 1000",
    },
    { name: "globals of the kernel", command, script: "kprobe:vfs_read /pid == cpid && arg2 == 512 && var(\"nr_threads\") > 0/ { @ = count(); }", output: "@: 1000" },
    {
      name: "an inlined function is its copies", command, script: "kprobe:inlined:new_sync_read /pid == cpid/ { @[func] = count(); }", output: /^$|^@\[new_sync_read\]: \d+$/,
      warning: /^.*warning: `new_sync_read` is inlined: probing its (one copy|\d+ copies), in /,
    },
    { name: "a file that there is not", script: "kprobe@fs/nothing.c:3 { }", output: "", refusal: /no code of \S+ comes from a file fs\/nothing\.c/ },
  ];
}

const found = filesOrReason();

test("debug information of the kernel", { skip: typeof found === "string" && found, timeout: (guestSeconds + 120) * 1000 }, async (t) => {
  assert.ok(typeof found !== "string" && found.vmlinux !== undefined);
  const cases = casesOf(found.vmlinux);
  const guest = await runGuest({
    kernel: found, deadline: guestSeconds, kaslr: true, memory: "2G",
    files: { ...await programs(folder.path), "/cases.json": listOf(folder.path, cases, "cases.json"), [`/usr/lib/debug/boot/vmlinux-${found.release}`]: found.vmlinux },
    jobs: [{ script: "node /strobe/driver.mjs", deadline: guestSeconds }, { script: "grep -w _text /proc/kallsyms" }],
  });
  const results = resultsIn(guest.lines);
  for (const [i, one] of cases.entries()) {
    await t.test(one.name, () => {
      const result = results.find(({ index }) => index === i);
      assert.ok(result, `the guest never ended this one; its console:\n${guest.console.slice(-3000)}\n${guest.jobs[0]?.stderr ?? ""}`);
      check(one, result);
    });
    t.diagnostic(`${one.name}: ${results.find(({ index }) => index === i)?.milliseconds ?? "?"} ms`);
  }
  await t.test("the kernel was not where it was linked, and did not complain", () => {
    assert.match(guest.jobs[1]?.stdout ?? "", /^ffffffff/);
    assert.doesNotMatch(guest.jobs[1]?.stdout ?? "", /^ffffffff81000000 /);
    assert.doesNotMatch(guest.console, complaint);
    assert.ok(guest.complete, guest.console.slice(-3000));
  });
});
