// The consumer of a BPF ring buffer (kernel/bpf/ringbuf.c, Documentation/bpf/ringbuf.rst).
//
//   page 0      consumer position, u64, ours to write
//   page 1      producer position, u64, read-only
//   then        the data, mapped twice in a row, so that no record is ever split
//
// A record: u32 length with a busy bit (31: reserved, not yet committed) and a discard bit (30), u32 page offset (the
// kernel's), then the payload, padded to 8 bytes. Positions only grow. We keep ours as a double and compare the low
// 32 bits with the kernel's: pending data never exceeds the buffer, which is at most 2^30 bytes.
import { mapInto, munmap, pageSize, PROT_READ, PROT_WRITE, reserve } from "../ffi.ts";
import { ReadableWait } from "../readable-wait.ts";

const HEADER = 8;
const DISCARDED = 0x4000_0000;
const LENGTH = 0x3fff_ffff;
/**
 * Bytes of data that are mapped at first: mapping megabytes takes the kernel a millisecond, and few scripts fill them.
 */
const firstBytes = 256 * 1024;

/** x86-64 reads in the order of the program, as V8 does what it knows of no rule to reorder: reads of shared memory. */
const inOrder = process.arch === "x64";

/**
 * Reads a word that the kernel writes; what it wrote before that is seen from here on. V8 calls a builtin for what
 * Atomics does.
 */
function acquire(words: Int32Array, index: number): number {
  return inOrder ? words[index] : Atomics.load(words, index);
}

export class RingBuffer implements Disposable {
  /** Views of the data, both copies; `drain` gives offsets into them. */
  readonly memory: { readonly bytes: Uint8Array; readonly view: DataView; readonly words: Uint32Array };
  readonly #fd: number;
  readonly #size: number;
  /** Data up to here is mapped. */
  #mapped: number;
  readonly #pages: ArrayBuffer;
  readonly #consumer: BigInt64Array;
  readonly #producer: Int32Array;
  readonly #headers: Int32Array;
  #position: number;
  #published: number;
  readonly #wait: ReadableWait;
  #open = true;

  /** `bytes`: the map's entries, a power of two. The descriptor stays the caller's. */
  constructor(fd: number, bytes: number) {
    const page = pageSize();
    this.#fd = fd;
    this.#wait = new ReadableWait(fd);
    this.#size = bytes;
    this.#mapped = Math.min(bytes, firstBytes);
    this.#pages = reserve(2 * page + 2 * bytes);
    try {
      mapInto(this.#pages, 0, fd, page, PROT_READ | PROT_WRITE);
      mapInto(this.#pages, page, fd, page + this.#mapped, PROT_READ);
    } catch (error) {
      munmap(this.#pages);
      throw error;
    }
    this.#consumer = new BigInt64Array(this.#pages, 0, 1);
    this.#producer = new Int32Array(this.#pages, page, 2);
    this.#headers = new Int32Array(this.#pages, 2 * page, bytes / 2);
    this.memory = {
      bytes: new Uint8Array(this.#pages, 2 * page, 2 * bytes),
      view: new DataView(this.#pages, 2 * page, 2 * bytes),
      words: new Uint32Array(this.#pages, 2 * page, bytes / 2),
    };
    this.#position = Number(Atomics.load(this.#consumer, 0));
    this.#published = this.#position;
  }

  /**
   * Readable while there is something to consume. The kernel wakes who waits for that when it writes the first record.
   */
  get descriptor(): number {
    return this.#fd;
  }

  /** Bytes between what was consumed and what was reserved (records still being written included). */
  available(): number {
    return this.#open ? (acquire(this.#producer, 0) - this.#position) >>> 0 : 0;
  }

  /** Of data that there is room for. */
  get bytes(): number {
    return this.#size;
  }

  /** Bytes consumed since the ring was made. */
  get consumed(): number {
    return this.#position;
  }

  /**
   * Gives committed records to `handle`, oldest first, at most `budget` of them: offset (a multiple of 8) and length of
   * the payload in `memory`, valid during the call. Stops at a record that is still being written. The space is
   * returned to the kernel now and then, and before this returns. The result is the number of records.
   */
  drain(handle: (offset: number, length: number) => void, budget: number): number {
    if (!this.#open) return 0;
    const headers = this.#headers;
    const producer = this.#producer;
    const mask = this.#size - 1;
    const publishEvery = this.#size >>> 2;
    let position = this.#position;
    let handled = 0;
    try {
      while (handled < budget) {
        let pending = (acquire(producer, 0) - position) >>> 0;
        if (pending === 0) break;
        if (position + pending > this.#mapped) this.#mapRest();
        let busy = false;
        while (pending > 0 && handled < budget) {
          const offset = (position & mask) >>> 0;
          const header = acquire(headers, offset >>> 2);
          if (header < 0) {
            busy = true;
            break;
          }
          const length = header & LENGTH;
          const total = (length + HEADER + 7) & ~7;
          // Moved on first: a handler that throws must not see its record again.
          position += total;
          pending -= total;
          this.#position = position;
          if ((header & DISCARDED) === 0) {
            handled++;
            handle(offset + HEADER, length);
            if (!this.#open) return handled; // the handler closed us
          }
          if (position - this.#published >= publishEvery) this.#publish();
        }
        if (busy) break;
      }
    } finally {
      if (this.#open) this.#publish();
    }
    return handled;
  }

  /** Records go beyond what is mapped. */
  #mapRest(): void {
    mapInto(this.#pages, 2 * pageSize() + this.#mapped, this.#fd, 2 * this.#size - this.#mapped, PROT_READ);
    this.#mapped = Infinity;
  }

  #publish(): void {
    if (this.#published === this.#position) return;
    // One 64-bit store: the kernel must never see half a position.
    Atomics.store(this.#consumer, 0, BigInt(this.#position));
    this.#published = this.#position;
  }

  /**
   * Resolves when the kernel wakes us, when there is unread data, after `timeoutMs` (Infinity: never), or by cancel().
   * Always gives Node's event loop a turn, so that a loop of drain and wait starves nothing.
   */
  wait(timeoutMs: number): Promise<void> {
    if (!this.#open || this.available() > 0 || timeoutMs <= 0) return new Promise((resolve) => setImmediate(resolve));
    return this.#wait.wait(timeoutMs);
  }

  /** Ends a wait early. */
  cancel(): void {
    this.#wait.cancel();
  }

  /** Unmaps the memory: whoever kept views of `memory` must not use them any more. */
  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    this.#wait[Symbol.dispose]();
    munmap(this.#pages);
  }
}
