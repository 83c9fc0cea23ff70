// Package files (.dwp; DWARF 5, section 7.3.5, and GNU's version 2): the split entries of many units in one file. Each
// unit has its own part of every section, which the file's index tells.
import { Cursor, DwarfError } from "./cursor.ts";
import { DwarfSections, SectionData } from "./sections.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

/** Section identifiers of the index, by version: 5 gave 5 and 8 new meanings. */
const SECTIONS: Readonly<Record<number, readonly (string | undefined)[]>> = {
  2: [undefined, "debug_info", "debug_types", "debug_abbrev", "debug_line", "debug_loc", "debug_str_offsets"],
  5: [
    undefined,
    "debug_info",
    undefined,
    "debug_abbrev",
    "debug_line",
    "debug_loclists",
    "debug_str_offsets",
    undefined,
    "debug_rnglists",
  ],
};

/**
 * The sections of the unit that an index lists under a signature (a unit's dwo id, or a type's); undefined: it lists
 * none.
 */
export function packagedSections(
  packed: DwarfSections,
  index: "debug_cu_index" | "debug_tu_index",
  signature: bigint,
): DwarfSections | undefined {
  const data = packed.find(index);
  if (data === undefined) return undefined;
  const cursor = new Cursor(data.whole);
  // Version 5 has 16 bits and padding.
  const version = cursor.u32() & 0xffff;
  const names = SECTIONS[version];
  if (names === undefined) throw new DwarfError(damagedDwarf().packageVersion(version));
  const columns = cursor.u32();
  const units = cursor.u32();
  const slots = cursor.u32();
  if (16 + slots * 12 + 4 * columns + 8 * columns * units > data.size)
    throw new DwarfError(damagedDwarf().packageIndexTooShort(index));
  const bytes = data.whole;
  let row = 0;
  for (let slot = 0; slot < slots && row === 0; slot++) {
    if (bytes.readBigUInt64LE(16 + 8 * slot) === signature) row = bytes.readUInt32LE(16 + 8 * slots + 4 * slot);
  }
  if (row === 0 || row > units) return undefined;
  const header = 16 + 12 * slots;
  const parts = new Map<string, { readonly offset: number; readonly size: number }>();
  for (let column = 0; column < columns; column++) {
    const name = names[bytes.readUInt32LE(header + 4 * column)];
    if (name === undefined) continue;
    const at = header + 4 * columns + 4 * ((row - 1) * columns + column);
    parts.set(name, { offset: bytes.readUInt32LE(at), size: bytes.readUInt32LE(at + 4 * columns * units) });
  }
  return new DwarfSections((name) => {
    const section = packed.find(name);
    // All units share their texts.
    if (section === undefined || name === "debug_str" || name === "debug_line_str") return section;
    const part = parts.get(name);
    if (part === undefined) return undefined;
    if (part.offset + part.size > section.size)
      throw new DwarfError(damagedDwarf().packagePartOutside(name), packed.file);
    return new SectionData(name, part.size, (offset, length) => section.slice(part.offset + offset, length), {
      file: section.file,
    });
  }, packed.file);
}
