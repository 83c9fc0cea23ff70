// Where the entries of a unit begin and how they nest, in typed arrays: found in one pass over its bytes.
import type { Abbreviation } from "./abbreviations.ts";
import { Cursor } from "./cursor.ts";
import { stepsOver, takeStep } from "./forms.ts";
import type { UnitHeader } from "./unit-headers.ts";

export interface EntryTree {
  /** Where each entry begins, from the unit's beginning; in order. */
  readonly offsets: Uint32Array;
  /** Index of the entry it is in; the root's is -1. */
  readonly parents: Int32Array;
  /** Index of the first entry behind it and everything in it. */
  readonly ends: Int32Array;
  readonly codes: Uint32Array;
  readonly count: number;
}

/** The entries of a unit, whose header and bytes are given. @throws DwarfError */
export function readEntryTree(
  header: UnitHeader,
  bytes: Buffer,
  abbreviationOf: (code: number) => Abbreviation,
): EntryTree {
  const cursor = new Cursor(bytes, header.first - header.offset);
  const steps: (readonly number[] | undefined)[] = [];
  let room = Math.max(64, bytes.length >>> 3);
  let offsets = new Uint32Array(room);
  let parents = new Int32Array(room);
  let ends = new Int32Array(room);
  let codes = new Uint32Array(room);
  let count = 0;
  let parent = -1;
  while (cursor.at < cursor.end) {
    const at = cursor.at;
    const code = cursor.uleb();
    if (code === 0) {
      if (parent < 0) break;
      ends[parent] = count;
      parent = parents[parent];
      if (parent < 0) break;
      continue;
    }
    if (count === room) {
      room *= 2;
      const larger = new Uint32Array(room);
      larger.set(offsets);
      offsets = larger;
      parents = grown(parents, room);
      ends = grown(ends, room);
      const moreCodes = new Uint32Array(room);
      moreCodes.set(codes);
      codes = moreCodes;
    }
    const abbreviation = abbreviationOf(code);
    offsets[count] = at;
    parents[count] = parent;
    codes[count] = code;
    const over = code < 1 << 16 ? (steps[code] ??= stepsOver(abbreviation, header)) : stepsOver(abbreviation, header);
    for (const step of over) {
      if (step >= 0) cursor.skip(step);
      else takeStep(cursor, step, header);
    }
    if (abbreviation.children) parent = count;
    else ends[count] = count + 1;
    count++;
    if (parent < 0) break;
  }
  // A unit that ends early.
  for (; parent >= 0; parent = parents[parent]) ends[parent] = count;
  return { offsets, parents, ends, codes, count };
}

function grown(array: Int32Array<ArrayBuffer>, room: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(room);
  larger.set(array);
  return larger;
}
