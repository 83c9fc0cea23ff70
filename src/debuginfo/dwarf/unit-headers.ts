// Headers of units (DWARF 5, section 7.5.1).
import { UNIT } from "./constants.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import type { Encoding } from "./forms.ts";
import type { DwarfSections, SectionData } from "./sections.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

export type UnitSection = "debug_info" | "debug_types";

export interface UnitHeader extends Encoding {
  readonly section: UnitSection;
  /** Where it begins, where its first entry does, and where it ends, in its section. */
  readonly offset: number;
  readonly first: number;
  readonly end: number;
  readonly type: number;
  readonly abbreviations: number;
  /** Of type units: the signature, and where in the unit the type is. */
  readonly signature?: bigint;
  readonly typeOffset?: number;
  /** Of skeleton and split units. */
  readonly dwoId?: bigint;
}

const HEADER_LIMIT = 48;

/** Of all units of a section, in its order. @throws DwarfError */
export function* unitHeaders(sections: DwarfSections, section: UnitSection): Iterable<UnitHeader> {
  const data = sections.find(section);
  if (data === undefined) return;
  const room = Buffer.allocUnsafe(HEADER_LIMIT);
  for (let offset = 0; offset < data.size;) {
    const header = headerFrom(data, offset, section, room);
    // Linkers pad with zeroes.
    if (header.end > header.first && header.version !== 0) yield header;
    offset = header.end;
  }
}

/** Of the unit that begins at an offset. @throws DwarfError */
export function headerFrom(data: SectionData, offset: number, section: UnitSection, room?: Buffer): UnitHeader {
  const bytes = data.slice(offset, Math.min(HEADER_LIMIT, data.size - offset), room);
  try {
    const header = readUnitHeader(new Cursor(bytes), offset, section);
    if (header.end > data.size) throw new DwarfError(damagedDwarf().unitBehindEnd(section));
    return header;
  } catch (error) {
    throw error instanceof DwarfError ? error.in(data.file) : error;
  }
}

/** `cursor` stands at the header, `offset` is where that is in the section. */
export function readUnitHeader(cursor: Cursor, offset: number, section: UnitSection): UnitHeader {
  const start = cursor.at;
  const { length, offsetSize } = cursor.unitLength();
  const end = offset + cursor.at - start + length;
  const empty = {
    section,
    offset,
    first: end,
    end,
    version: 0,
    type: UNIT.compile,
    addressSize: 8,
    offsetSize,
    abbreviations: 0,
  };
  if (length < 4 + offsetSize) return empty;
  const version = cursor.u16();
  if (version < 2 || version > 5) throw new DwarfError(damagedDwarf().version(version));
  let type: number = section === "debug_types" ? UNIT.type : UNIT.compile;
  let addressSize: number;
  let abbreviations: number;
  if (version >= 5) {
    type = cursor.u8();
    addressSize = cursor.u8();
    abbreviations = cursor.offset(offsetSize);
  } else {
    abbreviations = cursor.offset(offsetSize);
    addressSize = cursor.u8();
  }
  const base = { section, offset, end, version, type, addressSize, offsetSize, abbreviations };
  if (type === UNIT.type || type === UNIT.split_type) {
    const signature = cursor.u64Exact();
    return { ...base, signature, typeOffset: cursor.offset(offsetSize), first: offset + cursor.at - start };
  }
  const dwoId = version >= 5 && (type === UNIT.skeleton || type === UNIT.split_compile) ? cursor.u64Exact() : undefined;
  return { ...base, ...(dwoId !== undefined && { dwoId }), first: offset + cursor.at - start };
}
