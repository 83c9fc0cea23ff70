// The folder of declarations on disk. Its first line tells which machine it is of.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { machine, release, version } from "node:os";
import { dirname, join, resolve } from "node:path";
import { findBinaries } from "../providers/binaries.ts";
import type { System } from "../providers/system.ts";
import { declareMachine, type Declarations } from "./declare.ts";

export interface WriteOptions {
  readonly folder: string;
  readonly binaries: readonly string[];
}

/** The folder holds something else. */
export class FolderInUse extends Error {
  constructor(folder: string) {
    super(`${folder} holds something else than declarations of strobe types`);
    this.name = "FolderInUse";
  }
}

const title = "Declarations by strobe types:";

/**
 * Writes the declarations of a machine; undefined when the folder has them already.
 * @throws FolderInUse, NoSuchProgram
 */
export function writeDeclarations(system: System, { folder, binaries }: WriteOptions): Declarations["counts"] | undefined {
  const about = `${title} ${aboutMachine(binaries, system)}`;
  const target = resolve(folder);
  const written = firstLine(join(target, "index.d.ts"));
  if (written === `// ${about}`) return undefined;
  if (written === undefined ? entries(target).length > 0 : !written.startsWith(`// ${title}`)) throw new FolderInUse(folder);

  const { files, counts } = declareMachine(system, { binaries, about });
  mkdirSync(dirname(target), { recursive: true });
  // Whole or not at all: an editor is watching.
  const fresh = mkdtempSync(`${target}.`);
  try {
    for (const [file, text] of files) {
      mkdirSync(dirname(join(fresh, file)), { recursive: true });
      writeFileSync(join(fresh, file), text);
    }
    rmSync(target, { recursive: true, force: true });
    renameSync(fresh, target);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return counts;
}

/** What makes declarations out of date: another kernel, other modules, tracepoints that root alone sees, programs built anew. */
function aboutMachine(binaries: readonly string[], system: System): string {
  const builds = binaries.map((program) => `${program} ${findBinaries(program, undefined, system)[0]?.buildId ?? "?"}`);
  const modules = entries("/sys/kernel/btf").sort();
  return [`Linux ${release()} ${machine()}, ${version()}`, `types of ${modules.join(" ")}`, `${system.tracepoints().length} tracepoints`, ...builds].join("; ");
}

function firstLine(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").split("\n", 1)[0];
  } catch {
    return undefined;
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
