// `dtrace -C`: a script through the C preprocessor where one is installed; without one, with the files that it includes
// (what else there is of the preprocessor the language has itself).
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { preprocessingReasons } from "../messages/d-preprocessor.ts";
import { RunError } from "../base/run-error.ts";

export interface Preprocessing {
  readonly definitions: ReadonlyMap<string, string>;
  readonly undefined: readonly string[];
  /** Of -I. */
  readonly folders: readonly string[];
  /** -X: `s` is the traditional one. */
  readonly standard: string;
  /** The preprocessor's own. */
  readonly path: string;
  readonly args: readonly string[];
  /** -H: it names what it includes. */
  readonly names: boolean;
}

/** What is wrong is said behind the script's name. */
export class PreprocessingError extends RunError {}

const deepest = 100;

/** Gives the text with lines `# 5 "file"` where it goes on elsewhere. @throws PreprocessingError */
export function preprocessedByC(text: string, name: string, how: Preprocessing): string {
  // The interpreter's line is none of C's.
  const own = `# 1 ${JSON.stringify(name)}\n${text.replace(/^#![^\n]*/, "")}`;
  const args = [
    how.standard === "s" ? "-traditional-cpp" : "-std=gnu99",
    // D's own macros, those of the system, and none of the compiler's.
    ...["__linux", "__Linux", "__unix", "__SVR4", "__SUNW_D=1", "__SUNW_D_64", "__SUNW_D_VERSION=0x02000007"].map(
      (macro) => `-D${macro}`,
    ),
    ...["__GNUC__", "linux", "unix"].map((macro) => `-U${macro}`),
    ...[...how.definitions].map(([macro, value]) => `-D${macro}=${value}`),
    ...how.undefined.map((macro) => `-U${macro}`),
    ...(how.names ? ["-H"] : []),
    "-iquote",
    dirname(name),
    ...how.folders.flatMap((folder) => ["-I", folder]),
    ...how.args,
    "-",
  ];
  const ran = spawnSync(how.path, args, { input: own, encoding: "utf8", maxBuffer: 1 << 28, timeout: 60_000 });
  const isMissing = ran.error !== undefined && (ran.error as NodeJS.ErrnoException).code === "ENOENT";
  if (isMissing && how.path !== "cpp") throw new PreprocessingError(preprocessingReasons.notFound());
  if (isMissing) return `# 1 ${JSON.stringify(name)}\n${included(text, name, how.folders, deepest)}`;
  if (ran.stderr !== "") process.stderr.write(ran.stderr);
  if (ran.error !== undefined || ran.status !== 0) throw new PreprocessingError(preprocessingReasons.failed());
  return ran.stdout;
}

function included(text: string, name: string, folders: readonly string[], depth: number): string {
  if (depth === 0) throw new PreprocessingError(preprocessingReasons.includesItself(name));
  return text
    .split("\n")
    .map((line, i) => {
      const [, quoted, system] = /^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)/.exec(line) ?? [];
      const wanted = quoted ?? system;
      if (wanted === undefined) return line;
      const places = [...(quoted === undefined ? [] : [dirname(name)]), ...folders].map((folder) =>
        join(folder, wanted),
      );
      const found = places.map((path) => [path, contentOf(path)] as const).find(([, content]) => content !== undefined);
      if (found?.[1] === undefined) throw new PreprocessingError(preprocessingReasons.noFile(wanted));
      const [path, content] = found;
      return `# 1 ${JSON.stringify(path)}\n${included(content, path, folders, depth - 1)}\n# ${i + 2} ${JSON.stringify(name)}`;
    })
    .join("\n");
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
