// Histograms that the kernel keeps for handlers (`hist:` triggers): read when somebody looks at a map, and added to it by
// running the handler once for each combination that came since.
import { aggregateWords } from "../../language/aggregations/table.ts";
import { addRepeated, addTotal } from "../../language/aggregations/repeated.ts";
import {
  histogramWords,
  readHistogram,
  type HistogramCounts,
  type HistogramEntry,
  type HistogramWords,
} from "../../compiler/tracefs/histogram-words.ts";
import { sumsAt, type TracefsProgram } from "../../compiler/tracefs/tracefs-plan.ts";
import { evaluate } from "../../compiler/javascript/evaluate.ts";
import type { HostFunction } from "../../compiler/runtime.ts";
import type { IrMap } from "../../compiler/ir/ir.ts";
import { LinuxError } from "../../linux/error.ts";
import type { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import type { TracepointField } from "../../machine/system.ts";
import { EventRuntime, type HostServices } from "../host-runtime.ts";
import type { MapEntries } from "../map-entries.ts";
import { aggregateOf, type LiveMap } from "../maps.ts";
import { uptime } from "../live/clock.ts";
import type { NamedEvent } from "./event-places.ts";
import type { Lives } from "./lives.ts";
import type { TracefsEvent } from "./tracefs-event.ts";

/** Of one handler at one event. */
interface Counting {
  readonly probe: string;
  readonly event: NamedEvent;
  readonly histogram: NonNullable<TracefsProgram["histogram"]>;
  readonly words: HistogramWords;
  readonly run: HostFunction;
  readonly cookie: bigint;
  /** What was added already, by keys. */
  readonly known: Map<string, HistogramEntry>;
  dropped: number;
}

/** Milliseconds within which maps that are read are of the same moment. */
const moment = 5;

export class KernelHistograms {
  readonly #instance: TraceInstance;
  readonly #lives: Lives;
  readonly #event: TracefsEvent;
  readonly #runtime: CountedRuntime;
  readonly #row = new Uint8Array(sumsAt + 64);
  readonly #view = new DataView(this.#row.buffer);
  #all: Counting[] = [];
  /** What the kernel had counted in the end. */
  #last: readonly (HistogramCounts | undefined)[] | undefined;
  #read = -Infinity;
  /** Histograms that could not be read. */
  unread = 0;

  /** `services.maps`: the maps themselves, which are not read first. */
  constructor(instance: TraceInstance, lives: Lives, event: TracefsEvent, services: HostServices) {
    this.#instance = instance;
    this.#lives = lives;
    this.#event = event;
    this.#runtime = new CountedRuntime(event, services);
  }

  /** `made`: it was made before. @returns the trigger, or why the kernel does not count for this handler */
  add(
    asked: Pick<Counting, "probe" | "event" | "histogram" | "cookie">,
    fields: readonly TracepointField[],
    childPid: bigint,
    made: boolean,
  ): { readonly trigger: string } | { readonly refused: string } {
    const { event, histogram } = asked;
    const words = histogramWords(histogram, fields, childPid);
    if (words === undefined) return { refused: "no field has what it counts by" };
    try {
      if (!made && event.category === "synthetic") this.#instance.link(event.category, event.name, words.trigger);
      else if (!made) this.#instance.trigger(event.category, event.name, words.trigger);
      else if (readHistogram(this.#instance.readFile(histogramFile(event)), words) === undefined)
        return { refused: "it was not made at boot" };
    } catch (error) {
      if (!(error instanceof LinuxError)) throw error;
      return { refused: error.message };
    }
    this.#all.push({ ...asked, words, run: evaluate(histogram.source), known: new Map(), dropped: 0 });
    return words;
  }

  /** The map as it is read: with what the kernel has counted until then. */
  over(map: LiveMap): LiveMap {
    return new CountedMap(map, () => this.#pull());
  }

  #pull(): void {
    if (this.#all.length === 0) return;
    if (this.#last !== undefined) {
      const last = this.#last;
      this.#all.splice(0).forEach((one, i) => this.#add(one, last[i], true));
      return;
    }
    const now = uptime();
    if (now - this.#read < moment) return;
    this.#read = now;
    for (const one of this.#all) this.#add(one, this.#counts(one), false);
  }

  #counts({ event, words }: Counting): HistogramCounts | undefined {
    return readHistogram(this.#instance.readFile(histogramFile(event)), words);
  }

  /** Reads what the kernel has counted for the last time. */
  end(): readonly { readonly probe: string; readonly count: number }[] {
    if (this.#last !== undefined) return [];
    this.#last = this.#all.map((one) => this.#counts(one));
    this.unread = this.#last.filter((counts) => counts === undefined).length;
    return this.#all.flatMap(({ probe }, i) => {
      const count = this.#last?.[i]?.dropped ?? 0;
      return count === 0 ? [] : [{ probe, count }];
    });
  }

  /** `whole`: whose a thread was that nobody knows will not be learned any more. */
  #add(one: Counting, counts: HistogramCounts | undefined, whole: boolean): void {
    if (counts === undefined) return;
    for (const entry of counts.entries) {
      const name = entry.keys.join();
      const before = one.known.get(name);
      const count = entry.count - (before?.count ?? 0n);
      if (count === 0n) continue;
      if (!this.#place(one, entry, before, whole)) continue;
      one.known.set(name, entry);
      this.#event.cookie = one.cookie;
      this.#runtime.times = count;
      one.run(this.#runtime);
    }
  }

  /** The event as the handler looks at it. @returns false where it is to be asked again */
  #place({ histogram }: Counting, entry: HistogramEntry, before: HistogramEntry | undefined, whole: boolean): boolean {
    let thread = 0;
    let cpu = 0;
    this.#row.fill(0);
    histogram.keys.forEach((key, i) => {
      if (key === "thread") thread = Number(entry.keys[i]);
      else if (key === "cpu") cpu = Number(entry.keys[i]);
      else {
        const bytes = new DataView(new ArrayBuffer(8));
        bytes.setBigUint64(0, key.powers === true ? leastIn(entry.keys[i]) : entry.keys[i], true);
        this.#row.set(new Uint8Array(bytes.buffer, 0, key.size), key.offset);
      }
    });
    entry.sums.forEach((sum, i) => {
      this.#view.setBigUint64(sumsAt + i * 8, BigInt.asUintN(64, sum - (before?.sums[i] ?? 0n)), true);
    });
    const life = this.#lives.past(thread, cpu) ?? (whole ? this.#lives.of(thread, cpu) : undefined);
    if (life === undefined) return false;
    const head = { of: 0, cpu, time: 0, page: this.#row, view: this.#view, offset: 0, length: this.#row.length };
    this.#event.at(head, "tracepoint", thread, life);
    return true;
  }
}

/** Of the numbers that the kernel counts at a power of two: those above the one before. */
function leastIn(power: bigint): bigint {
  return power === 0n ? 1n : (1n << (power - 1n)) + 1n;
}

function histogramFile({ category, name }: NamedEvent): string {
  return `events/${category}/${name}/hist`;
}

/** Adds what a handler adds as often as its event came. */
class CountedRuntime extends EventRuntime {
  times = 1n;
  readonly #maps: HostServices["maps"];

  constructor(event: TracefsEvent, services: HostServices) {
    super(event, services);
    this.#maps = services.maps;
  }

  /** `weight`: 0, where the value is the sum of all. */
  override aggregate(map: number, key: Uint8Array | null, value: bigint, _time?: bigint, weight?: bigint): void {
    const live = this.#maps.get(map)!;
    const type = aggregateOf(live.map);
    const bytes = live.lookup(key);
    const words =
      bytes === undefined ? new BigUint64Array(aggregateWords(type)) : new BigUint64Array(bytes.slice().buffer);
    (weight === 0n ? addTotal : addRepeated)(type, words, value, this.times);
    live.store(key, new Uint8Array(words.buffer));
  }

  override mapAdd(map: number, key: Uint8Array | null, delta: bigint): bigint {
    return super.mapAdd(map, key, delta * this.times);
  }
}

class CountedMap implements LiveMap {
  readonly #map: LiveMap;
  readonly #pull: () => void;

  constructor(map: LiveMap, pull: () => void) {
    this.#map = map;
    this.#pull = pull;
  }

  get map(): IrMap {
    return this.#map.map;
  }

  #read(): LiveMap {
    this.#pull();
    return this.#map;
  }

  lookup(key: Uint8Array | null): Uint8Array | undefined {
    return this.#read().lookup(key);
  }

  store(key: Uint8Array | null, value: Uint8Array, asks?: boolean): void {
    this.#read().store(key, value, asks);
  }

  add(key: Uint8Array | null, delta: bigint): bigint {
    return this.#read().add(key, delta);
  }

  aggregate(key: Uint8Array | null, value: bigint, time?: bigint, weight?: bigint): void {
    this.#map.aggregate(key, value, time, weight);
  }

  delete(key: Uint8Array | null): boolean {
    return this.#read().delete(key);
  }

  length(): number {
    return this.#read().length();
  }

  clear(): void {
    this.#read().clear();
  }

  zero(): void {
    this.#read().zero();
  }

  entries(): MapEntries {
    return this.#read().entries();
  }
}
