// Columns of integers, as a block holds them: each in the form that takes the fewest bytes before compression.
//
//   u8 form, then
//     constant:    u32 value
//     offsets:     u32 least, u8 width; width planes of a byte for each value (those above the least)
//     differences: u32 first, u8 width; the same planes, of each value's difference from the one before (zigzag)
//     table:       u16 count - 1, u32 values; a plane of indices
//     same:        u16 back; the values of the column so many before, among those of other forms than this and constant
//
// A plane holds one byte of every value: what is alike lies together, which compresses far better. Of 64 bits, the high
// and the low half are a column each.
import { RecordingError } from "./damaged-recording.ts";
import { ByteReader, type ByteBuffer } from "./byte-buffer.ts";
import { damagedRecording } from "../messages/on-demand.ts";

const constant = 0;
const offsets = 1;
const differences = 2;
const table = 3;
const same = 4;

const mostInTable = 256;
/** Values looked at before a table is tried: columns of many different ones show it soon. */
const sampled = 2048;

/** Columns that were written or read before, by which others are told to be the same. */
export class EarlierColumns {
  readonly #columns: { readonly values: () => Uint32Array }[] = [];

  /** How many columns back these values are; undefined where they are new. */
  find(values: Uint32Array): number | undefined {
    const middle = values.length >>> 1;
    for (let i = this.#columns.length - 1; i >= 0 && this.#columns.length - i <= mostBack; i--) {
      const other = this.#columns[i].values();
      if (other[middle] !== values[middle] || other[0] !== values[0]) continue;
      let at = 0;
      while (at < values.length && other[at] === values[at]) at++;
      if (at === values.length) return this.#columns.length - i;
    }
    return undefined;
  }

  add(values: () => Uint32Array): void {
    this.#columns.push({ values });
  }

  /** @throws RecordingError */
  at(back: number): Uint32Array {
    const column = this.#columns[this.#columns.length - back];
    if (column === undefined || back === 0) throw new RecordingError(damagedRecording().columnSameAsNone());
    return column.values();
  }
}

const mostBack = 0xffff;

/** Bytes that hold every value up to a most. */
function widthOf(most: number): number {
  return most === 0 ? 0 : most < 0x100 ? 1 : most < 0x1_0000 ? 2 : most < 0x100_0000 ? 3 : 4;
}

function zigzag(difference: number): number {
  return ((difference << 1) ^ (difference >> 31)) >>> 0;
}

/** `earlier`: columns of as many values, one of which this may be the same as. */
export function writeColumn(out: ByteBuffer, values: Uint32Array, earlier?: EarlierColumns): void {
  const count = values.length;
  const first = count === 0 ? 0 : values[0];
  let alike = 1;
  while (alike < count && values[alike] === first) alike++;
  if (alike >= count) {
    out.u8(constant);
    out.u32(first);
    return;
  }
  const back = earlier?.find(values);
  if (back !== undefined) {
    out.u8(same);
    out.u16(back);
    return;
  }
  earlier?.add(() => values);
  if (valueTable.fill(values)) writeFew(out, valueTable);
  else writeMany(out, values);
}

function writeFew(out: ByteBuffer, { values: room, count, indices }: ValueTable): void {
  const values = room.subarray(0, count);
  let least = values[0];
  let most = values[0];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (widthOf(most - least) > 1) {
    out.u8(table);
    out.u16(count - 1);
    for (const value of values) out.u32(value);
    out.put(indices);
    return;
  }
  out.u8(offsets);
  out.u32(least);
  out.u8(1);
  const at = out.room(indices.length);
  const { bytes } = out;
  for (let i = 0; i < indices.length; i++) bytes[at + i] = values[indices[i]] - least;
}

function writeMany(out: ByteBuffer, values: Uint32Array): void {
  const count = values.length;
  const first = values[0];
  let least = first;
  let most = first;
  let farthest = 0;
  let before = first;
  for (let i = 1; i < count; i++) {
    const value = values[i];
    if (value < least) least = value;
    if (value > most) most = value;
    const step = zigzag((value - before) | 0);
    if (step > farthest) farthest = step;
    before = value;
  }
  const width = widthOf(most - least);
  const stepWidth = widthOf(farthest);
  const steps = stepWidth < width;
  out.u8(steps ? differences : offsets);
  out.u32(steps ? first : least);
  const planes = steps ? stepWidth : width;
  out.u8(planes);
  const at = out.room(planes * count);
  const { bytes } = out;
  before = first;
  for (let i = 0; i < count; i++) {
    const value = values[i];
    const word = steps ? zigzag((value - before) | 0) : value - least;
    before = value;
    bytes[at + i] = word;
    if (planes > 1) bytes[at + count + i] = word >>> 8;
    if (planes > 2) bytes[at + 2 * count + i] = word >>> 16;
    if (planes > 3) bytes[at + 3 * count + i] = word >>> 24;
  }
}

/** The different values of a column, and which of them each row has, where there are few. */
class ValueTable {
  count = 0;
  readonly values = new Uint32Array(mostInTable);
  /** Of each row. */
  indices = new Uint8Array(0);
  #room = new Uint8Array(1 << 16);
  /** Numbers from 1 by hash: less than half full. */
  readonly #places = new Uint16Array(mostInTable * 4);

  /** Whether there are few. */
  fill(column: Uint32Array): boolean {
    const length = column.length;
    if (length > this.#room.length) this.#room = new Uint8Array(length * 2);
    const [places, values, indices] = [this.#places, this.values, this.#room];
    places.fill(0);
    const mask = places.length - 1;
    const enough = Math.min(mostInTable, Math.max(2, length >> 2));
    let count = 0;
    let index = -1;
    let before = 0;
    for (let i = 0; i < length; i++) {
      const value = column[i];
      // Rows that follow each other are alike more often than not.
      if (value !== before || index < 0) {
        before = value;
        let place = (Math.imul(value, 0x9e37_79b1) >>> 16) & mask;
        while (places[place] > 0 && values[places[place] - 1] !== value) place = (place + 1) & mask;
        index = places[place] - 1;
        if (index < 0) {
          if (count === enough || (i < sampled && count > i / 2 + 64)) return false;
          index = count;
          values[count++] = value;
          places[place] = count;
        }
      }
      indices[i] = index;
    }
    this.count = count;
    this.indices = indices.subarray(0, length);
    return true;
  }
}

const valueTable = new ValueTable();

/** Goes past a column: it is read where a later one is the same. @throws RecordingError */
export function skipColumn(from: ByteReader, count: number, earlier?: EarlierColumns): void {
  const start = from.rest;
  const left = from.left;
  const form = from.u8();
  switch (form) {
    case constant:
      from.skip(4);
      return;
    case same:
      from.skip(2);
      return;
    case offsets:
    case differences: {
      from.skip(4);
      const width = from.u8();
      if (width > 4) throw new RecordingError(damagedRecording().columnValues(width));
      from.skip(width * count);
      break;
    }
    case table:
      from.skip((from.u16() + 1) * 4 + count);
      break;
    default:
      throw new RecordingError(damagedRecording().columnForm(form));
  }
  const bytes = start.subarray(0, left - from.left);
  let values: Uint32Array | undefined;
  earlier?.add(() => (values ??= readColumn(new ByteReader(bytes), count)));
}

/** @throws RecordingError */
export function readColumn(from: ByteReader, count: number, earlier?: EarlierColumns): Uint32Array {
  const form = from.u8();
  if (form === same) {
    const back = from.u16();
    if (earlier === undefined) throw new RecordingError(damagedRecording().columnSameAsNone());
    return earlier.at(back);
  }
  const values = from.room?.words(count) ?? new Uint32Array(count);
  if (form !== constant) earlier?.add(() => values);
  switch (form) {
    case constant:
      return values.fill(from.u32());
    case offsets:
    case differences: {
      const first = from.u32();
      const width = from.u8();
      if (width > 4) throw new RecordingError(damagedRecording().columnValues(width));
      joinPlanes(from.take(width * count), width, values);
      if (form === offsets) for (let i = 0; i < count; i++) values[i] += first;
      else {
        let value = first;
        for (let i = 0; i < count; i++) {
          const step = values[i];
          value = (value + ((step >>> 1) ^ -(step & 1))) >>> 0;
          values[i] = value;
        }
      }
      return values;
    }
    case table: {
      const known = new Uint32Array(from.u16() + 1);
      for (let i = 0; i < known.length; i++) known[i] = from.u32();
      const indices = from.take(count);
      for (let i = 0; i < count; i++) {
        if (indices[i] >= known.length) throw new RecordingError(damagedRecording().columnNamesNothing());
        values[i] = known[indices[i]];
      }
      return values;
    }
    default:
      throw new RecordingError(damagedRecording().columnForm(form));
  }
}

/** A byte of each value after the other, the lowest first. */
function joinPlanes(planes: Uint8Array, width: number, values: Uint32Array): void {
  const count = values.length;
  const [second, third, fourth] = [count, count * 2, count * 3];
  switch (width) {
    case 0:
      values.fill(0);
      return;
    case 1:
      for (let i = 0; i < count; i++) values[i] = planes[i];
      return;
    case 2:
      for (let i = 0; i < count; i++) values[i] = planes[i] | (planes[second + i] << 8);
      return;
    case 3:
      for (let i = 0; i < count; i++) values[i] = planes[i] | (planes[second + i] << 8) | (planes[third + i] << 16);
      return;
    default:
      for (let i = 0; i < count; i++)
        values[i] = planes[i] | (planes[second + i] << 8) | (planes[third + i] << 16) | (planes[fourth + i] << 24);
  }
}
