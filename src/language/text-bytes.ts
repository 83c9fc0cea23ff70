// The bytes of a script's text. What `\x` and octal escapes spell and is no UTF-8 is kept as lone surrogates, U+DC80 to U+DCFF,
// a byte each: they stand for nothing else, since source text is decoded without them.

const encoder = new TextEncoder();
const lone = /[\uDC80-\uDCFF]/;
const loneSurrogate = 0xdc00;

/** One character for a byte of 0x80 or more. */
export function byteCharacter(byte: number): string {
  return String.fromCharCode(byte < 0x80 ? byte : loneSurrogate + byte);
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
