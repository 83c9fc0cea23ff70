// The file as frames, one behind the other; docs/recording-format.md has all of them. A frame that was written whole can
// be read whatever happened behind it.
import { crc32 } from "node:zlib";
import { RecordingError } from "./damaged-recording.ts";
import { damagedRecording } from "../messages/on-demand.ts";

/** Bytes of a file, or of memory. */
export interface RecordingBytes {
  readonly size: number;
  /** Fewer where the file ends. */
  read(offset: number, length: number): Uint8Array;
}

/** The file begins with it. The first byte is in no text, the last shows what changed line ends. */
const magic = Buffer.from([0x89, 0x53, 0x54, 0x52, 0x4f, 0x42, 0x45, 0x0a]);
export const formatVersion = 2;
/** Of recordings that were merged of several: what reads version 2 alone would take processes of different hosts for one. */
export const mergedVersion = 3;
const oldestVersion = 1;
export const headerBytes = 16;
const frameHeaderBytes = 12;

export const frameTypes = ["META", "SITE", "EVTS", "EVTB", "SYMS", "TIME", "STAT", "INDX", "TAIL"] as const;
export type FrameType = (typeof frameTypes)[number];

/** Whether frames of a type are blocks of events: EVTS as version 1 has them, EVTB as later ones do. */
export function isBlock(type: string): boolean {
  return type === "EVTS" || type === "EVTB";
}

/** `offset`, `size`: of the contents in the file. A type of a later strobe is passed over. */
export interface FramePlace {
  readonly type: string;
  readonly offset: number;
  readonly size: number;
}

export function fileHeader(version = formatVersion): Uint8Array {
  const header = Buffer.alloc(headerBytes);
  magic.copy(header);
  header.writeUInt32LE(version, magic.length);
  return header;
}

export function isRecording(start: Uint8Array): boolean {
  return start.length >= magic.length && magic.equals(start.subarray(0, magic.length));
}

/** The version. @throws RecordingError where this strobe cannot read the file */
export function checkHeader(bytes: RecordingBytes): number {
  const header = Buffer.from(bytes.read(0, headerBytes));
  if (header.length < headerBytes || !isRecording(header)) throw new RecordingError(damagedRecording().beginning());
  const version = header.readUInt32LE(magic.length);
  if (version < oldestVersion || version > mergedVersion)
    throw new RecordingError(damagedRecording().version(version, oldestVersion, mergedVersion));
  return version;
}

/** A frame's bytes before its contents. */
export function frameHeader(type: FrameType, contents: Uint8Array): Uint8Array {
  const header = Buffer.alloc(frameHeaderBytes);
  header.write(type, 0, "latin1");
  header.writeUInt32LE(contents.length, 4);
  header.writeUInt32LE(crc32(contents, crc32(header.subarray(0, 8))), 8);
  return header;
}

/** Bytes of a frame with so many of contents. */
export function frameBytes(size: number): number {
  return frameHeaderBytes + size;
}

/** The frame at an offset, undefined where there is no whole one. Its contents are not looked at. */
export function frameAt(bytes: RecordingBytes, offset: number): FramePlace | undefined {
  if (offset + frameHeaderBytes > bytes.size) return undefined;
  const header = Buffer.from(bytes.read(offset, frameHeaderBytes));
  if (header.length < frameHeaderBytes) return undefined;
  const type = header.toString("latin1", 0, 4);
  const size = header.readUInt32LE(4);
  if (!/^[A-Z]{4}$/.test(type) || offset + frameHeaderBytes + size > bytes.size) return undefined;
  return { type, offset: offset + frameHeaderBytes, size };
}

/** @throws RecordingError where they are not those that were written */
export function frameContents(bytes: RecordingBytes, { type, offset, size }: FramePlace): Uint8Array {
  const header = Buffer.from(bytes.read(offset - frameHeaderBytes, frameHeaderBytes));
  const contents = bytes.read(offset, size);
  if (contents.length !== size) throw new RecordingError(damagedRecording().endsWithinFrame(offset));
  if (header.readUInt32LE(8) !== crc32(contents, crc32(header.subarray(0, 8))))
    throw new RecordingError(damagedRecording().checksum(type, offset));
  return contents;
}
