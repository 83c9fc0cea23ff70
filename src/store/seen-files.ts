// Which files were looked at for what was found out, so that a later run can tell whether it still holds.
import { statSync, type BigIntStats } from "node:fs";

/** A path, and what tells its file or folder from another one that may be there later; null where there was none. */
export type SeenFile = readonly [path: string, stamp: string | null];

const seen = new Map<string, string | null>();
/** Of files that were read, what was: the newest. */
const read = new Map<string, string>();
let elsewhere = false;

/** Before a file is looked for, or a folder's names are read. A relative path is the folder that one starts in: `.` */
export function noteFile(path: string): void {
  if (!seen.has(path)) seen.set(path, stampOf(path));
}

/** What was opened at a path, to be read. */
export function noteRead(path: string, stat: BigIntStats): void {
  read.set(path, stampOfStat(stat));
}

/** Whether a file is the one that was read at its path; one that was not read may be any. */
export function isAsRead(path: string, stat: BigIntStats): boolean {
  const stamp = read.get(path);
  return stamp === undefined || stamp === stampOfStat(stat);
}

/** Something was asked of another machine, and may have another answer the next time. */
export function noteElsewhere(): void {
  elsewhere = true;
}

/** Undefined when files do not tell. */
export function seenFiles(): readonly SeenFile[] | undefined {
  return elsewhere ? undefined : [...seen];
}

/** All are what they were when somebody read them, which counts as if they had been read now. */
export function unchanged(files: readonly SeenFile[]): boolean {
  if (!files.every(([path, stamp]) => stampOf(path) === stamp)) return false;
  for (const [path, stamp] of files) if (stamp !== null) read.set(path, stamp);
  return true;
}

/** Tells a file or folder from others that may be at its path later; null where there is none. */
export function stampOf(path: string): string | null {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? null : stampOfStat(found);
  } catch {
    return null;
  }
}

function stampOfStat({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}
