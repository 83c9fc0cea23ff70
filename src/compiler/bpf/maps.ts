// Where maps live: the storage of each of the script's maps, the regions that scalar maps and counters share, and the
// kernel maps to create.
import { InternalError } from "../../base/internal-error.ts";
import type { Config } from "../../language/check/config.ts";
import { kernelAtLeast } from "../../base/kernel-features.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import { keyLayout, roundUp, sizeOf } from "../../language/layout.ts";
import { copiesOf } from "../layouts/copies.ts";
import { stackBytes, type IrMap } from "../ir/ir.ts";
import type { Counters, KernelMap, MapStorage } from "./bpf-plan.ts";
import { sharedTable } from "../layouts/shared-table.ts";
import type { OwnTables } from "./own-tables.ts";
import { ownerBytes, scratchPool } from "./scratch.ts";
import { resultCounters } from "../layouts/refusals.ts";
import {
  fileKeyBytes,
  fileRows,
  functionBytes,
  interpreterAt,
  interpreterBytes,
  mappingBytes,
  nodeKeys,
  nodeRowBytes,
} from "../layouts/unwind-layout.ts";
import { cutStack } from "../layouts/unwound-stack.ts";

/** bpf_map_type numbers of include/uapi/linux/bpf.h. */
const mapTypes = { hash: 1, array: 2, perfEvents: 4, percpuArray: 6, stackTrace: 7, lruHash: 9, ring: 27 } as const;
const BPF_F_NO_PREALLOC = 1;
const BPF_F_STACK_BUILD_ID = 0x20;
const BPF_F_MMAPABLE = 0x400;
/** Bytes of a table whose memory is there from the start, and of an entry before its key (struct htab_elem). */
const mostPreallocated = 256 << 20;
const entryHead = 48;
/**
 * Nodes of unwinding tables, processes, files and interpreted functions, where their memory must be there from the
 * start: 16, 3, 0.8 and 1.4 MB.
 */
const preallocatedUnwinding = { nodes: 8192, processes: 512, files: 512, functions: 512 } as const;
/** Processes that may be met between two looks of the session; others are noted when they are met again. */
const wantedAtOnce = 1024;
/** Else only what is used takes memory: a node has 2 kB, so this is half a GB of tables. */
const mostUnwinding = { nodes: 1 << 18, processes: 1 << 16, files: 1 << 16, functions: 1 << 14 } as const;
/** What a plan that grows has room for: kinds of events that are counted, and programs. */
const grownSchemas = 512;
const grownWatches = 1024;
const grownLoops = 256;
export const grownPrograms = 256;
/** A CPU's counters share no cache line with another's. */
const cacheLine = 64;

/** Where each map is. */
function storageOf(maps: readonly IrMap[], cpus: number, own: OwnTables): MapStorage[] {
  let globals = 0;
  let stripe = 0;
  return maps.map(({ keys, value, entries, evicts, stacks, host }, index): MapStorage => {
    const bytes = 8 + roundUp(sizeOf(value), 8);
    if (stacks !== undefined) return { kind: "stacks" };
    if (host) return { kind: "host" };
    if (keys.length > 0) {
      // A number that every CPU has a copy of would read as one of them: only aggregations are kept that way.
      if (value.kind !== "aggregate") {
        if (evicts) return { kind: "lru-hash" };
        const table = own.bucketsFor(index, maps[index]);
        return typeof table === "string" ? { kind: "hash", why: table } : { kind: "buckets", ...table };
      }
      const copies = copiesOf(value, entries, cpus);
      if (evicts) return { kind: "percpu-lru-hash", ...copies };
      const table = sharedTable(keyLayout(keys).size, entries, copies, own.isCleared(index) ? 2 : 1);
      const why = own.notFor(index, table);
      return why === undefined ? { kind: "shared", ...table } : { kind: "percpu-hash", ...copies, why };
    }
    if (value.kind === "aggregate") {
      stripe += bytes;
      return { kind: "percpu-slot", offset: stripe - bytes };
    }
    globals += bytes;
    return { kind: "slot", offset: globals - bytes };
  });
}

/** Where the maps are, and the regions that some of them share with counters. */
export interface Regions {
  readonly storage: readonly MapStorage[];
  /**
   * Bytes of the scalar maps' region, with zeroes behind them, as many as the largest entry of aggregations by key has,
   * and the word that says that the session is over.
   */
  readonly globals: number;
  /** Bytes of one CPU's stripe of the per-CPU region. */
  readonly stripe: number;
  readonly counters: Counters;
  /** In the stripe: where the kernel keeps this CPU's current task, once a handler has asked; 0 before. */
  readonly taskAt: number;
  /** In the stripe: where each map's counts of refused updates begin (refusals.ts). */
  readonly failureOffsets: readonly (number | undefined)[];
  /** In the stripe: counts of unwound stacks that ended early. */
  readonly cutOffset: number;
}

/** How many there are of what is counted; `growing`: room is left for more, which may come while it runs. */
interface Counted {
  readonly schemas: number;
  /** Probes whose lost events are counted one by one. */
  readonly probes: number;
  readonly watches: number;
  readonly loops: number;
  /** Programs that take scratch memory from the pool. */
  readonly pooled: number;
  readonly growing: boolean;
}

export function layRegions(
  maps: readonly IrMap[],
  cpus: number,
  { schemas, probes, watches, loops, pooled, growing }: Counted,
  own: OwnTables,
): Regions {
  const storage = storageOf(maps, cpus, own);
  let globals = 0;
  let stripe = 0;
  let zeroes = 0;
  maps.forEach(({ value }, i) => {
    const where = storage[i];
    const end = 8 + roundUp(sizeOf(value), 8);
    if ("copies" in where && where.kind !== "shared") zeroes = Math.max(zeroes, where.copies * where.stride);
    if (where.kind === "slot") globals = Math.max(globals, where.offset + end);
    if (where.kind === "percpu-slot") stripe = Math.max(stripe, where.offset + end);
  });
  const words = (count: number): number[] => Array.from({ length: count }, () => (stripe += 8) - 8);
  const [taskAt] = words(1);
  const lost = words(growing ? Math.max(schemas, grownSchemas) : schemas);
  const lostOf = words(probes)[0];
  const failureOffsets = storage.map(({ kind }) =>
    kind === "slot" || kind === "percpu-slot" || kind === "host" ? undefined : words(resultCounters)[0],
  );
  const [cutOffset = 0] = maps.some(isUnwound) ? words(Object.keys(cutStack).length) : [];
  const failures = words((growing && watches > 0 ? Math.max(watches, grownWatches) : watches) * 2).filter(
    (_, i) => i % 2 === 0,
  );
  const cut = words(growing && loops > 0 ? Math.max(loops, grownLoops) : loops);
  const missed = words(growing ? Math.max(pooled, grownPrograms) : pooled);
  return {
    storage,
    counters: { lost, lostOf, watches: failures, loops: cut, missed },
    taskAt,
    globals: globals + zeroes + 8,
    stripe: Math.max(cacheLine, roundUp(stripe, cacheLine)),
    failureOffsets,
    cutOffset,
  };
}

/** Displaced stacks, where their memory is allocated at once: 128 MB with 127 frames. */
const mostDisplaced = 1 << 17;

/** The kernel maps to create. */
export function kernelMaps(
  maps: readonly IrMap[],
  regions: Regions,
  config: Config,
  capabilities: Capabilities,
): KernelMap[] {
  const created: KernelMap[] = [];
  const region = (name: string, role: KernelMap["role"], valueSize: number): KernelMap => ({
    role,
    name,
    type: mapTypes.array,
    keySize: 4,
    valueSize,
    entries: 1,
    flags: BPF_F_MMAPABLE,
  });
  maps.forEach((map, index) => {
    const own = ownMap(map, regions.storage[index], capabilities);
    if (own === undefined) return;
    created.push({
      role: { kind: "map", map: index },
      name: objectName(map.name),
      ...own,
      failureOffset: regions.failureOffsets[index],
    });
    const storage = regions.storage[index];
    if (storage.kind === "buckets")
      created.push(region(objectName(map.name), { kind: "buckets", map: index }, storage.bytes));
    if (map.stacks !== undefined && map.stacks.displaced > 0)
      created.push({
        role: { kind: "displaced-stacks", map: index },
        name: objectName(`displaced_${map.stacks.frames}`),
        ...hashTable(
          8,
          stackBytes(map.stacks),
          allocatesAnywhere(capabilities) ? map.stacks.displaced : Math.min(map.stacks.displaced, mostDisplaced),
          capabilities,
        ),
      });
  });
  created.push(region("globals", { kind: "globals", size: regions.globals }, regions.globals));
  created.push(region("percpu", { kind: "percpu", stripe: regions.stripe }, regions.stripe * capabilities.cpus));
  created.push({
    role: { kind: "events" },
    name: "events",
    type: mapTypes.ring,
    keySize: 0,
    valueSize: 0,
    entries: config.ringBytes,
    flags: 0,
  });
  if (maps.some(isUnwound)) {
    const flags = allocatesAnywhere(capabilities) ? BPF_F_NO_PREALLOC : 0;
    const { nodes, processes, files, functions } = flags === 0 ? preallocatedUnwinding : mostUnwinding;
    created.push({
      role: { kind: "unwind-nodes" },
      name: "unwind_nodes",
      type: mapTypes.hash,
      keySize: 4,
      valueSize: nodeKeys * nodeRowBytes,
      entries: nodes,
      flags,
    });
    created.push({
      role: { kind: "unwind-wanted" },
      name: "unwind_wanted",
      type: mapTypes.hash,
      keySize: 4,
      valueSize: 4,
      entries: wantedAtOnce,
      flags: 0,
    });
    created.push({
      role: { kind: "unwind-processes", cutOffset: regions.cutOffset },
      name: "unwind_procs",
      type: mapTypes.hash,
      keySize: 4,
      valueSize: interpreterAt + interpreterBytes,
      entries: processes,
      flags,
    });
    created.push({
      role: { kind: "unwind-files" },
      name: "unwind_files",
      type: mapTypes.hash,
      keySize: fileKeyBytes,
      valueSize: fileRows * mappingBytes,
      entries: files,
      flags,
    });
    created.push({
      role: { kind: "unwind-functions" },
      name: "unwind_funcs",
      type: mapTypes.hash,
      keySize: 8,
      valueSize: functionBytes,
      entries: functions,
      flags,
    });
  }
  return created;
}

/** Perf events that packets go through, one a CPU. */
export function packetsMap({ cpus }: Capabilities): KernelMap {
  return {
    role: { kind: "packets" },
    name: "packets",
    type: mapTypes.perfEvents,
    keySize: 4,
    valueSize: 4,
    entries: cpus,
    flags: 0,
  };
}

/** The gates of governed programs. */
export function gatesMap(programs: number, { cpus }: Capabilities): KernelMap {
  const first = roundUp(programs * 8, cacheLine);
  const stripe = roundUp(programs * 16, cacheLine);
  return {
    role: { kind: "gates", programs, first, stripe, cpus },
    name: "gates",
    type: mapTypes.array,
    keySize: 4,
    valueSize: first + stripe * cpus,
    entries: 1,
    flags: BPF_F_MMAPABLE,
  };
}

/**
 * Scratch memory of `bytes` for each CPU: for so many programs, and for runs of programs that may be preempted
 * (scratch.ts).
 */
export function scratchMap(bytes: number, programs: number, pooled: boolean): KernelMap {
  return {
    role: { kind: "scratch" },
    name: "scratch",
    type: mapTypes.percpuArray,
    keySize: 4,
    valueSize: roundUp(bytes, 8) + (pooled ? ownerBytes : 0),
    entries: programs + (pooled ? scratchPool : 0),
    flags: 0,
  };
}

function ownMap(
  map: IrMap,
  storage: MapStorage,
  capabilities: Capabilities,
): Omit<KernelMap, "role" | "name"> | undefined {
  const { entries } = map;
  const keySize = keyLayout(map.keys).size;
  const valueSize = "copies" in storage ? storage.copies * storage.stride : roundUp(sizeOf(map.value), 8);
  switch (storage.kind) {
    case "slot":
    case "percpu-slot":
    case "host":
      return undefined;
    case "shared":
      return { type: mapTypes.array, keySize: 4, valueSize: storage.bytes, entries: 1, flags: BPF_F_MMAPABLE };
    case "hash":
    case "buckets":
    case "percpu-hash":
      return hashTable(keySize, valueSize, entries, capabilities);
    // The kernel's least-recently-used maps are always preallocated.
    case "lru-hash":
    case "percpu-lru-hash":
      return { type: mapTypes.lruHash, keySize, valueSize, entries, flags: 0 };
    case "stacks": {
      if (map.stacks === undefined) throw new InternalError(`@${map.name} holds no stacks`);
      const bytes = stackBytes(map.stacks);
      if (map.stacks.unwind) return hashTable(8, bytes, entries, capabilities);
      return {
        type: mapTypes.stackTrace,
        keySize: 4,
        valueSize: bytes,
        entries,
        flags: map.stacks.buildId ? BPF_F_STACK_BUILD_ID : 0,
      };
    }
  }
}

/**
 * A table has its entries from the start: of the kernel's allocator a handler may get none where it runs. Only where
 * that were an absurd amount of memory, for a limit that is rarely meant to be reached, they are allocated as they
 * come.
 */
function hashTable(
  keySize: number,
  valueSize: number,
  entries: number,
  capabilities: Capabilities,
): Omit<KernelMap, "role" | "name"> {
  const bytes = (entryHead + roundUp(keySize, 8) + valueSize) * entries;
  return {
    type: mapTypes.hash,
    keySize,
    valueSize,
    entries,
    flags: bytes > mostPreallocated && allocatesAnywhere(capabilities) ? BPF_F_NO_PREALLOC : 0,
  };
}

/** Before Linux 6.1 an entry made in a tracing program could not be allocated safely everywhere. */
function allocatesAnywhere({ kernel }: Capabilities): boolean {
  return kernelAtLeast(kernel, 6, 1);
}

function isUnwound({ stacks }: IrMap): boolean {
  return stacks?.unwind === true;
}

/** The kernel takes letters, digits, `_` and `.`, at most 15. */
function objectName(name: string): string {
  return `m_${name.replace(/[^A-Za-z0-9_]/g, "_")}`.slice(0, 15);
}
