const initialBytes = 1 << 16;
const zero = 48;
const minus = 45;
const encoder = new TextEncoder();
const two32 = 4294967296;
const two53 = 9007199254740992;

/** A growing byte buffer. Lines are built here; nothing on the way of an event makes a string. */
export class ByteWriter {
  bytes = new Uint8Array(initialBytes);
  length = 0;

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more));
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
    const out = this.bytes;
    if (value < 10) {
      out[this.length++] = zero + value;
      return;
    }
    const digits = decimalDigits(value);
    let at = this.length + digits;
    this.length = at;
    // 32-bit integer arithmetic is several times faster than doubles, so the value is cut into pieces of nine digits.
    while (value >= 1e9) {
      const high = Math.floor(value / 1e9);
      let low = (value - high * 1e9) | 0;
      for (let i = 0; i < 9; i++) {
        const next = (low / 10) | 0;
        out[--at] = zero + (low - next * 10);
        low = next;
      }
      value = high;
    }
    let rest = value | 0;
    do {
      const next = (rest / 10) | 0;
      out[--at] = zero + (rest - next * 10);
      rest = next;
    } while (rest > 0);
  }

  /** An unsigned 64-bit integer given as two 32-bit words. */
  unsigned64(low: number, high: number): void {
    const value = high * two32 + low;
    if (value < two53) this.decimal(value);
    else this.text(((BigInt(high) << 32n) | BigInt(low)).toString());
  }

  /** A signed 64-bit integer given as two 32-bit words (unsigned numbers, two's complement together). */
  signed64(low: number, high: number): void {
    if (high < 0x80000000) {
      this.unsigned64(low, high);
      return;
    }
    this.byte(minus);
    const negatedLow = -low >>> 0;
    const negatedHigh = (~high + (negatedLow === 0 ? 1 : 0)) >>> 0;
    this.unsigned64(negatedLow, negatedHigh);
  }

  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

function decimalDigits(value: number): number {
  let digits = 1;
  while (value >= 1e5) {
    value /= 1e5;
    digits += 5;
  }
  while (value >= 10) {
    value /= 10;
    digits++;
  }
  return digits;
}
