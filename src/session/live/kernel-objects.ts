// What a session creates in the kernel: maps, their mapped memory, loaded programs. Nothing is pinned, so all of it
// goes when the descriptors do, however this process ends.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import type { IrMap } from "../../compiler/ir/ir.ts";
import type { GatesRole, KernelMap, KernelProgram } from "../../compiler/bpf/bpf-plan.ts";
import type { Plan } from "../../compiler/plan.ts";
import { bucketHead } from "../../compiler/layouts/bucket-table.ts";
import { displacedStack } from "../../compiler/layouts/stack-numbers.ts";
import { tableHead } from "../../compiler/layouts/shared-table.ts";
import { type Refusal, refusalOf, refusalOffsets } from "../../compiler/layouts/refusals.ts";
import { MapFlag, MapType } from "../../bpf/kinds.ts";
import { Btf } from "../../debuginfo/btf.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { ProgramType } from "../../language/context.ts";
import {
  createMap,
  loadProgram,
  mapDelete,
  mapLookup,
  mapUpdate,
  mapUpdateMany,
  openModuleBtf,
} from "../../linux/bpf/bpf.ts";
import { mapBatches, mapDeleteAll, mapEntries, mapUpdateBatch } from "../../linux/bpf/map-batches.ts";
import { E2BIG, EBUSY, EDEADLK, ENOMEM, ETIMEDOUT, LinuxError } from "../../linux/error.ts";
import { closeFd } from "../../linux/ffi.ts";
import { MappedArray } from "../../linux/bpf/mapped-array.ts";
import { possibleCpus } from "../../linux/perf/perf.ts";
import { RingBuffer } from "../../linux/bpf/ring.ts";
import { closeAll } from "./detach.ts";
import {
  aggregateOf,
  copiedValues,
  HashMap,
  PercpuSlotMap,
  plainValues,
  SlotMap,
  type KernelTable,
  type LiveMap,
} from "../maps.ts";
import { BucketTableMap } from "../bucket-table-map.ts";
import { SharedTableMap } from "../shared-table-map.ts";
import { relocated, type Targets } from "./relocate.ts";
import type { StackTable } from "./symbols/symbols.ts";
import type { UnwindMaps } from "./unwinding/unwind-tables.ts";
import { lazy } from "../../base/lazy.ts";
import { RunError } from "../../base/run-error.ts";
import { runReasons } from "../../messages/on-demand.ts";

// Loaded when handlers are captured.
const hostMap = lazy<typeof import("../host-map.ts")>(() => require("../host-map.ts"));
// Loaded when BPF programs are traced.
const bpfFunctions = lazy<typeof import("../../linux/bpf/bpf-functions.ts")>(() =>
  require("../../linux/bpf/bpf-functions.ts"),
);

/** enum bpf_prog_type, include/uapi/linux/bpf.h */
const programTypes: Readonly<Record<ProgramType, number>> = {
  kprobe: 2,
  tracepoint: 5,
  perf_event: 7,
  raw_tracepoint: 17,
  tracing: 26,
};
const BPF_F_SLEEPABLE = 16;

export interface PercpuRegion {
  readonly memory: MappedArray;
  readonly stripe: number;
  readonly cpus: number;
}

/** Where the governor says how often each program's handler runs. */
export interface Gates {
  readonly memory: MappedArray;
  readonly role: GatesRole;
}

/** The table of one of the script's maps by key. */
export interface KeyedTable {
  readonly name: string;
  readonly keySize: number;
  readonly descriptor: number;
}

export interface LoadedProgram {
  readonly program: KernelProgram;
  readonly descriptor: number;
}

export class KernelObjects implements Disposable {
  readonly cpus = possibleCpus();
  /** Descriptors of plan.bpf.maps. */
  readonly maps: number[] = [];
  readonly programs: LoadedProgram[] = [];
  /** Those that came while it runs: of a plan that has grown. */
  readonly grown: LoadedProgram[] = [];
  readonly liveMaps = new Map<number, LiveMap>();
  readonly stacks = new Map<number, StackTable>();
  ring: RingBuffer | undefined;
  percpu: PercpuRegion | undefined;
  gates: Gates | undefined;
  #globals: MappedArray | undefined;
  /** Those of the script's maps that are mapped, by their index. */
  readonly #mapped = new Map<number, MappedArray>();
  #plan: Plan;
  readonly #verifierLog: boolean;

  /** Creates the plan's maps. @throws LinuxError, with nothing left behind */
  constructor(plan: Plan, verifierLog = false, log?: (line: string) => void) {
    this.#plan = plan;
    this.#verifierLog = verifierLog;
    try {
      for (const map of plan.bpf.maps) this.#create(map);
      plan.maps.forEach((map, index) => this.#bind(map, index));
      if (log !== undefined) for (const line of this.#tables()) log(line);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  #create(map: KernelMap): void {
    if (map.unused) {
      this.maps.push(-1);
      return;
    }
    const entries = map.role.kind === "events" && map.entries === 0 ? this.#plan.config.ringBytes : map.entries;
    const fd = createMap({ ...map, entries });
    this.maps.push(fd);
    switch (map.role.kind) {
      case "globals":
        this.#globals = new MappedArray(fd, map.valueSize);
        break;
      case "percpu":
        // The plan may have been made for fewer CPUs than are possible, never for more.
        this.percpu = {
          memory: new MappedArray(fd, map.valueSize),
          stripe: map.role.stripe,
          cpus: Math.floor(map.valueSize / map.role.stripe),
        };
        break;
      case "gates":
        this.gates = { memory: new MappedArray(fd, map.valueSize), role: map.role };
        break;
      case "events":
        this.ring = new RingBuffer(fd, entries);
        break;
      case "map":
        if (this.#plan.bpf.storage[map.role.map].kind === "shared")
          this.#mapTable(fd, map.role.map, map.valueSize, tableHead.multiplier);
        break;
      case "buckets":
        this.#mapTable(fd, map.role.map, map.valueSize, bucketHead.multiplier);
        break;
      case "displaced-stacks":
      case "scratch":
      case "packets":
      case "unwind-nodes":
      case "unwind-files":
      case "unwind-wanted":
      case "unwind-processes":
      case "unwind-functions":
        break;
    }
  }

  /** Of a plan that has grown: programs that come may need more scratch memory; those that are there keep theirs. */
  grow(plan: Plan): void {
    for (const [i, map] of plan.bpf.maps.entries()) {
      const { valueSize, entries } = this.#plan.bpf.maps[i];
      if (map.role.kind !== "scratch" || (map.valueSize <= valueSize && map.entries <= entries)) continue;
      const larger = createMap(map);
      closeFd(this.maps[i]);
      this.maps[i] = larger;
    }
    this.#plan = plan;
  }

  #mapTable(fd: number, map: number, bytes: number, multiplier: number): void {
    const memory = new MappedArray(fd, bytes);
    this.#mapped.set(map, memory);
    // Odd, and nobody's to guess, who might choose keys of one hash.
    memory.words[multiplier / 8] = randomWord() | 1n;
  }

  #bind(map: IrMap, index: number): void {
    const storage = this.#plan.bpf.storage[index];
    // Counted where handlers count theirs.
    const refused =
      ({ failureOffset }: KernelMap) =>
      (why: Refusal): void => {
        if (failureOffset !== undefined) this.count(refusalOffsets(failureOffset, why)[0]);
      };
    switch (storage.kind) {
      case "slot":
        if (!this.#globals) throw new InternalError(`the plan has no globals region for ${map.shown}`);
        this.liveMaps.set(index, new SlotMap(map, storage.offset, this.#globals));
        break;
      case "percpu-slot":
        if (!this.percpu) throw new InternalError(`the plan has no per-CPU region for ${map.shown}`);
        this.liveMaps.set(
          index,
          new PercpuSlotMap(map, storage.offset, this.percpu.memory, this.percpu.stripe, this.percpu.cpus),
        );
        break;
      case "host":
        this.liveMaps.set(index, new (hostMap().HostMap)(map));
        break;
      case "hash":
      case "buckets":
      case "lru-hash":
      case "percpu-hash":
      case "percpu-lru-hash": {
        const { kernel, fd } = this.#kernelMap(index, map.name);
        const values = "copies" in storage ? copiedValues(aggregateOf(map), storage) : plainValues(kernel.valueSize);
        const table = tableOf(fd, kernel.keySize, values.bytes, refused(kernel));
        const hash = new HashMap(map, table, kernel.keySize, values);
        this.liveMaps.set(
          index,
          storage.kind === "buckets" ? new BucketTableMap(map, storage, this.#mappedOf(index, map), hash) : hash,
        );
        break;
      }
      case "shared": {
        const { kernel } = this.#kernelMap(index, map.name);
        const memory = this.#mappedOf(index, map);
        const full = (): void => refused(kernel)("full");
        this.liveMaps.set(index, new SharedTableMap(map, storage, memory, full, pauseBriefly));
        break;
      }
      case "stacks": {
        const { kernel, fd } = this.#kernelMap(index, map.name);
        const displaced = this.#plan.bpf.maps.findIndex(
          ({ role }) => role.kind === "displaced-stacks" && role.map === index,
        );
        this.stacks.set(index, {
          map,
          lookup: (id) => {
            const key = new Uint8Array(BigUint64Array.of(id).buffer);
            return (id & displacedStack) === 0n || displaced < 0
              ? mapLookup(fd, key.subarray(0, kernel.keySize), kernel.valueSize)
              : mapLookup(this.maps[displaced], key, kernel.valueSize);
          },
        });
        break;
      }
    }
  }

  #mappedOf(index: number, map: IrMap): MappedArray {
    const memory = this.#mapped.get(index);
    if (memory === undefined) throw new InternalError(`the plan has no table for ${map.shown}`);
    return memory;
  }

  get keyedTables(): KeyedTable[] {
    return this.#plan.bpf.maps.flatMap(({ role, keySize, unused }, i) => {
      if (role.kind !== "map" || unused || !this.liveMaps.has(role.map)) return [];
      const { name, shown, keys } = this.#plan.maps[role.map];
      // A name that begins with a dot is strobe's own.
      if (this.#mapped.has(role.map)) return [];
      return keys.length === 0 || name.startsWith(".") ? [] : [{ name: shown, keySize, descriptor: this.maps[i] }];
    });
  }

  /** Which table each map by key is, for those who want to know. */
  #tables(): string[] {
    return this.#plan.bpf.maps.flatMap(({ role, type, keySize, valueSize, entries, flags, unused }) => {
      if (role.kind !== "map" || unused) return [];
      const { shown, stacks } = this.#plan.maps[role.map];
      if (stacks?.unwind === false) return [];
      const storage = this.#plan.bpf.storage[role.map];
      const copies = !("copies" in storage)
        ? ""
        : storage.copies === 1
          ? ", one copy of each value"
          : `, ${storage.copies} copies of each value`;
      const shared = "copies" in storage && storage.copies < this.cpus ? ` for ${this.cpus} CPUs` : "";
      const memory = (flags & MapFlag.NO_PREALLOC) === 0 ? "allocated at the start" : "allocated as they come";
      if (storage.kind === "shared") {
        const size = (valueSize / 1e6).toFixed(1);
        return [
          `map ${shown}: mapped table of ${storage.entries} entries, ${size} MB allocated at the start${copies}${shared}`,
        ];
      }
      if (storage.kind === "buckets") {
        const size = ((storage.bytes + (keySize + valueSize) * entries) / 1e6).toFixed(1);
        return [`map ${shown}: mapped buckets of ${entries} entries or more, ${size} MB ${memory}`];
      }
      const why =
        (storage.kind === "percpu-hash" || storage.kind === "hash") && storage.why !== undefined
          ? ` (${storage.why})`
          : "";
      const megabytes = (((keySize + valueSize) * entries) / 1e6).toFixed(1);
      return [
        `map ${shown}: ${type === MapType.HASH ? "hash" : "lruhash"} of ${entries} entries, ${megabytes} MB ${memory}${copies}${shared}${why}`,
      ];
    });
  }

  /** Handlers whose events the kernel lets go of later return at once from now on. */
  endHandlers(): void {
    const words = this.#globals?.words;
    if (words !== undefined && words.length > 0) Atomics.store(words, words.length - 1, 1n);
  }

  /** Where the unwinder looks for tables; undefined when the plan has none. */
  get unwinding(): UnwindMaps | undefined {
    const fdOf = (kind: KernelMap["role"]["kind"]): number | undefined =>
      this.maps[this.#plan.bpf.maps.findIndex(({ role }) => role.kind === kind)];
    const nodes = fdOf("unwind-nodes");
    const processes = fdOf("unwind-processes");
    const wanted = fdOf("unwind-wanted");
    const files = fdOf("unwind-files");
    const functions = fdOf("unwind-functions");
    if (
      nodes === undefined ||
      processes === undefined ||
      wanted === undefined ||
      files === undefined ||
      functions === undefined
    )
      return undefined;
    return {
      takeWanted: () =>
        mapEntries(wanted, 4, 4).map(([key]) => {
          mapDelete(wanted, key);
          return new DataView(key.buffer, key.byteOffset).getUint32(0, true);
        }),
      nodes: { updateMany: (keys, values) => mapUpdateMany(nodes, keys.length, keys, values) },
      functions: {
        lookup: (key) =>
          mapLookup(
            functions,
            key,
            this.#plan.bpf.maps.find(({ role }) => role.kind === "unwind-functions")?.valueSize ?? 0,
          ),
      },
      files: { update: (key, value) => update(files, key, value) },
      processes: {
        update: (key, value) => update(processes, key, value),
        remove: (key) => void mapDelete(processes, key),
      },
    };
  }

  /** Counts one more where handlers count theirs: `offset` bytes into a stripe. */
  count(offset: number): void {
    if (this.percpu) Atomics.add(this.percpu.memory.words, offset / 8, 1n);
  }

  /** The map of perf events that packets go through; undefined when the plan has none. */
  get packets(): number | undefined {
    return this.maps[this.#plan.bpf.maps.findIndex(({ role }) => role.kind === "packets")];
  }

  #kernelMap(index: number, name: string): { kernel: KernelMap; fd: number } {
    const at = this.#plan.bpf.maps.findIndex(({ role }) => role.kind === "map" && role.map === index);
    if (at < 0) throw new InternalError(`the plan has no kernel map for @${name}`);
    return { kernel: this.#plan.bpf.maps[at], fd: this.maps[at] };
  }

  /**
   * Loads the plan's programs, or others of a plan that has grown. @throws LinuxError: with the verifier's log, when it
   * refused one
   */
  load(
    constants: Omit<Targets, "maps" | "kernelVariable" | "kernelFunction">,
    log: (line: string) => void,
    programs: readonly KernelProgram[] = this.#plan.bpf.programs,
    loaded: LoadedProgram[] = this.programs,
  ): void {
    let btf: Btf | undefined;
    const typesOfKernel = (): Btf => (btf ??= new Btf(readFileSync("/sys/kernel/btf/vmlinux")));
    const targets: Targets = {
      ...constants,
      maps: this.maps,
      kernelVariable: (symbol) => typesOfKernel().find(symbol, "variable"),
      kernelFunction: (symbol) => typesOfKernel().find(symbol, "function"),
    };
    // What tracing programs bind to, the BTF of kernel modules and BPF programs: only needed while loading.
    const modules = new Map<string, number>();
    const moduleOf = (name: string): number => {
      const known = modules.get(name);
      if (known !== undefined) return known;
      const fd = openModuleBtf(name);
      if (fd === undefined) throw new RunError(runReasons().moduleWithoutTypes(name));
      modules.set(name, fd);
      return fd;
    };
    try {
      for (const program of programs) {
        const { load, sleepable } = program.binding;
        const target = load?.program === undefined ? undefined : bpfFunctions().openProgram(load.program);
        if (target !== undefined) modules.set(`BPF program, of ${program.name}`, target);
        const descriptor = loadProgram({
          name: program.name,
          type: programTypes[program.type],
          code: relocated(program, targets),
          license: this.#plan.config.license,
          logSize: this.#plan.config.logSize,
          subprograms: program.subprograms,
          ...(this.#verifierLog ? { onLog: (text: string) => log(`verifier's log of ${program.name}\n${text}`) } : {}),
          flags: sleepable ? BPF_F_SLEEPABLE : 0,
          ...(load ? { expectedAttachType: load.attachType } : {}),
          ...(load && load.btfId !== 0 ? { attachBtfId: load.btfId } : {}),
          ...(target === undefined ? {} : { attachBtfObjectFd: target }),
          ...(load?.module !== undefined && load.module !== "vmlinux"
            ? { attachBtfObjectFd: moduleOf(load.module) }
            : {}),
        });
        loaded.push({ program, descriptor });
        log(`loaded ${program.name}: ${program.code.length / 8} instructions, ${program.sites.length} sites`);
      }
    } finally {
      for (const fd of modules.values()) closeFd(fd);
    }
  }

  [Symbol.dispose](): void {
    this.ring?.[Symbol.dispose]();
    this.percpu?.memory[Symbol.dispose]();
    this.gates?.memory[Symbol.dispose]();
    this.#globals?.[Symbol.dispose]();
    for (const table of this.#mapped.values()) table[Symbol.dispose]();
    this.#mapped.clear();
    closeAll([...this.programs, ...this.grown].map(({ descriptor }) => descriptor));
    closeAll(this.maps.filter((fd) => fd >= 0));
    this.programs.length = 0;
    this.grown.length = 0;
    this.maps.length = 0;
    this.ring = undefined;
    this.percpu = undefined;
    this.gates = undefined;
    this.#globals = undefined;
    this.liveMaps.clear();
    this.stacks.clear();
  }
}

/** `refused`: called when an update was refused for one of the reasons that handlers' updates are refused for. */
function tableOf(fd: number, keySize: number, valueSize: number, refused: (why: Refusal) => void): KernelTable {
  const store = (key: Uint8Array, value: Uint8Array, asks = false): void => {
    try {
      update(fd, key, value);
    } catch (error) {
      if (!(error instanceof LinuxError) || (error.code !== E2BIG && !passing.has(error.code))) throw error;
      if (asks && error.code === E2BIG) return;
      refused(refusalOf(error.code));
    }
  };
  return {
    lookup: (key) => mapLookup(fd, key, valueSize),
    update: store,
    updateMany: (entries) => mapUpdateBatch(fd, entries, store),
    remove: (key) => mapDelete(fd, key),
    batches: () => mapBatches(fd, keySize, valueSize),
    clear: () => mapDeleteAll(fd, keySize, valueSize),
  };
}

/**
 * What may pass by itself, as when the kernel's allocator is filled a moment later, is tried again. @throws LinuxError
 */
function update(fd: number, key: Uint8Array, value: Uint8Array): void {
  for (let tries = 1; ; tries++) {
    try {
      return mapUpdate(fd, key, value);
    } catch (error) {
      if (tries === mostTries || !(error instanceof LinuxError) || !passing.has(error.code)) throw error;
      pauseBriefly();
    }
  }
}
const passing: ReadonlySet<number> = new Set([ENOMEM, EBUSY, EDEADLK, ETIMEDOUT]);
/** With a millisecond between two. */
const mostTries = 100;
const pause = new Int32Array(new SharedArrayBuffer(4));
function pauseBriefly(): void {
  Atomics.wait(pause, 0, 0, 1);
}

function randomWord(): bigint {
  const file = openSync("/dev/urandom", "r");
  try {
    const word = new BigUint64Array(1);
    if (readSync(file, word) !== word.byteLength) throw new InternalError("/dev/urandom gave less than was asked for");
    return word[0];
  } finally {
    closeSync(file);
  }
}
