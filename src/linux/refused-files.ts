import type { Reason } from "../base/failure.ts";
// Files that are there and are not read, because of what they are or whose: kept until somebody tells them. Apart from
// what opens files (others-files.ts), which most scripts do not need.

/** A file that is there, and is not to be read; `message` says why. */
export class RefusedFile extends Error {
  readonly code = "REFUSED";
  readonly path: string;

  constructor(path: string, reason: Reason) {
    super(reason);
    this.name = "RefusedFile";
    this.path = path;
  }
}

/** By reason: the paths, and how many of them have not been told yet, beginning with which. */
const refusals = new Map<string, { readonly paths: Set<string>; first: string; count: number }>();
const pathsKept = 1024;
const reasonsKept = 64;

/** Keeps why a file is not read, unless that is `expected`; gives the error to throw. */
export function refusal(path: string, reason: Reason, expected = false): RefusedFile {
  if (!expected) {
    const known = refusals.get(reason) ?? { paths: new Set(), first: path, count: 0 };
    if (refusals.size < reasonsKept) refusals.set(reason, known);
    if (!known.paths.has(path)) {
      if (known.count++ === 0) known.first = path;
      if (known.paths.size < pathsKept) known.paths.add(path);
    }
  }
  return new RefusedFile(path, reason);
}

/**
 * What was refused since this was asked, a line a reason, each with its count. Folders are not told: patterns meet
 * them.
 */
export function takeRefusals(): string[] {
  return [...refusals].flatMap(([reason, refused]) => {
    const { first, count } = refused;
    refused.count = 0;
    return count === 0 ? [] : `${first} is not read: ${reason}${count > 1 ? ` (and ${count - 1} more like it)` : ""}`;
  });
}
