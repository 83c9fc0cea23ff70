// The plan: everything a session needs, as plain data. Nothing in it refers to this machine's descriptors.
import type { Config } from "../language/check/config.ts";
import type { SiteRef } from "../language/resolved-probe.ts";
import type { Binding, ProgramType } from "../language/context.ts";
import type { PrintfFormat } from "../language/printf.ts";
import type { Type } from "../language/types.ts";
import type { IrMap } from "./ir/ir.ts";
import type { WatchedCall } from "./layouts/watches.ts";
import type { HeaderField } from "./layouts/record-header.ts";

export interface Plan {
  readonly config: Config;
  /** The script's maps, then stack maps. Events and host programs refer to them by index. */
  readonly maps: readonly IrMap[];
  /** Kernel maps to create, in order; relocations refer to them by index. */
  readonly kernelMaps: readonly KernelMap[];
  readonly programs: readonly KernelProgram[];
  readonly hosts: readonly HostProgram[];
  readonly schemas: readonly EventSchema[];
  readonly probeNames: readonly string[];
  /** strftime formats, by index. */
  readonly timeFormats: readonly string[];
  /** Capture files, by index (packets.ts). */
  readonly packetFiles: readonly string[];
  /** With `-k`: the places whose failures are counted. */
  readonly watches: readonly WatchedPlace[];
  /** Loops of handlers in the kernel that it may cut short. */
  readonly loops: readonly CountedLoop[];
}

/**
 * `offset`: where in the first CPU's stripe the count is of how often it was cut short. `line`: of the script.
 * `unkept`: it is no loop but a probe, which left out what was in calls that nothing was kept of.
 */
export interface CountedLoop {
  readonly place: NonNullable<EventSchema["place"]>;
  readonly line: string;
  readonly offset: number;
  readonly unkept?: UnkeptCalls;
}

export interface UnkeptCalls {
  readonly probe: string;
  readonly where: "inside" | "return";
}

/**
 * `offset`: where in the per-CPU stripe the count of its failures is (a u64), and behind it the last one's code.
 * `line`: of the script.
 */
export interface WatchedPlace {
  readonly call: WatchedCall;
  readonly place: NonNullable<EventSchema["place"]>;
  readonly line: string;
  readonly offset: number;
}

/** What a kernel map is for, so that the session finds it again. */
export type KernelMapRole =
  | GatesRole
  | { readonly kind: "map"; readonly map: number }
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
  /** Scratch memory for what does not fit the BPF stack. */
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
  readonly failureOffset?: number;
  /** No program asks for it: a session need not create it. */
  readonly unused?: true;
}

export interface Relocation {
  /** Index of the ld_imm64's first instruction, or of the call. */
  readonly instruction: number;
  /**
   * The clocks are 64-bit constants the session writes before loading, like child-pid: nanoseconds to add to the boot
   * clock for wall time or TAI; the boot clock when the session began. `kernel-variable`: the BTF id of the variable
   * `symbol`; `kernel-function`: that of a function, in a call.
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
  /** For map-value: bytes into the value. */
  readonly offset: number;
}

export interface KernelProgram {
  readonly name: string;
  readonly provider: string;
  /** Runs once, before everything else or after it; others whenever their sites say. */
  readonly once?: "begin" | "end";
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
}

/** A handler that runs in strobe's process: source of `(runtime) => void`, see javascript/. */
export interface HostProgram {
  readonly name: string;
  readonly provider: string;
  /** Runs once, before everything else or after it; others whenever their sites say. */
  readonly once?: "begin" | "end";
  readonly sites: readonly SiteRef[];
  readonly source: string;
}

/**
 * An event's record: u32 schema index, u32 zero, the header that was asked for, then the fields at their offsets (8-byte
 * aligned from the record's start).
 */
export interface EventSchema<Action extends EventAction = EventAction> {
  readonly action: Action;
  readonly fields: readonly EventField[];
  /** A u64 each, in this order. */
  readonly header?: readonly HeaderField[];
  /** Bytes of the whole record. */
  readonly size: number;
  /** Where the call stands in the script: what errorf and warnf point at. */
  readonly place?: {
    readonly source: string;
    readonly line: number;
    readonly column: number;
    readonly endColumn: number;
  };
  /** Probe it was written in: for lost counts. */
  readonly probe: string;
  /** Where in the per-CPU stripe this schema's lost counter is. */
  readonly lostOffset: number;
}

export interface EventField {
  readonly name: string;
  readonly type: Type;
  readonly offset: number;
}

/** What the host does when the event arrives. Arguments are the fields, in order, unless said. */
export type EventAction = ConsumerAction | SessionAction;

/** What is for whoever reads the events. */
export type ConsumerAction =
  | { readonly kind: "printf"; readonly format: PrintfFormat; readonly to: "output" | "error" | "warning" | "runtime" }
  /** print(value) of one field; `label` for maps' single entries: `@x[1]`. */
  | { readonly kind: "print-value" }
  /** print(@m[k]): the key fields, then the value. */
  | { readonly kind: "print-entry"; readonly map: number }
  | { readonly kind: "time"; readonly format: string }
  | { readonly kind: "join"; readonly separator: string }
  /** A typed event for the library: emit({ … }). */
  | { readonly kind: "data"; readonly name: string }
  /** An error from a helper or an assertion, with the place in the script. */
  | { readonly kind: "error"; readonly message: string };

/** What the session does itself. */
export type SessionAction =
  /** print(@m[k]) of an aggregation that has no single value: the key. */
  | { readonly kind: "print-aggregate"; readonly map: number }
  /** print(@m, top, divisor): fields top and divisor. */
  | { readonly kind: "print-map"; readonly map: number }
  | { readonly kind: "clear-map"; readonly map: number }
  | { readonly kind: "zero-map"; readonly map: number }
  /** watch("name", address): the address, the process and the time. */
  | { readonly kind: "watch"; readonly name: string }
  /** unwatch(address): the address and the process. */
  | { readonly kind: "unwatch" }
  | { readonly kind: "exit" }
  | { readonly kind: "cat"; readonly format: PrintfFormat }
  | { readonly kind: "system"; readonly format: PrintfFormat };
