// Generated programs of every type that this kernel lets load, with the operations that each allows.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Btf } from "../../src/debuginfo/btf.ts";
import { LinuxError } from "../../src/linux/error.ts";
import { type AggregateType, u32, u64 } from "../../src/language/types.ts";
import { boundBy, type ProgramForm, type ProgramType } from "../../src/language/context.ts";
import { copiesOf } from "../../src/compiler/layouts/copies.ts";
import type { IrFunction } from "../../src/compiler/ir/ir.ts";
import type { EventSchema } from "../../src/compiler/plan.ts";
import { contextOf, IrBuilder, irMap, slotMap, type PlacedMap } from "../support/ir-builder.ts";
import { type Bound, capabilities, KernelModule, kernelVariables, LOST } from "./codegen-kernel.ts";

const live = { skip: process.getuid?.() === 0 ? false : "needs root" };
const btf = new Btf(readFileSync("/sys/kernel/btf/vmlinux"));

const types: ProgramType[] = ["raw_tracepoint", "tracing", "tracepoint", "kprobe", "perf_event"];
const hash = irMap("hash", [u64], u64, { kind: "hash" });
const keyed = (name: string, type: AggregateType): PlacedMap =>
  irMap(name, [u64], type, { kind: "percpu-hash", ...copiesOf(type, 16, capabilities.cpus) });
const counts = keyed("counts", { kind: "aggregate", aggregate: "count", signed: false });
const histogram = keyed("hist", { kind: "aggregate", aggregate: "hist", signed: true, parameters: [2n] });
const slotCounts = irMap(
  "slot",
  [],
  { kind: "aggregate", aggregate: "count", signed: false },
  { kind: "percpu-slot", offset: 8 },
);
const slotHistogram = irMap(
  "slothist",
  [],
  { kind: "aggregate", aggregate: "hist", signed: true, parameters: [0n] },
  { kind: "percpu-slot", offset: 64 },
);
const stacks = {
  ...irMap("stacks", [], u32, { kind: "stacks" }),
  stacks: { frames: 16, buildId: false, unwind: false, displaced: 64 },
};
const maps: PlacedMap[] = [slotMap(0), hash, counts, histogram, slotCounts, slotHistogram, stacks];
const schema: EventSchema = {
  action: { kind: "data", name: "test" },
  size: 160,
  probe: "test",
  fields: [
    { name: "a", type: u64, offset: 8 },
    { name: "text", type: { kind: "string", capacity: 61 }, offset: 16 },
    { name: "comm", type: { kind: "string", capacity: 16 }, offset: 80 },
    { name: "stack", type: { kind: "stack", space: "user", mode: "raw", limit: 16 }, offset: 96 },
    { name: "buffer", type: { kind: "buffer", capacity: 32 }, offset: 112 },
  ],
};

function bound(type: ProgramType): Bound {
  if (type !== "tracing") return {};
  const found = btf.find("btf_trace_sched_switch", "typedef");
  return found === undefined ? {} : { btfId: found };
}

/** Loads; a type that this kernel refuses for policy skips the test. */
function accepted(
  t: { skip(message: string): void },
  build: (f: IrBuilder) => void,
  type: ProgramType,
  more: {
    readonly program?: Partial<ProgramForm>;
    readonly functions?: IrFunction[];
    readonly matches?: bigint[];
  } = {},
  use?: (module: KernelModule) => void,
): void {
  const f = new IrBuilder(`all_${type}`);
  build(f);
  try {
    using module = new KernelModule(f.finish(boundBy(contextOf(type), more.program ?? {}), more.matches), maps, {
      schemas: [schema],
      bound: bound(type),
      functions: more.functions ?? [],
    });
    use?.(module);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    // What this kernel's policy or configuration leaves out is not the generator's fault.
    const absent = /cannot use helper bpf_probe_write_user|failed to find the address for kernel symbol/.test(
      cause instanceof LinuxError ? (cause.log ?? "") : "",
    );
    if (absent) t.skip("this kernel leaves it out");
    else if (cause instanceof LinuxError && cause.errno === "EPERM") t.skip(`this kernel refuses ${type} programs`);
    else throw error;
  }
}

describe("programs of every type", live, () => {
  for (const type of types) {
    test(`${type}: values, maps, strings, stacks and events`, (t) => {
      accepted(
        t,
        (f) => {
          const first = f.fresh();
          f.add({ op: "load-context", result: first, offset: type === "tracepoint" ? 8 : 0, size: 8, signed: false });
          for (const name of [
            "pid-and-tid",
            "gid-and-uid",
            "cpu",
            "cgroup",
            "random",
            "nsecs-boot",
            "nsecs-monotonic",
            "nsecs-tai",
            "jiffies",
            "task",
            "child-pid",
            "elapsed",
          ] as const)
            f.result(0, f.builtin(name));
          const key = f.key(f.binary("and", first, f.constant(255)));
          f.add({ op: "map-store", map: 1, key, source: { kind: "value", value: first, width: 8 } });
          f.add({ op: "map-add", map: 1, key, value: f.constant(1) });
          f.add({ op: "aggregate", map: 2, key });
          f.add({ op: "aggregate", map: 3, key, value: first });
          f.add({ op: "aggregate", map: 4 });
          f.add({ op: "aggregate", map: 5, value: first });
          const text = f.memory(64);
          f.fill(text, { kind: "string", space: "user", address: first, size: 64, padded: true });
          const same = f.fresh();
          f.add({ op: "compare-strings", result: same, left: text, right: Buffer.from("/etc/passwd\0"), length: 64 });
          const [yes, no] = [f.block(), f.block()];
          f.branch(f.compare("eq", same, f.constant(0)), yes, no);
          f.at(yes);
          f.jump(no);
          f.at(no);
          const kernelStack = f.memory(16);
          f.fill(kernelStack, { kind: "stack", space: "kernel", map: 6, limit: 16, mode: "address" });
          const length = f.fresh();
          f.add({ op: "stack-length", result: length, stack: kernelStack });
          f.result(0, length);
          f.add({
            op: "emit",
            schema: 0,
            fields: [
              { kind: "value", value: first, width: 8 },
              { kind: "string", space: "user", address: first, limit: f.builtin("random"), size: 61, padded: false },
              { kind: "comm" },
              { kind: "stack", space: "user", map: 6, limit: 16, mode: "address" },
              {
                kind: "buffer",
                space: "kernel",
                address: first,
                length: f.builtin("random"),
                capacity: 32,
                padded: true,
              },
            ],
          });
          const signal = f.fresh();
          f.add({ op: "signal", result: signal, signal: f.constant(0), thread: false });
          f.add({ op: "signal", signal: f.constant(0), thread: true });
          f.result(0, signal);
          const address = f.memory(16);
          f.add({ op: "parse-address", to: address, text: Buffer.from("2001:db8::7") });
        },
        type,
      );
    });
  }

  test("kprobe and perf_event: what only they have", (t) => {
    accepted(
      t,
      (f) => {
        f.result(0, f.builtin("func-ip"));
        f.result(0, f.builtin("attach-cookie"));
      },
      "kprobe",
    );
    accepted(
      t,
      (f) => {
        const from = f.memory(16);
        f.add({ op: "zero", at: from, size: 16 });
        const written = f.fresh();
        f.add({ op: "write-user", result: written, address: f.argument(3), from, size: 16 });
        f.result(0, written);
      },
      "kprobe",
    );
    accepted(
      t,
      (f) => {
        f.result(0, f.builtin("user-mode"));
        f.result(0, f.builtin("attach-cookie"));
      },
      "perf_event",
    );
    accepted(t, (f) => f.result(0, f.builtin("attach-cookie")), "tracepoint");
    accepted(t, (f) => f.result(0, f.builtin("attach-cookie")), "raw_tracepoint");
  });

  test("tracing: typed loads, pointers as numbers, per-CPU variables, socket cookies", (t) => {
    const task = btf.find("task_struct", "struct");
    const definition = task === undefined ? undefined : btf.type(task);
    const pid = definition?.kind === "struct" ? definition.members.find(({ name }) => name === "pid") : undefined;
    assert.ok(pid !== undefined);
    accepted(
      t,
      (f) => {
        const next = f.fresh();
        f.add({ op: "load-context", result: next, offset: 16, size: 8, signed: false });
        for (const pointer of [next, f.builtin("task")]) {
          const read = f.fresh();
          f.add({
            op: "read",
            result: read,
            space: "typed",
            address: pointer,
            offset: pid.bitOffset / 8,
            size: 4,
            signed: true,
          });
          f.result(0, read);
          f.result(0, f.binary("lshr", pointer, f.constant(3)));
          f.result(0, f.binary("add", pointer, f.binary("mul", read, f.constant(8))));
          f.result(0, f.compare("ult", pointer, read));
          f.add({ op: "map-add", map: 0, value: pointer });
          const read2 = f.fresh();
          f.add({
            op: "read",
            result: read2,
            space: "typed",
            address: f.binary("add", pointer, f.constant(pid.bitOffset / 8)),
            offset: 0,
            size: 4,
            signed: false,
          });
          f.add({ op: "aggregate", map: 5, value: read2 });
        }
      },
      "tracing",
    );
    const runqueues = btf.find("runqueues", "variable");
    if (runqueues === undefined) return t.skip("no per-CPU variable in BTF");
    kernelVariables.set("runqueues", runqueues);
    accepted(
      t,
      (f) => {
        const here = f.fresh();
        f.add({ op: "percpu-address", result: here, symbol: "runqueues" });
        f.result(0, here);
        const there = f.fresh();
        f.add({ op: "percpu-address", result: there, symbol: "runqueues", cpu: f.argument(0) });
        const read = f.fresh();
        f.add({
          op: "read",
          result: read,
          space: "kernel",
          address: f.binary("add", there, f.constant(4)),
          offset: 0,
          size: 4,
          signed: false,
        });
        f.result(0, read);
      },
      "raw_tracepoint",
    );
  });

  test("dispatch lets only its numbers through", (t) => {
    for (const matches of [
      [3n],
      [1n, 5n, 9n],
      [0n, 1n, 2n, 3n, 10n, 12n, 14n, 16n, 18n, 20n, 21n, 22n, 40n, 59n, 257n, 1000n],
      Array.from({ length: 300 }, (_, i) => BigInt(i * 3)),
      [],
    ]) {
      accepted(
        t,
        (f) => f.add({ op: "map-add", map: 0, value: f.constant(1) }),
        "raw_tracepoint",
        { program: { dispatch: { kind: "context", offset: 8, size: 8, signed: true } }, matches },
        (module) => {
          for (let number = -3n; number < 1010n; number++) module.run(0n, BigInt.asUintN(64, number));
          assert.deepEqual(module.results(1), [BigInt(matches.length)]);
        },
      );
    }
  });

  test("events hold what was sent; a full ring is counted", (t) => {
    accepted(
      t,
      (f) => {
        f.add({
          op: "emit",
          schema: 0,
          fields: [
            { kind: "value", value: f.argument(0), width: 8 },
            { kind: "constant", bytes: Buffer.from("hello\0"), size: 61 },
            { kind: "comm" },
            { kind: "value", value: f.constant(0), width: 8 },
            { kind: "value", value: f.constant(0), width: 4 },
          ],
        });
      },
      "raw_tracepoint",
      {},
      (module) => {
        // 4096 bytes of ring hold 24 records of 160 + 8 bytes.
        for (let i = 0n; i < 30n; i++) module.run(i);
        assert.equal(module.perCpuWord(LOST), 6n);
      },
    );
  });

  test("large programs: long jumps and spilled registers", (t) => {
    accepted(
      t,
      (f) => {
        let sum = f.constant(0);
        for (let i = 0; i < 120; i++) {
          const key = f.key(f.constant(i));
          const a = f.argument(0);
          const [yes, no] = [f.block(), f.block(1)];
          const before = sum;
          const compared = f.compare("sgt", f.binary("add", a, f.constant(i)), f.constant(60));
          const other = f.block();
          f.branch(compared, yes, other);
          f.at(other);
          f.jump(no, before);
          f.at(yes);
          f.add({ op: "map-add", map: 1, key, value: a });
          f.add({ op: "aggregate", map: 3, key, value: a });
          f.jump(no, f.binary("add", before, f.constant(1)));
          f.at(no);
          sum = f.parameter(no);
        }
        f.result(0, sum);
      },
      "raw_tracepoint",
      {},
      (module) => {
        module.run(1n);
        assert.deepEqual(module.results(1), [60n]);
      },
    );
  });
});
