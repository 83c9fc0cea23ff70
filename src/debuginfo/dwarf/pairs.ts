// Pairs of numbers by the million, in typed arrays: hashes of names and the offsets of their entries.

/** Pairs of hash and entry offset, in no order. */
export interface Pairs {
  readonly hashes: Uint32Array;
  readonly offsets: Uint32Array;
}

/** Pairs that are still being found. */
export class GrowingPairs {
  hashes = new Uint32Array(1024);
  offsets = new Uint32Array(1024);
  count = 0;

  add(hash: number, offset: number): void {
    if (this.count === this.hashes.length) {
      const hashes = new Uint32Array(this.count * 2),
        offsets = new Uint32Array(this.count * 2);
      hashes.set(this.hashes);
      offsets.set(this.offsets);
      this.hashes = hashes;
      this.offsets = offsets;
    }
    this.hashes[this.count] = hash;
    this.offsets[this.count++] = offset;
  }

  done(): Pairs {
    return { hashes: this.hashes.slice(0, this.count), offsets: this.offsets.slice(0, this.count) };
  }
}

// Numbers that were seen: open addressing, so that millions cost little.
export class SeenNumbers {
  #slots = new Float64Array(1 << 12);
  #count = 0;

  /** Whether it is new. Never 0. */
  add(key: number): boolean {
    if (this.#count * 2 > this.#slots.length) this.#grow();
    if (!insert(this.#slots, key)) return false;
    this.#count++;
    return true;
  }

  #grow(): void {
    const larger = new Float64Array(this.#slots.length * 4);
    for (const key of this.#slots) if (key !== 0) insert(larger, key);
    this.#slots = larger;
  }
}

function insert(slots: Float64Array, key: number): boolean {
  const mask = slots.length - 1;
  for (let at = (key % 0x7fffffff) & mask; ; at = (at + 1) & mask) {
    if (slots[at] === key) return false;
    if (slots[at] !== 0) continue;
    slots[at] = key;
    return true;
  }
}
