// A block of events as columns, as it is read; write-block.ts writes it. It stands for itself: its dictionaries are in it.
//
//   u32 events, u32 stacks, u16 groups; of each group u16 layout, u32 rows, u64 value of the field that tells groups
//   column: which of the groups each event is of
//   columns: low and high halves of the differences of the events' times
//   texts: u32 different ones; column of lengths; their bytes
//   stacks: column of lengths; columns of all addresses
//   unless there are no groups, of the fields of a thread and then of those of a CPU: u32 different ones, the fields'
//     columns of these, a column of which each event has, from 1; 0: its group has them
//   of each group the columns of the other fields
//
// What belongs to a thread is alike in all its events, whatever layout they have: it is told once for each thread, and
// each event says of which thread it is. A layout whose fields of the thread are others than the first one's has them in
// its groups.
import { mostEvents, mostRowBytes, readStacks, readTimes, skipTimes, viewOf } from "./block-parts.ts";
import type { BlockRoom } from "./block-room.ts";
import { ByteReader } from "./byte-buffer.ts";
import { EarlierColumns, readColumn, skipColumn } from "./columns.ts";
import { RecordingError } from "./damaged-recording.ts";
import { readField, readTexts, skipField, type RowBytes } from "./fields.ts";
import { fieldBytes, type EventBlock, type RowField, type RowLayout, type Rows } from "./layout.ts";
import { commonsOf, restOf, siteField, timeField, type CommonFields } from "./role-fields.ts";
import { damagedRecording } from "../messages/on-demand.ts";

/**
 * Which fields of a layout's rows at a site are read; rows have zeros where the others are. Of rows whose time is not
 * asked for nothing is there, not even their bytes.
 */
export type WantedFields = (layout: number, field: RowField, site: bigint) => boolean;

/** `room`: where its rows lie, until it is reset. @throws RecordingError for what no block is, as the whole of what is wrong with it */
export function readBlock(
  bytes: Uint8Array,
  layouts: readonly RowLayout[],
  wanted: WantedFields = () => true,
  room?: BlockRoom,
): EventBlock {
  const from = new ByteReader(bytes, room);
  const count = from.u32();
  if (count > mostEvents) throw new RecordingError(damagedRecording().eventsOfBlock(count));
  const stackCount = from.u32();
  if (stackCount > mostEvents * 2) throw new RecordingError(damagedRecording().stacksOfBlock(stackCount));
  const isAsked = (layout: number, site: bigint): boolean => {
    const time = timeField(layouts[layout]);
    return time === undefined || wanted(layout, time, site);
  };
  const asks: WantedFields = (layout, field, site) => isAsked(layout, site) && wanted(layout, field, site);
  const rows: (Rows & { readonly site: bigint })[] = [];
  let size = 0;
  for (let groups = from.u16(); groups > 0; groups--) {
    const layout = from.u16();
    const rowCount = from.u32();
    const site = from.u64();
    const known = layouts[layout];
    if (known === undefined) throw new RecordingError(damagedRecording().layoutOfRows(layout));
    size += rowCount * known.size;
    if (rowCount > count || size > mostRowBytes) throw new RecordingError(damagedRecording().tooManyRows());
    const bytesOfRows = isAsked(layout, site) ? rowCount * known.size : 0;
    rows.push({ layout, count: rowCount, site, bytes: room?.bytes(bytesOfRows) ?? new Uint8Array(bytesOfRows) });
  }
  const order = new Uint16Array(readColumn(from, count));
  const counts = new Uint32Array(rows.length);
  for (let i = 0; i < count; i++) {
    const which = order[i];
    if (which >= rows.length) throw new RecordingError(damagedRecording().unknownKind());
    counts[which]++;
  }
  if (rows.some((group, i) => group.count !== counts[i])) throw new RecordingError(damagedRecording().rowsAndEvents());
  const timesAt = skipTimes(from, count);
  const tables = rows.map((group): RowBytes => {
    const { size } = layouts[group.layout];
    return { bytes: group.bytes, view: viewOf(group), count: group.count, size };
  });
  const commons = rows.length === 0 ? [] : commonsOf(layouts, rows[0].layout);
  const texts = readTexts(from);
  const stacks = readStacks(from, stackCount);
  for (const common of commons) readCommon(from, common, { order, rows, tables, texts }, asks);
  for (const [i, { layout, site, count: some }] of rows.entries()) {
    const earlier = new EarlierColumns();
    for (const field of restOf(layout, layouts, commons))
      if (asks(layout, field, site)) readField(from, field, tables[i], stacks.length, earlier, texts);
      else skipField(from, field, some, earlier);
    const told = siteField(layouts[layout]);
    if (told === undefined || !asks(layout, told, site)) continue;
    const { view, size: step } = tables[i];
    const [low, high] = [Number(site & 0xffff_ffffn), Number(site >> 32n)];
    for (let row = 0, place = told.offset; row < some; row++, place += step) {
      view.setUint32(place, low, true);
      view.setUint32(place + 4, high, true);
    }
  }
  if (from.left > 0) throw new RecordingError(damagedRecording().blockTooLong());
  const block: EventBlock = { count, order, rows, stacks };
  readTimes(new ByteReader(timesAt, room), block, layouts);
  return block;
}

function rowsOf(count: number, size: number): RowBytes {
  const bytes = new Uint8Array(count * size);
  return { bytes, view: new DataView(bytes.buffer), count, size };
}

function readCommon(
  from: ByteReader,
  common: CommonFields,
  {
    order,
    rows,
    tables,
    texts,
  }: {
    readonly order: Uint16Array;
    readonly rows: readonly (Rows & { readonly site: bigint })[];
    readonly tables: readonly RowBytes[];
    readonly texts: readonly Uint8Array[];
  },
  wanted: WantedFields,
): void {
  const { size, own } = common.first;
  const known = from.u32();
  if (known > order.length) throw new RecordingError(damagedRecording().moreThreadsThanEvents());
  // Where words that are asked for lie in rows of the table, and in rows of each group.
  const moves = rows.map(({ layout, site }) =>
    common.of(layout)?.fields.flatMap((field, i) =>
      wanted(layout, field, site)
        ? Array.from({ length: fieldBytes(field) / 4 }, (_, word) => ({
            of: i,
            from: own[i].offset + word * 4,
            to: field.offset + word * 4,
          }))
        : [],
    ),
  );
  const asked = new Set(moves.flatMap((words) => words?.map(({ of }) => of) ?? []));
  const table = rowsOf(known, size);
  const earlier = new EarlierColumns();
  for (const [i, field] of own.entries())
    if (asked.has(i)) readField(from, field, table, 0, earlier, texts);
    else skipField(from, field, known, earlier);
  if (asked.size === 0) {
    skipColumn(from, order.length);
    return;
  }
  const numbers = readColumn(from, order.length);
  // Of each group the rows of the table that its rows have, one group and one word after the other.
  const numbersOf = rows.map(({ count }) => from.room?.words(count) ?? new Uint32Array(count));
  const next = new Uint32Array(rows.length);
  for (let i = 0; i < order.length; i++) numbersOf[order[i]][next[order[i]]++] = numbers[i];
  for (const [which, words] of moves.entries()) {
    if (words === undefined) continue;
    const { view, size: step } = tables[which];
    const those = numbersOf[which];
    for (let i = 0; i < those.length; i++)
      if (those[i] === 0 || those[i] > known) throw new RecordingError(damagedRecording().unknownThread());
    for (const { from: one, to } of words)
      copyWords(numbersOf[which], { view: table.view, size, at: one }, { view, size: step, at: to });
  }
}

interface WordsOfRows {
  readonly view: DataView;
  readonly size: number;
  readonly at: number;
}

/** `numbers`: of each row the one that it has the word of, from 1. */
function copyWords(numbers: Uint32Array, from: WordsOfRows, to: WordsOfRows): void {
  const [source, sourceSize, sourceAt] = [from.view, from.size, from.at - from.size];
  const [target, targetSize] = [to.view, to.size];
  for (let i = 0, at = to.at; i < numbers.length; i++, at += targetSize)
    target.setUint32(at, source.getUint32(numbers[i] * sourceSize + sourceAt, true), true);
}
