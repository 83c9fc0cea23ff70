// The order in which a map is printed: by value, smallest first, so that the largest stand nearest to the prompt. A
// million entries are as quickly sorted when many values are equal, and without an object for each: by one byte of all
// of them after the other (a radix sort from the least one on).
import { bucketCount } from "../language/aggregations/buckets.ts";
import { aggregateLayout, partOf, valueOf } from "../language/aggregations/table.ts";
import { resultOf } from "../language/aggregations/value.ts";
import { keyLayout, sizeOf } from "../language/layout.ts";
import { isFloat, type AggregateType, type Type } from "../language/types.ts";
import type { MapSnapshot } from "../session/events.ts";
import { PackedEntries, type MapEntries, type MapEntry } from "../session/map-entries.ts";
import { memoryOf, readFloat, readWords } from "./values.ts";

/**
 * Entries by value (a histogram's is its total, a record's its first field), equal ones by key; the `top` largest when
 * top is not 0.
 */
export function orderedEntries({ map, entries }: MapSnapshot, top: number): MapEntries {
  if (entries.length < 2) return entries;
  const packed = PackedEntries.of(entries, keyLayout(map.keys).size, sizeOf(map.value));
  const order = sorted(packed.length, [...keyDigits(map.keys, packed), ...valueDigits(firstField(map.value), packed)]);
  return new OrderedEntries(packed, top > 0 ? order.subarray(Math.max(0, order.length - top)) : order);
}

/** What the values of a map are compared by: of a record its first field, which lies at its beginning. */
export function firstField(type: Type): Type {
  return type.kind === "record" && type.fields.length > 0 ? firstField(type.fields[0].type) : type;
}

class OrderedEntries implements MapEntries {
  readonly #packed: PackedEntries;
  readonly #order: Uint32Array;

  constructor(packed: PackedEntries, order: Uint32Array) {
    this.#packed = packed;
    this.#order = order;
  }

  get length(): number {
    return this.#order.length;
  }

  at(index: number): MapEntry | undefined {
    return this.#packed.at(this.#order[index] ?? -1);
  }

  *[Symbol.iterator](): Generator<MapEntry> {
    for (let i = 0; i < this.length; i++) yield this.at(i) as MapEntry;
  }

  map<T>(make: (entry: MapEntry) => T): T[] {
    return Array.from(this, make);
  }
}

/** A byte of each entry: at `at`, and so on in steps of `step`. `flip`: the bit of a sign. */
interface Digit {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly step: number;
  readonly flip: number;
}

/** The numbers of entries in their order. `digits`: the last decides first. */
function sorted(count: number, digits: readonly Digit[]): Uint32Array {
  let order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  let next = new Uint32Array(count);
  const places = new Uint32Array(256);
  for (const { bytes, at, step, flip } of digits) {
    places.fill(0);
    for (let i = 0, from = at; i < count; i++, from += step) places[bytes[from]]++;
    // Equal in all.
    if (places[bytes[at]] === count) continue;
    for (let value = 0, place = 0; value < 256; value++) {
      const entries = places[value ^ flip];
      places[value ^ flip] = place;
      place += entries;
    }
    for (let i = 0; i < count; i++) next[places[bytes[at + order[i] * step]]++] = order[i];
    [order, next] = [next, order];
  }
  return order;
}

/** Bytes of numbers with the low one first. */
function numberDigits(bytes: Uint8Array, at: number, step: number, size: number, signed: boolean): Digit[] {
  return Array.from({ length: size }, (_, i) => ({
    bytes,
    at: at + i,
    step,
    flip: signed && i === size - 1 ? 128 : 0,
  }));
}

/** The first byte decides first. */
function textDigits(bytes: Uint8Array, step: number, size: number): Digit[] {
  return Array.from({ length: size }, (_, i) => ({ bytes, at: size - 1 - i, step, flip: 0 }));
}

/** Numbers in an order of their own: one word each. */
function wordDigits(count: number, word: (index: number) => bigint): Digit[] {
  const words = new BigUint64Array(count);
  for (let i = 0; i < count; i++) words[i] = word(i);
  return numberDigits(new Uint8Array(words.buffer), 0, 8, 8, false);
}

function keyDigits(types: readonly Type[], { keys, keySize, length }: PackedEntries): Digit[] {
  const [type] = types;
  if (types.length === 1 && type.kind === "integer") return numberDigits(keys, 0, keySize, type.bits / 8, type.signed);
  const bytes = textDigits(keys, keySize, keySize);
  if (types.length !== 1 || !isFloat(type)) return bytes;
  const memory = memoryOf(keys);
  return [...bytes, ...wordDigits(length, (i) => orderOfDouble(readFloat(type, memory, i * keySize)))];
}

function valueDigits(type: Type, { values, valueSize, length }: PackedEntries): Digit[] {
  switch (type.kind) {
    case "integer":
    case "enum":
      return numberDigits(values, 0, valueSize, type.bits / 8, type.signed);
    case "boolean":
      return numberDigits(values, 0, valueSize, 1, false);
    case "pointer":
      return numberDigits(values, 0, valueSize, 8, false);
    case "string":
      return stringDigits(values, valueSize, type.capacity, length);
    case "aggregate":
      return aggregateDigits(type, values, valueSize, length);
    case "named": {
      if (!isFloat(type)) return [];
      const memory = memoryOf(values);
      return wordDigits(length, (i) => orderOfDouble(readFloat(type, memory, i * valueSize)));
    }
    default:
      return [];
  }
}

/** What is behind a string's end is no part of it. */
function stringDigits(values: Uint8Array, step: number, capacity: number, count: number): Digit[] {
  const texts = new Uint8Array(count * capacity);
  for (let i = 0; i < count; i++) {
    const text = values.subarray(i * step, i * step + capacity);
    const end = text.indexOf(0);
    texts.set(end < 0 ? text : text.subarray(0, end), i * capacity);
  }
  return textDigits(texts, capacity, capacity);
}

/** By its value; of buckets, how many values are in them. */
function aggregateDigits(type: AggregateType, values: Uint8Array, step: number, count: number): Digit[] {
  const memory = memoryOf(values);
  const result = valueOf(type);
  if (result !== undefined) {
    if ("part" in result && result.averaged !== true) {
      const { part, at } = aggregateLayout(type).parts[result.part];
      const sums = part.kind === "sum" && type.float !== true;
      if (part.kind === "count" || sums) return numberDigits(values, at * 8, step, 8, sums && type.signed);
    }
    const results = (i: number): bigint | number => resultOf(type, result, readWords(memory, i * step, step));
    if (typeof results(0) === "number") return wordDigits(count, (i) => orderOfDouble(results(i) as number));
    // Of numbers with and without a sign: their bits, and above them whether they are negative.
    const signs = new Uint8Array(count);
    const words = wordDigits(count, (i) => {
      const value = results(i) as bigint;
      signs[i] = value < 0n ? 0 : 1;
      return BigInt.asUintN(64, value);
    });
    return [...words, ...numberDigits(signs, 0, 1, 1, false)];
  }
  const buckets = partOf(type, "buckets");
  if (buckets === undefined) return [];
  const size = bucketCount(buckets.part.of) * 8;
  return wordDigits(count, (i) =>
    readWords(memory, i * step + buckets.at * 8, size).reduce((sum, word) => sum + word, 0n),
  );
}

const double = new DataView(new ArrayBuffer(8));

/** Bits that are ordered as doubles are; what is no number comes first. */
function orderOfDouble(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  // Both zeros are one.
  double.setFloat64(0, value + 0);
  const bits = double.getBigUint64(0);
  return bits >> 63n === 1n ? BigInt.asUintN(64, ~bits) : bits | (1n << 63n);
}
