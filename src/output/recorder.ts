// A session's events into a recording: records are kept as they come, and written in blocks.
import type { ConsumerAction, EventSchema } from "../compiler/plan.ts";
import { headerOffset } from "../compiler/layouts/record-header.ts";
import { sizeOf } from "../language/layout.ts";
import type { StackType, Type } from "../language/types.ts";
import type { ClockReading, RecordedLoss, RecordingCost } from "../recordings/contents.ts";
import type { RecordingWriter } from "../recordings/writer.ts";
import type { Consumer, ConsumerServices, RecordHandler, RecordMemory, Trouble } from "../session/events.ts";
import type { SessionStats } from "../session/stats.ts";
import { NotedNames } from "./noted-names.ts";
import { Redactor } from "./redactor.ts";
import { stackFrames, stackMapOf } from "./stack-frames.ts";
import { troubleText } from "./trouble.ts";

/** A block is written when it has so many bytes of rows, so many events, or is so old. */
const blockBytes = 8 << 20;
const blockEvents = 0xffff;
const blockMilliseconds = 1000;
/** Bytes of blocks that wait to be written: with more, the file cannot take what comes, and events are lost. */
const mostWaiting = 128 << 20;
const clockMilliseconds = 10_000;
/** For reading places in the source out of debug information, when the recording ends. */
const lineMilliseconds = 10_000;

export interface RecorderOptions {
  readonly writer: RecordingWriter;
  readonly clock: () => ClockReading;
  /** Says what a person should know. */
  readonly tell: (text: string) => void;
  /** Bytes of blocks that may wait to be written; 128 MB unless given. */
  readonly mostWaiting?: number | undefined;
  /** Called when the file has so many bytes. */
  readonly mostBytes?: number | undefined;
  readonly full?: (() => void) | undefined;
  /** Where the recording goes on behind what another run has written: that run's numbers. */
  readonly before?: { readonly layouts: number; readonly sites: number } | undefined;
  /** Nanoseconds for which events are held in memory: names are let go of with them. */
  readonly ring?: bigint | undefined;
  /** Texts become hashes. */
  readonly redact?: boolean | undefined;
  /** Called for a record of `whenName`. */
  readonly when?: (() => void) | undefined;
}

/** What a record is called that asks for what is held to be written. */
export const whenName = "when";

/** A stack field of a layout. */
interface StackField {
  readonly offset: number;
  readonly type: StackType;
}

/** Characters of a row, up to a NUL. */
interface TextField {
  readonly offset: number;
  readonly size: number;
}

/** Texts, and arrays of characters. */
function isText(type: Type): boolean {
  return (
    type.kind === "string" ||
    (type.kind === "array" && type.element.kind === "integer" && type.element.character === true)
  );
}

class RowBuffer {
  readonly layout: number;
  readonly size: number;
  readonly stacks: readonly StackField[];
  /** Where rows have a user, and a cgroup. */
  readonly user: number | undefined;
  readonly cgroup: number | undefined;
  /** Where rows have what may be an address. */
  readonly words: readonly number[];
  readonly texts: readonly TextField[];
  bytes: Uint8Array;
  count = 0;
  /** In the block that is being filled. */
  index = -1;

  /** `before`: layouts of the recording that are another run's. */
  constructor({ size, action, fields }: EventSchema<ConsumerAction>, before: number) {
    this.layout = action.kind === "data" ? Number(action.name) + before : -1;
    this.size = size;
    this.stacks = fields.flatMap(({ type, offset }) => (type.kind === "stack" ? [{ type, offset }] : []));
    this.texts = fields.flatMap(({ type, offset }) => (isText(type) ? [{ offset, size: sizeOf(type) }] : []));
    this.words = fields.flatMap(({ name, type, offset }) =>
      name !== "cgroup" && (type.kind === "pointer" || (type.kind === "integer" && type.bits === 64)) ? [offset] : [],
    );
    this.user = fields.find(({ name }) => name === "uid")?.offset;
    this.cgroup = fields.find(({ name }) => name === "cgroup")?.offset;
    this.bytes = new Uint8Array(size * 64);
  }
}

export class Recorder implements Consumer {
  /** Events so far, and those that were lost. */
  events = 0;
  lost = 0;
  /** Of events that are there. */
  lostStacks = 0;
  beforeWrite: (() => void) | undefined;
  readonly patience = 50;
  readonly #options: RecorderOptions;
  #siteAt = 0;
  #pidAt = 0;
  readonly #order = new Uint16Array(blockEvents);
  #present: RowBuffer[] = [];
  #count = 0;
  #bytes = 0;
  #began = 0;
  #lastClock = Date.now();
  #losses: RecordedLoss[] = [];
  readonly #allLosses: RecordedLoss[] = [];
  #services: ConsumerServices | undefined;
  #names: NotedNames | undefined;
  /** Those of the time before, of which events may still be held. */
  #earlierNames: NotedNames | undefined;
  readonly #redactor = new Redactor();
  /** When names were told anew, by the boot clock. */
  #namesSince = 0n;
  #stop = false;
  /** Events were lost since the writer had too much to do. */
  #slow = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  handler(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    this.#services = services;
    const { size, header = [] } = schema;
    const { when, before } = this.#options;
    if (schema.action.kind === "data" && schema.action.name === whenName) return () => when?.();
    const buffer = new RowBuffer(schema, before?.layouts ?? 0);
    this.#siteAt = headerOffset(header.indexOf("probe"));
    this.#pidAt = headerOffset(header.indexOf("pid"));
    const { bytes } = memory;
    return (offset) => {
      if (this.#stop) return;
      const at = buffer.count * size;
      if (at + size > buffer.bytes.length) {
        const larger = new Uint8Array(buffer.bytes.length * 2);
        larger.set(buffer.bytes);
        buffer.bytes = larger;
      }
      buffer.bytes.set(bytes.subarray(offset, offset + size), at);
      if (buffer.count++ === 0) buffer.index = this.#present.push(buffer) - 1;
      if (this.#count === 0) this.#began = Date.now();
      this.#order[this.#count++] = buffer.index;
      this.#bytes += size;
      if (this.#count === blockEvents || this.#bytes >= blockBytes) this.#write();
    };
  }

  flush(): void {
    const now = Date.now();
    if (this.#count > 0 && now - this.#began >= blockMilliseconds) this.#write();
    if (now - this.#lastClock >= clockMilliseconds) {
      this.#lastClock = now;
      this.#options.writer.clock(this.#options.clock());
    }
  }

  trouble(trouble: Trouble): void {
    if (trouble.kind === "lost" || trouble.kind === "missed") {
      this.lost += trouble.count;
      this.#lose(trouble.kind === "lost" ? "ring" : "missed", trouble.probe, trouble.count);
    }
    this.beforeWrite?.();
    this.#options.tell(`${troubleText(trouble)}\n`);
  }

  map(): void {}
  text(): void {}

  #attachedAt = performance.now();
  #usedAt = process.cpuUsage();

  attached(probes: number): void {
    this.#attachedAt = performance.now();
    this.#usedAt = process.cpuUsage();
    this.#options.tell(`Attached ${probes} probe${probes === 1 ? "" : "s"}\n`);
  }

  #lose(cause: RecordedLoss["cause"], probe: string, count: number): void {
    const loss = { cause, probe, count };
    this.#losses.push(loss);
    this.#allLosses.push(loss);
  }

  #handlers: RecordingCost["handlers"];

  stats({ handlers }: SessionStats): void {
    this.#handlers = handlers.map(({ probe, runs, handlerNanoseconds }) => ({
      probe,
      runs,
      nanoseconds: handlerNanoseconds,
    }));
  }

  /** What this run has taken so far. */
  get cost(): RecordingCost {
    const { user, system } = process.cpuUsage(this.#usedAt);
    return {
      seconds: (performance.now() - this.#attachedAt) / 1e3,
      cpuSeconds: (user + system) / 1e6,
      events: this.events,
      ...(this.#handlers === undefined ? {} : { handlers: this.#handlers }),
    };
  }

  /** What has come so far is handed to the writer. */
  handOver(): void {
    if (this.#count > 0 || this.#losses.length > 0) this.#write();
    this.#writeLines();
  }

  /** Writes what is left while the kernel still has the stacks, and programs may be read. */
  endOfEvents(): void {
    if (this.#count > 0) this.#write();
    this.#writeLines();
  }

  /** All that has come is handed to the writer. */
  finish(): readonly RecordedLoss[] {
    if (this.#count > 0 || this.#losses.length > 0) this.#write();
    return this.#allLosses;
  }

  /** The writer has as much to do as may wait: what has come since is lost. */
  #drop(): void {
    const sites = new Map<number, number>();
    for (const { bytes, count, size } of this.#present) {
      const view = new DataView(bytes.buffer);
      for (let i = 0, at = this.#siteAt; i < count; i++, at += size) tally(sites, view.getUint32(at, true));
    }
    for (const [site, count] of sites) this.#lose("writer", this.#nameOf(site), count);
    this.lost += this.#count;
    if (!this.#slow) {
      this.#slow = true;
      this.beforeWrite?.();
      this.#options.tell("WARNING: the file is written more slowly than events come: some are lost\n");
    }
    this.#clear();
  }

  #nameOf(site: number): string {
    return this.#services?.plan.probeNames[site] ?? String(site);
  }

  /** By the boot clock. */
  #now(): bigint {
    return BigInt(this.#options.clock().boot);
  }

  #clear(): void {
    for (const buffer of this.#present) buffer.count = 0;
    this.#present = [];
    this.#count = 0;
    this.#bytes = 0;
  }

  #write(): void {
    const services = this.#services;
    if (services === undefined) return;
    const { writer, mostBytes, full } = this.#options;
    if (this.#count > 0 && writer.waiting >= (this.#options.mostWaiting ?? mostWaiting)) {
      this.#drop();
      return;
    }
    this.#renewNames(services);
    const names = (this.#names ??= new NotedNames(services.symbols));
    const stacks = this.#numberStacks(services, names);
    const sites = new Set<number>();
    this.#rewrite();
    // Where there are losses alone, it is of this moment.
    let [first, last] = this.#count === 0 ? [this.#now(), this.#now()] : [(1n << 64n) - 1n, 0n];
    for (const buffer of this.#present) {
      const { bytes, count, size, layout } = buffer;
      const view = new DataView(bytes.buffer);
      const times = timesOf(view, count, size, writer.layouts[layout].time);
      if (times.first < first) first = times.first;
      if (times.last > last) last = times.last;
      for (let i = 0, at = this.#siteAt; i < count; i++, at += size) sites.add(view.getUint32(at, true));
      names.note(view, buffer, this.#pidAt);
    }
    writer.block(
      {
        count: this.#count,
        order: this.#order,
        rows: this.#present.map(({ layout, count, bytes, size }) => ({
          layout,
          count,
          bytes: bytes.subarray(0, count * size),
        })),
        stacks,
      },
      { first, last, sites: [...sites], lost: this.#losses },
    );
    this.#writeNames(names);
    this.events += this.#count;
    this.#clear();
    this.#losses = [];
    if (mostBytes !== undefined && writer.size >= mostBytes && !this.#stop) {
      this.#stop = true;
      full?.();
    }
  }

  #writeNames(names: NotedNames): void {
    const text = names.take();
    if (text !== undefined) this.#options.writer.symbols(text);
  }

  /** Places in the source of all code that has a name: it is read now, when no event waits for it. */
  #writeLines(): void {
    const until = performance.now() + lineMilliseconds;
    let without = 0;
    for (const names of [this.#earlierNames, this.#names]) {
      if (names === undefined) continue;
      without += names.addLines(until);
      this.#writeNames(names);
    }
    if (without === 0) return;
    this.beforeWrite?.();
    this.#options.tell(
      `WARNING: ${without} places in programs are without their lines in the source: reading these took more than ${lineMilliseconds / 1000} s\n`,
    );
  }

  /** Of events that are let go of, the names are as well. */
  #renewNames({ symbols }: ConsumerServices): void {
    const { ring, writer } = this.#options;
    if (ring === undefined) return;
    const now = this.#now();
    if (this.#names !== undefined && now - this.#namesSince < ring) return;
    this.#namesSince = now;
    this.#earlierNames = this.#names;
    this.#names = new NotedNames(symbols);
    writer.forgetNames();
  }

  /** Rows become those of the file: its numbers of sites, texts as hashes. */
  #rewrite(): void {
    const { before, redact } = this.#options;
    for (const { bytes, count, size, texts } of this.#present) {
      if (before !== undefined && before.sites > 0) {
        const view = new DataView(bytes.buffer);
        for (let i = 0, at = this.#siteAt; i < count; i++, at += size)
          view.setUint32(at, view.getUint32(at, true) + before.sites, true);
      }
      if (redact !== true) continue;
      for (const { offset, size: room } of texts)
        for (let i = 0, at = offset; i < count; i++, at += size) this.#redactor.redact(bytes, at, room);
    }
  }

  /** Stacks' numbers in the kernel become those of the block. */
  #numberStacks(services: ConsumerServices, names: NotedNames): BigUint64Array[] {
    const stacks: BigUint64Array[] = [];
    const noting = { ...services, symbols: names };
    for (const { bytes, count, size, stacks: fields } of this.#present) {
      const view = new DataView(bytes.buffer);
      for (const { offset, type } of fields) {
        const known = new Map<bigint, number>();
        const lost = new Map<number, number>();
        const named = new Set<string>();
        for (let i = 0, at = offset; i < count; i++, at += size) {
          const id = view.getBigInt64(at, true);
          const pid = view.getUint32(at + 8, true);
          let number = known.get(id);
          if (number === undefined) {
            const words = id < 0n ? undefined : services.symbols.stack(id, stackMapOf(type, services));
            number = words === undefined ? -1 : stacks.push(BigUint64Array.from(words)) - 1;
            known.set(id, number);
          }
          const name = `${id} ${pid}`;
          if (number >= 0 && !named.has(name)) {
            named.add(name);
            // Asks for the names that showing it would ask for.
            stackFrames(type, id, pid, noting);
          } else if (number < 0 && id !== noStack) tally(lost, view.getUint32(at - offset + this.#siteAt, true));
          view.setBigInt64(at, BigInt(number), true);
        }
        for (const [site, count] of lost) {
          this.#lose("stack", this.#nameOf(site), count);
          this.lostStacks += count;
        }
      }
    }
    return stacks;
  }
}

/**
 * -EFAULT: there was none, as of a kernel's thread in user mode. Other negative numbers are of stacks that the map had no
 * room for (bpf_get_stackid of kernel/bpf/stackmap.c: EEXIST, another stack in its place; ENOMEM).
 */
const noStack = -14n;

function tally(counts: Map<number, number>, of: number): void {
  counts.set(of, (counts.get(of) ?? 0) + 1);
}

/** The least and the greatest. */
function timesOf(view: DataView, count: number, size: number, offset: number): { first: bigint; last: bigint } {
  let [first, last] = [offset, offset];
  const later = (a: number, b: number): boolean => {
    const [high, other] = [view.getUint32(a + 4, true), view.getUint32(b + 4, true)];
    return high !== other ? high > other : view.getUint32(a, true) > view.getUint32(b, true);
  };
  for (let i = 1, at = offset + size; i < count; i++, at += size) {
    if (later(at, last)) last = at;
    else if (later(first, at)) first = at;
  }
  return { first: view.getBigUint64(first, true), last: view.getBigUint64(last, true) };
}
