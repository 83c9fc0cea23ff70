// What a program's own modules hand on of the library: `export * from "strobe"`, and functions of theirs that make probes of handlers.
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

/** Whether a file may have handlers: it names the library, or imports a module that hands it on. Cheap where neither is so. */
export function reachesLibrary(file: string, text: string): boolean {
  if (mayHaveHandlers(text)) return true;
  if (isPackaged(file)) return false;
  for (const [, specifier] of text.matchAll(/\b(?:from|import)\s*["']([^"'\n]+)["']/g)) {
    const path = pathOf(specifier, file);
    if (path !== undefined && namesOf(path) !== undefined) return true;
  }
  return false;
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
  let text: string;
  try {
    text = readFileSync(path, "utf8");
    if (!reachesLibrary(path, text)) return undefined;
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
  return candidates.find((candidate) => /\.[mc]?[jt]s$/.test(candidate) && existsSync(candidate) && statSync(candidate).isFile());
}

function isPackaged(file: string): boolean {
  return file.includes("/node_modules/");
}
