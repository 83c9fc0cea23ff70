// Abbreviation tables (DWARF 5, section 7.5.3): the shapes of a unit's entries.
import { FORM } from "./constants.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

export interface Abbreviation {
  readonly code: number;
  readonly tag: number;
  readonly children: boolean;
  /** Attribute and form of each value, in order. */
  readonly attributes: readonly number[];
  readonly forms: readonly number[];
  /** Values of DW_FORM_implicit_const, by place. */
  readonly constants: readonly (bigint | undefined)[];
}

const DENSE = 1 << 16;

/** The table that begins at the cursor. */
export function abbreviationsFrom(cursor: Cursor): readonly Abbreviation[] {
  const table: Abbreviation[] = [];
  for (;;) {
    const code = cursor.uleb();
    if (code === 0) return table;
    const tag = cursor.uleb();
    const children = cursor.u8() !== 0;
    const attributes: number[] = [];
    const forms: number[] = [];
    const constants: (bigint | undefined)[] = [];
    for (;;) {
      const attribute = cursor.uleb();
      const form = cursor.uleb();
      const constant = form === FORM.implicit_const ? cursor.slebExact() : undefined;
      if (attribute === 0 && form === 0) break;
      attributes.push(attribute);
      forms.push(form);
      constants.push(constant);
    }
    table.push({ code, tag, children, attributes, forms, constants });
  }
}

/** The same by code. Codes are counted from 1 by every compiler; others are looked up. */
export function readAbbreviations(cursor: Cursor): (code: number) => Abbreviation {
  const dense: (Abbreviation | undefined)[] = [];
  const sparse = new Map<number, Abbreviation>();
  for (const abbreviation of abbreviationsFrom(cursor)) {
    if (abbreviation.code < DENSE) dense[abbreviation.code] = abbreviation;
    else sparse.set(abbreviation.code, abbreviation);
  }
  return (code) => {
    const found = code < DENSE ? dense[code] : sparse.get(code);
    if (found === undefined) throw new DwarfError(damagedDwarf().unknownShape(code));
    return found;
  };
}
