// The boot configuration at the end of an initial RAM disk: text, zeroes, how long both are, the sum of their bytes, a
// magic word; the whole file is a multiple of four bytes long (Documentation/admin-guide/bootconfig.rst).
import { closeSync, constants, fchmodSync, fchownSync, fstatSync, fsyncSync, openSync, readSync } from "node:fs";
import { realpathSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { RunError } from "../../base/run-error.ts";
import { runReasons } from "../../messages/on-demand.ts";

const magic = Buffer.from("#BOOTCONFIG\n");
const foot = 8 + magic.length;
const alignment = 4;
/** XBC_DATA_MAX of include/linux/bootconfig.h. */
const longest = 32767;

/** What an initial RAM disk has at its end. */
export interface BootConfig {
  readonly text: string;
  /** Where it begins: how long the disk is without it. */
  readonly at: number;
}

/** The bytes that are put behind so many others. @throws RunError where the kernel would not take as much */
export function bootConfigBlock(text: string, behind: number): Buffer {
  const bytes = Buffer.from(`${text}\0`);
  if (bytes.length > longest) throw new RunError(runReasons().bootConfigTooLong(longest, bytes.length));
  const size = bytes.length + ((alignment - ((behind + bytes.length + foot) % alignment)) % alignment);
  const block = Buffer.alloc(size + foot);
  bytes.copy(block);
  block.writeUInt32LE(size, size);
  block.writeUInt32LE(sumOf(bytes), size + 4);
  magic.copy(block, size + 8);
  return block;
}

function sumOf(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = (sum + byte) >>> 0;
  return sum;
}

/** Of an open file. @throws RunError for a damaged one */
function readBootConfig(file: number): BootConfig | undefined {
  const { size: length } = fstatSync(file);
  // Boot loaders fill up to a multiple of four.
  for (let end = length; end > length - alignment; end--) {
    if (end < foot) return undefined;
    const head = bytesAt(file, end - foot, foot);
    if (!head.subarray(8).equals(magic)) continue;
    const size = head.readUInt32LE(0);
    const at = end - foot - size;
    if (at < 0 || size > longest + alignment) throw new RunError(runReasons().bootConfigLength());
    const bytes = bytesAt(file, at, size);
    if (sumOf(bytes) !== head.readUInt32LE(4)) throw new RunError(runReasons().bootConfigSum());
    return { text: bytes.toString("utf8").replace(/\0+$/, ""), at };
  }
  return undefined;
}

function bytesAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let got = 0; got < length;) {
    const more = readSync(file, bytes, got, length - got, at + got);
    if (more === 0) throw new RunError(runReasons().cutWhileRead());
    got += more;
  }
  return bytes;
}

/**
 * Gives an initial RAM disk another boot configuration, none where `change` gives none; the file is replaced as a whole,
 * so that a machine that loses its power starts with the one or the other. Of a symbolic link, what it leads to is
 * replaced. @throws RunError, and what Node throws
 */
export function changeBootConfig(path: string, change: (old: string | undefined) => string | undefined): void {
  const disk = realpathSync(path);
  const made = `${disk}.strobe-${process.pid}`;
  // Opened once each: whoever can write to the folder could put another file there in between.
  const from = openSync(disk, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(from);
    if (!stat.isFile()) throw new RunError(runReasons().noRegularFile());
    const to = openSync(made, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    try {
      fchownSync(to, stat.uid, stat.gid);
      fchmodSync(to, stat.mode & 0o7777);
      const old = readBootConfig(from);
      const behind = old?.at ?? stat.size;
      for (let at = 0; at < behind; at += pieceBytes)
        writeAt(to, bytesAt(from, at, Math.min(pieceBytes, behind - at)), at);
      const text = change(old?.text);
      if (text !== undefined) writeAt(to, bootConfigBlock(text, behind), behind);
      fsyncSync(to);
      renameSync(made, disk);
    } catch (error) {
      rmSync(made, { force: true });
      throw error;
    } finally {
      closeSync(to);
    }
    const folder = openSync(dirname(disk), constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } finally {
    closeSync(from);
  }
}

const pieceBytes = 1 << 20;

function writeAt(file: number, bytes: Uint8Array, at: number): void {
  for (let put = 0; put < bytes.length;) put += writeSync(file, bytes, put, bytes.length - put, at + put);
}
