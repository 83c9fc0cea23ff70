// Names as numbers: FNV-1a, 32 bits. That of a qualified name goes on from its scope's, so that no text is put
// together.

export const HASH_START = 0x811c9dc5;

export function hashOf(name: string, start = HASH_START): number {
  const bytes = Buffer.from(name);
  return hashBytes(bytes, 0, bytes.length, start);
}

/** The hash of a name within a scope: `::` behind the scope's. */
export function hashWithin(scope: number): number {
  // Twice a colon.
  return Math.imul(Math.imul(scope ^ 0x3a, 0x01000193) ^ 0x3a, 0x01000193) >>> 0;
}

export function hashBytes(bytes: Buffer, from: number, to: number, start: number): number {
  let hash = start;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash >>> 0;
}
