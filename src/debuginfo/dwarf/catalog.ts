// The index of names of one file: sorted hashes, as scan.ts finds them. Plain typed arrays, so that it can be kept on
// disk.
import { firstIndex } from "../../base/first-index.ts";
import { keptBytes, keptParts, wordsOf } from "./kept-arrays.ts";
import { hashOf } from "./name-hash.ts";
import type { Pairs } from "./pairs.ts";
import type { ScanResult } from "./scan.ts";

export interface Catalog {
  readonly functions: Pairs;
  readonly variables: Pairs;
  readonly types: Pairs;
  readonly functionNames: Buffer;
}

const LAYOUT = "strobe names 3";

/**
 * A catalog as bytes that can be kept. `of` tells the file apart from others of the same key: sizes of its sections.
 */
export function savedCatalog({ functions, variables, types, functionNames }: Catalog, of: number): Buffer {
  return keptBytes(LAYOUT, of, [
    ...[functions, variables, types].flatMap(({ hashes, offsets }) => [hashes, offsets]),
    functionNames,
  ]);
}

/** What was kept; undefined when it is damaged, or of another file. */
export function loadedCatalog(bytes: Buffer, of: number): Catalog | undefined {
  const parts = keptParts(bytes, LAYOUT, of);
  if (parts?.length !== 7) return undefined;
  const pairs = (first: number): Pairs => ({ hashes: wordsOf(parts[first]), offsets: wordsOf(parts[first + 1]) });
  return { functions: pairs(0), variables: pairs(2), types: pairs(4), functionNames: parts[6] };
}

/** The entries that may have a name: those of equal hash. */
export function* entriesNamed(pairs: Pairs, name: string): Iterable<number> {
  const { hashes, offsets } = pairs;
  const hash = hashOf(name);
  const first = firstIndex(hashes.length, (i) => hashes[i] >= hash);
  for (let i = first; i < hashes.length && hashes[i] === hash; i++) yield offsets[i];
}

/** The same from one scan of few units, whose pairs are in no order. */
export function* entriesNamedIn({ hashes, offsets }: Pairs, name: string): Iterable<number> {
  const hash = hashOf(name);
  for (let i = 0; i < hashes.length; i++) if (hashes[i] === hash) yield offsets[i];
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
  let hashes = new Uint32Array(count),
    offsets = new Uint32Array(count);
  let at = 0;
  for (const part of parts) {
    hashes.set(part.hashes, at);
    offsets.set(part.offsets, at);
    at += part.hashes.length;
  }
  // Radix sort, least significant digits first; it is stable. One scan sees units in order, several do not.
  let toHashes = new Uint32Array(count),
    toOffsets = new Uint32Array(count);
  for (const pass of parts.length > 1 ? [0, 1, 2, 3] : [2, 3]) {
    const keys = pass < 2 ? offsets : hashes;
    const shift = (pass & 1) * 16;
    const starts = new Uint32Array((1 << 16) + 1);
    for (let i = 0; i < count; i++) starts[((keys[i] >>> shift) & 0xffff) + 1]++;
    for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
    for (let i = 0; i < count; i++) {
      const to = starts[(keys[i] >>> shift) & 0xffff]++;
      toHashes[to] = hashes[i];
      toOffsets[to] = offsets[i];
    }
    [hashes, toHashes] = [toHashes, hashes];
    [offsets, toOffsets] = [toOffsets, offsets];
  }
  return { hashes, offsets };
}
