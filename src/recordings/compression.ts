// Blocks are compressed one by one: by zstd where Node has it, else by deflate. Any Node reads both.
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { lazy } from "../base/lazy.ts";
import { unpackedZstd } from "../debuginfo/elf.ts";
import { RecordingError } from "./damaged-recording.ts";
import { damagedRecording } from "../messages/on-demand.ts";

// Loaded for a stream in pieces: Node's own wants whole ones.
const fzstd = lazy<typeof import("fzstd")>(() => require("fzstd"));

export const codecs = { none: 0, deflate: 1, zstd: 2 } as const;

export interface Packed {
  readonly codec: number;
  readonly bytes: Uint8Array;
}

/** From 22.15 on. */
interface Zstd {
  zstdCompress?: (bytes: Uint8Array, options: object, done: (error: Error | null, packed: Buffer) => void) => void;
  readonly constants: { readonly ZSTD_c_compressionLevel?: number };
}

/** More gains little and costs much (measured over recordings of system calls). */
const zstdLevel = 1;
const deflateLevel = 1;
/** Nothing that strobe writes at once has more. */
const mostBytes = 1 << 28;

const deflate = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflateRaw);

/** In another thread. */
export async function pack(bytes: Uint8Array): Promise<Packed> {
  const packed = await packedBytes(bytes);
  return packed.bytes.length < bytes.length ? packed : { codec: codecs.none, bytes };
}

async function packedBytes(bytes: Uint8Array): Promise<Packed> {
  const { zstdCompress, constants } = zlib as unknown as Zstd;
  const level = constants.ZSTD_c_compressionLevel;
  if (zstdCompress === undefined || level === undefined)
    return { codec: codecs.deflate, bytes: await deflate(bytes, { level: deflateLevel }) };
  return {
    codec: codecs.zstd,
    bytes: await promisify(zstdCompress)(bytes, { params: { [level]: zstdLevel } }),
  };
}

/** @throws RecordingError where they do not come to `size` bytes */
export function unpack(codec: number, bytes: Uint8Array, size: number): Uint8Array {
  if (size > mostBytes) throw new RecordingError(damagedRecording().bytesOfBlock(size));
  const unpacked = unpackedBy(codec, bytes, size);
  if (unpacked.length !== size) throw new RecordingError(damagedRecording().lengthOfBlock());
  return unpacked;
}

function unpackedBy(codec: number, bytes: Uint8Array, size: number): Uint8Array {
  try {
    switch (codec) {
      case codecs.none:
        return bytes;
      case codecs.deflate:
        // In one piece, unless no bytes so few come to it (zlib's FAQ: 1032 to 1 at most).
        return zlib.inflateRawSync(bytes, {
          maxOutputLength: Math.max(1, size),
          chunkSize: Math.max(64, Math.min(size, bytes.length * 1032) + 1),
        });
      case codecs.zstd:
        return unpackedZstd(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), size);
    }
  } catch (error) {
    throw new RecordingError(damagedRecording().blockNotDecompressed((error as Error).message));
  }
  throw new RecordingError(damagedRecording().compressionOfBlock(codec));
}

/** What a piece of a stream may come to: perf's are of a ring buffer each. */
const mostOfPiece = 1 << 26;

/** A stream of zstd whose pieces come one after the other, as perf record -z has them. */
export class ZstdPieces {
  #unpacked: Uint8Array[] = [];
  #size = 0;
  readonly #stream = new (fzstd().Decompress)((bytes) => {
    this.#size += bytes.length;
    if (this.#size > mostOfPiece) throw new RecordingError(damagedRecording().pieceTooLong(mostOfPiece));
    this.#unpacked.push(bytes.slice());
  });

  /** What a piece completes. @throws RecordingError */
  push(piece: Uint8Array): Buffer {
    this.#unpacked = [];
    this.#size = 0;
    try {
      this.#stream.push(piece);
    } catch (error) {
      if (error instanceof RecordingError) throw error;
      throw new RecordingError(damagedRecording().recordNotDecompressed((error as Error).message));
    }
    return Buffer.concat(this.#unpacked);
  }
}
