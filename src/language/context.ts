// What a handler can see at a probe: written by providers, read by the checker and by the compiler.
import type { AddressSpace, Type } from "./types.ts";
import { Failure, type Reason } from "../base/failure.ts";

/** The BPF program types that strobe generates; the name is the kernel's. */
export type ProgramType = "raw_tracepoint" | "tracing" | "tracepoint" | "kprobe" | "perf_event";

/** How a value is fetched at a probe. Fetches nest: `pointed` reads memory at a fetched address. */
export type Fetch =
  /** A load from the program's context, `offset` bytes in (registers are this, at their place in pt_regs). */
  | { readonly kind: "context"; readonly offset: number; readonly size: 1 | 2 | 4 | 8; readonly signed: boolean }
  /** *(base + index*scale + offset). `typed`: base is a pointer the verifier knows, loaded directly. */
  | {
      readonly kind: "pointed";
      readonly base: Fetch;
      readonly index?: Fetch;
      readonly scale?: 1 | 2 | 4 | 8;
      readonly offset: number;
      readonly size: 1 | 2 | 4 | 8;
      readonly signed: boolean;
      readonly space: AddressSpace | "typed";
    }
  /**
   * base + offset, without a read: the address of something inside the context or memory (arrays, strings in place).
   */
  | { readonly kind: "address"; readonly base: Fetch | "context"; readonly offset: number }
  /** 64-bit arithmetic, as DWARF expressions have it: `/` is signed, `%` and `>>>` are not, `>>` keeps the sign. */
  | {
      readonly kind: "binary";
      readonly operator: "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>" | ">>>";
      readonly left: Fetch;
      readonly right: Fetch;
    }
  /** The current task's `struct task_struct`, in the kernel's memory. */
  | { readonly kind: "task" }
  /** Where the function begins whose return a probe is at (bpf_get_func_ip): the registers are its caller's by then. */
  | { readonly kind: "function" }
  /** The low `size` bytes of another fetch, extended. */
  | { readonly kind: "narrow"; readonly of: Fetch; readonly size: 1 | 2 | 4; readonly signed: boolean }
  /**
   * A tracepoint's __data_loc word at `offset`: the address (context + low 16 bits); the high 16 bits are the length.
   */
  | { readonly kind: "data-location"; readonly offset: number; readonly relative: boolean }
  /** Inside a function or where it returns: a word that was kept at its entry, by its number (Context.kept). */
  | { readonly kind: "kept"; readonly word: number }
  | { readonly kind: "constant"; readonly value: bigint };

/**
 * What is kept of a function's calls from their entry on. The contexts of where it is kept and used have the same
 * object.
 */
export interface KeptCalls {
  /** Words of 8 bytes, fetched at the entry. */
  readonly words: readonly Fetch[];
  /**
   * Which of the calls of a thread it is; `ofProcess`: of a process, whose calls may go on in another thread. As many
   * at the entry as where they are used, and equal.
   */
  readonly atEntry: readonly Fetch[];
  readonly atUse: readonly Fetch[];
  readonly ofProcess: boolean;
}

export interface Argument {
  readonly name: string;
  readonly type: Type;
  /**
   * For a scalar: fetches the value. For an array, struct or string held in place: fetches the address of its bytes
   * (memory of space `place`).
   */
  readonly fetch: Fetch;
  readonly place?: AddressSpace | "context";
  /** Where a value is that lies in no one place: its bytes, in order. `fetch` means nothing then. */
  readonly pieces?: readonly Piece[];
  /** Text that is not terminated: how many bytes there are. The type is a string, and `fetch` its address. */
  readonly length?: Fetch;
  /** Why there is no value here ("optimised out here"). */
  readonly absent?: Reason;
}

/**
 * A part of a value, `offset` bytes in: the low `size` bytes of a fetch, or `size` bytes of memory at a fetched
 * address.
 */
export type Piece =
  | { readonly kind: "value"; readonly offset: number; readonly size: number; readonly fetch: Fetch }
  | {
      readonly kind: "memory";
      readonly offset: number;
      readonly size: number;
      readonly address: Fetch;
      readonly space: AddressSpace;
    };

/** Variables of the traced program at a probe, where its debug information tells them. */
export interface ProgramVariables {
  /** `var("NAME")`, for the names that the script mentions; a string says why there is none. */
  find(name: string): Argument | Failure | undefined;
  /** `vars`: parameters and locals in scope, innermost first. */
  readonly inScope: readonly Argument[];
  /** Names to suggest. */
  names(): Iterable<string>;
}

export type RecordedWord = "time" | "cpu" | "pid" | "tid" | "uid" | "gid" | "cgroup" | "user-mode";

/**
 * Where the rows of a recording have what handlers ask of the moment; offsets are bytes from a row's start. `site`: a
 * u32, the recording's number of the probe; rows without are all at `onlySite`. Stacks are numbers of 8 bytes.
 */
export interface RecordedRow {
  readonly words: Partial<Record<RecordedWord, { readonly offset: number; readonly size: 1 | 2 | 4 | 8 } | undefined>>;
  /** 16 bytes. */
  readonly comm?: number;
  readonly site?: number;
  readonly onlySite?: number;
  readonly kernelStack?: number;
  readonly userStack?: number;
  /** The host that it is of, and of a merged recording which of its parts. */
  readonly host?: string;
  readonly part?: number;
  /** Of code in user stacks, its files and their build ids are known. */
  readonly files?: true;
  readonly texts: readonly RecordedText[];
  /** Texts in the row itself that may have been cut when they were recorded; `size`: with the terminator. */
  readonly ownTexts?: readonly { readonly offset: number; readonly size: number }[];
  /** False where nobody knows what time of day an event's time was. */
  readonly timeOfDay?: false;
  /** Arguments that there are, and that are not in the rows. */
  readonly absent: readonly string[];
}

/** The text that a pointer led to: the pointer's offset, and that of the text, of `size` bytes with its terminator. */
export interface RecordedText {
  readonly pointer: number;
  readonly space: AddressSpace;
  readonly offset: number;
  readonly size: number;
}

/** What a handler can see at a probe, and where it may run. */
interface HandlerView {
  readonly provider: string;
  /** The kernel says by its type information what the handler is given: pointers to its objects can be trusted. */
  readonly kernelTypes?: true;
  /** The place is in a program's code: names mean its symbols, and not the kernel's. */
  readonly inProgram?: true;
  /**
   * Handlers may run in strobe itself as well, and do unless they look at what only the kernel sees: once before
   * everything else, once after it, or whenever a site's data says (HostSite).
   */
  readonly runsInStrobe?: RunsInStrobe;
  /** A handler's `return N` says whether it failed (0: it did). */
  readonly returnsVerdict?: true;
  /** override() works here. */
  readonly overridable?: true;
  /** path() takes pointers only as they are read from the program's context, member by member. */
  readonly pathsFromContext?: true;
  /** `args`: the arguments by name. */
  readonly args?: readonly Argument[];
  /** `var("x")` and `vars`; a string says why they are not known here, undefined that this kind of probe has none. */
  readonly variables?: ProgramVariables | Failure;
  /** `arg0` …: by number; absent where the provider has none. */
  readonly numbered?: readonly Fetch[];
  /** `retval` */
  readonly retval?: Omit<Argument, "name">;
  /** `goid`: the goroutine that runs; only in functions that Go compiled. */
  readonly goroutine?: Fetch;
  /**
   * `uaddr("symbol")`: the address of a symbol of the probed binary, and its bytes; undefined when it has no such
   * symbol, a string says why it cannot be told here.
   */
  readonly userSymbol?: (name: string) => { readonly fetch: Fetch; readonly size: number } | string | undefined;
  /** Types of the probed program, for names that neither the script nor the kernel knows. Opens debug information. */
  readonly typeNamed?: (name: string, tag?: "struct" | "union" | "enum") => Type | undefined;
  /** The value of an enumerator of the probed program. Opens debug information. */
  readonly enumerator?: (name: string) => bigint | undefined;
  /** `reg("ip")`: names as bpftrace spells them. */
  readonly registers?: ReadonlyMap<string, Fetch>;
  /** `ctx`: the type behind the context pointer, when it has one. */
  readonly contextType?: Type;
  /**
   * `func`: a kernel symbol by bpf_get_func_ip ("ip"), the register's value ("register"), or known for the lone site.
   */
  readonly func?: "kernel" | "user" | "site";
  /** The name by which watch() gives it addresses. */
  readonly watchName?: string;
  /** Dereferenced bare pointers (`*arg0`, str(arg0)) are in this space. */
  readonly defaultSpace: AddressSpace;
  /** False where the context cannot tell stacks (none so far) or where pt_regs are absent. */
  readonly stacks: boolean;
  /**
   * What the handler keeps of a call; or is given back, in which case it returns at once where nothing was kept.
   * `without`: it is for calls that nothing was kept of, and returns at once in others; `shared`: there is such a
   * handler at the same place.
   */
  readonly kept?: {
    readonly at: "entry" | "inside" | "return" | "without";
    readonly calls: KeptCalls;
    readonly shared?: true;
  };
  /** When this gives 0 the handler returns at once: the last call of an iterator has no object. */
  readonly requires?: Fetch;
  /** The event is one of a recording: the context is its row, and nothing else of the moment is there. */
  readonly recorded?: RecordedRow;
}

/** How a handler is bound as a program of the kernel's: what nobody but eBPF's compiler and attachers asks. */
export interface ProgramForm {
  readonly type: ProgramType;
  /**
   * What a `tracing` program is bound to at load: the kernel's attach type, the BTF id, and the module whose BTF has
   * it.
   */
  /** `program`: the id of the loaded BPF program whose function it is; the BTF id is of its type information. */
  readonly load?: {
    readonly attachType: number;
    readonly btfId: number;
    readonly module?: string;
    readonly program?: number;
  };
  /**
   * The handler may share a program with the one at the other end of the same functions (compiler/sites/return-pairs.ts): the
   * attach type of such a program.
   */
  readonly session?: { readonly part: "entry" | "return"; readonly attachType: number };
  /** Sleepable programs may fault user pages in; none by default. */
  readonly sleepable?: boolean;
  /**
   * The kernel lets go of the event some time after it is closed (linux/late-release.ts): once the session is over, the
   * handler returns at once.
   */
  readonly leavesLate?: boolean;
  /**
   * Whether bpf_get_attach_cookie works here: how one program tells its sites apart. Otherwise sites become variants.
   */
  readonly cookie: boolean;
  /**
   * A value that must equal one of the sites' `match` numbers, else the handler returns at once (a raw sys_enter
   * program that serves chosen system calls). It tells the sites apart as well.
   */
  readonly dispatch?: Fetch;
  /**
   * The kernel's `struct seq_file` that printf writes into: of a pinned iterator, which prints for whoever reads it.
   */
  readonly sequence?: Fetch;
  /** The result the program must return: 0 unless said, which iterators and sampling perf events want too. */
  readonly result?: number;
}

/** What one variant of a probe offers. Sites with equal contexts share one program. */
export interface Context extends HandlerView {
  readonly program: ProgramForm;
}

/** A context whose program is bound otherwise. */
export function boundBy(context: Context, program: Partial<ProgramForm>): Context {
  return { ...context, program: { ...context.program, ...program } };
}

/** When handlers run in strobe itself. */
export type RunsInStrobe = "begin" | "end" | "when-due";

/** The data of a site whose handlers run in strobe when they are due: every so many nanoseconds, or at a signal to it. */
export type HostSite = { readonly period: number } | { readonly signal: NodeJS.Signals };

/** begin and end, once each; undefined for what may run at any time. */
export function onceAt(context: Context): "begin" | "end" | undefined {
  return context.runsInStrobe === "when-due" ? undefined : context.runsInStrobe;
}

/** The same as a property of what runs there. */
export function onceIn(context: Context | "host"): { readonly once?: "begin" | "end" } {
  const once = context === "host" ? undefined : onceAt(context);
  return once === undefined ? {} : { once };
}

/** What loading a program and attaching it ask of its context: plain data, as all of a plan is. */
export interface Binding extends Pick<ProgramForm, "load" | "session" | "sleepable" | "cookie"> {
  /** Context.defaultSpace. */
  readonly defaultSpace: AddressSpace;
  /** Attached before the others, which ask for what it keeps. */
  readonly first?: true;
}

export function bindingOf({ program: { load, session, sleepable, cookie }, defaultSpace, kept }: Context): Binding {
  return {
    defaultSpace,
    cookie,
    ...(load === undefined ? {} : { load }),
    ...(session === undefined ? {} : { session }),
    ...(sleepable === undefined ? {} : { sleepable }),
    ...(kept?.at === "entry" ? { first: true } : {}),
  };
}
