// The live line on a terminal: that strobe is alive, and what it has seen.
import { fstatSync } from "node:fs";
import { percent } from "../output/overhead.ts";

const everyMilliseconds = 500;

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
  readonly #started = Date.now();
  #events = 0;
  #shown = false;

  /** `overhead`: what the handlers take of the machine's CPU time, where that is measured. */
  constructor(consumer: Counting, overhead: () => number | undefined) {
    this.#consumer = consumer;
    this.#overhead = overhead;
    consumer.beforeWrite = () => this.#hide();
    this.#timer = setInterval(() => this.#tick(), everyMilliseconds);
    this.#timer.unref();
  }

  /**
   * The line, where there may be a terminal for it: what else is a character device will be seen when there is something to show.
   * `bigint`: see `fromPackage`; what is statted so does not disturb it.
   */
  static start(consumer: Counting, overhead: () => number | undefined): StatusLine | undefined {
    return fstatSync(2, { bigint: true }).isCharacterDevice() ? new StatusLine(consumer, overhead) : undefined;
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
    const seconds = Math.floor((Date.now() - this.#started) / 1000);
    this.#shown = true;
    process.stderr.write(`\r\x1b[K\x1b[2mtracing… ${seconds} s, ${count(events)} events, ${count(lost)} lost${this.#cost()}\x1b[0m`);
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

function count(value: number): string {
  return value.toLocaleString("en");
}
