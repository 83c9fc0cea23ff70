// The files that debug information of one binary is read from, and what is kept of them from one run to the next.
import type { Elf } from "../elf.ts";
import type { DwarfFile } from "./units.ts";
import type { ScanResult } from "./scan.ts";
import type { Kept } from "./unit-addresses.ts";
import type { UnitSection } from "./unit-headers.ts";

/** Where debug information is read from. Files that others name are found by whoever may look for files. */
export interface DebugFiles {
  /** The binary that runs: its call frames. */
  readonly binary: Elf;
  /** The file with .debug_info: the binary itself, or its debug file. */
  readonly debug: Elf;
  /** The file that dwz moved what several share to (.gnu_debugaltlink). */
  alternate?(path: string, buildId: string): Elf | undefined;
  /** Where indexes of names are kept, and who else may scan a large section. */
  readonly catalogs?: Catalogs;
  /** A file of split entries: by the name and folder that its unit tells. */
  split?(name: string, folder: string): Elf | undefined;
  /** The file that such files were packed into (.dwp). */
  package?(): Elf | undefined;
  /** Bytes of entries from which on a name is searched for before all of them are indexed. */
  readonly searched?: number;
}

export interface Catalogs {
  /** Bytes of a section from which on this is worth it. */
  readonly least?: number;
  read(part: KeptPart): Buffer | undefined;
  write(part: KeptPart, bytes: Buffer): void;
  scan(section: UnitSection): readonly ScanResult[] | undefined;
}

/** Names of a section's entries; which unit has an address; which line tables have a file. */
export type KeptPart = UnitSection | "addresses" | "lines";

/** Whether a file has debug information at all. */
export function hasDebugInfo(elf: Elf): boolean {
  const section = elf.section(".debug_info");
  return section !== undefined && section.type !== 8 && section.size > 0;
}

/** The file that dwz moved to what several files share: its path, which may be relative to this one's, and build id. */
export function alternateLink(elf: Elf): { readonly path: string; readonly id: string } | undefined {
  const section = elf.section(".gnu_debugaltlink");
  const content = section && elf.content(section);
  const end = content?.indexOf(0) ?? -1;
  return content === undefined || end < 0
    ? undefined
    : { path: content.toString("utf8", 0, end), id: content.toString("hex", end + 1) };
}

/** Sections from this size on are worth keeping the index of, and threads of their own. */
const LARGE = 8 << 20;
/**
 * From so many bytes on, which unit an address is in: asked at the start of any probe on a function, and to be had in
 * few bytes.
 */
const MEDIUM = 1 << 20;

/** The catalogs, where a section of so many bytes is worth one. */
export function catalogsFor({ catalogs }: DebugFiles, size: number): Catalogs | undefined {
  return catalogs !== undefined && size >= (catalogs.least ?? LARGE) ? catalogs : undefined;
}

/** Where a part is kept that is worth it for a file. */
export function keptOf({ catalogs }: DebugFiles, file: DwarfFile, part: "addresses" | "lines"): Kept | undefined {
  const least = catalogs?.least ?? (part === "addresses" ? MEDIUM : LARGE);
  if (catalogs === undefined || (file.sections.find("debug_info")?.size ?? 0) < least) return undefined;
  return { read: () => catalogs.read(part), write: (bytes) => catalogs.write(part, bytes) };
}
