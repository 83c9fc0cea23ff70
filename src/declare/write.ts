// The folder of declarations on disk. Its first line tells which machine it is of.
import { commands } from "../messages/commands.ts";
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findBinaries } from "../machine/binaries/binaries.ts";
import type { System } from "../machine/system.ts";
import { aboutFolder, kernelName, title } from "./about.ts";
import { declareMachine, type Declarations } from "./declare.ts";

export interface WriteOptions {
  readonly folder: string;
  readonly binaries: readonly string[];
  /** Writes them also when they are there already. */
  readonly force?: boolean;
}

/** The folder holds something else. */
export class FolderInUse extends Error {
  readonly folder: string;

  constructor(folder: string) {
    super(commands.folderInUse(folder).message);
    this.name = "FolderInUse";
    this.folder = folder;
  }
}

/**
 * Writes the declarations of a machine; undefined when the folder has them already.
 * @throws FolderInUse, NoSuchProgram
 */
export function writeDeclarations(
  system: System,
  { folder, binaries, force }: WriteOptions,
): Declarations["counts"] | undefined {
  const about = `${title} ${aboutMachine(binaries, system)}`;
  const target = resolve(folder);
  const written = aboutFolder(target);
  if (written === about && force !== true) return undefined;
  if (written === undefined ? entries(target).length > 0 : !written.startsWith(title)) throw new FolderInUse(folder);

  const { files, counts } = declareMachine(system, { binaries, about });
  makeFolders(dirname(target));
  // Whole or not at all: an editor is watching.
  const fresh = mkdtempSync(`${target}.`);
  try {
    for (const [file, text] of files) {
      mkdirSync(dirname(join(fresh, file)), { recursive: true });
      writeFileSync(join(fresh, file), text);
    }
    giveAway(fresh, dirname(target));
    rmSync(target, { recursive: true, force: true });
    renameSync(fresh, target);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return counts;
}

/**
 * Tracepoints take root to be seen, and editors run as somebody else: the files are whose the folder around them is.
 */
function giveAway(folder: string, around: string): void {
  chmodSync(folder, 0o777 & ~process.umask());
  const { uid, gid } = statSync(around);
  if (process.geteuid?.() !== 0 || uid === 0) return;
  for (const path of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })])
    lchownSync(join(folder, path), uid, gid);
}

/**
 * What makes declarations out of date: another kernel, other modules, tracepoints that root alone sees, programs built
 * anew.
 */
function aboutMachine(binaries: readonly string[], system: System): string {
  const builds = binaries.map((program) => `${program} ${findBinaries(program, undefined, system)[0]?.buildId ?? "?"}`);
  const modules = entries("/sys/kernel/btf").sort();
  return [kernelName(), `types of ${modules.join(" ")}`, `${system.tracepoints().length} tracepoints`, ...builds].join(
    "; ",
  );
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

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
