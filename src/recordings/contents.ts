// What a recording says beside its events. Numbers of 64 bits are decimal text in JSON.
import type { BlockRoom } from "./block-room.ts";
import type { WantedFields } from "./blocks.ts";
import type { EventBlock, RowLayout } from "./layout.ts";

/** One moment by all clocks, in nanoseconds: decimal. */
export interface ClockReading {
  readonly boot: string;
  readonly monotonic: string;
  readonly wall: string;
}

/** Where and how it was made. */
export interface RecordingOrigin {
  /** Its version; empty of another tool's recording. */
  readonly strobe: string;
  /** Whose, where it is another tool's. */
  readonly by?: string;
  readonly host: string;
  readonly kernel: string;
  readonly machine: string;
  readonly cpus: number;
  /** The words of the command line. */
  readonly command: readonly string[];
  readonly clock: ClockReading;
  /** The process of -c; 0 without one. */
  readonly childPid: number;
  /** Which start of the kernel its times are of (/proc/sys/kernel/random/boot_id). */
  readonly boot?: string;
  /** The script that says what is recorded. */
  readonly script?: { readonly name: string; readonly text: string };
  /** Types and constants that the script asked the kernel for (machine/contexts/recorded-types.ts). */
  readonly types?: unknown;
  /** What is not in it as it was: texts are hashed. */
  readonly redacted?: "strings";
  /** Command lines that made it of another recording. */
  readonly then?: readonly (readonly string[])[];
  /** Of a recording that was merged of several: whose they are. Its own clock is the first one's. */
  readonly parts?: readonly RecordedPart[];
}

/** What a recording says of one of those that it was merged of. */
export interface RecordedPart extends Omit<RecordingOrigin, "parts" | "then"> {
  /** Its host, told apart from others of the same name. */
  readonly name: string;
  readonly events: number;
  /** Nanoseconds that its first event's time was moved by, from its own boot clock to the merged one: decimal. */
  readonly shift: string;
}

/** A probe's place. `data`: what of it replaying asks for, as text of its own. */
export interface RecordedSite {
  readonly name: string;
  readonly layout: number;
  readonly data: string;
}

/** Where the value came from that a row has. */
export interface RecordedLayout extends RowLayout {
  readonly data: string;
  /** Of a merged recording: which of its parts the rows are of. */
  readonly part?: number;
}

/**
 * Events that are not in the recording though they happened. `cause`: `ring` (more came than the kernel's buffer holds),
 * `missed` (the handler was running already), `writer` (more came than the file took); `stack`: the events are there, and
 * stacks of them are not.
 */
export interface RecordedLoss {
  readonly cause: string;
  readonly probe: string;
  readonly count: number;
  /** Where several hosts' recordings were merged. */
  readonly host?: string;
}

/** `3 events of tracepoint:a:b`: what was lost. Of 0 nobody knows how many. */
export function lossText({ cause, probe, count, host }: RecordedLoss): string {
  const where = host === undefined ? "" : ` on ${host}`;
  return `${count === 0 ? "uncounted" : count} ${cause === "stack" ? "stacks" : "events"} of ${probe}${where}`;
}

/** What a run of the recorder took of the machine. */
export interface RecordingCost {
  /** From its first probe to its end. */
  readonly seconds: number;
  /** strobe's own CPU time, user and system. */
  readonly cpuSeconds: number;
  readonly events: number;
  /** Of handlers in the kernel, where it was measured (`--stats`). */
  readonly handlers?: readonly { readonly probe: string; readonly runs: number; readonly nanoseconds: number }[];
}

export interface RecordingEnd {
  readonly clock: ClockReading;
  readonly events: number;
  readonly lost: readonly RecordedLoss[];
  /** Of each run that wrote to it. */
  readonly costs?: readonly RecordingCost[];
}

/** What an event block says without being decompressed. Times: of its first and its last event, in nanoseconds. */
export interface BlockHead {
  readonly count: number;
  readonly first: bigint;
  readonly last: bigint;
  /** Sites that events of it are at. */
  readonly sites: readonly number[];
  /** What was lost since the block before. */
  readonly lost: readonly RecordedLoss[];
}

/** From a time on and before another, in nanoseconds. */
export interface TimeSpan {
  readonly from: bigint;
  readonly to: bigint;
}

/** Events that were recorded, whoever wrote them. */
export interface EventRecording {
  readonly origin: RecordingOrigin;
  readonly layouts: readonly (RowLayout & { readonly part?: number })[];
  readonly sites: readonly { readonly name: string; readonly layout: number }[];
  /** Of a recording that came to its end. */
  readonly end: RecordingEnd | undefined;
  /** Bytes behind the last whole frame: it was cut short, or is being written. */
  readonly cut: number;
  /** Bytes of the file. */
  readonly size: number;
  /** Events in all, and the times of the first and the last in nanoseconds; undefined where there are none. */
  readonly span: { readonly events: number; readonly first: bigint; readonly last: bigint } | undefined;
  /** What blocks say of themselves, in their order. @throws RecordingError */
  heads(): Iterable<BlockHead>;
  /**
   * Blocks in their order; those that are not `wanted` are not decompressed, and those without an event `within` two
   * times may not be read at all. Of `fields` rows may have all: what is not asked for may be zeros. With a `room` a block
   * lies in it, and is gone when the next one is asked for.
   * @throws RecordingError
   */
  blocks(
    wanted?: (head: BlockHead) => boolean,
    fields?: WantedFields,
    within?: TimeSpan,
    room?: BlockRoom,
  ): Iterable<{ head: BlockHead; block: EventBlock }>;
  /** What addresses are called, text by text. @throws RecordingError */
  symbols(): Iterable<string>;
}
