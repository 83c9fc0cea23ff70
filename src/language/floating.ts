// Doubles as 64 bits, which is what handlers have of them: and the words of their sums.

const scratch = new DataView(new ArrayBuffer(8));

/** The bits of a double, as an int64. */
export function bitsOfDouble(value: number): bigint {
  scratch.setFloat64(0, value);
  return scratch.getBigInt64(0);
}

export function doubleOfBits(bits: bigint): number {
  scratch.setBigUint64(0, BigInt.asUintN(64, bits));
  return scratch.getFloat64(0);
}

/** A number as it is written in a script: with a fraction always. */
export function literalText(value: number): string {
  const text = String(value);
  return text.includes(".") ? text : text.replace(/^-?\d+/, "$&.0");
}

// A sum of doubles is an integer in units of the least double, 2^-1074: digits of 26 bits, each in a word of its own
// with room for the carries of 2^37 additions. To add is three additions of integers, atomic where they must be, and
// the order in which handlers on several CPUs come does not matter: the sum is exact, and rounded once, when it is
// read. (The idea is Kulisch's; in words with room: Neal, "Fast exact summation using small and large
// superaccumulators", 2015.)

/** Words before the digits: how many values were no number, infinite, and infinite below zero. */
export const sumHead = 3;
/** Bits of a digit. A mantissa of 53 bits, moved by up to 25, has three. */
export const digitBits = 26;
const exponents = 2046;
/** How many. */
export const digits = Math.floor((exponents - 1) / digitBits) + 3;
/** Words of a sum of doubles. */
export const sumWords = sumHead + digits;

/**
 * x87's long double (Intel's manual, volume 1, 4.2.2), rounded to a double: 64 bits of an integer, then 15 of the exponent
 * and the sign.
 */
export function float80(view: DataView, _bytes: Uint8Array, offset: number): number {
  const whole = view.getBigUint64(offset, true);
  const high = view.getUint16(offset + 8, true);
  const exponent = high & 0x7fff;
  const sign = high >= 0x8000 ? -1 : 1;
  if (exponent === 0x7fff) return BigInt.asUintN(63, whole) === 0n ? sign * Infinity : NaN;
  // In two steps: one factor of the smallest numbers would be 0.
  const power = exponent - 16_383 - 63;
  const half = Math.trunc(power / 2);
  return sign * Number(whole) * 2 ** half * 2 ** (power - half);
}
