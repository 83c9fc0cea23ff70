// Memory for what a block is read into, used again for the next one: fresh memory for each would keep the collector of
// JavaScript's memory busy for a third of a replay.

/** Bytes that are kept for the next block at most. */
const mostKept = 1 << 27;

export class BlockRoom {
  #buffer = new ArrayBuffer(0);
  #used = 0;
  /** Bytes that this block has asked for. */
  #asked = 0;

  /** What was given is the next block's from now on. */
  reset(): void {
    if (this.#asked > this.#buffer.byteLength && this.#asked <= mostKept)
      this.#buffer = new ArrayBuffer(Math.min(mostKept, this.#asked * 2));
    this.#used = this.#asked = 0;
  }

  /** Where so many bytes are; undefined where there is no room left. */
  #take(bytes: number): number | undefined {
    const whole = (bytes + 7) & ~7;
    this.#asked += whole;
    if (this.#used + whole > this.#buffer.byteLength) return undefined;
    this.#used += whole;
    return this.#used - whole;
  }

  /** Numbers that may be anything. */
  words(count: number): Uint32Array {
    const at = this.#take(count * 4);
    return at === undefined ? new Uint32Array(count) : new Uint32Array(this.#buffer, at, count);
  }

  /** Zeros. */
  bytes(count: number): Uint8Array {
    const at = this.#take(count);
    return at === undefined ? new Uint8Array(count) : new Uint8Array(this.#buffer, at, count).fill(0);
  }
}
