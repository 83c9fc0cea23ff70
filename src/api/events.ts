// Typed events: handlers emit them, Node iterates over them.
import { library } from "../messages/on-demand.ts";
import type { CapturedStack, Pointer } from "./declarations.ts";
import { bind } from "./markers.ts";
import { EventIterator, EventQueue } from "./queue.ts";
import type { Stack } from "./values.ts";

/** What a handler gives for a field: an address where Node has a bigint, a stack where it has frames. */
export type Emitted<T> = { readonly [P in keyof T]: EmittedField<T[P]> };
type EmittedField<T> = [T] extends [bigint]
  ? bigint | Pointer
  : [T] extends [Stack]
    ? CapturedStack
    : [T] extends [string | number | boolean | Uint8Array]
      ? T
      : [T] extends [object]
        ? Emitted<T>
        : T;

export interface EventOptions {
  /** In printed output and messages; the variable's name unless given. */
  readonly name?: string;
  /** Events kept for a reader that is slow; what comes on top is dropped and counted. 100,000 unless given. */
  readonly queueLimit?: number;
}

/** For trace() only: not on the library's surface. */
export const open = Symbol("open");
export const close = Symbol("close");
export const busy = Symbol("busy");

/**
 * A kind of event: `const opened = event<{ pid: number; path: string }>()`. Handlers send one with `opened.emit({ pid,
 * path })`; `for await (const { pid, path } of opened)` takes them, until the trace ends. Several loops share the
 * events between them.
 */
export class EventHandle<T> implements AsyncIterable<T> {
  readonly #limit: number;
  #queue: EventQueue<T>;
  #inUse = false;

  constructor(limit: number) {
    this.#limit = limit;
    this.#queue = new EventQueue(limit);
  }

  /** In handlers only. */
  emit(value: Emitted<T>): void {
    void value;
    throw new TypeError(library().emitInHandlers().message);
  }

  /** Events dropped because the reader was slow. */
  get dropped(): number {
    return this.#queue.dropped;
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, undefined> {
    return new EventIterator(this.#queue, async () => {});
  }

  /** Events as they come, in arrays of all there are: less work an event. */
  async *batches(): AsyncGenerator<readonly T[], void, undefined> {
    const queue = this.#queue;
    for (let batch = await queue.take(); batch; batch = await queue.take()) yield batch;
  }

  /** For trace(): the queue of a new trace. @internal */
  [open](): EventQueue<T> {
    // Whoever waits already, waits for this trace.
    if (this.#queue.closed) this.#queue = new EventQueue(this.#limit);
    this.#inUse = true;
    return this.#queue;
  }

  /** @internal */
  [close](error?: unknown): void {
    this.#inUse = false;
    this.#queue.close(error);
  }

  /** @internal */
  get [busy](): boolean {
    return this.#inUse;
  }
}

export function event<T extends object>({ name, queueLimit = 100_000 }: EventOptions = {}): EventHandle<T> {
  const handle = new EventHandle<T>(queueLimit);
  return bind(handle, { kind: "event", event: { identity: handle, ...(name === undefined ? {} : { name }) } });
}
