// What comes through a pipe, held in memory: readers of recordings go to and fro in it.
import { recordingFiles } from "../messages/recording-files.ts";
import type { RecordingBytes } from "../recordings/frames.ts";
import { UsageError } from "./usage-error.ts";

const pieceBytes = 1 << 20;
/** What a machine of some gigabytes of memory has room for beside the replay. */
const mostGigabytes = 1;

/** All of it. `read` gives the bytes that it has filled the room with, 0 at the end. @throws UsageError, and what `read` throws */
export function pipedBytes(
  read: (room: Buffer) => number,
  path: string,
  mostBytes = mostGigabytes << 30,
): RecordingBytes {
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const filled = size % pieceBytes;
    if (filled === 0) pieces.push(Buffer.allocUnsafe(pieceBytes));
    const got = read(pieces.at(-1)!.subarray(filled));
    if (got === 0) break;
    size += got;
    if (size > mostBytes) throw new UsageError(recordingFiles.pipedTooLong(path, mostGigabytes));
  }
  return {
    size,
    read(offset, length) {
      const end = Math.min(offset + length, size);
      const parts: Buffer[] = [];
      for (let at = offset; at < end;) {
        const start = at % pieceBytes;
        const part = pieces[Math.floor(at / pieceBytes)].subarray(start, Math.min(pieceBytes, start + end - at));
        parts.push(part);
        at += part.length;
      }
      return Buffer.concat(parts);
    },
  };
}
