// A recording as it grows. Frames are handed out whole and in order; blocks are compressed in another thread meanwhile.
import { writeBlock } from "./write-block.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import { pack } from "./compression.ts";
import type {
  BlockHead,
  ClockReading,
  RecordedLayout,
  RecordedLoss,
  RecordedSite,
  RecordingEnd,
  RecordingOrigin,
} from "./contents.ts";
import {
  fileHeader,
  formatVersion,
  frameBytes,
  frameHeader,
  isBlock,
  mergedVersion,
  type FramePlace,
  type FrameType,
} from "./frames.ts";
import type { EventBlock } from "./layout.ts";

/** A frame that waits in memory. */
interface HeldFrame {
  readonly type: FrameType;
  readonly contents: Uint8Array;
  readonly about: Partial<Pick<BlockHead, "first" | "last" | "count" | "lost">>;
}

/** How much is kept in memory: blocks of so many nanoseconds before the last event, of so many bytes at most. */
export interface RingLimits {
  readonly nanoseconds: bigint;
  readonly bytes: number;
}

/** A recording that goes on: what is in it, and where it ends so far. */
export interface Resumed {
  readonly places: RecordingWriter["places"];
  readonly size: number;
  readonly layouts: readonly RecordedLayout[];
  readonly sites: number;
}

export class RecordingWriter {
  readonly #write: (bytes: Uint8Array) => void;
  readonly #ring: RingLimits | undefined;
  /** In memory until they are asked for. "mark": names before it are of blocks before it alone. */
  #held: (HeldFrame | "mark")[] = [];
  #heldBytes = 0;
  readonly #layouts: RecordedLayout[] = [];
  readonly #places: (FramePlace & Partial<Pick<BlockHead, "first" | "last" | "count">>)[] = [];
  #size = 0;
  #sites = 0;
  #begun = (): void => {};
  /** What is handed in before the beginning waits for it. */
  #chain = new Promise<void>((resolve) => (this.#begun = resolve));
  #waiting = 0;

  /** `write` takes all of the bytes, at the end of what it took before; with a ring, once `end` is called. */
  constructor(write: (bytes: Uint8Array) => void, ring?: RingLimits) {
    this.#write = write;
    this.#ring = ring;
  }

  /** Before everything else. @throws what `write` throws */
  begin(origin: RecordingOrigin): void {
    if (this.#ring === undefined) this.#put(fileHeader(origin.parts === undefined ? formatVersion : mergedVersion));
    this.#frame("META", json(origin));
    this.#begun();
  }

  /** Before everything else: goes on behind what a recording has. */
  resume({ places, size, layouts, sites }: Resumed): void {
    this.#places.push(...places);
    this.#size = size;
    this.#layouts.push(...layouts);
    this.#sites = sites;
    this.#begun();
  }

  get places(): readonly (FramePlace & Partial<Pick<BlockHead, "first" | "last" | "count">>)[] {
    return this.#places;
  }

  /** Frames that are held in memory, as a recording of their own. @throws what `write` throws */
  async writeHeld(
    write: (bytes: Uint8Array) => void,
    clock: ClockReading,
    costs: RecordingEnd["costs"] = [],
  ): Promise<WrittenRing> {
    await this.#chain;
    const file = new RecordingWriter(write);
    file.#put(fileHeader());
    file.#begun();
    const lost: RecordedLoss[] = [];
    let [events, first, last] = [0, 0n, 0n];
    for (const frame of this.#held) {
      if (frame === "mark") continue;
      const { type, contents, about } = frame;
      file.#frame(type, contents, about);
      lost.push(...(about.lost ?? []));
      if (about.count === undefined || about.first === undefined || about.last === undefined) continue;
      if (events === 0 || about.first < first) first = about.first;
      if (about.last > last) last = about.last;
      events += about.count;
    }
    await file.end({ clock, events, lost, costs });
    return { events, lost, size: file.size, nanoseconds: last - first };
  }

  /** What blocks from here on are called is told anew: what was said before is let go of with the blocks before. */
  forgetNames(): void {
    this.#later(async () => void this.#held.push("mark"));
  }

  /** Lets go of the blocks that are too old, or too much. */
  #prune({ nanoseconds, bytes }: RingLimits): void {
    const newest = this.#held.reduce((most, frame) => {
      const last = frame === "mark" ? undefined : frame.about.last;
      return last !== undefined && last > most ? last : most;
    }, 0n);
    for (;;) {
      const oldest = this.#held.findIndex((frame) => frame !== "mark" && isBlock(frame.type));
      const frame = this.#held[oldest];
      if (frame === undefined || frame === "mark") return;
      if (frame.about.last! >= newest - nanoseconds && this.#heldBytes <= bytes) break;
      this.#held.splice(oldest, 1);
      this.#heldBytes -= frame.contents.length;
    }
    const oldest = this.#held.findIndex((frame) => frame !== "mark" && isBlock(frame.type));
    const mark = this.#held.lastIndexOf("mark", oldest);
    if (mark < 0) return;
    const behind = this.#held.slice(mark + 1);
    const before = this.#held.slice(0, mark);
    // What it is from, and its probes, are never let go of.
    this.#held = [
      ...before.filter((frame) => frame !== "mark" && (frame.type === "META" || frame.type === "SITE")),
      ...behind,
    ];
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#size;
  }

  /** Bytes of blocks that are not written yet. */
  get waiting(): number {
    return this.#waiting;
  }

  get layouts(): readonly RecordedLayout[] {
    return this.#layouts;
  }

  get sites(): number {
    return this.#sites;
  }

  #put(...parts: readonly Uint8Array[]): void {
    // In one call: a frame is there, or it is not.
    const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    this.#write(bytes);
    this.#size += bytes.length;
  }

  #frame(type: FrameType, contents: Uint8Array, about: Partial<BlockHead> = {}): void {
    const { first, last, count } = about;
    if (this.#ring !== undefined) {
      this.#held.push({ type, contents, about });
      if (!isBlock(type)) return;
      this.#heldBytes += contents.length;
      this.#prune(this.#ring);
      return;
    }
    const offset = this.#size + frameBytes(0);
    this.#put(frameHeader(type, contents), contents);
    this.#places.push({
      type,
      offset,
      size: contents.length,
      ...(count === undefined ? {} : { first, last, count }),
    });
  }

  /** Layouts and sites from the ones on that there are; of a later run also what its script asked of types. */
  describe(layouts: readonly RecordedLayout[], sites: readonly RecordedSite[], types?: unknown): void {
    this.#layouts.push(...layouts);
    this.#sites += sites.length;
    const described = { layouts, sites, ...(types === undefined ? {} : { types }) };
    this.#later(async () => this.#frame("SITE", json(described)));
  }

  clock(reading: ClockReading): void {
    this.#later(async () => this.#frame("TIME", json(reading)));
  }

  /** What the addresses in the blocks before are called. */
  symbols(text: string): void {
    this.#later(async () => this.#frame("SYMS", await packed(Buffer.from(text))));
  }

  /** A frame of another recording as it is there. */
  copy(type: FrameType, contents: Uint8Array, about: Partial<Pick<BlockHead, "first" | "last" | "count">> = {}): void {
    this.#later(async () => this.#frame(type, contents, about));
  }

  /** The rows may be used again once this is back. */
  block(block: EventBlock, head: Pick<BlockHead, "first" | "last" | "sites" | "lost">): void {
    this.writtenBlock(writeBlock(block, this.#layouts), block.count, head);
  }

  /** A block of so many events as writeColumns() makes it. */
  writtenBlock(raw: Uint8Array, count: number, head: Pick<BlockHead, "first" | "last" | "sites" | "lost">): void {
    const { first, last, sites, lost } = head;
    this.#later(async () => {
      const { codec, bytes } = await pack(raw);
      const about = json({ sites, lost });
      const out = new ByteBuffer(32 + about.length + bytes.length);
      out.u32(codec);
      out.u32(count);
      out.u64(first);
      out.u64(last);
      out.u32(raw.length);
      out.u32(about.length);
      out.put(about);
      out.put(bytes);
      this.#frame("EVTB", out.bytes, { first, last, count, lost });
    }, raw.length);
  }

  #later(act: () => Promise<void>, bytes = 0): void {
    this.#waiting += bytes;
    this.#chain = this.#chain.then(act).finally(() => (this.#waiting -= bytes));
    // Whoever ends the recording is told.
    this.#chain.catch(() => {});
  }

  /** All that was handed in is written. @throws what `write` threw */
  async settled(): Promise<void> {
    await this.#chain;
  }

  /** The end: what it came to, and the index. @throws what `write` threw */
  async end(end: RecordingEnd): Promise<void> {
    this.#later(async () => {
      this.#frame("STAT", json(end));
      const index = this.#size;
      this.#frame(
        "INDX",
        json(
          this.#places.map(({ type, offset, size, first, last, count }) =>
            first === undefined || last === undefined
              ? [type, offset, size]
              : [type, offset, size, String(first), String(last), count],
          ),
        ),
      );
      const tail = new ByteBuffer(8);
      tail.u64(BigInt(index));
      this.#frame("TAIL", tail.bytes);
    });
    await this.#chain;
  }
}

/** What was held in memory, when it was written. */
export interface WrittenRing {
  readonly events: number;
  readonly lost: readonly RecordedLoss[];
  readonly size: number;
  /** From its first event to its last. */
  readonly nanoseconds: bigint;
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** u32 codec, u32 bytes, then those compressed. */
async function packed(raw: Uint8Array): Promise<Uint8Array> {
  const { codec, bytes } = await pack(raw);
  const out = new ByteBuffer(8 + bytes.length);
  out.u32(codec);
  out.u32(raw.length);
  out.put(bytes);
  return out.bytes;
}
