// How long values are (DWARF 5, section 7.5.6), for readers that pass over most of them.
import { type Abbreviation } from "./abbreviations.ts";
import { FORM } from "./constants.ts";
import { type Cursor, DwarfError } from "./cursor.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

/** What the length of values depends on. */
export interface Encoding {
  readonly version: number;
  readonly addressSize: number;
  readonly offsetSize: number;
}

/** A step over values: so many bytes (0 and more), or one of these. */
export const STEP = { leb: -1, text: -2, block1: -3, block2: -4, block4: -5, block: -6, indirect: -7 } as const;

export function stepOf(form: number, encoding: Encoding): number {
  switch (form) {
    case FORM.flag_present:
    case FORM.implicit_const:
      return 0;
    case FORM.data1:
    case FORM.ref1:
    case FORM.flag:
    case FORM.strx1:
    case FORM.addrx1:
      return 1;
    case FORM.data2:
    case FORM.ref2:
    case FORM.strx2:
    case FORM.addrx2:
      return 2;
    case FORM.strx3:
    case FORM.addrx3:
      return 3;
    case FORM.data4:
    case FORM.ref4:
    case FORM.strx4:
    case FORM.addrx4:
    case FORM.ref_sup4:
      return 4;
    case FORM.data8:
    case FORM.ref8:
    case FORM.ref_sig8:
    case FORM.ref_sup8:
      return 8;
    case FORM.data16:
      return 16;
    case FORM.addr:
      return encoding.addressSize;
    case FORM.ref_addr:
      return encoding.version <= 2 ? encoding.addressSize : encoding.offsetSize;
    case FORM.strp:
    case FORM.line_strp:
    case FORM.sec_offset:
    case FORM.strp_sup:
    case FORM.GNU_ref_alt:
    case FORM.GNU_strp_alt:
      return encoding.offsetSize;
    case FORM.udata:
    case FORM.sdata:
    case FORM.ref_udata:
    case FORM.strx:
    case FORM.addrx:
    case FORM.loclistx:
    case FORM.rnglistx:
    case FORM.GNU_addr_index:
    case FORM.GNU_str_index:
      return STEP.leb;
    case FORM.string:
      return STEP.text;
    case FORM.block1:
      return STEP.block1;
    case FORM.block2:
      return STEP.block2;
    case FORM.block4:
      return STEP.block4;
    case FORM.block:
    case FORM.exprloc:
      return STEP.block;
    case FORM.indirect:
      return STEP.indirect;
    default:
      throw new DwarfError(damagedDwarf().unknownForm(form));
  }
}

/** The steps over all values of an entry of this shape, neighbours of known length joined. */
export function stepsOver(abbreviation: Abbreviation, encoding: Encoding): number[] {
  const steps: number[] = [];
  for (const form of abbreviation.forms) {
    const step = stepOf(form, encoding);
    const last = steps.length - 1;
    if (step >= 0 && last >= 0 && steps[last] >= 0) steps[last] += step;
    else if (step !== 0) steps.push(step);
  }
  return steps;
}

export function takeStep(cursor: Cursor, step: number, encoding: Encoding): void {
  switch (step) {
    case STEP.leb:
      return cursor.skipLeb();
    case STEP.text:
      return cursor.skipText();
    case STEP.block1:
      return void cursor.skip(cursor.u8());
    case STEP.block2:
      return void cursor.skip(cursor.u16());
    case STEP.block4:
      return void cursor.skip(cursor.u32());
    case STEP.block:
      return void cursor.skip(cursor.uleb());
    case STEP.indirect: {
      const form = cursor.uleb();
      if (form === FORM.indirect || form === FORM.implicit_const) throw new DwarfError(damagedDwarf().indirectTwice());
      return takeStep(cursor, stepOf(form, encoding), encoding);
    }
    default:
      cursor.skip(step);
  }
}
