// Folders of SystemTap's libraries, `-I`: all their files of definitions and macros.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { LibraryFile } from "../language/language.ts";
import { during, readText } from "./files.ts";
import { attempts } from "../messages/on-demand.ts";

/** In the order of their names, folders in folders as well. @throws what cannot be read */
export function readLibraries(folders: readonly string[]): LibraryFile[] {
  return folders.flatMap(filesIn);
}

function filesIn(folder: string): LibraryFile[] {
  const entries = during(
    () => attempts().readFolder(folder),
    () => readdirSync(folder, { withFileTypes: true }),
  );
  return entries
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesIn(path);
      return /\.stpm?$/.test(entry.name) ? [{ name: path, text: readText(path) }] : [];
    });
}
