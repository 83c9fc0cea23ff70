// Resolving and listing on a made-up machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { field, smallMachine as system } from "../../test/support/small-machine.ts";
import { i32, i8 } from "../language/types.ts";
import { sourceName } from "../machine/binaries/binaries.ts";
import type { Resolution, ResolveOptions } from "./provider.ts";
import { allProviders, findProvider, listProbes, providerNames, resolveSpec, splitPattern } from "./registry.ts";
import type { System, TracepointFormat } from "../machine/system.ts";
import { matcher, matches } from "../machine/wildcard.ts";

function resolve(
  text: string,
  uses: readonly string[] = [],
  options: Partial<ResolveOptions> = {},
  on = system,
): Resolution {
  const [provider, ...parts] = splitPattern(text);
  return resolveSpec({ provider: provider, parts, text, span: { start: 0, end: text.length } }, on, {
    missing: "error",
    uses: new Set(uses),
    ...options,
  });
}
const complaint = (text: string): [string, string | undefined] => {
  const { variants, diagnostics } = resolve(text);
  assert.equal(variants.length, 0);
  return [diagnostics[0].message, diagnostics[0].help];
};
const shape = (resolution: Resolution): string[] =>
  resolution.variants.map(
    ({ context, sites }) =>
      `${context === "host" ? "host" : context.program.type}: ${sites.map((site) => `${site.name}${site.match === undefined ? "" : `=${site.match}`}`).join(" ")}`,
  );

test("system calls share a program that looks at their numbers", () => {
  assert.deepEqual(shape(resolve("t:syscalls:sys_*", ["probe"])), [
    "tracing: tracepoint:syscalls:sys_enter_openat=257 tracepoint:syscalls:sys_enter_newstat=4",
    "tracing: tracepoint:syscalls:sys_exit_openat=257",
    // Without a number only the event itself will do.
    "tracepoint: tracepoint:syscalls:sys_enter_not_yet_known",
  ]);
});

test("kernel stacks at system calls are taken where the kernel has them", () => {
  const at = (kernel: readonly [number, number], ...uses: string[]): Resolution =>
    resolve("t:syscalls:sys_enter_openat", uses, {}, { ...system, capabilities: { ...system.capabilities, kernel } });
  assert.deepEqual(shape(at([6, 11], "kstack")), ["tracing: tracepoint:syscalls:sys_enter_openat=257"]);
  assert.deepEqual(shape(at([6, 12], "kstack")), ["tracepoint: tracepoint:syscalls:sys_enter_openat"]);
  assert.deepEqual(at([6, 12], "kstack", "ctx").diagnostics, []);
  assert.deepEqual(
    at([6, 11], "kstack", "ctx").diagnostics.map(({ severity, message }) => `${severity}: ${message}`),
    ["warning: kernel stacks at tracepoint:syscalls:sys_enter_openat are empty on this kernel"],
  );
});

test("an event on an event is the event itself to BPF, and one of its own on tracefs where the kernel takes those", () => {
  const { variants } = resolve("eprobe:syscalls:sys_enter_openat", ["args"]);
  assert.deepEqual(
    variants.map(({ provider, sites: [{ name, found, match }] }) => [provider, name, found, match]),
    [["eprobe", "eprobe:syscalls:sys_enter_openat", "tracepoint:syscalls:sys_enter_openat", 257n]],
  );
  const onEvents = (takes: boolean): Resolution =>
    resolve(
      "eprobe:syscalls:sys_enter_openat",
      ["args"],
      { asEvents: true },
      { ...system, eventsOnEvents: () => takes },
    );
  assert.deepEqual(shape(onEvents(true)), ["tracepoint: eprobe:syscalls:sys_enter_openat"]);
  assert.deepEqual(
    onEvents(false).diagnostics.map(({ message, help }) => [message, help]),
    [
      [
        "this kernel has no events on events",
        "they need Linux 5.15 with CONFIG_EPROBE_EVENTS; eBPF has them: --engine bpf",
      ],
    ],
  );
});

test("system calls' arguments come from the caller's registers", { skip: process.arch !== "x64" }, () => {
  const { context } = resolve("tracepoint:syscalls:sys_enter_openat", ["args"]).variants[0];
  assert.ok(context !== "host");
  const registers = { kind: "context", offset: 0, size: 8, signed: false };
  assert.deepEqual(context.program.load, { attachType: 23, btfId: 101 });
  assert.deepEqual(context.args?.slice(1), [
    {
      name: "dfd",
      type: i32,
      fetch: { kind: "pointed", base: registers, offset: 112, size: 4, signed: true, space: "typed" },
    },
    {
      name: "filename",
      type: { kind: "pointer", target: i8, space: "user" },
      fetch: { kind: "pointed", base: registers, offset: 104, size: 8, signed: false, space: "typed" },
    },
  ]);
});

test("events of programs are looked for by their numbers where the kernel hands them to perf", () => {
  for (const probe of ["user_events:app:request", "user_events:app_*", "tracepoint:user_events:app_request"]) {
    const { context, sites } = resolve(probe, ["args"]).variants[0];
    assert.ok(context !== "host");
    assert.deepEqual(context.program.load, { attachType: 24, btfId: 8 });
    assert.deepEqual(sites[0].match, 30n);
    const record = { kind: "context", offset: 16, size: 8, signed: false };
    assert.deepEqual(
      context.args?.map(({ fetch }) => fetch),
      [
        { kind: "pointed", base: record, offset: 8, size: 8, signed: false, space: "kernel" },
        {
          kind: "binary",
          operator: "+",
          left: { kind: "address", base: record, offset: 20 },
          right: {
            kind: "binary",
            operator: "&",
            left: { kind: "pointed", base: record, offset: 16, size: 4, signed: false, space: "kernel" },
            right: { kind: "constant", value: 0xffffn },
          },
        },
      ],
    );
  }
  const [{ context, sites }] = resolve("user_events:app:request", ["args"], { asEvents: true }).variants;
  assert.ok(context !== "host");
  assert.deepEqual(
    [context.program.type, sites[0].name, sites[0].found],
    ["tracepoint", "user_events:app_request", "tracepoint:user_events:app_request"],
  );
  assert.deepEqual(complaint("user_events:app_requets"), [
    "no user event `app_requets`",
    "did you mean `app_request`?",
  ]);
});

test("an event is a raw tracepoint until its record is read", () => {
  assert.deepEqual(shape(resolve("tracepoint:sched:sched_switch")), ["raw_tracepoint: tracepoint:sched:sched_switch"]);
  const { context, sites } = resolve("tracepoint:sched:sched_switch", ["args"]).variants[0];
  assert.ok(context !== "host");
  assert.equal(context.program.type, "tracepoint");
  assert.deepEqual(sites[0]?.data, { kind: "perf", id: 10 });
  assert.deepEqual(context.args, [
    {
      name: "prev_comm",
      type: { kind: "array", element: i8, length: 16 },
      fetch: { kind: "address", base: "context", offset: 8 },
      place: "context",
    },
    { name: "prev_pid", type: i32, fetch: { kind: "context", offset: 24, size: 4, signed: true } },
  ]);
});

test("the raw tracepoints of system calls tell number and result, a program bound to them the registers", () => {
  const format: TracepointFormat = {
    id: 30,
    fields: [field("id", "long", 8, 8, true), field("args", "unsigned long[6]", 16, 48)],
  };
  const kind = (name: string, ...uses: string[]): string[] => {
    const [category, event] = ["raw_syscalls", name];
    const spec = {
      provider: "tracepoint",
      parts: [category, event],
      text: `${category}:${event}`,
      span: { start: 0, end: 1 },
    };
    return shape(resolveSpec(spec, { ...system, tracepoint: () => format }, { missing: "error", uses: new Set(uses) }));
  };
  assert.deepEqual(kind("sys_enter", "args", "args.id"), ["raw_tracepoint: tracepoint:raw_syscalls:sys_enter"]);
  assert.deepEqual(kind("sys_exit", "args", "args.id", "args.ret"), [
    "raw_tracepoint: tracepoint:raw_syscalls:sys_exit",
  ]);
  assert.deepEqual(kind("sys_enter", "args", "args.id", "args.args"), ["tracing: tracepoint:raw_syscalls:sys_enter"]);
  assert.deepEqual(kind("sys_enter", "args", "args.*"), ["tracing: tracepoint:raw_syscalls:sys_enter"]);
  assert.deepEqual(kind("sys_exit", "args", "args.*"), ["tracing: tracepoint:raw_syscalls:sys_exit"]);
  assert.deepEqual(kind("sys_enter", "args", "args.id", "ctx"), ["tracepoint: tracepoint:raw_syscalls:sys_enter"]);
});

test("functions of BPF programs are bound to one by one", () => {
  const names = (text: string): string[] =>
    resolve(text).variants.flatMap(({ sites }) => sites.map(({ name }) => name));
  const { context } = resolve("fentry:bpf:each").variants[0];
  assert.ok(context !== "host");
  assert.deepEqual(context.program.load, { attachType: 24, btfId: 4, program: 5 });
  assert.deepEqual(names("fexit:bpf:count_reads"), ["fexit:bpf:5:count_reads", "fexit:bpf:9:count_reads"]);
  assert.deepEqual(names("fentry:bpf:5:*"), ["fentry:bpf:5:count_reads", "fentry:bpf:5:each"]);
  // Before Linux 6.8 none can be bound to one that is itself bound to a function.
  assert.deepEqual(names("fentry:bpf:count*"), ["fentry:bpf:5:count_reads", "fentry:bpf:9:count_reads"]);
  const older = { ...system, capabilities: { ...system.capabilities, kernel: [6, 1] as const } };
  const spec = { provider: "fentry", parts: ["bpf", "count*"], text: "fentry:bpf:count*", span: { start: 0, end: 1 } };
  assert.deepEqual(
    resolveSpec(spec, older, { missing: "error", uses: new Set() }).variants.map(({ sites }) => sites[0]?.name),
    ["fentry:bpf:5:count_reads"],
  );
  assert.deepEqual(complaint("fentry:bpf:eech"), [
    "no loaded BPF program has a function `eech`",
    "did you mean `each`?",
  ]);
  assert.deepEqual(complaint("fentry:bpf:7:x*"), [
    "no function of a loaded BPF program matches `fentry:bpf:7:x*`, of the program 7",
    "`strobe -l 'fentry:bpf:*'` lists those there are: programs without type information cannot be traced",
  ]);
  assert.deepEqual(
    [...listProbes("fexit:bpf:9:*", system, { verbose: false })],
    [{ probe: "fexit:bpf:9:count_reads" }],
  );
});

test("misspelt probes get the nearest names", () => {
  assert.deepEqual(complaint("tracepoint:sched:sched_swich"), [
    "no matches for tracepoint sched:sched_swich",
    "did you mean `sched_switch`?",
  ]);
  assert.deepEqual(complaint("tracepoint:sched_switch"), [
    "a tracepoint has a category and a name",
    "did you mean `tracepoint:sched:sched_switch`?",
  ]);
  assert.deepEqual(complaint("tracepont:sched:x"), ["invalid probe type: tracepont", "did you mean `tracepoint`?"]);
  assert.deepEqual(complaint("fentry:vfs_raed"), [
    "no matches for fentry vfs_raed: there is no kernel function `vfs_raed`",
    "did you mean `vfs_read`?",
  ]);
  assert.deepEqual(complaint("uprobe:app:maloc"), [
    "no matches for uprobe app:maloc: there is no function `maloc` in /bin/app",
    "did you mean `malloc`?",
  ]);
  assert.deepEqual(complaint("usdt:app:tik"), ["no static probe in /bin/app matches `tik`", "did you mean `tick`?"]);
  assert.deepEqual(complaint("software:fault"), ["fault is not a software probe", "did you mean `faults`?"]);
  assert.deepEqual(resolve("tracepoint:sched:nope", [], { missing: "warn" }).diagnostics[0]?.severity, "warning");
});

test("functions of programs: names, offsets, addresses, C++ names", () => {
  const offsets = (text: string): unknown[] =>
    resolve(text).variants.flatMap(({ sites }) =>
      sites.map((site) => [site.name, (site.data as { offset: bigint }).offset]),
    );
  assert.deepEqual(offsets("u:app:main"), [["uprobe:/bin/app:main", 0x1000n]]);
  assert.deepEqual(offsets("u:app:main+4"), [["uprobe:/bin/app:main+4", 0x1004n]]);
  assert.deepEqual(offsets("u:app:0x401010"), [["uprobe:/bin/app:0x401010", 0x1010n]]);
  assert.deepEqual(offsets("u:app:m*"), [
    ["uprobe:/bin/app:main", 0x1000n],
    ["uprobe:/bin/app:malloc", 0x1010n],
  ]);
  assert.deepEqual(offsets('ur:app:cpp:"app::Server::handle"'), [
    ["uretprobe:/bin/app:cpp:app::Server::handle", 0x1020n],
  ]);
  assert.deepEqual(complaint("u:app:main+99"), ["`main` has only 16 bytes", undefined]);
});

test("a static probe's places share a program unless their arguments lie differently", () => {
  assert.equal(resolve("usdt:app:tick", ["probe"]).variants.length, 1);
  const { variants } = resolve("usdt:app:app:tick", ["arg0"]);
  assert.deepEqual(
    variants.map(({ sites }) => sites.map((site) => site.data)),
    [
      [{ path: "/bin/app", offset: 0x1004n, semaphore: 0x3000n }],
      [{ path: "/bin/app", offset: 0x1014n, semaphore: 0x3000n }],
    ],
  );
  assert.equal(
    resolve("usdt:app:tick", ["arg1"]).diagnostics[0]?.message,
    "argument 1 of usdt:/bin/app:app:tick cannot be read: it is in a vector register, which a probe cannot read",
  );
});

test("times and counts", () => {
  const timer = (text: string): unknown =>
    resolve(text).variants.map(({ sites }) => [sites[0].name, (sites[0].data as { period: number }).period])[0];
  assert.deepEqual(timer("i:1s"), ["interval:us:1000000", 1e9]);
  assert.deepEqual(timer("interval:ms:10"), ["interval:ms:10", 1e7]);
  assert.deepEqual(timer("p:hz:100"), ["profile:hz:100", 1e7]);
  assert.deepEqual(shape(resolve("i:s:1")), ["perf_event: interval:s:1"]);
  assert.deepEqual(complaint("i:m:10")[0], "m is not an accepted unit of time: use s, ms, us or hz, in `i:m:10`");
  assert.deepEqual(resolve("s:cs:1e3").variants[0]?.sites, [
    { name: "software:cs:1e3", data: { config: 3, count: 1000n } },
  ]);
});

test("listings: by kind, by any kind, by bare name", () => {
  const list = (pattern: string, verbose = false): unknown[] => [...listProbes(pattern, system, { verbose })];
  assert.deepEqual(list("t:*:*exec", true), [
    { probe: "tracepoint:sched:sched_process_exec", details: ["    __data_loc char[] filename"] },
  ]);
  assert.deepEqual(
    list("*:vfs_*"),
    ["fentry:vmlinux:vfs_read", "fexit:vmlinux:vfs_read", "kprobe:vfs_read", "kretprobe:vfs_read"].map((probe) => ({
      probe,
    })),
  );
  assert.deepEqual(list("sched_switch"), [
    { probe: "tracepoint:sched:sched_switch" },
    { probe: "rawtracepoint:vmlinux:sched_switch" },
  ]);
  assert.deepEqual(list("fr:vfs_read", true), [
    { probe: "fexit:vmlinux:vfs_read", details: ["    struct file * file", "    int n", "    long retval"] },
  ]);
});

test("wildcards", () => {
  assert.deepEqual(
    ["a*c", "a?c", "a[bx]c", "a[!b]c", "a.c", "**"].map((pattern) => matches(pattern, "abc")),
    [true, true, true, false, false, true],
  );
});

test("the registry knows the names that providers say they have", () => {
  const said = allProviders().flatMap(({ name, aliases }) => [name, ...aliases].map((word) => [word, name] as const));
  assert.deepEqual([...providerNames], said);
});

test("aliases find their provider, C++ names their source", () => {
  assert.deepEqual(
    ["BEGIN", "kfunc", "U", "rt", "aw", "K"].map((name) => findProvider(name)?.name),
    ["begin", "fentry", "usdt", "rawtracepoint", "asyncwatchpoint", undefined],
  );
  assert.deepEqual(
    ["_Z3addii", "_ZN3app6ServerC2Ev", "_ZNK3app3getEv", "_ZNSt6vectorIiE4pushEv", "main"].map(sourceName),
    ["add", "app::Server::Server", "app::get", undefined, undefined],
  );
});

test("a place inside an instruction is refused", () => {
  assert.deepEqual(complaint("uprobe:/bin/app:main+5"), [
    "`main+5` is inside an instruction, which begins at main+4",
    undefined,
  ]);
  assert.deepEqual(complaint("uprobe:/bin/app:0x401003"), [
    "0x401003 is inside an instruction of `main`, which begins at main+2",
    undefined,
  ]);
});

test("a matcher says what matches() does", () => {
  const patterns = ["vfs_*", "*", "vfs_read", "*_read", "vfs_[rw]*", "vfs_?ead", "a[b", "a**", "", "v*[d]"];
  const names = ["vfs_read", "vfs_write", "vfs_", "vfs", "x_read", "a[b", "a[bc", "a", "", "vd"];
  for (const pattern of patterns) {
    const accepts = matcher(pattern);
    for (const name of names) assert.equal(accepts(name), matches(pattern, name), `${pattern} ${name}`);
  }
  assert.equal(matcher("vfs_*")("vfs_write"), true);
  assert.equal(matcher("vfs_*")("xvfs_"), false);
});

test("only what this kernel has is advised in place of what it has not", () => {
  const help = (text: string, capabilities: Partial<System["capabilities"]>): string | undefined => {
    const [provider, ...parts] = text.split(":");
    const machine: System = {
      ...system,
      symbolAddress: () => 0x1000n,
      capabilities: { ...system.capabilities, ...capabilities },
    };
    return resolveSpec({ provider, parts, text, span: { start: 0, end: 1 } }, machine, {
      missing: "error",
      uses: new Set(),
    }).diagnostics[0]?.help;
  };
  assert.equal(help("fentry:untyped", {}), "try kprobe:untyped");
  assert.equal(help("fentry:untyped", { kprobes: false }), undefined);
  assert.equal(
    help("fentry:vfs_read", { btf: false }),
    "the kernel must be built with CONFIG_DEBUG_INFO_BTF; a kprobe does without",
  );
  assert.equal(
    help("fentry:vfs_read", { btf: false, kprobes: false }),
    "the kernel must be built with CONFIG_DEBUG_INFO_BTF",
  );
});
