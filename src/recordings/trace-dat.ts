// trace.dat: what `trace-cmd record` writes, of versions 6 and 7 (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)). What the
// pages do not say is taken from the code of trace-cmd 3.4: a section's size is a u64, a buffer says its pages' size.
import { inflateSync } from "node:zlib";
import { unpackedZstd } from "../debuginfo/elf.ts";
import { RecordingError } from "./damaged-recording.ts";
import type { ForeignSample } from "./foreign-sample.ts";
import type { RecordingBytes } from "./frames.ts";
import { PageCursor } from "./ring-pages.ts";
import {
  inMemory,
  readFormats,
  readSystems,
  readTraceHeader,
  skipHeaderFiles,
  TraceFields,
  traceMagic,
  type EventFormat,
} from "./tracing-data.ts";
import { damagedTraceDat } from "../messages/on-demand.ts";

const options = { buffer: 3, clock: 4, uname: 5, cpuCount: 8 } as const;
/** Options of version 7 that say where a section is. */
const sections = { headers: 16, ftrace: 17, formats: 18, kallsyms: 19, comms: 21 } as const;

/** Clocks whose times are nanoseconds (Documentation/trace/ftrace.rst). */
const clocks = new Set(["local", "global", "perf", "mono", "mono_raw", "boot", "tai"]);

/** Nothing of a file's has more bytes when decompressed. */
const mostBytes = 1 << 28;
const mostCpus = 1 << 13;
const mostOptions = 1 << 16;

interface CpuData {
  readonly cpu: number;
  readonly offset: number;
  readonly size: number;
}

interface TraceBuffer {
  readonly pageBytes: number;
  readonly packed: boolean;
  readonly cpus: readonly CpuData[];
}

export function isTraceDat(start: Uint8Array): boolean {
  return start.length >= traceMagic.length && traceMagic.equals(start.subarray(0, traceMagic.length));
}

export class TraceDat {
  readonly formats: readonly EventFormat[];
  /** What `uname -a` says: system, host, release, version, machine. */
  readonly hostname: string;
  readonly release: string;
  readonly machine: string;
  readonly cpus: number;
  readonly #bytes: RecordingBytes;
  readonly #comms: ReadonlyMap<number, string>;
  readonly #kallsyms: string;
  readonly #buffers: readonly TraceBuffer[];
  readonly #compression: string;
  readonly #kernelStack: number | undefined;
  readonly #userStack: number | undefined;

  /** @throws RecordingError */
  constructor(bytes: RecordingBytes) {
    this.#bytes = bytes;
    const from = new TraceFields(bytes);
    const { version, pageBytes } = readTraceHeader(from);
    if (version !== "6" && version !== "7") throw new RecordingError(damagedTraceDat().version(version));
    this.#compression = version === "7" ? from.text() : "none";
    const whole = version === "7" ? this.#version7(from) : this.#version6(from, pageBytes);
    if (!clocks.has(whole.clock)) throw new RecordingError(damagedTraceDat().clock(whole.clock));
    this.formats = whole.formats;
    this.cpus = Math.max(1, whole.cpus);
    this.#comms = whole.comms;
    this.#kallsyms = whole.kallsyms;
    this.#buffers = whole.buffers;
    const [, hostname = "", release = "", ...more] = whole.uname.split(" ");
    this.hostname = hostname;
    this.release = release;
    this.machine = more.at(-1) ?? "";
    this.#kernelStack = this.#own("kernel_stack");
    this.#userStack = this.#own("user_stack");
  }

  /** The number of an event of ftrace's own. */
  #own(name: string): number | undefined {
    const found = this.formats.find(
      ({ category, text }) => category === "ftrace" && /^name:\s*(\S+)/m.exec(text)?.[1] === name,
    );
    const id = found && /^ID:\s*(\d+)/m.exec(found.text)?.[1];
    return id === undefined ? undefined : Number(id);
  }

  #version6(from: TraceFields, pageBytes: number): Whole {
    const whole = nothingYet();
    skipHeaderFiles(from);
    whole.formats.push(...readFormats(from, "ftrace"), ...readSystems(from));
    whole.kallsyms = from.take(from.u32()).toString("latin1");
    from.skip(from.u32());
    whole.comms = commsOf(from.take(from.length()));
    whole.cpus = from.u32();
    if (whole.cpus > mostCpus) throw new RecordingError(damagedTraceDat().cpus(whole.cpus));
    let kind = from.take(10).toString("latin1");
    const cpuTable = (at: TraceFields): TraceBuffer => ({
      pageBytes,
      packed: false,
      cpus: Array.from({ length: whole.cpus }, (_, cpu) => ({ cpu, offset: at.length(), size: at.length() })),
    });
    if (kind === "options  \0") {
      for (let id = from.u16(); id !== 0; id = from.u16()) {
        const data = new TraceFields(inMemory(from.take(from.u32())));
        if (id === options.buffer) {
          const at = new TraceFields(this.#bytes, data.length());
          if (at.take(10).toString("latin1") !== flyRecord) throw new RecordingError(damagedTraceDat().noBuffer());
          whole.buffers.push(cpuTable(at));
        } else optionOf(id, data, whole);
      }
      kind = from.take(10).toString("latin1");
    }
    if (kind !== flyRecord) throw new RecordingError(damagedTraceDat().latencyTrace());
    whole.buffers.unshift(cpuTable(from));
    return whole;
  }

  #version7(from: TraceFields): Whole {
    from.text(); // The version of what compresses.
    const whole = nothingYet();
    const places = new Map<number, number>();
    const seen = new Set<number>();
    let left = mostOptions;
    for (let next = from.length(); next !== 0;) {
      if (seen.has(next)) throw new RecordingError(damagedTraceDat().optionsInCircle());
      seen.add(next);
      const { content } = this.#section(next);
      next = 0;
      while (content.left >= 6) {
        if (left-- === 0) throw new RecordingError(damagedTraceDat().tooManyOptions());
        const id = content.u16();
        const data = new TraceFields(inMemory(content.take(content.u32())));
        if (id === 0) {
          next = data.length();
          break;
        }
        if (id === options.buffer) whole.buffers.push(this.#buffer(data, whole));
        else if (Object.values(sections).includes(id as never)) places.set(id, data.length());
        else optionOf(id, data, whole);
      }
    }
    const at = (id: number): TraceFields | undefined => {
      const place = places.get(id);
      return place === undefined ? undefined : this.#section(place).content;
    };
    const ftrace = at(sections.ftrace);
    if (ftrace !== undefined) whole.formats.push(...readFormats(ftrace, "ftrace"));
    const formats = at(sections.formats);
    if (formats === undefined) throw new RecordingError(damagedTraceDat().eventsNotDescribed());
    whole.formats.push(...readSystems(formats));
    const kallsyms = at(sections.kallsyms);
    if (kallsyms !== undefined) whole.kallsyms = kallsyms.take(kallsyms.u32()).toString("latin1");
    const comms = at(sections.comms);
    if (comms !== undefined) whole.comms = commsOf(comms.take(comms.length()));
    return whole;
  }

  /** u16 id, u16 flags (1: compressed), u32 what it is called, u64 bytes; those. */
  #section(offset: number): { readonly content: TraceFields; readonly packed: boolean } {
    const head = new TraceFields(this.#bytes, this.#within(offset));
    head.skip(2);
    const packed = (head.u16() & 1) !== 0;
    head.skip(4);
    const size = head.length();
    if (size > head.left) throw new RecordingError(damagedTraceDat().sectionBehindEnd());
    return { packed, content: packed ? new TraceFields(inMemory(this.#unpackedChunk(head))) : head };
  }

  #within(offset: number): number {
    if (!(offset >= 0 && offset <= this.#bytes.size)) throw new RecordingError(damagedTraceDat().sectionBehindEnd());
    return offset;
  }

  /** u32 packed, u32 whole bytes; those. */
  #unpackedChunk(from: TraceFields): Buffer {
    const packed = from.u32();
    const size = from.u32();
    if (size > mostBytes) throw new RecordingError(damagedTraceDat().sectionBytes(size));
    const bytes = from.take(packed);
    let whole: Buffer;
    try {
      switch (this.#compression) {
        case "zstd":
          whole = unpackedZstd(bytes, size);
          break;
        case "zlib":
          whole = inflateSync(bytes, { maxOutputLength: Math.max(1, size) });
          break;
        default:
          throw new RecordingError(damagedTraceDat().compression(this.#compression));
      }
    } catch (error) {
      if (error instanceof RecordingError) throw error;
      throw new RecordingError(damagedTraceDat().sectionNotDecompressed((error as Error).message));
    }
    if (whole.length !== size) throw new RecordingError(damagedTraceDat().sectionLength());
    return whole;
  }

  /** u64 its section, name, clock, u32 bytes of a page, u32 CPUs; of each u32 number, u64 offset, u64 bytes. */
  #buffer(data: TraceFields, whole: Whole): TraceBuffer {
    const place = data.length();
    data.text();
    const clock = data.text();
    if (clock !== "") whole.clock = clock;
    const pageBytes = data.u32();
    const count = data.u32();
    if (count > mostCpus) throw new RecordingError(damagedTraceDat().cpusOfBuffer(count));
    const head = new TraceFields(this.#bytes, this.#within(place));
    head.skip(2);
    const packed = (head.u16() & 1) !== 0;
    const cpus = Array.from({ length: count }, () => ({
      cpu: data.u32(),
      offset: data.length(),
      size: data.length(),
    }));
    return { pageBytes, packed, cpus };
  }

  *#pages({ pageBytes, packed }: TraceBuffer, { offset, size }: CpuData): Iterable<Buffer> {
    if (pageBytes < 4096 || pageBytes > 1 << 24) throw new RecordingError(damagedTraceDat().pageBytes(pageBytes));
    if (size === 0) return;
    const from = new TraceFields(this.#bytes, this.#within(offset));
    if (size > from.left) throw new RecordingError(damagedTraceDat().cpuBehindEnd());
    if (!packed) {
      for (let left = size; left >= pageBytes; left -= pageBytes) yield from.take(pageBytes);
      return;
    }
    const end = offset + size;
    for (let chunks = from.u32(); chunks > 0 && from.at < end; chunks--) {
      const bytes = this.#unpackedChunk(from);
      for (let at = 0; at + pageBytes <= bytes.length; at += pageBytes) yield bytes.subarray(at, at + pageBytes);
    }
  }

  /** Events of all CPUs in the order of their times. @throws RecordingError */
  *samples(): Iterable<ForeignSample> {
    const streams = this.#buffers.flatMap((buffer) =>
      buffer.cpus.map((data) => this.#stacked(data.cpu, this.#pages(buffer, data))[Symbol.iterator]()),
    );
    const heads = streams.map((stream) => stream.next());
    for (;;) {
      let first = -1;
      for (const [i, head] of heads.entries())
        if (head.done !== true && (first < 0 || head.value.time < (heads[first].value as ForeignSample).time))
          first = i;
      if (first < 0) return;
      yield heads[first].value as ForeignSample;
      heads[first] = streams[first].next();
    }
  }

  /** The events of a CPU, with the stacks that were written behind them. */
  *#stacked(cpu: number, pages: Iterable<Buffer>): Iterable<ForeignSample> {
    let waiting: (Writable<ForeignSample> & { readonly by: string })[] = [];
    let [lost, gap] = [0, false];
    for (const one of this.#events(cpu, pages)) {
      lost += one.lost;
      gap ||= one.gap;
      const { raw, event } = one;
      // Whom an interrupt stopped writes its stack later: its events have another context.
      const by = `${one.tid} ${raw[2] & interrupts}`;
      if (event === this.#kernelStack || event === this.#userStack) {
        const kind = event === this.#kernelStack ? "kernelStack" : "userStack";
        const of = waiting.findLast((each) => each.by === by && each[kind] === undefined);
        if (of !== undefined) of[kind] = stackOf(raw, kind === "kernelStack" ? framesOf(raw) : userFrames);
        continue;
      }
      const done = waiting.findIndex((each) => each.by === by) >= 0 || waiting.length >= mostWaiting;
      if (done) {
        yield* waiting;
        waiting = [];
      }
      waiting.push({ ...one, lost, gap, by });
      [lost, gap] = [0, false];
    }
    yield* waiting;
  }

  *#events(cpu: number, pages: Iterable<Buffer>): Iterable<ForeignSample> {
    for (const page of pages) {
      const base = page.readBigUInt64LE(0);
      const cursor = new PageCursor(page, base);
      cursor.begin();
      let { gap, lost } = cursor;
      while (cursor.next()) {
        const { offset, length } = cursor;
        if (length < 8) throw new RecordingError(damagedTraceDat().eventBytes(length));
        const raw = page.subarray(offset, offset + length);
        const tid = raw.readInt32LE(4);
        yield {
          event: raw.readUInt16LE(0),
          time: base + BigInt(Math.max(0, Math.round(cursor.time))),
          cpu,
          pid: 0,
          tid,
          comm: this.#comms.get(tid) ?? (tid === 0 ? `swapper/${cpu}` : "<...>"),
          raw,
          kernelStack: undefined,
          userStack: undefined,
          lost,
          gap,
        };
        gap = false;
        lost = 0;
      }
    }
  }

  /** Functions of the kernel by their addresses, the lowest first. */
  kernelSymbols(): readonly KernelSymbol[] {
    const symbols: KernelSymbol[] = [];
    for (const [, address, kind, name, module] of this.#kallsyms.matchAll(/^([0-9a-f]+) (\w) (\S+)(?:\s+\[(.*)\])?$/gm))
      if (/[tw]/i.test(kind)) symbols.push({ address: BigInt(`0x${address}`), name, module });
    return symbols.sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  }
}

export interface KernelSymbol {
  readonly address: bigint;
  readonly name: string;
  readonly module: string | undefined;
}

type Writable<T> = { -readonly [key in keyof T]: T[key] };

/** TRACE_FLAG_HARDIRQ, _SOFTIRQ and _NMI of include/linux/trace_events.h. */
const interrupts = 0x58;
/** Events of other contexts that may lie between one and its stack. */
const mostWaiting = 64;
/** FTRACE_STACK_ENTRIES: frames of a user stack. */
const userFrames = 8;
const flyRecord = "flyrecord\0";

interface Whole {
  formats: EventFormat[];
  buffers: TraceBuffer[];
  comms: ReadonlyMap<number, string>;
  kallsyms: string;
  uname: string;
  clock: string;
  cpus: number;
}

function nothingYet(): Whole {
  return { formats: [], buffers: [], comms: new Map(), kallsyms: "", uname: "", clock: "local", cpus: 0 };
}

function optionOf(id: number, data: TraceFields, whole: Whole): void {
  const text = (): string => data.take(data.left).toString("latin1").replace(/\0.*$/s, "");
  if (id === options.uname) whole.uname = text();
  // All clocks that there are, the one that was taken in brackets.
  else if (id === options.clock) whole.clock = /\[(\w[\w-]*)\]/.exec(text())?.[1] ?? whole.clock;
  else if (id === options.cpuCount && data.left >= 4) whole.cpus = data.u32();
}

/** Lines `3141 name`. */
function commsOf(bytes: Buffer): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const [, tid, name] of bytes.toString("utf8").matchAll(/^(\d+) (.*)$/gm)) names.set(Number(tid), name);
  return names;
}

/** Of struct stack_entry. @throws RecordingError */
function framesOf(raw: Buffer): number {
  if (raw.length < 12) throw new RecordingError(damagedTraceDat().stackBytes(raw.length));
  return raw.readUInt32LE(8);
}

/** struct stack_entry and struct userstack_entry of kernel/trace/trace_entries.h: frames up to the first that is none. */
function stackOf(raw: Buffer, count: number): readonly bigint[] {
  const stack: bigint[] = [];
  for (let at = 16; at + 8 <= raw.length && stack.length < count; at += 8) {
    const address = raw.readBigUInt64LE(at);
    if (address === 0n || address === 0xffff_ffff_ffff_ffffn) break;
    stack.push(address);
  }
  return stack;
}
