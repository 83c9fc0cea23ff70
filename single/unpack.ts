// Programs are modules, which Node imports from files: so those of the library, and the tools in TypeScript, are written
// into the store, a folder for each build. Where there is no store they lie in a folder that goes with the process.
import { mkdtempSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Folder, isRefusal } from "../src/store/folder.ts";
import { openStore } from "../src/store/place.ts";
import { asset, requireAsset } from "./assets.ts";

/** Names of the library's files, and a sum of what they and the tools are. build.mjs knows. */
declare const LIBRARY: readonly string[];
declare const PROGRAMS: readonly string[];
declare const LIBRARY_SUM: string;

/** Where the library's files look for a `require` of packages (build.mjs): there are none beside them. */
(globalThis as Record<symbol, unknown>)[Symbol.for("strobe.require")] = requireAsset;

export async function importUnpacked(name: string): Promise<unknown> {
  return import(pathToFileURL(join(unpacked("library", LIBRARY), name)).href);
}

/** A tool's path. It is beside no file of the library's: those are not compiled as programs are. */
export function unpackedTool(file: string): string {
  return join(unpacked("programs", PROGRAMS), file);
}

/** The folder that these assets are in, as they are here. */
function unpacked(kind: string, names: readonly string[]): string {
  let folder: Folder;
  try {
    folder = openStore(`${kind}-${LIBRARY_SUM}`, true);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return write(ofThisProcess(kind), names);
  }
  return write(folder, names);
}

function ofThisProcess(kind: string): Folder {
  const path = mkdtempSync(join(tmpdir(), `strobe-${kind}-`));
  process.on("exit", () => rmSync(path, { recursive: true, force: true }));
  return Folder.open(path);
}

function write(folder: Folder, names: readonly string[]): string {
  try {
    for (const name of names) {
      const bytes = asset(name);
      const known = folder.open(name, ({ fd, size }) => size === bytes.length && readFileSync(fd).equals(bytes));
      if (known !== true)
        folder.replace(name, (fd) => {
          writeSync(fd, bytes);
          return true;
        });
    }
    return folder.path;
  } finally {
    folder[Symbol.dispose]();
  }
}
