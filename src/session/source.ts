// What a session is over: whoever hands it records, keeps the script's maps, and says what was lost. The running kernel
// (live/) is one source; a session does not know which it has.
import type { Failure } from "../base/failure.ts";
import type { Plan } from "../compiler/plan.ts";
import type { RecordMemory, SymbolResolver, Trouble } from "./events.ts";
import type { LiveMap } from "./maps.ts";
import type { Measurement, SessionStats } from "./stats.ts";
import type { Timeline } from "./timers.ts";
import type { Speculations } from "./speculations.ts";
import type { WrittenMemory } from "./written-memory.ts";
import type { Type } from "../language/types.ts";

/** A handler of begin or end. Of all of them the one with the least `order` runs first. */
export interface Once {
  readonly order: number;
  readonly run: () => void;
}

/**
 * The order of a session's calls: prepare, once("begin"), attach, go, run (until stop), detach, once("end"),
 * dispose. A session that fails skips to detach and dispose; both can be called in any state, and again.
 */
export interface Source extends Disposable {
  /** The script's maps, by their index in the plan; stack maps are absent. Empty once disposed of. */
  readonly maps: ReadonlyMap<number, LiveMap>;
  /** Undefined where no records can come. */
  readonly records: RecordStream | undefined;
  readonly symbols: SymbolResolver;
  /** Nanoseconds to add to times of the boot clock for the time of day. */
  readonly bootToWall: bigint;
  /** The time that intervals run in. */
  readonly timeline: Timeline;
  /** What programs that run here may ask of the machine. */
  readonly surroundings: Surroundings;
  /** What scripts write, where it runs handlers by itself that do. */
  readonly written?: WrittenMemory;
  readonly speculations?: Speculations;
  /** Attached probes, several places of one as one; begin and end among them, as far as it runs them. */
  readonly attached: number;
  /** pid of the command that it starts. */
  readonly childPid?: number | undefined;
  /** It says by itself when nothing more will come (SourceUser.sourceEnded). */
  readonly ends: boolean;

  /** Gets ready, with nothing attached. @throws what keeps the session from beginning */
  prepare(user: SourceUser): Promise<void>;
  /** The handlers of begin and end that do not run in this process. */
  once(when: "begin" | "end"): readonly Once[];
  /** Events become records from now on. @throws with what was attached before still there */
  attach(): void;
  /** The session is ready: what waits for it goes on, as a command that was held back. */
  go(): void;
  /** What is run once, by the session, instead of firing by itself: what each run cost, where that is measured. */
  readonly runs: readonly (() => Measurement | void)[];
  /** Whether anything fires by itself, or will: a session without is over when all that is to be run has run. */
  readonly firing: boolean;
  /** Has the user take records as they come, until stop(). */
  run(): Promise<void>;
  /** run() comes back soon; when it has not been called yet, at once. */
  stop(): void;
  /** Events become no records any more. */
  detach(): Promise<void>;
  /** What was lost or went wrong since the last call; of some of it only known once nothing is attached. */
  losses(): readonly Trouble[];
  /** What else a person should know since the last call, a line each. */
  warnings(): readonly string[];
  /** A look-up at a watched place of a program that runs here found nothing. */
  failed(watch: number): void;
  /** The probe of a name watches an address of a process; `time`: CLOCK_BOOTTIME in nanoseconds. */
  watch(asked: { readonly name: string; readonly address: bigint; readonly pid: number; readonly time: bigint }): void;
  /** Watchpoints of this address fire no more, as far as they are the asking process's. */
  unwatch(address: bigint, pid: number): void;
  /** What the handlers have cost so far, where it is measured. */
  stats(): SessionStats | undefined;
  /** What the fullest maps hold now, at a price that does not grow with them. */
  largestMaps(): readonly MapSize[];
  /** Why a plan that has grown cannot be taken over; undefined where it can. */
  noRoomFor(plan: Plan): Failure | undefined;
  /** Takes over a plan that has grown, for which there is room: more programs and events behind those that there are. @throws */
  extend(plan: Plan): void;
}

/** A session, as its source calls it. */
export interface SourceUser {
  /** Takes a batch of the records that there are; how many. A full one means that more may be waiting. */
  take(): number;
  /** Records wait for a command that one of them started: until settle(). */
  readonly busy: boolean;
  settle(): Promise<void>;
  /** Shows what was taken. */
  flush(): void;
  /** A value as print() shows it. */
  shown(type: Type, bytes: Uint8Array): string;
  /** Asks for the losses: now and then. */
  look(): void;
  /** In how many milliseconds an interval is due. */
  untilNeeded(): number;
  /** Consumer.ownsThread and Consumer.patience. */
  readonly ownsThread: boolean;
  readonly patience: number | undefined;
  trouble(trouble: Trouble): void;
  /** Nothing more will come. */
  sourceEnded(): void;
  /** The session cannot go on. */
  failed(error: unknown): void;
}

/** Records in the order of their events. */
export interface RecordStream {
  /** What records lie in while they are handled. */
  readonly memory: RecordMemory;
  /** Of records that there can be at once. */
  readonly bytes: number;
  /**
   * Hands over those that are there, at most `budget`: offset (a multiple of 8) and length in `memory`, valid during
   * the call. The result is how many.
   */
  drain(handle: (offset: number, length: number) => void, budget: number): number;
}

export interface Surroundings {
  /** A builtin of compiler/ir.ts: of strobe's process, or of no process at all. */
  builtin(name: string): bigint;
  /** 16 bytes, with a zero behind the name. */
  comm(): Uint8Array;
  /** The same 16 bytes, put there: for whoever is asked a million times a second. */
  commInto?(to: Uint8Array, at: number): void;
}

/** `name`: as its author spells it. */
export type MapSize = { readonly name: string } &
  /** Undefined: some, where nobody counts them. */
  (
    | { readonly kind: "keys"; readonly keys: number | undefined }
    | { readonly kind: "value"; readonly value: number | bigint }
    /** Values that an aggregation has seen. */
    | { readonly kind: "values"; readonly values: bigint }
    | { readonly kind: "set" }
  );
