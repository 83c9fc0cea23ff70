// Which files were looked at for what was found out, so that a later run can tell whether it still holds.
import { statSync } from "node:fs";

/** A path, and what tells its file or folder from another one that may be there later; null where there was none. */
export type SeenFile = readonly [path: string, stamp: string | null];

const seen = new Map<string, string | null>();
let elsewhere = false;

/** Before a file is looked for, or a folder's names are read. A relative path is the folder that one starts in: `.` */
export function noteFile(path: string): void {
  if (!seen.has(path)) seen.set(path, stampOf(path));
}

/** Something was asked of another machine, and may have another answer the next time. */
export function noteElsewhere(): void {
  elsewhere = true;
}

/** Undefined when files do not tell. */
export function seenFiles(): readonly SeenFile[] | undefined {
  return elsewhere ? undefined : [...seen];
}

export function unchanged(files: readonly SeenFile[]): boolean {
  return files.every(([path, stamp]) => stampOf(path) === stamp);
}

/** Tells a file or folder from others that may be at its path later; null where there is none. */
export function stampOf(path: string): string | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return null;
    const { dev, ino, size, mtimeMs, ctimeMs } = found;
    return [dev, ino, size, mtimeMs, ctimeMs].join(" ");
  } catch {
    return null;
  }
}
