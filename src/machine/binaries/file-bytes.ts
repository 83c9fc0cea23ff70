// A file's bytes, for whoever reads ELF files.
import { closeSync, readSync } from "node:fs";
import { Elf, ElfError, type Bytes } from "../../debuginfo/elf.ts";
import { openOthersFile, type OthersFile } from "../../linux/others-files.ts";
import { noteFile, noteRead } from "../../store/seen-files.ts";
import { damagedElf } from "../../messages/on-demand.ts";
import { Newest } from "./newest.ts";

/** Files up to this size are read at once, and kept while there is room; of others just what is needed. */
const WHOLE = 1 << 20;
const wholeOf = new Newest<Buffer>(16 << 20, ({ length }) => length);

/**
 * Larger parts than this are only read of files that take up some room on the disk: a hole of a terabyte costs its
 * owner nothing.
 */
const LARGEST_HOLE = 1 << 26;
/** What one call of read(2) is asked for: it gives no more than 2 GiB. */
const AT_ONCE = 1 << 30;
/** File systems that compress hold several times as much as they take up. */
const PACKED = 64;

/** A file that is open for one burst of reads: nothing stays open, however long the trace. */
export class FileBytes implements Bytes {
  readonly size: number;
  readonly path: string;
  readonly #stat: OthersFile["stat"];
  #fd: number | undefined;

  constructor(path: string) {
    this.path = path;
    noteFile(path);
    const { descriptor, stat } = openOthersFile(path);
    noteRead(path, stat);
    try {
      this.#stat = stat;
      this.size = Number(stat.size);
      if (this.size <= WHOLE) wholeOf.keep(this, readRange({ path, descriptor, stat }, 0, this.size));
    } finally {
      closeSync(descriptor);
    }
  }

  read(offset: number, length: number, room?: Buffer): Buffer {
    const whole = wholeOf.of(this);
    if (whole !== undefined) return whole.subarray(offset, offset + length);
    return readRange({ path: this.path, descriptor: this.#open(), stat: this.#stat }, offset, length, room);
  }

  #open(): number {
    if (this.#fd !== undefined) return this.#fd;
    const {
      descriptor: fd,
      stat: { dev, ino },
    } = openOthersFile(this.path);
    if (dev !== this.#stat.dev || ino !== this.#stat.ino) {
      closeSync(fd);
      throw new ElfError(damagedElf().replaced(), this.path);
    }
    this.#fd = fd;
    setImmediate(() => {
      this.#fd = undefined;
      closeSync(fd);
    });
    return fd;
  }
}

/**
 * @throws ElfError when the file has become shorter, has nothing but a hole there, or there is no memory for so much of
 * it
 */
export function readRange(
  { path, descriptor, stat }: OthersFile & { readonly path: string },
  offset: number,
  length: number,
  room?: Buffer,
): Buffer {
  if (length > LARGEST_HOLE && length > PACKED * 512 * Number(stat.blocks))
    throw new ElfError(damagedElf().holes(), path);
  const buffer = room === undefined || room.length < length ? roomFor(path, length) : room.subarray(0, length);
  let got = 0;
  while (got < length) {
    const now = readSync(descriptor, buffer, got, Math.min(length - got, AT_ONCE), offset + got);
    if (now === 0) throw new ElfError(damagedElf().becameShorter(), path);
    got += now;
  }
  return buffer;
}

function roomFor(path: string, length: number): Buffer {
  try {
    return Buffer.allocUnsafeSlow(length);
  } catch (error) {
    if (error instanceof RangeError) throw new ElfError(damagedElf().noMemory(length), path);
    throw error;
  }
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
