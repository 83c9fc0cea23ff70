import { bytesText, spelledText, textBytes } from "../language/text-bytes.ts";
import { shownText } from "./shown-text.ts";

const zero = 48;
const encoder = new TextEncoder();
const lowerHex = encoder.encode("0123456789abcdef");
/** Backspace, tab, newline, form feed, return, quote, backslash: the letter behind a backslash. */
const shortEscapes: ReadonlyMap<number, number> = new Map([
  [8, 98],
  [9, 116],
  [10, 110],
  [12, 102],
  [13, 114],
  [34, 34],
  [92, 92],
]);
/** Bytes beyond ASCII are looked at together. */
const undecided = 1 << 24;
/** How many bytes more a byte takes in a JSON string. */
const jsonGrowth = new Int32Array(256).map((_, byte) => {
  if (shortEscapes.has(byte)) return 1;
  return byte < 32 ? 5 : byte < 128 ? 0 : undecided;
});

/** Whether these bytes are the inside of a JSON string as they are. */
export function isPlainJson(bytes: DataView, from: number, to: number): boolean {
  for (; from + 4 <= to; from += 4) {
    const four = bytes.getInt32(from, true);
    const quote = four ^ 0x2222_2222;
    const backslash = four ^ 0x5c5c_5c5c;
    // The highest bit of a byte that is beyond ASCII, below a space, zero, or zero.
    const bits =
      four |
      ((four - 0x2020_2020) & ~four) |
      ((quote - 0x0101_0101) & ~quote) |
      ((backslash - 0x0101_0101) & ~backslash);
    if ((bits & 0x8080_8080) !== 0) return false;
  }
  for (; from < to; from++) if (jsonGrowth[bytes.getUint8(from)] !== 0) return false;
  return true;
}

/** Whether these bytes are shown on a terminal as they are: ASCII without control characters. */
export function isPlainText(bytes: DataView, from: number, to: number): boolean {
  for (; from + 4 <= to; from += 4) {
    const four = bytes.getInt32(from, true);
    const del = four ^ 0x7f7f_7f7f;
    if (((four | ((four - 0x2020_2020) & ~four) | ((del - 0x0101_0101) & ~del)) & 0x8080_8080) !== 0) return false;
  }
  for (; from < to; from++) {
    const byte = bytes.getUint8(from);
    if (byte < 32 || byte > 126) return false;
  }
  return true;
}

/** The inside of a JSON string of these bytes. A byte that is no UTF-8 is spelled `\x9b`, as text. */
export function jsonInside(bytes: Uint8Array): Uint8Array {
  return encoder.encode(JSON.stringify(spelledText(bytesText(bytes))).slice(1, -1));
}

/** A growing byte buffer. Lines are built here; nothing on the way of an event makes a string. */
export class ByteWriter {
  bytes: Buffer;
  /** Of the same bytes. */
  data: DataView;
  length = 0;

  /** `room`: bytes before it grows, after which what V8 has compiled for it has to be compiled again. */
  constructor(room = 4096) {
    this.bytes = Buffer.allocUnsafeSlow(room);
    this.data = new DataView(this.bytes.buffer);
  }

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + more));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
    this.data = new DataView(grown.buffer);
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

  /** UTF-8, and what is none as it came: see text-bytes.ts. */
  text(text: string): void {
    this.reserve(text.length * 3);
    const { written } = encoder.encodeInto(text, this.bytes.subarray(this.length));
    if (written === text.length || text.isWellFormed()) this.length += written;
    else this.constant(textBytes(text));
  }

  /** Spells out what a terminal would not show, since `from`. */
  escapeControls(from: number, lines = false): void {
    if (isPlainText(this.data, from, this.length)) return;
    const shown = shownText(bytesText(this.bytes.subarray(from, this.length)), lines);
    this.length = from;
    this.text(shown);
  }

  /** The same in lines of JSON, as JSON has it. */
  escapeJsonControls(): void {
    const shown = bytesText(this.view()).replace(
      /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    this.clear();
    this.text(shown);
  }

  /** Makes what was written since `from` the inside of a JSON string: see jsonInside. */
  escapeJson(from: number): void {
    const out = this.bytes;
    let more = 0;
    for (let at = from; at < this.length; at++) more += jsonGrowth[out[at]];
    if (more === 0) return;
    if (more >= undecided) {
      const inside = jsonInside(out.subarray(from, this.length));
      this.length = from;
      this.constant(inside);
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
