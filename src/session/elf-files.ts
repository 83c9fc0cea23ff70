// Function names of binaries on disk, a table a file, read when first asked for.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ElfSymbols } from "../debuginfo/elf-symbols.ts";
import { Elf, type Bytes } from "../debuginfo/elf.ts";

export interface BinarySymbols {
  /** The function at an offset of the file. */
  lookup(fileOffset: bigint): { readonly symbol: string; readonly offset: number } | undefined;
}

/** A file's bytes, read a range at a time through a descriptor of its own. */
class FileBytes implements Bytes, Disposable {
  readonly size: number;
  readonly #fd: number;

  constructor(path: string) {
    this.#fd = openSync(path, "r");
    this.size = fstatSync(this.#fd).size;
  }

  read(offset: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const got = readSync(this.#fd, buffer, done, length - done, offset + done);
      if (got === 0) throw new Error("the file ends early");
      done += got;
    }
    return buffer;
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** Binaries by path; their descriptors are open until this is disposed. */
export class ElfFiles implements Disposable {
  readonly #open: FileBytes[] = [];
  readonly #binaries = new Map<string, BinarySymbols | undefined>();

  /** `identity` names the file whatever path leads to it (device and inode); `paths` are tried in order. */
  symbols(identity: string, paths: readonly string[]): BinarySymbols | undefined {
    if (this.#binaries.has(identity)) return this.#binaries.get(identity);
    let found: BinarySymbols | undefined;
    for (const path of paths) {
      const elf = this.#elf(path);
      if (!elf) continue;
      const symbols = new ElfSymbols(elf, this.#debug(elf));
      found = {
        lookup(fileOffset) {
          try {
            const address = elf.addressOf(fileOffset);
            const at = address === undefined ? undefined : symbols.functionAt(address);
            return at && { symbol: at.name, offset: at.offset };
          } catch {
            return undefined; // a damaged symbol table names nothing
          }
        },
      };
      break;
    }
    this.#binaries.set(identity, found);
    return found;
  }

  #elf(path: string): Elf | undefined {
    let bytes: FileBytes | undefined;
    try {
      bytes = new FileBytes(path);
      const elf = new Elf(bytes);
      this.#open.push(bytes);
      return elf;
    } catch {
      bytes?.[Symbol.dispose]();
      return undefined;
    }
  }

  /** Split debug info, where distributions put it. */
  #debug(elf: Elf): Elf | undefined {
    try {
      const id = elf.buildId;
      return id === undefined ? undefined : this.#elf(`/usr/lib/debug/.build-id/${id.slice(0, 2)}/${id.slice(2)}.debug`);
    } catch {
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    for (const bytes of this.#open) bytes[Symbol.dispose]();
    this.#open.length = 0;
    this.#binaries.clear();
  }
}
