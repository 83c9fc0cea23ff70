// Typed arrays as bytes that can be kept on disk: what it took a pass over a large file to find.

const HEADER = 32;
const NAME_MOST = 16;
const ALIGNMENT = 8;

const roundUp = (length: number): number => (length + ALIGNMENT - 1) & -ALIGNMENT;

/**
 * `name` says what they are and in which layout, in at most 16 letters; `origin` tells the file apart from others of
 * the same key.
 */
export function keptBytes(name: string, origin: number, parts: readonly ArrayBufferView[]): Buffer {
  const lengths = Buffer.alloc(roundUp(4 * parts.length));
  const pieces: Buffer[] = [lengths];
  parts.forEach((part, i) => {
    lengths.writeUInt32LE(part.byteLength, 4 * i);
    pieces.push(
      Buffer.from(part.buffer, part.byteOffset, part.byteLength),
      Buffer.alloc(roundUp(part.byteLength) - part.byteLength),
    );
  });
  const body = Buffer.concat(pieces);
  const header = Buffer.alloc(HEADER);
  header.write(name.slice(0, NAME_MOST), "latin1");
  header.writeUInt32LE(origin >>> 0, 16);
  header.writeUInt32LE(parts.length, 20);
  header.writeUInt32LE(process.getBuiltinModule("node:zlib").crc32(body), 24);
  return Buffer.concat([header, body]);
}

/**
 * The parts that were kept, each at a multiple of 8 bytes; undefined when they are damaged, or of another file or
 * layout.
 */
export function keptParts(bytes: Buffer, name: string, origin: number): readonly Buffer[] | undefined {
  if (bytes.length < HEADER || bytes.toString("latin1", 0, NAME_MOST).replace(/\0+$/, "") !== name) return undefined;
  const [of, count, sum] = [16, 20, 24].map((at) => bytes.readUInt32LE(at));
  const body = bytes.subarray(HEADER);
  if (
    of !== origin >>> 0 ||
    body.length < roundUp(4 * count) ||
    process.getBuiltinModule("node:zlib").crc32(body) !== sum
  )
    return undefined;
  const aligned = body.byteOffset % ALIGNMENT === 0 ? body : Buffer.from(new Uint8Array(body).buffer);
  const parts: Buffer[] = [];
  let at = roundUp(4 * count);
  for (let i = 0; i < count; i++) {
    const length = body.readUInt32LE(4 * i);
    if (at + length > aligned.length) return undefined;
    parts.push(aligned.subarray(at, at + length));
    at += roundUp(length);
  }
  return parts;
}

export const wordsOf = (part: Buffer): Uint32Array =>
  new Uint32Array(part.buffer, part.byteOffset, part.byteLength >>> 2);
export const numbersOf = (part: Buffer): Float64Array =>
  new Float64Array(part.buffer, part.byteOffset, part.byteLength >>> 3);
