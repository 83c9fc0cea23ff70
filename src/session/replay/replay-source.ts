// A recording as a session's source: its events are handed to the plan's handlers, which run in this process, one event
// after the other, and intervals in the recording's time.
import { Speculations } from "../speculations.ts";
import { WrittenMemory } from "../written-memory.ts";
import type { Plan } from "../../compiler/plan.ts";
import { evaluate } from "../../compiler/javascript/evaluate.ts";
import type { HostFunction } from "../../compiler/runtime.ts";
import { BlockRoom } from "../../recordings/block-room.ts";
import { lossText, type BlockHead, type EventRecording, type RecordedLoss } from "../../recordings/contents.ts";
import { fieldBytes, type EventBlock } from "../../recordings/layout.ts";
import type { RecordMemory, Trouble } from "../events.ts";
import { HandedRecords } from "../handed-records.ts";
import { EventRuntime, Interrupted } from "../host-runtime.ts";
import type { LiveMap } from "../maps.ts";
import { memoryMaps } from "../host-map.ts";
import type { MapSize, RecordStream, Source, SourceUser, Surroundings } from "../source.ts";
import { RecordedEvent } from "./recorded-event.ts";
import { RecordedSymbols } from "./recorded-symbols.ts";
import { RecordedTime } from "./recorded-time.ts";
import { sessions } from "../../messages/on-demand.ts";

export interface ReplayOptions {
  /** Nanoseconds since the recording's beginning: only events from the one on, and before the other. */
  readonly from?: bigint | undefined;
  readonly to?: bigint | undefined;
  /** See SessionOptions. */
  readonly interrupted?: (() => boolean) | undefined;
}

/** Events taken before Node's event loop gets a turn: some milliseconds of work. */
const batchEvents = 4096;

/** A handler and what it reads of a row. */
interface Handler {
  readonly run: HostFunction;
  readonly cookie: bigint;
}

/** What handlers read of rows at a site: parts, or anything. */
type Reads = readonly (readonly [offset: number, size: number])[] | undefined;

interface Position {
  readonly block: EventBlock;
  readonly views: readonly DataView[];
  /** Of rows that are all at one site their handlers; null of others. */
  readonly handlers: readonly (readonly Handler[] | undefined | null)[];
  /** Of each kind of row, where its time is, and its bytes. */
  readonly times: readonly number[];
  readonly sizes: readonly number[];
  /** Of each kind of row, where the next one is. */
  readonly next: number[];
  index: number;
}

export class ReplaySource implements Source, RecordStream {
  readonly timeline = new RecordedTime();
  readonly maps: Map<number, LiveMap>;
  readonly records = this;
  readonly bytes = Number.MAX_SAFE_INTEGER;
  readonly symbols: RecordedSymbols;
  readonly surroundings: Surroundings;
  readonly bootToWall: bigint;
  readonly attached: number;
  readonly childPid: number | undefined;
  readonly ends = true;
  readonly firing = true;
  readonly runs = [];
  readonly #recording: EventRecording;
  /** By the recording's site. */
  readonly #handlers: (readonly Handler[] | undefined)[] = [];
  /** Names of probes that no handler is at. */
  readonly #unasked: ReadonlySet<string>;
  readonly #start: bigint;
  readonly #from: bigint;
  readonly #to: bigint;
  /** Halves of the beginning, and nanoseconds behind it that `from` and `to` are. */
  readonly #startLow: number;
  readonly #startHigh: number;
  readonly #after: number;
  readonly #before: number;
  readonly written = new WrittenMemory();
  readonly speculations = new Speculations();
  readonly #event: RecordedEvent;
  readonly #runtime: EventRuntime;
  readonly #blocks: Iterator<{ head: BlockHead; block: EventBlock }>;
  #position: Position | undefined;
  #user: SourceUser | undefined;
  #attached = false;
  #stopped = false;
  #ended = false;
  #troubles: Trouble[] = [];
  readonly #records: HandedRecords;

  get memory(): RecordMemory {
    return this.#records.memory;
  }

  /** @throws RecordingError */
  constructor(plan: Plan, recording: EventRecording, options: ReplayOptions) {
    this.#recording = recording;
    const { origin } = recording;
    this.#start = BigInt(origin.clock.boot);
    this.bootToWall = BigInt(origin.clock.wall) - this.#start;
    this.#from = this.#start + (options.from ?? 0n);
    this.#to = options.to === undefined ? 1n << 64n : this.#start + options.to;
    this.#startLow = Number(this.#start & 0xffff_ffffn);
    this.#startHigh = Number(this.#start >> 32n);
    this.#after = options.from === undefined ? -Infinity : Number(options.from);
    this.#before = options.to === undefined ? Infinity : Number(options.to);
    this.childPid = origin.childPid === 0 ? undefined : origin.childPid;
    this.maps = memoryMaps(plan.maps);
    this.symbols = new RecordedSymbols(recording.symbols(), origin.parts);
    this.#records = new HandedRecords(plan.schemas);
    this.#event = new RecordedEvent({
      childPid: BigInt(origin.childPid),
      start: this.#start,
      bootToMonotonic: BigInt(origin.clock.monotonic) - this.#start,
      bootToWall: this.bootToWall,
      take: (stack, limit, part) => this.symbols.take(stack, limit, part),
    });
    // What runs in strobe itself has no event: its time is the recording's.
    this.surroundings = this.#event.outside(() => this.#start + BigInt(Math.round(this.timeline.now() * 1e6)));
    this.#runtime = new EventRuntime(this.#event, {
      maps: this.maps,
      surroundings: this.#event,
      written: this.written,
      speculations: this.speculations,
      emit: (_schema, record) => this.#records.put(record),
      failed: () => {},
      shown: (type, bytes) => this.#user?.shown(type, bytes) ?? "",
      rest: () => {
        this.#user?.flush();
        return options.interrupted?.() ?? false;
      },
    });
    let attached = 0;
    const reads: Reads[][] = [];
    for (const { sites, source, row, reads: those } of plan.events ?? []) {
      const run = evaluate(source);
      for (const site of sites) {
        const { recorded } = site.data as { readonly recorded: number };
        const cookie = BigInt(Math.max(0, plan.probeNames.indexOf(site.name)));
        (this.#handlers[recorded] as Handler[] | undefined) ??= [];
        (this.#handlers[recorded] as Handler[]).push({ run, cookie });
        (reads[recorded] ??= []).push(those);
        this.#event.describe(recording.sites[recorded].layout, row);
        attached++;
      }
    }
    this.attached = attached;
    const asked = new Set(recording.sites.flatMap(({ name }, site) => (this.#handlers[site] ? [name] : [])));
    this.#unasked = new Set(recording.sites.map(({ name }) => name).filter((name) => !asked.has(name)));
    const blocks = recording.blocks(
      ({ first, last, sites, lost }) => {
        if (last < this.#from || first >= this.#to) return false;
        this.#lose(lost, first);
        return sites.some((site) => this.#handlers[site] !== undefined);
      },
      (layout, field, site) => {
        const only = this.#event.onlySite(layout) ?? Number(BigInt.asUintN(32, site));
        const asked = reads[only];
        if (asked === undefined) return false;
        if (field.offset === recording.layouts[layout].time) return true;
        const end = field.offset + fieldBytes(field);
        return asked.some(
          (parts) => parts === undefined || parts.some(([at, size]) => at < end && field.offset < at + size),
        );
      },
      { from: this.#from, to: this.#to },
      new BlockRoom(),
    );
    this.#blocks = blocks[Symbol.iterator]();
  }

  /** Of probes that the script asks of; of names that are none's, whoever may have had them. */
  #lose(lost: readonly RecordedLoss[], before: bigint): void {
    for (const loss of lost) {
      const { cause, probe, count } = loss;
      if (this.#unasked.has(probe)) continue;
      if (cause === "ring") this.#troubles.push({ kind: "lost", probe, count });
      const at = (Number((before - this.#start) / 1_000_000n) / 1000).toFixed(3);
      this.#troubles.push({
        kind: "message",
        text: `WARNING: ${sessions().lostInRecording(lossText(loss), cause, at).message}`,
      });
    }
  }

  async prepare(user: SourceUser): Promise<void> {
    this.#user = user;
  }

  once(): readonly [] {
    return [];
  }

  attach(): void {
    this.#attached = true;
  }

  go(): void {}

  async run(): Promise<void> {
    const user = this.#user;
    if (user === undefined) return;
    while (!this.#stopped) {
      const next = this.#peek();
      if (next === undefined && !this.#records.waiting) {
        this.#finish();
        return;
      }
      const { due } = this.timeline;
      if (next !== undefined && due <= next) {
        this.timeline.step();
      } else {
        user.take();
      }
      user.flush();
      user.look();
      if (user.busy) await user.settle();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** What is due until the recording's end. */
  #finish(): void {
    const { end, span } = this.#recording;
    const last = end === undefined ? (span?.last ?? this.#start) : BigInt(end.clock.boot);
    const until = this.#milliseconds(last < this.#to ? last : this.#to);
    while (!this.#stopped && this.timeline.due <= until) this.timeline.step();
    this.timeline.reach(until);
    this.#ended = true;
    if (!this.#stopped) this.#user?.sourceEnded();
  }

  /** Since the beginning. */
  #milliseconds(time: bigint): number {
    return Number(time - this.#start) / 1e6;
  }

  // ── records ──

  /** Events whose time has come, one after the other: their handlers run here, and what they say is handed on. */
  drain(handle: (offset: number, length: number) => void, budget: number): number {
    const due = this.timeline.due;
    let left = batchEvents;
    return this.#records.drain(handle, budget, () => {
      if (!this.#attached) return false;
      const before = left;
      const { said } = this.#records;
      // Until one of them says something.
      while (left > 0 && !this.#stopped && this.#records.said === said) {
        const time = this.#peek();
        if (time === undefined || time >= due) break;
        left--;
        this.timeline.reach(time);
        this.#next();
      }
      return left < before;
    });
  }

  // ── events ──

  /** Nanoseconds from the beginning to a row's time: a double has them exactly for a hundred days. */
  #since(view: DataView, at: number): number {
    return (view.getUint32(at + 4, true) - this.#startHigh) * 2 ** 32 + (view.getUint32(at, true) - this.#startLow);
  }

  /** The time of the next event that a handler wants, in milliseconds since the beginning. */
  #peek(): number | undefined {
    for (;;) {
      const at = this.#position;
      if (at === undefined || at.index === at.block.count) {
        if (this.#ended) return undefined;
        const { value, done } = this.#blocks.next();
        if (done === true) {
          this.#ended = true;
          this.#position = undefined;
          return undefined;
        }
        const { block } = value as { block: EventBlock };
        this.#position = {
          block,
          views: block.rows.map(({ bytes }) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
          handlers: block.rows.map(({ layout, site }) => {
            const only =
              this.#event.onlySite(layout) ?? (site === undefined ? undefined : Number(BigInt.asUintN(32, site)));
            return only === undefined ? null : this.#event.knows(layout) ? this.#handlers[only] : undefined;
          }),
          times: block.rows.map(({ layout }) => this.#recording.layouts[layout].time),
          sizes: block.rows.map(({ layout }) => this.#recording.layouts[layout].size),
          next: block.rows.map(() => 0),
          index: 0,
        };
        continue;
      }
      const which = at.block.order[at.index];
      const offset = at.next[which];
      if (this.#handlersAt(at, which, offset) !== undefined) {
        const time = this.#since(at.views[which], offset + at.times[which]);
        if (time >= this.#after && time < this.#before) return time / 1e6;
      }
      at.next[which] += at.sizes[which];
      at.index++;
    }
  }

  #handlersAt(at: Position, which: number, offset: number): readonly Handler[] | undefined {
    const known = at.handlers[which];
    if (known !== null) return known;
    const site = this.#event.siteOf(at.block.rows[which].layout, at.views[which], offset);
    return site === undefined ? undefined : this.#handlers[site];
  }

  #next(): void {
    const at = this.#position;
    if (at === undefined) return;
    const which = at.block.order[at.index];
    const { layout } = at.block.rows[which];
    const size = at.sizes[which];
    const offset = at.next[which];
    at.next[which] += size;
    at.index++;
    const handlers = this.#handlersAt(at, which, offset);
    if (handlers === undefined) return;
    this.#event.take(layout, at.block, at.views[which], which, offset, size, at.times[which]);
    for (let i = 0; i < handlers.length; i++) {
      if (this.#stopped) return;
      this.#event.cookie = handlers[i].cookie;
      try {
        handlers[i].run(this.#runtime);
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
      }
    }
  }

  // ── the end ──

  stop(): void {
    this.#stopped = true;
  }

  async detach(): Promise<void> {
    this.#attached = false;
  }

  losses(): readonly Trouble[] {
    return this.#troubles.splice(0);
  }

  warnings(): readonly string[] {
    return [];
  }

  failed(): void {}
  watch(): void {}
  unwatch(): void {}
  noRoomFor(): undefined {
    return undefined;
  }
  extend(): void {}

  stats(): undefined {
    return undefined;
  }

  largestMaps(): readonly MapSize[] {
    return [];
  }

  [Symbol.dispose](): void {
    this.maps.clear();
  }
}
