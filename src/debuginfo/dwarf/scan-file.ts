// Scans a file's units for the index of names.
import { readAbbreviations } from "./abbreviations.ts";
import { TAG } from "./constants.ts";
import { DwarfError } from "./cursor.ts";
import { linkageNameOf, nameOf, qualifiedName, withoutTemplate } from "./names.ts";
import { hashOf } from "./name-hash.ts";
import type { Pairs } from "./pairs.ts";
import { scanUnits, type ScanResult } from "./scan.ts";
import type { DwarfFile } from "./units.ts";
import type { UnitHeader, UnitSection } from "./unit-headers.ts";

const NOTHING = Buffer.alloc(0);

/** Scans units of a section, all of them if not told which. */
export function scanFile(
  file: DwarfFile,
  section: UnitSection,
  units: Iterable<UnitHeader> = file.headers(section),
): ScanResult {
  const { sections } = file;
  const info = sections.get(section);
  const whole = (name: string): Buffer => sections.find(name)?.whole ?? NOTHING;
  function* unitsOf(): Iterable<{ readonly header: UnitHeader; readonly bytes: Buffer }> {
    for (const header of units) yield { header, bytes: info.slice(header.offset, header.end - header.offset) };
  }
  try {
    return withForeign(
      file,
      scanUnits({
        units: unitsOf(),
        abbreviations: (offset) => sections.get("debug_abbrev").from(offset, readAbbreviations),
        text: whole("debug_str"),
        lineText: whole("debug_line_str"),
        textOffsets: whole("debug_str_offsets"),
        alternateText: file.alternate?.sections.find("debug_str")?.whole ?? NOTHING,
      }),
    );
  } catch (error) {
    throw file.named(error);
  }
}

/** Names the entries whose names lie in other units: copies of functions, and variables that were linked as a whole. */
function withForeign(file: DwarfFile, found: ScanResult): ScanResult {
  const [functions, variables] = [new Map<number, Set<number>>(), new Map<number, Set<number>>()];
  const names: string[] = [];
  const resolve = (pairs: Pairs, owner: DwarfFile | undefined): void => {
    if (owner === undefined) return;
    for (let i = 0; i < pairs.hashes.length; i++) {
      try {
        const entry = owner.entryAt(pairs.offsets[i]);
        const plain = nameOf(entry);
        if (plain === undefined) continue;
        const qualified = qualifiedName(entry);
        const isVariable = entry.tag === TAG.variable;
        const all = [plain, withoutTemplate(plain), qualified, linkageNameOf(entry)];
        const hashes = all.flatMap((name) => (name === undefined || name === "" ? [] : [hashOf(name)]));
        (isVariable ? variables : functions).set(pairs.hashes[i], new Set(hashes));
        if (!isVariable) names.push(qualified);
      } catch (error) {
        if (!(error instanceof DwarfError)) throw error;
      }
    }
  };
  resolve(found.foreign, file);
  resolve(found.alternate, file.alternate);
  if (functions.size + variables.size === 0) return found;
  return {
    ...found,
    functions: withMore(found.functions, functions),
    variables: withMore(found.variables, variables),
    functionNames:
      names.length === 0
        ? found.functionNames
        : Buffer.concat([found.functionNames, Buffer.from(`${names.join("\0")}\0`)]),
  };
}

/** `more`: hashes of entries' names, by where the entries are. */
function withMore({ hashes, offsets }: Pairs, more: ReadonlyMap<number, ReadonlySet<number>>): Pairs {
  const pairs = [...more].flatMap(([offset, all]) => [...all].map((hash) => [hash, offset]));
  return {
    hashes: joined(
      hashes,
      pairs.map(([hash]) => hash),
    ),
    offsets: joined(
      offsets,
      pairs.map(([, offset]) => offset),
    ),
  };
}

function joined(first: Uint32Array, more: readonly number[]): Uint32Array {
  const all = new Uint32Array(first.length + more.length);
  all.set(first);
  all.set(more, first.length);
  return all;
}
