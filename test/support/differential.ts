// One script through both executors: the kernel (BPF_PROG_TEST_RUN on a raw tracepoint's program) and the JavaScript
// executor, the latter with the IR as it was lowered and as it was optimized. All three must leave the same.
import { createMap, loadProgram, mapDelete, mapLookup, mapUpdate, testRun } from "../../src/linux/bpf/bpf.ts";
import { mapBatches, mapDeleteAll } from "../../src/linux/bpf/map-batches.ts";
import { LinuxError } from "../../src/linux/error.ts";
import { Features } from "../../src/linux/kernel/features.ts";
import { closeFd } from "../../src/linux/ffi.ts";
import { MappedArray } from "../../src/linux/bpf/mapped-array.ts";
import { RingBuffer } from "../../src/linux/bpf/ring.ts";
import { parseScript } from "../../src/api/compile.ts";
import { bpftrace } from "../../src/language/bpftrace/language.ts";
import type { Language } from "../../src/language/language.ts";
import type { Context } from "../../src/language/context.ts";
import { fieldLayout, sizeOf } from "../../src/language/layout.ts";
import type { Type } from "../../src/language/types.ts";
import type { System } from "../../src/machine/system.ts";
import { compile, type Compiled, type CompileOptions } from "../../src/compiler/compile.ts";
import type { IrMap, IrModule } from "../../src/compiler/ir/ir.ts";
import { generate } from "../../src/compiler/javascript/generate.ts";
import { MemoryRuntime } from "./memory-runtime.ts";
import { evaluate } from "../../src/compiler/javascript/evaluate.ts";
import type { LoweredProgram } from "../../src/compiler/lower/lower.ts";
import type { KernelMap } from "../../src/compiler/bpf/bpf-plan.ts";
import type { EventSchema, Plan } from "../../src/compiler/plan.ts";
import { printModule } from "../../src/compiler/ir/print-ir.ts";
import { bucketHead } from "../../src/compiler/layouts/bucket-table.ts";
import { tableHead } from "../../src/compiler/layouts/shared-table.ts";
import { refusalOffsets, refusals } from "../../src/compiler/layouts/refusals.ts";
import { validateModule } from "./validate-ir.ts";
import {
  aggregateOf,
  copiedValues,
  HashMap,
  PercpuSlotMap,
  plainValues,
  SlotMap,
  type KernelTable,
  type LiveMap,
} from "../../src/session/maps.ts";
import { HostMap } from "../../src/session/host-map.ts";
import { BucketTableMap } from "../../src/session/bucket-table-map.ts";
import { SharedTableMap } from "../../src/session/shared-table-map.ts";
import { relocated } from "../../src/session/live/relocate.ts";
import { bareSystem } from "./bare-system.ts";
import { withMadeUpStatements } from "./made-up-statements.ts";
import { Random } from "./random.ts";

export interface Failure {
  readonly kind:
    | "rejected"
    | "invalid IR"
    | "refused by the kernel"
    | "crash"
    | "optimizer changed the result"
    | "kernel and host differ";
  readonly detail: string;
  /** The particulars that a smaller program must share. */
  readonly cause: string;
  readonly ir?: string;
}

export interface Verdict {
  readonly failure?: Failure;
  /** eBPF instructions: to see that the programs are worth running. */
  readonly instructions: number;
  readonly events: number;
  readonly entries: number;
  /** What it left, the same on the host and in the kernel. */
  readonly left?: readonly string[];
}

const BPF_PROG_TYPE_RAW_TRACEPOINT = 17;
const BPF_MAP_TYPE_ARRAY = 2;
const BPF_MAP_TYPE_RINGBUF = 27;
const BPF_F_MMAPABLE = 0x400;
const argumentCount = 6;
const globalsBytes = 1 << 16;
const percpuBytes = 1 << 20;
const ringBytes = 1 << 20;
/** The verifier's last words and its statistics: the log of every instruction takes it many seconds. */
const BPF_LOG_STATS = 4;

const context: Context = {
  provider: "rawtracepoint",
  program: { type: "raw_tracepoint", cookie: false },
  defaultSpace: "kernel",
  stacks: true,
  numbered: Array.from(
    { length: argumentCount },
    (_, i) => ({ kind: "context", offset: i * 8, size: 8, signed: false }) as const,
  ),
};

const resolve: CompileOptions["resolve"] = () => ({
  variants: [{ context, provider: "rawtracepoint", sites: [{ name: "rawtracepoint:differential", data: undefined }] }],
  diagnostics: [],
});

const capabilities = new Features().capabilities();
const system: System = { ...bareSystem, capabilities };

/** What keys of tables in mapped memory are multiplied by: any odd number. */
const multiplier = 0x51ed_270b_9f3a_c6d5n;
const ignore = (): void => {};

/** A script that begins so is of a language whose handlers end when something fails. */
const endsOnFaults = "// ends on faults\n";

export function compileScript(
  text: string,
  withoutPasses: readonly string[] = [],
  easyToVerify = false,
  mayGoto = capabilities.mayGoto,
  language: Language = bpftrace,
  captureOf?: (map: string) => boolean,
): Compiled {
  const { program, diagnostics } = parseScript({ name: "random", text }, { positional: [] }, language);
  const errors = diagnostics.filter((d) => d.severity === "error");
  if (errors.length > 0)
    return { diagnostics: errors, stages: { program, probes: [], typed: { maps: [], handlers: [], functions: [] } } };
  const { rules } = program;
  const made = withMadeUpStatements({ ...program, rules: { ...rules, texts: { ...rules.texts, ordered: true } } });
  return compile(
    text.startsWith(endsOnFaults)
      ? {
          ...made,
          rules: {
            ...made.rules,
            failedRead: "fault",
            integers: { ...rules.integers, byZero: "fault" },
            maps: { ...rules.maps, missing: "fault" },
          },
        }
      : made,
    { ...system, capabilities: { ...capabilities, mayGoto } },
    { resolve, withoutPasses, easyToVerify, captureOf },
  );
}

/** What a handler finds in its arguments, a run each: the values where arithmetic goes wrong, and any. */
export function randomInputs(seed: number, runs: number): readonly Uint8Array[] {
  const random = new Random(seed ^ 0x5bd1e995);
  const edges = [
    0n,
    1n,
    2n,
    3n,
    7n,
    8n,
    63n,
    64n,
    127n,
    128n,
    255n,
    256n,
    65535n,
    0x7fff_ffffn,
    0x8000_0000n,
    0xffff_ffffn,
    1n << 32n,
    (1n << 63n) - 1n,
    1n << 63n,
    -1n,
    -2n,
  ];
  return Array.from({ length: runs }, () => {
    const words = new BigInt64Array(argumentCount);
    for (let i = 0; i < argumentCount - 1; i++) {
      words[i] = random.chance(0.7)
        ? random.pick(edges)
        : (BigInt(random.below(2 ** 32)) << 32n) | BigInt(random.below(2 ** 32));
    }
    return new Uint8Array(words.buffer);
  });
}

/** What is left when the runs are over, as text, a fact a line. */
interface Outcome {
  readonly events: readonly string[];
  readonly maps: readonly string[];
  readonly records: number;
  readonly entries: number;
}

/** Owns the kernel maps that all programs share; those of a script's own are made anew for each. */
export class Differential implements Disposable {
  /** What the verifier is to tell of a refused program. */
  logLevel = BPF_LOG_STATS;
  /** Programs are to be those that are compiled again when the verifier gave up. */
  easyToVerify = false;
  /**
   * Whether the kernel's budget of rounds is asked for, which came with Linux 6.9: else loops of programs that are made easy to verify are
   * called.
   */
  mayGoto = capabilities.mayGoto;
  readonly #globals = createMap({
    name: "globals",
    type: BPF_MAP_TYPE_ARRAY,
    keySize: 4,
    valueSize: globalsBytes,
    entries: 1,
    flags: BPF_F_MMAPABLE,
  });
  readonly #percpu = createMap({
    name: "percpu",
    type: BPF_MAP_TYPE_ARRAY,
    keySize: 4,
    valueSize: percpuBytes,
    entries: 1,
    flags: BPF_F_MMAPABLE,
  });
  readonly #events = createMap({
    name: "events",
    type: BPF_MAP_TYPE_RINGBUF,
    keySize: 0,
    valueSize: 0,
    entries: ringBytes,
  });
  readonly #globalsMemory = new MappedArray(this.#globals, globalsBytes);
  readonly #percpuMemory = new MappedArray(this.#percpu, percpuBytes);
  readonly #ring = new RingBuffer(this.#events, ringBytes);

  [Symbol.dispose](): void {
    this.#ring[Symbol.dispose]();
    this.#percpuMemory[Symbol.dispose]();
    this.#globalsMemory[Symbol.dispose]();
    for (const fd of [this.#events, this.#percpu, this.#globals]) closeFd(fd);
  }

  /** `unordered`: events are compared as a set. */
  run(script: string, inputs: readonly Uint8Array[], unordered: boolean, language: Language = bpftrace): Verdict {
    const nothing = { instructions: 0, events: 0, entries: 0 };
    let compiled: Compiled;
    try {
      compiled = compileScript(script, [], this.easyToVerify, this.mayGoto, language);
    } catch (error) {
      return {
        ...nothing,
        failure: { kind: "crash", cause: messageOf(error), detail: `compiling: ${stackOf(error)}` },
      };
    }
    const { plan, stages } = compiled;
    const { lowered, module } = stages;
    if (plan === undefined || lowered === undefined || module === undefined) {
      const errors = compiled.diagnostics.filter((d) => d.severity === "error");
      // Constants that random arithmetic takes beyond what holds them: rightly refused, and nothing to compare.
      if (errors.some(({ message }) => /does not fit|outside of 64 bits/.test(message))) return nothing;
      return {
        ...nothing,
        failure: {
          kind: "rejected",
          cause: errors[0]?.message.replace(/[$@]\w+|\d+/g, "…") ?? "",
          detail: errors.map((d) => `${d.message} at \`${script.slice(d.span.start, d.span.end)}\``).join("\n"),
        },
      };
    }
    const ir = (): string => printModule(module, lowered.schemas);
    const instructions = plan.bpf.programs.reduce((sum, { code }) => sum + code.length / 8, 0);
    const fail = (kind: Failure["kind"], detail: string, cause = ""): Verdict => ({
      ...nothing,
      instructions,
      failure: { kind, detail, cause, ir: ir() },
    });
    const complaints = [
      ...validateModule(lowered.module).map((c) => `lowered: ${c}`),
      ...validateModule(module).map((c) => `optimized: ${c}`),
    ];
    if (complaints.length > 0) return fail("invalid IR", complaints.join("\n"));

    const handler = lowered.handlers[0]?.function ?? 0;
    let plain: Outcome;
    let optimized: Outcome;
    try {
      plain = runOnHost(lowered.module, handler, plan.schemas, inputs);
      optimized = runOnHost(module, handler, plan.schemas, inputs);
    } catch (error) {
      return fail("crash", `on the host: ${stackOf(error)}`, messageOf(error));
    }
    const changed = difference(plain, optimized, false, ["lowered", "optimized"]);
    if (changed !== undefined)
      return fail("optimizer changed the result", `${changed}\n\nas lowered:\n${printModule(lowered.module)}`);
    let kernel: Outcome;
    try {
      kernel = this.#runInKernel(plan, inputs);
    } catch (error) {
      if (error instanceof LinuxError)
        return fail(
          "refused by the kernel",
          `${error.message}\n${(error.log ?? "")
            .split("\n")
            .slice(this.logLevel === BPF_LOG_STATS ? -40 : 0)
            .join("\n")}`,
        );
      return fail("crash", `in the kernel: ${stackOf(error)}`, messageOf(error));
    }
    const differs = difference(kernel, optimized, unordered, ["kernel", "host"]);
    if (differs !== undefined) return fail("kernel and host differ", differs);
    return {
      instructions,
      events: kernel.records,
      entries: kernel.entries,
      left: [...kernel.events, ...kernel.maps],
    };
  }

  /**
   * The same script whole and as captured, with all its maps on the host: what differs, "" when nothing does, undefined
   * where it is refused either way.
   */
  runCaptured(script: string, inputs: readonly Uint8Array[], unordered: boolean): string | undefined {
    const whole = compileScript(script);
    const { plan } = compileScript(script, [], this.easyToVerify, this.mayGoto, bpftrace, () => true);
    if (whole.plan === undefined || plan === undefined) return undefined;
    const expected = runOnHost(whole.stages.module!, 0, whole.plan.schemas, inputs);
    const pid = BigInt(process.pid);
    const host = new MemoryRuntime({ maps: plan.maps, builtins: { "pid-and-tid": (pid << 32n) | pid } });
    return difference(this.#runInKernel(plan, inputs, host), expected, unordered, ["captured", "whole"]) ?? "";
  }

  /** `host`: runs what the host does of a handler that is captured. */
  #runInKernel(plan: Plan, inputs: readonly Uint8Array[], host?: MemoryRuntime): Outcome {
    const own: number[] = [];
    const tables = new Map<number, MappedArray>();
    const hosts = plan.schemas.map(({ action }) => (action.kind === "captured" ? evaluate(action.source) : undefined));
    const program = plan.bpf.programs[0];
    if (program === undefined) throw new Error("nothing was placed in the kernel");
    let stripe = 0;
    try {
      const descriptors = plan.bpf.maps.map((map) => {
        switch (map.role.kind) {
          case "globals":
            if (map.valueSize > globalsBytes) throw new Error(`${map.valueSize} bytes of globals`);
            this.#globalsMemory.bytes.fill(0, 0, map.valueSize);
            return this.#globals;
          case "percpu":
            if (map.valueSize > percpuBytes) throw new Error(`${map.valueSize} bytes of per-CPU memory`);
            stripe = map.role.stripe;
            this.#percpuMemory.bytes.fill(0, 0, map.valueSize);
            return this.#percpu;
          case "events":
            return this.#events;
          case "gates":
          case "packets":
          case "displaced-stacks":
          case "unwind-nodes":
          case "unwind-files":
          case "unwind-functions":
          case "unwind-wanted":
          case "unwind-processes":
            throw new Error("random programs are not governed, and take neither stacks nor packets");
          case "map":
          case "buckets":
          case "scratch": {
            const fd = createMap(map);
            own.push(fd);
            const { role } = map;
            if (role.kind === "buckets" || (role.kind === "map" && plan.bpf.storage[role.map].kind === "shared")) {
              const table = new MappedArray(fd, map.valueSize);
              const at = role.kind === "buckets" ? bucketHead.multiplier : tableHead.multiplier;
              table.words[at / 8] = multiplier;
              tables.set(role.map, table);
            }
            return fd;
          }
        }
      });
      const fd = loadProgram({
        name: "differential",
        type: BPF_PROG_TYPE_RAW_TRACEPOINT,
        license: "Dual MIT/GPL",
        subprograms: program.subprograms,
        logLevel: this.logLevel,
        logSize: this.logLevel === BPF_LOG_STATS ? 1 << 20 : 64 << 20,
        code: relocated(program, {
          maps: descriptors,
          childPid: 0,
          bootToWall: 0n,
          bootToTai: 0n,
          start: 0n,
          kernelVariable: () => undefined,
          kernelFunction: () => undefined,
        }),
      });
      own.push(fd);
      const events: string[] = [];
      let records = 0;
      inputs.forEach((ctxIn, run) => {
        testRun(fd, { ctxIn });
        this.#ring.drain((offset, length) => {
          const captured = hosts[this.#ring.memory.view.getUint32(offset, true)];
          if (captured !== undefined && host !== undefined) {
            const sent = host.records.length;
            captured(host, this.#ring.memory, offset);
            for (const { record } of host.records.slice(sent)) {
              records++;
              events.push(`run ${run}: ${describeRecord(plan.schemas, record)}`);
            }
            return;
          }
          records++;
          events.push(
            `run ${run}: ${describeRecord(plan.schemas, this.#ring.memory.bytes.subarray(offset, offset + length))}`,
          );
        }, Infinity);
      });
      const lives = plan.maps.map((map, i) => this.#live(plan, map, i, descriptors, stripe, tables.get(i)));
      const entries = lives.map((live, i) => (plan.maps[i].host && host ? [...host.mapEntries(i)] : live.entries()));
      const refused = plan.bpf.maps.flatMap(({ role, failureOffset }) =>
        role.kind === "map" && failureOffset !== undefined
          ? [
              [
                role.map,
                refusals
                  .flatMap((why) => refusalOffsets(failureOffset, why))
                  .reduce((sum, offset) => sum + this.#sum(offset, stripe), 0n),
              ] as const,
            ]
          : [],
      );
      const lost = plan.bpf.counters.lost.reduce((sum, offset) => sum + this.#sum(offset, stripe), 0n);
      return {
        events: lost > 0n ? [...events, `${lost} events lost`] : events,
        maps: [
          ...entries.flatMap((list, i) => describeEntries(plan.maps[i], list)),
          ...describeRefused(plan.maps, [
            ...refused,
            ...(host?.refused ?? []).map((count, i) => [i, BigInt(count)] as const),
          ]),
        ],
        records,
        entries: entries.reduce((sum, list) => sum + list.length, 0),
      };
    } finally {
      for (const table of tables.values()) table[Symbol.dispose]();
      for (const fd of own) closeFd(fd);
    }
  }

  #sum(offset: number, stripe: number): bigint {
    let sum = 0n;
    for (let cpu = 0; cpu < capabilities.cpus; cpu++)
      sum += this.#percpuMemory.words[(offset + cpu * stripe) / 8] ?? 0n;
    return sum;
  }

  #live(
    plan: Plan,
    map: IrMap,
    index: number,
    descriptors: readonly number[],
    stripe: number,
    table: MappedArray | undefined,
  ): LiveMap {
    const { cpus } = capabilities;
    const storage = plan.bpf.storage[index];
    const at = plan.bpf.maps.findIndex(({ role }) => role.kind === "map" && role.map === index);
    const kernel = plan.bpf.maps[at];
    const fd = descriptors[at] ?? -1;
    switch (storage.kind) {
      case "host":
        return new HostMap(map);
      case "slot":
        return new SlotMap(map, storage.offset, this.#globalsMemory);
      case "percpu-slot":
        return new PercpuSlotMap(map, storage.offset, this.#percpuMemory, stripe, cpus);
      case "hash":
      case "buckets":
      case "lru-hash": {
        const hash = new HashMap(
          map,
          tableOf(fd, kernel, kernel?.valueSize ?? 0),
          kernel?.keySize ?? 0,
          plainValues(kernel?.valueSize ?? sizeOf(map.value)),
        );
        if (storage.kind !== "buckets") return hash;
        if (table === undefined) throw new Error(`${map.shown} has no table`);
        return new BucketTableMap(map, storage, table, hash);
      }
      case "percpu-hash":
      case "percpu-lru-hash": {
        const values = copiedValues(aggregateOf(map), storage);
        return new HashMap(map, tableOf(fd, kernel, values.bytes), kernel?.keySize ?? 0, values);
      }
      case "shared":
        if (table === undefined) throw new Error(`${map.shown} has no table`);
        return new SharedTableMap(map, storage, table, ignore, ignore);
      case "stacks":
        throw new Error("stacks are not compared");
    }
  }
}

function tableOf(fd: number, kernel: KernelMap | undefined, valueSize: number): KernelTable {
  return {
    lookup: (key) => mapLookup(fd, key, valueSize),
    update: (key, value) => mapUpdate(fd, key, value),
    remove: (key) => mapDelete(fd, key),
    batches: () => mapBatches(fd, kernel?.keySize ?? 0, valueSize),
    clear: () => mapDeleteAll(fd, kernel?.keySize ?? 0, valueSize),
  };
}

export function runOnHost(
  module: IrModule,
  handler: number,
  schemas: readonly EventSchema[],
  inputs: readonly Uint8Array[],
): Outcome {
  const fn = module.functions[handler];
  if (fn === undefined) throw new Error(`there is no function ${handler}`);
  const host = evaluate(generate(fn, { functions: module.functions, maps: module.maps, schemas }));
  // The kernel runs it in this thread.
  const pid = BigInt(process.pid);
  const shared = new MemoryRuntime({ maps: module.maps, builtins: { "pid-and-tid": (pid << 32n) | pid } });
  const events: string[] = [];
  inputs.forEach((input, run) => {
    const before = shared.records.length;
    host(withContext(shared, input));
    for (const { record } of shared.records.slice(before))
      events.push(`run ${run}: ${describeRecord(schemas, record)}`);
  });
  const entries = module.maps.map((_, i) => [...shared.mapEntries(i)]);
  return {
    events,
    maps: [
      ...entries.flatMap((list, i) => describeEntries(module.maps[i], list)),
      ...describeRefused(
        module.maps,
        shared.refused.map((n, i) => [i, BigInt(n)] as const),
      ),
    ],
    records: shared.records.length,
    entries: entries.reduce((sum, list) => sum + list.length, 0),
  };
}

/** The same of a module whose handler is captured: the kernel's part here as well, then the host's for its records. */
export function runCaptured(
  module: IrModule,
  { captured, handlers }: Pick<LoweredProgram, "captured" | "handlers">,
  schemas: readonly EventSchema[],
  inputs: readonly Uint8Array[],
): Outcome {
  const sources = { functions: module.functions, maps: module.maps, schemas };
  const kernel = evaluate(generate(module.functions[handlers[0].function], sources));
  const hosts = new Map(
    captured.handlers.map(({ schema, host }) => [schema, evaluate(generate(module.functions[host], sources))]),
  );
  const pid = BigInt(process.pid);
  const builtins = { "pid-and-tid": (pid << 32n) | pid };
  const shared = new MemoryRuntime({ maps: module.maps, builtins });
  const events: string[] = [];
  let records = 0;
  inputs.forEach((input, run) => {
    const before = shared.records.length;
    kernel(withContext(shared, input));
    for (const { schema, record } of shared.records.slice(before)) {
      const sent = shared.records.length;
      hosts.get(schema)?.(shared, { bytes: record, view: new DataView(record.buffer) }, 0);
      for (const made of shared.records.slice(sent)) {
        events.push(`run ${run}: ${describeRecord(schemas, made.record)}`);
        records++;
      }
    }
  });
  const entries = module.maps.map((_, i) => [...shared.mapEntries(i)]);
  return {
    events,
    maps: [
      ...entries.flatMap((list, i) => describeEntries(module.maps[i], list)),
      ...describeRefused(
        module.maps,
        shared.refused.map((n, i) => [i, BigInt(n)] as const),
      ),
    ],
    records,
    entries: entries.reduce((sum, list) => sum + list.length, 0),
  };
}

/** The same memory, seen by a run with arguments of its own. */
function withContext(shared: MemoryRuntime, bytes: Uint8Array): MemoryRuntime {
  return new Proxy(shared, {
    get(target, name) {
      if (name === "context") return bytes;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

// ── outcomes as text ──

function describeRecord(schemas: readonly EventSchema[], record: Uint8Array): string {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const index = view.getUint32(0, true);
  const schema = schemas[index];
  if (schema === undefined) return `an event of schema ${index}, which is not there`;
  const wrong = record.length !== schema.size ? ` (${record.length} bytes instead of ${schema.size})` : "";
  return `event ${index} ${schema.action.kind}${wrong}: ${schema.fields.map((f) => `${f.name}=${describeValue(f.type, record, f.offset)}`).join(" ")}`;
}

/** Only what a reader looks at: text up to its end, bytes up to their length. */
function describeValue(type: Type, bytes: Uint8Array, at: number): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type.kind) {
    case "string": {
      const field = bytes.subarray(at, at + type.capacity);
      const end = field.indexOf(0);
      return end < 0
        ? `"${Buffer.from(field).toString("latin1")}" without an end`
        : JSON.stringify(Buffer.from(field.subarray(0, end)).toString("latin1"));
    }
    case "buffer": {
      const length = view.getUint32(at, true);
      return `${length} bytes ${Buffer.from(bytes.subarray(at + 4, at + 4 + Math.min(length, type.capacity))).toString("hex")}`;
    }
    case "tuple":
      return describeFields(type.elements, bytes, at);
    case "record":
      return describeFields(
        type.fields.map((f) => f.type),
        bytes,
        at,
      );
    case "integer":
      return sizeOf(type) === 8
        ? String(type.signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true))
        : hex(bytes, at, sizeOf(type));
    default:
      return hex(bytes, at, sizeOf(type));
  }
}

function describeFields(types: readonly Type[], bytes: Uint8Array, at: number): string {
  const { offsets } = fieldLayout(types);
  return `(${types.map((type, i) => describeValue(type, bytes, at + (offsets[i] ?? 0))).join(", ")})`;
}

function hex(bytes: Uint8Array, at: number, size: number): string {
  return Buffer.from(bytes.subarray(at, at + size)).toString("hex");
}

/** Keys and values are whole: every byte counts, padding too, since equal keys must be equal bytes. */
function describeEntries(map: IrMap, entries: Iterable<readonly [Uint8Array, Uint8Array]>): string[] {
  const words = (bytes: Uint8Array): string => {
    // Histograms are mostly zeros.
    const whole = Buffer.from(bytes);
    if (whole.length < 64) return whole.toString("hex");
    return Array.from({ length: whole.length / 8 }, (_, i) => [i, whole.readBigUInt64LE(i * 8)] as const)
      .filter(([, n]) => n !== 0n)
      .map(([i, n]) => `${i}:${n}`)
      .join(" ");
  };
  return [...entries]
    .map(
      ([key, value]) =>
        `@${map.name}[${Buffer.from(key).toString("hex")}] = ${words(value.subarray(0, sizeOf(map.value)))}`,
    )
    .sort();
}

function describeRefused(
  maps: readonly IrMap[],
  refused: readonly (readonly [map: number, count: bigint])[],
): string[] {
  return refused
    .filter(([, count]) => count > 0n)
    .map(([map, count]) => `@${maps[map]?.name} refused ${count} updates`)
    .sort();
}

/** Lines that only one has; undefined when there are none. */
function difference(
  left: Outcome,
  right: Outcome,
  unordered: boolean,
  names: readonly [string, string],
): string | undefined {
  const order = (lines: readonly string[]): readonly string[] => (unordered ? [...lines].sort() : lines);
  const parts = [diff(order(left.events), order(right.events), names), diff(left.maps, right.maps, names)].filter(
    (part) => part !== "",
  );
  return parts.length === 0 ? undefined : parts.join("\n");
}

function diff(
  left: readonly string[],
  right: readonly string[],
  [leftName, rightName]: readonly [string, string],
): string {
  if (left.length === right.length && left.every((line, i) => line === right[i])) return "";
  const only = (lines: readonly string[], others: readonly string[], name: string): string[] => {
    const rest = [...others];
    return lines.flatMap((line) => {
      const at = rest.indexOf(line);
      if (at >= 0) rest.splice(at, 1);
      return at >= 0 ? [] : [`  only ${name}: ${line}`];
    });
  };
  const lines = [...only(left, right, leftName), ...only(right, left, rightName)];
  return lines.length > 0
    ? lines.slice(0, 24).join("\n")
    : `the same events in another order:\n${leftName}: ${left.join("\n  ")}\n${rightName}: ${right.join("\n  ")}`;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
