// Texts of a recording as hashes: equal ones stay equal, and nobody can tell what they were. The key is in memory alone,
// so that guesses cannot be tried.
import { createHmac, randomBytes } from "node:crypto";

const digits = 12;

export class Redactor {
  readonly #key = randomBytes(32);
  readonly #known = new Map<string, Buffer>();

  /** `#` and digits, in no more bytes than there is room for; an empty text stays. */
  hashOf(bytes: Uint8Array, room: number): Uint8Array {
    const field = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const nul = field.indexOf(0);
    const text = field.toString("latin1", 0, nul < 0 ? field.length : nul);
    if (text === "") return new Uint8Array(0);
    let hash = this.#known.get(text);
    if (hash === undefined) {
      hash = Buffer.from(`#${createHmac("sha256", this.#key).update(text, "latin1").digest("hex").slice(0, digits)}`);
      if (this.#known.size >= mostKnown) this.#known.clear();
      this.#known.set(text, hash);
    }
    return hash.subarray(0, room);
  }
}

/** Bytes that a hash takes. */
export const hashBytes = digits + 1;

/** Of as many the hashes are kept. */
const mostKnown = 1 << 16;
