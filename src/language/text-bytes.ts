// The bytes of text, a script's or a traced program's. What is no UTF-8 is kept as lone surrogates, U+DC80 to U+DCFF, a
// byte each: they stand for nothing else, since nothing that is decoded gives any. Text in handlers ends at a zero byte;
// one within text whose length is known stands there as two bytes that are no UTF-8, and is U+0000 again when decoded.
import type { Expression } from "./program.ts";

const encoder = new TextEncoder();
// Each takes a tenth of a millisecond to make, which most starts do without.
let decoder: InstanceType<typeof TextDecoder> | undefined;
let strict: InstanceType<typeof TextDecoder> | undefined;
const lone = /[\uDC80-\uDCFF]/;
const loneSurrogate = 0xdc00;

/** A zero byte within text, in handlers: as Java's modified UTF-8 has it. */
export const zeroWithin: readonly number[] = [0xc0, 0x80];

/** One character for a byte of 0x80 or more. */
export function byteCharacter(byte: number): string {
  return String.fromCharCode(byte < 0x80 ? byte : loneSurrogate + byte);
}

/** The byte that a character stands for, where it is a lone surrogate of ours. */
export function byteOf(code: number): number | undefined {
  return code >= loneSurrogate + 0x80 && code <= loneSurrogate + 0xff ? code - loneSurrogate : undefined;
}

/** Text for those who take nothing but characters: a byte that is no UTF-8 is spelled `\x9b`. */
export function spelledText(text: string): string {
  return lone.test(text)
    ? text.replace(/\p{Surrogate}/gu, (character) => `\\x${(character.charCodeAt(0) & 0xff).toString(16)}`)
    : text;
}

/** UTF-8, without a terminator. */
export function textBytes(text: string): Uint8Array {
  if (!lone.test(text)) return encoder.encode(text);
  // Iterating gives whole characters, so that a surrogate on its own is one of ours.
  const bytes: number[] = [];
  for (const character of text) {
    if (lone.test(character) && character.length === 1) bytes.push(character.charCodeAt(0) - loneSurrogate);
    else bytes.push(...encoder.encode(character));
  }
  return Uint8Array.from(bytes);
}

export function textLength(text: string): number {
  return lone.test(text) ? textBytes(text).length : Buffer.byteLength(text);
}

/** The text that `textBytes` makes these bytes of. */
export function bytesText(bytes: Uint8Array): string {
  decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
  const text = decoder.decode(bytes);
  // Most text has none of what stands for a mistake.
  if (!text.includes("\ufffd")) return text;
  let exact = "";
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at];
    const size = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const character = lead < 0x80 ? String.fromCharCode(lead) : decodedExactly(bytes.subarray(at, at + size));
    const zero = lead === zeroWithin[0] && bytes[at + 1] === zeroWithin[1];
    exact += zero ? "\0" : (character ?? byteCharacter(lead));
    at += zero ? zeroWithin.length : character === undefined ? 1 : size;
  }
  return exact;
}

/** `"text" + 2`, or the other way round, is the text from that byte on, as with a pointer to it in C. */
export function textFrom(a: Expression, b: Expression): string | undefined {
  const [text, offset] = a.kind === "string" ? [a, b] : [b, a];
  if (text.kind !== "string" || offset.kind !== "integer" || offset.value < 0n) return undefined;
  return bytesText(textBytes(text.value).subarray(Number(offset.value)));
}

function decodedExactly(bytes: Uint8Array): string | undefined {
  strict ??= new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}
