// Many entries of a hash table in a call: read, written, taken out.
import { attr, bpf, bpfError, MAP_LOOKUP_AND_DELETE_BATCH, MAP_LOOKUP_BATCH, MAP_UPDATE_BATCH } from "./bpf-call.ts";
import { mapDelete, mapLookup, mapNextKey } from "./bpf.ts";
import { ENOENT, ENOSPC } from "../error.ts";
import { attempts } from "../../messages/on-demand.ts";

/** So many entries, whose keys and values lie one after the other in memory of their own. */
export interface EntryBatch {
  readonly count: number;
  readonly keys: Uint8Array;
  readonly values: Uint8Array;
}

/** What is read at once of keys and values. */
const batchBytes = 1 << 20;

/**
 * Everything in a map, a batch at about one moment. What is written and removed meanwhile may be in a later batch, or
 * not; no entry that stays is left out or comes twice. `valueSize` as for mapLookup. @throws LinuxError
 */
export function mapBatches(fd: number, keySize: number, valueSize: number): Iterable<EntryBatch> {
  return batches(MAP_LOOKUP_BATCH, fd, keySize, valueSize, () => walkedEntries(fd, keySize, valueSize));
}

/** The same as pairs, of a map that is small. */
export function mapEntries(fd: number, keySize: number, valueSize: number): [key: Uint8Array, value: Uint8Array][] {
  return [...mapBatches(fd, keySize, valueSize)].flatMap(({ count, keys, values }) =>
    Array.from({ length: count }, (_, i): [Uint8Array, Uint8Array] => [
      keys.subarray(i * keySize, (i + 1) * keySize),
      values.subarray(i * valueSize, (i + 1) * valueSize),
    ]),
  );
}

/** Removes all entries. @throws LinuxError */
export function mapDeleteAll(fd: number, keySize: number, valueSize: number): void {
  const oneByOne = function* (): Generator<EntryBatch> {
    for (const entry of walkedEntries(fd, keySize, valueSize)) {
      mapDelete(fd, entry.keys);
      yield entry;
    }
  };
  for (const _ of batches(MAP_LOOKUP_AND_DELETE_BATCH, fd, keySize, valueSize, oneByOne));
}

/** `otherwise`: where the map's type or the kernel does not know the command (of hash tables: before Linux 5.6). */
function* batches(
  command: number,
  fd: number,
  keySize: number,
  valueSize: number,
  otherwise: () => Iterable<EntryBatch>,
): Generator<EntryBatch> {
  // The token is a bucket's number for hash tables, a key for others.
  const token = new Uint8Array(Math.max(8, keySize));
  let batch = Math.max(16, Math.min(4096, Math.floor(batchBytes / (keySize + valueSize))));
  for (let first = true; ;) {
    const keys = new Uint8Array(batch * keySize);
    const values = new Uint8Array(batch * valueSize);
    attr.clear();
    if (!first) attr.pointer(0, token);
    attr.pointer(8, token);
    attr.pointer(16, keys);
    attr.pointer(24, values);
    attr.u32(32, batch);
    attr.u32(36, fd);
    const result = bpf(command);
    // One bucket has more entries than the batch has room.
    if (result === -ENOSPC && batch < 1 << 20) {
      batch *= 2;
      continue;
    }
    if (result < 0 && result !== -ENOENT) {
      if (!first) throw bpfError(command, result, attempts().readMap());
      yield* otherwise();
      return;
    }
    first = false;
    const count = attr.read32(32);
    if (count > 0)
      yield { count, keys: keys.subarray(0, count * keySize), values: values.subarray(0, count * valueSize) };
    if (result === -ENOENT) return;
  }
}

/** One entry after the other, by the key before it. */
function* walkedEntries(fd: number, keySize: number, valueSize: number): Generator<EntryBatch> {
  // When the current key is deleted meanwhile, the kernel starts again at the first.
  const seen = new Set<string>();
  let next = mapNextKey(fd, null, keySize);
  while (next !== undefined) {
    const key: Uint8Array = next;
    // Asked for before whoever takes the entry may remove it.
    next = mapNextKey(fd, key, keySize);
    const name = Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1");
    if (seen.has(name)) {
      if (seen.size > 1 << 22) return;
      continue;
    }
    seen.add(name);
    const values = mapLookup(fd, key, valueSize);
    if (values !== undefined) yield { count: 1, keys: key, values };
  }
}

/**
 * Writes entries in one call (of hash maps: Linux 5.6), and `one` writes each that it refuses, which says why.
 *
 * @throws what `one` throws
 */
export function mapUpdateBatch(
  fd: number,
  { count, keys, values }: EntryBatch,
  one: (key: Uint8Array, value: Uint8Array) => void,
): void {
  const [keySize, valueSize] = [keys.length / count, values.length / count];
  const at = (i: number): readonly [Uint8Array, Uint8Array] => [
    keys.subarray(i * keySize, (i + 1) * keySize),
    values.subarray(i * valueSize, (i + 1) * valueSize),
  ];
  for (let done = 0; done < count; done++) {
    attr.clear();
    attr.pointer(16, keys.subarray(done * keySize));
    attr.pointer(24, values.subarray(done * valueSize));
    attr.u32(32, count - done);
    attr.u32(36, fd);
    if (bpf(MAP_UPDATE_BATCH) >= 0) return;
    // How many it took before, unless it does not know the command, when the number is what it was.
    const taken = attr.read32(32);
    done += taken < count - done ? taken : 0;
    one(...at(done));
  }
}
