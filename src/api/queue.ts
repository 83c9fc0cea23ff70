// Events between a session, which never waits, and a reader, which may be slow: bounded, and what it drops is counted.

/** Written out by hand: an async generator costs three turns of the microtask queue an event, this one. */
export class EventIterator<T> implements AsyncIterator<T, void, undefined> {
  readonly #queue: EventQueue<T>;
  readonly #leave: () => Promise<void>;
  #batch: readonly T[] = [];
  #at = 0;

  constructor(queue: EventQueue<T>, leave: () => Promise<void>) {
    this.#queue = queue;
    this.#leave = leave;
  }

  next(): Promise<IteratorResult<T, void>> {
    if (this.#at < this.#batch.length) return Promise.resolve({ value: this.#batch[this.#at++], done: false });
    return this.#refill();
  }

  /** The loop was left early: over before all was read. */
  async return(): Promise<IteratorResult<T, void>> {
    this.#batch = [];
    await this.#leave();
    return { value: undefined, done: true };
  }

  async #refill(): Promise<IteratorResult<T, void>> {
    this.#batch = [];
    this.#at = 0;
    const batch = await this.#queue.take();
    if (!batch) return { value: undefined, done: true };
    this.#batch = batch;
    return { value: batch[this.#at++], done: false };
  }
}

/** Events between the session, which never waits, and a reader, which may be slow. */
export class EventQueue<T> {
  /** What came while the queue was full. */
  dropped = 0;
  readonly #limit: number;
  #events: T[] = [];
  #closed = false;
  #failure: { readonly error: unknown } | undefined;
  /** Those of readers that wait: there may be several, who share the events. */
  #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get full(): boolean {
    return this.#events.length >= this.#limit;
  }

  /** How many more events it takes. */
  get room(): number {
    return this.#limit - this.#events.length;
  }

  get closed(): boolean {
    return this.#closed;
  }

  push(event: T): void {
    if (this.full) this.dropped++;
    else this.#events.push(event);
  }

  /** Lets readers that wait see what came. */
  wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  close(error?: unknown): void {
    if (error !== undefined) this.#failure ??= { error };
    this.#closed = true;
    this.wake();
  }

  /** All that is there, at least one; undefined at the end. */
  async take(): Promise<T[] | undefined> {
    while (this.#events.length === 0) {
      if (this.#failure) throw this.#failure.error;
      if (this.#closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
