// A set of points of the code, a bit each: where a register or a piece of the frame is taken.

export class Points {
  readonly #words: Uint32Array;

  constructor(points: number) {
    this.#words = new Uint32Array((points + 31) >> 5);
  }

  /** Whether any of the ranges ([from, to), not empty) has a point in common. */
  meets(ranges: readonly number[]): boolean {
    const words = this.#words;
    for (let r = 0; r < ranges.length; r += 2) {
      const last = ranges[r + 1] - 1;
      for (let from = ranges[r]; from <= last; from = (from | 31) + 1)
        if ((words[from >> 5] & bits(from, last)) !== 0) return true;
    }
    return false;
  }

  add(ranges: readonly number[]): void {
    const words = this.#words;
    for (let r = 0; r < ranges.length; r += 2) {
      const last = ranges[r + 1] - 1;
      for (let from = ranges[r]; from <= last; from = (from | 31) + 1) words[from >> 5] |= bits(from, last);
    }
  }
}

/** The bits of the word that `from` is in, from there to `last` or the word's end. */
function bits(from: number, last: number): number {
  return (-1 << (from & 31)) & (last >= (from | 31) ? -1 : ~(-2 << (last & 31)));
}
