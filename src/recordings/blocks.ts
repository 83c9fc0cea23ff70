// A block of events as columns, and back. It stands for itself: its dictionaries are in it.
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
import {
  mostEvents,
  mostRowBytes,
  readStacks,
  readTimes,
  viewOf,
  skipTimes,
  writeAddresses,
  writeTimes,
} from "./block-parts.ts";
import type { BlockRoom } from "./block-room.ts";
import { ByteBuffer, ByteReader } from "./byte-buffer.ts";
import { EarlierColumns, readColumn, skipColumn, writeColumn } from "./columns.ts";
import { RecordingError } from "./damaged-recording.ts";
import {
  isText,
  readField,
  readTexts,
  skipField,
  Texts,
  writeField,
  type PlacedRows,
  type RowBytes,
} from "./fields.ts";
import { fieldBytes, type EventBlock, type RowField, type RowLayout, type Rows } from "./layout.ts";
import { damagedRecording } from "../messages/on-demand.ts";

type Role = "thread" | "cpu";

/** Fields of a role, one behind the other in rows of their own. */
class RoleFields {
  readonly fields: readonly RowField[];
  /** Each field where it lies in a row of this role alone. */
  readonly own: readonly RowField[];
  readonly size: number;

  constructor({ fields }: RowLayout, role: Role) {
    // Looked at as words of 4 bytes.
    this.fields = fields.filter((field) => field.role === role && fieldBytes(field) % 4 === 0);
    let at = 0;
    this.own = this.fields.map((field) => {
      const own = { ...field, offset: at };
      at += fieldBytes(field);
      return own;
    });
    this.size = at;
  }

  /** Where the words of its own rows lie in a whole row. */
  get words(): readonly number[] {
    return this.fields.flatMap((field) =>
      Array.from({ length: fieldBytes(field) / 4 }, (_, i) => field.offset + i * 4),
    );
  }

  isLike({ fields }: RoleFields): boolean {
    return (
      fields.length === this.fields.length &&
      fields.every((field, i) => field.kind === this.fields[i].kind && fieldBytes(field) === fieldBytes(this.fields[i]))
    );
  }
}

/** What is told of all events together: fields of a role in each of the block's layouts. */
class CommonFields {
  /** As the first layout has them. */
  readonly first: RoleFields;
  readonly #role: Role;
  readonly #layouts: readonly RowLayout[];
  readonly #of = new Map<number, RoleFields | undefined>();

  constructor(layouts: readonly RowLayout[], first: number, role: Role) {
    this.#layouts = layouts;
    this.#role = role;
    this.first = new RoleFields(layouts[first], role);
  }

  /** Undefined where rows of the layout have them in their groups. */
  of(layout: number): RoleFields | undefined {
    if (!this.#of.has(layout)) {
      const fields = new RoleFields(this.#layouts[layout], this.#role);
      this.#of.set(layout, this.first.fields.length > 0 && this.first.isLike(fields) ? fields : undefined);
    }
    return this.#of.get(layout);
  }
}

/** Fields that groups of a layout have for themselves. */
function restOf(layout: number, layouts: readonly RowLayout[], commons: readonly CommonFields[]): readonly RowField[] {
  const { fields, time } = layouts[layout];
  const told = new Set(commons.flatMap((common) => common.of(layout)?.fields ?? []));
  const site = siteField(layouts[layout]);
  return fields.filter((field) => field.offset !== time && field !== site && !told.has(field));
}

// ── writing ──

/** Rows of a layout that are at one site. */
interface Group {
  readonly layout: number;
  /** Among the block's. */
  readonly rows: Rows;
  readonly site: bigint;
  /** Where they lie in the layout's rows. */
  readonly places: number[];
}

function siteField({ fields }: RowLayout): RowField | undefined {
  return fields.find((field) => field.role === "site" && fieldBytes(field) === 8);
}

function timeField({ fields, time }: RowLayout): RowField | undefined {
  return fields.find(({ offset }) => offset === time);
}

/** @param layouts of the recording, by their index */
export function writeBlock(block: EventBlock, layouts: readonly RowLayout[]): Uint8Array {
  const { count, stacks } = block;
  const { groups, order, places } = grouped(block, layouts);
  const out = new ByteBuffer(1 << 16);
  out.u32(count);
  out.u32(stacks.length);
  out.u16(groups.length);
  for (const { layout, site, places: of } of groups) {
    out.u16(layout);
    out.u32(of.length);
    out.u64(site);
  }
  writeColumn(out, order);
  writeTimes(out, block, layouts);
  const commons = groups.length === 0 ? [] : commonsOf(layouts, groups[0].layout);
  // The same texts are in events of several kinds: a file is looked up, opened and read.
  const texts = new Texts();
  const tables = [
    ...commons.map((common) => tableOf(common, block, places)),
    ...groups.map(({ layout, rows: those, places: of }): Table => {
      const rows = { bytes: those.bytes, view: viewOf(those), places: Uint32Array.from(of) };
      return { rows, fields: restOf(layout, layouts, commons) };
    }),
  ];
  const numbers = tables.map(({ rows, fields }) => fields.filter(isText).map((field) => texts.numbersOf(field, rows)));
  texts.write(out);
  writeColumn(
    out,
    Uint32Array.from(stacks, (stack) => stack.length),
  );
  writeAddresses(out, stacks);
  for (const [i, { rows, fields, of }] of tables.entries()) {
    const earlier = new EarlierColumns();
    if (of !== undefined) out.u32(rows.places.length);
    for (const field of fields)
      if (isText(field)) writeColumn(out, numbers[i].shift()!, earlier);
      else writeField(out, field, rows, stacks.length, earlier);
    if (of !== undefined) writeColumn(out, of);
  }
  return out.bytes;
}

/** Rows that are written as columns of some of their fields. `of`: of each event the number of its row, from 1. */
interface Table {
  readonly rows: PlacedRows;
  readonly fields: readonly RowField[];
  readonly of?: Uint32Array;
}

function commonsOf(layouts: readonly RowLayout[], first: number): readonly CommonFields[] {
  return [new CommonFields(layouts, first, "thread"), new CommonFields(layouts, first, "cpu")];
}

function rowsOf(count: number, size: number): RowBytes {
  const bytes = new Uint8Array(count * size);
  return { bytes, view: new DataView(bytes.buffer), count, size };
}

/** What events have in common; 0: their groups have these fields. */
function tableOf(common: CommonFields, { count, order, rows }: EventBlock, places: Uint32Array): Table {
  const { size, own } = common.first;
  const views = rows.map(viewOf);
  const wordsOf = rows.map(({ layout }) => common.of(layout)?.words);
  const known = new DifferentRows(size / 4);
  const numbers = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const which = order[i];
    const words = wordsOf[which];
    if (words !== undefined) numbers[i] = known.numberOf(views[which], places[i], words) + 1;
  }
  const { bytes } = known;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const table = { bytes, view, places: Uint32Array.from({ length: known.count }, (_, i) => i * size) };
  return { rows: table, fields: own, of: numbers };
}

/** Rows of words, each kept once. */
class DifferentRows {
  count = 0;
  readonly #words: number;
  #kept: Uint32Array;
  /** Numbers from 1 by hash. */
  #table = new Int32Array(1 << 10);
  #last = -1;

  constructor(words: number) {
    this.#words = words;
    this.#kept = new Uint32Array(words * 64);
  }

  numberOf(view: DataView, at: number, words: readonly number[]): number {
    if (this.#last >= 0 && this.#is(this.#last, view, at, words)) return this.#last;
    const mask = this.#table.length - 1;
    let hash = 0;
    for (const word of words) hash = Math.imul(hash ^ view.getUint32(at + word, true), 0x9e3779b1);
    for (let place = (hash ^ (hash >>> 15)) & mask; ; place = (place + 1) & mask) {
      const number = this.#table[place] - 1;
      if (number < 0) return (this.#last = this.#keep(place, view, at, words));
      if (this.#is(number, view, at, words)) return (this.#last = number);
    }
  }

  #is(number: number, view: DataView, at: number, words: readonly number[]): boolean {
    const start = number * this.#words;
    for (let i = 0; i < words.length; i++)
      if (this.#kept[start + i] !== view.getUint32(at + words[i], true)) return false;
    return true;
  }

  #keep(place: number, view: DataView, at: number, words: readonly number[]): number {
    const number = this.count++;
    if (this.count * this.#words > this.#kept.length) {
      const larger = new Uint32Array(this.#kept.length * 2);
      larger.set(this.#kept);
      this.#kept = larger;
    }
    for (let i = 0; i < words.length; i++) this.#kept[number * this.#words + i] = view.getUint32(at + words[i], true);
    this.#table[place] = number + 1;
    if (this.count * 2 > this.#table.length) this.#grow();
    return number;
  }

  #grow(): void {
    const table = new Int32Array(this.#table.length * 2);
    const mask = table.length - 1;
    for (let number = 0; number < this.count; number++) {
      let hash = 0;
      for (let i = 0; i < this.#words; i++) hash = Math.imul(hash ^ this.#kept[number * this.#words + i], 0x9e3779b1);
      let place = (hash ^ (hash >>> 15)) & mask;
      while (table[place] !== 0) place = (place + 1) & mask;
      table[place] = number + 1;
    }
    this.#table = table;
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#kept.buffer, 0, this.count * this.#words * 4);
  }
}

/** Which group each event is of, and where its row lies among those of its layout. */
function grouped(
  { count, order, rows }: EventBlock,
  layouts: readonly RowLayout[],
): { groups: Group[]; order: Uint32Array; places: Uint32Array } {
  const groups: Group[] = [];
  const numbers = new Uint32Array(count);
  const places = new Uint32Array(count);
  const next = rows.map(() => 0);
  const views = rows.map(viewOf);
  const sites = rows.map(({ layout }) => siteField(layouts[layout])?.offset);
  const known = rows.map(() => new Map<number, number>());
  for (let i = 0; i < count; i++) {
    const which = order[i];
    const { layout } = rows[which];
    const at = next[which];
    next[which] += layouts[layout].size;
    const site = sites[which];
    // A number of a probe; the upper half tells others apart as well.
    const key =
      site === undefined
        ? 0
        : views[which].getUint32(at + site, true) + (views[which].getUint32(at + site + 4, true) % 2 ** 20) * 2 ** 32;
    let number = known[which].get(key);
    if (number === undefined) {
      const value = site === undefined ? 0n : views[which].getBigUint64(at + site, true);
      known[which].set(key, (number = groups.push({ layout, rows: rows[which], site: value, places: [] }) - 1));
    }
    groups[number].places.push(at);
    numbers[i] = number;
    places[i] = at;
  }
  return { groups, order: numbers, places };
}

// ── reading ──

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
