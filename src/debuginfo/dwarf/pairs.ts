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
