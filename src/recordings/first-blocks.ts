// Blocks as version 1 of the format has them (frames EVTS): layouts, each with all of its fields in the order of its rows.
//
//   u32 events, u16 layouts, u32 stacks
//   column: which of the layouts each event has
//   times and stacks as blocks.ts has them
//   of each layout: u16 its index, u32 rows; of each field but the time the columns of its kind, behind its texts
import { mostEvents, mostRowBytes, readStacks, readTimes, skipTimes, viewOf } from "./block-parts.ts";
import { ByteReader } from "./byte-buffer.ts";
import { readColumn } from "./columns.ts";
import { RecordingError } from "./damaged-recording.ts";
import { isText, readField, readTexts } from "./fields.ts";
import type { EventBlock, RowLayout, Rows } from "./layout.ts";
import { damagedRecording } from "../messages/on-demand.ts";

/** @throws RecordingError for what no block is, as the whole of what is wrong with it */
export function readFirstBlock(bytes: Uint8Array, layouts: readonly RowLayout[]): EventBlock {
  const from = new ByteReader(bytes);
  const count = from.u32();
  if (count > mostEvents) throw new RecordingError(damagedRecording().eventsOfBlock(count));
  const kinds = from.u16();
  const stackCount = from.u32();
  if (stackCount > mostEvents * 2) throw new RecordingError(damagedRecording().stacksOfBlock(stackCount));
  const order = Uint16Array.from(readColumn(from, count));
  const counts = new Uint32Array(kinds);
  for (const which of order) {
    if (which >= kinds) throw new RecordingError(damagedRecording().unknownKind());
    counts[which]++;
  }
  // Times lie before the rows that they go into.
  const timesAt = skipTimes(from, count);
  const stacks = readStacks(from, stackCount);
  const rows: Rows[] = [];
  let room = 0;
  for (let kind = 0; kind < kinds; kind++) {
    const layout = from.u16();
    const rowCount = from.u32();
    const known = layouts[layout];
    if (known === undefined) throw new RecordingError(damagedRecording().layoutOfRows(layout));
    if (rowCount !== counts[kind]) throw new RecordingError(damagedRecording().rowsAndEvents());
    room += rowCount * known.size;
    if (room > mostRowBytes) throw new RecordingError(damagedRecording().tooManyRows());
    const rowsOf: Rows = { layout, count: rowCount, bytes: new Uint8Array(rowCount * known.size) };
    const table = { bytes: rowsOf.bytes, view: viewOf(rowsOf), count: rowCount, size: known.size };
    for (const field of known.fields)
      if (field.offset !== known.time)
        readField(from, field, table, stacks.length, undefined, isText(field) ? readTexts(from) : []);
    rows.push(rowsOf);
  }
  if (from.left > 0) throw new RecordingError(damagedRecording().blockTooLong());
  const block: EventBlock = { count, order, rows, stacks };
  readTimes(new ByteReader(timesAt), block, layouts);
  return block;
}
