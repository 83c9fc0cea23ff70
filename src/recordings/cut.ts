// A part of a recording, by time, as a recording of its own. Blocks that lie within are copied as they are.
import type { EventBlock, RowLayout, Rows } from "./layout.ts";
import type { Recording } from "./reader.ts";
import type { RecordingWriter } from "./writer.ts";
import type { FrameType } from "./frames.ts";

/**
 * Events from one time on, and before another, both by the boot clock; gives how many. `words`: the command line.
 * @throws RecordingError, and what the writer throws
 */
export async function cutRecording(
  recording: Recording,
  writer: RecordingWriter,
  { from, to, words }: { readonly from: bigint; readonly to: bigint; readonly words: readonly string[] },
): Promise<number> {
  const { origin, layouts, end } = recording;
  writer.begin({ ...origin, then: [...(origin.then ?? []), words] });
  let events = 0;
  const blocks = recording.blocks(({ first, last }) => last >= from && first < to)[Symbol.iterator]();
  for (const { place, contents, head } of recording.frames()) {
    if (head === undefined) {
      if (place.type === "SITE") {
        const { layouts: more, sites } = JSON.parse(Buffer.from(contents).toString()) as Described;
        writer.describe(more, sites);
      } else if (place.type !== "META" && place.type !== "STAT") writer.copy(place.type as FrameType, contents);
      continue;
    }
    if (head.last < from || head.first >= to) continue;
    const { block } = blocks.next().value as { readonly block: EventBlock };
    if (head.first >= from && head.last < to) {
      writer.copy(place.type as FrameType, contents, head);
      events += head.count;
    } else {
      const part = within(block, layouts, from, to);
      events += part.block.count;
      writer.block(part.block, { first: part.first, last: part.last, sites: head.sites, lost: head.lost });
    }
    await writer.settled();
  }
  const lost = [...recording.heads()]
    .filter(({ first, last }) => last >= from && first < to)
    .flatMap((head) => head.lost);
  await writer.end({ clock: end?.clock ?? recording.clocks.at(-1) ?? origin.clock, events, lost });
  return events;
}

type Described = { readonly layouts: Recording["layouts"]; readonly sites: Recording["sites"] };

/** The events of a block that are within two times. */
function within(
  { count, order, rows, stacks }: EventBlock,
  layouts: readonly RowLayout[],
  from: bigint,
  to: bigint,
): { readonly block: EventBlock; readonly first: bigint; readonly last: bigint } {
  const views = rows.map(({ bytes }) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const next = rows.map(() => 0);
  const kept = rows.map(({ bytes }) => ({ bytes: new Uint8Array(bytes.length), count: 0 }));
  const taken: number[] = [];
  let [first, last] = [to, from];
  for (let i = 0; i < count; i++) {
    const which = order[i];
    const { size, time: timeAt } = layouts[rows[which].layout];
    const at = next[which];
    next[which] += size;
    const time = views[which].getBigUint64(at + timeAt, true);
    if (time < from || time >= to) continue;
    if (time < first) first = time;
    if (time > last) last = time;
    const into = kept[which];
    into.bytes.set(rows[which].bytes.subarray(at, at + size), into.count++ * size);
    taken.push(which);
  }
  const places = new Map<number, number>();
  const present: Rows[] = [];
  for (const [which, { layout }] of rows.entries()) {
    const { bytes, count: some } = kept[which];
    if (some === 0) continue;
    places.set(which, present.push({ layout, count: some, bytes: bytes.subarray(0, some * layouts[layout].size) }) - 1);
  }
  const block: EventBlock = {
    count: taken.length,
    order: Uint16Array.from(taken, (which) => places.get(which)!),
    rows: present,
    stacks,
  };
  return { block, first: taken.length === 0 ? from : first, last: taken.length === 0 ? from : last };
}
