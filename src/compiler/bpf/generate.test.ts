import { strict as assert } from "node:assert";
import { test } from "node:test";
import { disassemble } from "../../bpf/disassembler.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import { u64 } from "../../language/types.ts";
import { contextOf, IrBuilder, irMap, slotMap } from "../../../test/support/ir-builder.ts";
import type { KernelMap } from "./bpf-plan.ts";
import type { WayToTask } from "../kernel-structures/task.ts";
import { runsOf } from "./dispatch.ts";
import { generateProgram, scratchBytes } from "./generate.ts";
import type { GenerateOptions } from "./scope.ts";
import { addressBytes } from "./output.ts";

const capabilities: Capabilities = {
  kernel: [6, 18],
  btf: true,
  mayGoto: true,
  ringBuffer: true,
  cpuV4: true,
  cpus: 4,
  taskBtf: true,
};
const kernelMaps: KernelMap[] = [
  { role: { kind: "globals", size: 64 }, name: "globals", type: 2, keySize: 4, valueSize: 64, entries: 1, flags: 0 },
  { role: { kind: "percpu", stripe: 64 }, name: "percpu", type: 2, keySize: 4, valueSize: 256, entries: 1, flags: 0 },
  {
    role: { kind: "map", map: 1 },
    name: "m",
    type: 1,
    keySize: 8,
    valueSize: 256,
    entries: 16,
    flags: 0,
    failureOffset: 56,
  },
];
const count = { kind: "aggregate", aggregate: "count", signed: false } as const;

function textOf(
  build: (f: IrBuilder) => void,
  maps = [
    slotMap(0),
    irMap("m", [u64], count, { kind: "percpu-hash", copies: 4, stride: 64 }),
    irMap("c", [], count, { kind: "percpu-slot", offset: 16 }),
  ],
  more: Partial<GenerateOptions> = {},
): string[] {
  const f = new IrBuilder();
  build(f);
  const fn = f.finish(contextOf("raw_tracepoint"));
  const { code } = generateProgram(
    fn,
    { functions: [fn], maps, probeNames: [] },
    {
      schemas: [],
      storage: maps.map(({ storage }) => storage),
      counters: { lost: [] },
      kernelMaps,
      capabilities,
      directLoads: true,
      taskComm: () => 1752,
      taskIds: () => ({ pid: 1264, tgid: 1268 }),
      ...more,
    },
  );
  return disassemble(code).map((line) => line.trim());
}

test("a counter is this CPU's word in a mapped array", () => {
  assert.deepEqual(
    textOf((f) => f.add({ op: "aggregate", map: 2 })),
    [
      "0: call get_smp_processor_id#8",
      "1: r0 &= 3",
      "2: r0 <<= 6",
      "3: r1 = map[0] + 0",
      "5: r1 += r0",
      "6: *(u64 *)(r1 + 16) = 1",
      "7: r0 = *(u64 *)(r1 + 24)",
      "8: r0 += 1",
      "9: *(u64 *)(r1 + 24) = r0",
      "10: r0 = 0",
      "11: exit",
    ],
  );
});

test("the current task is asked for once: its name and its numbers are read of it", () => {
  const text = textOf((f) => {
    const [yes, no] = [f.block(), f.block()];
    const name = { kind: "slot", slot: f.slot(16), offset: 0 } as const;
    f.add({ op: "fill", to: name, source: { kind: "comm" } });
    f.branch(f.compare("eq", f.argument(1), f.constant(59)), yes, no);
    f.at(yes);
    f.add({ op: "aggregate", map: 1, key: f.key(f.binary("lshr", f.builtin("pid-and-tid"), f.constant(32))) });
    f.jump(no);
  });
  assert.deepEqual(
    text.filter((line) => line.includes("call get_current")).map((line) => line.replace(/^\d+: /, "")),
    ["call get_current_task_btf#158"],
  );
  assert.deepEqual(
    text.flatMap((line) => /\*\(u(?:32|64) \*\)\(r\d \+ (1\d{3})\)/.exec(line)?.[1] ?? []),
    ["1752", "1760", "1268", "1264"],
  );
});

test("numbers are read of the current task where asking for that is no call", () => {
  const calls = (way: WayToTask): string[] =>
    textOf(
      (f) => f.add({ op: "aggregate", map: 1, key: f.key(f.binary("lshr", f.builtin("pid-and-tid"), f.constant(32))) }),
      undefined,
      { wayToTask: () => way, taskAt: 48 },
    ).flatMap((line) => /call (?:get_current|kernel function|this_cpu_ptr)\S*(?: function)?.*/.exec(line)?.[0] ?? []);
  assert.deepEqual(calls("call"), ["call get_current_pid_tgid#14"]);
  assert.deepEqual(calls("verifier"), ["call get_current_task_btf#158"]);
  assert.deepEqual(calls({ variable: 5, cast: 6, task: 7 }), [
    "call kernel function#6",
    "call kernel function#6",
    "call this_cpu_ptr#154",
  ]);
});

test("user, group and cgroup are read of the current task where asking for that is no call", () => {
  const more = {
    taskUser: () => ({ uid: { pointers: [1736], at: 8 }, gid: { pointers: [1736], at: 12 } }),
    taskCgroup: () => ({ pointers: [2376, 112, 256], at: 96 }),
  };
  const reads = (name: "gid-and-uid" | "cgroup", way: WayToTask): string[] =>
    textOf((f) => f.add({ op: "aggregate", map: 1, key: f.key(f.builtin(name)) }), undefined, {
      ...more,
      wayToTask: () => way,
    }).flatMap(
      (line) =>
        /call get_current\w+|\(r\d \+ (?:8|12|96|112|256|1736|2376)\)/.exec(line)?.[0].replace(/r\d/, "r") ?? [],
    );
  assert.deepEqual(reads("gid-and-uid", "call"), ["call get_current_uid_gid"]);
  assert.deepEqual(reads("cgroup", "call"), ["call get_current_cgroup_id"]);
  assert.deepEqual(reads("gid-and-uid", "verifier"), [
    "call get_current_task_btf",
    "(r + 1736)",
    "(r + 12)",
    "(r + 1736)",
    "(r + 8)",
  ]);
  assert.deepEqual(reads("cgroup", "verifier"), [
    "call get_current_task_btf",
    "(r + 2376)",
    "(r + 112)",
    "(r + 256)",
    "(r + 96)",
  ]);
});

test("a predicate is one load and one jump; a keyed count's usual way is straight", () => {
  const text = textOf((f) => {
    const [yes, no] = [f.block(), f.block()];
    f.branch(f.compare("eq", f.argument(1), f.constant(59)), yes, no);
    f.at(yes);
    f.add({ op: "aggregate", map: 1, key: f.key(f.binary("lshr", f.builtin("pid-and-tid"), f.constant(32))) });
    f.jump(no);
  });
  assert.deepEqual(text.slice(0, 19), [
    "0: r0 = *(u64 *)(r1 + 8)",
    "1: if r0 != 59 goto 19",
    "2: call get_current_pid_tgid#14",
    "3: r0 >>= 32",
    "4: *(u64 *)(r10 - 8) = r0",
    "5: r1 = map[0]",
    "7: r2 = r10",
    "8: r2 += -8",
    "9: call map_lookup_elem#1",
    "10: r6 = r0",
    "11: if r6 == 0 goto 21",
    "12: call get_smp_processor_id#8",
    "13: r0 &= 3",
    "14: r0 <<= 6",
    "15: r6 += r0",
    "16: r0 = *(u64 *)(r6)",
    "17: r0 += 1",
    "18: *(u64 *)(r6) = r0",
    "19: r0 = 0",
  ]);
});

test("scratch memory is asked for only when the stack may not do", () => {
  const small = new IrBuilder();
  small.memory(64);
  const large = new IrBuilder();
  large.memory(300);
  large.memory(61);
  const size = (f: IrBuilder): number =>
    scratchBytes(f.finish(contextOf("raw_tracepoint")), { functions: [], maps: [], probeNames: [] });
  assert.equal(size(small), 0);
  assert.equal(size(large), 304 + 64);
});

test("numbers to dispatch on become runs", () => {
  assert.deepEqual(runsOf([5n, 1n, 2n, 3n, 9n, 5n]), [
    { from: 1n, to: 3n },
    { from: 5n, to: 5n },
    { from: 9n, to: 9n },
  ]);
});

test("addresses in network order", () => {
  assert.deepEqual([...addressBytes("192.168.0.1")], [192, 168, 0, 1]);
  assert.deepEqual([...addressBytes("::1")], [...Array.from({ length: 15 }, () => 0), 1]);
  assert.deepEqual(
    [...addressBytes("2001:db8::ff00:42:8329")],
    [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0x42, 0x83, 0x29],
  );
  assert.deepEqual([...addressBytes("::ffff:10.0.0.1")].slice(10), [255, 255, 10, 0, 0, 1]);
});
