// Rows of words, and texts, each kept once and known by a number from 0.

/** What is less than half full is searched quickly. */
class Places {
  #table = new Int32Array(1 << 8).fill(-1);

  get mask(): number {
    return this.#table.length - 1;
  }

  /** -1: nothing is there. */
  at(place: number): number {
    return this.#table[place];
  }

  /** `hashes`: of all numbers. */
  set(place: number, number: number, hashes: Int32Array): void {
    this.#table[place] = number;
    if ((number + 1) * 2 <= this.#table.length) return;
    this.#table = new Int32Array(this.#table.length * 2).fill(-1);
    const { mask } = this;
    for (let i = 0; i <= number; i++) {
      let next = placeOf(hashes[i]) & mask;
      while (this.#table[next] >= 0) next = (next + 1) & mask;
      this.#table[next] = i;
    }
  }

  clear(): void {
    this.#table.fill(-1);
  }
}

function placeOf(hash: number): number {
  return hash ^ (hash >>> 15);
}

const factor = 0x9e37_79b1;

/** Rows of so many words. */
export class DifferentRows {
  count = 0;
  /** All rows, one behind the other. */
  kept: Uint32Array;
  readonly words: number;
  #hashes = new Int32Array(1 << 7);
  readonly #places = new Places();

  constructor(words: number) {
    this.words = words;
    this.kept = new Uint32Array(words * 64);
  }

  numberOf(row: Uint32Array): number {
    const { words } = this;
    let hash = 0;
    for (let i = 0; i < words; i++) hash = Math.imul(hash ^ row[i], factor);
    const { mask } = this.#places;
    for (let place = placeOf(hash) & mask; ; place = (place + 1) & mask) {
      const number = this.#places.at(place);
      if (number < 0) return this.#keep(place, hash, row);
      if (this.#is(number, row)) return number;
    }
  }

  #is(number: number, row: Uint32Array): boolean {
    const start = number * this.words;
    for (let i = 0; i < this.words; i++) if (this.kept[start + i] !== row[i]) return false;
    return true;
  }

  #keep(place: number, hash: number, row: Uint32Array): number {
    const number = this.count++;
    if (this.count * this.words > this.kept.length) this.kept = larger(this.kept, this.kept.length * 2);
    if (this.count > this.#hashes.length) this.#hashes = larger(this.#hashes, this.#hashes.length * 2);
    this.kept.set(row, number * this.words);
    this.#hashes[number] = hash;
    this.#places.set(place, number, this.#hashes);
    return number;
  }

  clear(): void {
    this.count = 0;
    this.#places.clear();
  }
}

/** Texts of any bytes. Those of different marks are different. */
export class DifferentTexts {
  count = 0;
  #bytes = new Uint8Array(1 << 12);
  #used = 0;
  /** Where each ends. */
  #ends = new Uint32Array(1 << 7);
  #marks = new Uint8Array(1 << 7);
  #hashes = new Int32Array(1 << 7);
  readonly #places = new Places();

  /** Of the text that begins there and has so many bytes at most; with `untilNul` those before a NUL. */
  numberOf(bytes: Uint8Array, at: number, room: number, untilNul: boolean, mark = 0): number {
    let hash = mark;
    let end = at;
    for (const most = at + room; end < most; end++) {
      const byte = bytes[end];
      if (untilNul && byte === 0) break;
      hash = Math.imul(hash ^ byte, factor);
      hash ^= hash >>> 13;
    }
    const { mask } = this.#places;
    for (let place = placeOf(hash) & mask; ; place = (place + 1) & mask) {
      const number = this.#places.at(place);
      if (number < 0) return this.#keep(place, hash, bytes.subarray(at, end), mark);
      if (this.#hashes[number] === hash && this.#is(number, bytes, at, end, mark)) return number;
    }
  }

  #is(number: number, bytes: Uint8Array, at: number, end: number, mark: number): boolean {
    let mine = number === 0 ? 0 : this.#ends[number - 1];
    if (this.#ends[number] - mine !== end - at || this.#marks[number] !== mark) return false;
    for (let i = at; i < end; i++) if (this.#bytes[mine++] !== bytes[i]) return false;
    return true;
  }

  #keep(place: number, hash: number, text: Uint8Array, mark: number): number {
    const number = this.count++;
    const end = this.#used + text.length;
    if (end > this.#bytes.length) this.#bytes = larger(this.#bytes, Math.max(end, this.#bytes.length * 2));
    if (this.count > this.#ends.length) {
      this.#ends = larger(this.#ends, this.#ends.length * 2);
      this.#marks = larger(this.#marks, this.#marks.length * 2);
      this.#hashes = larger(this.#hashes, this.#hashes.length * 2);
    }
    this.#bytes.set(text, this.#used);
    this.#used = end;
    this.#ends[number] = end;
    this.#marks[number] = mark;
    this.#hashes[number] = hash;
    this.#places.set(place, number, this.#hashes);
    return number;
  }

  /** By their numbers. */
  *texts(): Iterable<{ readonly text: Uint8Array; readonly mark: number }> {
    for (let i = 0, at = 0; i < this.count; i++) {
      yield { text: this.#bytes.subarray(at, this.#ends[i]), mark: this.#marks[i] };
      at = this.#ends[i];
    }
  }

  clear(): void {
    this.count = this.#used = 0;
    this.#places.clear();
  }
}

function larger<T extends Uint8Array | Uint32Array | Int32Array>(of: T, length: number): T {
  const made = new (of.constructor as new (length: number) => T)(length);
  made.set(of);
  return made;
}
