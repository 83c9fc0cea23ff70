// Host programs that run on a schedule. Ticks keep to their multiples of the period however long a tick takes, and
// those that are due at once run in the order of their times, then of the script.

/** The time that ticks keep to. */
export interface Timeline {
  /** Milliseconds. */
  now(): number;
  /** Calls when so many milliseconds have passed; gives what calls it off. */
  after(milliseconds: number, call: () => void): () => void;
}

export interface Ticker {
  /** Nanoseconds. */
  readonly period: number;
  run(): void;
}

interface Scheduled {
  readonly ticker: Ticker;
  /** Milliseconds on the timers' clock. */ due: number;
}

/**
 * Ticks made up for when the process could not keep up (a slow command, a stopped terminal); older ones are dropped.
 */
const catchUpLimit = 1000;

/** Milliseconds between two looks at whether those that are due may run. */
const askedEvery = 5;

export class Timers implements Disposable {
  readonly #scheduled: Scheduled[];
  readonly #time: Timeline;
  #callOff: (() => void) | undefined;
  readonly #mayRun: () => boolean;
  /** Ticks that were dropped. */
  missed = 0;

  /** Where they may not run, ticks stay due. */
  constructor(tickers: readonly Ticker[], time: Timeline, mayRun: () => boolean = () => true) {
    this.#time = time;
    this.#mayRun = mayRun;
    const start = time.now();
    this.#scheduled = tickers.map((ticker) => ({ ticker, due: start + ticker.period / 1e6 }));
    this.#arm();
  }

  #next(): Scheduled | undefined {
    let next: Scheduled | undefined;
    for (const scheduled of this.#scheduled) if (!next || scheduled.due < next.due) next = scheduled;
    return next;
  }

  #arm(): void {
    const next = this.#next();
    if (!next) return;
    const wait = Math.max(this.#mayRun() ? 0 : askedEvery, next.due - this.#time.now());
    this.#callOff = this.#time.after(wait, () => {
      this.#callOff = undefined;
      this.tick();
      if (this.#scheduled.length > 0) this.#arm();
    });
  }

  /** Milliseconds until the next tick is due. */
  untilNext(): number {
    return (this.#next()?.due ?? Infinity) - this.#time.now();
  }

  /** Runs what is due. */
  tick(): void {
    const now = this.#time.now();
    for (const scheduled of this.#scheduled) {
      const period = scheduled.ticker.period / 1e6;
      const late = Math.floor((now - scheduled.due) / period) - catchUpLimit;
      if (late <= 0) continue;
      scheduled.due += late * period;
      this.missed += late;
    }
    for (let next = this.#next(); next && next.due <= now && this.#mayRun(); next = this.#next()) {
      next.due += next.ticker.period / 1e6;
      next.ticker.run();
    }
  }

  /** No more ticks, not even of those that are due in the running one. */
  [Symbol.dispose](): void {
    this.#scheduled.length = 0;
    this.#callOff?.();
  }
}
