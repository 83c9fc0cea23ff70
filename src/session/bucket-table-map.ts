// A map in a table of buckets that handlers have mapped as well (compiler/layouts/bucket-table.ts): read and changed without
// system calls, by the same steps as theirs. What does not fit the table is in one of the kernel's.
import type { IrMap } from "../compiler/ir/ir.ts";
import { type BucketTable, bucketHead, control, slotsOfBucket } from "../compiler/layouts/bucket-table.ts";
import { InternalError } from "../base/internal-error.ts";
import { type MapEntries, type MapEntry, PackedEntries } from "./map-entries.ts";
import type { LiveMap, SharedMemory } from "./maps.ts";
import { hashOf } from "./shared-table-map.ts";

/** A control word, and the slot that has the key by it; 0: none. */
interface Scanned {
  readonly word: bigint;
  readonly slot: number;
}

const bitOf = (slot: number): bigint => 1n << BigInt(slot);
/** A control word after a change, which also makes so many entries more. */
const changed = (word: bigint, entries = 0): bigint =>
  BigInt.asUintN(64, word + control.change + BigInt(entries) * control.entry);
const entriesOf = (word: bigint): bigint => (word >> control.entriesAt) & 15n;

export class BucketTableMap implements LiveMap {
  readonly map: IrMap;
  readonly #table: BucketTable;
  readonly #memory: SharedMemory;
  /** What did not fit. */
  readonly #others: LiveMap;

  constructor(map: IrMap, table: BucketTable, memory: SharedMemory, others: LiveMap) {
    this.map = map;
    this.#table = table;
    this.#memory = memory;
    this.#others = others;
  }

  #hash(key: Uint8Array): bigint {
    const multiplier = Atomics.load(this.#memory.words, bucketHead.multiplier / 8);
    return hashOf(key.subarray(0, this.#table.keySize), multiplier);
  }

  /** Where a bucket begins, and the slot where a key is looked for first. */
  #reach(key: Uint8Array): { readonly bucket: number; readonly home: number } {
    const hash = this.#hash(key);
    const { bucketBits, bucketBytes } = this.#table;
    return {
      bucket: bucketHead.buckets + Number(hash >> BigInt(64 - bucketBits)) * bucketBytes,
      home: Number((hash >> BigInt(60 - bucketBits)) & BigInt(slotsOfBucket - 1)),
    };
  }

  #control(bucket: number): bigint {
    return Atomics.load(this.#memory.words, bucket / 8);
  }

  #scan(bucket: number, key: Uint8Array): Scanned {
    const word = this.#control(bucket);
    return { word, slot: this.#slotOf(key, word, this.#memory.bytes, bucket) };
  }

  /** The slot that has the key by a control word, in the bucket's bytes. */
  #slotOf(key: Uint8Array, word: bigint, bytes: Uint8Array, bucket: number): number {
    const { stride, keySize } = this.#table;
    const counts = Number(word & control.counts);
    for (let slot = 1; slot < slotsOfBucket; slot++) {
      if (((counts >> slot) & 1) === 0) continue;
      const at = bucket + slot * stride;
      let same = 0;
      while (same < keySize && bytes[at + same] === key[same]) same++;
      if (same === keySize) return slot;
    }
    return 0;
  }

  /** A bucket's bytes as they were at one moment. */
  #bucketAt(bucket: number): { readonly word: bigint; readonly bytes: Uint8Array } {
    const { bucketBytes } = this.#table;
    for (;;) {
      const word = this.#control(bucket);
      const bytes = this.#memory.bytes.slice(bucket, bucket + bucketBytes);
      // Handlers that change it pause when their processor does something else.
      if (this.#control(bucket) === word) return { word, bytes };
    }
  }

  #exchange(bucket: number, expected: bigint, next: bigint): boolean {
    return Atomics.compareExchange(this.#memory.words, bucket / 8, expected, next) === expected;
  }

  #valueIn(bytes: Uint8Array, bucket: number, slot: number): Uint8Array {
    const { stride, valueAt, valueSize } = this.#table;
    const at = bucket + slot * stride + valueAt;
    return bytes.slice(at, at + valueSize);
  }

  lookup(key: Uint8Array | null): Uint8Array | undefined {
    const given = this.#keyOf(key);
    if (this.#closed) return undefined;
    const { word, bytes } = this.#bucketAt(this.#reach(given).bucket);
    const slot = this.#slotOf(given, word, bytes, 0);
    if (slot !== 0) return this.#valueIn(bytes, 0, slot);
    return (word & control.wasFull) === 0n ? undefined : this.#others.lookup(given);
  }

  #keyOf(key: Uint8Array | null): Uint8Array {
    if (key === null) throw new InternalError(`${this.map.shown} has keys`);
    return key;
  }

  /** The session is over. */
  get #closed(): boolean {
    return this.#memory.words.length === 0;
  }

  #put(key: Uint8Array | null, { make, inPlace, otherwise }: Putting): void {
    const given = this.#keyOf(key);
    if (this.#closed) return;
    const { keySize, valueAt, valueSize, stride, stays } = this.#table;
    const { bytes, words } = this.#memory;
    const { bucket, home } = this.#reach(given);
    for (;;) {
      const { word, slot } = this.#scan(bucket, given);
      if (slot === 0 && (word & control.wasFull) !== 0n) {
        // Else it may have moved meanwhile.
        if (stays || this.#control(bucket) === word) return otherwise(given);
        continue;
      }
      if (slot !== 0 && stays) return inPlace(words, (bucket + slot * stride + valueAt) / 8);
      const value = make(slot === 0 ? undefined : this.#valueIn(bytes, bucket, slot));
      if (value === undefined) return;
      if (slot === 0 && entriesOf(word) >= control.mostEntries) {
        this.#exchange(bucket, word, changed(word | control.wasFull));
        continue;
      }
      const oldBit = slot === 0 ? 0n : bitOf(slot);
      const used = Number((word | (word >> control.writing)) & 0xffffn) | 1;
      // Others are writing all that is free.
      if (used === 0xffff) continue;
      let free = home;
      while (((used >> free) & 1) !== 0) free = (free + 1) % slotsOfBucket;
      const writing = bitOf(free) << control.writing;
      const claimed = changed(word | writing);
      if (!this.#exchange(bucket, word, claimed)) continue;
      const at = bucket + free * stride;
      bytes.set(given.subarray(0, keySize), at);
      bytes.fill(0, at + valueAt, at + stride).set(value.subarray(0, valueSize), at + valueAt);
      if (this.#exchange(bucket, claimed, changed(claimed ^ writing ^ bitOf(free) ^ oldBit, slot === 0 ? 1 : 0)))
        return;
      Atomics.sub(words, bucket / 8, writing);
    }
  }

  store(key: Uint8Array | null, value: Uint8Array, asks = false): void {
    this.#put(key, {
      make: () => value,
      inPlace: (words, at) => void Atomics.store(words, at, wordOf(value)),
      otherwise: (given) => this.#others.store(given, value, asks),
    });
  }

  add(key: Uint8Array | null, delta: bigint): bigint {
    const added = BigInt.asUintN(64, delta);
    let sum = 0n;
    this.#put(key, {
      make: (old) => {
        sum = (old === undefined ? 0n : wordOf(old)) + added;
        return bytesOf(sum);
      },
      inPlace: (words, at) => void (sum = Atomics.add(words, at, added) + added),
      otherwise: (given) => void (sum = this.#others.add(given, delta)),
    });
    return BigInt.asIntN(64, sum);
  }

  aggregate(): void {
    throw new InternalError(`${this.map.shown} is no aggregation`);
  }

  delete(key: Uint8Array | null): boolean {
    const given = this.#keyOf(key);
    if (this.#closed) return false;
    const { bucket } = this.#reach(given);
    for (;;) {
      const { word, slot } = this.#scan(bucket, given);
      if (slot === 0) {
        if (this.#control(bucket) === word) return (word & control.wasFull) !== 0n && this.#others.delete(given);
      } else if (this.#exchange(bucket, word, changed(word ^ bitOf(slot), -1))) return true;
    }
  }

  *#buckets(): Generator<number> {
    const { bucketBytes } = this.#table;
    const { byteLength } = this.#memory.view;
    for (let bucket = bucketHead.buckets; bucket < byteLength; bucket += bucketBytes) yield bucket;
  }

  length(): number {
    let length = 0;
    let others = false;
    for (const bucket of this.#buckets()) {
      const word = this.#control(bucket);
      length += Number(entriesOf(word));
      others ||= (word & control.wasFull) !== 0n;
    }
    return length + (others ? this.#others.length() : 0);
  }

  clear(): void {
    let others = false;
    for (const bucket of this.#buckets()) {
      for (;;) {
        const word = this.#control(bucket);
        others ||= (word & control.wasFull) !== 0n;
        if (
          (word & control.counts) === 0n ||
          this.#exchange(bucket, word, changed(word & ~control.counts, -Number(entriesOf(word))))
        )
          break;
      }
    }
    if (others) this.#others.clear();
  }

  zero(): void {
    const zeros = new Uint8Array(this.#table.valueSize);
    const putting: Putting = {
      make: (old) => old && zeros,
      inPlace: (words, at) => void Atomics.store(words, at, 0n),
      otherwise: () => {},
    };
    let others = false;
    for (const bucket of this.#buckets()) {
      for (const [key] of this.#entriesIn(bucket, () => (others = true))) this.#put(key, putting);
    }
    if (others) this.#others.zero();
  }

  /** The entries of a bucket at one moment; `others` is called when there are some in the kernel's table. */
  #entriesIn(bucket: number, others: () => void): MapEntry[] {
    const { stride, keySize } = this.#table;
    if ((this.#control(bucket) & (control.counts | control.wasFull)) === 0n) return [];
    const { word, bytes } = this.#bucketAt(bucket);
    if ((word & control.wasFull) !== 0n) others();
    const found: MapEntry[] = [];
    for (let slot = 1; slot < slotsOfBucket; slot++) {
      if ((word & bitOf(slot)) === 0n) continue;
      found.push([bytes.slice(slot * stride, slot * stride + keySize), this.#valueIn(bytes, 0, slot)]);
    }
    return found;
  }

  *walk(): Generator<MapEntry> {
    let others = false;
    for (const bucket of this.#buckets()) yield* this.#entriesIn(bucket, () => (others = true));
    if (others) yield* this.#others.walk?.() ?? this.#others.entries();
  }

  entries(): MapEntries {
    const packed = new PackedEntries(this.#table.keySize, this.#table.valueSize);
    for (const [key, value] of this.walk()) {
      packed.reserve(1);
      packed.keys.set(key, packed.length * packed.keySize);
      packed.values.set(value.subarray(0, packed.valueSize), packed.length * packed.valueSize);
      packed.length++;
    }
    return packed;
  }
}

/** How an entry is stored or changed. */
interface Putting {
  /** What takes the place of a value, or of none; undefined: nothing. */
  readonly make: (old: Uint8Array | undefined) => Uint8Array | undefined;
  /** The same of entries that stay where they are: of a word. */
  readonly inPlace: (words: BigUint64Array, at: number) => void;
  /** The same in the kernel's table. */
  readonly otherwise: (key: Uint8Array) => void;
}

function wordOf(value: Uint8Array): bigint {
  let word = 0n;
  for (let i = Math.min(8, value.length) - 1; i >= 0; i--) word = (word << 8n) | BigInt(value[i]);
  return word;
}

function bytesOf(word: bigint): Uint8Array {
  return new Uint8Array(new BigUint64Array([word]).buffer);
}
