// Files as Node was handed them before: one that has not changed needs neither stripper nor parser.
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { cacheFolder } from "../linux/cache-folder.ts";

export type Format = "module" | "commonjs";

export interface LoadedModule { readonly format: Format; readonly source: string }

/** Files that are kept; those that were not used for longest go first. */
const most = 512;

/** A folder of strobe's for what it keeps to start faster; undefined where somebody else could write code into it that we would run. */
export function ownFolder(name: string): string | undefined {
  const folder = cacheFolder(name);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    const isFolder = (mode & 0o170000) === 0o040000;
    return isFolder && uid === process.geteuid?.() && (mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}

let folder: { readonly path: string | undefined } | undefined;

/** `make`'s module, or what it made of the same before; `behind` is what else it goes by. Whatever goes wrong with what is kept, it is made again. */
export function kept(
  file: string, text: string, known: Format | undefined, make: () => LoadedModule | undefined, behind = "",
): LoadedModule | undefined {
  folder ??= { path: ownFolder("modules") };
  if (folder.path === undefined) return make();
  const path = `${folder.path}/${placeOf(file)}`;
  // Who made it, for which Node, of what: its first line.
  const about = `${JSON.stringify([self, process.version, known ?? null, file, text, behind])}\n`;
  return read(path, about) ?? write(path, folder.path, about, make());
}

/** By its contents a file is known, so its name only has to be seldom another's. FNV-1a, twice. */
function placeOf(file: string): string {
  const hash = (seed: number): string => {
    let value = seed;
    for (let i = 0; i < file.length; i++) value = Math.imul(value ^ file.charCodeAt(i), 0x01000193);
    return (value >>> 0).toString(16).padStart(8, "0");
  };
  return hash(0x811c9dc5) + hash(0x9dc5811c);
}

/** This code: the name of a bundle's part tells its contents, and its time whatever else it may be in. */
const self = stampOf(import.meta.url);

function stampOf(url: string): string {
  try {
    return `${url} ${statSync(url.startsWith("file:") ? new URL(url) : url).mtimeMs}`;
  } catch {
    return url;
  }
}

function read(path: string, about: string): LoadedModule | undefined {
  try {
    const text = readFileSync(path, "utf8");
    if (!text.startsWith(about)) return undefined;
    const end = text.indexOf("\n", about.length);
    const format = text.slice(about.length, end);
    if (format !== "module" && format !== "commonjs") return undefined;
    const now = Date.now() / 1000;
    utimesSync(path, now, now);
    return { format, source: text.slice(end + 1) };
  } catch {
    return undefined;
  }
}

function write(path: string, around: string, about: string, made: LoadedModule | undefined): LoadedModule | undefined {
  if (made === undefined) return undefined;
  const partial = `${path}.${process.pid}`;
  try {
    writeFileSync(partial, `${about}${made.format}\n${made.source}`, { mode: 0o600 });
    renameSync(partial, path);
    const files = readdirSync(around).map((name) => ({ path: `${around}/${name}`, time: statSync(`${around}/${name}`).mtimeMs }));
    for (const old of files.sort((a, b) => b.time - a.time).slice(most)) rmSync(old.path, { force: true });
  } catch {
    // No room, or another strobe tidied up meanwhile: the next start makes it again.
  }
  return made;
}
