// A block of events as it is in the file: blocks.ts tells what is in it, and reads it.
import { writeAddresses, writeTimes } from "./block-parts.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import { EarlierColumns, writeColumn } from "./columns.ts";
import type { DifferentTexts } from "./different.ts";
import type { CommonTable } from "./column-code.ts";
import { EventColumns } from "./event-columns.ts";
import type { EventBlock, RowField, RowLayout } from "./layout.ts";
import { isText } from "./fields.ts";

/** Of a text and its mark what is written of it. */
export type TextRewriter = (text: Uint8Array, mark: number) => Uint8Array;

/** @param layouts of the recording, by their index */
export function writeBlock({ count, order, rows, stacks }: EventBlock, layouts: readonly RowLayout[]): Uint8Array {
  const columns = new EventColumns(layouts, count);
  const takes = rows.map(({ layout, bytes }) => columns.gather(layout, memoryOf(bytes)));
  const next = rows.map(() => 0);
  const sizes = rows.map(({ layout }) => layouts[layout].size);
  for (let i = 0; i < count; i++) {
    const which = order[i];
    takes[which](next[which]);
    next[which] += sizes[which];
  }
  return writeColumns(columns, stacks);
}

function memoryOf(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly words: Uint32Array } {
  const own = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return { bytes: own, words: new Uint32Array(own.buffer, own.byteOffset, own.byteLength >>> 2) };
}

/** Of an event, before compression. */
const usualBytes = 20;

/** Times of the columns are steps afterwards, until they are cleared. Columns of stacks have the stacks' numbers, in their low halves. */
export function writeColumns(
  columns: EventColumns,
  stacks: readonly BigUint64Array[],
  rewrite?: TextRewriter,
): Uint8Array {
  const { count, groups, tables, texts } = columns;
  const out = new ByteBuffer((1 << 12) + count * usualBytes);
  out.u32(count);
  out.u32(stacks.length);
  out.u16(groups.length);
  for (const group of groups) {
    out.u16(group.layout);
    out.u32(group.count);
    out.u64(columns.siteOf(group));
  }
  writeColumn(out, columns.order.subarray(0, count));
  writeTimes(out, columns);
  const commons = groups.length === 0 ? [] : tables;
  const told = commons.map((table) =>
    table.fields.own.map((field, i) => commonColumns(table, field, texts, table.marks[i])),
  );
  writeTexts(out, texts, rewrite);
  writeColumn(
    out,
    Uint32Array.from(stacks, (stack) => stack.length),
  );
  writeAddresses(out, stacks);
  for (const [i, { rows, of }] of commons.entries()) {
    const earlier = new EarlierColumns();
    out.u32(rows.count);
    for (const column of told[i].flat()) writeColumn(out, column, earlier);
    writeColumn(out, of.subarray(0, count));
  }
  for (const group of groups) {
    const earlier = new EarlierColumns();
    for (const field of group.fields) {
      const column = group.column(field.offset)!;
      if (field.kind === "stack") writeColumn(out, numbersOfStacks(column, stacks.length), earlier);
      else {
        writeColumn(out, column, earlier);
        if (field.kind === "integer" && field.size === 8) writeColumn(out, group.column(field.offset + 4)!, earlier);
      }
    }
  }
  return out.bytes;
}

/** From 1; 0: it was lost. */
function numbersOfStacks(column: Uint32Array, stacks: number): Uint32Array {
  return column.map((number) => (number < stacks ? number + 1 : 0));
}

/** A field of the different threads or CPUs. */
function commonColumns(
  { rows: { kept, words, count } }: CommonTable,
  field: RowField,
  texts: DifferentTexts,
  mark: number,
): Uint32Array[] {
  const at = field.offset >>> 2;
  if (isText(field)) {
    const bytes = new Uint8Array(kept.buffer, kept.byteOffset, kept.byteLength);
    return [
      Uint32Array.from({ length: count }, (_, i) =>
        texts.numberOf(bytes, i * words * 4 + field.offset, field.size, field.kind === "text", mark),
      ),
    ];
  }
  const halves = field.kind === "integer" && field.size === 8 ? [0, 1] : [0];
  return halves.map((half) => Uint32Array.from({ length: count }, (_, i) => kept[i * words + at + half]));
}

function writeTexts(out: ByteBuffer, texts: DifferentTexts, rewrite: TextRewriter | undefined): void {
  const all = [...texts.texts()].map(({ text, mark }) => (mark === 0 ? text : (rewrite?.(text, mark) ?? text)));
  out.u32(all.length);
  writeColumn(
    out,
    Uint32Array.from(all, (text) => text.length),
  );
  for (const text of all) out.put(text);
}
