// What the checker hands to the compiler.
import type { Context } from "../context.ts";
import type { Block, Expression, Probe, Program } from "../program.ts";
import type { EnumType, StackUnwinding, Type } from "../types.ts";

/** A constant and the enum it belongs to, where that is known. */
export interface EnumConstant {
  readonly value: bigint;
  readonly type?: EnumType;
}

/**
 * What the checker and the providers need to know about types, beyond the script: kernel types from BTF, by the names
 * that C uses. All lookups are lazy and cached.
 */
export interface TypeScope {
  /** `task_struct` with tag struct; typedefs and base types (`u32`, `size_t`, `pid_t`) without a tag. */
  find(name: string, tag?: "struct" | "union" | "enum"): Type | undefined;
  /** An enum constant: `BPF_MAP_TYPE_HASH`. */
  enumConstant(name: string): EnumConstant | undefined;
  /** Names near to a misspelt one, best first, at most three. */
  similar(name: string, tag?: "struct" | "union" | "enum"): string[];
}

/** What this kernel can do, as far as checking and compiling care. A plain record so that tests can make one. */
export interface Capabilities {
  /** [6, 18] */
  readonly kernel: readonly [number, number];
  readonly btf: boolean;
  readonly mayGoto: boolean;
  readonly ringBuffer: boolean;
  /** Signed division and the other cpu-v4 instructions. */
  readonly cpuV4: boolean;
  /** Possible CPUs: the size of per-CPU regions. */
  readonly cpus: number;
  readonly taskBtf: boolean;
  readonly arm64?: boolean;
  /** Where strobe has another idea of the numbers of processes than the kernel: in a container. */
  readonly pidNamespace?: PidNamespace | undefined;
  /**
   * Whether kernel functions can be probed by kprobes, and by fentry and fexit. For advice: only what works is advised.
   */
  readonly kprobes?: boolean;
  readonly trampolines?: boolean;
}

/** A namespace of process numbers as nsfs has it: the numbers of stat(2) of /proc/self/ns/pid. */
export interface PidNamespace {
  readonly device: bigint;
  readonly inode: bigint;
}

/** One attach target of a handler, resolved. `site` is the provider's own data. */
export interface SiteRef {
  /** Full probe name, for `probe` and for messages: `tracepoint:sched:sched_switch`. */
  readonly name: string;
  /** Name for `func`. */
  readonly func?: string;
  /** With the context's dispatch: the number to match. */
  readonly match?: bigint;
  /**
   * One of several places of its name: the number of the attach point that means them all. Together they are one probe.
   */
  readonly among?: number;
  readonly data: unknown;
}

/** A probe whose specs were resolved: each variant is a context and the sites that share it. */
export interface ResolvedProbe {
  readonly probe: Probe;
  readonly variants: readonly ResolvedVariant[];
}

export interface ResolvedVariant {
  readonly context: Context | "host";
  readonly provider: string;
  readonly sites: readonly SiteRef[];
  /**
   * Where what the handler is given of the call is kept (Context.kept): a program of its own, which the script knows
   * nothing of.
   */
  readonly entry?: Omit<ResolvedVariant, "entry">;
}

export interface CheckedProgram {
  readonly program: Program;
  readonly config: Config;
  readonly maps: readonly CheckedMap[];
  readonly handlers: readonly CheckedHandler[];
  readonly functions: readonly CheckedFunction[];
}

/** As far as types are known, even of a script with mistakes: what an editor shows. Never compiled. */
export type TypedProgram = Pick<CheckedProgram, "maps" | "handlers" | "functions">;

/** One probe body in one context: types filled in, its own copy of the tree. */
export interface CheckedHandler {
  readonly probe: Probe;
  readonly provider: string;
  readonly context: Context | "host";
  readonly sites: readonly SiteRef[];
  readonly guard?: Expression;
  readonly predicate?: Expression;
  readonly body: Block;
  readonly variables: readonly CheckedVariable[];
  /** Decided from what the body uses: begin, end and interval run on the host unless they need the kernel. */
  readonly placement: "kernel" | "host";
}

/** `addressed`: some expression takes its address, so it lives in memory. */
export interface CheckedVariable {
  readonly name: string;
  readonly type: Type;
  readonly addressed?: true;
}

/** Functions are inlined by the compiler; parameters are the first variables. */
export interface CheckedFunction {
  readonly name: string;
  readonly parameters: number;
  readonly variables: readonly CheckedVariable[];
  readonly result: Type;
  readonly body: Block;
}

export interface CheckedMap {
  /** Without "@"; "" for the anonymous map. */
  readonly name: string;
  /** Key types, integers widened to 64 bits; empty for a scalar map. */
  readonly keys: readonly Type[];
  /** The key was written as one tuple (`@[(1, 2)]`) rather than several keys; prints the same. */
  readonly value: Type;
  /** From a map declaration: `hash`, `lruhash`, `percpuhash`, …; undefined lets the compiler choose. */
  readonly storage?: string;
  readonly entries?: number;
}

/** The config variables that touch compiling and running, resolved from defaults, the script and the environment. */
export interface Config {
  readonly maxStringLength: number;
  /** Elements of a list or a map of a program that are copied. */
  readonly maxElements: number;
  readonly maxMapKeys: number;
  readonly maxCatBytes: number;
  /** Undefined, as the next one is: there is no limit but the kernel's. */
  readonly maxProbes: number | undefined;
  readonly maxBpfProgs: number | undefined;
  /** Bytes of the event ring buffer, a power of two. */
  readonly ringBytes: number;
  readonly onStackLimit: number;
  readonly stackMode: "bpftrace" | "perf" | "raw" | "build_id";
  /** How ustack is found unless it says. */
  readonly stackUnwinding: StackUnwinding;
  readonly missingProbes: "error" | "warn" | "ignore";
  readonly printMapsOnExit: boolean;
  readonly stringTrailer: string;
  readonly cppDemangle: boolean;
  readonly lazySymbolication: boolean;
  readonly license: string;
  readonly logSize: number;
  readonly showDebugInfo: boolean;
  readonly cacheUserSymbols: "PER_PROGRAM" | "PER_PID" | "NONE";
}
