// A recording as it is read: what it says of itself at once, its blocks when they are asked for.
import type { BlockRoom } from "./block-room.ts";
import { readBlock, type WantedFields } from "./blocks.ts";
import { ByteReader } from "./byte-buffer.ts";
import { unpack } from "./compression.ts";
import type {
  BlockHead,
  ClockReading,
  EventRecording,
  RecordedLayout,
  RecordedPart,
  RecordedSite,
  RecordingEnd,
  RecordingOrigin,
  TimeSpan,
} from "./contents.ts";
import { RecordingError } from "./damaged-recording.ts";
import {
  checkHeader,
  frameAt,
  frameBytes,
  frameContents,
  headerBytes,
  isBlock,
  type FramePlace,
  type RecordingBytes,
} from "./frames.ts";
import { readFirstBlock } from "./first-blocks.ts";
import { isSound, type EventBlock } from "./layout.ts";
import type { Resumed } from "./writer.ts";
import { damagedRecording } from "../messages/on-demand.ts";

interface BlockPlace {
  readonly place: FramePlace;
  readonly first: bigint;
  readonly last: bigint;
  readonly count: number;
}

/** Bytes of a block's head before the text about it. */
const blockHeadBytes = 32;
/** Bytes read of a block to tell whether it is asked for: of most, the text as well. */
const firstBytes = 1 << 12;

export class Recording implements EventRecording {
  /** Of the format. */
  readonly version: number;
  readonly origin: RecordingOrigin;
  readonly layouts: readonly RecordedLayout[];
  readonly sites: readonly RecordedSite[];
  readonly end: RecordingEnd | undefined;
  readonly clocks: readonly ClockReading[];
  readonly cut: number;
  readonly #bytes: RecordingBytes;
  readonly #places: readonly FramePlace[];
  readonly #blocks: readonly BlockPlace[];

  /** @throws RecordingError */
  constructor(bytes: RecordingBytes) {
    this.version = checkHeader(bytes);
    this.#bytes = bytes;
    const { places, cut } = indexed(bytes) ?? scanned(bytes);
    this.#places = places;
    this.cut = cut;
    this.#blocks = places.filter(({ type }) => isBlock(type)).map((place) => ({ place, ...this.#outline(place) }));
    const [origin] = this.#texts("META");
    if (origin === undefined) throw new RecordingError(damagedRecording().endsBeforeOrigin());
    const described = this.#texts("SITE").map(describedBy);
    this.origin = withTypes(originOf(origin), described);
    this.layouts = described.flatMap(({ layouts }) => layouts);
    this.sites = described.flatMap(({ sites }) => sites);
    const parts = this.origin.parts?.length ?? 0;
    for (const { part } of this.layouts)
      if (parts === 0 ? part !== undefined : !Number.isInteger(part) || part! < 0 || part! >= parts)
        throw new RecordingError(damagedRecording().unknownHost());
    for (const { name, layout } of this.sites)
      if (this.layouts[layout] === undefined) throw new RecordingError(damagedRecording().layoutOfKind(name, layout));
    this.end = this.#texts("STAT").at(-1) as RecordingEnd | undefined;
    this.clocks = this.#texts("TIME") as ClockReading[];
  }

  get span(): EventRecording["span"] {
    if (this.#blocks.length === 0) return undefined;
    const least = (a: bigint, b: bigint): bigint => (b < a ? b : a);
    const most = (a: bigint, b: bigint): bigint => (b > a ? b : a);
    return {
      events: this.#blocks.reduce((sum, { count }) => sum + count, 0),
      first: this.#blocks.map(({ first }) => first).reduce(least),
      last: this.#blocks.map(({ last }) => last).reduce(most),
    };
  }

  get size(): number {
    return this.#bytes.size;
  }

  *heads(): Iterable<BlockHead> {
    for (const { place } of this.#blocks) yield this.#headAlone(place);
  }

  *blocks(
    wanted: (head: BlockHead) => boolean = () => true,
    fields?: WantedFields,
    within?: TimeSpan,
    room?: BlockRoom,
  ): Iterable<{ head: BlockHead; block: EventBlock }> {
    for (const { place, first, last } of this.#blocks) {
      if (within !== undefined && (last < within.from || first >= within.to)) continue;
      if (!wanted(this.#headAlone(place))) continue;
      const { head, codec, size, bytes } = this.#head(frameContents(this.#bytes, place));
      const raw = unpack(codec, bytes, size);
      room?.reset();
      const block =
        place.type === "EVTS" ? readFirstBlock(raw, this.layouts) : readBlock(raw, this.layouts, fields, room);
      if (block.count !== head.count) throw new RecordingError(damagedRecording().eventsAndHead());
      yield { head, block };
    }
  }

  *symbols(): Iterable<string> {
    for (const place of this.#places) {
      if (place.type !== "SYMS") continue;
      const from = new ByteReader(frameContents(this.#bytes, place));
      const codec = from.u32();
      const size = from.u32();
      yield Buffer.from(unpack(codec, from.rest, size)).toString();
    }
  }

  /** Frames as they lie in the file, by which another is made of it; the index is left out. @throws RecordingError */
  *frames(): Iterable<{ readonly place: FramePlace; readonly contents: Uint8Array; readonly head?: BlockHead }> {
    for (const place of this.#places) {
      if (place.type === "INDX" || place.type === "TAIL") continue;
      const contents = frameContents(this.#bytes, place);
      yield isBlock(place.type) ? { place, contents, head: this.#head(contents).head } : { place, contents };
    }
  }

  /** What a writer goes on from: behind the last frame before its end. */
  get resumed(): Resumed {
    const places = this.#places.filter(({ type }) => !["STAT", "INDX", "TAIL"].includes(type));
    const blocks = new Map(this.#blocks.map((block) => [block.place, block]));
    const last = places.reduce((end, { offset, size }) => Math.max(end, offset + size), headerBytes);
    return {
      places: places.map((place) => {
        const block = blocks.get(place);
        return block === undefined ? place : { ...place, first: block.first, last: block.last, count: block.count };
      }),
      size: last,
      layouts: this.layouts,
      sites: this.sites.length,
    };
  }

  #texts(type: string): unknown[] {
    return this.#places
      .filter((place) => place.type === type)
      .map((place) => parsed(frameContents(this.#bytes, place)));
  }

  #outline(place: FramePlace): Pick<BlockPlace, "first" | "last" | "count"> {
    const from = new ByteReader(this.#bytes.read(place.offset, Math.min(place.size, blockHeadBytes)));
    from.skip(4);
    const count = from.u32();
    return { count, first: from.u64(), last: from.u64() };
  }

  /** The head of a block that may not be asked for: what is behind it is neither read nor compared with the checksum. */
  #headAlone({ offset, size }: FramePlace): BlockHead {
    const start = this.#bytes.read(offset, Math.min(size, firstBytes));
    const about = new ByteReader(start);
    about.skip(blockHeadBytes - 4);
    const whole = blockHeadBytes + about.u32();
    return this.#head(whole <= start.length ? start : this.#bytes.read(offset, Math.min(size, whole))).head;
  }

  #head(contents: Uint8Array): { head: BlockHead; codec: number; size: number; bytes: Uint8Array } {
    const from = new ByteReader(contents);
    const codec = from.u32();
    const count = from.u32();
    const first = from.u64();
    const last = from.u64();
    const size = from.u32();
    const about = parsed(from.take(from.u32())) as Pick<BlockHead, "sites" | "lost">;
    if (!Array.isArray(about?.sites) || !Array.isArray(about.lost))
      throw new RecordingError(damagedRecording().headOfBlock());
    return { head: { count, first, last, sites: about.sites, lost: about.lost }, codec, size, bytes: from.rest };
  }
}

/** By the index at the end; undefined where there is none, or it is not the last thing there. */
function indexed(bytes: RecordingBytes): { places: readonly FramePlace[]; cut: number } | undefined {
  const start = bytes.size - frameBytes(8);
  if (start < headerBytes) return undefined;
  try {
    const tail = frameAt(bytes, start);
    if (tail?.type !== "TAIL" || tail.size !== 8) return undefined;
    const at = new ByteReader(frameContents(bytes, tail)).u64();
    const index = at < BigInt(start) ? frameAt(bytes, Number(at)) : undefined;
    if (index?.type !== "INDX") return undefined;
    const listed = parsed(frameContents(bytes, index));
    if (!Array.isArray(listed)) return undefined;
    const places = (listed as unknown[]).map((entry): FramePlace => {
      const [type, offset, size] = entry as [string, number, number];
      if (frameAt(bytes, offset - frameBytes(0))?.size !== size)
        throw new RecordingError(damagedRecording().indexOfAnother());
      return { type, offset, size };
    });
    return { places, cut: 0 };
  } catch {
    return undefined; // The frames themselves tell.
  }
}

/** Frame by frame, as far as they are whole. */
function scanned(bytes: RecordingBytes): { places: readonly FramePlace[]; cut: number } {
  const places: FramePlace[] = [];
  let offset = headerBytes;
  for (let place = frameAt(bytes, offset); place !== undefined; place = frameAt(bytes, offset)) {
    places.push(place);
    offset = place.offset + place.size;
  }
  return { places, cut: bytes.size - offset };
}

/** @throws RecordingError */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as unknown;
  } catch {
    throw new RecordingError(damagedRecording().noJson());
  }
}

function originOf(value: unknown): RecordingOrigin {
  const { parts } = (value ?? {}) as Partial<RecordingOrigin>;
  const origin = originOfOne(value);
  if (parts === undefined) return origin;
  if (!Array.isArray(parts) || parts.length === 0) throw new RecordingError(damagedRecording().noOrigin());
  return {
    ...origin,
    parts: (parts as unknown[]).map((part) => {
      const { name, events, shift } = (part ?? {}) as Partial<RecordedPart>;
      if (typeof name !== "string" || !Number.isSafeInteger(events) || !/^-?\d{1,20}$/.test(String(shift)))
        throw new RecordingError(damagedRecording().noOrigin());
      return { ...originOfOne(part), name, events: events!, shift: String(shift) };
    }),
  };
}

function originOfOne(value: unknown): RecordingOrigin {
  const { strobe, host, kernel, machine, clock, command, childPid = 0 } = (value ?? {}) as Partial<RecordingOrigin>;
  const words = (of: unknown): boolean => Array.isArray(of) && of.every((word) => typeof word === "string");
  const isNumber = (text: unknown): boolean => typeof text === "string" && /^\d{1,20}$/.test(text);
  if (!words([strobe, host, kernel, machine]) || !words(command) || !isNumber(clock?.boot) || !isNumber(clock?.wall))
    throw new RecordingError(damagedRecording().noOrigin());
  if (!Number.isSafeInteger(childPid) || childPid < 0)
    throw new RecordingError(damagedRecording().commandWithoutProcess());
  const { boot, script, redacted, then, parts: _, ...origin } = value as RecordingOrigin;
  return {
    ...origin,
    childPid,
    ...(typeof boot === "string" ? { boot } : {}),
    ...(typeof script?.name === "string" && typeof script.text === "string" ? { script } : {}),
    ...(redacted === "strings" ? { redacted } : {}),
    ...(Array.isArray(then) && then.every(words) ? { then } : {}),
  };
}

interface Described {
  readonly layouts: readonly RecordedLayout[];
  readonly sites: readonly RecordedSite[];
  readonly types: unknown;
}

/** Types that later runs of the recorder asked for are those of the whole. */
function withTypes(origin: RecordingOrigin, described: readonly Described[]): RecordingOrigin {
  const said = [origin, ...described].flatMap(({ types }) =>
    typeof types === "object" && types !== null ? [types as { types?: unknown; constants?: unknown }] : [],
  );
  if (said.length < 2) return said.length === 0 ? origin : { ...origin, types: said[0] };
  const listed = (lists: readonly unknown[]): unknown[] => lists.flatMap((list) => (Array.isArray(list) ? list : []));
  return {
    ...origin,
    types: {
      types: listed(said.map(({ types }) => types)),
      constants: listed(said.map(({ constants }) => constants)),
    },
  };
}

function describedBy(value: unknown): Described {
  const { layouts, sites, types } = (value ?? {}) as {
    layouts?: readonly RecordedLayout[];
    sites?: readonly RecordedSite[];
    types?: unknown;
  };
  if (!Array.isArray(layouts) || !Array.isArray(sites) || !layouts.every(isSound))
    throw new RecordingError(damagedRecording().noProbes());
  for (const { name, data } of sites as readonly RecordedSite[])
    if (typeof name !== "string" || typeof data !== "string") throw new RecordingError(damagedRecording().noProbes());
  return { layouts, sites, types };
}
