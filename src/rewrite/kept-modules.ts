// Files as Node was handed them before: one that has not changed needs neither stripper nor parser.
import { statSync } from "node:fs";
import { KeptFiles } from "../store/kept-files.ts";
import { nameFor } from "../store/whole.ts";

export type Format = "module" | "commonjs";

export interface LoadedModule {
  readonly format: Format;
  readonly source: string;
}

const files = new KeptFiles({ folder: "modules", names: /^[0-9a-f]{16}$/, files: 512 });

/**
 * `make`'s module, or what it made of the same before; `behind` is what else it goes by. Whatever goes wrong with what
 * is kept, it is made again.
 */
export function kept(
  file: string,
  text: string,
  known: Format | undefined,
  make: () => LoadedModule | undefined,
  behind = "",
): LoadedModule | undefined {
  const name = nameFor(file);
  // Who made it, for which Node, of what: its first line.
  const about = `${JSON.stringify([self, process.version, known ?? null, file, text, behind])}\n`;
  const found = moduleIn(files.read(name)?.toString(), about);
  if (found !== undefined) return found;
  const made = make();
  if (made !== undefined) files.write(name, `${about}${made.format}\n${made.source}`);
  return made;
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

function moduleIn(text: string | undefined, about: string): LoadedModule | undefined {
  if (!text?.startsWith(about)) return undefined;
  const end = text.indexOf("\n", about.length);
  const format = text.slice(about.length, end);
  return format === "module" || format === "commonjs" ? { format, source: text.slice(end + 1) } : undefined;
}
