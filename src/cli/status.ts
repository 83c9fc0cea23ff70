import type { Consumer } from "../session/events.ts";

const everyMilliseconds = 500;

/** A live line on a terminal while a script is silent: how many events it has seen, and that it is alive. */
export class StatusLine implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #consumer: Counting;
  #shown = false;

  constructor(consumer: Counting) {
    this.#consumer = consumer;
    this.#timer = setInterval(() => this.#show(), everyMilliseconds);
    this.#timer.unref();
  }

  /** On a terminal whose output goes elsewhere: lines on the same screen say enough by themselves. */
  static start(consumer: Counting, output: number): StatusLine | undefined {
    return process.stderr.isTTY && (output !== 1 || !process.stdout.isTTY) ? new StatusLine(consumer) : undefined;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#shown) process.stderr.write("\r\x1b[K");
  }

  #show(): void {
    this.#shown = true;
    const lost = this.#consumer.lost > 0 ? `, ${this.#consumer.lost.toLocaleString("en")} lost` : "";
    process.stderr.write(`\r\x1b[Ktracing… ${this.#consumer.events.toLocaleString("en")} events${lost}`);
  }
}

interface Counting extends Consumer { readonly events: number; readonly lost: number }
