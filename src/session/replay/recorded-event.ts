// The event that handlers look at: a row of a recording.
import type { RecordedRow, RecordedWord } from "../../language/context.ts";
import { RecordingError } from "../../recordings/damaged-recording.ts";
import type { EventBlock } from "../../recordings/layout.ts";
import type { Surroundings } from "../source.ts";
import { stackValue } from "../taken-stacks.ts";
import { damagedRecording } from "../../messages/on-demand.ts";

export interface RecordedFacts {
  readonly childPid: bigint;
  /** The boot clock when the recording began; what is to be added to it for other clocks. Nanoseconds. */
  readonly start: bigint;
  readonly bootToMonotonic: bigint;
  readonly bootToWall: bigint;
  /** The number of a stack of so many frames at most; `part`: of a merged recording, whose it is. */
  take(stack: BigUint64Array, limit: number, part: number | undefined): number;
}

/** Where handlers find the row: an address at which no kernel has memory. */
const rowAddress = 0xffff_0057_524f_5700n;

const noRow: RecordedRow = { words: {}, texts: [], absent: [] };

export class RecordedEvent implements Surroundings {
  /** Of the probe among the plan's names. */
  cookie = 0n;
  /** The rows of the event's kind, and where its own begins and ends. */
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  #end = 0;
  readonly #facts: RecordedFacts;
  readonly #layouts: (RecordedRow | undefined)[] = [];
  #view: DataView = new DataView(new ArrayBuffer(0));
  #described: RecordedRow = noRow;
  #block: EventBlock | undefined;
  #timeAt = 0;

  constructor(facts: RecordedFacts) {
    this.#facts = facts;
  }

  /** Rows of a layout are like this. */
  describe(layout: number, row: RecordedRow): void {
    this.#layouts[layout] = row;
  }

  /** Whether a handler has asked for the layout. */
  knows(layout: number): boolean {
    return this.#layouts[layout] !== undefined;
  }

  /** The site of all rows of a layout; undefined where they say it themselves, or no handler has asked for the layout. */
  onlySite(layout: number): number | undefined {
    const row = this.#layouts[layout];
    return row?.site === undefined ? row?.onlySite : undefined;
  }

  /** The site of the row at an offset; undefined where no handler has asked for the layout. */
  siteOf(layout: number, view: DataView, offset: number): number | undefined {
    const row = this.#layouts[layout];
    if (row === undefined) return undefined;
    return row.site === undefined ? row.onlySite : view.getUint32(offset + row.site, true);
  }

  /** The event is this row from now on. `time`: where the row has it. */
  take(
    layout: number,
    block: EventBlock,
    view: DataView,
    which: number,
    offset: number,
    size: number,
    time: number,
  ): void {
    this.bytes = block.rows[which].bytes;
    this.start = offset;
    this.#end = offset + size;
    this.#view = view;
    this.#described = this.#layouts[layout] ?? noRow;
    this.#block = block;
    this.#timeAt = offset + time;
  }

  #word(word: RecordedWord): bigint {
    const at = this.#described.words[word];
    if (at === undefined) return 0n;
    const offset = this.start + at.offset;
    switch (at.size) {
      case 1:
        return BigInt(this.#view.getUint8(offset));
      case 2:
        return BigInt(this.#view.getUint16(offset, true));
      case 4:
        return BigInt(this.#view.getUint32(offset, true));
      case 8:
        return this.#view.getBigUint64(offset, true);
    }
  }

  builtin(name: string): bigint {
    switch (name) {
      case "pid-and-tid":
        return (this.#word("pid") << 32n) | this.#word("tid");
      case "gid-and-uid":
        return (this.#word("gid") << 32n) | this.#word("uid");
      case "cpu":
      case "cgroup":
      case "user-mode":
        return this.#word(name);
      case "context":
        return rowAddress;
      case "attach-cookie":
        return this.cookie;
      default:
        return this.#anytime(name, () => this.#view.getBigUint64(this.#timeAt, true));
    }
  }

  #anytime(name: string, time: () => bigint): bigint {
    const { start, bootToMonotonic, bootToWall, childPid } = this.#facts;
    switch (name) {
      case "nsecs-boot":
        return time();
      case "nsecs-monotonic":
        return time() + bootToMonotonic;
      case "nsecs-wall":
        return time() + bootToWall;
      case "elapsed":
        return time() - start;
      case "child-pid":
        return childPid;
      case "random":
        return BigInt(Math.floor(Math.random() * 2 ** 32));
      default:
        // The compiler has refused what is in no recording; of strobe's own process there was none.
        return 0n;
    }
  }

  /** For programs that no event starts. */
  outside(now: () => bigint): Surroundings {
    return { builtin: (name) => this.#anytime(name, now), comm: () => new Uint8Array(16) };
  }

  comm(): Uint8Array {
    const { comm } = this.#described;
    return comm === undefined ? new Uint8Array(16) : this.#part(comm, 16);
  }

  commInto(to: Uint8Array, at: number): void {
    const { comm } = this.#described;
    const from = this.start + (comm ?? 0);
    const { bytes } = this;
    const there = comm === undefined ? 0 : Math.min(16, this.#end - from);
    // Copied one by one: a view of so few bytes takes longer to make.
    for (let i = 0; i < there; i++) to[at + i] = bytes[from + i];
    for (let i = there; i < 16; i++) to[at + i] = 0;
  }

  /** Bytes of the row, no further than its end. */
  #part(offset: number, size: number): Uint8Array {
    return this.bytes.subarray(this.start + offset, Math.min(this.start + offset + size, this.#end));
  }

  /** Bytes of the row, or of a text that was recorded with its address; as many as there are. */
  read(space: "kernel" | "user", address: bigint, size: number): Uint8Array | undefined {
    if (space === "kernel") {
      const offset = BigInt.asUintN(64, address) - rowAddress;
      if (offset >= 0n && offset < BigInt(this.#end - this.start)) return this.#part(Number(offset), size);
    }
    for (const text of this.#described.texts) {
      if (text.space !== space) continue;
      const offset = address - this.#view.getBigUint64(this.start + text.pointer, true);
      if (offset >= 0n && offset < BigInt(text.size))
        return this.#part(text.offset + Number(offset), text.size - Number(offset));
    }
    return undefined;
  }

  /** As a stack in memory is: its number, process and thread. */
  stack(space: "kernel" | "user", limit: number): Uint8Array {
    const { kernelStack, userStack } = this.#described;
    const at = space === "kernel" ? kernelStack : userStack;
    const number = at === undefined ? -1 : this.#view.getInt32(this.start + at, true);
    const stack = number < 0 ? undefined : this.#block?.stacks[number];
    if (number >= 0 && stack === undefined) throw new RecordingError(damagedRecording().unknownStack());
    const found = stack === undefined ? -1 : this.#facts.take(stack, limit, this.#described.part);
    const [pid, tid] = space === "user" ? [Number(this.#word("pid")), Number(this.#word("tid"))] : [0, 0];
    return stackValue(found, pid, tid);
  }
}
