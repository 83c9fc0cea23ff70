// Which addresses an entry's code is at (DWARF 5, section 2.17): one range, or a list in .debug_ranges or
// .debug_rnglists.
import { AT } from "./constants.ts";
import { type Cursor, DwarfError } from "./cursor.ts";
import type { Value } from "./attribute-values.ts";
import type { Entry, Unit } from "./units.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

/** `high` is behind the last byte. Addresses are signed numbers (cursor.ts). */
export interface Range {
  readonly low: number;
  readonly high: number;
}

const RLE = {
  end_of_list: 0,
  base_addressx: 1,
  startx_endx: 2,
  startx_length: 3,
  offset_pair: 4,
  base_address: 5,
  start_end: 6,
  start_length: 7,
} as const;

/** What linkers write in place of addresses of code that they dropped: 0, or the highest ones (-1, -2). */
export const isDropped = (address: number): boolean => address === 0 || address === -1 || address === -2;

/** The ranges of an entry's own code, those of dropped code left out; empty when it has none. */
export function rangesOf(entry: Entry): readonly Range[] {
  const ranges = entry.value(AT.ranges);
  if (ranges !== undefined)
    return rangeList(entry.unit, ranges).filter(({ low, high }) => high > low && !isDropped(low));
  const low = entry.address(AT.low_pc);
  if (low === undefined || isDropped(low)) return [];
  const end = entry.value(AT.high_pc);
  const high = end?.kind === "address" ? end.value : end?.kind === "constant" ? low + Number(end.value) : low + 1;
  return high > low ? [{ low, high }] : [];
}

/** The address that an entry's code is entered at. */
export function entryAddress(entry: Entry, ranges: readonly Range[]): number {
  const value = entry.value(AT.entry_pc);
  const first = entry.address(AT.low_pc) ?? ranges[0]?.low ?? 0;
  if (value?.kind === "address") return value.value;
  return value?.kind === "constant" ? first + Number(value.value) : first;
}

function rangeList(unit: Unit, value: Value): readonly Range[] {
  if (unit.header.version < 5) {
    if (value.kind !== "offset" && value.kind !== "constant") return [];
    const sections = unit.file.skeleton?.file.sections ?? unit.file.sections;
    // GNU's split units count from the base that the skeleton tells.
    const base = unit.file.skeleton?.root.offset(AT.GNU_ranges_base) ?? 0;
    const isRoot = unit.file.skeleton === undefined;
    return sections
      .get("debug_ranges")
      .from(Number(value.value) + (isRoot ? 0 : base), (cursor) => oldRanges(unit, cursor));
  }
  const lists = unit.file.sections.get("debug_rnglists");
  let offset: number;
  if (value.kind === "range-list") {
    const base = unit.root.offset(AT.rnglists_base) ?? (unit.header.offsetSize === 8 ? 20 : 12);
    const size = unit.header.offsetSize;
    offset = base + lists.from(base + value.index * size, (cursor) => cursor.offset(size));
  } else if (value.kind === "offset") {
    offset = value.value;
  } else {
    return [];
  }
  return lists.from(offset, (cursor) => newRanges(unit, cursor));
}

function oldRanges(unit: Unit, cursor: Cursor): readonly Range[] {
  const size = unit.header.addressSize;
  const baseMark = size === 8 ? -1 : 2 ** (8 * size) - 1;
  const ranges: Range[] = [];
  let base = unit.lowPc;
  for (;;) {
    const low = cursor.address(size);
    const high = cursor.address(size);
    if (low === baseMark) base = high;
    else if (low === 0 && high === 0) return ranges;
    else ranges.push({ low: base + low, high: base + high });
  }
}

function newRanges(unit: Unit, cursor: Cursor): readonly Range[] {
  const size = unit.header.addressSize;
  const ranges: Range[] = [];
  let base = unit.lowPc;
  for (;;) {
    const kind = cursor.u8();
    switch (kind) {
      case RLE.end_of_list:
        return ranges;
      case RLE.base_addressx:
        base = unit.addressAt(cursor.uleb());
        break;
      case RLE.base_address:
        base = cursor.address(size);
        break;
      case RLE.startx_endx:
        ranges.push({ low: unit.addressAt(cursor.uleb()), high: unit.addressAt(cursor.uleb()) });
        break;
      case RLE.startx_length: {
        const low = unit.addressAt(cursor.uleb());
        ranges.push({ low, high: low + cursor.uleb() });
        break;
      }
      case RLE.offset_pair:
        ranges.push({ low: base + cursor.uleb(), high: base + cursor.uleb() });
        break;
      case RLE.start_end:
        ranges.push({ low: cursor.address(size), high: cursor.address(size) });
        break;
      case RLE.start_length: {
        const low = cursor.address(size);
        ranges.push({ low, high: low + cursor.uleb() });
        break;
      }
      default:
        throw new DwarfError(damagedDwarf().unknownRange(kind));
    }
    // Of a base that was dropped: offsets from it mean nothing.
    if (kind === RLE.offset_pair && isDropped(base) && base !== 0) ranges.pop();
  }
}
