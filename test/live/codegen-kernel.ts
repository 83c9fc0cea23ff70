// Loads generated programs into the running kernel, runs them once and reads their maps.
import { createMap, loadProgram, mapLookup, mapUpdate, testRun } from "../../src/linux/bpf/bpf.ts";
import { mapEntries } from "../../src/linux/bpf/map-batches.ts";
import { closeFd } from "../../src/linux/ffi.ts";
import { LinuxError } from "../../src/linux/error.ts";
import { disassemble } from "../../src/bpf/disassembler.ts";
import { AttachType, MapFlag, MapType, programTypes } from "../../src/bpf/kinds.ts";
import { generateProgram, type GeneratedProgram, scratchBytes } from "../../src/compiler/bpf/generate.ts";
import type { IrFunction, IrModule } from "../../src/compiler/ir/ir.ts";
import type { KernelMap } from "../../src/compiler/bpf/bpf-plan.ts";
import type { EventSchema } from "../../src/compiler/plan.ts";
import { refusalOffsets, resultCounters } from "../../src/compiler/layouts/refusals.ts";
import type { Capabilities } from "../../src/linux/kernel/capabilities.ts";
import { keyLayout, sizeOf } from "../../src/language/layout.ts";
import type { PlacedMap } from "../support/ir-builder.ts";
import { Features } from "../../src/linux/kernel/features.ts";

export const capabilities: Capabilities = new Features().capabilities();
/** What a program is bound to when its type wants that. */
export interface Bound {
  readonly attachType?: number;
  readonly btfId?: number;
}

const STRIPE = 16384;
/** Of each map, as many as results are told apart. */
const FAILURES = STRIPE / 2;
/** Scalar maps, and as many zeroes as the largest aggregation has words. */
const GLOBALS = 1 << 15;
export const LOST = STRIPE - 1024;

function failuresOf(map: number): number {
  return FAILURES + map * resultCounters * 8;
}

export class KernelModule implements Disposable {
  readonly kernelMaps: KernelMap[] = [];
  readonly #fds: number[] = [];
  readonly #module: IrModule;
  readonly #schemas: readonly EventSchema[];
  readonly #program: number;
  readonly generated: GeneratedProgram;

  constructor(
    fn: IrFunction,
    maps: readonly PlacedMap[],
    options: {
      readonly functions?: readonly IrFunction[];
      readonly schemas?: readonly EventSchema[];
      readonly capabilities?: Partial<Capabilities>;
      readonly bound?: Bound;
      readonly directLoads?: boolean;
    } = {},
  ) {
    this.#module = { functions: [fn, ...(options.functions ?? [])], maps, probeNames: [] };
    this.#schemas = options.schemas ?? [];
    const stripes = 2 ** Math.ceil(Math.log2(capabilities.cpus));
    this.#add({
      role: { kind: "globals", size: GLOBALS },
      name: "globals",
      type: MapType.ARRAY,
      keySize: 4,
      valueSize: GLOBALS,
      entries: 1,
      flags: MapFlag.MMAPABLE,
    });
    this.#add({
      role: { kind: "percpu", stripe: STRIPE },
      name: "percpu",
      type: MapType.ARRAY,
      keySize: 4,
      valueSize: STRIPE * stripes,
      entries: 1,
      flags: MapFlag.MMAPABLE,
    });
    if (this.#schemas.length > 0)
      this.#add({
        role: { kind: "events" },
        name: "events",
        type: MapType.RINGBUF,
        keySize: 0,
        valueSize: 0,
        entries: 4096,
        flags: 0,
      });
    const scratch = scratchBytes(fn, this.#module);
    if (scratch > 0)
      this.#add({
        role: { kind: "scratch" },
        name: "scratch",
        type: MapType.PERCPU_ARRAY,
        keySize: 4,
        valueSize: scratch,
        entries: 1,
        flags: 0,
      });
    maps.forEach((map, index) => {
      const { storage } = map;
      if (storage.kind === "slot" || storage.kind === "percpu-slot") return;
      if (storage.kind === "stacks") {
        this.#add({
          role: { kind: "map", map: index },
          name: "stacks",
          type: MapType.STACK_TRACE,
          keySize: 4,
          valueSize: (map.stacks?.frames ?? 0) * 8,
          entries: 128,
          flags: 0,
        });
        this.#add({
          role: { kind: "displaced-stacks", map: index },
          name: "displaced",
          type: MapType.HASH,
          keySize: 8,
          valueSize: (map.stacks?.frames ?? 0) * 8,
          entries: map.stacks?.displaced ?? 0,
          flags: 0,
        });
        return;
      }
      const type = storage.kind === "hash" || storage.kind === "percpu-hash" ? MapType.HASH : MapType.LRU_HASH;
      const valueSize = "copies" in storage ? storage.copies * storage.stride : sizeOf(map.value);
      this.#add({
        role: { kind: "map", map: index },
        name: map.name,
        type,
        keySize: Math.max(1, keyLayout(map.keys).size),
        valueSize,
        entries: map.entries,
        flags: 0,
        failureOffset: failuresOf(index),
      });
    });
    this.generated = generateProgram(fn, this.#module, {
      schemas: this.#schemas,
      storage: maps.map(({ storage }) => storage),
      counters: { lost: this.#schemas.map(() => LOST) },
      kernelMaps: this.kernelMaps,
      capabilities: { ...capabilities, ...options.capabilities },
      directLoads: options.directLoads ?? fn.context?.program.type === "tracing",
    });
    const code = this.generated.code.slice();
    const view = new DataView(code.buffer);
    for (const relocation of this.generated.relocations) {
      const at = relocation.instruction * 8;
      if (relocation.kind === "map" || relocation.kind === "map-value")
        view.setInt32(at + 4, this.#fds[relocation.map] ?? -1, true);
      else if (relocation.kind === "child-pid") view.setInt32(at + 4, 4321, true);
      else if (relocation.kind === "kernel-variable")
        view.setInt32(at + 4, kernelVariables.get(relocation.symbol ?? "") ?? 0, true);
      else view.setInt32(at + 4, 1000, true);
    }
    const type = fn.context?.program.type ?? "raw_tracepoint";
    try {
      this.#program = loadProgram({
        name: "strobe_test",
        type: programTypes[type],
        code,
        license: "Dual MIT/GPL",
        ...(options.bound?.btfId === undefined
          ? {}
          : {
              attachBtfId: options.bound.btfId,
              expectedAttachType: options.bound.attachType ?? AttachType.TRACE_RAW_TP,
            }),
        ...(this.generated.subprograms.length > 1 ? { subprograms: this.generated.subprograms } : {}),
      });
    } catch (error) {
      this[Symbol.dispose]();
      if (error instanceof LinuxError)
        throw new Error(`${error.message}\n${(error.log ?? "").slice(-3000)}\n${this.text().join("\n")}`, {
          cause: error,
        });
      throw error;
    }
  }

  #add(map: KernelMap): void {
    this.kernelMaps.push(map);
    this.#fds.push(createMap(map));
  }

  text(): string[] {
    return disassemble(this.generated.code, { subprograms: this.generated.subprograms });
  }
  fdOf(is: (role: KernelMap["role"]) => boolean): number {
    return this.#fds[this.kernelMaps.findIndex(({ role }) => is(role))] ?? -1;
  }
  /** Runs once with these context words. */
  run(...args: bigint[]): void {
    testRun(this.#program, { ctxIn: new Uint8Array(BigUint64Array.from(args.length > 0 ? args : [0n]).buffer) });
  }
  get program(): number {
    return this.#program;
  }
  /** The result words: signed. */
  results(count: number): bigint[] {
    const bytes = mapLookup(
      this.fdOf(({ kind }) => kind === "globals"),
      new Uint8Array(4),
      GLOBALS,
    );
    if (bytes === undefined) return [];
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    return Array.from({ length: count }, (_, i) => view.getBigInt64(i * 16 + 8, true));
  }
  /** A word of the per-CPU stripes, all CPUs together. */
  perCpuWord(offset: number): bigint {
    const { valueSize } = this.kernelMaps[1] ?? { valueSize: 0 };
    const bytes = mapLookup(this.#fds[1] ?? -1, new Uint8Array(4), valueSize);
    if (bytes === undefined) return -1n;
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    let sum = 0n;
    for (let at = 0; at < valueSize; at += STRIPE) sum += view.getBigInt64(at + offset, true);
    return sum;
  }
  /** Updates of a map that were refused because it was full. */
  full(map: number): bigint {
    return refusalOffsets(failuresOf(map), "full").reduce((sum, offset) => sum + this.perCpuWord(offset), 0n);
  }
  /** Entries of a keyed map; copies one after the other. */
  entries(map: number): [Uint8Array, Uint8Array][] {
    const index = this.kernelMaps.findIndex(({ role }) => role.kind === "map" && role.map === map);
    const kernelMap = this.kernelMaps[index];
    if (kernelMap === undefined) return [];
    return mapEntries(this.#fds[index] ?? -1, kernelMap.keySize, kernelMap.valueSize);
  }
  put(map: number, key: bigint, value: Uint8Array): void {
    mapUpdate(
      this.fdOf((role) => role.kind === "map" && role.map === map),
      new Uint8Array(BigUint64Array.of(key).buffer),
      value,
    );
  }

  [Symbol.dispose](): void {
    if (this.#program !== undefined) closeFd(this.#program);
    for (const fd of this.#fds) closeFd(fd);
  }
}

/** BTF ids of variables that tests name. */
export const kernelVariables = new Map<string, number>();
