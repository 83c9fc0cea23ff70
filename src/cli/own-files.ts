// Texts that are installed with the command: tools and pages. They lie beside the folder that its files are in, or are
// assets of the single file.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The names of the tools' files where they are assets (single/build.mjs). */
declare const TOOLS: readonly string[] | undefined;

/** What single/assets.ts knows a text by, behind which its path comes. */
const asset = "strobe-text:";

export function ownPath(path: string): string {
  return join(dirname(import.meta.url), "..", path);
}

/** The text of `tools/opens.bt`; undefined where strobe was installed without it. */
export function ownText(path: string): string | undefined {
  return typeof TOOLS === "undefined"
    ? unlessAbsent(() => readFileSync(ownPath(path), "utf8"))
    : (require(asset + path) as string);
}

/** Files of `tools`, in alphabetical order. */
export function toolFiles(): readonly string[] {
  return typeof TOOLS === "undefined" ? (unlessAbsent(() => readdirSync(ownPath("tools")).sort()) ?? []) : TOOLS;
}

function unlessAbsent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
