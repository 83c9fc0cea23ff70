// The index of names of one file: sorted hashes, as scan.ts finds them. Plain typed arrays, so that it can be kept on disk.
import { hashOf, type Pairs, type ScanResult } from "./scan.ts";

export interface Catalog {
  readonly functions: Pairs;
  readonly variables: Pairs;
  readonly types: Pairs;
  readonly functionNames: Buffer;
}

const MAGIC = "strobe names 1\n";
const HEADER = 48;

/** A catalog as bytes that can be kept. `of` tells the file apart from others of the same key: sizes of its sections. */
export function savedCatalog(catalog: Catalog, of: number): Buffer {
  const parts = [catalog.functions, catalog.variables, catalog.types];
  const body = Buffer.concat([
    ...parts.flatMap(({ hashes, offsets }) => [hashes, offsets]).map((array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength)),
    catalog.functionNames,
  ]);
  const header = Buffer.alloc(HEADER);
  header.write(MAGIC, "latin1");
  [...parts.map(({ hashes }) => hashes.length), catalog.functionNames.length, of >>> 0, checksum(body)]
    .forEach((word, i) => header.writeUInt32LE(word, 16 + 4 * i));
  return Buffer.concat([header, body]);
}

/** What was kept; undefined when it is damaged, or of another file. */
export function loadedCatalog(bytes: Buffer, of: number): Catalog | undefined {
  if (bytes.length < HEADER || bytes.toString("latin1", 0, MAGIC.length) !== MAGIC) return undefined;
  const [functions, variables, types, names, origin, sum] = [0, 1, 2, 3, 4, 5].map((i) => bytes.readUInt32LE(16 + 4 * i));
  const body = bytes.subarray(HEADER);
  if (origin !== of >>> 0 || body.length !== 8 * (functions + variables + types) + names || checksum(body) !== sum) return undefined;
  // Typed arrays want their own alignment.
  const aligned = (bytes.byteOffset + HEADER) % 4 === 0 ? body : Buffer.from(body);
  let at = 0;
  const words = (count: number): Uint32Array => {
    const array = new Uint32Array(aligned.buffer, aligned.byteOffset + at, count);
    at += 4 * count;
    return array;
  };
  const pairs = (count: number): Pairs => ({ hashes: words(count), offsets: words(count) });
  return { functions: pairs(functions), variables: pairs(variables), types: pairs(types), functionNames: aligned.subarray(at) };
}

function checksum(bytes: Buffer): number {
  return process.getBuiltinModule("node:zlib").crc32(bytes);
}

/** The entries that may have a name: those of equal hash. */
export function* entriesNamed(pairs: Pairs, name: string): Iterable<number> {
  const { hashes, offsets } = pairs;
  const hash = hashOf(name);
  let low = 0;
  let high = hashes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (hashes[middle] < hash) low = middle + 1;
    else high = middle;
  }
  for (; low < hashes.length && hashes[low] === hash; low++) yield offsets[low];
}

/** Joins what several scans found, in order of hash. */
export function catalogOf(results: readonly ScanResult[]): Catalog {
  return {
    functions: sorted(results.map((each) => each.functions)),
    variables: sorted(results.map((each) => each.variables)),
    types: sorted(results.map((each) => each.types)),
    functionNames: Buffer.concat(results.map((each) => each.functionNames)),
  };
}

/** By hash, then by offset. */
function sorted(parts: readonly Pairs[]): Pairs {
  const count = parts.reduce((sum, { hashes }) => sum + hashes.length, 0);
  let hashes = new Uint32Array(count), offsets = new Uint32Array(count);
  let at = 0;
  for (const part of parts) {
    hashes.set(part.hashes, at);
    offsets.set(part.offsets, at);
    at += part.hashes.length;
  }
  // Radix sort, least significant digits first; it is stable, and units come in order.
  let toHashes = new Uint32Array(count), toOffsets = new Uint32Array(count);
  for (const shift of [0, 16]) {
    const starts = new Uint32Array((1 << 16) + 1);
    for (let i = 0; i < count; i++) starts[((hashes[i] >>> shift) & 0xffff) + 1]++;
    for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
    for (let i = 0; i < count; i++) {
      const to = starts[(hashes[i] >>> shift) & 0xffff]++;
      toHashes[to] = hashes[i];
      toOffsets[to] = offsets[i];
    }
    [hashes, toHashes] = [toHashes, hashes];
    [offsets, toOffsets] = [toOffsets, offsets];
  }
  return { hashes, offsets };
}
