import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { splitWords } from "./processes/child.ts";
import { LinuxError } from "./error.ts";
import { kernelVersion } from "../base/kernel-features.ts";
import { FunctionLocations } from "./kernel/function-locations.ts";
import { Kallsyms } from "./kernel/kallsyms.ts";
import { parseCpuList } from "./perf/perf.ts";
import { parseMaps } from "./processes/procfs.ts";
import { subprogramBtf } from "./bpf/subprogram-btf.ts";
import { saidBy } from "../base/failure.ts";

describe("kallsyms", () => {
  // Per-CPU offsets first, the kernel in order, then modules in an order of their own.
  const symbols = Kallsyms.parse(
    Buffer.from(
      [
        "0000000000000000 A fixed_percpu_data",
        "ffffffff81000000 T _stext",
        "ffffffff81000000 T _text",
        "ffffffff81000100 t helper",
        "ffffffff81000200 T vfs_read",
        "ffffffffc0201000 t second\t[mod]",
        "ffffffffc0200000 t first\t[mod]",
        "ffffffff81000180 t helper\t[other]",
        "",
      ].join("\n"),
    ),
  );

  it("finds addresses by name", () => {
    assert.equal(symbols.size, 7);
    for (let i = 0; i < 40; i++) {
      // by searching, later by the table
      assert.equal(symbols.address("vfs_read"), 0xffffffff81000200n);
      assert.equal(symbols.address("helper"), 0xffffffff81000100n);
      assert.equal(symbols.address("first"), 0xffffffffc0200000n);
      assert.equal(symbols.address("vfs_rea"), undefined);
      assert.equal(symbols.address("fixed_percpu_data"), undefined);
    }
  });

  it("finds the symbol around an address", () => {
    assert.deepEqual(symbols.lookup(0xffffffff81000010n), { symbol: "_stext", offset: 16 });
    assert.deepEqual(symbols.lookup(0xffffffff8100017fn), { symbol: "helper", offset: 0x7f });
    assert.deepEqual(symbols.lookup(0xffffffff81000180n), { symbol: "helper", offset: 0, module: "other" });
    assert.deepEqual(symbols.lookup(0xffffffffc0200fffn), { symbol: "first", offset: 0xfff, module: "mod" });
    assert.deepEqual(symbols.lookup(0xffffffffc0201000n), { symbol: "second", offset: 0, module: "mod" });
    assert.equal(symbols.lookup(0xffffffffffffffffn), undefined);
    assert.equal(symbols.lookup(0xffffffff80ffffffn), undefined);
    assert.equal(symbols.lookup(0x7fff00000000n), undefined);
    assert.deepEqual(
      [0xffffffff81000010n, 0xffffffff81000100n, 0xffffffffc0200fffn, 0xffffffff80ffffffn].map((address) =>
        symbols.start(address),
      ),
      [0xffffffff81000000n, 0xffffffff81000100n, 0xffffffffc0200000n, undefined],
    );
    assert.deepEqual(symbols.namesOutside(0n, 0n), [
      "_stext",
      "_text",
      "helper",
      "helper",
      "vfs_read",
      "first",
      "second",
    ]);
    assert.deepEqual(symbols.namesOutside(0xffffffff81000100n, 0xffffffff81000200n), [
      "_stext",
      "_text",
      "vfs_read",
      "first",
      "second",
    ]);
  });

  it("finds functions that share a name", () => {
    assert.deepEqual([...symbols.sharedFunctions()], [["helper", [0xffffffff81000100n, 0xffffffff81000180n]]]);
    const others = Kallsyms.parse(
      Buffer.from(
        [
          "ffffffff81000000 t same",
          "ffffffff81000000 T same",
          "ffffffff81000010 d data",
          "ffffffff81000020 t data",
          "ffffffff81000030 t many",
          "ffffffff81000040 w many",
          "ffffffff81000050 W many\t[mod]",
          "ffffffff81000050 t many\t[mod]",
          "",
        ].join("\n"),
      ),
    );
    assert.deepEqual(
      [...others.sharedFunctions()],
      [["many", [0xffffffff81000030n, 0xffffffff81000040n, 0xffffffff81000050n]]],
    );
  });
});

describe("functions that can be traced", () => {
  const functions = FunctionLocations.parse(
    [
      "ffffffff81000104 vfs_read",
      "ffffffff81000204 show",
      "ffffffff81000304 show",
      "ffffffff81000404 __ftrace_invalid_address___16",
      "ffffffffc0200004 vfs_helper [mod]",
      "",
    ].join("\n"),
  );
  const named = (prefix: string, accepts: (name: string) => boolean = () => true): string[] =>
    functions
      .find(prefix, accepts)
      .map(({ name, address, module }) => `${address.toString(16)} ${name} ${module ?? ""}`);

  it("are found by how they begin, and by what else is asked, each with its place", () => {
    assert.deepEqual(named("vfs_"), ["ffffffff81000104 vfs_read ", "ffffffffc0200004 vfs_helper mod"]);
    assert.deepEqual(
      named("", (name) => name.endsWith("w")),
      ["ffffffff81000204 show ", "ffffffff81000304 show "],
    );
    assert.deepEqual(named("vfs_readv"), []);
  });

  it("are all but those that the kernel lost", () => {
    assert.equal(named("").length, 4);
    assert.deepEqual(named("__ftrace"), []);
    assert.deepEqual(
      FunctionLocations.parse("").find("", () => true),
      [],
    );
  });
});

describe("linux files", () => {
  it("splits a command like a shell, expanding nothing", () => {
    assert.deepEqual(splitWords(`  dd if=/dev/zero "of=a b" 'c "d' e\\ f "" "g\\"h\\n" $HOME`), [
      "dd",
      "if=/dev/zero",
      "of=a b",
      'c "d',
      "e f",
      "",
      'g"h\\n',
      "$HOME",
    ]);
    assert.deepEqual(splitWords("a'b'\"c\" 'closed'"), ["abc", "closed"]);
    assert.throws(() => splitWords("echo 'open"), /^RunError: the command ends within single quotes: echo 'open$/);
    assert.deepEqual(splitWords(""), []);
  });

  it("reads CPU lists, mappings and versions", () => {
    assert.deepEqual(parseCpuList("0-2,5,7-8\n"), [0, 1, 2, 5, 7, 8]);
    assert.deepEqual(kernelVersion("6.18.44-fc-v657"), [6, 18]);
    assert.deepEqual(
      parseMaps(
        "7f00a000-7f00b000 r-xp 00001000 08:01 42    /tmp/with space\n7ffe0000-7ffe1000 rw-p 00000000 00:00 0 \n",
      ),
      [
        {
          start: 0x7f00a000n,
          end: 0x7f00b000n,
          permissions: "r-xp",
          offset: 0x1000n,
          device: "08:01",
          inode: 42n,
          path: "/tmp/with space",
        },
        { start: 0x7ffe0000n, end: 0x7ffe1000n, permissions: "rw-p", offset: 0n, device: "00:00", inode: 0n, path: "" },
      ],
    );
  });

  it("adds the main function to the functions it describes", () => {
    const { btf, functions } = subprogramBtf([{ name: "each @m", start: 12 }]);
    assert.deepEqual([...functions], [0, 3, 12, 4]);
    assert.equal(Buffer.from(btf).toString("latin1", btf.length - 20), "\0u64\0x\0main\0each__m\0");
  });

  it("words a refusal", () => {
    const error = new LinuxError({
      call: "bpf(BPF_MAP_CREATE)",
      code: 22,
      doing: saidBy("create the map"),
      hint: saidBy("try less"),
    });
    assert.equal(error.message, "cannot create the map: bpf(BPF_MAP_CREATE): invalid argument (EINVAL); try less");
    assert.equal(error.errno, "EINVAL");
  });
});
