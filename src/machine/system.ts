// The machine as providers and the checker see it: facts about the running kernel and its programs, read lazily.
// Live on this machine (live-system.ts) or made up in tests. Nothing here changes the system.
import type { DebugInfo } from "../debuginfo/dwarf/facts.ts";
import type { Capabilities } from "../linux/kernel/capabilities.ts";
import type { TypeScope } from "../language/type-scope.ts";
import type { GoProgram } from "../debuginfo/go-functions.ts";
import type { CodeRange } from "../debuginfo/function-ends.ts";
import type { LandingPad } from "../debuginfo/landing-pads.ts";
import type { References } from "../debuginfo/references.ts";
import type { LibraryThreadLocals } from "../debuginfo/thread-locals.ts";
import type { Type } from "../language/types.ts";
import { Failure } from "../base/failure.ts";

export interface System {
  readonly types: TypeScope;
  readonly capabilities: Capabilities;
  /** Kernel functions from BTF: parameters, result, the BTF id that attaching wants. */
  kernelFunction(name: string): KernelFunction | undefined;
  /**
   * All traceable kernel function names, sorted lazily, for listings and wildcards; `typed`: those that BTF describes.
   */
  kernelFunctions(only?: "typed"): readonly string[];
  /** The module a function's symbol lies in, "vmlinux" for the kernel proper: for listings, which need no types. */
  functionModule(name: string): string | undefined;
  /**
   * All functions of this name, where several share it: static ones of several files may. Absent where names are
   * unique.
   */
  functionsSharing?(name: string): readonly FunctionPlace[];
  /**
   * Functions that a wildcard means, and where each begins or, with less work, where it can be traced: the kernel takes
   * both. Absent, or undefined, where the kernel does not tell.
   */
  functionsAt?(
    pattern: { readonly module: string | undefined; readonly name: string },
    place: "start" | "traced",
  ): readonly FunctionAt[] | undefined;
  /**
   * Whether BTF of the kernel proper knows a function of this name: a good deal faster, as no type is decoded. Absent:
   * see kernelFunction.
   */
  hasKernelFunction?(name: string): boolean;
  /** Of the current task, which each CPU has in a variable: absent, or undefined, where handlers cannot read that. */
  taskOfCpu?(): TaskOfCpu | undefined;
  /** Why symbols of the kernel have no addresses, where it keeps those to itself. */
  symbolsHidden?(): string | undefined;
  /** Symbols of /proc/kallsyms. */
  symbolAddress(name: string): bigint | undefined;
  /**
   * The machine code of a kernel function as it runs now (of several the one at `address`); or why it is not to be had.
   * Absent on machines without one.
   */
  kernelCode?(name: string, address?: bigint): KernelCode | Failure;
  /** The kernel's binary with its debug information, or why there is none. Opens nothing until it is called. */
  kernelImage?(): KernelImage | Failure;
  /** The same of a module that is loaded; which are, and which one an address is in. */
  moduleImage?(name: string): KernelImage | Failure;
  loadedModules?(): readonly string[];
  moduleAt?(address: bigint): string | undefined;
  /** The id of a cgroup: its path below the root of version 2, or its directory. */
  cgroupId(path: string): bigint | undefined;
  /** A tracepoint's format file, parsed. */
  tracepoint(category: string, name: string): TracepointFormat | undefined;
  tracepoints(): readonly { readonly category: string; readonly name: string }[];
  /** Whether programs can define events of their own (user_events). Absent: where there are any. */
  userEvents?(): boolean;
  /** Whether the kernel takes events that are defined on events (eprobes), as far as it is known how it was built. Absent: no. */
  eventsOnEvents?(): boolean;
  /** Whether it finds pairs of events (histogram triggers with variables, synthetic events). Absent: no. */
  pairsOfEvents?(): boolean;
  /** Raw tracepoints with their BTF argument types (from btf_trace_NAME typedefs, the leading void* dropped). */
  rawTracepoint(name: string):
    | {
        readonly btfId: number;
        readonly args: readonly { readonly name: string; readonly type: Type }[];
        /** Absent for the kernel proper. */ readonly module?: string;
      }
    | undefined;
  /** Whether there is one of this name: a good deal faster, as no type is decoded. */
  hasRawTracepoint(name: string): boolean;
  rawTracepoints(): readonly string[];
  /** Constants of the kernel's enums and its modules', each name once: for listings. Absent on machines without any. */
  enumConstants?(): Iterable<{ readonly name: string; readonly value: bigint }>;
  /**
   * Names of the kernel's types, for completion: with a tag (`struct`), or those that go without. Some more than once.
   */
  typeNames?(tag?: "struct" | "union" | "enum"): Iterable<string>;
  /** Functions of loaded BPF programs that have type information. Absent on machines without any. */
  bpfFunctions?(): readonly BpfFunction[];
  /** BTF iterators (bpf_iter__NAME structs). */
  iterators(): readonly string[];
  /**
   * A binary: a path, or a name found as the shell or the dynamic loader would; seen from the process's root with a
   * pid.
   */
  binary(pathOrName: string, pid?: number): Binary | undefined;
  /** Executables and libraries mapped into a process (or all running ones without a pid). */
  mappedBinaries(pid: number): readonly string[];
}

/** What it takes to read the current task without a call: BTF ids. */
export interface TaskOfCpu {
  /** The variable, of which the task's address is the first word. */
  readonly variable: number;
  /** The function bpf_rdonly_cast, which the verifier replaces by a move. */
  readonly cast: number;
  /** struct task_struct. It begins with a number of eight bytes (thread_info's flags): any address can be read through it. */
  readonly task: number;
}

/**
 * `program`: its id; `btfId`: of its own type information. `tracing`: it is itself bound to a function of the kernel.
 */
export interface BpfFunction {
  readonly program: number;
  readonly name: string;
  readonly btfId: number;
  readonly tracing: boolean;
}

export interface FunctionAt {
  readonly name: string;
  readonly address: bigint;
}

export interface KernelFunction {
  readonly name: string;
  readonly btfId: number;
  /** Module name, or "vmlinux". */
  readonly module: string;
  readonly parameters: readonly { readonly name: string; readonly type: Type }[];
  readonly result: Type;
  /** Types as the kernel's sources spell them, of the parameters in their order, and of the result. */
  readonly spelled?: () => readonly (string | undefined)[];
}

/** Where one of several functions of a name begins, and its module ("vmlinux" for the kernel proper). */
export interface FunctionPlace {
  readonly address: bigint;
  readonly module: string;
}

export interface KernelCode {
  readonly name: string;
  /** The body first, then its cold part. */
  readonly ranges: readonly CodeRange[];
  /** Whether the kernel says that no kprobe may be there. */
  forbidden(address: bigint): boolean;
  /** The symbol that an address lies in. */
  nameAt(address: bigint): { readonly name: string; readonly offset: number } | undefined;
}

export interface KernelImage {
  readonly binary: Binary;
  /** What is to be added to an address of the binary to have one of the running kernel. */
  readonly slide: bigint;
}

export interface TracepointFormat {
  /** The number to give perf_event_open. */
  readonly id: number;
  readonly fields: readonly TracepointField[];
}

/** One `field:` line; common_ fields are left out. */
export interface TracepointField {
  readonly name: string;
  /** As the format file writes it: `const char *`, `__data_loc char[]`. */
  readonly declaration: string;
  readonly offset: number;
  readonly size: number;
  readonly signed: boolean;
}

export interface Binary {
  /** Absolute path to open, through /proc/PID/root where needed. */
  readonly path: string;
  /** Path as the user would write it. */
  readonly shownPath: string;
  readonly buildId?: string | undefined;
  readonly machine: "x86-64" | "arm64" | "other";
  /** Function symbols by name: file offsets. Includes .dynsym, .symtab and .gnu_debugdata. */
  symbol(name: string): BinarySymbol | undefined;
  /** Of a function that only its own source file sees: those of other files that have its name. */
  namesakes?(symbol: BinarySymbol): Iterable<BinarySymbol>;
  /** Names of the functions that begin at a place in the file. */
  namesAt?(fileOffset: bigint): readonly string[];
  /** All of them; those that are not wanted may be left out, which saves taking them in. */
  symbols(wanted?: (name: string) => boolean): Iterable<BinarySymbol>;
  /** Virtual address to file offset; undefined outside any loaded segment. */
  fileOffset(address: bigint): bigint | undefined;
  /** What of the file is loaded as code: file offsets, each from `low` to before `high`. */
  readonly code?: readonly { readonly low: bigint; readonly high: bigint }[];
  usdtProbes(): readonly UsdtProbe[];
  /** File offset to virtual address; undefined outside any loaded segment. */
  address(fileOffset: bigint): bigint | undefined;
  /** Loaded at the addresses that its symbols have; else (PIE, libraries) anywhere. */
  readonly fixed: boolean;
  /** Bytes of the file. */
  read(fileOffset: bigint, length: number): Uint8Array;
  /** Stubs through which it calls functions of other files, and their names. */
  imports?(): readonly { readonly name: string; readonly fileOffset: bigint }[];
  /** Whether it takes a function or an object of this name from another file. */
  takes?(name: string): boolean;
  /** What in it leads to an address of its code; undefined where that cannot be told. */
  references?(address: bigint): References | undefined;
  /** What a program that Go built says of itself. */
  readonly go?: GoProgram | undefined;
  /** The function symbol that holds a place in the file. */
  functionAt(fileOffset: bigint): { readonly name: string; readonly offset: number } | undefined;
  /**
   * What debug information tells of it; a string says why there is none, and what to do. Opens nothing until it is
   * called. With "at hand" no server is asked.
   */
  debugInfo?(where?: "at hand"): DebugInfo | Failure;
  /** Where exceptions come to in the function, or the part of one, that holds an address. */
  landingPads?(address: bigint): readonly LandingPad[];
  /** Of a kernel or a module: the addresses of variables of which each CPU has its own. */
  readonly perCpu?: { readonly low: bigint; readonly high: bigint } | undefined;
  /** Names of the libraries that the loader brings with it. */
  readonly needed?: readonly string[];
  /** Where threads have their copies of its thread-local storage; a string says why that cannot be told. */
  readonly threadLocals?: ThreadLocals | Failure | undefined;
}

/** Of an executable: bytes, and what the end is aligned to. A library's is wherever the loader says. */
export type ThreadLocals =
  | { readonly kind: "executable"; readonly size: bigint; readonly align: bigint }
  | { readonly kind: "library"; readonly access: LibraryThreadLocals };

export interface BinarySymbol {
  readonly name: string;
  readonly address: bigint;
  readonly size: bigint;
  readonly fileOffset: bigint;
  readonly kind: "function" | "object";
}

export interface UsdtProbe {
  readonly provider: string;
  readonly name: string;
  /** File offset of the nop. */
  readonly fileOffset: bigint;
  /** File offset of the semaphore counter; 0 when there is none. */
  readonly semaphoreOffset: bigint;
  /** Argument descriptions as the note has them: `-4@%edi 8@16(%rbp)`. */
  readonly argumentText: string;
}
