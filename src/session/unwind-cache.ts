// Unwinding tables on disk, by build id: what takes a pass over a binary's .eh_frame is there at once the next time.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { keptBytes, keptParts, wordsOf } from "../debuginfo/dwarf/kept-arrays.ts";
import type { UnwindTable } from "../debuginfo/unwind-table.ts";
import { cacheFolder } from "../linux/cache-folder.ts";

/** Changes whenever the tables' meaning does. */
const layout = "unwind 1";
/** Smaller ones are made in less than a millisecond. */
const fewestRows = 1000;
/** Bytes that all of them may take; those that were not used for longest go first. */
const mostBytes = 128 << 20;

/** Whatever goes wrong with it, tables are made again. */
export class UnwindCache implements Disposable {
  readonly #folder: string;
  readonly #limit: number;
  #wrote = false;

  constructor(folder = cacheFolder("unwind"), limit: number = mostBytes) {
    this.#folder = folder;
    this.#limit = limit;
  }

  read(buildId: string): UnwindTable | undefined {
    const path = `${this.#folder}/${buildId}`;
    try {
      const parts = keptParts(readFileSync(path), layout, 0);
      if (parts?.length !== 3 || parts[0].length !== 8 || parts[1].length !== parts[2].length) return undefined;
      const now = Date.now() / 1000;
      utimesSync(path, now, now);
      return { base: parts[0].readBigInt64LE(), starts: wordsOf(parts[1]), rules: wordsOf(parts[2]) };
    } catch {
      return undefined;
    }
  }

  write(buildId: string, { base, starts, rules }: UnwindTable): void {
    if (starts.length < fewestRows) return;
    const path = `${this.#folder}/${buildId}`;
    const partial = `${path}.${process.pid}`;
    try {
      mkdirSync(this.#folder, { recursive: true });
      writeFileSync(partial, keptBytes(layout, 0, [BigInt64Array.of(base), starts, rules]));
      renameSync(partial, path);
      this.#wrote = true;
    } catch {
      remove(partial);
    }
  }

  [Symbol.dispose](): void {
    if (!this.#wrote) return;
    try {
      const files = readdirSync(this.#folder).map((name) => {
        const path = `${this.#folder}/${name}`;
        const { mtimeMs: time, size } = statSync(path);
        return { path, time, size };
      });
      let left = this.#limit;
      for (const { path, size } of files.sort((a, b) => b.time - a.time)) if ((left -= size) < 0) rmSync(path, { force: true });
    } catch {
      // Another strobe tidied up meanwhile.
    }
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It was never there: its folder is none.
  }
}
