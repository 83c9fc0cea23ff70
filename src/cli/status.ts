// The live line on a terminal: that strobe is alive, what it has printed, and what the fullest maps hold.
import { fstatSync } from "node:fs";
import { decorates } from "../linux/ffi.ts";
import { percent } from "../output/overhead.ts";
import type { MapSize } from "../session/source.ts";

const everyMilliseconds = 500;
/** How often it is looked at what maps hold, in ticks. */
const mapsEvery = 2;

/** What the line counts, and whom it must not disturb. */
export interface Counting {
  readonly events: number;
  readonly lost: number;
  /** Called before anything is written: the line makes room. */
  beforeWrite: (() => void) | undefined;
}

/** Shown on the terminal while a script has nothing to say; gone before it says something, and at the end. */
export class StatusLine implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #consumer: Counting;
  readonly #overhead: () => number | undefined;
  readonly #largestMaps: () => readonly MapSize[] | undefined;
  readonly #started = Date.now();
  #events = 0;
  #maps: readonly MapSize[] = [];
  #ticksToMaps = 0;
  #shown = false;

  /** `overhead`: what the handlers take of the machine's CPU time, where that is measured. */
  constructor(
    consumer: Counting,
    overhead: () => number | undefined,
    largestMaps: () => readonly MapSize[] | undefined,
  ) {
    this.#consumer = consumer;
    this.#largestMaps = largestMaps;
    this.#overhead = overhead;
    consumer.beforeWrite = () => this.#hide();
    this.#timer = setInterval(() => this.#tick(), everyMilliseconds);
    this.#timer.unref();
  }

  /**
   * The line, where there may be a terminal for it: what else is a character device will be seen when there is
   * something to show. `bigint`: see `fromPackage`; what is statted so does not disturb it.
   */
  static start(...what: ConstructorParameters<typeof StatusLine>): StatusLine | undefined {
    return fstatSync(2, { bigint: true }).isCharacterDevice() && decorates() ? new StatusLine(...what) : undefined;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#consumer.beforeWrite = undefined;
    this.#hide();
  }

  #tick(): void {
    const { events, lost } = this.#consumer;
    const silent = events === this.#events;
    this.#events = events;
    // Node makes a stream for the answer, which takes milliseconds: not before the first event.
    if (!silent || !process.stderr.isTTY) return;
    if (this.#ticksToMaps-- === 0) {
      this.#maps = this.#largestMaps() ?? this.#maps;
      this.#ticksToMaps = mapsEvery - 1;
    }
    const seconds = Math.floor((Date.now() - this.#started) / 1000);
    this.#shown = true;
    // What is counted in maps is no reason to say that nothing happened.
    const printed = events > 0 || this.#maps.length === 0 ? [`${of(events, "event")} printed`] : [];
    const line =
      [`tracing… ${seconds} s`, ...printed, ...this.#maps.map(mapText), `${count(lost)} lost`].join(", ") +
      this.#cost();
    // A line that goes on in the next cannot be wiped.
    const { columns } = process.stderr;
    process.stderr.write(`\r\x1b[K\x1b[2m${columns > 1 ? line.slice(0, columns - 1) : line}\x1b[0m`);
  }

  #cost(): string {
    const share = this.#overhead();
    return share === undefined ? "" : `, ${percent(share)} of the CPUs`;
  }

  #hide(): void {
    if (!this.#shown) return;
    this.#shown = false;
    process.stderr.write("\r\x1b[K");
  }
}

function mapText(size: MapSize): string {
  const map = size.name;
  switch (size.kind) {
    case "keys":
      return size.keys === undefined ? `${map} has keys` : `${map}: ${of(size.keys, "key")}`;
    case "value":
      return `${map}: ${count(size.value)}`;
    case "values":
      return `${map}: ${of(size.values, "value")}`;
    case "set":
      return `${map} is set`;
  }
}

function of(value: number | bigint, thing: string): string {
  return `${count(value)} ${thing}${Number(value) === 1 ? "" : "s"}`;
}

function count(value: number | bigint): string {
  return value.toLocaleString("en");
}
