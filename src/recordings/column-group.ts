// Rows of one layout and one site as columns.
import type { RowField } from "./layout.ts";

/** Words of a field that are columns: texts are one, their number. */
export function wordsOfField(field: RowField): readonly number[] {
  return (field.kind === "integer" && field.size === 8) || field.kind === "stack" ? [0, 1] : [0];
}

/** Rows of a layout that are at one site: their columns. */
export class ColumnGroup {
  readonly layout: number;
  readonly siteLow: number;
  readonly siteHigh: number;
  readonly fields: readonly RowField[];
  /** In this block. */
  number = 0;
  count = 0;
  /** Rows that there is room for. */
  room = 0;
  /** From one column to the next, in `store`: no power of two, by which all columns would meet in a few cache lines. */
  step = 0;
  store = new Uint32Array(0);
  /** Each column's row offset. */
  readonly #offsets: readonly number[];

  constructor(layout: number, fields: readonly RowField[], [siteLow, siteHigh]: readonly [number, number]) {
    this.layout = layout;
    this.fields = fields;
    this.siteLow = siteLow;
    this.siteHigh = siteHigh;
    this.#offsets = fields.flatMap((field) => wordsOfField(field).map((word) => field.offset + word * 4));
  }

  grow(): void {
    const room = Math.max(64, this.room * 2);
    const step = room + 16;
    const store = new Uint32Array(step * this.#offsets.length);
    for (let i = 0; i < this.#offsets.length; i++)
      store.set(this.store.subarray(i * this.step, i * this.step + this.count), i * step);
    [this.room, this.step, this.store] = [room, step, store];
  }

  /** The column of what is at an offset of the rows; undefined where it is not the group's. */
  column(offset: number): Uint32Array | undefined {
    const index = this.#offsets.indexOf(offset);
    return index < 0 ? undefined : this.store.subarray(index * this.step, index * this.step + this.count);
  }
}
