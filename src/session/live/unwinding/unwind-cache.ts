// Unwinding tables on disk, by build id: what takes a pass over a binary's .eh_frame is there at once the next time.
import { keptBytes, keptParts, wordsOf } from "../../../debuginfo/dwarf/kept-arrays.ts";
import type { UnwindTable } from "../../../debuginfo/unwind-table.ts";
import { KeptFiles } from "../../../store/kept-files.ts";
import { plain } from "../../../store/whole.ts";

/** Changes whenever the tables' meaning does. */
const layout = "unwind 1";
/** Smaller ones are made in less than a millisecond. */
const fewestRows = 1000;
const kind = { folder: "unwind", names: /^[0-9a-f]+$/, files: 1024, bytes: 128 << 20, form: plain };

/** Whatever goes wrong with it, tables are made again. */
export class UnwindCache {
  readonly #files: KeptFiles;

  constructor(bytes = kind.bytes) {
    this.#files = new KeptFiles({ ...kind, bytes });
  }

  read(buildId: string): UnwindTable | undefined {
    const bytes = this.#files.read(buildId);
    const parts = bytes && keptParts(bytes, layout, 0);
    if (parts?.length !== 3 || parts[0].length !== 8 || parts[1].length !== parts[2].length) return undefined;
    return { base: parts[0].readBigInt64LE(), starts: wordsOf(parts[1]), rules: wordsOf(parts[2]) };
  }

  write(buildId: string, { base, starts, rules }: UnwindTable): void {
    if (starts.length >= fewestRows)
      this.#files.write(buildId, keptBytes(layout, 0, [BigInt64Array.of(base), starts, rules]));
  }
}
