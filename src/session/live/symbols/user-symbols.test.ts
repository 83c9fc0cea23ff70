import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mapping } from "../../../linux/processes/procfs.ts";
import { i64, u64, type Type } from "../../../language/types.ts";
import { pidOffsets } from "./stack-owners.ts";
import { processesKept, UserSymbols, type ProcessFiles } from "./user-symbols.ts";

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
      return {
        lookup: (at) => (at < 0x1000n ? undefined : { symbol: `f${Number(at >> 8n)}`, offset: Number(at & 0xffn) }),
      };
    },
    perfMap: () => perfMap,
  };
  return {
    processes,
    asked,
    files,
    setPerfMap: (text: string) => {
      perfMap = text;
    },
  };
}

test("an address is named by its binary's function at the file's offset", () => {
  const { processes, asked, files } = machine();
  processes.set(9, [
    mapping(0x5000n, 0x6000n, 0n, "/bin/x", "r--p"),
    mapping(0x6000n, 0x8000n, 0x1000n, "/bin/x (deleted)"),
  ]);
  const symbols = new UserSymbols(files);
  assert.deepEqual(symbols.frame(0x6210n, 9), { address: 0x6210n, symbol: "f18", offset: 0x10, module: "/bin/x" });
  assert.deepEqual(asked, ["08:01:5 /proc/9/map_files/6000-8000"]);
  assert.deepEqual(symbols.frame(0x5010n, 9), { address: 0x5010n, mark: "no code" });
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
  assert.deepEqual(
    pidOffsets({ kind: "tuple", elements: [u64, stack, i64, { kind: "tuple", elements: [usym] }] }),
    [16, 40],
  );
});

test("what the kernel tells names processes that were never seen in /proc", () => {
  const { asked, files } = machine();
  const symbols = new UserSymbols(files);
  const x = {
    time: 0n,
    start: 0x6000n,
    end: 0x8000n,
    offset: 0x1000n,
    file: { buildId: "abcd" },
    path: "/bin/x",
  } as const;
  symbols.apply([
    { kind: "exec", time: 0n, pid: 8 },
    { kind: "mmap", pid: 8, ...x },
    { kind: "fork", time: 0n, pid: 9, parent: 8 },
  ]);
  assert.deepEqual(symbols.frame(0x6210n, 9), { address: 0x6210n, symbol: "f18", offset: 0x10, module: "/bin/x" });
  assert.deepEqual(asked, ["build-id:abcd /proc/9/root/bin/x /proc/9/map_files/6000-8000 /proc/8/root/bin/x /bin/x"]);

  symbols.apply([{ kind: "fork", time: 0n, pid: 10, parent: 9 }]);
  symbols.frame(0x6210n, 10);
  assert.equal(
    asked.at(-1),
    "build-id:abcd /proc/10/root/bin/x /proc/10/map_files/6000-8000 /proc/9/root/bin/x /proc/8/root/bin/x /bin/x",
  );

  // The child maps a library, partly over its program, and then becomes another program: both stay known.
  symbols.apply([
    {
      kind: "mmap",
      pid: 9,
      ...x,
      start: 0x7000n,
      offset: 0x9000n,
      file: { device: "08:01", inode: 7n },
      path: "/lib/y",
    },
  ]);
  assert.equal(symbols.frame(0x6fffn, 9).symbol, "f31");
  assert.equal(symbols.frame(0x7000n, 9).symbol, "f144");
  assert.equal(symbols.frame(0x7000n, 8).symbol, "f32");
  symbols.apply([
    { kind: "exec", time: 0n, pid: 9 },
    { kind: "mmap", pid: 9, ...x, end: 0x6800n, offset: 0x5000n, path: "/bin/z" },
    { kind: "exit", time: 0n, pid: 9 },
  ]);
  assert.deepEqual(symbols.frame(0x6000n, 9), { address: 0x6000n, symbol: "f80", offset: 0, module: "/bin/z" });
  assert.deepEqual(symbols.frame(0x7000n, 9), { address: 0x7000n, symbol: "f144", offset: 0, module: "/lib/y" });

  // A later process of the same pid has nothing of it.
  symbols.apply([{ kind: "fork", time: 0n, pid: 9, parent: 11 }]);
  assert.deepEqual(symbols.frame(0x7000n, 9), { address: 0x7000n });
});

test("after records were lost, processes that live are read again", () => {
  const { processes, files } = machine();
  const symbols = new UserSymbols(files);
  symbols.apply([{ kind: "fork", time: 0n, pid: 9, parent: 8 }]);
  processes.set(9, [mapping(0x6000n, 0x8000n, 0x1000n, "/bin/x")]);
  assert.equal(symbols.frame(0x6000n, 9).symbol, undefined);
  symbols.apply([{ kind: "lost", time: 0n, count: 3 }]);
  processes.delete(9);
  assert.equal(symbols.frame(0x6000n, 9).symbol, "f16");
});

test("of too many processes, those that ended first are forgotten first, and counted when they are asked for", () => {
  const { files } = machine();
  const symbols = new UserSymbols(files);
  const start = (pid: number) =>
    symbols.apply([
      { kind: "exec", time: 0n, pid },
      {
        kind: "mmap",
        time: 0n,
        pid,
        start: 0x6000n,
        end: 0x8000n,
        offset: 0x1000n,
        file: { buildId: "abcd" },
        path: "/bin/x",
      },
    ]);
  start(1);
  const last = processesKept + 1000;
  for (let pid = 2; pid <= last; pid++) {
    start(pid);
    symbols.apply([{ kind: "exit", time: 0n, pid }]);
  }
  const named = (pid: number) => symbols.frame(0x6000n, pid).symbol;
  assert.deepEqual(
    [named(1), named(last), named(1010), named(2), named(3), named(3)],
    ["f16", "f16", "f16", undefined, undefined, undefined],
  );
  assert.deepEqual([...symbols.nameless], [2, 3]);
});
