// Files that a run leaves for the next one. Whatever goes wrong with them, what they hold is found out again.
import {
  closeSync, existsSync, fstatSync, futimesSync, openSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync,
} from "node:fs";
import { makeFolders } from "./make-folders.ts";

/** What a folder of them may take: those that were not used for longest go first. */
export interface Most { readonly files: number; readonly bytes?: number }

export class KeptFiles {
  readonly #folder: string;
  readonly #most: Most;

  /** The folder need not be there yet. */
  constructor(folder: string, most: Most) {
    this.#folder = folder;
    this.#most = most;
  }

  /**
   * What `use` makes of the open file and its size in bytes; undefined where there is none. What others may write is none: it would
   * be believed, and they could cut it short while it is mapped.
   */
  open<T>(name: string, use: (file: number, size: number) => T): T | undefined {
    let file: number;
    // Most often there is none, and an error takes Node long to make.
    if (!existsSync(this.#path(name))) return undefined;
    try {
      file = openSync(this.#path(name), "r");
    } catch {
      return undefined;
    }
    try {
      const { uid, mode, size } = fstatSync(file);
      if (uid !== process.geteuid?.() || (mode & 0o022) !== 0) return undefined;
      usedNow(file);
      return use(file, size);
    } finally {
      closeSync(file);
    }
  }

  read(name: string): Buffer | undefined {
    return this.open(name, (file) => {
      try {
        return readFileSync(file);
      } catch {
        return undefined;
      }
    });
  }

  /** Under its name there is always a whole file: the old one, or this. */
  write(name: string, contents: string | Uint8Array): void {
    const unfinished = `${this.#path(name)}.${process.pid}`;
    try {
      makeFolders(this.#folder, 0o700);
      writeFileSync(unfinished, contents, { flag: "wx", mode: 0o600 });
      renameSync(unfinished, this.#path(name));
      this.#tidy();
    } catch {
      // A folder that is not ours to write, a full disk, another strobe that tidied up meanwhile.
      remove(unfinished);
    }
  }

  remove(name: string): void {
    remove(this.#path(name));
  }

  #path(name: string): string {
    return `${this.#folder}/${name}`;
  }

  #tidy(): void {
    const { files: most, bytes } = this.#most;
    const names = readdirSync(this.#folder);
    if (names.length <= most && bytes === undefined) return;
    const files = names.map((name) => {
      const { mtimeMs: time, size } = statSync(this.#path(name));
      return { name, time, size };
    }).sort((a, b) => b.time - a.time);
    let left = bytes ?? Infinity;
    for (const [i, { name, size }] of files.entries()) {
      if (i >= most || (left -= size) < 0) this.remove(name);
    }
  }
}

/** A file's name for what has none: found in the file, the text itself tells whether it is the right one. FNV-1a, twice. */
export function nameFor(text: string): string {
  let [a, b] = [0x811c9dc5, 0x9dc5811c];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x01000193);
  }
  return [a, b].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function usedNow(file: number): void {
  try {
    const now = Date.now() / 1000;
    futimesSync(file, now, now);
  } catch {
    // A file system that is only to be read.
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // There is none, or it is not ours.
  }
}
