// The events of all CPUs of some instances as one stream, in the order of their times.
import type { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import { PageCursor } from "../../recordings/ring-pages.ts";

/** An event at the head of the streams; valid until the next is asked for. */
export interface Head {
  /** The instance's number. */
  readonly of: number;
  readonly cpu: number;
  /** Nanoseconds since the beginning. */
  readonly time: number;
  /** What its record lies in, where, and how long it is. */
  readonly page: Uint8Array;
  readonly view: DataView;
  readonly offset: number;
  readonly length: number;
  readonly kernelStack?: BigUint64Array | undefined;
  readonly userStack?: BigUint64Array | undefined;
}

/** Which events are stacks of the one before: their numbers in the kernel, of those that are written. */
export interface StackNumbers {
  readonly kernel: number | undefined;
  readonly user: number | undefined;
}

interface Stream {
  readonly head: Head | undefined;
  readonly held: boolean;
  /** Has a head where there is an event, as of now: nanoseconds since the beginning, or Infinity where no more come. */
  fill(now: number): boolean;
  take(): void;
  /** What has come since may be taken. */
  refill(): void;
}

export class EventStreams {
  readonly #streams: readonly Stream[];
  #first: Stream | undefined;

  /** `start`: what times are counted from. `stacks`: of the first instance. */
  constructor(instances: readonly TraceInstance[], start: bigint, stacks?: StackNumbers) {
    this.#streams = instances.flatMap((instance, of) =>
      instance.cpus.map((cpu, index) => {
        const pages = new PageStream(instance, index, of, cpu, start);
        return of === 0 && stacks !== undefined ? new StackedStream(pages, stacks) : pages;
      }),
    );
  }

  refill(): void {
    for (const stream of this.#streams) stream.refill();
  }

  /** Whether there are events that were not given out: they are later than they were asked for, or wait for their stacks. */
  get held(): boolean {
    return this.#streams.some(({ held }) => held);
  }

  /** The earliest event that nobody took; undefined where there is none, as of the last refill(). */
  peek(now: number): Head | undefined {
    if (this.#first?.head !== undefined) return this.#first.head;
    let first: Stream | undefined;
    for (const stream of this.#streams) {
      if (!stream.fill(now)) continue;
      if (first?.head === undefined || stream.head!.time < first.head.time) first = stream;
    }
    return (this.#first = first)?.head;
  }

  /** Takes the event that was peeked at. */
  take(): void {
    this.#first?.take();
    this.#first = undefined;
  }
}

/** One CPU of one instance. */
class PageStream implements Stream, Head {
  readonly of: number;
  readonly cpu: number;
  readonly page: Uint8Array;
  readonly view: DataView;
  head: Head | undefined;
  readonly #instance: TraceInstance;
  readonly #index: number;
  readonly #cursor: PageCursor;
  /** There was nothing more when it was last asked. */
  #dry = true;

  constructor(instance: TraceInstance, index: number, of: number, cpu: number, start: bigint) {
    this.of = of;
    this.cpu = cpu;
    this.#instance = instance;
    this.#index = index;
    this.page = new Uint8Array(instance.pageBytes);
    this.view = new DataView(this.page.buffer);
    this.#cursor = new PageCursor(this.page, start);
  }

  get held(): boolean {
    return this.head !== undefined;
  }

  get time(): number {
    return this.#cursor.time;
  }

  get offset(): number {
    return this.#cursor.offset;
  }

  get length(): number {
    return this.#cursor.length;
  }

  refill(): void {
    this.#dry = false;
  }

  fill(): boolean {
    if (this.head !== undefined || this.#cursor.next()) {
      this.head = this;
      return true;
    }
    if (this.#dry) return false;
    while (this.#instance.read(this.#index, this.page)) {
      this.#cursor.begin();
      if (!this.#cursor.next()) continue;
      this.head = this;
      return true;
    }
    this.#dry = true;
    return false;
  }

  take(): void {
    this.head = undefined;
  }
}

/** TRACE_FLAG_HARDIRQ, _SOFTIRQ and _NMI of include/linux/trace_events.h: whom an event interrupted writes later. */
const interrupts = 0x58;
/** An event whose stack does not come was written so long ago, in nanoseconds. */
const patience = 2_000_000;

/** An event that waits for its stacks. */
interface Waiting extends Head {
  readonly by: string;
  kernelStack?: BigUint64Array | undefined;
  userStack?: BigUint64Array | undefined;
  /** The same context has written another event: no stack comes any more. */
  closed?: true;
}

/**
 * One CPU of an instance in which stacks are written behind each event: where an interrupt came in between, its events
 * with theirs are first.
 */
class StackedStream implements Stream {
  head: Head | undefined;
  readonly #pages: PageStream;
  readonly #stacks: StackNumbers;
  readonly #queue: Waiting[] = [];

  constructor(pages: PageStream, stacks: StackNumbers) {
    this.#pages = pages;
    this.#stacks = stacks;
  }

  get held(): boolean {
    return this.#queue.length > 0;
  }

  refill(): void {
    this.#pages.refill();
  }

  fill(now: number): boolean {
    if (this.head !== undefined) return true;
    const { kernel, user } = this.#stacks;
    const isWhole = ({ closed, kernelStack, userStack }: Waiting): boolean =>
      closed === true ||
      ((kernel === undefined || kernelStack !== undefined) && (user === undefined || userStack !== undefined));
    while ((this.#queue.length === 0 || !isWhole(this.#queue[0])) && this.#pages.fill()) {
      this.#put(this.#pages);
      this.#pages.take();
    }
    const first = this.#queue.at(0);
    if (first !== undefined && (isWhole(first) || first.time < now - patience)) this.head = first;
    return this.head !== undefined;
  }

  #put({ of, cpu, time, page, offset, length, view }: Head): void {
    const number = view.getUint16(offset, true);
    const by = `${view.getInt32(offset + 4, true)} ${view.getUint8(offset + 2) & interrupts}`;
    if (number === this.#stacks.kernel) {
      // struct stack_entry of kernel/trace/trace_entries.h: how many frames, and those.
      const event = this.#queue.findLast((one) => one.by === by && one.kernelStack === undefined);
      if (event !== undefined)
        event.kernelStack = frames(page, offset + 16, Math.min(view.getInt32(offset + 8, true), (length - 16) >> 3));
      return;
    }
    if (number === this.#stacks.user) {
      const event = this.#queue.findLast((one) => one.by === by && one.userStack === undefined);
      if (event !== undefined) event.userStack = frames(page, offset + 16, userFrames);
      return;
    }
    for (const one of this.#queue) if (one.by === by) one.closed = true;
    const record = page.slice(offset, offset + length);
    this.#queue.push({ of, cpu, time, page: record, view: new DataView(record.buffer), offset: 0, length, by });
  }

  take(): void {
    this.#queue.shift();
    this.head = undefined;
  }
}

/** FTRACE_STACK_ENTRIES: frames of a user stack. */
const userFrames = 8;

/** Up to the first that is none. */
function frames(page: Uint8Array, offset: number, count: number): BigUint64Array {
  const stack = new BigUint64Array(page.slice(offset, offset + count * 8).buffer);
  const end = stack.findIndex((address) => address === 0n || address === 0xffff_ffff_ffff_ffffn);
  return end < 0 ? stack : stack.subarray(0, end);
}
