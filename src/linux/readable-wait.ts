// Waiting for a descriptor in Node's event loop.
import { pollDescriptor } from "./ffi.ts";
import type { PollHandle } from "./timed-poll.ts";

export class ReadableWait implements Disposable {
  readonly #descriptor: number;
  #poll: PollHandle | undefined;
  #wake: (() => void) | undefined;

  /** The descriptor stays the caller's, and open until this is disposed of. */
  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Resolves when it is readable, after so many milliseconds (Infinity: never), or by cancel(). Gives the event loop a turn. */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = milliseconds === Infinity ? undefined : setTimeout(() => this.cancel(), milliseconds);
      this.#wake = () => {
        this.#wake = undefined;
        clearTimeout(timer);
        this.#poll?.stop();
        // libuv calls us outside of any JavaScript turn: promises would not run until something else happens.
        setImmediate(resolve);
      };
      const ready = (): void => this.#wake?.();
      // Each start asks the kernel anew, so what came since somebody looked is not missed.
      if (this.#poll) this.#poll.start(ready);
      else this.#poll = pollDescriptor(this.#descriptor, ready);
    });
  }

  /** Ends a wait early. */
  cancel(): void {
    this.#wake?.();
  }

  [Symbol.dispose](): void {
    this.cancel();
    this.#poll?.close();
    this.#poll = undefined;
  }
}
