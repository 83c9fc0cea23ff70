// Numbers and text as bytes: each function writes at a place where there is room, and gives the place behind what it
// wrote. The place is handed over and back, so that it stays in a register while a line is written. Two and four bytes
// are written at once where that goes: V8 makes one store of a DataView's, at any place.

const encoder = new TextEncoder();
const zero = 48;
const minus = 45;
const space = 32;
const two32 = 4294967296;
/** Integers below 2^53 are exact: with 32 bits below, these are 21 above. */
const two21 = 2097152;
/** The most bytes that an integer of 64 bits takes. */
export const mostDigits = 20;
const lowerHex = encoder.encode("0123456789abcdef");
/** "00" to "99", the first digit in the low byte. */
const pairs = new Uint16Array(100).map((_, n) => (zero + Math.floor(n / 10)) | ((zero + (n % 10)) << 8));

// Each calls the next in one place: V8 compiles what is called once more for every place.

/** A non-negative integer below 2^53 in decimal. */
export function decimal(out: DataView, at: number, value: number): number {
  // Integers of 32 bits are divided several times faster than doubles, and handed over without an object of their own,
  // so the value is cut into pieces of nine digits.
  if (value < 1e9) return digits(out, at, 0, value | 0);
  const high = Math.floor(value / 1e9);
  return digits(out, at, high | 0, (value - high * 1e9) | 0);
}

/** An integer of at most 32 bits in decimal. */
export function decimalSigned(out: DataView, at: number, value: number): number {
  if (value < 0) out.setUint8(at++, minus);
  return decimal(out, at, value < 0 ? -value : value);
}

/** `high` thousand millions, and `low`, which is below that. */
function digits(out: DataView, at: number, high: number, low: number): number {
  const end = upToNine(out, at, high === 0 ? low : high);
  return high === 0 ? end : nine(out, end, low);
}

/** Below 10^9. */
function upToNine(out: DataView, at: number, value: number): number {
  const end = at + (value < 10 ? 1 : value < 100 ? 2 : decimalDigits(value));
  let to = end;
  while (value >= 100) {
    const next = (value / 100) | 0;
    to -= 2;
    out.setUint16(to, pairs[value - next * 100], true);
    value = next;
  }
  if (value >= 10) out.setUint16(to - 2, pairs[value], true);
  else out.setUint8(to - 1, zero + value);
  return end;
}

/** Below 10^9, with its leading zeros: without a loop, so that the processor divides several at a time. */
function nine(out: DataView, at: number, value: number): number {
  const upper = (value / 10000) | 0;
  const first = (upper / 10000) | 0;
  const middle = upper - first * 10000;
  const lower = value - upper * 10000;
  const a = (middle / 100) | 0;
  const c = (lower / 100) | 0;
  out.setUint8(at, zero + first);
  out.setUint16(at + 1, pairs[a], true);
  out.setUint16(at + 3, pairs[middle - a * 100], true);
  out.setUint16(at + 5, pairs[c], true);
  out.setUint16(at + 7, pairs[lower - c * 100], true);
  return at + 9;
}

/**
 * The unsigned 64-bit integer in the words `word` and `word + 1`, low first. They are read here, since words handed
 * over as numbers would be objects of their own.
 */
export function unsigned64(out: DataView, at: number, words: Uint32Array, word: number): number {
  const high = words[word + 1];
  if (high < two21) return decimal(out, at, high * two32 + words[word]);
  return ascii(out, at, ((BigInt(high) << 32n) | BigInt(words[word])).toString());
}

/** The signed 64-bit integer in the words `word` and `word + 1`. */
export function signed64(out: DataView, at: number, words: Uint32Array, word: number): number {
  const high = words[word + 1] | 0;
  if (high >= two21 || high <= -two21) {
    return ascii(out, at, BigInt.asIntN(64, (BigInt(words[word + 1]) << 32n) | BigInt(words[word])).toString());
  }
  const value = high * two32 + words[word];
  if (value < 0) out.setUint8(at++, minus);
  return decimal(out, at, value < 0 ? -value : value);
}

/** The 64-bit integer in the words `word` and `word + 1` in hexadecimal. */
export function hex64(out: DataView, at: number, words: Uint32Array, word: number): number {
  const low = words[word] | 0;
  const high = words[word + 1] | 0;
  if (high === 0) return hex(out, at, low, hexDigits(low));
  return hex(out, hex(out, at, high, hexDigits(high)), low, 8);
}

/** A 32-bit pattern in hexadecimal. */
export function hex32(out: DataView, at: number, value: number): number {
  return hex(out, at, value, hexDigits(value));
}

function hex(out: DataView, at: number, value: number, digits: number): number {
  for (let to = at + digits - 1; to >= at; to--) {
    out.setUint8(to, lowerHex[value & 15]);
    value >>>= 4;
  }
  return at + digits;
}

/** Up to `limit` bytes at `offset`, stopping before a NUL. */
export function cString(out: DataView, at: number, from: DataView, offset: number, limit: number): number {
  const end = offset + limit;
  while (offset + 4 <= end) {
    const four = from.getInt32(offset, true);
    // The highest bit of a byte that is zero, and of those above it at most.
    if (((four - 0x0101_0101) & ~four & 0x8080_8080) !== 0) break;
    out.setInt32(at, four, true);
    offset += 4;
    at += 4;
  }
  for (; offset < end; offset++) {
    const byte = from.getUint8(offset);
    if (byte === 0) break;
    out.setUint8(at++, byte);
  }
  return at;
}

/** All of the bytes. */
export function constant(out: Uint8Array, at: number, bytes: Uint8Array): number {
  // A call of set() costs more than a short loop.
  if (bytes.length > 32) out.set(bytes, at);
  else for (let i = 0; i < bytes.length; i++) out[at + i] = bytes[i];
  return at + bytes.length;
}

/** Fills what is between `from` and `at` up to `width` bytes, on its left. */
export function padLeft(out: Uint8Array, at: number, from: number, width: number): number {
  const missing = width - (at - from);
  if (missing <= 0) return at;
  for (let i = at - 1; i >= from; i--) out[i + missing] = out[i];
  for (let i = 0; i < missing; i++) out[from + i] = space;
  return at + missing;
}

/** Fills what is between `from` and `at` up to `width` bytes, on its right. */
export function padRight(out: Uint8Array, at: number, from: number, width: number): number {
  for (const end = from + width; at < end; at++) out[at] = space;
  return at;
}

function ascii(out: DataView, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) out.setUint8(at + i, text.charCodeAt(i));
  return at + text.length;
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
