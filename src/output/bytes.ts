const initialBytes = 1 << 16;
const zero = 48;
const minus = 45;
const encoder = new TextEncoder();
const two32 = 4294967296;
/** Integers below 2^53 are exact: with 32 bits below, these are 21 above. */
const two21 = 2097152;
const space = 32;
const decoder = new TextDecoder();
const lowerHex = encoder.encode("0123456789abcdef");
/** "00" to "99". */
const pairs = encoder.encode(Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0")).join(""));
/** Backspace, tab, newline, form feed, return, quote, backslash: the letter behind a backslash. */
const shortEscapes: ReadonlyMap<number, number> = new Map([
  [8, 98], [9, 116], [10, 110], [12, 102], [13, 114], [34, 34], [92, 92],
]);
/** Bytes beyond ASCII are looked at together. */
const undecided = 1 << 24;
/** How many bytes more a byte takes in a JSON string. */
const jsonGrowth = Int32Array.from({ length: 256 }, (_, byte) => {
  if (shortEscapes.has(byte)) return 1;
  return byte < 32 ? 5 : byte < 128 ? 0 : undecided;
});

/** A growing byte buffer. Lines are built here; nothing on the way of an event makes a string. */
export class ByteWriter {
  bytes: Buffer = Buffer.allocUnsafeSlow(initialBytes);
  length = 0;

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + more));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1);
    this.bytes[this.length++] = value;
  }

  constant(bytes: Uint8Array): void {
    const size = bytes.length;
    this.reserve(size);
    if (size > 32) {
      this.bytes.set(bytes, this.length);
    } else {
      // A call of set() costs more than a short loop.
      const out = this.bytes;
      for (let i = 0, at = this.length; i < size; i++, at++) out[at] = bytes[i];
    }
    this.length += size;
  }

  text(text: string): void {
    this.reserve(text.length * 3);
    this.length += encoder.encodeInto(text, this.bytes.subarray(this.length)).written;
  }

  /** Copies up to `limit` bytes, stopping before a NUL; gives how many. */
  cString(from: Uint8Array, offset: number, limit: number): number {
    this.reserve(limit);
    const out = this.bytes;
    let at = this.length;
    for (const end = offset + limit; offset < end; offset++) {
      const byte = from[offset];
      if (byte === 0) break;
      out[at++] = byte;
    }
    const copied = at - this.length;
    this.length = at;
    return copied;
  }

  /** A non-negative integer below 2^53 in decimal. */
  decimal(value: number): void {
    this.reserve(20);
    if (value < 1e9) {
      this.#upToNine(value | 0);
      return;
    }
    // Integers of 32 bits are divided several times faster than doubles, so the value is cut into pieces of nine digits.
    const high = Math.floor(value / 1e9);
    this.#upToNine(high | 0);
    this.#nine((value - high * 1e9) | 0);
  }

  /** Below 10^9. */
  #upToNine(value: number): void {
    const out = this.bytes;
    const end = this.length + (value < 10 ? 1 : value < 100 ? 2 : decimalDigits(value));
    let at = end;
    while (value >= 100) {
      const next = (value / 100) | 0;
      const pair = (value - next * 100) << 1;
      out[--at] = pairs[pair + 1];
      out[--at] = pairs[pair];
      value = next;
    }
    if (value >= 10) {
      out[--at] = pairs[(value << 1) + 1];
      out[--at] = pairs[value << 1];
    } else {
      out[--at] = zero + value;
    }
    this.length = end;
  }

  /** Below 10^9, with its leading zeros. */
  #nine(value: number): void {
    const out = this.bytes;
    const at = this.length;
    for (let i = at + 7; i > at; i -= 2) {
      const next = (value / 100) | 0;
      const pair = (value - next * 100) << 1;
      out[i + 1] = pairs[pair + 1];
      out[i] = pairs[pair];
      value = next;
    }
    out[at] = zero + value;
    this.length = at + 9;
  }

  /**
   * The unsigned 64-bit integer in the words `at` and `at + 1`, low first. They are read here, since words handed over as
   * numbers would be objects of their own.
   */
  unsigned64(words: Uint32Array, at: number): void {
    const low = words[at];
    const high = words[at + 1];
    if (high < two21) this.decimal(high * two32 + low);
    else this.text(((BigInt(high) << 32n) | BigInt(low)).toString());
  }

  /** The signed 64-bit integer in the words `at` and `at + 1`. */
  signed64(words: Uint32Array, at: number): void {
    const high = words[at + 1] | 0;
    if (high >= 0) {
      this.unsigned64(words, at);
      return;
    }
    const low = words[at];
    if (high > -two21) {
      this.byte(minus);
      this.decimal(-(high * two32 + low));
    } else {
      this.text(BigInt.asIntN(64, (BigInt(words[at + 1]) << 32n) | BigInt(low)).toString());
    }
  }

  /** The 64-bit integer in the words `at` and `at + 1` in hexadecimal. */
  hex64(words: Uint32Array, at: number): void {
    this.reserve(16);
    const high = words[at + 1] | 0;
    if (high !== 0) {
      this.#hex(high, hexDigits(high));
      this.#hex(words[at] | 0, 8);
    } else {
      const low = words[at] | 0;
      this.#hex(low, hexDigits(low));
    }
  }

  /** A 32-bit pattern in hexadecimal. */
  hex32(value: number): void {
    this.reserve(8);
    this.#hex(value, hexDigits(value));
  }

  #hex(value: number, digits: number): void {
    const out = this.bytes;
    for (let at = this.length + digits - 1; at >= this.length; at--) {
      out[at] = lowerHex[value & 15];
      value >>>= 4;
    }
    this.length += digits;
  }

  /** Fills what was written since `from` up to `width` bytes, on its left or on its right. */
  pad(from: number, width: number, left: boolean): void {
    const missing = width - (this.length - from);
    if (missing <= 0) return;
    this.reserve(missing);
    if (left) {
      this.bytes.copyWithin(from + missing, from, this.length);
      this.bytes.fill(space, from, from + missing);
    } else {
      this.bytes.fill(space, this.length, this.length + missing);
    }
    this.length += missing;
  }

  /** Makes what was written since `from` the inside of a JSON string. What is no UTF-8 becomes U+FFFD. */
  escapeJson(from: number): void {
    const out = this.bytes;
    let more = 0;
    for (let at = from; at < this.length; at++) more += jsonGrowth[out[at]];
    if (more === 0) return;
    if (more >= undecided) {
      const text = JSON.stringify(decoder.decode(out.subarray(from, this.length)));
      this.length = from;
      this.text(text.slice(1, -1));
      return;
    }
    this.reserve(more);
    // From the end, so that nothing is overwritten before it was moved.
    const bytes = this.bytes;
    let to = this.length + more;
    for (let at = this.length - 1; to > at + 1; at--) {
      const byte = bytes[at];
      const growth = jsonGrowth[byte];
      if (growth === 0) {
        bytes[--to] = byte;
        continue;
      }
      if (growth === 1) {
        bytes[--to] = shortEscapes.get(byte) ?? byte;
      } else {
        bytes[--to] = lowerHex[byte & 15];
        bytes[--to] = lowerHex[byte >> 4];
        bytes[--to] = zero;
        bytes[--to] = zero;
        bytes[--to] = 117; // u
      }
      bytes[--to] = 92; // backslash
    }
    this.length += more;
  }

  /** What was written, as a string. What is no UTF-8 becomes U+FFFD. */
  string(): string {
    const { bytes, length } = this;
    for (let at = 0; at < length; at++) if (bytes[at] > 127) return bytes.toString("utf8", 0, length);
    // Several times as fast, and the same for ASCII.
    return bytes.toString("latin1", 0, length);
  }

  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

/** Of an integer of three to nine digits. */
function decimalDigits(value: number): number {
  if (value < 1e5) return value < 1000 ? 3 : value < 1e4 ? 4 : 5;
  if (value < 1e7) return value < 1e6 ? 6 : 7;
  return value < 1e8 ? 8 : 9;
}

/** Of a 32-bit pattern. */
function hexDigits(value: number): number {
  return value === 0 ? 1 : (35 - Math.clz32(value)) >> 2;
}
