// A block of events as columns, and back. It stands for itself: its dictionaries are in it.
//
//   u32 events, u16 layouts, u32 stacks
//   column: which of the layouts each event has
//   columns: low and high halves of the differences of the events' times
//   stacks: column of lengths; columns of all addresses
//   of each layout: u16 its index, u32 rows; of each field but the time the columns of its kind
//     integer: low halves, and of 8 bytes high halves
//     text, bytes: u32 different ones; column of lengths; their bytes; column of which each row has
//     stack: column of which each row has, 0 for none, counted from 1
import { ByteBuffer, ByteReader } from "./byte-buffer.ts";
import { readColumn, writeColumn } from "./columns.ts";
import { RecordingError } from "./damaged-recording.ts";
import type { EventBlock, RowField, RowLayout, Rows } from "./layout.ts";

/** Events of a block at most. */
export const mostEvents = 1 << 20;
/** Bytes of rows that a block may come to, whatever it says. */
const mostRowBytes = 1 << 30;

/** @param layouts of the recording, by their index */
export function writeBlock(block: EventBlock, layouts: readonly RowLayout[]): Uint8Array {
  const out = new ByteBuffer(1 << 16);
  out.u32(block.count);
  out.u16(block.rows.length);
  out.u32(block.stacks.length);
  writeColumn(out, Uint32Array.from(block.order.subarray(0, block.count)));
  writeTimes(out, block, layouts);
  writeColumn(
    out,
    Uint32Array.from(block.stacks, (stack) => stack.length),
  );
  writeAddresses(out, block.stacks);
  for (const rows of block.rows) {
    out.u16(rows.layout);
    out.u32(rows.count);
    const layout = layouts[rows.layout];
    const view = new DataView(rows.bytes.buffer, rows.bytes.byteOffset, rows.bytes.byteLength);
    for (const field of layout.fields)
      if (field.offset !== layout.time) writeField(out, field, rows, layout.size, view, block.stacks.length);
  }
  return out.bytes;
}

function viewOf({ bytes }: Rows): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function writeTimes(out: ByteBuffer, { count, order, rows }: EventBlock, layouts: readonly RowLayout[]): void {
  const low = new Uint32Array(count);
  const high = new Uint32Array(count);
  const views = rows.map(viewOf);
  const next = rows.map(({ layout }) => layouts[layout].time);
  const sizes = rows.map(({ layout }) => layouts[layout].size);
  let beforeLow = 0;
  let beforeHigh = 0;
  for (let i = 0; i < count; i++) {
    const which = order[i];
    const at = next[which];
    next[which] += sizes[which];
    const timeLow = views[which].getUint32(at, true);
    const timeHigh = views[which].getUint32(at + 4, true);
    // The first may be any number: it is written as it is. A step is small, and exact as a double.
    if (i === 0) {
      low[0] = timeLow;
      high[0] = timeHigh;
    } else {
      const step = (timeHigh - beforeHigh) * 2 ** 32 + (timeLow - beforeLow);
      const folded = step >= 0 ? step * 2 : -step * 2 - 1;
      low[i] = folded % 2 ** 32;
      high[i] = Math.floor(folded / 2 ** 32);
    }
    beforeLow = timeLow;
    beforeHigh = timeHigh;
  }
  if (count > 0) {
    out.u32(low[0]);
    out.u32(high[0]);
  }
  writeColumn(out, low.subarray(1));
  writeColumn(out, high.subarray(1));
}

function readTimes(from: ByteReader, { count, order, rows }: EventBlock, layouts: readonly RowLayout[]): void {
  if (count === 0) return;
  let timeLow = from.u32();
  let timeHigh = from.u32();
  const low = readColumn(from, count - 1);
  const high = readColumn(from, count - 1);
  const views = rows.map(viewOf);
  const next = rows.map(({ layout }) => layouts[layout].time);
  const ends = rows.map(({ bytes }) => bytes.length);
  const sizes = rows.map(({ layout }) => layouts[layout].size);
  for (let i = 0; i < count; i++) {
    if (i > 0) {
      const folded = high[i - 1] * 2 ** 32 + low[i - 1];
      const step = folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
      const sum = timeLow + step;
      timeHigh += Math.floor(sum / 2 ** 32);
      timeLow = sum - Math.floor(sum / 2 ** 32) * 2 ** 32;
    }
    const which = order[i];
    const at = next[which];
    next[which] += sizes[which];
    if (at + 8 > ends[which]) throw new RecordingError("a block has more events of a kind than rows");
    views[which].setUint32(at, timeLow, true);
    views[which].setUint32(at + 4, timeHigh >>> 0, true);
  }
}

function writeAddresses(out: ByteBuffer, stacks: readonly BigUint64Array[]): void {
  const frames = stacks.reduce((sum, { length }) => sum + length, 0);
  const words = new Uint32Array(frames * 2);
  let at = 0;
  for (const stack of stacks) {
    words.set(new Uint32Array(stack.buffer, stack.byteOffset, stack.length * 2), at);
    at += stack.length * 2;
  }
  writeColumn(
    out,
    words.filter((_, i) => i % 2 === 0),
  );
  writeColumn(
    out,
    words.filter((_, i) => i % 2 === 1),
  );
}

/** A stack has no more (kernel.perf_event_max_stack is at most that of a page of addresses). */
const mostFrames = 1 << 12;

function readStacks(from: ByteReader, count: number): BigUint64Array[] {
  const lengths = readColumn(from, count);
  let frames = 0;
  for (const length of lengths) {
    if (length > mostFrames) throw new RecordingError(`a stack has ${length} frames`);
    frames += length;
  }
  if (frames > mostRowBytes / 8) throw new RecordingError(`a block has ${frames} frames of stacks`);
  const low = readColumn(from, frames);
  const high = readColumn(from, frames);
  const words = new Uint32Array(frames * 2);
  for (let i = 0; i < frames; i++) {
    words[2 * i] = low[i];
    words[2 * i + 1] = high[i];
  }
  let at = 0;
  return Array.from(lengths, (length) => {
    const stack = new BigUint64Array(words.buffer, at * 8, length);
    at += length;
    return stack;
  });
}

function writeField(
  out: ByteBuffer,
  field: RowField,
  { count, bytes }: Rows,
  size: number,
  view: DataView,
  stacks: number,
): void {
  const { offset } = field;
  const values = new Uint32Array(count);
  switch (field.kind) {
    case "integer":
      switch (field.size) {
        case 1:
          for (let i = 0, at = offset; i < count; i++, at += size) values[i] = bytes[at];
          break;
        case 2:
          for (let i = 0, at = offset; i < count; i++, at += size) values[i] = view.getUint16(at, true);
          break;
        case 4:
        case 8:
          for (let i = 0, at = offset; i < count; i++, at += size) values[i] = view.getUint32(at, true);
      }
      writeColumn(out, values);
      if (field.size < 8) return;
      for (let i = 0, at = offset + 4; i < count; i++, at += size) values[i] = view.getUint32(at, true);
      writeColumn(out, values);
      return;
    case "stack":
      for (let i = 0, at = offset; i < count; i++, at += size) {
        const number = view.getUint32(at, true) + 1;
        values[i] = number <= stacks ? number : 0;
      }
      writeColumn(out, values);
      return;
    case "text":
    case "bytes":
      writeTexts(out, field, bytes, size, values);
  }
}

function writeTexts(
  out: ByteBuffer,
  { kind, offset, size: room }: Extract<RowField, { kind: "text" | "bytes" }>,
  bytes: Uint8Array,
  size: number,
  numbers: Uint32Array,
): void {
  const rows = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const known = new Map<string, number>();
  let before = "";
  let beforeAt = -1;
  let beforeEnd = -1;
  for (let i = 0, at = offset; i < numbers.length; i++, at += size) {
    // Rows that follow each other are alike more often than not.
    if (beforeAt >= 0 && rows.compare(rows, beforeAt, beforeEnd, at, at + (beforeEnd - beforeAt)) === 0) {
      const whole = kind === "bytes" || beforeEnd - beforeAt === room || rows[at + (beforeEnd - beforeAt)] === 0;
      if (whole) {
        numbers[i] = known.get(before)!;
        continue;
      }
    }
    let end = at + room;
    if (kind === "text") {
      const nul = rows.indexOf(0, at);
      if (nul >= 0 && nul < end) end = nul;
    }
    const text = rows.toString("latin1", at, end);
    let number = known.get(text);
    if (number === undefined) known.set(text, (number = known.size));
    numbers[i] = number;
    [before, beforeAt, beforeEnd] = [text, at, end];
  }
  out.u32(known.size);
  writeColumn(
    out,
    Uint32Array.from(known.keys(), (text) => text.length),
  );
  for (const text of known.keys()) out.put(Buffer.from(text, "latin1"));
  writeColumn(out, numbers);
}

/** @throws RecordingError for what no block is, as the whole of what is wrong with it */
export function readBlock(bytes: Uint8Array, layouts: readonly RowLayout[]): EventBlock {
  const from = new ByteReader(bytes);
  const count = from.u32();
  if (count > mostEvents) throw new RecordingError(`a block is said to have ${count} events`);
  const kinds = from.u16();
  const stackCount = from.u32();
  if (stackCount > mostEvents * 2) throw new RecordingError(`a block is said to have ${stackCount} stacks`);
  const order = Uint16Array.from(readColumn(from, count));
  const counts = new Uint32Array(kinds);
  for (const which of order) {
    if (which >= kinds) throw new RecordingError("an event is of a kind that its block does not have");
    counts[which]++;
  }
  // Times lie before the rows that they go into.
  const times = from;
  const timesAt = skipTimes(times, count);
  const stacks = readStacks(from, stackCount);
  const rows: Rows[] = [];
  let room = 0;
  for (let kind = 0; kind < kinds; kind++) {
    const layout = from.u16();
    const rowCount = from.u32();
    const known = layouts[layout];
    if (known === undefined) throw new RecordingError(`a block has rows of the unknown layout ${layout}`);
    if (rowCount !== counts[kind]) throw new RecordingError("a block has another number of rows than of events");
    room += rowCount * known.size;
    if (room > mostRowBytes) throw new RecordingError("a block has more rows than any");
    const rowsOf: Rows = { layout, count: rowCount, bytes: new Uint8Array(rowCount * known.size) };
    const view = viewOf(rowsOf);
    for (const field of known.fields)
      if (field.offset !== known.time) readField(from, field, rowsOf, known.size, view, stacks.length);
    rows.push(rowsOf);
  }
  if (from.left > 0) throw new RecordingError("a block has more bytes than it says");
  const block: EventBlock = { count, order, rows, stacks };
  readTimes(new ByteReader(timesAt), block, layouts);
  return block;
}

/** The bytes of the times. */
function skipTimes(from: ByteReader, count: number): Uint8Array {
  const before = from.left;
  const start = from.rest;
  if (count === 0) {
    readColumn(from, 0);
    readColumn(from, 0);
  } else {
    from.skip(8);
    readColumn(from, count - 1);
    readColumn(from, count - 1);
  }
  return start.subarray(0, before - from.left);
}

function readField(
  from: ByteReader,
  field: RowField,
  { count, bytes }: Rows,
  size: number,
  view: DataView,
  stacks: number,
): void {
  const { offset } = field;
  switch (field.kind) {
    case "integer": {
      const values = readColumn(from, count);
      for (let i = 0, at = offset; i < count; i++, at += size) {
        if (field.size === 1) bytes[at] = values[i];
        else if (field.size === 2) view.setUint16(at, values[i], true);
        else view.setUint32(at, values[i], true);
      }
      if (field.size < 8) return;
      const high = readColumn(from, count);
      for (let i = 0, at = offset + 4; i < count; i++, at += size) view.setUint32(at, high[i], true);
      return;
    }
    case "stack": {
      const values = readColumn(from, count);
      for (let i = 0, at = offset; i < count; i++, at += size) {
        if (values[i] > stacks) throw new RecordingError("an event has a stack that its block does not have");
        view.setInt32(at, values[i] - 1, true);
        view.setInt32(at + 4, values[i] === 0 ? -1 : 0, true);
      }
      return;
    }
    case "text":
    case "bytes": {
      const known = from.u32();
      if (known > count) throw new RecordingError("a block has more texts than rows");
      const lengths = readColumn(from, known);
      const texts = Array.from(lengths, (length) => {
        if (length > field.size) throw new RecordingError("a text is longer than its field");
        return from.take(length);
      });
      const numbers = readColumn(from, count);
      for (let i = 0, at = offset; i < count; i++, at += size) {
        const text = texts[numbers[i]];
        if (text === undefined) throw new RecordingError("an event has a text that its block does not have");
        bytes.set(text, at);
      }
    }
  }
}
