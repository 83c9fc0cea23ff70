// Host programs that run on a schedule. Ticks keep to their multiples of the period however long a tick takes, and
// those that are due at once run in the order of their times, then of the script.

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
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  readonly #mayRun: () => boolean;
  /** Ticks that were dropped. */
  missed = 0;

  /** Where they may not run, ticks stay due. */
  constructor(
    tickers: readonly Ticker[],
    now: () => number = () => process.uptime() * 1000,
    mayRun: () => boolean = () => true,
  ) {
    this.#now = now;
    this.#mayRun = mayRun;
    const start = now();
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
    // A timer of Node's waits at least a millisecond and at most 2^31.
    const wait = Math.min(Math.max(this.#mayRun() ? 1 : askedEvery, Math.ceil(next.due - this.#now())), 0x7fff_ffff);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.tick();
      if (this.#scheduled.length > 0) this.#arm();
    }, wait);
  }

  /** Milliseconds until the next tick is due. */
  untilNext(): number {
    return (this.#next()?.due ?? Infinity) - this.#now();
  }

  /** Runs what is due. */
  tick(): void {
    const now = this.#now();
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
    clearTimeout(this.#timer);
  }
}
