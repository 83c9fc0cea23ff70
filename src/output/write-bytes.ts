// Numbers and text as bytes: each function writes at a place where there is room, and gives the place behind what it wrote. The
// place is handed over and back, so that it stays in a register while a line is written.

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
/** "00" to "99". */
const pairs = encoder.encode(Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0")).join(""));

// Each calls the next in one place: V8 compiles what is called once more for every place.

/** A non-negative integer below 2^53 in decimal. */
export function decimal(out: Uint8Array, at: number, value: number): number {
  // Integers of 32 bits are divided several times faster than doubles, so the value is cut into pieces of nine digits.
  const high = value < 1e9 ? 0 : Math.floor(value / 1e9);
  const end = upToNine(out, at, (high === 0 ? value : high) | 0);
  return high === 0 ? end : nine(out, end, (value - high * 1e9) | 0);
}

/** An integer of at most 32 bits in decimal. */
export function decimalSigned(out: Uint8Array, at: number, value: number): number {
  if (value < 0) out[at++] = minus;
  return decimal(out, at, value < 0 ? -value : value);
}

/** Below 10^9. */
function upToNine(out: Uint8Array, at: number, value: number): number {
  const end = at + (value < 10 ? 1 : value < 100 ? 2 : decimalDigits(value));
  let to = end;
  while (value >= 100) {
    const next = (value / 100) | 0;
    const pair = (value - next * 100) << 1;
    out[--to] = pairs[pair + 1];
    out[--to] = pairs[pair];
    value = next;
  }
  if (value >= 10) {
    out[--to] = pairs[(value << 1) + 1];
    out[--to] = pairs[value << 1];
  } else {
    out[--to] = zero + value;
  }
  return end;
}

/** Below 10^9, with its leading zeros: without a loop, so that the processor divides several at a time. */
function nine(out: Uint8Array, at: number, value: number): number {
  const upper = (value / 10000) | 0;
  const first = (upper / 10000) | 0;
  const middle = upper - first * 10000;
  const lower = value - upper * 10000;
  const a = (middle / 100) | 0;
  const b = middle - a * 100;
  const c = (lower / 100) | 0;
  const d = lower - c * 100;
  out[at] = zero + first;
  out[at + 1] = pairs[a << 1];
  out[at + 2] = pairs[(a << 1) + 1];
  out[at + 3] = pairs[b << 1];
  out[at + 4] = pairs[(b << 1) + 1];
  out[at + 5] = pairs[c << 1];
  out[at + 6] = pairs[(c << 1) + 1];
  out[at + 7] = pairs[d << 1];
  out[at + 8] = pairs[(d << 1) + 1];
  return at + 9;
}

/**
 * The unsigned 64-bit integer in the words `word` and `word + 1`, low first. They are read here, since words handed over as
 * numbers would be objects of their own.
 */
export function unsigned64(out: Uint8Array, at: number, words: Uint32Array, word: number): number {
  const high = words[word + 1];
  if (high < two21) return decimal(out, at, high * two32 + words[word]);
  return ascii(out, at, ((BigInt(high) << 32n) | BigInt(words[word])).toString());
}

/** The signed 64-bit integer in the words `word` and `word + 1`. */
export function signed64(out: Uint8Array, at: number, words: Uint32Array, word: number): number {
  const high = words[word + 1] | 0;
  if (high >= two21 || high <= -two21) {
    return ascii(out, at, BigInt.asIntN(64, (BigInt(words[word + 1]) << 32n) | BigInt(words[word])).toString());
  }
  const value = high * two32 + words[word];
  if (value < 0) out[at++] = minus;
  return decimal(out, at, value < 0 ? -value : value);
}

/** The 64-bit integer in the words `word` and `word + 1` in hexadecimal. */
export function hex64(out: Uint8Array, at: number, words: Uint32Array, word: number): number {
  const low = words[word] | 0;
  const high = words[word + 1] | 0;
  if (high === 0) return hex(out, at, low, hexDigits(low));
  return hex(out, hex(out, at, high, hexDigits(high)), low, 8);
}

/** A 32-bit pattern in hexadecimal. */
export function hex32(out: Uint8Array, at: number, value: number): number {
  return hex(out, at, value, hexDigits(value));
}

function hex(out: Uint8Array, at: number, value: number, digits: number): number {
  for (let to = at + digits - 1; to >= at; to--) {
    out[to] = lowerHex[value & 15];
    value >>>= 4;
  }
  return at + digits;
}

/** Up to `limit` bytes, stopping before a NUL. */
export function cString(out: Uint8Array, at: number, from: Uint8Array, offset: number, limit: number): number {
  for (const end = offset + limit; offset < end; offset++) {
    const byte = from[offset];
    if (byte === 0) break;
    out[at++] = byte;
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

function ascii(out: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) out[at + i] = text.charCodeAt(i);
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
