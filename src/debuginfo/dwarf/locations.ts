// Location lists (DWARF 5, section 2.6.2): which expression holds at an address.
import { AT } from "./constants.ts";
import { type Cursor, DwarfError } from "./cursor.ts";
import { isDropped } from "./ranges.ts";
import type { Value } from "./attribute-values.ts";
import type { Unit } from "./units.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

const LLE = {
  end_of_list: 0,
  base_addressx: 1,
  startx_endx: 2,
  startx_length: 3,
  offset_pair: 4,
  default_location: 5,
  base_address: 6,
  start_end: 7,
  start_length: 8,
  GNU_view_pair: 9,
} as const;

/**
 * The expression of an attribute that holds at an address (any, when undefined). undefined: none does; the list is of
 * what is known elsewhere.
 */
export function expressionAt(unit: Unit, value: Value, address: number | undefined): Buffer | undefined {
  switch (value.kind) {
    case "block":
      return value.bytes;
    case "location-list": {
      const size = unit.header.offsetSize;
      const base = unit.root.offset(AT.loclists_base) ?? (size === 8 ? 20 : 12);
      const lists = unit.file.sections.get("debug_loclists");
      const offset = base + lists.from(base + value.index * size, (cursor) => cursor.offset(size));
      return lists.from(offset, (cursor) => inNewList(unit, cursor, address));
    }
    case "offset":
    case "constant": {
      const offset = Number(value.value);
      if (unit.header.version >= 5) {
        return unit.file.sections.get("debug_loclists").from(offset, (cursor) => inNewList(unit, cursor, address));
      }
      const lists = unit.file.sections.get("debug_loc");
      return lists.from(offset, (cursor) =>
        unit.file.split ? inSplitList(unit, cursor, address) : inOldList(unit, cursor, address),
      );
    }
    default:
      return undefined;
  }
}

/** Whether an attribute's value is a list: such variables are where they say they are, prologue or not. */
export function isList(value: Value): boolean {
  return value.kind === "location-list" || value.kind === "offset";
}

function holds(low: number, high: number, address: number | undefined): boolean {
  return address === undefined || (address >= low && address < high);
}

function inOldList(unit: Unit, cursor: Cursor, address: number | undefined): Buffer | undefined {
  const size = unit.header.addressSize;
  const baseMark = size === 8 ? -1 : 2 ** (8 * size) - 1;
  let base = unit.lowPc;
  for (;;) {
    const low = cursor.address(size);
    const high = cursor.address(size);
    if (low === baseMark) {
      base = high;
      continue;
    }
    if (low === 0 && high === 0) return undefined;
    const bytes = cursor.take(cursor.u16());
    if (holds(base + low, base + high, address)) return bytes;
  }
}

/** Of GNU's split DWARF 4: kinds as in DWARF 5, lengths as in DWARF 4. */
function inSplitList(unit: Unit, cursor: Cursor, address: number | undefined): Buffer | undefined {
  let base = unit.lowPc;
  for (;;) {
    const kind = cursor.u8();
    let low: number;
    let high: number;
    switch (kind) {
      case 0:
        return undefined;
      case 1:
        base = unit.addressAt(cursor.uleb());
        continue;
      case 2:
        low = unit.addressAt(cursor.uleb());
        high = unit.addressAt(cursor.uleb());
        break;
      case 3:
        low = unit.addressAt(cursor.uleb());
        high = low + cursor.u32();
        break;
      case 4:
        low = base + cursor.u32();
        high = base + cursor.u32();
        break;
      default:
        throw new DwarfError(damagedDwarf().unknownLocation(kind));
    }
    const bytes = cursor.take(cursor.u16());
    if (holds(low, high, address)) return bytes;
  }
}

function inNewList(unit: Unit, cursor: Cursor, address: number | undefined): Buffer | undefined {
  const size = unit.header.addressSize;
  let base = unit.lowPc;
  let otherwise: Buffer | undefined;
  for (;;) {
    const kind = cursor.u8();
    let low: number;
    let high: number;
    switch (kind) {
      case LLE.end_of_list:
        return otherwise;
      case LLE.base_addressx:
        base = unit.addressAt(cursor.uleb());
        continue;
      case LLE.base_address:
        base = cursor.address(size);
        continue;
      case LLE.GNU_view_pair:
        cursor.skipLeb();
        cursor.skipLeb();
        continue;
      case LLE.default_location:
        otherwise = cursor.take(cursor.uleb());
        continue;
      case LLE.startx_endx:
        low = unit.addressAt(cursor.uleb());
        high = unit.addressAt(cursor.uleb());
        break;
      case LLE.startx_length:
        low = unit.addressAt(cursor.uleb());
        high = low + cursor.uleb();
        break;
      case LLE.offset_pair:
        low = base + cursor.uleb();
        high = base + cursor.uleb();
        break;
      case LLE.start_end:
        low = cursor.address(size);
        high = cursor.address(size);
        break;
      case LLE.start_length:
        low = cursor.address(size);
        high = low + cursor.uleb();
        break;
      default:
        throw new DwarfError(damagedDwarf().unknownLocation(kind));
    }
    const bytes = cursor.take(cursor.uleb());
    if (holds(low, high, address) && !isDropped(low)) return bytes;
  }
}
