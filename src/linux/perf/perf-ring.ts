// The consumer of a perf event's ring (struct perf_event_mmap_page in include/uapi/linux/perf_event.h).
//
//   page 0      1024: data_head, u64, the kernel's; 1032: data_tail, u64, ours
//   then        the data, a power of two of pages; a record may be split by the end
//
// Positions only grow. A record begins with u32 type, u16 misc, u16 size (header included, a multiple of 8).

const headPosition = 1024 / 8;
const tailPosition = 1032 / 8;
const sizeOffset = 6;
const smallestRecord = 8;

export class PerfRing {
  readonly #positions: BigInt64Array;
  readonly #data: Uint8Array;
  readonly #view: DataView;

  /** `memory`: the event's mapping, whose first `page` bytes are the control page. */
  constructor(memory: ArrayBuffer, page: number) {
    this.#positions = new BigInt64Array(memory, 0, page / 8);
    this.#data = new Uint8Array(memory, page);
    this.#view = new DataView(memory, page);
  }

  get pending(): boolean {
    return Atomics.load(this.#positions, headPosition) !== this.#positions[tailPosition];
  }

  /** Gives a copy of each record written so far and returns the space to the kernel. */
  drain(handle: (record: Uint8Array) => void): void {
    const head = Atomics.load(this.#positions, headPosition);
    let at = this.#positions[tailPosition];
    try {
      while (at < head) {
        const offset = Number(at & BigInt(this.#data.length - 1));
        const size = this.#view.getUint16(offset + sizeOffset, true);
        if (size < smallestRecord || BigInt(size) > head - at) {
          at = head; // not a ring that we understand: go on with what comes next
          return;
        }
        at += BigInt(size);
        handle(this.#copy(offset, size));
      }
    } finally {
      Atomics.store(this.#positions, tailPosition, at);
    }
  }

  #copy(offset: number, size: number): Uint8Array {
    const record = this.#data.slice(offset, offset + size);
    if (record.length === size) return record;
    const whole = new Uint8Array(size);
    whole.set(record);
    whole.set(this.#data.subarray(0, size - record.length), record.length);
    return whole;
  }
}
