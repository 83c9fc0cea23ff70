// perf.data: what `perf record` writes, as a file or through a pipe (tools/perf/Documentation/perf.data-file-format.txt;
// records: include/uapi/linux/perf_event.h).
import { ZstdPieces } from "./compression.ts";
import { RecordingError } from "./damaged-recording.ts";
import type { ForeignSample } from "./foreign-sample.ts";
import type { RecordingBytes } from "./frames.ts";
import { readTracingData, type EventFormat } from "./tracing-data.ts";
import { damagedPerfData } from "../messages/on-demand.ts";

/** `perf_event_attr`, as far as it is asked for. */
export interface PerfEvent {
  readonly type: number;
  readonly config: bigint;
  /** Hertz with `frequency`, else events. */
  readonly period: bigint;
  readonly frequency: boolean;
  readonly sampleType: number;
  readonly readFormat: number;
  readonly ids: readonly bigint[];
}

const fileMagic = Buffer.from("PERFILE2");
const pipeHeaderBytes = 16;
const fileHeaderBytes = 104;

/** Bits of sample_type. */
const IP = 1 << 0;
const TID = 1 << 1;
const TIME = 1 << 2;
const ADDR = 1 << 3;
const READ = 1 << 4;
const CALLCHAIN = 1 << 5;
const ID = 1 << 6;
const CPU = 1 << 7;
const PERIOD = 1 << 8;
const STREAM_ID = 1 << 9;
const RAW = 1 << 10;
const IDENTIFIER = 1 << 16;

/** Types of records. */
const record = {
  lost: 2,
  comm: 3,
  fork: 7,
  sample: 9,
  lostSamples: 13,
  attr: 64,
  tracingData: 66,
  finishedRound: 68,
  auxTrace: 71,
  feature: 80,
  compressed: 81,
  compressed2: 83,
} as const;

/** Addresses from here on say whose frames follow. */
const firstMarker = (1n << 64n) - 4095n;
const kernelMarker = (1n << 64n) - 128n;
const userMarker = (1n << 64n) - 512n;

const features = { tracingData: 1, hostname: 3, release: 4, machine: 6, cpus: 7, commandLine: 11 } as const;

export function isPerfData(start: Uint8Array): boolean {
  return start.length >= fileMagic.length && fileMagic.equals(start.subarray(0, fileMagic.length));
}

export class PerfData {
  readonly events: readonly PerfEvent[];
  readonly formats: readonly EventFormat[];
  readonly hostname: string;
  readonly release: string;
  readonly machine: string;
  readonly cpus: number;
  readonly commandLine: readonly string[];
  readonly #bytes: RecordingBytes;
  readonly #data: { readonly offset: number; readonly end: number };
  /** The event of an id. */
  readonly #byId = new Map<bigint, number>();

  /** @throws RecordingError */
  constructor(bytes: RecordingBytes) {
    this.#bytes = bytes;
    const header = Buffer.from(bytes.read(0, fileHeaderBytes));
    const piped = header.length >= pipeHeaderBytes && header.readBigUInt64LE(8) === BigInt(pipeHeaderBytes);
    if (!piped && header.length < fileHeaderBytes) throw new RecordingError(damagedPerfData().cutShort());
    const found = new Map<number, Buffer>();
    const events: PerfEvent[] = [];
    if (piped) {
      this.#data = { offset: pipeHeaderBytes, end: bytes.size };
      for (const { type, body, after } of this.#stored()) {
        if (type === record.attr) events.push(attrOf(body, body.subarray(u32At(body, 4))));
        else if (type === record.tracingData) found.set(features.tracingData, after);
        else if (type === record.feature && body.length >= 8)
          found.set(Number(body.readBigUInt64LE()), body.subarray(8));
      }
    } else {
      const at = (offset: number): number => Number(header.readBigUInt64LE(offset));
      const [attrBytes, attrs, attrsSize, data, size] = [16, 24, 32, 40, 48].map(at);
      // perf that was killed has not said how much there is.
      this.#data = { offset: data, end: size === 0 ? bytes.size : Math.min(bytes.size, data + size) };
      if (attrBytes < 64 + 16) throw new RecordingError(damagedPerfData().eventsUnknownWay());
      const described = this.#read(attrs, attrsSize);
      for (let offset = 0; offset + attrBytes <= described.length; offset += attrBytes) {
        const one = described.subarray(offset, offset + attrBytes);
        const ids = one.subarray(attrBytes - 16);
        events.push(attrOf(one, this.#read(Number(ids.readBigUInt64LE(0)), Number(ids.readBigUInt64LE(8)))));
      }
      let place = data + size;
      // What perf had not finished has none.
      const bits = size === 0 ? 0 : 256;
      for (let bit = 0; bit < bits; bit++) {
        if (((header[72 + (bit >> 3)] >> (bit & 7)) & 1) === 0) continue;
        const section = this.#read(place, 16);
        place += 16;
        if (Object.values(features).includes(bit as never))
          found.set(bit, this.#read(Number(section.readBigUInt64LE(0)), Number(section.readBigUInt64LE(8))));
      }
    }
    this.events = events;
    if (events.length === 0) throw new RecordingError(damagedPerfData().noEvents());
    const [first] = events;
    if (events.length > 1 && events.some(({ sampleType }) => (sampleType & IDENTIFIER) === 0)) {
      if (events.some(({ sampleType }) => sampleType !== first.sampleType || (sampleType & ID) === 0))
        throw new RecordingError(damagedPerfData().samplesOfWhat());
    }
    for (const [i, { ids }] of events.entries()) for (const id of ids) this.#byId.set(id, i);
    const tracing = found.get(features.tracingData);
    this.formats = tracing === undefined ? [] : readTracingData(tracing);
    this.hostname = textOf(found.get(features.hostname));
    this.release = textOf(found.get(features.release));
    this.machine = textOf(found.get(features.machine));
    const cpus = found.get(features.cpus);
    this.cpus = cpus === undefined || cpus.length < 8 ? 1 : Math.max(1, cpus.readUInt32LE(4));
    this.commandLine = textsOf(found.get(features.commandLine));
  }

  #read(offset: number, size: number): Buffer {
    if (!(offset >= 0 && size >= 0 && offset + size <= this.#bytes.size))
      throw new RecordingError(damagedPerfData().partBehindEnd());
    return Buffer.from(this.#bytes.read(offset, size));
  }

  /** Records, those that lie compressed among them: one stream, whose pieces may end within a record. */
  *#records(): Iterable<PerfRecord> {
    const pieces = new ZstdPieces();
    let rest: Buffer = Buffer.alloc(0);
    for (const one of this.#stored()) {
      const packed = compressedBytes(one);
      if (packed === undefined) {
        yield one;
        continue;
      }
      const bytes = Buffer.concat([rest, pieces.push(packed)]);
      let at = 0;
      while (at + 8 <= bytes.length) {
        const [type, misc, size] = headerOf(bytes.subarray(at));
        if (at + size > bytes.length) break;
        yield { type, misc, body: bytes.subarray(at + 8, at + size), after: noBytes };
        at += size;
      }
      rest = bytes.subarray(at);
    }
  }

  /** Records as they lie in the file. */
  *#stored(): Iterable<PerfRecord> {
    const { end } = this.#data;
    let window: Buffer = Buffer.alloc(0);
    let windowAt = this.#data.offset;
    for (let at = this.#data.offset; at + 8 <= end;) {
      if (at < windowAt || at + (1 << 16) > windowAt + window.length) {
        window = this.#read(at, Math.min(1 << 22, end - at));
        windowAt = at;
      }
      const header = window.subarray(at - windowAt);
      if (header.length < 8) return;
      const [type, misc, size] = headerOf(header);
      if (at + size > end) return; // It was being written.
      const body = header.subarray(8, size);
      at += size;
      let after = noBytes;
      if (type === record.tracingData || type === record.auxTrace) {
        const more = type === record.tracingData ? u32At(body, 0) : Number(u64At(body, 0));
        after = this.#read(at, more);
        at += type === record.tracingData ? (more + 7) & ~7 : more;
      }
      yield { type, body, after, misc };
    }
  }

  /**
   * Samples in the order of their times, with the names that their threads had. @throws RecordingError for what cannot
   * be read
   */
  *samples(): Iterable<ForeignSample> {
    const comms = new Map<number, string>([[0, "swapper"]]);
    let lost = 0;
    for (const one of this.#inOrder()) {
      switch (one.kind) {
        case "comm":
          comms.set(one.tid, one.comm);
          break;
        case "fork":
          comms.set(one.tid, comms.get(one.parent) ?? `:${one.tid}`);
          break;
        case "lost":
          lost += one.count;
          break;
        case "sample": {
          yield { ...one.sample, comm: comms.get(one.sample.tid) ?? `:${one.sample.tid}`, lost, gap: lost > 0 };
          lost = 0;
        }
      }
    }
  }

  /** What was recorded in a round is not later than what comes two rounds later (perf's ordered events). */
  *#inOrder(): Iterable<Happened> {
    let waiting: Happened[] = [];
    let [most, before] = [0n, 0n];
    for (const { type, body, misc } of this.#records()) {
      if (type === record.finishedRound) {
        waiting.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
        let i = 0;
        for (; i < waiting.length && waiting[i].time <= before; i++) yield waiting[i];
        waiting = waiting.slice(i);
        before = most;
        continue;
      }
      const one = this.#happened(type, body, misc);
      if (one === undefined) continue;
      if (one.time > most) most = one.time;
      waiting.push(one);
    }
    waiting.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    yield* waiting;
  }

  #happened(type: number, body: Buffer, misc: number): Happened | undefined {
    switch (type) {
      case record.sample:
        return this.#sample(body);
      case record.comm:
        return { kind: "comm", time: this.#timeOf(body), tid: u32At(body, 4), comm: cString(body, 8), misc };
      case record.fork:
        return { kind: "fork", time: this.#timeOf(body), tid: u32At(body, 8), parent: u32At(body, 12) };
      case record.lost:
        return { kind: "lost", time: this.#timeOf(body), count: Number(u64At(body, 8)) };
      case record.lostSamples:
        return { kind: "lost", time: this.#timeOf(body), count: Number(u64At(body, 0)) };
      default:
        return undefined;
    }
  }

  /** Of records that are no samples, the fields behind end in those of sample_id. */
  #timeOf(body: Buffer): bigint {
    const { sampleType } = this.events[0];
    if ((sampleType & TIME) === 0) return 0n;
    let behind = 8;
    for (const bit of [ID, STREAM_ID, CPU, IDENTIFIER]) if ((sampleType & bit) !== 0) behind += 8;
    return body.length >= behind ? body.readBigUInt64LE(body.length - behind) : 0n;
  }

  #sample(body: Buffer): Happened {
    const from = new Words(body);
    const several = this.events.length > 1;
    const [first] = this.events;
    let id = (first.sampleType & IDENTIFIER) !== 0 ? from.u64() : undefined;
    let event = id === undefined ? 0 : this.#eventOf(id);
    let { sampleType, readFormat } = this.events[event];
    const has = (bit: number): boolean => (sampleType & bit) !== 0;
    if (has(IP)) from.u64();
    const [pid, tid] = has(TID) ? [from.u32(), from.u32()] : [0, 0];
    const time = has(TIME) ? from.u64() : 0n;
    if (has(ADDR)) from.u64();
    if (has(ID)) {
      id = from.u64();
      if (several && (first.sampleType & IDENTIFIER) === 0) {
        event = this.#eventOf(id);
        ({ sampleType, readFormat } = this.events[event]);
      }
    }
    if (has(STREAM_ID)) from.u64();
    const cpu = has(CPU) ? from.u32() : 0;
    if (has(CPU)) from.u32();
    if (has(PERIOD)) from.u64();
    if (has(READ)) skipRead(from, readFormat);
    const chain = has(CALLCHAIN) ? from.u64s(Number(from.u64())) : undefined;
    const raw = has(RAW) ? from.bytes(from.u32()) : Buffer.alloc(0);
    return {
      kind: "sample",
      time,
      sample: { event, time, cpu, pid, tid, raw, ...(chain === undefined ? noStacks : stacksOf(chain)) },
    };
  }

  #eventOf(id: bigint): number {
    const event = this.#byId.get(id);
    if (event === undefined) throw new RecordingError(damagedPerfData().unknownEvent(id));
    return event;
  }
}

/** `after`: what follows the records that say how much. */
interface PerfRecord {
  readonly type: number;
  readonly misc: number;
  readonly body: Buffer;
  readonly after: Buffer;
}

const noBytes: Buffer = Buffer.alloc(0);

/** The type, the misc bits and the whole length of a record. */
function headerOf(bytes: Buffer): readonly [type: number, misc: number, size: number] {
  const size = bytes.readUInt16LE(6);
  if (size < 8) throw new RecordingError(damagedPerfData().recordBytes(size));
  return [bytes.readUInt32LE(0), bytes.readUInt16LE(4), size];
}

/** The piece of zstd's stream that a record holds: the whole of it, or as many bytes as it says before its padding. */
function compressedBytes({ type, body }: PerfRecord): Buffer | undefined {
  if (type === record.compressed) return body;
  if (type !== record.compressed2) return undefined;
  const size = body.length < 8 ? body.length : Number(body.readBigUInt64LE(0));
  if (size > body.length - 8) throw new RecordingError(damagedPerfData().compressedEndsEarly());
  return body.subarray(8, 8 + size);
}

type Happened = { readonly time: bigint } & (
  | { readonly kind: "sample"; readonly sample: Omit<ForeignSample, "comm" | "lost" | "gap"> }
  | { readonly kind: "comm"; readonly tid: number; readonly comm: string; readonly misc: number }
  | { readonly kind: "fork"; readonly tid: number; readonly parent: number }
  | { readonly kind: "lost"; readonly count: number }
);

const noStacks = { kernelStack: undefined, userStack: undefined };

function stacksOf(chain: readonly bigint[]): Pick<ForeignSample, "kernelStack" | "userStack"> {
  const stacks = { kernel: [] as bigint[], user: [] as bigint[] };
  let whose: bigint[] | undefined;
  for (const address of chain) {
    if (address < firstMarker) whose?.push(address);
    else whose = address === kernelMarker ? stacks.kernel : address === userMarker ? stacks.user : undefined;
  }
  return { kernelStack: stacks.kernel, userStack: stacks.user };
}

/** PERF_FORMAT_TOTAL_TIME_ENABLED 1, _RUNNING 2, _ID 4, _GROUP 8, _LOST 16 */
function skipRead(from: Words, format: number): void {
  const each = 1 + ((format >> 2) & 1) + ((format >> 4) & 1);
  const times = (format & 1) + ((format >> 1) & 1);
  const count = (format & 8) !== 0 ? Number(from.u64()) : 1;
  from.u64s(times + each * count);
}

class Words {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bytes(size: number): Buffer {
    if (!(size <= this.#bytes.length - this.#at)) throw new RecordingError(damagedPerfData().sampleEndsEarly());
    return this.#bytes.subarray(this.#at, (this.#at += size));
  }

  u32(): number {
    return this.bytes(4).readUInt32LE();
  }

  u64(): bigint {
    return this.bytes(8).readBigUInt64LE();
  }

  u64s(count: number): bigint[] {
    const bytes = this.bytes(count * 8);
    return Array.from({ length: count }, (_, i) => bytes.readBigUInt64LE(i * 8));
  }
}

function attrOf(bytes: Buffer, ids: Buffer): PerfEvent {
  if (bytes.length < 64) throw new RecordingError(damagedPerfData().eventUnknownWay());
  return {
    type: bytes.readUInt32LE(0),
    config: bytes.readBigUInt64LE(8),
    period: bytes.readBigUInt64LE(16),
    // All bits that are of use are below 2^31.
    sampleType: bytes.readUInt32LE(24),
    readFormat: bytes.readUInt32LE(32),
    frequency: ((bytes.readUInt32LE(40) >>> 10) & 1) === 1,
    ids: Array.from({ length: ids.length >> 3 }, (_, i) => ids.readBigUInt64LE(i * 8)),
  };
}

/** Numbers of a record that says itself how long it is. @throws RecordingError where it ends before */
function u32At(body: Buffer, at: number): number {
  return within(body, at, 4).readUInt32LE(at);
}

function u64At(body: Buffer, at: number): bigint {
  return within(body, at, 8).readBigUInt64LE(at);
}

function within(body: Buffer, at: number, size: number): Buffer {
  if (at + size > body.length) throw new RecordingError(damagedPerfData().recordEndsEarly());
  return body;
}

function cString(bytes: Buffer, at: number): string {
  const end = bytes.indexOf(0, at);
  return bytes.toString("utf8", at, end < 0 ? bytes.length : end);
}

/** u32 bytes, then text that ends in zeros. */
function textOf(bytes: Buffer | undefined): string {
  return bytes === undefined || bytes.length < 4 ? "" : cString(bytes, 4);
}

function textsOf(bytes: Buffer | undefined): string[] {
  if (bytes === undefined || bytes.length < 4) return [];
  const texts: string[] = [];
  let at = 4;
  for (let left = bytes.readUInt32LE(0); left > 0 && at + 4 <= bytes.length; left--) {
    const size = bytes.readUInt32LE(at);
    texts.push(cString(bytes.subarray(0, Math.min(bytes.length, at + 4 + size)), at + 4));
    at += 4 + size;
  }
  return texts;
}
