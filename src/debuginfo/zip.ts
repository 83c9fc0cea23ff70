// ZIP archives (PKWARE's APPNOTE, 4.3 and 4.4), as far as code is run from them: what lies in one as it is, which a loader
// can map into memory.
import { DamageError } from "./damage.ts";
import type { Bytes } from "./elf.ts";
import { damagedZip } from "../messages/on-demand.ts";
import type { Reason } from "../base/failure.ts";

/** The bytes are no ZIP archive, or are damaged. */
export class ZipError extends DamageError {
  constructor(what: Reason, file?: string) {
    super("ZIP archive", what, file);
  }
}

export interface ZipEntry {
  readonly name: string;
  /** "packed": compressed or encrypted, so that none of it can be run where it lies. */
  readonly stored: "as it is" | "packed";
  /** Where its header is in the archive. */
  readonly header: number;
  /** In bytes, as it lies there. */
  readonly size: number;
}

// 4.3.16, 4.3.12, 4.3.7
const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_SIZE = 22;
const LONGEST_COMMENT = 0xffff;
const ENTRY_SIZE = 46;
const LOCAL_SIZE = 30;
const ENCRYPTED = 1;
/** What ZIP64 has elsewhere: archives and entries of 4 GiB and more. */
const ELSEWHERE = 0xffffffff;

/** @throws ZipError */
export function zipEntries(bytes: Bytes): readonly ZipEntry[] {
  const length = Math.min(bytes.size, END_SIZE + LONGEST_COMMENT);
  const tail = bytes.read(bytes.size - length, length);
  let end = tail.length - END_SIZE;
  // What a comment holds may look like the record: that one's comment would not end where the file does.
  while (end >= 0 && !(tail.readUInt32LE(end) === END && end + END_SIZE + tail.readUInt16LE(end + 20) === tail.length))
    end--;
  if (end < 0) throw new ZipError(damagedZip().noList(), bytes.path);
  const size = tail.readUInt32LE(end + 12);
  const offset = tail.readUInt32LE(end + 16);
  if (offset === ELSEWHERE || size === ELSEWHERE) throw new ZipError(damagedZip().zip64(), bytes.path);
  if (offset + size > bytes.size) throw new ZipError(damagedZip().listBehindEnd(), bytes.path);
  const list = bytes.read(offset, size);
  const entries: ZipEntry[] = [];
  for (let at = 0; at + ENTRY_SIZE <= list.length && list.readUInt32LE(at) === ENTRY;) {
    const [name, extra, comment] = [28, 30, 32].map((field) => list.readUInt16LE(at + field));
    const packed = (list.readUInt16LE(at + 8) & ENCRYPTED) !== 0 || list.readUInt16LE(at + 10) !== 0;
    entries.push({
      name: list.toString("utf8", at + ENTRY_SIZE, at + ENTRY_SIZE + name),
      stored: packed ? "packed" : "as it is",
      header: list.readUInt32LE(at + 42),
      size: list.readUInt32LE(at + 20),
    });
    at += ENTRY_SIZE + name + extra + comment;
  }
  return entries;
}

/** Where the bytes of an entry begin in the archive. @throws ZipError */
export function zipEntryOffset(bytes: Bytes, { name, header, size }: ZipEntry): number {
  if (header + LOCAL_SIZE > bytes.size) throw new ZipError(damagedZip().fileBehindEnd(name), bytes.path);
  const local = bytes.read(header, LOCAL_SIZE);
  if (local.readUInt32LE(0) !== LOCAL) throw new ZipError(damagedZip().fileElsewhere(name), bytes.path);
  const offset = header + LOCAL_SIZE + local.readUInt16LE(26) + local.readUInt16LE(28);
  if (offset + size > bytes.size) throw new ZipError(damagedZip().fileBehindEnd(name), bytes.path);
  return offset;
}
