// How long the ring is left alone between two looks at it. A wake-up costs as much as several hundred lines, so
// that under load they are gathered; but a person waits for lines that come one by one, and the ring must not fill.
import { sleepInThread } from "../../linux/sleep.ts";

export interface Look {
  /** What the last look found, and since when it had gathered. */
  readonly records: number;
  readonly bytes: number;
  readonly milliseconds: number;
  readonly ringBytes: number;
  /** Whether the event loop has a turn in between, which costs several times as much. */
  readonly turn: boolean;
  /** Milliseconds for which nobody misses what is gathered, if it is so. */
  readonly patience?: number | undefined;
}

/** Records a millisecond from which on lines are more than a person reads. */
const flood = 20;
/**
 * Milliseconds that a pause takes at least and at most, and how many records of a flood it waits for in between. Within 5
 * ms of its event, with what the scheduler and the writing take, a line is out.
 */
const inThread = { least: 2, most: 5, worth: 1000 };
const inLoop = { least: 3, most: 20, worth: 4000 };
/** What may gather: a sixteenth of the ring, since the scheduler may keep us waiting several times as long. */
const gathered = 1 / 16;

/** Milliseconds; 0 when there is no time for a pause. */
export function pauseLength({ records, bytes, ringBytes, milliseconds, turn, patience }: Look): number {
  const elapsed = Math.max(milliseconds, 0.1);
  const rate = records / elapsed;
  const { least, most, worth } = turn ? inLoop : inThread;
  const wanted = patience ?? (rate > flood ? Math.min(Math.max(worth / rate, least), most) : least);
  return Math.floor(Math.min(wanted, (ringBytes * gathered * elapsed) / bytes));
}

/**
 * The event loop's turns are no further apart than this, in milliseconds: a timer of somebody's may be late by so much.
 */
const betweenTurns = 100;

/**
 * The pauses themselves: in the thread where that harms nobody, since a turn of Node's event loop costs more than the
 * pause.
 */
export class Pauses {
  readonly #now: () => number;
  readonly #sleep: typeof sleepInThread;
  /** When the event loop had its last turn. It only hears of what it was told to before: signals, processes. */
  #turned = -Infinity;
  #over = false;

  /** `now` is in milliseconds. */
  constructor(now: () => number, sleep = sleepInThread) {
    this.#now = now;
    this.#sleep = sleep;
  }

  /** Nobody wants to sleep any more: from within a turn, say. */
  stop(): void {
    this.#over = true;
  }

  /**
   * Rests for so many milliseconds; gives what to wait for, if anything. `free`: for how many milliseconds from now
   * nobody needs the event loop. `now`: on the clock. `until`: a descriptor that ends it, in the thread, when it
   * becomes readable.
   */
  take(milliseconds: number, free: number, now: number, until?: number): Promise<void> | undefined {
    if (free <= 0 || free < milliseconds) return milliseconds < 1 ? this.turn() : this.#timed(milliseconds);
    if (now + milliseconds - this.#turned > betweenTurns) return this.#turnAndSleep(milliseconds, until);
    return this.#sleep(milliseconds, until) ? undefined : this.#twoTurns();
  }

  async #turnAndSleep(milliseconds: number, until?: number): Promise<void> {
    await this.turn();
    if (!this.#over && !this.#sleep(milliseconds, until)) await this.#twoTurns();
  }

  /** For what has come up: it may be told from libuv by way of a turn of its own, which comes behind ours. */
  async #twoTurns(): Promise<void> {
    await this.turn();
    await this.turn();
  }

  /** A turn of the event loop. */
  async turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.turned();
  }

  /** The event loop had a turn. */
  turned(): void {
    this.#turned = this.#now();
  }

  async #timed(milliseconds: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    this.turned();
  }
}
