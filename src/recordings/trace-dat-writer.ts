// trace.dat of version 6 as it is written (trace-cmd.dat.v6(5)): descriptions of the events, then the pages of each CPU as
// the kernel's ring buffer has them (include/linux/ring_buffer.h).
import { ByteBuffer } from "./byte-buffer.ts";
import { traceMagic, type EventFormat } from "./tracing-data.ts";

const pageBytes = 4096;
/** Time of the page, then how many bytes of events. */
const pageHead = 16;
const eventRoom = pageBytes - pageHead;
/** Words of a record whose length is in its first word. */
const mostShort = 28;
const timeExtend = 30;
const timeStamp = 31;
const deltaBits = 27;

/** A record has a head of two words at most, and a time in front of it of two. */
export const mostRecordBytes = eventRoom - 16;

/** Events of one CPU as pages. A page is handed on when it is full, and is the next one afterwards. */
class CpuPages {
  readonly #page = Buffer.alloc(pageBytes);
  readonly #done: (page: Uint8Array) => void;
  #used = 0;
  #time = 0n;

  constructor(done: (page: Uint8Array) => void) {
    this.#done = done;
  }

  add(time: bigint, record: Uint8Array): void {
    const words = Math.ceil(record.length / 4);
    const step = time - this.#time;
    const room = (step >= 1n << BigInt(deltaBits) || step < 0n ? 8 : 0) + (words > mostShort ? 8 : 4) + words * 4;
    if (this.#used > 0 && this.#used + room > eventRoom) this.flush();
    let delta = 0n;
    if (this.#used === 0) this.#page.writeBigUInt64LE(time, 0);
    else if (step < 0n) this.#timed(timeStamp, time);
    else if (step >= 1n << BigInt(deltaBits)) this.#timed(timeExtend, step);
    else delta = step;
    this.#time = time;
    this.#word((words > mostShort ? 0 : words) | (Number(delta) << 5));
    if (words > mostShort) this.#word(words * 4 + 4);
    this.#page.set(record, pageHead + this.#used);
    this.#used += words * 4;
  }

  #timed(type: number, time: bigint): void {
    this.#word(type | (Number(BigInt.asUintN(deltaBits, time)) << 5));
    this.#word(Number(BigInt.asUintN(32, time >> BigInt(deltaBits))));
  }

  #word(word: number): void {
    this.#page.writeUInt32LE(word >>> 0, pageHead + this.#used);
    this.#used += 4;
  }

  flush(): void {
    if (this.#used === 0) return;
    this.#page.writeBigUInt64LE(BigInt(this.#used), 8);
    this.#done(this.#page);
    this.#page.fill(0);
    this.#used = 0;
  }
}

export interface TraceDatEvent {
  readonly cpu: number;
  /** Nanoseconds. */
  readonly time: bigint;
  /** As its format says, `mostRecordBytes` at most. Handed over for the call alone. */
  readonly record: Uint8Array;
}

export interface TraceDatHead {
  readonly cpus: number;
  readonly formats: readonly EventFormat[];
  /** Names of threads. */
  readonly comms: ReadonlyMap<number, string>;
  readonly host: string;
  readonly kernel: string;
  readonly machine: string;
  /** A name of ftrace's clocks. */
  readonly clock: string;
}

/**
 * Writes a file of the events, which are gone through twice: pages of a CPU lie together, so that how many there are of each
 * is known before the first is written. `write` takes bytes and where in the file they begin.
 */
export function writeTraceDat(
  head: TraceDatHead,
  events: () => Iterable<TraceDatEvent>,
  write: (bytes: Uint8Array, at: number) => void,
): void {
  const counts: number[] = Array.from({ length: head.cpus }, () => 0);
  packed(events(), head.cpus, (cpu) => void counts[cpu]++);
  const start = headBytes(head);
  const first = Math.ceil((start.length + head.cpus * 16) / pageBytes) * pageBytes;
  const table = new ByteBuffer();
  const next: number[] = [];
  let at = first;
  for (const count of counts) {
    table.u64(BigInt(at));
    table.u64(BigInt(count * pageBytes));
    next.push(at);
    at += count * pageBytes;
  }
  write(start, 0);
  write(table.bytes, start.length);
  const gap = start.length + table.length;
  write(new Uint8Array(first - gap), gap);
  packed(events(), head.cpus, (cpu, page) => {
    write(page, next[cpu]);
    next[cpu] += pageBytes;
  });
}

function packed(events: Iterable<TraceDatEvent>, cpus: number, done: (cpu: number, page: Uint8Array) => void): void {
  const pages = Array.from({ length: cpus }, (_, cpu) => new CpuPages((page) => done(cpu, page)));
  for (const { cpu, time, record } of events) pages[cpu].add(time, record);
  for (const one of pages) one.flush();
}

const headerPage = [
  "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;",
  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;",
  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;",
  `\tfield: char data;\toffset:${pageHead};\tsize:${eventRoom};\tsigned:1;`,
].join("\n");
const headerEvent = [
  "# compressed entry header",
  "\ttype_len    :    5 bits",
  `\ttime_delta  :   ${deltaBits} bits`,
  "\tarray       :   32 bits",
  "",
  "\tpadding     : type == 29",
  `\ttime_extend : type == ${timeExtend}`,
  `\ttime_stamp : type == ${timeStamp}`,
  `\tdata max type_len  == ${mostShort}`,
].join("\n");
const options = { clock: 4, uname: 5 } as const;

function headBytes({ cpus, formats, comms, host, kernel, machine, clock }: TraceDatHead): Buffer {
  const out = new ByteBuffer();
  const text = (words: string): void => out.put(Buffer.from(`${words}\0`, "latin1"));
  const sized = (words: string): void => {
    const bytes = Buffer.from(words, "latin1");
    out.u64(BigInt(bytes.length));
    out.put(bytes);
  };
  out.put(traceMagic);
  text("6");
  out.u8(0); // Little-endian.
  out.u8(8); // Bytes of a long.
  out.u32(pageBytes);
  text("header_page");
  sized(`${headerPage}\n`);
  text("header_event");
  sized(`${headerEvent}\n`);
  out.u32(0); // Events of ftrace's own.
  const categories = [...new Set(formats.map(({ category }) => category))];
  out.u32(categories.length);
  for (const category of categories) {
    const some = formats.filter((format) => format.category === category);
    text(category);
    out.u32(some.length);
    for (const format of some) sized(format.text);
  }
  out.u32(0); // Symbols of the kernel.
  out.u32(0); // Formats of printk.
  sized([...comms].map(([tid, comm]) => `${tid} ${comm}\n`).join(""));
  out.u32(cpus);
  text("options  ");
  for (const [id, words] of [
    [options.clock, `[${clock}]\n`],
    [options.uname, `Linux ${host} ${kernel} ${machine}`],
  ] as const) {
    out.u16(id);
    out.u32(words.length + 1);
    text(words);
  }
  out.u16(0);
  text("flyrecord");
  return out.bytes;
}
