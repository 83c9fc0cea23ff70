// Sources of sessions without a kernel: records and maps in memory, made up or taken from a session that was live.
import type { Failure } from "../../src/base/failure.ts";
import { RecordedTime } from "../../src/session/replay/recorded-time.ts";
import type { Plan } from "../../src/compiler/plan.ts";
import type { RecordMemory, SymbolResolver, Trouble } from "../../src/session/events.ts";
import type { MapEntries } from "../../src/session/map-entries.ts";
import type { LiveMap } from "../../src/session/maps.ts";
import { memoryMaps } from "../../src/session/host-map.ts";
import type { MapSize, RecordStream, Once, Source, SourceUser } from "../../src/session/source.ts";
import type { Timeline } from "../../src/session/timers.ts";

/** What happened, at a time in milliseconds since the beginning. */
export type Happening = { readonly at: number } & (
  | { readonly record: Uint8Array }
  /** What a map holds from then on. */
  | { readonly map: number; readonly entries: MapEntries }
  | { readonly trouble: Trouble }
);

export interface Captured {
  /** In the order of time. */
  readonly happenings: readonly Happening[];
  /** Milliseconds from the beginning to the end. */
  readonly length: number;
  /** Probes that were attached. */
  readonly attached: number;
  readonly bootToWall: bigint;
  readonly symbols: SymbolResolver;
}

/** Time that stands still unless it is told to go on. */
class OwnTime extends RecordedTime {
  /** Calls the next that is due until then; false when none is. */
  stepUntil(until: number): boolean {
    const due = this.due <= until;
    if (due) this.step();
    else this.reach(until);
    return due;
  }
}

export class MemorySource implements Source, RecordStream {
  readonly timeline = new OwnTime();
  readonly maps: Map<number, LiveMap>;
  readonly records = this;
  readonly bytes: number;
  readonly memory: RecordMemory;
  readonly symbols: SymbolResolver;
  readonly bootToWall: bigint;
  readonly attached: number;
  readonly ends = true;
  readonly firing = true;
  readonly runs = [];
  readonly #captured: Captured;
  #next = 0;
  #troubles: Trouble[] = [];
  #user: SourceUser | undefined;
  #stopped = false;

  constructor(plan: Plan, captured: Captured) {
    this.#captured = captured;
    this.symbols = captured.symbols;
    this.bootToWall = captured.bootToWall;
    this.attached = captured.attached;
    const size = Math.max(8, ...plan.schemas.map((schema) => schema.size));
    const buffer = new ArrayBuffer(size);
    this.memory = {
      bytes: new Uint8Array(buffer),
      view: new DataView(buffer),
      words: new Uint32Array(buffer, 0, size >> 2),
    };
    this.bytes = captured.happenings.length * 16;
    this.maps = memoryMaps(plan.maps);
  }

  readonly surroundings = {
    builtin: (name: string): bigint =>
      name.startsWith("nsecs") || name === "elapsed" ? BigInt(Math.round(this.timeline.now() * 1e6)) : 0n,
    comm: (): Uint8Array => new Uint8Array(16),
  };

  async prepare(user: SourceUser): Promise<void> {
    this.#user = user;
  }

  once(): readonly [] {
    return [];
  }
  attach(): void {}
  go(): void {}

  async run(): Promise<void> {
    const user = this.#user!;
    const { happenings, length } = this.#captured;
    while (!this.#stopped) {
      const at = happenings[this.#next]?.at ?? length;
      if (this.timeline.stepUntil(at)) continue;
      if (this.#next === happenings.length) user.sourceEnded();
      user.take();
      user.flush();
      user.look();
      if (user.busy) await user.settle();
    }
  }

  /** What has happened by now. */
  drain(handle: (offset: number, length: number) => void, budget: number): number {
    let count = 0;
    for (const { happenings } = this.#captured; count < budget; this.#next++) {
      const one = happenings[this.#next];
      if (one === undefined || one.at > this.timeline.now()) break;
      if ("trouble" in one) this.#troubles.push(one.trouble);
      else if ("map" in one) {
        const map = this.maps.get(one.map)!;
        map.clear();
        for (const [key, value] of one.entries) map.store(key, value);
      } else {
        this.memory.bytes.set(one.record);
        count++;
        handle(0, one.record.length);
      }
    }
    return count;
  }

  stop(): void {
    this.#stopped = true;
  }

  async detach(): Promise<void> {}

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

/** Notes what a source hands out. */
export class NotingSource implements Source {
  readonly happenings: Happening[] = [];
  readonly records: RecordStream | undefined;
  readonly maps = new Map<number, LiveMap>();
  readonly #of: Source;
  readonly #began: number;
  /** The record that is being handled. */
  #handled: number | undefined;

  constructor(source: Source) {
    this.#of = source;
    this.#began = source.timeline.now();
    const { records } = source;
    this.records = records && {
      memory: records.memory,
      bytes: records.bytes,
      drain: (handle, budget) =>
        records.drain((offset, length) => {
          this.#handled = this.happenings.length;
          this.#note({ record: records.memory.bytes.slice(offset, offset + length) });
          handle(offset, length);
          this.#handled = undefined;
        }, budget),
    };
    for (const [index, map] of source.maps) {
      const noted: LiveMap = Object.create(map, {
        map: { value: map.map },
        entries: {
          value: () => {
            const entries = map.entries();
            this.#note({ map: index, entries }, this.#handled);
            return entries;
          },
        },
      }) as LiveMap;
      for (const name of ["lookup", "store", "add", "aggregate", "delete", "length", "clear", "zero"] as const)
        Object.defineProperty(noted, name, { value: map[name].bind(map) });
      this.maps.set(index, noted);
    }
  }

  /** `before`: what a record asks for is there before it. */
  #note(
    what: { record: Uint8Array } | { map: number; entries: MapEntries } | { trouble: Trouble },
    before = this.happenings.length,
  ): void {
    this.happenings.splice(before, 0, { at: this.#of.timeline.now() - this.#began, ...what });
  }

  get captured(): Captured {
    const { attached, bootToWall, symbols } = this.#of;
    return { happenings: this.happenings, length: this.happenings.at(-1)?.at ?? 0, attached, bootToWall, symbols };
  }

  losses(): readonly Trouble[] {
    const troubles = this.#of.losses();
    for (const trouble of troubles) this.#note({ trouble });
    return troubles;
  }

  get symbols(): SymbolResolver {
    return this.#of.symbols;
  }
  get bootToWall(): bigint {
    return this.#of.bootToWall;
  }
  get timeline(): Timeline {
    return this.#of.timeline;
  }
  get surroundings(): Source["surroundings"] {
    return this.#of.surroundings;
  }
  get attached(): number {
    return this.#of.attached;
  }
  get childPid(): number | undefined {
    return this.#of.childPid;
  }
  get ends(): boolean {
    return this.#of.ends;
  }
  get runs(): Source["runs"] {
    return this.#of.runs;
  }
  get firing(): boolean {
    return this.#of.firing;
  }
  prepare(user: SourceUser): Promise<void> {
    return this.#of.prepare(user);
  }
  once(when: "begin" | "end"): readonly Once[] {
    return this.#of.once(when);
  }
  attach(): void {
    this.#of.attach();
  }
  go(): void {
    this.#of.go();
  }
  run(): Promise<void> {
    return this.#of.run();
  }
  stop(): void {
    this.#of.stop();
  }
  detach(): Promise<void> {
    return this.#of.detach();
  }
  warnings(): readonly string[] {
    return this.#of.warnings();
  }
  failed(watch: number): void {
    this.#of.failed(watch);
  }
  watch(asked: Parameters<Source["watch"]>[0]): void {
    this.#of.watch(asked);
  }
  unwatch(address: bigint, pid: number): void {
    this.#of.unwatch(address, pid);
  }
  stats(): ReturnType<Source["stats"]> {
    return this.#of.stats();
  }
  largestMaps(): readonly MapSize[] {
    return this.#of.largestMaps();
  }
  noRoomFor(plan: Plan): Failure | undefined {
    return this.#of.noRoomFor(plan);
  }
  extend(plan: Plan): void {
    this.#of.extend(plan);
  }
  [Symbol.dispose](): void {
    this.#of[Symbol.dispose]();
  }
}
