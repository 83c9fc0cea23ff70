// What the running kernel is given of a plan: maps to create and programs to load and attach.
import type { Binding, ProgramType } from "../../language/context.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Copies } from "../layouts/copies.ts";
import type { BucketTable } from "../layouts/bucket-table.ts";
import type { SharedTable } from "../layouts/shared-table.ts";
import type { CountedLoop } from "../layouts/counted-places.ts";

export interface BpfPlan {
  /** Where each of the plan's maps is, by its index. */
  readonly storage: readonly MapStorage[];
  /** Loops of handlers that the kernel may cut short. */
  readonly loops: readonly CountedLoop[];
  readonly counters: Counters;
  /** Kernel maps to create, in order; relocations refer to them by index. */
  readonly maps: readonly KernelMap[];
  readonly programs: readonly KernelProgram[];
}

/**
 * - `slot`: a scalar map without keys: `offset` bytes into the globals region: u64 set flag, then the value.
 * - `percpu-slot`: a keyless aggregation: u64 words at `offset` of each CPU's stripe in the per-CPU region
 *   (KernelMapRole); first a u64 set flag.
 * - `hash`, `lru-hash`: a kernel map of its own.
 * - `percpu-hash`, `percpu-lru-hash`: the same, with an aggregation for value, and copies of it in each entry (copies.ts).
 * - `shared`: the same in a table of strobe's own (shared-table.ts), which is mapped. `why` of the others: what keeps them in the
 *   kernel's.
 * - `buckets`: values that are read and written, in a table of strobe's own (bucket-table.ts), with a kernel map for what does
 *   not fit it.
 * - `host`: not in the kernel (IrMap.host).
 * - `stacks`: the kernel's stack map; of unwound stacks a hash map of return addresses, by a number made of them.
 */
export type MapStorage =
  | { readonly kind: "slot"; readonly offset: number }
  | { readonly kind: "percpu-slot"; readonly offset: number }
  | { readonly kind: "hash"; readonly why?: string }
  | { readonly kind: "lru-hash" }
  | ({ readonly kind: "buckets" } & BucketTable)
  | ({ readonly kind: "percpu-hash"; readonly why?: string } & Copies)
  | ({ readonly kind: "percpu-lru-hash" } & Copies)
  | ({ readonly kind: "shared" } & SharedTable)
  | { readonly kind: "host" | "stacks" };

/** Where in a CPU's stripe of the per-CPU region things are counted: bytes. */
export interface Counters {
  /** Each schema's lost events: a u64. */
  readonly lost: readonly number[];
  /**
   * Where events say which probe they are of (`probe` in their header), those that were lost of each of the plan's probe
   * names: a u64 each from here on. Schemas of one probe count with `lost`.
   */
  readonly lostOf?: number | undefined;
  /** Each watched place's failures: a u64, and behind it the last one's code. */
  readonly watches: readonly number[];
  /** How often each of `loops` was cut short: a u64, in the first CPU's stripe. */
  readonly loops: readonly number[];
  /** Events that found no scratch memory, for each program that takes it from the pool (scratch.ts): a u64. */
  readonly missed: readonly number[];
}

/** What a kernel map is for, so that the session finds it again. */
export type KernelMapRole =
  | GatesRole
  | { readonly kind: "map"; readonly map: number }
  /** A table of buckets: a mmapable array of one value. */
  | { readonly kind: "buckets"; readonly map: number }
  /** Stacks that have no bucket in the kernel's map of stacks (stack-numbers.ts): by their numbers. */
  | { readonly kind: "displaced-stacks"; readonly map: number }
  /** Scalar maps: an mmapable array of one value of `size` bytes. Its last word is 0 until the session is over. */
  | { readonly kind: "globals"; readonly size: number }
  /**
   * Keyless aggregations, then lost-event and failed-update counters: an mmapable array of one value, a stripe a CPU.
   */
  | { readonly kind: "percpu"; readonly stripe: number }
  /** What the unwinder knows of processes and binaries (unwind-layout.ts). */
  | { readonly kind: "unwind-nodes" }
  | { readonly kind: "unwind-files" }
  /** What was copied of interpreted functions. */
  | { readonly kind: "unwind-functions" }
  /** Processes that were met and not known: u32 pid to the same. The session looks, and takes them out. */
  | { readonly kind: "unwind-wanted" }
  /**
   * `cutOffset`: where in the per-CPU stripe the counts of stacks are that ended early, a u64 for each of `cutStack`.
   */
  | { readonly kind: "unwind-processes"; readonly cutOffset: number }
  | { readonly kind: "events" }
  /** Packets for capture files: perf events. */
  | { readonly kind: "packets" }
  /** Scratch memory for what does not fit the BPF stack; the first entries may be a pool (scratch.ts). */
  | { readonly kind: "scratch" };

/**
 * Gates of governed programs, then what was held back: an mmapable array of one value. A u64 for each program (0: open;
 * else a mask: the handler runs at one turn of mask + 1), and from `first` a stripe a CPU with u64 turns and u64
 * skipped for each.
 */
export interface GatesRole {
  readonly kind: "gates";
  readonly programs: number;
  readonly first: number;
  readonly stripe: number;
  readonly cpus: number;
}

export interface KernelMap {
  readonly role: KernelMapRole;
  /** At most 15 characters: shown by bpftool. */
  readonly name: string;
  /** bpf_map_type number. */
  readonly type: number;
  readonly keySize: number;
  readonly valueSize: number;
  readonly entries: number;
  readonly flags: number;
  /** Role "map": where in the per-CPU stripe the counts of refused updates begin (refusals.ts); absent: not counted. */
  readonly failureOffset?: number | undefined;
  /** No program asks for it: a session need not create it. */
  readonly unused?: true;
}

export interface Relocation {
  /** Index of the ld_imm64's first instruction, or of the call. */
  readonly instruction: number;
  /**
   * The clocks are 64-bit constants the session writes before loading, like child-pid: nanoseconds to add to the boot
   * clock for wall time or TAI; the boot clock when the session began. `kernel-variable`: the BTF id of the variable
   * `symbol`, or `id`; `kernel-function`: that of a function, in a call.
   */
  readonly kind:
    | "map"
    | "map-value"
    | "child-pid"
    | "boot-to-wall"
    | "boot-to-tai"
    | "session-start"
    | "kernel-variable"
    | "kernel-function";
  readonly map: number;
  readonly symbol?: string;
  /** For kernel-variable: its BTF id, where that is known. */
  readonly id?: number;
  /** For map-value: bytes into the value. */
  readonly offset: number;
}

/** A program's part of the scratch map. */
export type ScratchEntry =
  | { readonly index: number }
  /** One of the pool's, whichever is free; `missed`: where in the per-CPU stripe events are counted that found none. */
  | { readonly missed: number };

export interface KernelProgram {
  readonly name: string;
  readonly provider: string;
  /** Runs once, before everything else or after it; others whenever their sites say. */
  readonly once?: "begin" | "end";
  /** Of those that run once, in this process or not, the least is first; 0 unless it says. */
  readonly order?: number;
  readonly type: ProgramType;
  readonly binding: Binding;
  readonly sites: readonly SiteRef[];
  /** Index in probeNames of each site; 0 where the program does not ask which it is at. */
  readonly cookies: readonly number[];
  /** 8 bytes an instruction. */
  readonly code: Uint8Array;
  /** Bytes of the stack that the handler itself takes, without what it calls. */
  readonly frame: number;
  readonly relocations: readonly Relocation[];
  /** Subprograms of the code (map callbacks): the verifier finds them by their calls. For dumps. */
  readonly subprograms: readonly { readonly name: string; readonly start: number }[];
  /** Where in the per-CPU stripe events are counted that found no scratch memory (scratch.ts): a u64. */
  readonly missed?: number;
}
