// The machine's facts against what its own tools say.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { describe, it } from "node:test";
import type { StructType } from "../../src/language/types.ts";
import { liveSystem } from "../../src/machine/live-system.ts";

const noBtf = existsSync("/sys/kernel/btf/vmlinux") ? false : "needs kernel BTF";
const noBpftool = noBtf || (spawnSync("bpftool", ["version"]).status === 0 ? false : "needs bpftool");
const noTracefs = existsSync("/sys/kernel/tracing/events/sched") ? false : "needs tracefs";
const noSymbols = /^f{4}/m.test(readFileSync("/proc/kallsyms", "latin1").slice(0, 20_000))
  ? false
  : "needs kernel symbols";

const system = liveSystem();

function struct(name: string): StructType {
  const type = system.types.find(name, "struct");
  assert.equal(type?.kind, "struct");
  return type;
}

describe("kernel types", { skip: noBtf }, () => {
  it("has members where bpftool says they are", { skip: noBpftool }, () => {
    const dump = execFileSync("bpftool", ["btf", "dump", "file", "/sys/kernel/btf/vmlinux"], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    for (const name of ["task_struct", "sock", "file", "dentry", "net_device", "tcp_sock", "page"]) {
      const text = new RegExp(`^\\[\\d+\\] STRUCT '${name}' size=(\\d+) vlen=\\d+\\n((?:\t.*\n)*)`, "m").exec(dump);
      assert.ok(text);
      const expected = [
        ...text[2].matchAll(/^\t'(.*?)' type_id=\d+ bits_offset=(\d+)(?: bitfield_size=(\d+))?$/gm),
      ].map((m) => [m[1] === "(anon)" ? "" : m[1], Number(m[2]), m[3] === undefined ? undefined : Number(m[3])]);
      assert.ok(expected.length > 3);
      const type = struct(name);
      assert.equal(type.size, Number(text[1]));
      assert.deepEqual(
        type.members.map((m) => [m.name, m.offset * 8 + (m.bitOffset ?? 0), m.bitWidth]),
        expected,
        name,
      );
    }
  });

  it("converts everything that task_struct reaches", () => {
    const seen = new Set<StructType>();
    const queue = [struct("task_struct")];
    for (let type = queue.pop(); type !== undefined; type = queue.pop()) {
      if (seen.has(type)) continue;
      seen.add(type);
      for (const member of type.members) {
        let inner = member.type;
        while (inner.kind === "pointer" || inner.kind === "array")
          inner = inner.kind === "pointer" ? inner.target : inner.element;
        if (inner.kind === "struct") queue.push(inner);
        if (inner.kind === "enum") assert.ok(inner.names.size > 0 || inner.name !== "", member.name);
        if (member.bitWidth !== undefined) assert.ok(member.offset < type.size);
      }
    }
    assert.ok(seen.size > 1000, `${seen.size} structs`);
  });

  it("knows raw tracepoints, functions and iterators", () => {
    const raw = system.rawTracepoint("sched_switch");
    assert.deepEqual(
      raw?.args.slice(0, 3).map((a) => [a.name, a.type.kind]),
      [
        ["preempt", "boolean"],
        ["prev", "pointer"],
        ["next", "pointer"],
      ],
    );
    const prev = raw?.args[1]?.type;
    assert.ok(prev?.kind === "pointer" && prev.typed === true);
    assert.equal(prev.target, struct("task_struct"));
    assert.equal(system.rawTracepoint("no_such_tracepoint"), undefined);
    assert.ok(system.rawTracepoints().includes("sched_switch"));

    const read = system.kernelFunction("vfs_read");
    assert.deepEqual(
      read?.parameters.map((p) => p.name),
      ["file", "buf", "count", "pos"],
    );
    assert.deepEqual([read?.module, read?.result], ["vmlinux", { kind: "integer", bits: 64, signed: true }]);
    assert.equal(system.kernelFunction("no_such_function"), undefined);
    assert.ok(system.iterators().includes("task"));
    assert.equal(system.types.enumConstant("BPF_MAP_TYPE_HASH")?.value, 1n);
  });

  it("lists functions that are both in BTF and in the kernel's symbols", { skip: noSymbols }, () => {
    const names = system.kernelFunctions();
    assert.ok(names.includes("vfs_read"));
    assert.deepEqual(names, [...names].sort());
    const address = /^([0-9a-f]+) T vfs_read$/m.exec(readFileSync("/proc/kallsyms", "latin1"))![1];
    assert.equal(system.symbolAddress("vfs_read"), BigInt(`0x${address}`));
  });
});

describe("tracepoints", { skip: noTracefs }, () => {
  it("reads formats", () => {
    const format = system.tracepoint("sched", "sched_switch");
    assert.deepEqual(format?.fields.slice(0, 2), [
      { name: "prev_comm", declaration: "char[16]", offset: 8, size: 16, signed: format!.fields[0].signed },
      { name: "prev_pid", declaration: "pid_t", offset: 24, size: 4, signed: true },
    ]);
    assert.equal(format.id, Number(readFileSync("/sys/kernel/tracing/events/sched/sched_switch/id", "latin1")));
    assert.equal(system.tracepoint("sched", "no_such_event"), undefined);
    assert.equal(system.tracepoint("..", "events"), undefined);
    assert.ok(system.tracepoints().some((e) => e.category === "sched" && e.name === "sched_switch"));
  });
});

describe("binaries", () => {
  it("finds libraries as the loader does, and by short names", () => {
    const ldd = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
    const libc = /libc\.so\.6 => (\S+)/.exec(ldd)?.[1];
    if (libc === undefined) return; // not glibc
    for (const name of ["libc.so.6", "libc", "c"])
      assert.equal(realpathSync(system.binary(name)!.path), realpathSync(libc), name);
    const malloc = system.binary("libc")!.symbol("malloc");
    assert.equal(malloc?.kind, "function");
    assert.deepEqual(system.binary("libc")!.functionAt(malloc.fileOffset + 1n)?.offset, 1);
    assert.equal(system.binary("libc"), system.binary("libc"));
  });

  it("finds commands in PATH, files by path, and what a process has mapped", () => {
    const which = execFileSync("sh", ["-c", "command -v sh"], { encoding: "utf8" }).trim();
    assert.equal(realpathSync(system.binary("sh")!.path), realpathSync(which));
    assert.equal(system.binary(which)!.shownPath, which);
    assert.equal(system.binary("no-such-binary"), undefined);
    assert.equal(system.binary("/etc/passwd"), undefined, "no ELF file");
    const mapped = system.mappedBinaries(process.pid);
    assert.equal(mapped[0], realpathSync(process.execPath));
    assert.equal(system.binary(process.execPath.split("/").at(-1)!, process.pid)?.shownPath, mapped[0]);
  });
});
