// What generated host programs call. The session implements it over the live maps; tests implement it over plain memory
// (that is the oracle of the differential suite). Keys and values are bytes in the layout of language/layout.ts.
// Bytes that a program hands in are its own working memory: only valid during the call, copied by whoever keeps them.
import type { MapLayout } from "../language/program.ts";
import type { Type } from "../language/types.ts";

/** By the names of host-texts.ts, which say what each does; they return 0 but for the first. */
export interface ScriptSpeculations {
  speculation(most: bigint, size: bigint): bigint;
  speculate(id: bigint): bigint;
  speculated(): bigint;
  commit(id: bigint): bigint;
  discard(id: bigint): bigint;
}

/** By the names of host-texts.ts, which say what each does. */
export interface ScriptMemory {
  allocatedMemory(size: bigint): bigint;
  variableMemory(variable: bigint, size: bigint, ...keys: readonly (bigint | string)[]): bigint;
  writtenNumber(address: bigint, value: bigint, size: bigint, from?: bigint, bits?: bigint): bigint;
  writtenBytes(address: bigint, bytes: Uint8Array): bigint;
  copiedMemory(to: bigint, from: bigint, size: bigint): bigint;
}

export interface HostRuntime {
  builtin(name: string): bigint;
  comm(): Uint8Array;
  /** The same 16 bytes, put there. */
  commInto(to: Uint8Array, at: number): void;
  /** The entry's bytes (an aggregation: all CPUs together, in aggregateWords form), or undefined when missing. */
  mapLookup(map: number, key: Uint8Array | null): Uint8Array | undefined;
  /** `asks`: it is looked at whether there was room. */
  mapStore(map: number, key: Uint8Array | null, value: Uint8Array, asks?: boolean): void;
  mapAdd(map: number, key: Uint8Array | null, delta: bigint): bigint; // the new value
  /** Of the words of a statistic, a bucket of one of its results; 0 where there is none with that number. */
  aggregateBucket(map: number, words: Uint8Array, of: number, bucket: bigint): bigint;
  mapDelete(map: number, key: Uint8Array | null): boolean;
  mapLength(map: number): number;
  /** Adds to an aggregation; the value is 1 for count. `time`: nanoseconds since the epoch, for tseries. */
  aggregate(map: number, key: Uint8Array | null, value: bigint, time?: bigint, weight?: bigint): void;
  /** The bits of the double that an aggregation comes to, or a result of a statistic. `words`: what mapLookup() gave. */
  aggregateDouble(map: number, words: Uint8Array, of?: number): bigint;
  /** Each once; of entries that are made or deleted while iterating, some. Bytes that nobody writes again. */
  mapEntries(map: number): Iterable<readonly [key: Uint8Array, value: Uint8Array]>;
  /** Those of several maps side by side, with the first one's values (session/rows.ts). */
  mapRows(maps: readonly number[], layout: MapLayout): Iterable<readonly [key: Uint8Array, value: Uint8Array]>;
  /** A whole record, header included, in the schema's layout. */
  emit(schema: number, record: Uint8Array): void;
  /** Reads this machine's memory: undefined when it cannot (the host executor has no kernel memory). */
  readMemory(space: "kernel" | "user", address: bigint, size: number): Uint8Array | undefined;
  /** Memory of the scripts' own, where readMemory() finds what they wrote. */
  readonly written: ScriptMemory;
  readonly speculations: ScriptSpeculations;
  /** What print() makes of a value of a type that is plain data; a character for each byte of it. */
  shownText(type: Type, value: Uint8Array | bigint): string;
  signal(signal: bigint): bigint;
  /** With `-k`: a look-up at one of the plan's watched places found nothing. */
  failed?(watch: number): void;
  /** Called now and then by loops, which on the host go on for as long as they like. Throws to end the program. */
  rest(): void;
  /** A StackType value: the event's stack, of so many frames at most. Only of recorded events. */
  stack?(space: "kernel" | "user", limit: number): Uint8Array;
  /** The bytes behind the context pointer (a recorded event's, or those of the differential suite) begin at `contextAt`. */
  readonly context?: Uint8Array;
  readonly contextAt?: number;
}

/** What a host program's source evaluates to. */
export type HostFunction = (runtime: HostRuntime, record?: RecordBytes, at?: number) => void;

/** What a record of a captured handler lies in; `at` is where it starts. */
export interface RecordBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}
