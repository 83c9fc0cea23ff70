// Where what is kept for the next run is kept.
import { existsSync, lstatSync } from "node:fs";
import { makeFolders } from "./make-folders.ts";

/** A folder in strobe's, which is below the user's cache folder (XDG Base Directory). It may not be there yet. */
export function cacheFolder(name: string): string {
  return `${userCache()}/strobe/${name}`;
}

/** The user's cache folder; a path at which nothing can be made for whom there is no home. */
export function userCache(): string {
  const { HOME, XDG_CACHE_HOME } = process.env;
  // Node's module takes half a millisecond to load.
  // Relative ones count as none, says the specification.
  return XDG_CACHE_HOME?.startsWith("/") ? XDG_CACHE_HOME : cacheIn(HOME || process.getBuiltinModule("node:os").homedir());
}

/** Homes are not ours to make: those of system users are `/nonexistent`, and are meant to stay that. */
function cacheIn(home: string): string {
  return existsSync(home) ? `${home}/.cache` : "/dev/null";
}

/** The same, made; undefined where somebody else could write code into it that we would run. */
export function ownFolder(name: string): string | undefined {
  const folder = cacheFolder(name);
  try {
    makeFolders(folder, 0o700);
    const { uid, mode } = lstatSync(folder);
    const isFolder = (mode & 0o170000) === 0o040000;
    return isFolder && uid === process.geteuid?.() && (mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}
