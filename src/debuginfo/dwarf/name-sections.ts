// Indexes of names that compilers, linkers and gdb leave in a file: used in place of a scan of our own where they tell
// enough.
import { DebugNames } from "./debug-names.ts";
import { DwarfError } from "./cursor.ts";
import { GdbIndex } from "./gdb-index.ts";
import type { NameSection } from "./name-section.ts";
import type { DwarfFile } from "./units.ts";

/** The index of a file; undefined when it has none, it is damaged, or it leaves out units that have names. */
export function nameSectionOf(file: DwarfFile): NameSection | undefined {
  try {
    const found = read(file);
    // Units of assembly have no names.
    return found !== undefined &&
      file
        .headers()
        .every(
          (header) =>
            found.units.has(header.offset) ||
            header.signature !== undefined ||
            !file.root(header).abbreviation.children,
        )
      ? found
      : undefined;
  } catch (error) {
    if (error instanceof DwarfError) return undefined;
    throw error;
  }
}

function read({ sections }: DwarfFile): NameSection | undefined {
  const names = sections.find("debug_names");
  const texts = sections.find("debug_str");
  if (names !== undefined && texts !== undefined) return new DebugNames(names.whole, texts);
  const index = sections.find("gdb_index");
  return index && new GdbIndex(index.whole);
}
