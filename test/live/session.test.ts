// A session over plans made by hand, on this machine's kernel.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { Assembler } from "../../src/bpf/assembler.ts";
import { Alu, Jump, Pseudo } from "../../src/bpf/instruction.ts";
import type { BpfPlan, KernelMap, KernelProgram, Relocation } from "../../src/compiler/bpf/bpf-plan.ts";
import type { EventSchema, Plan } from "../../src/compiler/plan.ts";
import type { Binding } from "../../src/language/context.ts";
import { u64 } from "../../src/language/types.ts";
import { listLinks, listMaps, listPrograms, rawTracepointOpen } from "../../src/linux/bpf/bpf.ts";
import { possibleCpus } from "../../src/linux/perf/perf.ts";
import type { Attacher } from "../../src/providers/provider.ts";
import { decoder, type DecodedValue } from "../../src/session/decode.ts";
import type { Consumer, MapSnapshot, Trouble } from "../../src/session/events.ts";
import { AttachError } from "../../src/session/live/attachments.ts";
import { LiveSource, type LiveOptions } from "../../src/session/live/live-source.ts";
import { openSession as openOver, type Session, type SessionOptions } from "../../src/session/session.ts";

type OpenOptions = SessionOptions & LiveOptions;

async function openSession(plan: Plan, options: OpenOptions): Promise<Session> {
  return openOver(plan, new LiveSource(plan, options), options);
}

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };

const config: Plan["config"] = {
  maxStringLength: 64,
  maxElements: 16,
  maxMapKeys: 64,
  hashTables: "kernel",
  maxCatBytes: 64,
  maxProbes: 8,
  maxBpfProgs: 8,
  ringBytes: 1 << 16,
  onStackLimit: 32,
  stackMode: "bpftrace",
  stackUnwinding: "fp",
  missingProbes: "error",
  blankBeforeMaps: true,
  printMapsOnExit: true,
  stringTrailer: "..",
  cppDemangle: true,
  lazySymbolication: false,
  license: "Dual MIT/GPL",
  logSize: 1 << 16,
  showDebugInfo: false,
  cacheUserSymbols: "PER_PID",
};

// Nobody else's objects have these names, though other tracers may come and go.
const tag = `t${process.pid}`;
const stripe = 64;
const lostOffset = 16;
const writeNumber = process.arch === "arm64" ? 64 : 1;

const percpuMap: KernelMap = {
  role: { kind: "percpu", stripe },
  name: `${tag}_p`,
  type: 2,
  keySize: 4,
  valueSize: stripe * possibleCpus(),
  entries: 1,
  flags: 0x400,
};
const globalsMap: KernelMap = {
  role: { kind: "globals", size: 16 },
  name: `${tag}_g`,
  type: 2,
  keySize: 4,
  valueSize: 16,
  entries: 1,
  flags: 0x400,
};
const ringMap: KernelMap = {
  role: { kind: "events" },
  name: `${tag}_r`,
  type: 27,
  keySize: 0,
  valueSize: 0,
  entries: 1 << 16,
  flags: 0,
};
const hashMap: KernelMap = {
  role: { kind: "map", map: 1 },
  name: `${tag}_h`,
  type: 1,
  keySize: 8,
  valueSize: 8,
  entries: 64,
  flags: 0,
};
const kernelMaps = [percpuMap, globalsMap, ringMap, hashMap];

const dataSchema: EventSchema = {
  action: { kind: "data", name: "n" },
  fields: [{ name: "n", type: u64, offset: 8 }],
  size: 16,
  probe: "raw",
};
const exitSchema: EventSchema = { ...dataSchema, action: { kind: "exit" } };
const clearSchema: EventSchema = { ...dataSchema, action: { kind: "clear-map", map: 1 }, fields: [], size: 8 };
const printSchema: EventSchema = { ...clearSchema, action: { kind: "print-map", map: 1 } };

function bpfOf(...programs: KernelProgram[]): BpfPlan {
  return {
    storage: [{ kind: "percpu-slot", offset: 0 }, { kind: "hash" }, { kind: "slot", offset: 0 }],
    loops: [],
    counters: { lost: [lostOffset, lostOffset, lostOffset, lostOffset], watches: [], loops: [], missed: [] },
    maps: kernelMaps,
    programs,
  };
}

const basePlan: Plan = {
  config,
  maps: [
    {
      name: "writes",
      shown: "@writes",
      keys: [],
      value: { kind: "aggregate", aggregate: "count", signed: false },
      entries: 1,
    },
    { name: "by", shown: "@by", keys: [u64], value: u64, entries: 64 },
    { name: "unset", shown: "@unset", keys: [], value: u64, entries: 1 },
  ],
  hosts: [],
  schemas: [dataSchema, exitSchema, clearSchema, printSchema],
  probeNames: ["raw"],
  timeFormats: [],
  packetFiles: [],
  placements: [],
  shown: [],
  watches: [],
  bpf: bpfOf(),
};

const binding: Binding = { defaultSpace: "kernel", cookie: false };

/** Counts the child's write calls (or everybody's exits of them) and sends the number of each. */
function countingProgram(): KernelProgram {
  const a = new Assembler<Omit<Relocation, "instruction">>();
  const out = a.label();
  a.alu(Alu.MOV, true, 6, 1);
  a.call(14); // get_current_pid_tgid
  a.aluImmediate(Alu.RSH, true, 0, 32);
  a.patched(1, 0, 0, { kind: "child-pid", map: 0, offset: 0 });
  a.jumpIf(Jump.JNE, true, 0, 1, out);
  a.load(8, false, 7, 6, 8); // sys_enter's second argument: the number of the call
  a.jumpIfImmediate(Jump.JNE, true, 7, writeNumber, out);
  a.call(8); // get_smp_processor_id
  a.jumpIfImmediate(Jump.JGE, true, 0, possibleCpus(), out);
  a.aluImmediate(Alu.MUL, true, 0, stripe);
  a.patched(8, Pseudo.MAP_VALUE, 0, { kind: "map-value", map: 0, offset: 0 });
  a.alu(Alu.ADD, true, 8, 0);
  a.storeImmediate(8, 8, 0, 1);
  a.load(8, false, 9, 8, 8);
  a.aluImmediate(Alu.ADD, true, 9, 1);
  a.store(8, 8, 8, 9);
  a.storeImmediate(8, 10, -16, 0);
  a.store(8, 10, -8, 7);
  a.patched(1, Pseudo.MAP_FD, 0, { kind: "map", map: 2, offset: 0 });
  a.alu(Alu.MOV, true, 2, 10);
  a.aluImmediate(Alu.ADD, true, 2, -16);
  a.aluImmediate(Alu.MOV, true, 3, 16);
  a.aluImmediate(Alu.MOV, true, 4, 0);
  a.call(130); // ringbuf_output
  a.jumpIfImmediate(Jump.JEQ, true, 0, 0, out);
  a.load(8, false, 9, 8, lostOffset);
  a.aluImmediate(Alu.ADD, true, 9, 1);
  a.store(8, 8, lostOffset, 9);
  a.bind(out);
  a.aluImmediate(Alu.MOV, true, 0, 0);
  a.exit();
  const { code, patches } = a.finish();
  return {
    name: `${tag}_prog`,
    provider: "raw",
    type: "raw_tracepoint",
    binding,
    sites: [{ name: "raw:sys_enter", data: "sys_enter" }],
    cookies: [0],
    code,
    relocations: patches.map(({ instruction, note }) => ({ instruction, ...note })),
    subprograms: [],
    frame: 0,
  };
}

const raw: Attacher = {
  attach({ program, sites: [site] }) {
    const descriptors = [rawTracepointOpen(String(site.data), program)];
    return {
      attached: [site],
      failed: [],
      descriptors,
      [Symbol.dispose]: () => assert.fail("what names descriptors is not disposed"),
    };
  },
};

type Happened =
  | ["event", DecodedValue]
  | ["map", string, [DecodedValue, DecodedValue][]]
  | ["attached", number]
  | ["end"]
  | ["text", string];

class Recorder implements Consumer {
  readonly happened: Happened[] = [];
  readonly troubles: Trouble[] = [];
  onEvent: () => void = () => {};

  handler(schema: EventSchema, memory: Parameters<Consumer["handler"]>[1]): (offset: number) => void {
    const [field] = schema.fields;
    const decode = decoder(field.type);
    return (offset) => {
      this.happened.push(["event", decode(memory.view, memory.bytes, offset + field.offset)]);
      this.onEvent();
    };
  }
  map({ map, entries }: MapSnapshot): void {
    const decodeKey = map.keys.length > 0 ? decoder(map.keys[0]) : () => null;
    const decodeValue = decoder(map.value);
    const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.happened.push([
      "map",
      map.name,
      entries.map(([key, value]) => [decodeKey(view(key), key, 0), decodeValue(view(value), value, 0)]),
    ]);
  }
  text(text: Uint8Array): void {
    this.happened.push(["text", Buffer.from(text).toString()]);
  }
  trouble(trouble: Trouble): void {
    this.troubles.push(trouble);
  }
  attached(probes: number): void {
    this.happened.push(["attached", probes]);
  }
  endOfEvents(): void {
    this.happened.push(["end"]);
  }
  flush(): void {}
}

function options(consumer: Consumer, more: Partial<OpenOptions> = {}): OpenOptions {
  return {
    consumer,
    findAttacher: (name) => (name === "raw" ? raw : undefined),
    formatter: () => () => "",
    shown: () => "",
    ...more,
  };
}

function assertNothingLeft(): void {
  assert.deepEqual(
    listPrograms().filter(({ name }) => name.startsWith(tag)),
    [],
  );
  assert.deepEqual(
    listMaps().filter(({ name }) => name.startsWith(tag)),
    [],
  );
  assert.deepEqual(
    listLinks().filter(({ name }) => name.startsWith(tag)),
    [],
  );
}

/** The kernel frees programs, and then the maps that they used, a moment after their last descriptor. */
async function settled(): Promise<void> {
  const ours = ({ name }: { readonly name: string }) => name.startsWith(tag);
  for (let i = 0; i < 5000 && (listPrograms().some(ours) || listMaps().some(ours)); i++) await sleep(20);
}

/** Source of a host program that emits numbers and acts by schema: [schema, value?]. */
function emitting(...records: [schema: number, value?: number][]): string {
  return `(runtime) => { for (const [schema, value] of ${JSON.stringify(records)}) {
    const record = new Uint8Array(value === undefined ? 8 : 16);
    const view = new DataView(record.buffer);
    view.setUint32(0, schema, true);
    if (value !== undefined) view.setBigUint64(8, BigInt(value), true);
    runtime.emit(schema, record);
  } }`;
}

test("counts every write of a command, sends each, and ends with it, leaving nothing", deadline, async () => {
  const consumer = new Recorder();
  const session = await openSession(
    {
      ...basePlan,
      bpf: bpfOf(countingProgram()),
      hosts: [
        {
          name: "begin",
          provider: "begin",
          once: "begin",
          sites: [{ name: "begin", data: null }],
          source: emitting([0, 1000]),
        },
        {
          name: "end",
          provider: "end",
          once: "end",
          sites: [{ name: "end", data: null }],
          source: emitting([0, 2000]),
        },
      ],
    },
    options(consumer, { command: "dd if=/dev/zero of=/dev/null bs=1 count=5000 status=none" }),
  );
  assert.equal(session.attached, 3);
  assert.ok(session.childPid);
  assert.ok(listPrograms().some(({ name }) => name === `${tag}_prog`));
  assert.deepEqual(await session.ended, { exitCode: 0, reason: "target" });

  const { happened } = consumer;
  assert.deepEqual(happened[0], ["event", 1000]);
  assert.deepEqual(happened[1], ["attached", 3]);
  assert.deepEqual(happened.slice(-3), [["event", 2000], ["end"], ["map", "writes", [[null, 5000]]]]);
  const lost = consumer.troubles.reduce((sum, trouble) => sum + (trouble.kind === "lost" ? trouble.count : 0), 0);
  const writes = happened.slice(2, -3);
  assert.ok(writes.every(([kind, value]) => kind === "event" && value === writeNumber));
  assert.equal(writes.length + lost, 5000);
  assert.ok(writes.length > 0);
  await settled();
  assertNothingLeft();
  assert.throws(() => session.snapshot(0), RangeError);
});

test(
  "intervals tick in order of their times; exit() ends the handlers, runs end and prints the maps",
  deadline,
  async () => {
    const consumer = new Recorder();
    const interval = (name: string, milliseconds: number, source: string) => ({
      name,
      provider: "interval",
      sites: [{ name, data: { period: milliseconds * 1e6 } }],
      source,
    });
    const put =
      "const key = new Uint8Array(8); const value = new Uint8Array(8); value[0] = 7; key[0] = 1; runtime.mapStore(1, key, value); runtime.aggregate(0, null, 1n);";
    const session = await openSession(
      {
        ...basePlan,
        hosts: [
          interval(
            "slow",
            50,
            `(runtime) => { ${put} (${emitting([3], [2], [3], [0, 5], [1, 3], [0, 6])})(runtime); }`,
          ),
          interval("fast", 20, emitting([0, 2])),
          {
            name: "end",
            provider: "end",
            once: "end",
            sites: [{ name: "end", data: null }],
            source: `(runtime) => { ${put} }`,
          },
        ],
      },
      options(consumer),
    );
    assert.deepEqual(await session.ended, { exitCode: 3, reason: "exit" });
    assert.deepEqual(consumer.happened, [
      ["attached", 3],
      ["event", 2],
      ["event", 2],
      ["map", "by", [[1, 7]]],
      ["map", "by", []],
      ["event", 5],
      ["end"],
      ["map", "by", [[1, 7]]],
      ["map", "writes", [[null, 2]]],
    ]);
    assertNothingLeft();
  },
);

test("stop() ends a session that waits, and a consumer that throws ends it with its error", deadline, async () => {
  const quiet = await openSession({ ...basePlan, bpf: bpfOf(countingProgram()) }, options(new Recorder()));
  quiet.stop();
  assert.deepEqual(await quiet.ended, { exitCode: 0, reason: "stop" });

  const consumer = new Recorder();
  consumer.onEvent = () => {
    throw new Error("the output was closed");
  };
  const failing = await openSession(
    { ...basePlan, bpf: bpfOf(countingProgram()) },
    options(consumer, { command: "dd if=/dev/zero of=/dev/null bs=1 count=10 status=none" }),
  );
  await assert.rejects(failing.ended, /the output was closed/);
  assert.deepEqual(
    consumer.happened.filter(([kind]) => kind === "map"),
    [],
  );
  await settled();
  assertNothingLeft();
});

test("the end of a -p process ends the session", deadline, async () => {
  const sleeper = spawn("sleep", ["600"]);
  assert.ok(sleeper.pid);
  const consumer = new Recorder();
  const session = await openSession(basePlan, options(consumer, { pid: sleeper.pid }));
  sleeper.kill();
  assert.deepEqual(await session.ended, { exitCode: 0, reason: "target" });
  await assert.rejects(openSession(basePlan, options(consumer, { pid: sleeper.pid })), /no such process/);
});

test(
  "probes that cannot attach are an error or a warning, as configured; a refused program leaves nothing",
  deadline,
  async () => {
    const program = countingProgram();
    const failing: Attacher = {
      attach: ({ sites }) => ({
        attached: [],
        failed: sites.map((site) => ({ site, reason: "no" })),
        descriptors: [],
        [Symbol.dispose]() {},
      }),
    };
    const plan = { ...basePlan, bpf: bpfOf(program) };
    await assert.rejects(openSession(plan, options(new Recorder(), { findAttacher: () => failing })), (error) => {
      assert.ok(error instanceof AttachError);
      assert.deepEqual(error.failed, [{ probe: "raw:sys_enter", reason: "no" }]);
      return true;
    });
    const consumer = new Recorder();
    await using session = await openSession(
      { ...plan, config: { ...config, missingProbes: "warn" } },
      options(consumer, { findAttacher: () => failing }),
    );
    assert.equal(session.attached, 0);
    assert.deepEqual(consumer.troubles, [{ kind: "attach", probe: "raw:sys_enter", reason: "no" }]);
    session.stop();
    await session.ended;

    // r0 is never set: the verifier refuses.
    const broken = { ...program, code: new Uint8Array([0x95, 0, 0, 0, 0, 0, 0, 0]), relocations: [] };
    await assert.rejects(
      openSession({ ...basePlan, bpf: bpfOf(program, broken) }, options(new Recorder())),
      /R0 !read_ok/,
    );
    await settled();
    assertNothingLeft();
  },
);
