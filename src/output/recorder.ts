// A session's events into a recording: records are kept as they come, and written in blocks.
import type { ConsumerAction, EventSchema } from "../compiler/plan.ts";
import { headerOffset } from "../compiler/layouts/record-header.ts";
import { sizeOf } from "../language/layout.ts";
import type { StackType, Type } from "../language/types.ts";
import type { ClockReading, RecordedLoss, RecordingCost } from "../recordings/contents.ts";
import { DifferentRows } from "../recordings/different.ts";
import type { ColumnGroup } from "../recordings/column-group.ts";
import { EventColumns } from "../recordings/event-columns.ts";
import type { RowField } from "../recordings/layout.ts";
import { writeColumns } from "../recordings/write-block.ts";
import type { RecordingWriter } from "../recordings/writer.ts";
import type { Consumer, ConsumerServices, RecordHandler, RecordMemory, Trouble } from "../session/events.ts";
import type { SessionStats } from "../session/stats.ts";
import { NotedNames } from "./noted-names.ts";
import { hashBytes, Redactor } from "./redactor.ts";
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

/** Texts, and arrays of characters. */
function isText(type: Type): boolean {
  return (
    type.kind === "string" ||
    (type.kind === "array" && type.element.kind === "integer" && type.element.character === true)
  );
}

/** Where rows of a layout have what is asked for when their block is written. */
class NamedFields {
  readonly stacks: readonly StackField[];
  readonly user: number | undefined;
  readonly cgroup: number | undefined;
  /** What may be an address. */
  readonly words: readonly number[];
  /** What is hashed where texts are; with the bytes that there is room for. */
  readonly texts: ReadonlyMap<number, number>;

  constructor({ fields }: EventSchema<ConsumerAction>) {
    this.stacks = fields.flatMap(({ type, offset }) => (type.kind === "stack" ? [{ type, offset }] : []));
    this.texts = new Map(fields.flatMap(({ type, offset }) => (isText(type) ? [[offset, sizeOf(type)]] : [])));
    this.words = fields.flatMap(({ name, type, offset }) =>
      name !== "cgroup" && (type.kind === "pointer" || (type.kind === "integer" && type.bits === 64)) ? [offset] : [],
    );
    this.user = fields.find(({ name }) => name === "uid")?.offset;
    this.cgroup = fields.find(({ name }) => name === "cgroup")?.offset;
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
  #pidAt = 0;
  readonly #columns: EventColumns;
  /** By layout. */
  readonly #named = new Map<number, NamedFields>();
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
    const { writer, before, redact } = options;
    this.#columns = new EventColumns(writer.layouts, blockEvents, {
      sitesBefore: before?.sites,
      markOf: redact === true ? (layout, field) => this.#markOf(layout, field) : undefined,
    });
  }

  /** Of texts that are hashed as many bytes as there is room for, a NUL left out. */
  #markOf(layout: number, { offset }: RowField): number {
    return Math.min((this.#named.get(layout)?.texts.get(offset) ?? 1) - 1, hashBytes);
  }

  get #count(): number {
    return this.#columns.count;
  }

  handler(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    this.#services = services;
    const { size, header = [] } = schema;
    const { when, before } = this.#options;
    if (schema.action.kind === "data" && schema.action.name === whenName) return () => when?.();
    const layout = schema.action.kind === "data" ? Number(schema.action.name) + (before?.layouts ?? 0) : -1;
    this.#named.set(layout, new NamedFields(schema));
    this.#pidAt = headerOffset(header.indexOf("pid"));
    const columns = this.#columns;
    const gather = columns.gather(layout, memory);
    return (offset) => {
      if (this.#stop) return;
      if (columns.count === 0) this.#began = Date.now();
      gather(offset);
      this.#bytes += size;
      if (columns.count === blockEvents || this.#bytes >= blockBytes) this.#write();
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
    for (const group of this.#columns.groups) this.#lose("writer", this.#nameOf(group.siteLow), group.count);
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
    this.#columns.clear();
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
    const columns = this.#columns;
    const stacks = this.#numberStacks(services, names);
    this.#noteNames(names);
    // Where there are losses alone, it is of this moment.
    const [first, last] = this.#count === 0 ? [this.#now(), this.#now()] : timesOf(columns);
    const sites = new Set(columns.groups.map((group) => Number(columns.siteOf(group))));
    const hashes = (text: Uint8Array, room: number): Uint8Array => this.#redactor.hashOf(text, room);
    const raw = writeColumns(columns, stacks, hashes);
    writer.writtenBlock(raw, this.#count, { first, last, sites: [...sites], lost: this.#losses });
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

  /** Users, cgroups and addresses of code. */
  #noteNames(names: NotedNames): void {
    const columns = this.#columns;
    const told = new Set<number>();
    for (const group of columns.groups) {
      const { user, cgroup, words, stacks } = this.#named.get(group.layout)!;
      const differentOf = (offset: number): Uint32Array =>
        columns.differentOf(group, offset) ?? columns.valuesOf(group, offset) ?? new Uint32Array(0);
      if (!told.has(group.layout)) {
        told.add(group.layout);
        if (user !== undefined) for (const uid of new Set(differentOf(user))) names.noteUser(uid);
        if (cgroup !== undefined) {
          const highs = differentOf(cgroup + 4);
          const ids = Array.from(differentOf(cgroup), (low, i) => (BigInt(highs[i]) << 32n) + BigInt(low));
          for (const id of new Set(ids)) names.noteCgroup(id);
        }
      }
      const users = names.knowsCode && stacks.some(({ type }) => type.space === "user");
      const pids = users ? columns.valuesOf(group, this.#pidAt) : undefined;
      for (const word of words) {
        const [lows, highs] = [group.column(word), group.column(word + 4)];
        if (lows !== undefined && highs !== undefined) names.noteNumbers(lows, highs, pids);
      }
    }
  }

  /** Stacks' numbers in the kernel become those of the block. */
  #numberStacks(services: ConsumerServices, names: NotedNames): BigUint64Array[] {
    const stacks: BigUint64Array[] = [];
    const noting = { ...services, symbols: names };
    const knownOf = new Map<number, KnownStacks>();
    for (const group of this.#columns.groups)
      for (const { offset, type } of this.#named.get(group.layout)!.stacks) {
        const map = stackMapOf(type, services);
        let known = knownOf.get(map);
        if (known === undefined) knownOf.set(map, (known = { ids: new DifferentRows(2), numbers: [] }));
        const numberOf = (id: bigint): number => {
          const words = id < 0n ? undefined : services.symbols.stack(id, map);
          return words === undefined ? -1 : stacks.push(BigUint64Array.from(words)) - 1;
        };
        this.#numberStack(group, { offset, type }, known, numberOf, noting);
      }
    return stacks;
  }

  #numberStack(
    group: ColumnGroup,
    { offset, type }: StackField,
    { ids, numbers }: KnownStacks,
    numberOf: (id: bigint) => number,
    noting: ConsumerServices,
  ): void {
    const named = new Set<number>();
    const row = new Uint32Array(2);
    let lost = 0;
    const [lows, highs, pids] = [0, 4, 8].map((part) => group.column(offset + part)!);
    for (let i = 0; i < group.count; i++) {
      row[0] = lows[i];
      row[1] = highs[i];
      const known = ids.numberOf(row);
      const number = (numbers[known] ??= numberOf(idOf(row)));
      if (number < 0) {
        if (idOf(row) !== noStack) lost++;
      } else {
        const name = number * 2 ** 32 + pids[i];
        if (!named.has(name)) {
          named.add(name);
          // Asks for the names that showing it would ask for.
          stackFrames(type, idOf(row), pids[i], noting);
        }
      }
      lows[i] = number;
    }
    if (lost === 0) return;
    this.#lose("stack", this.#nameOf(group.siteLow), lost);
    this.lostStacks += lost;
  }
}

/** The kernel's numbers of stacks, and of each the block's; negative: it was lost, or there was none. */
interface KnownStacks {
  readonly ids: DifferentRows;
  readonly numbers: number[];
}

function idOf([low, high]: Uint32Array): bigint {
  return BigInt.asIntN(64, (BigInt(high) << 32n) + BigInt(low));
}

/**
 * -EFAULT: there was none, as of a kernel's thread in user mode. Other negative numbers are of stacks that the map had no
 * room for (bpf_get_stackid of kernel/bpf/stackmap.c: EEXIST, another stack in its place; ENOMEM).
 */
const noStack = -14n;

/** The least and the greatest. */
function timesOf({ count, timeLow, timeHigh }: EventColumns): readonly [first: bigint, last: bigint] {
  let [first, last] = [0, 0];
  for (let i = 1; i < count; i++) {
    const [low, high] = [timeLow[i], timeHigh[i]];
    if (high > timeHigh[last] || (high === timeHigh[last] && low > timeLow[last])) last = i;
    else if (high < timeHigh[first] || (high === timeHigh[first] && low < timeLow[first])) first = i;
  }
  const time = (i: number): bigint => (BigInt(timeHigh[i]) << 32n) + BigInt(timeLow[i]);
  return [time(first), time(last)];
}
