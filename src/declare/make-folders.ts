// Folders, with those around them.
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * As Node's mkdirSync with `recursive`, which never comes back in folders that are there and in which nothing can be made (/proc).
 * @throws what mkdirSync throws
 */
export function makeFolders(folder: string, mode = 0o777): void {
  const path = resolve(folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolders(dirname(path), mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another strobe was faster.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
