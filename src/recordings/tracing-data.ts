// What perf.data and trace.dat say of tracepoints: the files of tracefs as the recorder copied them (trace-cmd.dat(5)).
import { RecordingError } from "./damaged-recording.ts";
import type { RecordingBytes } from "./frames.ts";
import { damagedPerfData } from "../messages/on-demand.ts";

export interface EventFormat {
  readonly category: string;
  /** The text of the event's format file. */
  readonly text: string;
}

export const traceMagic = Buffer.from([23, 8, 68, ...Buffer.from("tracing")]);
const mostEvents = 1 << 16;

/** Of perf.data: as trace.dat of version 6 begins. @throws RecordingError */
export function readTracingData(bytes: Uint8Array): EventFormat[] {
  const from = new TraceFields(inMemory(bytes));
  readTraceHeader(from);
  skipHeaderFiles(from);
  const formats = readFormats(from, "ftrace");
  return [...formats, ...readSystems(from)];
}

/** Bytes that are there already, read as a file's are. */
export function inMemory(bytes: Uint8Array): RecordingBytes {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

/** The version, and bytes of a page. @throws RecordingError */
export function readTraceHeader(from: TraceFields): { readonly version: string; readonly pageBytes: number } {
  if (!from.take(traceMagic.length).equals(traceMagic))
    throw new RecordingError(damagedPerfData().tracepointsCutShort());
  const version = from.text();
  const [endian] = from.take(2);
  if (endian !== 0) throw new RecordingError(damagedPerfData().bigEndian());
  return { version, pageBytes: from.u32() };
}

/** header_page and header_event: what a page of the ring buffer looks like, which has not changed. */
export function skipHeaderFiles(from: TraceFields): void {
  for (let file = 0; file < 2; file++) {
    from.text();
    from.skip(from.length());
  }
}

export function readFormats(from: TraceFields, category: string): EventFormat[] {
  const count = from.u32();
  if (count > mostEvents) throw new RecordingError(damagedPerfData().tracepoints(count));
  return Array.from({ length: count }, () => ({ category, text: from.take(from.length()).toString("latin1") }));
}

export function readSystems(from: TraceFields): EventFormat[] {
  const categories = from.u32();
  if (categories > mostEvents) throw new RecordingError(damagedPerfData().kindsOfTracepoints(categories));
  return Array.from({ length: categories }, () => readFormats(from, from.text())).flat();
}

const mostText = 1 << 12;

/** Numbers and texts one behind the other. All throw RecordingError where the bytes end before. */
export class TraceFields {
  readonly #bytes: RecordingBytes;
  #at: number;

  constructor(bytes: RecordingBytes, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  get left(): number {
    return this.#bytes.size - this.#at;
  }

  skip(size: number): void {
    if (!(size >= 0 && size <= this.left)) throw new RecordingError(damagedPerfData().tracepointsCutShort());
    this.#at += size;
  }

  take(size: number): Buffer {
    const at = this.#at;
    this.skip(size);
    const bytes = this.#bytes.read(at, size);
    if (bytes.length !== size) throw new RecordingError(damagedPerfData().tracepointsCutShort());
    return Buffer.from(bytes.buffer, bytes.byteOffset, size);
  }

  u16(): number {
    return this.take(2).readUInt16LE();
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  /** A u64 that must be the length of something here, or a place in the file. */
  length(): number {
    return Number(this.take(8).readBigUInt64LE());
  }

  text(): string {
    const bytes = this.#bytes.read(this.#at, Math.min(mostText, this.left));
    const end = bytes.indexOf(0);
    if (end < 0) throw new RecordingError(damagedPerfData().tracepointsCutShort());
    return this.take(end + 1).toString("latin1", 0, end);
  }
}
