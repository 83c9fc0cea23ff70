// Several recordings as one: events in the order of their times, by one clock; what each says of its own machine is kept
// apart.
import { clockShift } from "./clock-shift.ts";
import type { RecordedLoss, RecordedPart, RecordingOrigin } from "./contents.ts";
import type { EventBlock, RowLayout, Rows } from "./layout.ts";
import type { Recording } from "./reader.ts";
import type { RecordingWriter } from "./writer.ts";

/** A recording that is merged. `sites`: where rows of each layout have the number of their probe, a u32. */
export interface MergedInput {
  readonly recording: Recording;
  readonly sites: readonly (number | undefined)[];
}

export interface Merged {
  readonly origin: RecordingOrigin;
  readonly parts: readonly RecordedPart[];
  readonly events: number;
  /** Of each part, by how many nanoseconds its wall clock was set while it was recorded; undefined where it was not. */
  readonly set: readonly (number | undefined)[];
}

/** A block is written when it has so many events, or so many bytes of rows. */
const blockEvents = 0xffff;
const blockBytes = 8 << 20;

/** @throws RecordingError, and what the writer throws */
export async function mergeRecordings(
  inputs: readonly MergedInput[],
  writer: RecordingWriter,
  words: readonly string[],
): Promise<Merged> {
  const [{ recording: first }] = inputs;
  const clock = first.origin.clock;
  const streams = inputs.map((input) => new Stream(input, first));
  const parts = partsOf(inputs, streams);
  const { parts: _, then: __, script: ___, types: ____, ...whole } = first.origin;
  const redacted = inputs.some(({ recording }) => recording.origin.redacted !== undefined);
  const origin: RecordingOrigin = {
    ...whole,
    host: [...new Set(parts.map(({ name }) => name))].join(", "),
    cpus: Math.max(...parts.map(({ cpus }) => cpus)),
    command: words,
    // A process's number is another's on another host.
    childPid: 0,
    ...(redacted ? { redacted: "strings" as const } : {}),
    parts,
  };
  writer.begin(origin);
  const bases = { layouts: [] as number[], parts: [] as number[] };
  let [layouts, sites, hosts] = [0, 0, 0];
  for (const [i, { recording }] of inputs.entries()) {
    streams[i].begin(layouts, sites);
    bases.layouts.push(layouts);
    bases.parts.push(hosts);
    const base = hosts;
    writer.describe(
      recording.layouts.map((layout) => ({ ...layout, part: base + (layout.part ?? 0) })),
      recording.sites.map((site) => ({ ...site, layout: site.layout + bases.layouts[i] })),
    );
    layouts += recording.layouts.length;
    sites += recording.sites.length;
    hosts += recording.origin.parts?.length ?? 1;
  }
  const block = new MergedBlock(writer.layouts);
  const lost: RecordedLoss[] = [];
  let known = 0;
  const write = async (): Promise<void> => {
    const losses = lost.splice(0);
    all.push(...losses);
    if (block.count === 0 && losses.length === 0) return;
    block.write(writer, losses, BigInt(clock.boot));
    await writer.settled();
  };
  const all: RecordedLoss[] = [];
  for (;;) {
    let next: Stream | undefined;
    for (const stream of streams) {
      if (!stream.ready()) continue;
      if (next === undefined || stream.time < next.time) next = stream;
    }
    for (const [i, stream] of streams.entries())
      for (const loss of stream.takeLost()) lost.push({ ...loss, host: loss.host ?? parts[bases.parts[i]].name });
    if (next === undefined) break;
    block.add(next);
    next.step();
    if (block.count === blockEvents || block.bytes >= blockBytes) await write();
    known++;
  }
  await write();
  for (const [i, { recording }] of inputs.entries())
    for (const text of recording.symbols()) {
      const { part = 0, ...names } = JSON.parse(text) as { part?: number };
      writer.symbols(JSON.stringify({ ...names, part: bases.parts[i] + part }));
    }
  for (const reading of first.clocks) writer.clock(reading);
  const ends = inputs.map(({ recording: { end, clocks, origin: own } }, i) => {
    const reading = end?.clock ?? clocks.at(-1) ?? own.clock;
    return streams[i].moved(BigInt(reading.boot));
  });
  const last = ends.reduce((a, b) => (b > a ? b : a));
  const toWall = BigInt(clock.wall) - BigInt(clock.boot);
  const toMonotonic = BigInt(clock.monotonic) - BigInt(clock.boot);
  await writer.end({
    clock: { boot: String(last), monotonic: String(last + toMonotonic), wall: String(last + toWall) },
    events: known,
    lost: all,
  });
  return { origin, parts, events: known, set: streams.map(({ set }) => set) };
}

/** Each recording's host, with names that tell them apart: one start of a machine has one name. */
function partsOf(inputs: readonly MergedInput[], streams: readonly Stream[]): RecordedPart[] {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  return inputs.flatMap(({ recording: { origin, span } }, i) => {
    const { parts, then: _, ...own } = origin;
    const shift =
      streams[i].moved(span?.first ?? BigInt(origin.clock.boot)) - (span?.first ?? BigInt(origin.clock.boot));
    const those = parts ?? [{ ...own, name: origin.host, events: span?.events ?? 0, shift: "0" }];
    return those.map((part): RecordedPart => {
      const key = `${part.name} ${part.boot ?? `${part.clock.boot} ${part.clock.wall}`}`;
      let name = names.get(key);
      if (name === undefined) {
        name = part.name;
        for (let n = 2; taken.has(name); n++) name = `${part.name}.${n}`;
        taken.add(name);
        names.set(key, name);
      }
      return { ...part, name, shift: String(BigInt(part.shift) + shift) };
    });
  });
}

/** The events of a recording one after the other, with their times by the merged clock. */
class Stream {
  /** Of the event that is next. */
  time = 0n;
  layout = 0;
  at = 0;
  rows!: Rows;
  stacks: EventBlock["stacks"] = [];
  /** Where rows have the number of their probe, and what is added to it. */
  siteAt: number | undefined;
  sites = 0;
  readonly set: number | undefined;
  readonly moved: (boot: bigint) => bigint;
  readonly #layouts: readonly RowLayout[];
  readonly #siteAts: readonly (number | undefined)[];
  readonly #blocks: Iterator<{ readonly head: { readonly lost: readonly RecordedLoss[] }; readonly block: EventBlock }>;
  #base = 0;
  #block: EventBlock | undefined;
  #views: readonly DataView[] = [];
  #next: number[] = [];
  #index = 0;
  #there = false;
  #lost: RecordedLoss[] = [];

  constructor({ recording, sites }: MergedInput, first: Recording) {
    const { moved, set } = clockShift(recording, first);
    this.moved = moved;
    this.set = set;
    this.#layouts = recording.layouts;
    this.#siteAts = sites;
    this.#blocks = recording.blocks()[Symbol.iterator]();
  }

  begin(layouts: number, sites: number): void {
    this.#base = layouts;
    this.sites = sites;
  }

  takeLost(): RecordedLoss[] {
    return this.#lost.length === 0 ? [] : this.#lost.splice(0);
  }

  /** Whether there is an event; its time and place are told. */
  ready(): boolean {
    if (this.#there) return true;
    while (this.#block === undefined || this.#index === this.#block.count) {
      const { value, done } = this.#blocks.next();
      if (done === true) return false;
      const { head, block } = value as { head: { lost: readonly RecordedLoss[] }; block: EventBlock };
      this.#lost.push(...head.lost);
      this.#block = block;
      this.stacks = block.stacks;
      this.#views = block.rows.map(({ bytes }) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      this.#next = block.rows.map(() => 0);
      this.#index = 0;
    }
    const which = this.#block.order[this.#index];
    this.rows = this.#block.rows[which];
    this.at = this.#next[which];
    const { time } = this.#layouts[this.rows.layout];
    this.layout = this.#base + this.rows.layout;
    this.siteAt = this.#siteAts[this.rows.layout];
    this.time = this.moved(this.#views[which].getBigUint64(this.at + time, true));
    this.#there = true;
    return true;
  }

  step(): void {
    this.#next[this.#block!.order[this.#index]] += this.#layouts[this.rows.layout].size;
    this.#index++;
    this.#there = false;
  }
}

/** Rows of a layout in the block that is being filled. */
interface Filling {
  readonly layout: number;
  readonly size: number;
  readonly time: number;
  readonly stacks: readonly number[];
  bytes: Uint8Array;
  view: DataView;
  count: number;
  index: number;
}

class MergedBlock {
  count = 0;
  bytes = 0;
  readonly #order = new Uint16Array(blockEvents);
  readonly #fillings: Filling[];
  #present: Filling[] = [];
  #stacks: BigUint64Array[] = [];
  #numbers = new Map<BigUint64Array, number>();
  readonly #sites = new Set<number>();
  #first = 0n;
  #last = 0n;

  constructor(layouts: readonly RowLayout[]) {
    this.#fillings = layouts.map(({ size, time, fields }, layout) => {
      const bytes = new Uint8Array(size * 64);
      const stacks = fields.filter(({ kind }) => kind === "stack").map(({ offset }) => offset);
      return { layout, size, time, stacks, bytes, view: new DataView(bytes.buffer), count: 0, index: -1 };
    });
  }

  add({ rows, at, layout, time, stacks, siteAt, sites }: Stream): void {
    const filling = this.#fillings[layout];
    const { size } = filling;
    const to = filling.count * size;
    if (to + size > filling.bytes.length) {
      const larger = new Uint8Array(filling.bytes.length * 2);
      larger.set(filling.bytes);
      filling.bytes = larger;
      filling.view = new DataView(larger.buffer);
    }
    filling.bytes.set(rows.bytes.subarray(at, at + size), to);
    const { view } = filling;
    view.setBigUint64(to + filling.time, time, true);
    if (siteAt === undefined) this.#sites.add(sites);
    else {
      const site = view.getUint32(to + siteAt, true) + sites;
      view.setUint32(to + siteAt, site, true);
      this.#sites.add(site);
    }
    for (const offset of filling.stacks) {
      const number = view.getInt32(to + offset, true);
      if (number >= 0) view.setInt32(to + offset, this.#numberOf(stacks[number]), true);
    }
    if (filling.count++ === 0) filling.index = this.#present.push(filling) - 1;
    if (this.count === 0) this.#first = this.#last = time;
    if (time < this.#first) this.#first = time;
    if (time > this.#last) this.#last = time;
    this.#order[this.count++] = filling.index;
    this.bytes += size;
  }

  #numberOf(stack: BigUint64Array): number {
    let number = this.#numbers.get(stack);
    if (number === undefined) this.#numbers.set(stack, (number = this.#stacks.push(stack) - 1));
    return number;
  }

  /** `now`: of a block that has losses alone. */
  write(writer: RecordingWriter, lost: readonly RecordedLoss[], now: bigint): void {
    const { count } = this;
    const rows = this.#present.map(({ layout, size, bytes, count: some }) => ({
      layout,
      count: some,
      bytes: bytes.subarray(0, some * size),
    }));
    const [first, last] = count === 0 ? [now, now] : [this.#first, this.#last];
    writer.block(
      { count, order: this.#order.subarray(0, count), rows, stacks: this.#stacks },
      { first, last, sites: [...this.#sites], lost },
    );
    for (const filling of this.#present) filling.count = 0;
    this.#present = [];
    this.#stacks = [];
    this.#numbers = new Map();
    this.#sites.clear();
    this.count = 0;
    this.bytes = 0;
  }
}
