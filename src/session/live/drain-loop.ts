// Takes records out of the ring for as long as a session lives: at once when they are few, in batches when they come in
// floods, with turns of Node's event loop in between.
import type { RingBuffer } from "../../linux/bpf/ring.ts";
import { batchRecords } from "../records.ts";
import type { SourceUser } from "../source.ts";
import { uptime } from "./clock.ts";
import { pauseLength, Pauses } from "./pauses.ts";

export interface DrainLoopOptions {
  readonly ring: RingBuffer | undefined;
  readonly user: SourceUser;
  /** Whether losses can come without an event, as with full maps; else they are only looked at after some. */
  readonly movesAlone: boolean;
  /** Whether the thread may sleep, and the event loop with it. */
  readonly mayThreadSleep: boolean;
}

/** Full batches in a row while the ring is half full: it is what must not overflow. */
const hurriedBatches = 16;
/** How often the counters of lost events are looked at, in milliseconds. */
const countersEvery = 1000;
/**
 * Milliseconds that the thread itself waits for the next record, since it is woken for less; then the event loop does.
 */
const linger = 50;
/** As long as Node's timers can wait, in milliseconds: a promise alone would not keep the process alive. */
const forever = 0x7fff_ffff;

export class DrainLoop {
  readonly #options: DrainLoopOptions;
  readonly #pauses = new Pauses(uptime);
  #over = false;
  /** Ends a pause without a ring. */
  #wake: (() => void) | undefined;
  #countersAt = 0;
  /** Whether there was an event since the counters were looked at. */
  #moved = true;
  /** When the ring was last emptied, what has come since, and where that began. */
  #looked = 0;
  #records = 0;
  #from = 0;
  /** Full batches in a row. */
  #hurried = 0;
  /** Whether the last rest was for the next record to come. */
  #awaited = false;

  constructor(options: DrainLoopOptions) {
    this.#options = options;
  }

  /** Until stop(). */
  async run(): Promise<void> {
    this.#looked = uptime();
    this.#countersAt = this.#looked + countersEvery;
    this.#from = this.#options.ring?.consumed ?? 0;
    while (!this.#over) {
      const rest = this.#pass();
      if (rest) await rest;
    }
  }

  /**
   * Takes what has come, and rests; gives what to wait for, where that is not done. (A function of its own, which V8
   * compiles.)
   */
  #pass(): Promise<void> | undefined {
    const { ring, user, mayThreadSleep } = this.#options;
    const count = user.take();
    if (count > 0) user.flush();
    if (this.#over) return undefined;
    if (user.busy) return this.#settled();
    const now = uptime();
    if (now >= this.#countersAt) this.#look(now);
    this.#moved ||= count > 0;
    this.#records += count;
    const free = mayThreadSleep ? user.untilNeeded() : 0;
    if (count === batchRecords) return this.#goOn(free, now);
    const rest = ring ? this.#rest(ring, count, free, now) : this.#idle(now);
    this.#looked = now;
    this.#records = 0;
    this.#from = ring?.consumed ?? 0;
    return rest;
  }

  /** Behind: what else there is to do has its turn, and on. */
  #goOn(free: number, now: number): Promise<void> | undefined {
    const { ring } = this.#options;
    if (ring && ring.available() > ring.bytes / 2 && ++this.#hurried < hurriedBatches) return undefined;
    this.#hurried = 0;
    return this.#pauses.take(0, free, now);
  }

  #rest(ring: RingBuffer, count: number, free: number, now: number): Promise<void> | undefined {
    const awaited = this.#awaited;
    const milliseconds = now - this.#looked;
    if (count > 0) {
      const { patience } = this.#options.user;
      const bytes = ring.consumed - this.#from;
      const ringBytes = ring.bytes;
      const pause = pauseLength({ records: this.#records, bytes, ringBytes, milliseconds, turn: free <= 0, patience });
      // One that came alone is no reason to sleep: the next one is as welcome.
      if (!awaited || milliseconds < pause) {
        this.#awaited = false;
        return this.#pauses.take(pause, free, now);
      }
    }
    this.#awaited = true;
    // For a short while in the thread; when that was for nothing, in the event loop.
    if (free < linger || (awaited && count === 0)) return this.#idle(now);
    return this.#pauses.take(linger, free, now, ring.descriptor);
  }

  /** A command runs, and the event loop with it. */
  async #settled(): Promise<void> {
    await this.#options.user.settle();
    this.#pauses.turned();
  }

  #look(now: number): void {
    this.#options.user.look();
    this.#countersAt = now + countersEvery;
    this.#moved = false;
  }

  async #idle(now: number): Promise<void> {
    const { ring, movesAlone } = this.#options;
    const milliseconds = movesAlone || this.#moved ? this.#countersAt - now : forever;
    await (ring ? ring.wait(milliseconds) : this.#pause(milliseconds));
    this.#pauses.turned();
  }

  #pause(milliseconds: number): Promise<void> {
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
    this.#pauses.stop();
    this.#options.ring?.cancel();
    this.#wake?.();
  }
}
