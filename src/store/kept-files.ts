// Files that a run leaves for the next one. Whatever goes wrong with them, what they hold is found out again.
import { futimesSync } from "node:fs";
import { inFolder, unfinished, type Folder, type OpenFile } from "./folder.ts";
import { openStore } from "./place.ts";
import { readLarge, summed, type Form } from "./whole.ts";

/** What is kept in a folder of the store. */
export interface Kind {
  readonly folder: string;
  /** The names that its files have: no other file is ever read, replaced or removed. */
  readonly names: RegExp;
  /** What they may take: those that were not used for longest go first. */
  readonly files: number;
  readonly bytes?: number;
  /** How damage is told: by a sum, unless something else is said. */
  readonly form?: Form;
}

/** Larger ones are none of ours, in bytes. */
const largest = 2 ** 30;

export class KeptFiles {
  readonly #kind: Kind;
  readonly #form: Form;

  constructor(kind: Kind) {
    this.#kind = kind;
    this.#form = kind.form ?? summed;
  }

  /** Undefined where there is none, or none that is as it was written. */
  read(name: string): Buffer | undefined {
    return this.#whole(name, (file) => this.#form.read(file));
  }

  /** The same, of a file of the large form, as the memory that `map` makes of it. */
  readMapped(name: string, map: (file: OpenFile) => ArrayBuffer | undefined): Buffer | undefined {
    return this.#whole(name, (file) => {
      const memory = map(file);
      return memory && readLarge(Buffer.from(memory));
    });
  }

  /** Under its name there is always a whole file: the old one, or this. */
  write(name: string, contents: string | Uint8Array): void {
    this.make(name, (fd) => {
      this.#form.write(fd, typeof contents === "string" ? Buffer.from(contents) : contents);
      return true;
    });
  }

  /** A new file, as `fill` writes it; none when it says no. */
  make(name: string, fill: (fd: number) => boolean): void {
    this.#inFolder(true, name, (folder) => {
      folder.replace(name, fill);
      this.#tidy(folder);
    });
  }

  /** Where a file is, for what opens it by its path: nobody else can put another one there. */
  path(name: string): string | undefined {
    return this.#inFolder(false, name, (folder) => folder.open(name, () => `${folder.path}/${name}`));
  }

  remove(name: string): void {
    this.#inFolder(false, name, (folder) => folder.remove(name));
  }

  #whole(name: string, read: (file: OpenFile) => Buffer | undefined): Buffer | undefined {
    return this.#inFolder(false, name, (folder) =>
      folder.open(name, (file) => {
        const contents = file.size <= largest ? read(file) : undefined;
        if (contents === undefined) folder.remove(name);
        else usedNow(file.fd);
        return contents;
      }),
    );
  }

  /** Undefined where there is no such folder that is ours alone. */
  #inFolder<T>(make: boolean, name: string, use: (folder: Folder) => T): T | undefined {
    if (!this.#kind.names.test(name)) return undefined;
    return inFolder(() => openStore(this.#kind.folder, make), use);
  }

  #tidy(folder: Folder): void {
    const { names: own, files: most, bytes } = this.#kind;
    const names = folder.names().filter((name) => own.test(name.replace(unfinished, "")));
    if (names.length <= most && bytes === undefined) return;
    const files = names
      .flatMap((name) => {
        const stat = folder.stat(name);
        return stat?.isFile() ? [{ name, time: stat.mtimeMs, size: stat.size }] : [];
      })
      .sort((a, b) => b.time - a.time);
    let left = bytes ?? Infinity;
    for (const [i, { name, size }] of files.entries()) {
      if (i >= most || (left -= size) < 0) folder.remove(name);
    }
  }
}

function usedNow(file: number): void {
  try {
    const now = Date.now() / 1000;
    futimesSync(file, now, now);
  } catch {
    // A file system that is only to be read.
  }
}
