// What a handler can see at a probe: written by providers, read by the checker and by the compiler.
import type { AddressSpace, Type } from "./types.ts";

/** The BPF program types that strobe generates; the name is the kernel's. */
export type ProgramType = "raw_tracepoint" | "tracing" | "tracepoint" | "kprobe" | "perf_event";

/** How a value is fetched at a probe. Fetches nest: `pointed` reads memory at a fetched address. */
export type Fetch =
  /** A load from the program's context, `offset` bytes in (registers are this, at their place in pt_regs). */
  | { readonly kind: "context"; readonly offset: number; readonly size: 1 | 2 | 4 | 8; readonly signed: boolean }
  /** *(base + index*scale + offset). `typed`: base is a pointer the verifier knows, loaded directly. */
  | { readonly kind: "pointed"; readonly base: Fetch; readonly index?: Fetch; readonly scale?: 1 | 2 | 4 | 8; readonly offset: number; readonly size: 1 | 2 | 4 | 8; readonly signed: boolean; readonly space: AddressSpace | "typed" }
  /** base + offset, without a read: the address of something inside the context or memory (arrays, strings in place). */
  | { readonly kind: "address"; readonly base: Fetch | "context"; readonly offset: number }
  /** The low `size` bytes of another fetch, extended. */
  | { readonly kind: "narrow"; readonly of: Fetch; readonly size: 1 | 2 | 4; readonly signed: boolean }
  /** A tracepoint's __data_loc word at `offset`: the address (context + low 16 bits); the high 16 bits are the length. */
  | { readonly kind: "data-location"; readonly offset: number; readonly relative: boolean }
  | { readonly kind: "constant"; readonly value: bigint };

export interface Argument {
  readonly name: string;
  readonly type: Type;
  /**
   * For a scalar: fetches the value. For an array, struct or string held in place: fetches the address of its bytes
   * (memory of space `place`).
   */
  readonly fetch: Fetch;
  readonly place?: AddressSpace | "context";
}

/**
 * What one variant of a probe offers its handler. Sites with equal contexts share one program.
 */
export interface Context {
  readonly provider: string;
  readonly programType: ProgramType;
  /** What a `tracing` program is bound to at load: the kernel's attach type, the BTF id, and the module whose BTF has it. */
  readonly load?: { readonly attachType: number; readonly btfId: number; readonly module?: string };
  /** Sleepable programs may fault user pages in; none by default. */
  readonly sleepable?: boolean;
  /** `args`: the arguments by name. */
  readonly args?: readonly Argument[];
  /** `arg0` …: by number; absent where the provider has none. */
  readonly numbered?: readonly Fetch[];
  /** `retval` */
  readonly retval?: { readonly type: Type; readonly fetch: Fetch };
  /** `uaddr("symbol")`: the address of a symbol of the probed binary, and its bytes; undefined when it has no such symbol. */
  readonly userSymbol?: (name: string) => { readonly fetch: Fetch; readonly size: number } | undefined;
  /** `reg("ip")`: names as bpftrace spells them. */
  readonly registers?: ReadonlyMap<string, Fetch>;
  /** `ctx`: the type behind the context pointer, when it has one. */
  readonly contextType?: Type;
  /** `func`: a kernel symbol by bpf_get_func_ip ("ip"), the register's value ("register"), or known for the lone site. */
  readonly func?: "kernel" | "user" | "site";
  /** Dereferenced bare pointers (`*arg0`, str(arg0)) are in this space. */
  readonly defaultSpace: AddressSpace;
  /** False where the context cannot tell stacks (none so far) or where pt_regs are absent. */
  readonly stacks: boolean;
  /** Whether bpf_get_attach_cookie works here: how one program tells its sites apart. Otherwise sites become variants. */
  readonly cookie: boolean;
  /**
   * A value that must equal one of the sites' `match` numbers, else the handler returns at once (a raw sys_enter program
   * that serves chosen system calls). It tells the sites apart as well.
   */
  readonly dispatch?: Fetch;
  /** When this gives 0 the handler returns at once: the last call of an iterator has no object. */
  readonly requires?: Fetch;
  /** The result the program must return (0 unless said; iterators and perf events want 0 too). */
  readonly result?: number;
}
