// Places in files of code that are no ELF files: by their offset alone.
import { closeSync } from "node:fs";
import { resolve } from "node:path";
import { openOthersFile } from "../../linux/others-files.ts";
import { absent } from "../../machine/binaries/file-bytes.ts";
import { hasWildcard } from "../../machine/wildcard.ts";
import { noteFile, noteRead } from "../../store/seen-files.ts";
import { parseCount } from "../quantity.ts";

/** Undefined where `OFFSET` is no number, or `target` no regular file. The file that is there now is the one that is probed. */
export function flatFile(
  target: string,
  [offset, ...more]: readonly string[],
): { readonly path: string; readonly offset: bigint } | undefined {
  const at = more.length === 0 ? parseCount(offset) : undefined;
  if (at === undefined || !target.includes("/") || hasWildcard(target)) return undefined;
  const path = resolve(target);
  noteFile(path);
  try {
    const { descriptor, stat } = openOthersFile(path);
    closeSync(descriptor);
    noteRead(path, stat);
  } catch (error) {
    return absent(error);
  }
  return { path, offset: at };
}
