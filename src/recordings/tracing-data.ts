// What perf.data and trace.dat say of tracepoints: the files of tracefs as the recorder copied them (trace-cmd.dat(5)).
import { RecordingError } from "./damaged-recording.ts";

export interface EventFormat {
  readonly category: string;
  /** The text of the event's format file. */
  readonly text: string;
}

const start = Buffer.from([23, 8, 68, ...Buffer.from("tracing")]);
const mostEvents = 1 << 16;

/** @throws RecordingError */
export function readTracingData(bytes: Uint8Array): EventFormat[] {
  const from = new Fields(bytes);
  if (!from.take(start.length).equals(start)) throw new RecordingError("what it says of tracepoints is cut short");
  from.text();
  const [endian] = from.take(2);
  if (endian !== 0) throw new RecordingError("it was made on a big-endian machine");
  from.take(4);
  for (let file = 0; file < 2; file++) {
    from.text();
    from.take(from.length());
  }
  const formats: EventFormat[] = [];
  const events = (category: string): void => {
    const count = from.u32();
    if (count > mostEvents) throw new RecordingError(`it is said to describe ${count} tracepoints`);
    for (let i = 0; i < count; i++) formats.push({ category, text: from.take(from.length()).toString("latin1") });
  };
  events("ftrace");
  const categories = from.u32();
  if (categories > mostEvents) throw new RecordingError(`it is said to describe ${categories} kinds of tracepoints`);
  for (let i = 0; i < categories; i++) events(from.text());
  return formats;
}

class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  take(size: number): Buffer {
    if (size > this.#bytes.length - this.#at) throw new RecordingError("what it says of tracepoints is cut short");
    return this.#bytes.subarray(this.#at, (this.#at += size));
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  /** A u64 that must be the length of something here. */
  length(): number {
    return Number(this.take(8).readBigUInt64LE());
  }

  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end < 0) throw new RecordingError("what it says of tracepoints is cut short");
    const text = this.#bytes.toString("latin1", this.#at, end);
    this.#at = end + 1;
    return text;
  }
}
