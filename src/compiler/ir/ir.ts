// The intermediate representation: SSA over 64-bit integers, with memory in named slots and whole high-level
// operations. Both generators (bpf/ and javascript/) implement every operation; the comments here are the
// specification.
import type { HostTextName } from "../../language/host-texts.ts";
import type { MapOrder } from "../../language/program.ts";
import { isSteady, type HelperName } from "../../bpf/helpers.ts";
import type { AggregateType, Type } from "../../language/types.ts";
import type { Context } from "../../language/context.ts";

/** An SSA value: a 64-bit integer (two's complement; signedness is in the operations). Index into IrFunction.values. */
export type Value = number;

export interface IrModule {
  readonly functions: readonly IrFunction[];
  readonly maps: readonly IrMap[];
  /** Names for `probe` values: emitted as an index. */
  readonly probeNames: readonly string[];
}

/**
 * A handler, the body of a for-each over a map (which a handler calls through `for-each`), or a round of a loop
 * (`rounds`).
 */
export interface IrFunction {
  readonly name: string;
  readonly kind: "handler" | "map-callback" | "round";
  /** A round's: the kind of function that the loop was written in, whose context or entry it has. */
  readonly within?: "handler" | "map-callback";
  readonly placement: "kernel" | "host";
  /** Absent on the host. */
  readonly context?: Context;
  /** With a dispatch in the context: the numbers that let the handler run. */
  readonly matches: readonly bigint[];
  readonly values: readonly ValueInfo[];
  readonly slots: readonly Slot[];
  /** blocks[0] is the entry; ids are indices. */
  readonly blocks: readonly IrBlock[];
}

/**
 * `typed`: the verifier knows what it points to. For dumps and for the register allocator; nothing depends on the name.
 */
export interface ValueInfo {
  readonly name?: string;
  readonly typed?: true;
}

/**
 * A block of memory of the running handler, undefined until written. The generator decides where it lives. `shared`:
 * rounds have it too, so many bytes into scratch memory.
 */
export interface Slot {
  readonly name: string;
  readonly size: number;
  readonly align: number;
  readonly shared?: number;
}

export interface IrBlock {
  /** SSA in the block-argument style: a jump supplies one value for each. */
  readonly parameters: readonly Value[];
  readonly instructions: readonly Instruction[];
  readonly terminator: Terminator;
}

export type Terminator =
  | { readonly op: "jump"; readonly to: number; readonly args: readonly Value[] }
  /** Targets have no parameters (edges are split by the lowering). Taken when the condition is not 0. */
  | { readonly op: "branch"; readonly condition: Value; readonly then: number; readonly otherwise: number }
  /**
   * At the head of a loop that the verifier cannot bound: goes on, or leaves when the kernel's budget of iterations
   * is spent (may_goto where the kernel has it; on the host there is none, and it goes on). Targets have no parameters.
   * `rounds`: the loop ends by itself after so many, and the guard may be left out.
   */
  | { readonly op: "guard"; readonly body: number; readonly exit: number; readonly rounds?: number }
  /** Leaves the handler. In a map callback: `stop` ends the iteration (1) or goes on (0). */
  | { readonly op: "return"; readonly stop?: boolean };

/** A place in memory. */
export type Place =
  | { readonly kind: "slot"; readonly slot: number; readonly offset: number }
  /** In a map callback: the key, the value, or the slot of the caller that was passed as `captures`. */
  | { readonly kind: "callback"; readonly of: "key" | "value" | "captures"; readonly offset: number }
  /** In a round, and in a function that is called: the slot of the caller that was passed as `frame`. */
  | { readonly kind: "callback"; readonly of: "frame"; readonly offset: number }
  /**
   * In what the host runs of a captured handler (capture/), and the callbacks in it: the record that the kernel's part
   * sent, from its start. Only `load`s of 8 bytes and fills that copy look there.
   */
  | { readonly kind: "callback"; readonly of: "record"; readonly offset: number };

export type BinaryOp =
  | "add"
  | "sub"
  | "mul"
  /** Unsigned and signed division; by zero gives 0 (remainder: the dividend), as in the kernel. */
  | "udiv"
  | "sdiv"
  | "umod"
  | "smod"
  | "and"
  | "or"
  | "xor"
  /** Shifts use the low 6 bits of the count. */
  | "shl"
  | "lshr"
  | "ashr";
export type CompareOp = "eq" | "ne" | "ult" | "ule" | "ugt" | "uge" | "slt" | "sle" | "sgt" | "sge";

export type Width = 1 | 2 | 4 | 8;

/**
 * Where a read happens. `typed`: through a pointer the verifier knows: a plain load. `context`: the program's context.
 */
export type ReadSpace = "kernel" | "user" | "typed";

export type BuiltinValue =
  /** As the helpers give them, so that one call serves both: pid << 32 | tid, gid << 32 | uid. */
  | "pid-and-tid"
  | "gid-and-uid"
  /** The kernel's own numbers, where `pid-and-tid` are those of strobe's namespace. */
  | "initial-pid-and-tid"
  | "cpu"
  | "cgroup"
  /** Of the cgroup's ancestor at this level; 0 without one. */
  | `cgroup-at:${number}`
  | "random"
  | "nsecs-boot"
  | "nsecs-monotonic"
  | "nsecs-tai"
  | "nsecs-wall"
  | "nsecs-sw-tai"
  | "jiffies"
  | "elapsed"
  /**
   * bpf_get_current_task_btf: a typed pointer. `task` is the same as a plain kernel address where BTF tasks are
   * missing.
   */
  | "task"
  /** bpf_task_pt_regs of the current task: what its process goes on with. */
  | "user-registers"
  | "func-ip"
  | "attach-cookie"
  /** The context pointer itself. */
  | "context"
  /** pid of the -c command (0 without one): a constant the session sets before loading. */
  | "child-pid"
  /** 1 in user mode, 0 in the kernel (perf_event programs, from pt_regs.cs). */
  | "user-mode"
  /** What a helper returns that is called without arguments; 0 where handlers run in strobe itself. */
  | `helper:${HelperName}`;

/** Whether this is what a helper returns, and that stays the same while a handler runs. */
export function isSteadyHelper(name: BuiltinValue): boolean {
  const helper = helperOf(name);
  return name.startsWith("cgroup-at:") || (helper !== undefined && isSteady(helper));
}

/** The helper of `helper:NAME`. */
export function helperOf(name: BuiltinValue): HelperName | undefined {
  return name.startsWith("helper:") ? (name.slice("helper:".length) as HelperName) : undefined;
}

/** Produces bytes into memory that is already zero where it says "padded". */
export type Source =
  /** A scalar, stored in `width` bytes. */
  | { readonly kind: "value"; readonly value: Value; readonly width: Width }
  /** Bytes of a slot. */
  | { readonly kind: "copy"; readonly from: Place; readonly size: number }
  /** Constant bytes (a string literal with its terminator), then zero up to `size`. */
  | { readonly kind: "constant"; readonly bytes: Uint8Array; readonly size: number }
  /**
   * A NUL-terminated string read from memory, at most min(limit, size - 1) characters. Zero-padded to `size` when the
   * destination is a key, compared or stored in a map (`padded`); in an event only the terminator is sure.
   * A failed read gives the empty string.
   */
  | {
      readonly kind: "string";
      readonly space: "kernel" | "user";
      readonly address: Value;
      readonly limit?: Value;
      readonly size: number;
      readonly padded: boolean;
      readonly watch?: number;
    }
  /** `size` bytes read from memory; zeros when the read fails. */
  | {
      readonly kind: "memory";
      readonly space: "kernel" | "user";
      readonly address: Value;
      readonly size: number;
      readonly watch?: number;
    }
  /** u32 length, then that many bytes (at most capacity) read from memory: a BufferType. */
  | {
      readonly kind: "buffer";
      readonly space: "kernel" | "user";
      readonly address: Value;
      readonly length: Value;
      readonly capacity: number;
      readonly padded: boolean;
      readonly watch?: number;
    }
  /** The current task's comm, 16 bytes, zero-padded. */
  | { readonly kind: "comm" }
  /** A StackType value (16 bytes): captures the stack into the stack map `map`. */
  /** `unwind`: by unwinding tables, in a program of our own rather than the kernel's. */
  | {
      readonly kind: "stack";
      readonly space: "kernel" | "user";
      readonly map: number;
      readonly limit: number;
      readonly mode: "address" | "build_id";
      readonly unwind?: boolean;
    }
  /** Text of a file path behind a `struct path *`: bpf_d_path, where allowed. */
  | { readonly kind: "path"; readonly address: Value; readonly size: number };

/** `watch`, here and in sources: where a failure is counted (watches.ts). */
export type Instruction =
  | { readonly op: "constant"; readonly result: Value; readonly value: bigint }
  | {
      readonly op: "binary";
      readonly kind: BinaryOp;
      readonly result: Value;
      readonly left: Value;
      readonly right: Value;
    }
  /** 0 or 1. */
  | {
      readonly op: "compare";
      readonly kind: CompareOp;
      readonly result: Value;
      readonly left: Value;
      readonly right: Value;
    }
  /** The low `bits` of a value, zero- or sign-extended to 64. */
  | {
      readonly op: "extend";
      readonly result: Value;
      readonly value: Value;
      readonly bits: 8 | 16 | 32;
      readonly signed: boolean;
    }
  /** bswap of the low `bits`; the rest is zero. */
  | { readonly op: "swap-bytes"; readonly result: Value; readonly value: Value; readonly bits: 16 | 32 | 64 }
  | { readonly op: "builtin"; readonly result: Value; readonly name: BuiltinValue }
  /** A load from the context: zero- or sign-extended. */
  | {
      readonly op: "load-context";
      readonly result: Value;
      readonly offset: number;
      readonly size: Width;
      readonly signed: boolean;
    }
  /** A load from a slot or a callback's memory. */
  | {
      readonly op: "load";
      readonly result: Value;
      readonly from: Place;
      readonly size: Width;
      readonly signed: boolean;
    }
  /**
   * Where memory of ours is, as a number: what of it is read there is what was last stored. A map: the kernel's object,
   * or a `slot` map's value.
   */
  | {
      readonly op: "address-of";
      readonly result: Value;
      readonly what: Place | { readonly kind: "map"; readonly map: number };
    }
  | { readonly op: "store"; readonly to: Place; readonly value: Value; readonly size: Width }
  /** Zeroes bytes. */
  | { readonly op: "zero"; readonly at: Place; readonly size: number }
  /** Reads a scalar at an address: a probe read (0 when it fails), or a plain load where typed. */
  | {
      readonly op: "read";
      readonly result: Value;
      readonly space: ReadSpace;
      readonly address: Value;
      readonly offset: number;
      readonly size: Width;
      readonly signed: boolean;
      readonly watch?: number;
    }
  /** Fills memory from a source. */
  | {
      readonly op: "fill";
      readonly to: Place;
      readonly source: Source;
      /** The characters or bytes copied (strings: without the terminator; a buffer that could not be read: 0). */
      readonly length?: Value;
      /** 1 when memory could not be read, else 0. Never together with `length`. */
      readonly failed?: Value;
    }
  /**
   * Fills one of `count` elements, `stride` bytes each (a multiple of 8), the first of which is at a place; none beyond
   * them.
   */
  | {
      readonly op: "fill-element";
      readonly to: Place;
      readonly index: Value;
      readonly count: number;
      readonly stride: number;
      readonly source: Source;
    }
  /**
   * Compares `length` bytes at two places as strings: stops at a NUL that both share. Gives 1 when they differ, else 0;
   * `ordered`: -1 where the first byte that differs is less on the left, 1 where it is greater. `right` may be a
   * constant.
   */
  | {
      readonly op: "compare-strings";
      readonly ordered?: true;
      readonly result: Value;
      readonly left: Place;
      readonly right: Place | Uint8Array;
      readonly length: number;
    }
  /** Compares raw bytes: 1 when they differ. */
  | {
      readonly op: "compare-bytes";
      readonly result: Value;
      readonly left: Place;
      readonly right: Place;
      readonly length: number;
    }
  /** Is the constant a part of the string at the place (of `capacity` bytes)? Gives the first index or -1. */
  | {
      readonly op: "find-string";
      readonly result: Value;
      readonly text: Place;
      readonly capacity: number;
      readonly needle: Place | Uint8Array;
      readonly needleCapacity: number;
    }
  /** Two texts, one after the other: `capacity` bytes, zeroes behind the end. Holds both, less one terminator. */
  | {
      readonly op: "concat-strings";
      readonly to: Place;
      readonly capacity: number;
      readonly left: Place;
      readonly leftCapacity: number;
      readonly right: Place;
      readonly rightCapacity: number;
    }
  /**
   * The first `length` characters (unsigned) of a text: `capacity` bytes, as many as the text has, zeroes behind the
   * end.
   */
  | {
      readonly op: "cut-string";
      readonly to: Place;
      readonly capacity: number;
      readonly text: Place;
      readonly length: Value;
    }
  /** A computation on texts that only the host does: a text of `capacity` bytes, zeroes behind its end, or a number. */
  | {
      readonly op: "host-text";
      readonly name: HostTextName;
      readonly args: readonly (Value | { readonly text: Place; readonly capacity: number })[];
      readonly to?: Place;
      readonly capacity?: number;
      readonly result?: Value;
      /** Of a value that is shown: its type. */
      readonly shown?: Type;
    }
  /** Characters before the NUL. */
  | { readonly op: "string-length"; readonly result: Value; readonly text: Place; readonly capacity: number }

  // ── maps: `key` is absent on scalar maps. Keys are whole: every byte written, padding zero. ──
  /**
   * Looks an entry up: its address, or 0 when it is missing. It is only compared with 0 and handed to the next two,
   * before anything changes the map.
   */
  | { readonly op: "map-lookup"; readonly result: Value; readonly map: number; readonly key: Place }
  /** The number in an entry; 0 when it is missing. */
  | {
      readonly op: "entry-load";
      readonly result: Value;
      readonly map: number;
      readonly entry: Value;
      readonly size: Width;
      readonly signed: boolean;
      readonly watch?: number;
    }
  /** Copies an entry into memory; zeros when it is missing. */
  | {
      readonly op: "entry-copy";
      readonly to: Place;
      readonly map: number;
      readonly entry: Value;
      readonly size: number;
      readonly watch?: number;
    }
  /** The same of scalar maps: the number, 0 when it was never set; the bytes; whether it was set, 0 or 1. */
  | {
      readonly op: "map-load";
      readonly result: Value;
      readonly map: number;
      readonly size: Width;
      readonly signed: boolean;
    }
  | { readonly op: "map-copy"; readonly to: Place; readonly map: number; readonly size: number }
  | { readonly op: "map-has"; readonly result: Value; readonly map: number }
  | { readonly op: "map-store"; readonly map: number; readonly key?: Place; readonly source: Source }
  /** Makes an entry of zeros when there is none. Result: 1 when the map refused it (which it counts), else 0. */
  | { readonly op: "map-make"; readonly result: Value; readonly map: number; readonly key: Place }
  /** Adds to a 64-bit entry (made when missing), atomically; the result is the new value, or the old one. */
  | {
      readonly op: "map-add";
      readonly map: number;
      readonly key?: Place;
      readonly value: Value;
      readonly result?: Value;
      readonly old?: boolean;
    }
  /** Result: 1 when there was one. */
  | { readonly op: "map-delete"; readonly result?: Value; readonly map: number; readonly key?: Place }
  /** Entries of a keyed map. */
  | { readonly op: "map-length"; readonly result: Value; readonly map: number }
  /**
   * Adds a value to an aggregation entry: this CPU's copy. `value` absent for count; `time` (ns since the epoch) for
   * tseries; `weight`: how often a value counts in buckets.
   */
  | {
      readonly op: "aggregate";
      readonly map: number;
      readonly key?: Place;
      readonly value?: Value;
      readonly time?: Value;
      readonly weight?: Value;
    }
  /**
   * Reads an aggregation as a number, all CPUs together: count, sum, min, max; avg (total / count); 0 when missing. `of`:
   * which result of a statistic. `bucket`: of buckets the one with that number, on the host only.
   */
  | {
      readonly op: "aggregate-read";
      readonly result: Value;
      readonly map: number;
      readonly key?: Place;
      readonly of?: number;
      readonly bucket?: Value;
      readonly signed: boolean;
    }
  /** Runs a map callback for each entry, with the slot `captures` of this function shared. */
  /** In an order, or of so many at most, on the host only. */
  | {
      readonly op: "for-each";
      readonly map: number;
      readonly callback: number;
      readonly captures?: number;
      readonly order?: MapOrder;
      /** Of an order by rows. */
      readonly beside?: readonly number[];
      readonly limit?: Value;
      /** Its body may call the function that it is in, itself or from a loop of that. On the host only. */
      readonly recursion?: "function" | "loop";
    }

  /**
   * Calls a function of the script that calls itself, a map callback without a map: on the host only. The slot `frame`
   * has the depth, the arguments and the result; where it is called first also what it shares with the caller behind
   * them (`first`). What leaves the function's callers leaves a caller that is the function itself, with the loops of
   * its that the call is in (`inLoop`).
   */
  | {
      readonly op: "call";
      readonly callback: number;
      readonly frame: number;
      readonly first: boolean;
      readonly inLoop?: true;
    }

  /**
   * Calls a function of kind `round` until it returns `stop`, with the slot `frame` shared. In the kernel only, where a
   * loop was made one (bpf/called-loops.ts). `variables`: where in the frame there are numbers that change from round
   * to round.
   */
  /**
   * A loop (by its number) was left since its rounds were spent, or nothing was kept of a call that returns: counted.
   */
  | { readonly op: "loop-cut"; readonly loop: number }
  | { readonly op: "rounds"; readonly round: number; readonly frame: number; readonly variables: readonly number[] }

  // ── to the host ──
  /** Sends an event: the fields in the schema's order and layout. `stored`: 1 when the ring buffer took it. */
  | { readonly op: "emit"; readonly schema: number; readonly fields: readonly Source[] }
  /** Length of a captured stack (`len(kstack)`), or the address of a frame of it, from 0; 0 where it has none. */
  | { readonly op: "stack-length"; readonly result: Value; readonly stack: Place; readonly frame?: number }

  // ── acts ──
  | { readonly op: "signal"; readonly result?: Value; readonly signal: Value; readonly thread: boolean }
  | { readonly op: "override"; readonly value: Value }
  | {
      readonly op: "write-user";
      readonly result?: Value;
      readonly address: Value;
      readonly from: Place;
      readonly size: number;
      /** Of the bytes the last that is written, from 0; without it all are. */
      readonly last?: Value;
    }
  /** Address of this CPU's (or the given CPU's) copy of a per-CPU kernel variable; 0 when there is none. */
  | { readonly op: "percpu-address"; readonly result: Value; readonly symbol: string; readonly cpu?: Value }
  /**
   * Prints `values` numbers of 8 bytes at `data` by a format of the kernel's own, into a pinned iterator's file, or
   * without one into the kernel's trace.
   */
  | {
      readonly op: "kernel-print";
      readonly sequence?: Value;
      readonly format: Place;
      readonly formatSize: number;
      readonly data: Place;
      readonly values: number;
    }
  /** Hands out a packet (packets.ts): 0, or a negative error. `skb`: a pointer that the verifier knows. */
  | {
      readonly op: "packet";
      readonly result: Value;
      readonly file: number;
      readonly skb: Value;
      readonly length: Value;
      readonly skipped: Value;
      readonly whole: Value;
    }
  | { readonly op: "socket-cookie"; readonly result: Value; readonly socket: Value }
  /** The bytes of an internet address written as text: 4 of them, or 16. */
  | { readonly op: "parse-address"; readonly to: Place; readonly text: Uint8Array };

/** A map as the script sees it. How an engine stores it is the engine's: bpf/bpf-plan.ts (MapStorage). */
export interface IrMap {
  readonly name: string;
  /** As its author spells it: `@m`, `m`. */
  readonly shown: string;
  /** What its author declares for more entries, where the language has a declaration: `let @m = hash(5000)`. */
  readonly larger?: string;
  readonly keys: readonly Type[];
  readonly value: Type | AggregateType;
  /** As many as it takes. */
  readonly entries: number;
  /** A new key takes the place of the one that was used least recently. */
  readonly evicts?: true;
  /** It lives in the session's own memory: handlers that use it are captured (capture/), or run on the host anyway. */
  readonly host?: true;
  /** It is no map of the script's, but holds stacks that handlers took, by their numbers. */
  readonly stacks?: StackForm;
}

/** `unwind`: found by unwinding tables; else by frame pointers, as the kernel does. */
export interface StackForm {
  readonly frames: number;
  readonly buildId: boolean;
  readonly unwind: boolean;
  /** Room for so many that find another stack in their bucket of the kernel's map (stack-numbers.ts). */
  readonly displaced: number;
}

/** sizeof(struct bpf_stack_build_id) */
const buildIdFrameBytes = 32;

/** Bytes of one stack, as the kernel writes it. */
export function stackBytes({ frames, buildId }: Pick<StackForm, "frames" | "buildId">): number {
  return frames * (buildId ? buildIdFrameBytes : 8);
}

/** Bytes that a source fills. */
export function sourceSize(source: Source): number {
  switch (source.kind) {
    case "value":
      return source.width;
    case "copy":
    case "constant":
    case "string":
    case "memory":
    case "path":
      return source.size;
    case "buffer":
      return 4 + source.capacity;
    case "comm":
    case "stack":
      return 16;
  }
}
