import type { Reason } from "../base/failure.ts";

/**
 * Bytes are not what their format says. The message names the file, as in `/tmp/x: damaged ELF file: the section table
 * lies behind the end of the file`, where the bytes are of one.
 */
export abstract class DamageError extends Error {
  /** What is wrong, without the file and its format. */
  readonly what: Reason;
  #file: string | undefined;

  constructor(format: string, what: Reason, file?: string) {
    super(`damaged ${format}: ${what}`);
    this.what = what;
    if (file !== undefined) this.in(file);
  }

  get file(): string | undefined {
    return this.#file;
  }

  /** This error, of bytes of a file; the first that is named is meant. */
  in(file: string | undefined): this {
    if (file === undefined || this.#file !== undefined) return this;
    this.#file = file;
    this.message = `${file}: ${this.message}`;
    return this;
  }
}
