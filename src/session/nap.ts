// How long the ring is left alone between two looks at it. A wake-up costs as much as several hundred lines, so
// that under load they are gathered; but a person waits for lines that come one by one, and the ring must not fill.
import { sleepInThread } from "../linux/sleep.ts";

export interface Look {
  /** What the last look found, and since when it had gathered. */
  readonly records: number;
  readonly bytes: number;
  readonly milliseconds: number;
  readonly ringBytes: number;
  /** Whether the event loop has a turn in between, which costs twice as much again. */
  readonly turn: boolean;
}

/** Records a millisecond from which on lines are more than a person reads. */
const flood = 20;
/** Milliseconds: within 5 ms of its event, with what the scheduler and the writing take, a line is out. */
const whileRead = 3;
/** Records of a flood that a wake-up should find, and for how many milliseconds it waits for them at most. */
const worth = 2000;
const inFlood = 10;
/** What may gather: a sixteenth of the ring, since the scheduler may keep us waiting several times as long. */
const gathered = 1 / 16;

/** Milliseconds; 0 when there is no time for a nap. */
export function napLength({ records, bytes, ringBytes, milliseconds, turn }: Look): number {
  const elapsed = Math.max(milliseconds, 0.1);
  const rate = records / elapsed;
  const costs = turn ? 2 : 1;
  const most = rate > flood ? Math.min(Math.max(costs * worth / rate, whileRead), costs * inFlood) : whileRead;
  return Math.floor(Math.min(most, (ringBytes * gathered * elapsed) / bytes));
}

/** The event loop's turns are no further apart than this, in milliseconds: what is due in it is late by so much. */
const betweenTurns = 50;

/** The naps themselves: in the thread where that harms nobody, since a turn of Node's event loop costs more than the nap. */
export class Naps {
  readonly #now: () => number;
  readonly #sleep: (milliseconds: number) => boolean;
  /** When the event loop had its last turn. */
  #turned: number;

  /** `now` is in milliseconds. */
  constructor(now: () => number, sleep = sleepInThread) {
    this.#now = now;
    this.#sleep = sleep;
    this.#turned = now();
  }

  /**
   * Rests for so many milliseconds; gives what to wait for, if anything. `free`: for how many milliseconds from now nobody needs
   * the event loop. `now`: on the clock.
   */
  take(milliseconds: number, free: number, now: number): Promise<void> | undefined {
    if (milliseconds < 1) return this.turn();
    if (free < milliseconds) return this.#timed(milliseconds);
    if (now + milliseconds - this.#turned > betweenTurns) return this.turn().then(() => void this.#sleep(milliseconds));
    return this.#sleep(milliseconds) ? undefined : this.turn();
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
