// What aggregations of doubles come to (their words: floating.ts). Loaded where there are some.
import { digitBits, digits, doubleOfBits, sumHead } from "../floating.ts";

const mantissaBits = 53;

/**
 * The double that a number in the order of doubles stands for: its magnitude's bits, with its sign
 * (compiler/lower/floats.ts).
 */
export function doubleOfOrder(order: bigint): number {
  const signed = BigInt.asIntN(64, order);
  return signed < 0n ? -doubleOfBits(-signed) : doubleOfBits(signed);
}

/** Adds a double by its bits, through `add`, which adds to a word. */
export function addToSum(add: (word: number, amount: bigint) => void, bits: bigint): void {
  const unsigned = BigInt.asUintN(64, bits);
  const negative = unsigned >> 63n === 1n;
  const exponent = Number((unsigned >> 52n) & 0x7ffn);
  const fraction = unsigned & ((1n << 52n) - 1n);
  if (exponent === 0x7ff) return add(fraction !== 0n ? 0 : negative ? 2 : 1, 1n);
  const mantissa = exponent === 0 ? fraction : fraction | (1n << 52n);
  const place = Math.max(exponent, 1) - 1;
  const first = Math.floor(place / digitBits);
  const moved = mantissa << BigInt(place % digitBits);
  for (let i = 0; i < 3; i++) {
    const digit = (moved >> BigInt(i * digitBits)) & ((1n << BigInt(digitBits)) - 1n);
    add(sumHead + first + i, negative ? -digit : digit);
  }
}

/** Of the words of a count and a sum of doubles: what their sum is when one of them was no number or infinite. */
function special([, none, infinite, below]: readonly bigint[]): number | undefined {
  if (none > 0n || (infinite > 0n && below > 0n)) return NaN;
  return infinite > 0n ? Infinity : below > 0n ? -Infinity : undefined;
}

function exactSum(words: readonly bigint[]): bigint {
  let sum = 0n;
  for (let i = digits - 1; i >= 0; i--) sum = (sum << BigInt(digitBits)) + BigInt.asIntN(64, words[1 + sumHead + i]);
  return sum;
}

/** The sum of doubles, of the words of their count and sum. */
export function total(words: readonly bigint[]): number {
  return special(words) ?? rounded(exactSum(words), 1n);
}

/** Their average; 0 where there are none. */
export function average(words: readonly bigint[]): number {
  const [count] = words;
  return special(words) ?? (count === 0n ? 0 : rounded(exactSum(words), count));
}

/** The double that is nearest to a quotient. */
export function quotient(dividend: bigint, divisor: bigint): number {
  return rounded(dividend << 1074n, divisor);
}

/** `units` of 2^-1074, divided: the nearest double, and of two the even one. */
function rounded(units: bigint, divisor: bigint): number {
  const magnitude = units < 0n ? -units : units;
  // Bits behind the quotient's that rounding looks at; the last says whether there are more.
  const extra = divisor === 1n ? 0n : 64n;
  const quotient = (magnitude << extra) / divisor;
  const inexact = (magnitude << extra) % divisor === 0n ? 0n : 1n;
  const whole = quotient | inexact;
  const drop = BigInt(Math.max(Number(extra), whole.toString(2).length - mantissaBits));
  const half = drop === 0n ? 0n : 1n << (drop - 1n);
  const rest = whole & ((1n << drop) - 1n);
  let kept = whole >> drop;
  if (half !== 0n && (rest > half || (rest === half && (kept & 1n) === 1n))) kept += 1n;
  // Both factors are doubles, and so is what they make: 2^-1074 is not in reach of all exponents at once.
  const exponent = Number(drop) - Number(extra) - 1074;
  const low = Math.max(exponent, -1000);
  const value = Number(kept) * 2 ** low * 2 ** (exponent - low);
  return units < 0n ? -value : value;
}
