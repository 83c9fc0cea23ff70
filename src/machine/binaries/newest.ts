// What is kept of many files as long as there is room for it. A pattern goes through a thousand libraries, one after the
// other: their bytes and symbols would be 300 MB, most of them asked once.

/** Of however many bytes: scripts ask several files in turns. */
const least = 8;

/** The newest of what owners have, up to so many bytes in all. */
export class Newest<Kept> {
  readonly #most: number;
  readonly #bytesOf: (kept: Kept) => number;
  /** The oldest first, with the bytes that were counted: of the newest, once there is a newer one. */
  readonly #kept = new Map<object, { readonly value: Kept; bytes: number }>();
  #bytes = 0;
  #newest: { readonly value: Kept; bytes: number } | undefined;

  /** `bytesOf` may grow while something is used. */
  constructor(most: number, bytesOf: (kept: Kept) => number) {
    this.#most = most;
    this.#bytesOf = bytesOf;
  }

  /** Undefined when it was never kept, or no longer is. */
  of(owner: object): Kept | undefined {
    return this.#kept.get(owner)?.value;
  }

  /** Keeps what an owner has that had nothing. */
  keep(owner: object, value: Kept): Kept {
    if (this.#newest !== undefined) this.#bytes += this.#newest.bytes = this.#bytesOf(this.#newest.value);
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= this.#most || this.#kept.size < least) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytes;
    }
    this.#newest = { value, bytes: 0 };
    this.#kept.set(owner, this.#newest);
    return value;
  }
}
