// How far a recording has been read, as a line on a terminal, where that takes longer than a second.
import { fstatSync } from "node:fs";
import { decorates } from "../linux/ffi.ts";

const firstMilliseconds = 1000;
const everyMilliseconds = 200;
const barCharacters = 30;

export class Progress {
  readonly #doing: string;
  readonly #began = Date.now();
  #last = 0;
  #shown = false;

  private constructor(doing: string) {
    this.#doing = doing;
  }

  /** Where there may be a terminal for it (as StatusLine). `doing`: `replaying run.strobe`. */
  static start(doing: string): Progress | undefined {
    return fstatSync(2, { bigint: true }).isCharacterDevice() && decorates() ? new Progress(doing) : undefined;
  }

  /** Called for whatever is read of a file: where, and how long the file is. */
  readonly read = (offset: number, size: number): void => {
    const now = Date.now();
    if (now - this.#began < firstMilliseconds || now - this.#last < everyMilliseconds) return;
    if (size === 0 || !process.stderr.isTTY) return;
    this.#last = now;
    this.#shown = true;
    const share = Math.min(1, offset / size);
    const full = Math.round(share * barCharacters);
    const bar = "█".repeat(full) + "░".repeat(barCharacters - full);
    const line = `${this.#doing} ${bar} ${Math.floor(share * 100)} %, ${Math.floor((now - this.#began) / 1000)} s`;
    // A line that goes on in the next cannot be wiped.
    const { columns } = process.stderr;
    process.stderr.write(`\r\x1b[K\x1b[2m${columns > 1 ? line.slice(0, columns - 1) : line}\x1b[0m`);
  };

  /** Before anything else is said. */
  readonly hide = (): void => {
    if (!this.#shown) return;
    this.#shown = false;
    process.stderr.write("\r\x1b[K");
  };
}
