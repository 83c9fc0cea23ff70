import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { headerConstant } from "./header-constants.ts";

test("constants are those of the C library's and the kernel's headers here", () => {
  const headers = [
    "errno",
    "signal",
    "sys/socket",
    "netinet/in",
    "fcntl",
    "sys/stat",
    "sys/mman",
    "sched",
    "unistd",
    "linux/if_ether",
    "limits",
    "net/if",
    "sys/mount",
    "sys/epoll",
    "poll",
    "sys/wait",
    "sys/resource",
    "linux/capability",
    "linux/futex",
    "sys/syscall",
  ]
    .map((name) => `#include <${name}.h>\n`)
    .join("");
  const gcc = (args: readonly string[], input: string): string =>
    execFileSync("gcc", ["-D_GNU_SOURCE", "-w", "-x", "c", ...args, "-"], { input, encoding: "utf8" });
  const names = [...gcc(["-E", "-dM"], headers).matchAll(/^#define ([A-Z_][A-Za-z0-9_]*) /gm)].map(([, name]) => name);
  const machine = process.arch === "arm64" ? "arm64" : "x86-64";
  // The C library gives O_LARGEFILE of its own, where every file is large.
  const known = names.filter((name) => name !== "O_LARGEFILE" && headerConstant(name, machine) !== undefined);
  assert.ok(known.length > 1000, `${known.length} names`);
  const claims = known.map(
    (name) =>
      `_Static_assert((unsigned long)(${name}) == ${BigInt.asUintN(64, headerConstant(name, machine)!)}ul || (long)(${name}) == ${BigInt.asIntN(64, headerConstant(name, machine)!)}l || (unsigned)(${name}) == ${headerConstant(name, machine)! < 0n ? `(unsigned)${headerConstant(name, machine)}` : `${headerConstant(name, machine)}ul`}, "${name}");`,
  );
  gcc(["-fsyntax-only"], headers + claims.join("\n"));
});

test("what differs between machines, and names of no header", () => {
  assert.deepEqual([headerConstant("O_DIRECT", "x86-64"), headerConstant("O_DIRECT", "arm64")], [0o40000n, 0o200000n]);
  assert.deepEqual(
    [headerConstant("__NR_read", "x86-64"), headerConstant("SYS_read", "arm64"), headerConstant("__NR_none", "arm64")],
    [0n, 63n, undefined],
  );
  assert.deepEqual(
    [headerConstant("PF_KTHREAD", "x86-64"), headerConstant("EPOLLIN", "x86-64"), headerConstant("AF_NEVER", "x86-64")],
    [0x200000n, 1n, undefined],
  );
});
