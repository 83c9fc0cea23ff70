// A file's bytes, for whoever reads ELF files.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { Elf, ElfError, type Bytes } from "../debuginfo/elf.ts";
import { noteFile } from "../linux/seen-files.ts";

/** Files up to this size are read at once; of larger ones just what is needed. */
const WHOLE = 1 << 20;

/** A file that is open for one burst of reads: nothing stays open, however long the trace. */
export class FileBytes implements Bytes {
  readonly size: number;
  readonly #path: string;
  readonly #whole: Buffer | undefined;
  #fd: number | undefined;

  constructor(path: string) {
    this.#path = path;
    noteFile(path);
    const fd = openSync(path, "r");
    try {
      const stat = fstatSync(fd);
      this.size = stat.isFile() ? stat.size : 0;
      if (this.size <= WHOLE) this.#whole = readRange(fd, 0, this.size);
    } finally {
      closeSync(fd);
    }
  }

  read(offset: number, length: number, room?: Buffer): Buffer {
    if (this.#whole !== undefined) return this.#whole.subarray(offset, offset + length);
    return readRange(this.#open(), offset, length, room);
  }

  #open(): number {
    if (this.#fd !== undefined) return this.#fd;
    const fd = openSync(this.#path, "r");
    this.#fd = fd;
    setImmediate(() => {
      this.#fd = undefined;
      closeSync(fd);
    });
    return fd;
  }
}

function readRange(fd: number, offset: number, length: number, room?: Buffer): Buffer {
  const buffer = room === undefined || room.length < length ? Buffer.allocUnsafeSlow(length) : room.subarray(0, length);
  let got = 0;
  while (got < length) {
    const now = readSync(fd, buffer, got, length - got, offset + got);
    if (now === 0) throw new ElfError("the file became shorter while it was read");
    got += now;
  }
  return buffer;
}

/** The ELF file at a path; undefined when there is none that can be read. */
export function elfAt(path: string): Elf | undefined {
  try {
    return new Elf(new FileBytes(path));
  } catch (error) {
    return absent(error);
  }
}

/** What is missing, unreadable or no ELF file is not there; anything else is a mistake of ours. */
export function absent(error: unknown): undefined {
  if (error instanceof ElfError || (error instanceof Error && "code" in error)) return undefined;
  throw error;
}
