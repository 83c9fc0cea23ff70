// Where what is kept for the next run is kept.
import { homedir } from "node:os";

/** strobe's folder below the user's cache folder (XDG Base Directory), or one within it. It may not be there yet. */
export function cacheFolder(name?: string): string {
  const own = `${process.env["XDG_CACHE_HOME"] || `${homedir()}/.cache`}/strobe`;
  return name === undefined ? own : `${own}/${name}`;
}
