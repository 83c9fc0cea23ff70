// Where a binary's debug information is: in itself, in a debug file of its build id or its debug link, or with a
// debuginfod server.
import { realpathSync, statSync, writeSync } from "node:fs";
import { posix } from "node:path";
import { DamageError } from "../../debuginfo/damage.ts";
import { openDebugInfo } from "../../debuginfo/dwarf/debug-info.ts";
import { alternateLink, hasDebugInfo, type Catalogs } from "../../debuginfo/dwarf/input-files.ts";
import type { Elf } from "../../debuginfo/elf.ts";
import { decorates } from "../../linux/ffi.ts";
import { KeptFiles } from "../../store/kept-files.ts";
import { plain } from "../../store/whole.ts";
import type { DescribedInfo } from "../values/debug-types.ts";
import type { SearchPaths, Surroundings } from "../search-paths.ts";
import { downloaded } from "./debuginfod.ts";
import { archivedAt } from "./archived.ts";
import { absent, elfAt } from "./file-bytes.ts";
import { scanInThreads } from "./scan-workers.ts";
import { Failure, saidBy } from "../../base/failure.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/** A binary whose debug information is wanted. */
export interface DebugOwner {
  readonly elf: Elf;
  /** Path to open, and the root folder it is in ("" or /proc/PID/root). */
  readonly path: string;
  readonly root: string;
  readonly shownPath: string;
  /** Its addresses are others the next time: no index of it is kept. */
  readonly placed?: boolean;
  readonly around: Surroundings;
  /** False: only what is on this machine. */
  readonly servers?: boolean;
}

/** Debug information of a binary, or why there is none and what to do. */
export function debugInfoOfBinary(owner: DebugOwner): DescribedInfo | Failure {
  try {
    const found = debugElf(owner);
    if (found === undefined) return new Failure(variableReasons().notInstalled(owner.shownPath, owner.elf.buildId));
    const info = openDebugInfo({
      binary: owner.elf,
      debug: found.elf,
      ...(owner.placed ? {} : { catalogs: catalogsOf(owner, found) }),
      alternate: (path, id) => alternateFile(owner, found.path, path, id)?.elf,
      split: (name, folder) => splitElf(owner, name, folder),
      package: () => elfAt(`${owner.path}.dwp`) ?? elfAt(`${found.path}.dwp`),
    });
    const { descriptions } = owner.around;
    return descriptions === undefined ? info : Object.assign(info, { descriptions });
  } catch (error) {
    if (error instanceof DamageError) return new Failure(saidBy(error.in(owner.shownPath)));
    throw error;
  }
}

/** Indexes are kept by build id; of files without one by their path, size and time. */
function catalogsOf(owner: DebugOwner, { elf, path }: Found): Catalogs {
  const key = elf.buildId ?? stampOf(path);
  return {
    read: (part) => kept.read(`${key}.${part}`),
    write: (part, bytes) => kept.write(`${key}.${part}`, bytes),
    scan: (section) => scanInThreads({ path, alternate: alternatePath(owner, path, elf), section }, showProgress(path)),
  };
}

/** By build id, or by what else tells the file, and what of it is indexed. */
const kept = new KeptFiles({ folder: "debug", names: /^[0-9a-f]+\.[a-z]+$/, files: 128, form: plain });

function stampOf(path: string): string {
  const { size, mtimeMs } = statSync(archivedAt(path)?.archive ?? path);
  return process
    .getBuiltinModule("node:crypto")
    .createHash("sha1")
    .update(`${real(path)}\0${size}\0${mtimeMs}`)
    .digest("hex");
}

/** Before anything is said, in milliseconds. */
const PATIENCE = 1000;

/** One line that is written over itself, for a person who waits. */
function showProgress(path: string): (megabytes: number) => void {
  const began = performance.now();
  return (megabytes) => {
    if (!process.stderr.isTTY || !decorates() || performance.now() - began < PATIENCE) return;
    writeSync(
      2,
      `\r\x1b[Kreading ${posix.basename(path).replace(/[^\x20-\x7e]/g, "?")}: ${Math.round(megabytes)} MB of debug information\r`,
    );
  };
}

interface Found {
  readonly elf: Elf;
  readonly path: string;
}

/** From a debuginfod server. What is damaged is fetched again. */
function fetched(id: string, paths: SearchPaths): Found | undefined {
  return downloaded(id, paths, (path) => {
    try {
      return checked(path, (elf) => elf.buildId === undefined || elf.buildId === id);
    } catch (error) {
      return absent(error);
    }
  });
}

function debugElf(owner: DebugOwner): Found | undefined {
  const { elf, path, root } = owner;
  if (hasDebugInfo(elf)) return { elf, path };
  const id = elf.buildId;
  const byId = id === undefined ? undefined : withBuildId(root, id);
  return (
    inGivenFolders(owner) ??
    byId ??
    linked(owner) ??
    (id === undefined || owner.servers === false ? undefined : fetched(id, owner.around.paths))
  );
}

/** Debian, Fedora and gdb keep debug files by build id; Debian's own shows the first byte as a folder. */
function withBuildId(root: string, id: string): Found | undefined {
  if (id.length < 4) return undefined;
  return checked(
    `${root}/usr/lib/debug/.build-id/${id.slice(0, 2)}/${id.slice(2)}.debug`,
    (elf) => elf.buildId === undefined || elf.buildId === id,
  );
}

function checked(path: string, fits: (elf: Elf) => boolean): Found | undefined {
  const elf = elfAt(path);
  return elf !== undefined && hasDebugInfo(elf) && fits(elf) ? { elf, path } : undefined;
}

/** .gnu_debuglink: a file name and the CRC-32 of that file, looked for where gdb does. */
function linked({ elf, path, root }: DebugOwner): Found | undefined {
  const link = debugLink(elf);
  if (link === undefined) return undefined;
  const folder = posix.dirname(path.slice(root.length));
  return firstOf(
    [`${folder}/${link.name}`, `${folder}/.debug/${link.name}`, `/usr/lib/debug${folder}/${link.name}`].map(
      (place) => root + place,
    ),
    elf,
    link.crc,
  );
}

/**
 * Folders that somebody names, from the binary's own on where they are relative. bpftrace has a `+` in front of those whose files' checksums count; here they do in all.
 */
function inGivenFolders({ elf, path, root, around }: DebugOwner): Found | undefined {
  const link = debugLink(elf);
  const home = posix.dirname(path);
  for (const given of around.paths.debuginfo ?? []) {
    const folder = given.replace(/^\+/, "");
    if (folder === "") continue;
    const base = posix.resolve(home, folder);
    const id = elf.buildId;
    const byId =
      id === undefined || id.length < 4
        ? undefined
        : checked(`${base}/.build-id/${id.slice(0, 2)}/${id.slice(2)}.debug`, (file) => (file.buildId ?? id) === id);
    const name = posix.basename(path);
    const inner = posix.dirname(path.slice(root.length));
    const names = [
      ...(link === undefined ? [] : [`${base}/${link.name}`, `${base}${inner}/${link.name}`]),
      `${base}/${name}.debug`,
      `${base}/${name}`,
    ];
    const found = byId ?? firstOf(names, elf, link?.crc);
    if (found !== undefined) return found;
  }
  return undefined;
}

function debugLink(elf: Elf): { readonly name: string; readonly crc: number } | undefined {
  const section = elf.section(".gnu_debuglink");
  if (section === undefined) return undefined;
  const content = elf.content(section);
  const end = content.indexOf(0);
  const at = (end + 4) & ~3;
  return end <= 0 || at + 4 > content.length
    ? undefined
    : { name: posix.basename(content.toString("utf8", 0, end)), crc: content.readUInt32LE(at) };
}

/** The file that was split off a binary: of its build id, or of the checksum that its debug link has. */
function firstOf(places: readonly string[], { buildId }: Elf, crc: number | undefined): Found | undefined {
  for (const place of places) {
    const found = checked(place, (file) => {
      if (buildId !== undefined && file.buildId !== undefined) return buildId === file.buildId;
      return crc !== undefined && checksumOf(file) === crc;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Of the whole file, which may be as large as Node's readFileSync takes. */
function checksumOf({ bytes }: Elf): number | undefined {
  if (bytes.size > mostSummed) return undefined;
  let sum = 0;
  const room = Buffer.allocUnsafe(1 << 20);
  for (let at = 0; at < bytes.size; at += room.length)
    sum = process
      .getBuiltinModule("node:zlib")
      .crc32(bytes.read(at, Math.min(room.length, bytes.size - at), room), sum);
  return sum;
}

const mostSummed = 2 ** 31;

/** What dwz shares between debug files: named from the debug file's folder, or by its build id. */
function alternateFile(
  { root, around }: Pick<DebugOwner, "root" | "around">,
  debugPath: string,
  path: string,
  id: string,
): Found | undefined {
  // In another root, links and `..` are that root's.
  const folder = posix.dirname(root === "" ? real(debugPath) : debugPath.slice(root.length));
  const place = root + posix.resolve(folder, path);
  const elf = elfAt(place);
  if (elf !== undefined && (id === "" || elf.buildId === id)) return { elf, path: place };
  return withBuildId(root, id) ?? fetched(id, around.paths);
}

/** The same, by what a debug file says itself. */
function alternatePath(owner: Pick<DebugOwner, "root" | "around">, path: string, elf: Elf): string | undefined {
  const link = alternateLink(elf);
  return link && alternateFile(owner, path, link.path, link.id)?.path;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    return absent(error) ?? path;
  }
}

/** Split entries: where the compiler put them, else beside the binary. */
function splitElf({ path, root }: DebugOwner, name: string, folder: string): Elf | undefined {
  return (
    elfAt(root + posix.resolve(folder === "" ? "/" : folder, name)) ??
    elfAt(`${posix.dirname(path)}/${posix.basename(name)}`)
  );
}
