import type { Timeline } from "../timers.ts";

/** Time that goes on as the events of a recording do; milliseconds since its beginning. */
export class RecordedTime implements Timeline {
  readonly #calls = new Set<{ readonly at: number; readonly call: () => void }>();
  #now = 0;

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, call: () => void): () => void {
    const one = { at: this.#now + milliseconds, call };
    this.#calls.add(one);
    return () => void this.#calls.delete(one);
  }

  /** When the next call is due; Infinity where none is. */
  get due(): number {
    let due = Infinity;
    for (const { at } of this.#calls) due = Math.min(due, at);
    return due;
  }

  /** It is so late now; never back. */
  reach(time: number): void {
    if (time > this.#now) this.#now = time;
  }

  /** Goes to what is due next, and calls it. */
  step(): void {
    const { due } = this;
    for (const one of this.#calls) {
      if (one.at !== due) continue;
      this.#calls.delete(one);
      this.reach(due);
      one.call();
      return;
    }
  }
}
