// The entries of a map at one moment: in memory that grows with their bytes, not with objects for each.

export type MapEntry = readonly [key: Uint8Array, value: Uint8Array];

/** What a few entries as an array are, too. */
export interface MapEntries extends Iterable<MapEntry> {
  readonly length: number;
  at(index: number): MapEntry | undefined;
  map<T>(make: (entry: MapEntry) => T): T[];
}

/** So many entries, whose keys and values lie one after the other. */
export interface EntryBatch {
  readonly count: number;
  readonly keys: Uint8Array;
  readonly values: Uint8Array;
}

/** Entries of keys and values that are of one size each; what is handed out are views. */
export class PackedEntries implements MapEntries {
  readonly keySize: number;
  readonly valueSize: number;
  keys = new Uint8Array(0);
  values = new Uint8Array(0);
  length = 0;

  constructor(keySize: number, valueSize: number) {
    this.keySize = keySize;
    this.valueSize = valueSize;
  }

  static of(entries: MapEntries, keySize: number, valueSize: number): PackedEntries {
    if (entries instanceof PackedEntries) return entries;
    const packed = new PackedEntries(keySize, valueSize);
    packed.reserve(entries.length);
    for (const [key, value] of entries) {
      packed.keys.set(key, packed.length * keySize);
      packed.values.set(value, packed.length * valueSize);
      packed.length++;
    }
    return packed;
  }

  /** Makes room for so many more, whose bytes the caller writes before it counts them. */
  reserve(more: number): void {
    const room = this.keySize === 0 ? this.values.length / this.valueSize : this.keys.length / this.keySize;
    const wanted = this.length + more;
    if (wanted <= room) return;
    const entries = Math.max(wanted, Math.ceil(room * 1.5));
    this.keys = grown(this.keys, entries * this.keySize);
    this.values = grown(this.values, entries * this.valueSize);
  }

  at(index: number): MapEntry | undefined {
    if (index < 0 || index >= this.length) return undefined;
    const { keySize, valueSize } = this;
    return [
      this.keys.subarray(index * keySize, (index + 1) * keySize),
      this.values.subarray(index * valueSize, (index + 1) * valueSize),
    ];
  }

  *[Symbol.iterator](): Generator<MapEntry> {
    for (let i = 0; i < this.length; i++) yield this.at(i) as MapEntry;
  }

  map<T>(make: (entry: MapEntry) => T): T[] {
    return Array.from(this, make);
  }
}

/** Views of a batch's entries. */
export function* entriesOf({ count, keys, values }: EntryBatch): Generator<MapEntry> {
  const [keySize, valueSize] = [keys.length / count, values.length / count];
  for (let i = 0; i < count; i++)
    yield [keys.subarray(i * keySize, (i + 1) * keySize), values.subarray(i * valueSize, (i + 1) * valueSize)];
}

function grown(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}
