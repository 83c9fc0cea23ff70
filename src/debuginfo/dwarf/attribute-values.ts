// Values of attributes, form by form (DWARF 5, section 7.5.6).
import { FORM } from "./constants.ts";
import { type Cursor, DwarfError } from "./cursor.ts";
import type { DwarfSections } from "./sections.ts";
import type { UnitHeader, UnitSection } from "./unit-headers.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

export type Value =
  | { readonly kind: "address"; readonly value: number }
  /** Exact; `signed` where the form says so. */
  | { readonly kind: "constant"; readonly value: bigint; readonly signed: boolean; readonly bytes: number }
  | { readonly kind: "flag"; readonly value: boolean }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "block"; readonly bytes: Buffer }
  | { readonly kind: "offset"; readonly value: number }
  | { readonly kind: "range-list" | "location-list"; readonly index: number }
  /** Within the section of this file, or that of the alternate one. */
  | { readonly kind: "reference"; readonly offset: number; readonly alternate: boolean; readonly section: UnitSection }
  | { readonly kind: "signature"; readonly signature: bigint };

/** What values need to know of the unit they are in. */
export interface ValueUnit {
  readonly header: UnitHeader;
  readonly file: { readonly sections: DwarfSections };
  readonly alternate: { readonly sections: DwarfSections };
  addressAt(index: number): number;
  textAt(index: number): string;
}

/** Reads a value of a form; `constant`: what the abbreviation holds of it. @throws DwarfError */
export function readValue(unit: ValueUnit, cursor: Cursor, form: number, constant: bigint | undefined): Value {
  const { offsetSize, addressSize } = unit.header;
  const own = (offset: number): Value => {
    return { kind: "reference", offset: unit.header.offset + offset, alternate: false, section: unit.header.section };
  };
  const unsigned = (value: number, bytes: number): Value => ({
    kind: "constant",
    value: BigInt(value),
    signed: false,
    bytes,
  });
  const text = (text: string): Value => ({ kind: "text", text });
  const address = (value: number): Value => ({ kind: "address", value });
  switch (form) {
    case FORM.addr:
      return address(cursor.address(addressSize));
    case FORM.addrx:
    case FORM.GNU_addr_index:
      return address(unit.addressAt(cursor.uleb()));
    case FORM.addrx1:
      return address(unit.addressAt(cursor.u8()));
    case FORM.addrx2:
      return address(unit.addressAt(cursor.u16()));
    case FORM.addrx3:
      return address(unit.addressAt(cursor.u24()));
    case FORM.addrx4:
      return address(unit.addressAt(cursor.u32()));
    case FORM.data1:
      return unsigned(cursor.u8(), 1);
    case FORM.data2:
      return unsigned(cursor.u16(), 2);
    case FORM.data4:
      return unsigned(cursor.u32(), 4);
    case FORM.data8:
      return { kind: "constant", value: cursor.u64Exact(), signed: false, bytes: 8 };
    case FORM.data16:
      return { kind: "block", bytes: cursor.take(16) };
    case FORM.udata:
      return { kind: "constant", value: cursor.ulebExact(), signed: false, bytes: 8 };
    case FORM.sdata:
      return { kind: "constant", value: cursor.slebExact(), signed: true, bytes: 8 };
    case FORM.implicit_const:
      return { kind: "constant", value: constant ?? 0n, signed: true, bytes: 8 };
    case FORM.flag:
      return { kind: "flag", value: cursor.u8() !== 0 };
    case FORM.flag_present:
      return { kind: "flag", value: true };
    case FORM.string:
      return text(cursor.text());
    case FORM.strp:
      return text(unit.file.sections.get("debug_str").text(cursor.offset(offsetSize)));
    case FORM.line_strp:
      return text(unit.file.sections.get("debug_line_str").text(cursor.offset(offsetSize)));
    case FORM.strx:
    case FORM.GNU_str_index:
      return text(unit.textAt(cursor.uleb()));
    case FORM.strx1:
      return text(unit.textAt(cursor.u8()));
    case FORM.strx2:
      return text(unit.textAt(cursor.u16()));
    case FORM.strx3:
      return text(unit.textAt(cursor.u24()));
    case FORM.strx4:
      return text(unit.textAt(cursor.u32()));
    case FORM.strp_sup:
    case FORM.GNU_strp_alt:
      return text(unit.alternate.sections.get("debug_str").text(cursor.offset(offsetSize)));
    case FORM.block1:
    case FORM.block2:
    case FORM.block4:
    case FORM.block:
    case FORM.exprloc: {
      const length =
        form === FORM.block1
          ? cursor.u8()
          : form === FORM.block2
            ? cursor.u16()
            : form === FORM.block4
              ? cursor.u32()
              : cursor.uleb();
      return { kind: "block", bytes: cursor.take(length) };
    }
    case FORM.sec_offset:
      return { kind: "offset", value: cursor.offset(offsetSize) };
    case FORM.loclistx:
      return { kind: "location-list", index: cursor.uleb() };
    case FORM.rnglistx:
      return { kind: "range-list", index: cursor.uleb() };
    case FORM.ref1:
      return own(cursor.u8());
    case FORM.ref2:
      return own(cursor.u16());
    case FORM.ref4:
      return own(cursor.u32());
    case FORM.ref8:
      return own(cursor.u64());
    case FORM.ref_udata:
      return own(cursor.uleb());
    case FORM.ref_addr: {
      const offset = unit.header.version <= 2 ? cursor.address(addressSize) : cursor.offset(offsetSize);
      return { kind: "reference", offset, alternate: false, section: "debug_info" };
    }
    case FORM.ref_sup4:
      return { kind: "reference", offset: cursor.u32(), alternate: true, section: "debug_info" };
    case FORM.ref_sup8:
      return { kind: "reference", offset: cursor.u64(), alternate: true, section: "debug_info" };
    case FORM.GNU_ref_alt:
      return { kind: "reference", offset: cursor.offset(offsetSize), alternate: true, section: "debug_info" };
    case FORM.ref_sig8:
      return { kind: "signature", signature: cursor.u64Exact() };
    case FORM.indirect: {
      const actual = cursor.uleb();
      if (actual === FORM.indirect || actual === FORM.implicit_const)
        throw new DwarfError(damagedDwarf().indirectTwice());
      return readValue(unit, cursor, actual, undefined);
    }
    default:
      throw new DwarfError(damagedDwarf().unknownForm(form));
  }
}
