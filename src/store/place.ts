// Where strobe keeps what it keeps between runs.
import { Folder, inFolder, isRefusal } from "./folder.ts";

/** The path of a folder. */
interface Place {
  readonly path: string;
  /** Names at the end of the path that strobe may make. */
  readonly make: number;
}

/**
 * Root's: whatever the environment says of homes, which may be somebody else's (sudo that keeps HOME, su without a
 * dash).
 */
const ofRoot: Place = { path: "/var/cache/strobe", make: 1 };

/** STROBE_CACHE; else root's own, or below the user's cache folder (XDG Base Directory). */
function place(): Place {
  const { STROBE_CACHE } = process.env;
  if (STROBE_CACHE) return { path: STROBE_CACHE, make: Infinity };
  if (process.geteuid?.() === 0) return ofRoot;
  return userCache("strobe");
}

/** A folder in the cache folder of a user who is not root. */
export function userCache(name: string): Place {
  const { HOME, XDG_CACHE_HOME } = process.env;
  // Relative ones count as none, says the specification.
  if (XDG_CACHE_HOME?.startsWith("/")) return { path: `${XDG_CACHE_HOME}/${name}`, make: Infinity };
  // Homes are not ours to make: those of system users are `/nonexistent`, and are meant to stay that. (Node's module
  // takes half a millisecond to load.)
  return { path: `${HOME || process.getBuiltinModule("node:os").homedir()}/.cache/${name}`, make: 2 };
}

/** A folder of the store; made when `make` says so. @throws Untrusted, or what the kernel says of its path */
export function openStore(name: string, make: boolean): Folder {
  const { path, make: most } = place();
  return Folder.open(`${path}/${name}`, make ? most + 1 : 0);
}

/** Where a folder of the store is, made, for what opens it by its path: nobody else can put another one there. */
export function storePath(name: string): string | undefined {
  return inFolder(
    () => openStore(name, true),
    ({ path }) => path,
  );
}

/** Where things are kept, and why they are not. */
export function storeState(): { readonly path: string; readonly problem?: string } {
  const { path, make } = place();
  try {
    Folder.open(path, make)[Symbol.dispose]();
    return { path };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { path, problem: (error as Error).message };
  }
}
