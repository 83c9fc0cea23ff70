// Events as columns, from the rows that they come as. Each row is read once, as it comes: what the file has no use for is
// never copied.
import { mostEvents } from "./block-parts.ts";
import { cpus, gatherCode, type CommonTable, type Gather, type Gathered, type RowMemory } from "./column-code.ts";
import { ColumnGroup } from "./column-group.ts";
import { DifferentRows, DifferentTexts } from "./different.ts";
import type { RowField, RowLayout } from "./layout.ts";
import { commonsOf, restOf, type CommonFields } from "./role-fields.ts";

export interface GatherOptions {
  /** Rows' numbers of sites are less than the recording's by this. */
  readonly sitesBefore?: number | undefined;
  /** Of a text a mark by which whoever writes it knows what to do with it; 0 is none. */
  readonly markOf?: ((layout: number, field: RowField) => number) | undefined;
}

/** Words of columns that are kept for the next block. */
const mostKept = 1 << 25;

export class EventColumns implements Gathered {
  count = 0;
  readonly groups: ColumnGroup[] = [];
  /** Of each event its group's number, and its time. */
  readonly order: Uint32Array;
  readonly timeLow: Uint32Array;
  readonly timeHigh: Uint32Array;
  readonly texts = new DifferentTexts();
  /** The number of the last event's thread on a CPU, by the CPU's; behind them that of the last event's CPU. -1: none. */
  readonly last = new Int32Array(cpus + 1).fill(-1);
  /** Of threads and of CPUs; none before there is an event. */
  tables: readonly CommonTable[] = [];
  commons: readonly CommonFields[] = [];
  readonly #layouts: readonly RowLayout[];
  readonly #options: GatherOptions;
  readonly #room: number;
  #shape = "";
  /** By layout, then by site. */
  #known = new Map<number, Map<number, ColumnGroup>>();
  readonly #gathers: { code: Gather | undefined }[] = [];

  /** `layouts`: of the recording, by their index; may grow. `most`: events of a block. */
  constructor(layouts: readonly RowLayout[], most = mostEvents, options: GatherOptions = {}) {
    this.#layouts = layouts;
    this.#options = options;
    this.#room = most;
    this.order = new Uint32Array(most);
    this.timeLow = new Uint32Array(most);
    this.timeHigh = new Uint32Array(most);
  }

  /** Takes rows of a layout out of this memory. */
  gather(layout: number, memory: RowMemory): Gather {
    const gather: { code: Gather | undefined } = { code: undefined };
    this.#gathers.push(gather);
    return (at) => {
      if (this.count === 0) this.#begin(layout);
      (gather.code ??= this.#compile(layout, memory))(at);
    };
  }

  #compile(layout: number, memory: RowMemory): Gather {
    const fields = restOf(layout, this.#layouts, this.commons);
    return gatherCode({
      into: this,
      layout: this.#layouts[layout],
      roles: this.commons.map((common) => common.of(layout)),
      fields,
      memory,
      group: (low, high) => this.#group(layout, fields, low, high),
      mark: (field) => this.#options.markOf?.(layout, field) ?? 0,
    });
  }

  /** The first event's layout says what is told of all events. */
  #begin(layout: number): void {
    const commons = commonsOf(this.#layouts, layout);
    const shape = JSON.stringify(commons.map(({ first: { own } }) => own));
    if (shape === this.#shape) return;
    this.#shape = shape;
    this.commons = commons;
    for (const gather of this.#gathers) gather.code = undefined;
    this.tables = this.commons.map(({ first }) => ({
      fields: first,
      marks: first.fields.map((field) => this.#options.markOf?.(layout, field) ?? 0),
      rows: new DifferentRows(first.size / 4),
      of: new Uint32Array(this.#room),
    }));
    this.#known.clear();
  }

  #group(layout: number, fields: readonly RowField[], low: number, high: number): ColumnGroup {
    let known = this.#known.get(layout);
    if (known === undefined) this.#known.set(layout, (known = new Map<number, ColumnGroup>()));
    // Sites are numbers of probes; what has more bits than a double is nobody's.
    const key = low + (high % 2 ** 20) * 2 ** 32;
    let group = known.get(key);
    if (group === undefined || group.siteHigh !== high) {
      group = new ColumnGroup(layout, fields, [low, high]);
      known.set(key, group);
    }
    if (group.count === 0) group.number = this.groups.push(group) - 1;
    return group;
  }

  /** As the file numbers it. */
  siteOf({ siteLow, siteHigh }: ColumnGroup): bigint {
    return (BigInt(siteHigh) << 32n) + BigInt(siteLow) + BigInt(this.#options.sitesBefore ?? 0);
  }

  /** Of each row of a group the event that it is. */
  eventsOf({ number, count }: ColumnGroup): Uint32Array {
    const events = new Uint32Array(count);
    for (let i = 0, next = 0; next < count; i++) if (this.order[i] === number) events[next++] = i;
    return events;
  }

  /** What rows of a group have at an offset of 4 bytes; undefined where no field is. */
  valuesOf(group: ColumnGroup, offset: number): Uint32Array | undefined {
    const column = group.column(offset);
    if (column !== undefined) return column;
    for (const [i, { rows, of }] of this.tables.entries()) {
      const word = this.commons[i].of(group.layout)?.words.indexOf(offset) ?? -1;
      if (word < 0) continue;
      return this.eventsOf(group).map((event) => rows.kept[(of[event] - 1) * rows.words + word]);
    }
    return undefined;
  }

  /** The different values, of all events of the block, that those of a group's layout have at an offset. */
  differentOf({ layout }: ColumnGroup, offset: number): Uint32Array | undefined {
    for (const [i, { rows }] of this.tables.entries()) {
      const word = this.commons[i].of(layout)?.words.indexOf(offset) ?? -1;
      if (word >= 0) return Uint32Array.from({ length: rows.count }, (_, row) => rows.kept[row * rows.words + word]);
    }
    return undefined;
  }

  clear(): void {
    let kept = 0;
    for (const group of this.groups) {
      kept += group.store.length;
      group.count = 0;
    }
    this.count = 0;
    this.groups.length = 0;
    this.texts.clear();
    for (const { rows } of this.tables) rows.clear();
    this.last.fill(-1);
    if (kept > mostKept) this.#known.clear();
  }
}
