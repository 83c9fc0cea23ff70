// A recording as it grows. Frames are handed out whole and in order; blocks are compressed in another thread meanwhile.
import { writeBlock } from "./blocks.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import { pack } from "./compression.ts";
import type {
  BlockHead,
  ClockReading,
  RecordedLayout,
  RecordedSite,
  RecordingEnd,
  RecordingOrigin,
} from "./contents.ts";
import { fileHeader, frameBytes, frameHeader, type FramePlace, type FrameType } from "./frames.ts";
import type { EventBlock } from "./layout.ts";

export class RecordingWriter {
  readonly #write: (bytes: Uint8Array) => void;
  readonly #layouts: RecordedLayout[] = [];
  readonly #places: (FramePlace & Partial<Pick<BlockHead, "first" | "last" | "count">>)[] = [];
  #size = 0;
  #sites = 0;
  #begun = (): void => {};
  /** What is handed in before the beginning waits for it. */
  #chain = new Promise<void>((resolve) => (this.#begun = resolve));
  #waiting = 0;

  /** `write` takes all of the bytes, at the end of what it took before. */
  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write;
  }

  /** Before everything else. @throws what `write` throws */
  begin(origin: RecordingOrigin): void {
    this.#put(fileHeader());
    this.#frame("META", json(origin));
    this.#begun();
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
    const offset = this.#size + frameBytes(0);
    this.#put(frameHeader(type, contents), contents);
    this.#places.push({
      type,
      offset,
      size: contents.length,
      ...(count === undefined ? {} : { first, last, count }),
    });
  }

  /** Layouts and sites from the ones on that there are. */
  describe(layouts: readonly RecordedLayout[], sites: readonly RecordedSite[]): void {
    this.#layouts.push(...layouts);
    this.#sites += sites.length;
    this.#later(async () => this.#frame("SITE", json({ layouts, sites })));
  }

  clock(reading: ClockReading): void {
    this.#later(async () => this.#frame("TIME", json(reading)));
  }

  /** What the addresses in the blocks before are called. */
  symbols(text: string): void {
    this.#later(async () => this.#frame("SYMS", await packed(Buffer.from(text))));
  }

  /** The rows may be used again once this is back. */
  block(block: EventBlock, head: Pick<BlockHead, "first" | "last" | "sites" | "lost">): void {
    const raw = writeBlock(block, this.#layouts);
    const { first, last, sites, lost } = head;
    this.#later(async () => {
      const { codec, bytes } = await pack(raw);
      const about = json({ sites, lost });
      const out = new ByteBuffer(32 + about.length + bytes.length);
      out.u32(codec);
      out.u32(block.count);
      out.u64(first);
      out.u64(last);
      out.u32(raw.length);
      out.u32(about.length);
      out.put(about);
      out.put(bytes);
      this.#frame("EVTS", out.bytes, { first, last, count: block.count });
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
