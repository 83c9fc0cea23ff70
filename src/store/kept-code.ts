// V8's compiled code for files of JavaScript: beside them where nobody but us can change anything, else in the store.
// V8 believes what it is given, and damage ends the process; so it is given only what is whole, and was written by us
// or by root.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { byOthers, Folder, isRefusal } from "./folder.ts";
import { KeptFiles } from "./kept-files.ts";
import { stampOf } from "./seen-files.ts";
import { nameFor, large } from "./whole.ts";

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Of Nodes and processors, which take no code of each other's. */
const suffix = `.${process.version}-${process.arch}.cache`;

/** The code for the files of one folder. */
export class KeptCode {
  readonly #folder: string;
  /** A few installations' parts. */
  readonly #inStore = new KeptFiles({ folder: "code", names: /^[0-9a-f]{16}$/, files: 24, form: large });

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(file: string): Buffer | undefined {
    return this.#beside(file) ?? this.#inStore.read(this.#nameInStore(file));
  }

  /** Not into a folder that is somebody else's, or on a way that somebody else can change: the store is root's own. */
  write(file: string, code: Uint8Array): void {
    let folder: Folder | undefined;
    try {
      folder = Folder.open(this.#folder);
      folder.replace(
        file + suffix,
        (fd) => {
          large.write(fd, code);
          return true;
        },
        0o644,
      );
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#inStore.write(this.#nameInStore(file), code);
    } finally {
      folder?.[Symbol.dispose]();
    }
  }

  #beside(file: string): Buffer | undefined {
    let fd: number;
    try {
      fd = openSync(`${this.#folder}/${file}${suffix}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    } catch {
      return undefined;
    }
    try {
      const stat = fstatSync(fd);
      const trusted = stat.isFile() && (stat.uid === 0 || stat.uid === process.geteuid?.()) && !byOthers(stat);
      return trusted ? large.read({ fd, size: stat.size }) : undefined;
    } finally {
      closeSync(fd);
    }
  }

  /** The file may change under its name. */
  #nameInStore(file: string): string {
    const path = `${this.#folder}/${file}`;
    return nameFor(`${path}${suffix} ${stampOf(path)}`);
  }
}
