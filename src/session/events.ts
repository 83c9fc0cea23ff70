// What a session tells its consumer (the command's output, the library's iterators).
import type { Reason } from "../base/failure.ts";
import type { cutStack } from "../compiler/layouts/unwound-stack.ts";
import type { ConsumerAction, EventSchema, Plan } from "../compiler/plan.ts";
import type { CountedLoop, WatchedPlace } from "../compiler/layouts/counted-places.ts";
import type { MapLayout } from "../language/program.ts";
import type { IrMap } from "../compiler/ir/ir.ts";
import type { MapEntries } from "./map-entries.ts";
import type { Refusal } from "../compiler/layouts/refusals.ts";
import type { Measurement, SessionStats } from "./stats.ts";

/** The memory that records lie in: views of one buffer, made once. Offsets of records are multiples of 8. */
export interface RecordMemory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Little-endian 32-bit words of the same bytes. */
  readonly words: Uint32Array;
}

/**
 * Handles one schema's records. The record begins at `offset` with its 8-byte header and is only valid during the call.
 */
export type RecordHandler = (offset: number) => void;

/** `bare`: one entry, as a value. `rows`: the order of it and of those with the same keys that are shown beside it. */
export interface MapOptions {
  readonly top: number;
  readonly divisor: number;
  readonly services: ConsumerServices;
  readonly bare?: true;
  readonly rows?: MapLayout;
  readonly beside?: readonly { readonly snapshot: MapSnapshot; readonly divisor: number }[];
}

/**
 * Receives a session's events. Handlers are made once a schema (and once a memory: the source's records and the
 * host executor's own), so that they can be specialised and the hot path allocates nothing.
 */
export interface Consumer {
  /** Nobody but the session uses this thread: it may sleep, and Node's event loop with it, for some milliseconds. */
  readonly ownsThread?: boolean;
  /** For how many milliseconds nobody misses what comes in a stream: nobody reads a file as it grows. */
  readonly patience?: number | undefined;
  handler(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler;
  /** print(@m), and every non-empty map at the end. Entries are in the map's own order: sorting is the consumer's. */
  map(snapshot: MapSnapshot, options: MapOptions): void;
  /** Output of system() and cat(). */
  text(text: Uint8Array, from: "system" | "cat"): void;
  /** What follows goes to the end of a file; of no name: where it went first. @throws Error where it cannot */
  reopen?(path: string): void;
  /** The file that output goes to is empty again; of what is no file nothing happens. */
  truncate?(): void;
  /** Lost events and failed map updates, as they are noticed (and once more at the end). */
  trouble(trouble: Trouble): void;
  attached(probes: number): void;
  /** What the handlers cost, at the very end, where it was asked for. */
  stats?(stats: SessionStats): void;
  /** What a bench: probe took. */
  measured?(measured: Measurement): void;
  /**
   * Once, between the last event and the maps that are printed at the end. `blank`: text leaves lines free here, as the
   * script's language has it.
   */
  endOfEvents?(blank: boolean): void;
  /** After each batch of records, and before the session waits: write out what is buffered. */
  flush(): void;
}

/** What formatting needs from the live machine. */
export interface ConsumerServices {
  readonly plan: Plan;
  readonly symbols: SymbolResolver;
  /** Nanoseconds to add to times of the boot clock for the time of day. */
  readonly bootToWall: bigint;
  /**
   * Text goes to a terminal: names and strings are spelled as shown-text.ts of the output room does. Absent: bytes
   * stay.
   */
  readonly terminal?: boolean;
}

export interface SymbolResolver {
  /** `vfs_read`, offset 12; undefined when unknown. */
  kernel(address: bigint): Frame;
  user(address: bigint, pid: number): Frame;
  /**
   * The frame that a signal handler returns to, if the address is one: it is no call, and neither is the one above it.
   */
  signalReturn?(address: bigint, pid: number): Frame | undefined;
  /**
   * What stands for an interpreted function's frame among a stack's addresses (`isInterpreted`); undefined for what is
   * no function of the program's.
   */
  interpreted?(address: bigint, pid: number): Frame | undefined;
  /**
   * With debug information: the copies inlined there, innermost first, then the function; each with its place in the
   * source.
   */
  inlined?(address: bigint, pid: number): readonly Frame[];
  /** Names as they were where a stack was taken, where not all were taken on one machine. */
  ofStack?(id: bigint): SymbolResolver;
  /** Addresses of a captured stack, innermost first; undefined when it was lost. */
  stack(id: bigint, map: number): readonly bigint[] | undefined;
  /**
   * Build id and file offset frames of a build-id stack; absent where stacks have addresses alone, whose files `code`
   * tells.
   */
  buildIdStack?(id: bigint, map: number): readonly BuildIdFrame[] | undefined;
  /** The mapping of a file's code that an address of a process lies in; undefined for what is in none. */
  code(address: bigint, pid: number): FileMapping | undefined;
  /** All code of a process, as far as it is known already. */
  codeOf?(pid: number): readonly CodeRange[];
  userName(uid: number): string;
  /** What a process is called now; "" when it is gone. */
  processName?(pid: number): string;
  cgroupPath(id: bigint): string;
  /** `openat`; the number as text when unknown. */
  systemCallName(number: number): string;
}

/** Addresses from `start` and before `end`. */
export interface CodeRange {
  readonly start: bigint;
  readonly end: bigint;
}

/** The file's bytes from `offset` on. `buildId`: in hexadecimal. */
export interface FileMapping extends CodeRange {
  readonly offset: bigint;
  readonly path: string;
  readonly buildId?: string | undefined;
}

/** `buildId`: in hexadecimal; "" where there is none, and `offset` is the address. */
export interface BuildIdFrame {
  readonly buildId: string;
  readonly offset: bigint;
}

export interface Frame {
  readonly address: bigint;
  readonly symbol?: string;
  /** From where the symbol begins; without one, the address that the module's file gives to the place. */
  readonly offset?: number;
  /** Module or binary it lies in. */
  readonly module?: string;
  /** Where in the source, as far as debug information was asked for and there. `file`: as the compiler recorded it. `line`: 0 when unknown;
   * of JavaScript where the function begins. */
  readonly source?: { readonly file: string; readonly line: number };
  /**
   * Of a function that an interpreter runs: in which language, "interpreted" when that is not known. Its address is the
   * function's object.
   */
  readonly language?: "python" | "javascript" | "interpreted";
  /** A copy inlined into the function of a later frame, at the same address. */
  readonly inlined?: true;
  /** In stacks of build ids: which file's, `address` being the place in it. */
  readonly buildId?: string;
  /** Why a stack ends here: what was found is no code of the process, or (with address 0) no more frames are kept. */
  readonly mark?: string;
}

/**
 * A map's bytes at one moment. Keys and values are in the layout of language/layout.ts; aggregations are already summed
 * over CPUs.
 */
export interface MapSnapshot {
  readonly map: IrMap;
  readonly index: number;
  readonly entries: MapEntries;
}

export type Trouble =
  /** `help`: what to change; without it there was no room in the buffer. */
  | { readonly kind: "lost"; readonly probe: string; readonly count: number; readonly help?: Reason }
  /** Updates that a map did not take, and why. */
  | {
      readonly kind: "map-full";
      /** As its author spells it, and what declares more entries. */
      readonly map: string;
      readonly larger?: string | undefined;
      readonly why: Refusal;
      readonly count: number;
    }
  /** Reads or look-ups of one place that failed, with the last one's code (0: there was no such key). */
  | { readonly kind: "failed"; readonly watched: WatchedPlace; readonly code: number; readonly count: number }
  /** The kernel cut a loop of the script short. */
  | { readonly kind: "loop-cut"; readonly loop: CountedLoop; readonly count: number }
  /** Unwound stacks that ended early: `unknown` in processes whose code was not known yet. */
  | { readonly kind: "cut-stacks"; readonly why: keyof typeof cutStack; readonly count: number }
  /** `help`: why, and what to change; without it the handler was running already. */
  | { readonly kind: "missed"; readonly probe: string; readonly count: number; readonly help?: string }
  | { readonly kind: "attach"; readonly probe: string; readonly reason: string }
  /**
   * The governor holds a handler back: it runs for one event of `every`. `rate`: events a second; shares of the
   * machine's CPU time.
   */
  | {
      readonly kind: "throttled";
      readonly probe: string;
      readonly rate: number;
      readonly share: number;
      readonly limit: number;
      readonly every: number;
    }
  /** The governor has detached a probe that cost too much without its handler. */
  | {
      readonly kind: "detached";
      readonly probe: string;
      readonly rate: number;
      readonly share: number;
      readonly limit: number;
    }
  /** Events that the governor left out, at the end. */
  | { readonly kind: "skipped"; readonly probe: string; readonly count: number }
  | { readonly kind: "message"; readonly text: string };
