// Takes records out of the ring for as long as a session lives: at once when they are few, in batches when they come in floods,
// with turns of Node's event loop in between.
import type { RingBuffer } from "../linux/ring.ts";
import { napLength, Naps } from "./nap.ts";
import { batchRecords, type Records } from "./records.ts";

export interface DrainLoopOptions {
  readonly ring: RingBuffer | undefined;
  readonly ringBytes: number;
  readonly records: Records;
  /** Some records were taken. */
  readonly taken: () => void;
  /** The time has come to look at what the kernel counted. */
  readonly look: () => void;
  /** Whether what it counts can move without an event, as with full maps; else it is only looked at after some. */
  readonly movesAlone: boolean;
  /** For how many milliseconds nobody needs this thread's event loop. */
  readonly free: () => number;
}

/** Full batches in a row while the ring is half full: it is what must not overflow. */
const hurriedBatches = 16;
/** How often the counters of lost events are looked at, in milliseconds. */
const countersEvery = 1000;
/** As long as Node's timers can wait, in milliseconds: a promise alone would not keep the process alive. */
const forever = 0x7fff_ffff;

/** A steady clock in milliseconds. Node loads `performance` and its ten modules when it is first used; this is there. */
function uptime(): number {
  return process.uptime() * 1000;
}

export class DrainLoop {
  readonly #options: DrainLoopOptions;
  #over = false;
  /** Ends a pause without a ring. */
  #wake: (() => void) | undefined;

  constructor(options: DrainLoopOptions) {
    this.#options = options;
  }

  /** Until stop(). */
  async run(): Promise<void> {
    const { ring, ringBytes, records: source, taken, look, movesAlone, free } = this.#options;
    let countersAt = uptime() + countersEvery;
    let moved = true;
    const naps = new Naps(uptime);
    // What has come since the last look that found little.
    let looked = uptime();
    let records = 0;
    let from = ring?.consumed ?? 0;
    let hurried = 0;
    while (!this.#over) {
      const count = source.drain();
      if (count > 0) taken();
      if (this.#over) break;
      const now = uptime();
      if (now >= countersAt) {
        look();
        countersAt = now + countersEvery;
        moved = false;
      }
      moved ||= count > 0;
      records += count;
      // Behind: timers and signals have their turn, and on.
      if (count === batchRecords) {
        if (ring && ring.available() > ringBytes / 2 && ++hurried < hurriedBatches) continue;
        hurried = 0;
        await naps.turn();
        continue;
      }
      if (!ring || count === 0) {
        await this.#idle(movesAlone || moved ? countersAt - now : forever);
        naps.turned();
      } else {
        const freeFor = free();
        const seen = { records, bytes: ring.consumed - from, ringBytes, milliseconds: now - looked, turn: freeFor <= 0 };
        const nap = naps.take(napLength(seen), freeFor, now);
        if (nap) await nap;
      }
      looked = now;
      records = 0;
      from = ring?.consumed ?? 0;
    }
  }

  #idle(milliseconds: number): Promise<void> {
    const { ring } = this.#options;
    if (ring) return ring.wait(milliseconds);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** run() comes back soon; when it has not been called yet, at once. */
  stop(): void {
    this.#over = true;
    this.#options.ring?.cancel();
    this.#wake?.();
  }
}
