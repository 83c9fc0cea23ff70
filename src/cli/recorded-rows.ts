// The events of a recording one after the other, for what is made of them.
import type { Context } from "../language/context.ts";
import type { ReplayableRecording } from "../providers/recorded.ts";

export interface RecordedEventRow {
  readonly layout: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Where the row begins. */
  readonly at: number;
  /** The block's. */
  readonly stacks: readonly BigUint64Array[];
}

export function* rowsIn(recording: ReplayableRecording): Iterable<RecordedEventRow> {
  for (const { block } of recording.blocks()) {
    const views = block.rows.map(({ bytes }) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const next = block.rows.map(() => 0);
    for (const which of block.order) {
      const { layout, bytes } = block.rows[which];
      const at = next[which];
      next[which] += recording.layouts[layout].size;
      yield { layout, bytes, view: views[which], at, stacks: block.stacks };
    }
  }
}

/** A number of a row; 0 where rows of its kind do not have it. */
export function wordAt({ recorded }: Context, word: "cpu" | "pid" | "tid", view: DataView, at: number): number {
  const place = recorded?.words[word];
  if (place === undefined) return 0;
  if (place.size === 1) return view.getUint8(at + place.offset);
  return place.size === 2 ? view.getUint16(at + place.offset, true) : view.getUint32(at + place.offset, true);
}
