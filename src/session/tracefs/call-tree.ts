// Entries and returns of calls, as the kernel wrote them, nested a thread: what was drawn of each, and what was left out
// since its beginning or its end is not among them.

interface Frame {
  readonly func: bigint;
  /** The kernel's, which counts from the thread's outermost call that it follows. */
  readonly depth: number;
  /** Nanoseconds. */
  readonly time: number;
  /** Within a call that was seen from its beginning. */
  readonly shown: boolean;
  /** Bits of where it ran: 0 in a task with interrupts on. */
  readonly context: number;
}

/** A call that has returned. */
export interface Returned {
  /** Of how many others it is within. */
  readonly within: number;
  /** Between the two events. */
  readonly nanoseconds: number;
}

export class CallTree {
  readonly #isRoot: (func: bigint) => boolean;
  readonly #threads = new Map<string, Frame[]>();
  /** Calls left out: not within a call that was seen from its beginning. */
  leftOut = 0;
  /** Calls that were shown, whose return was not seen. */
  unfinished = 0;

  /** `isRoot`: whether a function is one that calls are followed from. */
  constructor(isRoot: (func: bigint) => boolean) {
    this.#isRoot = isRoot;
  }

  /**
   * Within how many calls it is; undefined for one that is left out. `context`: bits that say that interrupts were off, or
   * that it was in one (TRACE_FLAG_… of include/linux/trace_events.h).
   */
  enter(thread: string, depth: number, func: bigint, time: number, context = 0): number | undefined {
    const frames = this.#of(thread);
    // The kernel takes a call from its stack before it writes its return: who interrupts it there has the call's depth, and
    // the return comes later. Other calls that are open had returns that there was no room for.
    const open = frames.findLastIndex((frame) => frame.depth <= depth);
    const isInterrupted = open >= 0 && frames[open].depth === depth && (context & ~frames[open].context) !== 0;
    this.#dropTo(frames, isInterrupted ? depth + 1 : depth);
    const shown = frames.length === 0 ? this.#isRoot(func) : frames[frames.length - 1].shown;
    if (!shown) this.leftOut++;
    frames.push({ func, depth, time, shown, context });
    return shown ? frames.length - 1 : undefined;
  }

  /** Undefined for a call that is left out. */
  leave(thread: string, depth: number, func: bigint, time: number): Returned | undefined {
    const frames = this.#of(thread);
    this.#dropTo(frames, depth + 1);
    const frame = frames.at(-1);
    if (frame?.depth !== depth || frame.func !== func) {
      this.leftOut++;
      return undefined;
    }
    frames.pop();
    return frame.shown ? { within: frames.length, nanoseconds: time - frame.time } : undefined;
  }

  /** No more events come. */
  end(): void {
    for (const frames of this.#threads.values()) this.#dropTo(frames, 0);
  }

  #of(thread: string): Frame[] {
    let frames = this.#threads.get(thread);
    if (frames === undefined) this.#threads.set(thread, (frames = []));
    return frames;
  }

  #dropTo(frames: Frame[], depth: number): void {
    for (let last = frames.at(-1); last !== undefined && last.depth >= depth; last = frames.at(-1)) {
      frames.pop();
      if (last.shown) this.unfinished++;
    }
  }
}
