// What integer and string literals mean.
import type { Message } from "../../messages/message.ts";
import { syntax } from "../../messages/syntax.ts";
import { byteCharacter } from "../text-bytes.ts";
import { isDigit } from "./tokens.ts";

const nanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
};
const largest = (1n << 64n) - 1n;

/** `12`, `0x1f`, `017`, `1_000`, `1e6`, `10ms`, `1UL`; or what is wrong with it. */
export function integerValue(written: string): bigint | { readonly problem: Message } {
  if (isPlain(written)) return BigInt(written);
  const match =
    /^(?:(0[xX][0-9a-fA-F][0-9a-fA-F_]*)|(\d[\d_]*)(?:[eE](\d{1,4}))?)(ns|us|ms|s|m|h|d|[uU]?[lL]{0,2}|[lL]{1,2}[uU])$/.exec(
      written,
    );
  if (match === null) return { problem: syntax.notInteger(short(written)) };
  const [, hexadecimal, decimal = "", exponent, suffix = ""] = match;
  const digits = (hexadecimal ?? decimal).replaceAll("_", "");
  const double = exponent === undefined || suffix !== "" ? undefined : `${decimal}.0e${exponent}`;
  const tooLarge = { problem: syntax.integerTooLarge(short(written), double) };
  if (digits.length > 40 || Number(exponent ?? 0) > 19) return tooLarge;
  let value: bigint;
  if (hexadecimal === undefined && exponent === undefined && digits.length > 1 && digits.startsWith("0")) {
    if (/[89]/.test(digits)) return { problem: syntax.octalDigit(short(written)) };
    value = BigInt(`0o${digits}`);
  } else {
    value = BigInt(digits);
  }
  value *= 10n ** BigInt(exponent ?? 0) * (nanoseconds[suffix] ?? 1n);
  return value > largest ? tooLarge : value;
}

/** `2.5`, `1_000.25`, `6.02e23`, `2.5f`; or what is wrong with it. */
export function floatValue(written: string): number | { readonly problem: Message } {
  const match = /^(\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?)[fFlL]?$/.exec(written);
  if (match === null) return { problem: syntax.notNumber(short(written)) };
  const value = Number(match[1].replaceAll("_", ""));
  return Number.isFinite(value) ? value : { problem: syntax.doubleTooLarge(short(written)) };
}

/** Digits alone, as most are: a pattern takes longer to compile than all of a script's numbers to read. */
function isPlain(written: string): boolean {
  if (written.length > 15 || (written.length > 1 && written.startsWith("0"))) return false;
  for (let at = 0; at < written.length; at++) if (!isDigit(written.charCodeAt(at))) return false;
  return written.length > 0;
}

const escapes: Readonly<Record<string, number>> = {
  n: 10,
  t: 9,
  r: 13,
  a: 7,
  b: 8,
  f: 12,
  v: 11,
  e: 27,
  "\\": 92,
  '"': 34,
  "'": 39,
  "?": 63,
};

/**
 * The text between a literal's quotes with escapes replaced. `\x` and octal escapes are bytes: runs of them that are
 * UTF-8 become its characters, others those of text-bytes.ts.
 */
export function stringValue(written: string): {
  readonly value: string;
  readonly problems: readonly { at: number; problem: Message }[];
} {
  if (!written.includes("\\")) return { value: written, problems: [] };
  const problems: { at: number; problem: Message }[] = [];
  let value = "";
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length > 0) value += decode(bytes);
    bytes = [];
  };
  for (let at = 0; at < written.length; at++) {
    const letter = written[at];
    if (letter !== "\\") {
      flush();
      value += letter;
      continue;
    }
    const next = written[at + 1] ?? "";
    const number =
      next === "x" || (next >= "0" && next <= "7")
        ? /^(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3}))/.exec(written.slice(at + 1, at + 4))
        : null;
    if (number !== null) {
      bytes.push(parseInt(number[1] ?? number[2], number[1] === undefined ? 8 : 16) & 0xff);
      at += number[0].length;
    } else if (Object.hasOwn(escapes, next)) {
      flush();
      value += String.fromCharCode(escapes[next]);
      at++;
    } else {
      problems.push({ at, problem: syntax.unknownEscape(next) });
      flush();
      value += next;
      at++;
    }
  }
  flush();
  return { value, problems };
}

function decode(bytes: readonly number[]): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return bytes.map(byteCharacter).join("");
  }
}

function short(written: string): string {
  return written.length > 30 ? `${written.slice(0, 27)}…` : written;
}
