// The code that takes a row apart. It is generated for each layout: V8 compiles such a function for just the words that
// the layout has.
import { InternalError } from "../base/internal-error.ts";
import { wordsOfField, type ColumnGroup } from "./column-group.ts";
import type { DifferentRows, DifferentTexts } from "./different.ts";
import { fieldBytes, type RowField, type RowLayout } from "./layout.ts";
import { siteField, type RoleFields } from "./role-fields.ts";

/** Memory with rows, as bytes and as words of 4. */
export interface RowMemory {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
}

/** Takes the row that begins at a byte: a multiple of 4. */
export type Gather = (at: number) => void;

/** What is told of all events of a block together. */
export interface CommonTable {
  readonly fields: RoleFields;
  /** Of its fields the marks. */
  readonly marks: readonly number[];
  readonly rows: DifferentRows;
  /** Of each event the number of its row, from 1; 0: its group has these fields. */
  readonly of: Uint32Array;
}

/** Where events go. */
export interface Gathered {
  count: number;
  /** Of each event its group's number, and its time. */
  readonly order: Uint32Array;
  readonly timeLow: Uint32Array;
  readonly timeHigh: Uint32Array;
  readonly texts: DifferentTexts;
  /** Of threads and of CPUs. */
  readonly tables: readonly CommonTable[];
  /** The number of the last event's thread on a CPU, by the CPU's; behind them that of the last event's CPU. -1: none. */
  readonly last: Int32Array;
}

interface GatherParts {
  readonly into: Gathered;
  readonly layout: RowLayout;
  /** Of threads and of CPUs; undefined where the rows' groups have these fields. */
  readonly roles: readonly (RoleFields | undefined)[];
  /** Those of the group. */
  readonly fields: readonly RowField[];
  readonly memory: RowMemory;
  readonly group: (siteLow: number, siteHigh: number) => ColumnGroup;
  readonly mark: (field: RowField) => number;
}

/** A number of 1, 2 or 4 bytes of the row, wherever it is in its words. `o` is the row's first word. */
function read(offset: number, size: number): string {
  const [word, shift] = [`w[o + ${offset >>> 2}]`, (offset & 3) * 8];
  if (shift === 0 && size === 4) return word;
  const low = shift === 0 ? word : `(${word} >>> ${shift})`;
  const whole = shift + size * 8 <= 32 ? low : `(${low} | (w[o + ${(offset >>> 2) + 1}] << ${32 - shift}))`;
  return size === 4 ? `(${whole} >>> 0)` : `(${whole} & ${2 ** (size * 8) - 1})`;
}

/** Threads run for a while before the next one does: of each of so many CPUs, the last one is remembered. */
export const cpus = 1 << 10;

/** @throws InternalError for what no field can be */
export function gatherCode({ into, layout, roles, fields, memory, group, mark }: GatherParts): Gather {
  const site = siteField(layout);
  const [low, high] = site === undefined ? ["0", "0"] : [read(site.offset, 4), read(site.offset + 4, 4)];
  const [threads, processors] = roles;
  const cells = fields.flatMap((field) => wordsOfField(field).map((word) => cellOf(field, word, mark(field))));
  const known = {
    into,
    w: memory.words,
    bytes: memory.bytes,
    find: group,
    order: into.order,
    timeLow: into.timeLow,
    timeHigh: into.timeHigh,
    texts: into.texts,
    threads: into.tables[0]?.rows,
    threadOf: into.tables[0]?.of,
    processors: into.tables[1]?.rows,
    processorOf: into.tables[1]?.of,
    last: into.last,
    threadRow: new Uint32Array((threads?.size ?? 0) / 4),
    processorRow: new Uint32Array((processors?.size ?? 0) / 4),
  };
  const source = `"use strict";
let group = { count: 0 };
return (at) => {
  const o = at >>> 2;
  const i = into.count++;
  timeLow[i] = ${read(layout.time, 4)};
  timeHigh[i] = ${read(layout.time + 4, 4)};
  const low = ${low}, high = ${high};
  if (group.count === 0 || group.siteLow !== low || group.siteHigh !== high) group = find(low, high);
  const n = group.count++;
  if (n === group.room) group.grow();
  order[i] = group.number;
  let processor = 0, thread = 0;
${roleCode("processor", processors, `last[${cpus}]`)}
${roleCode("thread", threads, `last[processor & ${cpus - 1}]`)}
  ${cells.length === 0 ? "" : "const s = group.store, d = group.step; let p = n;"}
  ${cells.map((cell) => `s[p] = ${cell};`).join(" p += d;\n  ")}
};`;
  // The text is made of numbers from the layout alone.
  // oxlint-disable-next-line typescript/no-implied-eval
  const make = new Function(...Object.keys(known), source) as (...values: readonly unknown[]) => Gather;
  return make(...Object.values(known));
}

/** `last`: where the number is that the last such event had. */
function roleCode(name: "thread" | "processor", role: RoleFields | undefined, last: string): string {
  if (role === undefined) return `  ${name}Of === undefined || (${name}Of[i] = 0);`;
  const words = role.words.map((offset) => read(offset, 4));
  const differs = words.map((word, i) => `k${name}[b${name} + ${i}] !== ${word}`).join(" || ");
  const fills = words.map((word, i) => `${name}Row[${i}] = ${word};`).join(" ");
  const rows = name === "thread" ? "threads" : "processors";
  return `  ${name} = ${last};
  const k${name} = ${rows}.kept, b${name} = ${name} * ${words.length};
  if (${name} < 0 || ${differs}) { ${fills} ${name} = ${last} = ${rows}.numberOf(${name}Row); }
  ${name}Of[i] = ${name} + 1;`;
}

function cellOf(field: RowField, word: number, mark: number): string {
  const { offset } = field;
  switch (field.kind) {
    case "text":
    case "bytes":
      return `texts.numberOf(bytes, at + ${offset}, ${field.size}, ${field.kind === "text"}, ${mark})`;
    case "integer":
    case "stack": {
      const size = Math.min(4, fieldBytes(field));
      if (![1, 2, 4].includes(size)) throw new InternalError(`an integer has ${size} bytes`);
      return read(offset + word * 4, size);
    }
  }
}
