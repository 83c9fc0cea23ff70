// printf's %f, %e and %g of a double: the digits that C's has, exact and rounded to the nearest, of two to the even
// one.
import { bitsOfDouble } from "../language/floating.ts";

/** Digits behind the point that a double has at most: what is behind them is 0. */
const mostDigits = 1074;

export interface FloatStyle {
  readonly letter: string;
  readonly precision: number;
  /** `#`: the point and zeros stay. */ readonly alternate: boolean;
}

/**
 * Of a double that is not negative and finite; `letter` is e, f or g, or one of them as a capital. A precision below 0
 * is 6.
 */
export function floatDigits(value: number, { letter, precision: wanted, alternate }: FloatStyle): string {
  const precision = wanted < 0 ? 6 : wanted;
  const text = digits(value, letter.toLowerCase(), precision, alternate);
  return letter === letter.toLowerCase() ? text : text.toUpperCase();
}

function digits(value: number, letter: string, precision: number, alternate: boolean): string {
  if (letter === "f") return withPoint(fixed(value, precision), alternate);
  if (letter === "e") return exponential(value, precision, alternate);
  const significant = precision === 0 ? 1 : precision;
  const { exponent } = scientific(value, significant - 1);
  const text =
    exponent < significant && exponent >= -4
      ? fixed(value, significant - 1 - exponent)
      : exponential(value, significant - 1, alternate);
  if (alternate) return withPoint(text, true);
  return text.replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, "");
}

function withPoint(text: string, alternate: boolean): string {
  return alternate && !text.includes(".") ? text.replace(/^\d+/, "$&.") : text;
}

function exponential(value: number, precision: number, alternate: boolean): string {
  const { exponent, whole } = scientific(value, precision);
  const point = precision > 0 || alternate ? "." : "";
  return `${whole[0]}${point}${whole.slice(1)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** Digits behind the point, `precision` of them. */
function fixed(value: number, precision: number): string {
  // JavaScript's are exact, too, but for what lies right in the middle, which takes a binary fraction that is as short.
  if (precision <= 100 && value < 1e21 && !Number.isInteger(value * 2 ** (precision + 1)))
    return value.toFixed(precision);
  const shown = Math.min(precision, mostDigits);
  const text = String(scaled(value, shown)).padStart(shown + 1, "0");
  const whole = text.slice(0, text.length - shown);
  return precision === 0 ? whole : `${whole}.${text.slice(text.length - shown).padEnd(precision, "0")}`;
}

/** One digit, and `precision` more, of a number between 1 and 10, and the power of ten that it is times. */
function scientific(value: number, precision: number): { exponent: number; whole: string } {
  if (value === 0) return { exponent: 0, whole: "0".repeat(precision + 1) };
  const shown = Math.min(precision, mostDigits);
  // Of the shortest digits that mean it: of the least doubles 1e-320, which is 9.9998886718268301e-321.
  let exponent = Number(/e(.*)$/.exec(value.toExponential())?.[1]);
  let whole = String(scaled(value, shown - exponent));
  if (whole.length <= shown) whole = String(scaled(value, shown - --exponent));
  // 9.99 with one digit is 10.
  if (whole.length > shown + 1) whole = String(scaled(value, shown - ++exponent));
  return { exponent, whole: whole.padEnd(precision + 1, "0") };
}

/** value × 10^power as an integer. */
function scaled(value: number, power: number): bigint {
  const bits = bitsOfDouble(value);
  const field = bits >> 52n;
  const mantissa = (bits & ((1n << 52n) - 1n)) | (field === 0n ? 0n : 1n << 52n);
  const two = (field === 0n ? 1n : field) - 1075n;
  const ten = 10n ** BigInt(Math.abs(power));
  const above = (mantissa * (power > 0 ? ten : 1n)) << (two > 0n ? two : 0n);
  const below = (power < 0 ? ten : 1n) << (two < 0n ? -two : 0n);
  const rest = (above % below) * 2n;
  const whole = above / below;
  return rest > below || (rest === below && (whole & 1n) === 1n) ? whole + 1n : whole;
}
