// The kernel's ring buffer as trace_pipe_raw gives it away, and as trace.dat has it: pages of one CPU, events in order
// (struct buffer_data_page of kernel/trace/ring_buffer.c; enum ring_buffer_type of include/linux/ring_buffer.h).
import { RecordingError } from "./damaged-recording.ts";
import { damagedTraceDat } from "../messages/on-demand.ts";

/** Time of the page, then how many bytes of events; events begin behind them. */
const head = 16;
const commitMask = 0x7ff_ffff;
/** RB_MISSED_EVENTS: events before the page were lost; RB_MISSED_STORED: how many stands behind those that are there. */
const missedEvents = 0x8000_0000;
const missedStored = 0x4000_0000;

/** type_len: up to 28 it is the length in words. */
const lengthInWord = 0;
const padding = 29;
const timeExtend = 30;
const timeStamp = 31;

/** Walks over the events of a page. Numbers are of the event it is at. Its methods throw RecordingError. */
export class PageCursor {
  /** Nanoseconds since `start`. */
  time = 0;
  /** Of its record in the page, and its length. */
  offset = 0;
  length = 0;
  /** Events that were lost before the page: 0 also where they were not counted. */
  lost = 0;
  /** Events were lost before the page. */
  gap = false;
  readonly #page: Uint8Array;
  readonly #view: DataView;
  readonly #start: bigint;
  #next = 0;
  #end = 0;
  #base = 0n;

  /** `start`: what times are counted from, in the buffer's clock. */
  constructor(page: Uint8Array, start: bigint) {
    this.#page = page;
    this.#view = new DataView(page.buffer, page.byteOffset, page.byteLength);
    this.#start = start;
  }

  /** The page has other events now. */
  begin(): void {
    this.#base = this.#view.getBigUint64(0, true);
    this.time = Number(this.#base - this.#start);
    const commit = this.#view.getUint32(8, true);
    this.#end = head + (commit & commitMask);
    if (this.#end > this.#page.length) throw new RecordingError(damagedTraceDat().pageTooLong());
    this.gap = (commit & missedEvents) !== 0;
    const counted = this.gap && (commit & missedStored) !== 0 && this.#end + 8 <= this.#page.length;
    this.lost = counted ? Number(this.#view.getBigUint64(this.#end, true)) : 0;
    this.#next = head;
  }

  /** Goes to the next event; false at the page's end. */
  next(): boolean {
    const view = this.#view;
    while (this.#next + 4 <= this.#end) {
      const at = this.#next;
      const word = view.getUint32(at, true);
      const type = word & 31;
      const delta = word >>> 5;
      switch (type) {
        case padding:
          // An event that was discarded; without a time the rest of the page is empty.
          if (delta === 0) {
            this.#next = this.#end;
            return false;
          }
          this.time += delta;
          this.#next = at + 4 + this.#word(at + 4);
          break;
        case timeExtend:
          this.time += this.#word(at + 4) * 2 ** 27 + delta;
          this.#next = at + 8;
          break;
        case timeStamp: {
          // 59 bits of a time; those above are the page's.
          const stamp = (BigInt(this.#word(at + 4)) << 27n) + BigInt(delta);
          this.time = Number(((this.#base >> 59n) << 59n) + stamp - this.#start);
          this.#next = at + 8;
          break;
        }
        default: {
          const long = type === lengthInWord;
          this.time += delta;
          this.offset = at + (long ? 8 : 4);
          this.length = long ? this.#word(at + 4) - 4 : type * 4;
          this.#next = this.offset + this.length;
          if (this.length < 0 || this.#next > this.#end) throw new RecordingError(damagedTraceDat().eventBeyondPage());
          return true;
        }
      }
    }
    return false;
  }

  #word(at: number): number {
    if (at + 4 > this.#end) throw new RecordingError(damagedTraceDat().eventBeyondPage());
    return this.#view.getUint32(at, true);
  }
}
