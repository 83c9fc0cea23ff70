// What every block has beside its fields: times, and stacks.
import type { ByteBuffer, ByteReader } from "./byte-buffer.ts";
import { readColumn, skipColumn, writeColumn } from "./columns.ts";
import { RecordingError } from "./damaged-recording.ts";
import type { EventBlock, RowLayout, Rows } from "./layout.ts";
import { damagedRecording } from "../messages/on-demand.ts";

/** Events of a block at most. */
export const mostEvents = 1 << 20;
/** Bytes of rows that a block may come to, whatever it says. */
export const mostRowBytes = 1 << 28;

export function viewOf({ bytes }: Rows): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Times as halves of events in their order: steps from each to the next are in their place afterwards. */
export function writeTimes(
  out: ByteBuffer,
  {
    count,
    timeLow,
    timeHigh,
  }: { readonly count: number; readonly timeLow: Uint32Array; readonly timeHigh: Uint32Array },
): void {
  // The first may be any number: it is written as it is. A step is small, and exact as a double.
  if (count > 0) {
    out.u32(timeLow[0]);
    out.u32(timeHigh[0]);
  }
  for (let i = count - 1; i > 0; i--) {
    const small = timeLow[i] - timeLow[i - 1];
    if (timeHigh[i] === timeHigh[i - 1] && small > -0x4000_0000 && small < 0x4000_0000) {
      timeLow[i] = (small << 1) ^ (small >> 31);
      timeHigh[i] = 0;
      continue;
    }
    const step = (timeHigh[i] - timeHigh[i - 1]) * 2 ** 32 + small;
    const folded = step >= 0 ? step * 2 : -step * 2 - 1;
    timeLow[i] = folded % 2 ** 32;
    timeHigh[i] = Math.floor(folded / 2 ** 32);
  }
  writeColumn(out, timeLow.subarray(1, Math.max(1, count)));
  writeColumn(out, timeHigh.subarray(1, Math.max(1, count)));
}

function unfolded(folded: number): number {
  return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
}

export function readTimes(from: ByteReader, { count, order, rows }: EventBlock, layouts: readonly RowLayout[]): void {
  if (count === 0) return;
  let timeLow = from.u32();
  let timeHigh = from.u32();
  const low = readColumn(from, count - 1);
  const high = readColumn(from, count - 1);
  const views = rows.map(viewOf);
  const next = rows.map(({ layout }) => layouts[layout].time);
  const ends = rows.map(({ bytes }) => bytes.length);
  const sizes = rows.map(({ layout }) => layouts[layout].size);
  // Of rows that nobody asks for, there is nothing.
  const there = Uint8Array.from(ends, (end) => (end > 0 ? 1 : 0));
  for (let i = 0; i < count; i++) {
    if (i > 0) {
      const half = low[i - 1];
      // Nearly all steps are small.
      const sum = timeLow + (high[i - 1] === 0 ? (half >>> 1) ^ -(half & 1) : unfolded(high[i - 1] * 2 ** 32 + half));
      if (sum >= 0 && sum < 2 ** 32) timeLow = sum;
      else {
        timeHigh += Math.floor(sum / 2 ** 32);
        timeLow = sum - Math.floor(sum / 2 ** 32) * 2 ** 32;
      }
    }
    const which = order[i];
    if (there[which] === 0) continue;
    const at = next[which];
    next[which] += sizes[which];
    if (at + 8 > ends[which]) throw new RecordingError(damagedRecording().moreEventsThanRows());
    views[which].setUint32(at, timeLow, true);
    views[which].setUint32(at + 4, timeHigh >>> 0, true);
  }
}

export function writeAddresses(out: ByteBuffer, stacks: readonly BigUint64Array[]): void {
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

export function readStacks(from: ByteReader, count: number): BigUint64Array[] {
  const lengths = readColumn(from, count);
  let frames = 0;
  for (const length of lengths) {
    if (length > mostFrames) throw new RecordingError(damagedRecording().stackFrames(length));
    frames += length;
  }
  if (frames > mostRowBytes / 8) throw new RecordingError(damagedRecording().framesOfStacks(frames));
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

/** The bytes of the times. */
export function skipTimes(from: ByteReader, count: number): Uint8Array {
  const before = from.left;
  const start = from.rest;
  if (count > 0) from.skip(8);
  skipColumn(from, Math.max(0, count - 1));
  skipColumn(from, Math.max(0, count - 1));
  return start.subarray(0, before - from.left);
}
