// What stands before a value in the entries of a unit: tells whether bytes that look like the value are it, without the
// entries before them being decoded. Shapes with a value of unknown length before it cannot be told; those are taken
// for it.
import type { Abbreviation } from "./abbreviations.ts";
import { stepOf, type Encoding } from "./forms.ts";

/** A value of entries of one shape, at a fixed distance from where they begin. */
interface Place {
  readonly shape: Abbreviation;
  readonly code: readonly number[];
  readonly before: number;
}

export class ValuePlaces {
  readonly #places: readonly Place[];
  /** Some shape has such a value at no fixed distance. */
  readonly loose: boolean;

  /** `wanted`: which attributes of which shapes, in which forms. */
  constructor(
    table: readonly Abbreviation[],
    encoding: Encoding,
    wanted: (shape: Abbreviation, attribute: number, form: number) => boolean,
  ) {
    const places: Place[] = [];
    let loose = false;
    for (const shape of table) {
      for (let i = 0; i < shape.forms.length; i++) {
        if (!wanted(shape, shape.attributes[i], shape.forms[i])) continue;
        const before = lengthOf(shape.forms, i, encoding);
        if (before >= 0) places.push({ shape, code: codeBytes(shape.code), before });
        else loose = true;
      }
    }
    this.#places = places;
    this.loose = loose;
  }

  get none(): boolean {
    return this.#places.length === 0 && !this.loose;
  }

  /**
   * Entries that would have their value at a place of the bytes: where they begin, and their shape. `first`: none
   * begins before.
   */
  *at(bytes: Buffer, place: number, first: number): Iterable<{ readonly start: number; readonly shape: Abbreviation }> {
    for (const { shape, code, before } of this.#places) {
      const start = place - before - code.length;
      if (start >= first && code.every((byte, i) => bytes[start + i] === byte)) yield { start, shape };
    }
  }
}

/** Bytes of the first values of a shape; -1 when they differ from entry to entry. */
function lengthOf(forms: readonly number[], count: number, encoding: Encoding): number {
  let length = 0;
  for (let i = 0; i < count; i++) {
    const step = stepOf(forms[i], encoding);
    if (step < 0) return -1;
    length += step;
  }
  return length;
}

/** A code as entries begin with it. */
function codeBytes(code: number): number[] {
  const bytes: number[] = [];
  for (; code >= 0x80; code = Math.floor(code / 0x80)) bytes.push((code % 0x80) | 0x80);
  return [...bytes, code];
}
