// How long the buffers of instances are left alone. The kernel wakes us when there is something to read; a look at the
// buffers costs as much as many events, so that in a flow they are gathered. (Documentation/trace/ftrace.rst, buffer_percent)
import { AnyReadable } from "../../linux/any-readable.ts";
import type { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import { ReadableWait } from "../../linux/readable-wait.ts";

/** What the last look at the buffers found. */
export interface Found {
  /** Events were handled. */
  readonly events: boolean;
  /** Events are there that nobody may have yet. */
  readonly held: boolean;
  /** When it was, in milliseconds. */
  readonly now: number;
  /** Milliseconds until the buffers are to be looked at in any case. */
  readonly most: number;
}

/** Milliseconds of a pause, at least and at most: a person who reads the lines does not see it. */
const shortest = 5;
const longest = 40;
/** Where the kernel does not wake us. */
const longestAsking = 50;
/** What is pressing in a pause: a buffer that is so full, in per cent. */
const pressing = 25;

type Waking = Pick<TraceInstance, "wakeAt" | "watch">;

export class Rests implements Disposable {
  readonly #instance: Waking | undefined;
  #readable: AnyReadable | undefined;
  #wait: ReadableWait | undefined;
  /** The kernel wakes us when a buffer is so full. */
  #percent: number | undefined;
  #pause = 0;
  #lastEvents = -Infinity;
  #wake: (() => void) | undefined;

  /** `instance`: whose events are waited for. `patient`: what only must not overflow. Both are strobe's own. */
  constructor(instance?: Waking, patient?: Waking) {
    this.#instance = instance;
    if (instance?.wakeAt(0) !== true) return;
    this.#percent = 0;
    this.#readable = new AnyReadable();
    this.#wait = new ReadableWait(this.#readable.descriptor);
    instance.watch(this.#readable);
    if (patient?.wakeAt(pressing) === true) patient.watch(this.#readable);
  }

  /** Rests until there is something to do, or by cancel(). */
  take(found: Found): Promise<void> {
    const wait = this.#wait;
    if (wait === undefined) return this.#timed(Math.min(this.#asking(found), found.most));
    const pause = this.#pauseAfter(found);
    if (pause === shortest) return this.#timed(Math.min(pause, found.most));
    const percent = pause === 0 ? 0 : pressing;
    if (percent !== this.#percent) this.#instance?.wakeAt(percent);
    this.#percent = percent;
    return wait.wait(Math.min(pause === 0 ? Infinity : pause, found.most));
  }

  /** One that comes alone is as welcome as the next: those that come one after the other are gathered. */
  #pauseAfter({ events, held, now }: Found): number {
    if (!events) return held ? shortest : 0;
    const flows = now - this.#lastEvents < longest;
    this.#lastEvents = now;
    this.#pause = flows ? Math.min(Math.max(this.#pause * 2, shortest), longest) : 0;
    return this.#pause;
  }

  #asking({ events }: Found): number {
    this.#pause = events ? shortest : Math.min(Math.max(this.#pause * 2, shortest), longestAsking);
    return this.#pause;
  }

  #timed(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  cancel(): void {
    this.#wake?.();
    this.#wait?.cancel();
  }

  /** Before the instances are closed. */
  [Symbol.dispose](): void {
    this.cancel();
    this.#wait?.[Symbol.dispose]();
    this.#readable?.[Symbol.dispose]();
    this.#wait = undefined;
    this.#readable = undefined;
  }
}
