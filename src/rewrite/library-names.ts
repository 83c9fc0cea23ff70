// What a program's own modules hand on of the library: `export * from "strobe"`, and functions of theirs that make
// probes of handlers.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { libraryExports, type LibraryNames } from "./handlers.ts";
import { mayHaveHandlers, ownNames, parsed } from "./rewrite.ts";
import { analyze } from "./scopes.ts";
import { stripTypes } from "./strip.ts";

type Names = ReturnType<LibraryNames>;

/** By path. Files do not change while they are loaded. */
const known = new Map<string, Names>();

/** Names of the library as a file imports them, from it or from modules beside it. Packages hand nothing on. */
export function namesIn(file: string): LibraryNames {
  return (specifier) => {
    const own = ownNames(specifier);
    if (own !== undefined) return own;
    const path = pathOf(specifier, file);
    return path === undefined ? undefined : namesOf(path);
  };
}

/**
 * Whether a file may have handlers: it names the library, or imports modules that lead to it. Told by texts alone,
 * without parsing.
 */
export function reachesLibrary(file: string, text: string): boolean {
  return mayHaveHandlers(text) || besides(file, text).some(reaches);
}

/**
 * What says whether the modules that hand the library on to a file are still the same: their paths, times and sizes.
 */
export function stampsBehind(file: string, text: string): string {
  const stamps = new Map<string, string>();
  const add = (from: string, its: string): void => {
    for (const path of besides(from, its)) {
      if (stamps.has(path) || !reaches(path)) continue;
      const { mtimeMs, size } = statSync(path);
      stamps.set(path, `${path} ${mtimeMs} ${size}`);
      add(path, textOf(path));
    }
  };
  add(file, text);
  return [...stamps.values()].sort().join("\n");
}

const reaching = new Map<string, boolean>();

function reaches(path: string): boolean {
  const before = reaching.get(path);
  if (before !== undefined) return before;
  reaching.set(path, false);
  const found = reachesLibrary(path, textOf(path));
  reaching.set(path, found);
  return found;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Whoever loads it says what is wrong.
    return "";
  }
}

/** The modules beside a file that it imports. */
function besides(file: string, text: string): string[] {
  if (isPackaged(file)) return [];
  return [...text.matchAll(/\b(?:from|import|require\()\s*["']([^"'\n]+)["']/g)].flatMap(
    ([, specifier]) => pathOf(specifier, file) ?? [],
  );
}

function namesOf(path: string): Names {
  if (known.has(path)) return known.get(path);
  // Modules may import each other in a circle.
  known.set(path, undefined);
  const names = read(path);
  known.set(path, names);
  return names;
}

function read(path: string): Names {
  if (!reaches(path)) return undefined;
  let text = textOf(path);
  try {
    if (/\.[mc]?ts$/.test(path)) text = stripTypes(path, text);
  } catch {
    // Whoever loads it says what is wrong.
    return undefined;
  }
  const program = parsed(text);
  return program && libraryExports(program, analyze(program), namesIn(path));
}

const endings = ["", ".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", "/index.ts", "/index.js"];

/** The file that a specifier means, of those beside the importing one. */
function pathOf(specifier: string, file: string): string | undefined {
  if (!/^(\.{1,2}\/|\/|file:)/.test(specifier) || isPackaged(file)) return undefined;
  const path = specifier.startsWith("file:") ? fileURLToPath(specifier) : resolve(dirname(file), specifier);
  const compiled = /^(.*\.[mc]?)js$/.exec(path);
  const candidates = [...endings.map((ending) => path + ending), ...(compiled ? [`${compiled[1]}ts`] : [])];
  return candidates.find(
    (candidate) => /\.[mc]?[jt]s$/.test(candidate) && existsSync(candidate) && statSync(candidate).isFile(),
  );
}

function isPackaged(file: string): boolean {
  return file.includes("/node_modules/");
}
