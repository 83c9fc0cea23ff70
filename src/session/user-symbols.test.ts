import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mapping } from "../linux/procfs.ts";
import { i64, u64, type Type } from "../language/types.ts";
import { pidOffsets } from "./stack-owners.ts";
import { UserSymbols, type ProcessFiles } from "./user-symbols.ts";

function mapping(start: bigint, end: bigint, offset: bigint, path: string, permissions = "r-xp"): Mapping {
  return { start, end, permissions, offset, inode: 5n, device: "08:01", path };
}

/** A machine with one binary, whose functions are 0x100 bytes long, and processes that come and go. */
function machine() {
  const processes = new Map<number, Mapping[]>();
  const asked: string[] = [];
  let perfMap: string | undefined;
  const files: ProcessFiles = {
    maps: (pid) => processes.get(pid) ?? [],
    binary(identity, paths) {
      asked.push(`${identity} ${paths.join(" ")}`);
      return { lookup: (at) => (at < 0x1000n ? undefined : { symbol: `f${Number(at >> 8n)}`, offset: Number(at & 0xffn) }) };
    },
    perfMap: () => perfMap,
  };
  return { processes, asked, files, setPerfMap: (text: string) => { perfMap = text; } };
}

test("an address is named by its binary's function at the file's offset", () => {
  const { processes, asked, files } = machine();
  processes.set(9, [mapping(0x5000n, 0x6000n, 0n, "/bin/x", "r--p"), mapping(0x6000n, 0x8000n, 0x1000n, "/bin/x (deleted)")]);
  const symbols = new UserSymbols(files);
  assert.deepEqual(symbols.frame(0x6210n, 9), { address: 0x6210n, symbol: "f18", offset: 0x10, module: "/bin/x" });
  assert.deepEqual(asked, ["08:01:5 /proc/9/root/bin/x /bin/x"]);
  assert.deepEqual(symbols.frame(0x5010n, 9), { address: 0x5010n });
  assert.deepEqual(symbols.frame(0x6210n, 10), { address: 0x6210n });
});

test("a process that was noticed is named after its end; new mappings are found, but not looked for all the time", () => {
  const { processes, files } = machine();
  let now = 0;
  const symbols = new UserSymbols(files, () => now);
  processes.set(9, [mapping(0x6000n, 0x8000n, 0x1000n, "/bin/x")]);
  symbols.notice(9);
  processes.delete(9);
  assert.equal(symbols.frame(0x6000n, 9).symbol, "f16");

  processes.set(10, [mapping(0x6000n, 0x8000n, 0x1000n, "/bin/x")]);
  symbols.notice(10);
  processes.set(10, [mapping(0x6000n, 0x8000n, 0x1000n, "/bin/x"), mapping(0x9000n, 0xa000n, 0x1000n, "/lib/y")]);
  assert.equal(symbols.frame(0x9000n, 10).symbol, undefined);
  now = 1000;
  assert.equal(symbols.frame(0x9000n, 10).symbol, "f16");

  // The traced command becomes another program, then ends.
  processes.set(10, [mapping(0x6000n, 0x8000n, 0x2000n, "/bin/z")]);
  symbols.refresh(10);
  processes.delete(10);
  symbols.refresh(10);
  assert.deepEqual(symbols.frame(0x6004n, 10), { address: 0x6004n, symbol: "f32", offset: 4, module: "/bin/z" });
});

test("compiled code is named by the perf map", () => {
  const { processes, files, setPerfMap } = machine();
  processes.set(9, [mapping(0x6000n, 0x8000n, 0n, "")]);
  setPerfMap("6100 40 LazyCompile:~a\nnonsense\n6000 80 Builtin b c\n");
  const symbols = new UserSymbols(files);
  assert.deepEqual(symbols.frame(0x6104n, 9), { address: 0x6104n, symbol: "LazyCompile:~a", offset: 4 });
  assert.deepEqual(symbols.frame(0x607fn, 9), { address: 0x607fn, symbol: "Builtin b c", offset: 0x7f });
  assert.deepEqual(symbols.frame(0x6080n, 9), { address: 0x6080n });
});

test("pids of user stacks are found wherever they lie in a key", () => {
  const stack: Type = { kind: "stack", space: "user", mode: "bpftrace", limit: 127 };
  const usym: Type = { kind: "named", of: "usym" };
  assert.deepEqual(pidOffsets(stack), [8]);
  assert.deepEqual(pidOffsets({ ...stack, space: "kernel" }), []);
  assert.deepEqual(pidOffsets({ kind: "tuple", elements: [u64, stack, i64, { kind: "tuple", elements: [usym] }] }), [16, 40]);
});
