// How a file tells that it is as it was written: whatever a disk, a power cut or a tool did to it.
import { readSync, writeSync } from "node:fs";
import type { OpenFile } from "./folder.ts";

//   0   8 bytes: which of the two forms that have a header
//   8   u32, u32: the sum of the contents; or their CRC-32, and how long they are
//   16  the contents
const header = 16;
const summedMark = "strobe 1";
const largeMark = "strobe 2";

export interface Form {
  write(fd: number, contents: Uint8Array): void;
  /** The contents; undefined when they are damaged. */
  read(file: OpenFile): Buffer | undefined;
}

/** With their sum in front. */
export const summed: Form = {
  write(fd, contents) {
    writeAll(fd, headed(summedMark, ...sumOf(contents)));
    writeAll(fd, contents);
  },
  read(file) {
    const bytes = readAt(file.fd, 0, file.size);
    if (!bytes || !isOf(summedMark, bytes)) return undefined;
    const contents = bytes.subarray(header);
    const [a, b] = sumOf(contents);
    return bytes.readUInt32LE(8) === a && bytes.readUInt32LE(12) === b ? contents : undefined;
  },
};

/** As they are: contents that tell damage themselves. */
export const plain: Form = {
  write: writeAll,
  read: ({ fd, size }) => readAt(fd, 0, size),
};

/**
 * With their CRC-32 in front, which Node has ready: half a megabyte takes JavaScript milliseconds before V8 has
 * compiled it.
 */
export const large: Form = {
  write(fd, contents) {
    writeAll(fd, headed(largeMark, crc32(contents), contents.length));
    writeAll(fd, contents);
  },
  read({ fd, size }) {
    const bytes = readAt(fd, 0, size);
    return bytes && readLarge(bytes);
  },
};

/** The contents of a whole file of the large form, which may be mapped. */
export function readLarge(bytes: Buffer): Buffer | undefined {
  if (!isOf(largeMark, bytes)) return undefined;
  const contents = bytes.subarray(header);
  return bytes.readUInt32LE(12) === contents.length && bytes.readUInt32LE(8) === crc32(contents) ? contents : undefined;
}

type Crc32 = (bytes: Uint8Array, value: number) => number;

/**
 * node:zlib's. Loading that module takes 5 ms, a tenth of a start; what is behind it is there already. Where Node may
 * warn of asking for that, or refuses (versions to come, the permission model), it is the module.
 */
function crc32(bytes: Uint8Array): number {
  return (native ??= behindZlib() ?? process.getBuiltinModule("node:zlib").crc32)(bytes, 0);
}

let native: Crc32 | undefined;
/** The newest version of Node that is known not to warn. */
const newestKnown = 24;

function behindZlib(): Crc32 | undefined {
  const { execArgv, env, versions } = process;
  const warned =
    [...execArgv, env["NODE_OPTIONS"]].some((option) => option?.includes("pending-deprecation")) ||
    env["NODE_PENDING_DEPRECATION"] === "1";
  if (warned || parseInt(versions.node) > newestKnown) return undefined;
  try {
    const internals = process as unknown as { readonly binding: (name: string) => { readonly crc32?: Crc32 } };
    return internals.binding("zlib").crc32;
  } catch {
    return undefined;
  }
}

function isOf(mark: string, bytes: Buffer): boolean {
  return bytes.length >= header && bytes.toString("latin1", 0, 8) === mark;
}

function headed(mark: string, a: number, b: number): Buffer {
  const bytes = Buffer.alloc(header);
  bytes.write(mark, "latin1");
  bytes.writeUInt32LE(a, 8);
  bytes.writeUInt32LE(b, 12);
  return bytes;
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
}

/** Undefined where the file ends before. */
function readAt(fd: number, offset: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let at = 0; at < length;) {
    const got = readSync(fd, bytes, at, length - at, offset + at);
    if (got === 0) return undefined;
    at += got;
  }
  return bytes;
}

/**
 * Two sums of 32 bits, in which each word, at its place, counts: another word gives another sum, whatever the others
 * are. They tell damage, not malice, which a folder's owner is there to keep out. (Multipliers and shifts of
 * MurmurHash3.)
 */
export function sumOf(bytes: Uint8Array): readonly [number, number] {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const count = bytes.length >>> 2;
  const words = new Int32Array(aligned.buffer, aligned.byteOffset, count);
  let a = bytes.length | 0;
  let b = ~a;
  for (let i = 0; i < count; i++) {
    const word = words[i];
    a = Math.imul(a ^ word, 0xcc9e2d51);
    a = (a << 15) | (a >>> 17);
    b = Math.imul(b ^ word, 0x1b873593);
    b = (b << 13) | (b >>> 19);
  }
  for (let i = count * 4; i < bytes.length; i++) {
    a = Math.imul(a ^ aligned[i], 0xcc9e2d51);
    b = Math.imul(b ^ aligned[i], 0x1b873593);
  }
  return [spread(a), spread(b)];
}

function spread(sum: number): number {
  const half = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  const all = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return (all ^ (all >>> 16)) >>> 0;
}

/** A text's sum in 16 hexadecimal digits: a name for what has none. */
export function nameFor(text: string): string {
  return sumOf(Buffer.from(text))
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("");
}
