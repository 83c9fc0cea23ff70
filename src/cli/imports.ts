// `import "helpers.bt";` and `#include "types.h"`: the files that a script names, and those that they name, become one
// text with it. What is imported comes first, each file once.
import { readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ScriptError, type Source, type Span } from "../language/diagnostic.ts";
import type { Language, Referenced, References } from "../language/language.ts";
import type { SourcePart } from "../language/source-parts.ts";
import { readText } from "./files.ts";
import { commandLine, scripts } from "../messages/on-demand.ts";
import { UsageError } from "./usage-error.ts";
import type { Message } from "../messages/message.ts";

type Import = Referenced["imports"][number];
type Include = Referenced["includes"][number];

/** -I and --include: where else headers are, and those that every script has. */
export interface Headers {
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/** `folder`: what paths in the script are relative to. @throws ScriptError, UsageError */
export function withImports(
  source: Source,
  folder: string,
  { endings, references }: Language,
  headers: Headers = { folders: [], files: [] },
): Source {
  if (references === undefined) return source;
  if (headers.files.length === 0 && !source.text.includes("import") && !source.text.includes("include")) return source;
  const parts: SourcePart[] = [];
  const seen = new Set<string>();
  let text = "";
  const add = (one: Source, from: string, imported: boolean): void => {
    const { imports, includes, problem } = references.of(one, imported);
    if (problem !== undefined) throw new ScriptError(one, [problem]);
    const included: Span[] = [];
    for (const include of includes) {
      const file = headerOf(one, include, from, headers.folders);
      if (file === undefined) continue;
      included.push(include.span);
      addHeader(file);
    }
    for (const named of imports) {
      for (const file of filesOf(one, named, from, endings, references)) {
        if (seen.has(file)) continue;
        seen.add(file);
        add({ name: file, text: readText(file) }, dirname(file), true);
      }
    }
    parts.push({ name: one.name, start: text.length });
    text += `${blanked(one.text, [...imports.map(({ span }) => span), ...included], imported)}\n`;
  };
  const addHeader = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    add({ name: file, text: readText(file) }, dirname(file), true);
  };
  for (const name of headers.files) {
    const file = existing([folder, ...headers.folders], name);
    if (file !== undefined) addHeader(file);
    else if (/^\.{0,2}\//.test(name)) throw new UsageError(commandLine().noSuchHeader(name));
  }
  add(source, folder, false);
  return parts.length === 1 ? source : { name: source.name, text, parts };
}

/**
 * The file that an #include means; undefined of the system's headers, whose types and constants strobe has without
 * them.
 */
function headerOf(
  source: Source,
  { path, system, span }: Include,
  from: string,
  folders: readonly string[],
): string | undefined {
  const file = existing(system ? folders : [from, ...folders], path);
  if (file === undefined && system && isNowhere(path)) throw refusal(source, span, scripts().headerNotFound(path));
  if (file !== undefined || system) return file;
  throw refusal(source, span, scripts().noFileToInclude(path));
}

/**
 * Folders of the kernel's own headers: what is in them cannot be told without its sources, and strobe has their types
 * without them.
 */
const kernelFolders = new Set(
  (
    "acpi asm asm-generic clocksource crypto cxl drm dt-bindings generated hyperv keys kunit kvm linux math-emu media memory misc mtd net " +
    "pcmcia ras rdma rv scsi soc sound target trace uapi ufs vdso video xen"
  ).split(" "),
);
/** They come with the compiler. */
const compilerHeaders =
  /^(?:float|iso646|limits|std(?:align|arg|atomic|bool|ckdint|countof|def|int|noreturn)|tgmath|unwind|varargs|\w*intrin)\.h$/;

/** Whether there is no header of this name, on a machine that has headers of programs at all. */
function isNowhere(path: string): boolean {
  const [first] = path.split("/");
  if (first.startsWith(".") || kernelFolders.has(first) || compilerHeaders.test(path)) return false;
  const folders = [
    "/usr/include",
    ...["x86_64-linux-gnu", "aarch64-linux-gnu"].map((machine) => `/usr/include/${machine}`),
    "/usr/local/include",
  ];
  return existing(folders, "stdio.h") !== undefined && existing(folders, path) === undefined;
}

function existing(folders: readonly string[], path: string): string | undefined {
  const found = folders.map((folder) => resolve(folder, path)).find(isFile);
  return found === undefined ? undefined : realpathSync(found);
}

/** False also for what no file can be called (ENAMETOOLONG) or nobody may look at. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

/** What a path means: a file, or all in a folder, by their real paths. */
function filesOf(
  source: Source,
  { path, pathSpan }: Import,
  from: string,
  endings: readonly string[],
  { headers, refused }: References,
): string[] {
  const isRefused = (name: string): string | undefined => Object.keys(refused).find((ending) => name.endsWith(ending));
  const isTaken = (name: string): boolean => [...endings, ...headers].some((ending) => name.endsWith(ending));
  const place = resolve(from, path);
  let directory: boolean;
  try {
    directory = statSync(place).isDirectory();
  } catch {
    throw refusal(source, pathSpan, scripts().noFileToImport(place));
  }
  const folder = directory ? place : dirname(place);
  // In a folder such as /tmp (sticky) nobody replaces another's file, but anybody may add one.
  const { mode } = statSync(folder);
  if ((mode & 0o002) !== 0 && (directory || (mode & 0o1000) === 0)) {
    throw refusal(source, pathSpan, scripts().openFolder(folder));
  }
  const files = directory
    ? readdirSync(place)
        .filter((name) => isTaken(name) || isRefused(name) !== undefined)
        .sort()
        .map((name) => join(place, name))
    : [place];
  return files.map((file) => {
    const ending = isRefused(file);
    if (ending !== undefined) {
      throw refusal(source, pathSpan, refused[ending](file));
    }
    if (!isTaken(file)) throw refusal(source, pathSpan, scripts().neitherScriptNorHeader(file, endings, headers));
    return realpathSync(file);
  });
}

function refusal(source: Source, { start, end }: Span, message: Message): ScriptError {
  return new ScriptError(source, [{ severity: "error", span: { start, end }, ...message }]);
}

/**
 * Without the imports, and of an imported file without its first line if that names an interpreter; every offset stays.
 */
function blanked(text: string, spans: readonly Span[], imported: boolean): string {
  let left = text;
  for (const { start, end } of spans)
    left = left.slice(0, start) + left.slice(start, end).replace(/[^\n]/g, " ") + left.slice(end);
  return imported ? left.replace(/^#![^\n]*/, (line) => " ".repeat(line.length)) : left;
}
