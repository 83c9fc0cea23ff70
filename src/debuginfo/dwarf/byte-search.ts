// Where numbers and texts stand in bytes of which nothing else is known: as fast as memory is read, so that the few
// units that matter are found without the others being decoded.

/** Up to so many numbers are searched for one by one. */
const ONE_BY_ONE = 32;
/** Bytes that tell how often each value occurs. */
const SAMPLE = 1 << 14;

/** Numbers of 4 bytes, little-endian, at any place. */
export class NumberSearch {
  readonly #values: ReadonlySet<number>;
  /** The values' first two bytes. */
  readonly #starts: Uint8Array | undefined;
  #needles: readonly { readonly value: number; readonly bytes: Buffer; readonly skipped: number }[] | undefined;

  constructor(values: ReadonlySet<number>) {
    this.#values = values;
    if (values.size <= ONE_BY_ONE) return;
    this.#starts = new Uint8Array(1 << 16);
    for (const value of values) this.#starts[value & 0xffff] = 1;
  }

  /** Calls with each place where one of them ends behind `from`. Of several numbers each is told in its own pass. */
  each(bytes: Buffer, from: number, found: (at: number, value: number) => void): void {
    const first = Math.max(0, from - 3);
    if (this.#starts !== undefined) return this.#filtered(bytes, first, this.#starts, found);
    this.#needles ??= needlesOf(this.#values, bytes);
    for (const { value, bytes: needle, skipped } of this.#needles) {
      for (let hit = bytes.indexOf(needle, first + skipped); hit >= 0; hit = bytes.indexOf(needle, hit + 1)) {
        const at = hit - skipped;
        if (skipped === 0 || bytes[at] === (value & 0xff)) found(at, value);
      }
    }
  }

  #filtered(bytes: Buffer, first: number, starts: Uint8Array, found: (at: number, value: number) => void): void {
    const last = bytes.length - 4;
    let start = bytes[first] << 8;
    for (let at = first; at <= last; at++) {
      start = (start >>> 8) | (bytes[at + 1] << 8);
      if (starts[start] === 0) continue;
      const value = (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
      if (this.#values.has(value)) found(at, value);
    }
  }
}

/** Searches look for a needle's first byte: a rare one is found rarely. */
function needlesOf(values: ReadonlySet<number>, bytes: Buffer): { value: number; bytes: Buffer; skipped: number }[] {
  return [...values].map((value) => {
    const needle = Buffer.alloc(4);
    needle.writeUInt32LE(value);
    const skipped = rarest(needle, 2, bytes);
    return { value, bytes: needle.subarray(skipped), skipped };
  });
}

/** Which of the first bytes of a needle occurs least. */
function rarest(needle: Buffer, most: number, bytes: Buffer): number {
  const often = new Uint32Array(256);
  for (const byte of bytes.subarray(0, SAMPLE)) often[byte]++;
  let least = 0;
  for (let i = 1; i < most; i++) if (often[needle[i]] < often[needle[least]]) least = i;
  return least;
}

const NUL = 0,
  OPENING = 0x3c;
/** Longer needles are searched for in another, slower way. */
const NEEDLE = 6;

/** A name as a text of its own, with a NUL behind it, and as the name of a template's instance, with `<`. */
export class TextSearch {
  readonly #name: Buffer;
  #needle: { readonly bytes: Buffer; readonly skipped: number } | undefined;

  constructor(name: Buffer) {
    this.#name = name;
  }

  /** Calls with each place where it ends behind `from`. */
  each(bytes: Buffer, from: number, found: (at: number) => void): void {
    const name = this.#name;
    if (this.#needle === undefined) {
      const skipped = rarest(name, Math.max(1, name.length - 2), bytes);
      this.#needle = { skipped, bytes: name.subarray(skipped, skipped + NEEDLE) };
    }
    const { bytes: needle, skipped } = this.#needle;
    for (
      let hit = bytes.indexOf(needle, Math.max(0, from - name.length) + skipped);
      hit >= 0;
      hit = bytes.indexOf(needle, hit + 1)
    ) {
      const at = hit - skipped,
        end = at + name.length;
      const behind = bytes[end];
      if ((behind === NUL || behind === OPENING) && bytes.compare(name, 0, name.length, at, end) === 0) found(at);
    }
  }
}
