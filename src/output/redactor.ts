// Texts of a recording as hashes: equal ones stay equal, and nobody can tell what they were. The key is in memory alone,
// so that guesses cannot be tried.
import { createHmac, randomBytes } from "node:crypto";

const digits = 12;

export class Redactor {
  readonly #key = randomBytes(32);
  readonly #known = new Map<string, Buffer>();

  /** The text that begins there, up to a NUL or the end of its room, becomes `#` and digits; an empty one stays. */
  redact(bytes: Uint8Array, offset: number, room: number): void {
    const field = Buffer.from(bytes.buffer, bytes.byteOffset + offset, room);
    const nul = field.indexOf(0);
    const text = field.toString("latin1", 0, nul < 0 ? room : nul);
    if (text === "") {
      field.fill(0);
      return;
    }
    let hash = this.#known.get(text);
    if (hash === undefined) {
      hash = Buffer.from(`#${createHmac("sha256", this.#key).update(text, "latin1").digest("hex").slice(0, digits)}`);
      if (this.#known.size >= mostKnown) this.#known.clear();
      this.#known.set(text, hash);
    }
    field.fill(0);
    hash.copy(field, 0, 0, Math.max(0, room - 1));
  }
}

/** Of as many the hashes are kept. */
const mostKnown = 1 << 16;
