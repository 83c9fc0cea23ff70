// `import "helpers.bt";` and `#include "types.h"`: the files that a script names, and those that they name, become one
// text with it. What is imported comes first, each file once.
import { readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { preprocess, type Include } from "../language/bpftrace/preprocess.ts";
import { scan, type Token } from "../language/bpftrace/tokens.ts";
import { ScriptError, type Diagnostic, type Source, type Span } from "../language/diagnostic.ts";
import type { SourcePart } from "../language/source-parts.ts";
import { readText } from "./files.ts";
import { UsageError } from "./options.ts";

interface Import {
  readonly path: Token;
  readonly start: number;
  readonly end: number;
}

/** -I and --include: where else headers are, and those that every script has. */
export interface Headers {
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/** `folder`: what paths in the script are relative to. @throws ScriptError, UsageError */
export function withImports(source: Source, folder: string, headers: Headers = { folders: [], files: [] }): Source {
  if (headers.files.length === 0 && !source.text.includes("import") && !source.text.includes("include")) return source;
  const parts: SourcePart[] = [];
  const seen = new Set<string>();
  let text = "";
  const add = (one: Source, from: string, imported: boolean): void => {
    const imports = importsOf(one, imported);
    const included: Span[] = [];
    for (const include of preprocess(one.text).includes) {
      const file = headerOf(one, include, from, headers.folders);
      if (file === undefined) continue;
      included.push(include.span);
      addHeader(file);
    }
    for (const { path } of imports) {
      for (const file of filesOf(one, path, from)) {
        if (seen.has(file)) continue;
        seen.add(file);
        add({ name: file, text: readText(file) }, dirname(file), true);
      }
    }
    parts.push({ name: one.name, start: text.length });
    text += `${blanked(one.text, [...imports, ...included], imported)}\n`;
  };
  const addHeader = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    add({ name: file, text: readText(file) }, dirname(file), true);
  };
  for (const name of headers.files) {
    const file = existing([folder, ...headers.folders], name);
    if (file !== undefined) addHeader(file);
    else if (/^\.{0,2}\//.test(name)) throw new UsageError(`there is no file ${name} to include`);
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
  if (file === undefined && system && isNowhere(path))
    throw refusal(source, span, `'${path}' file not found`, "-I names the folder that it is in");
  if (file !== undefined || system) return file;
  throw refusal(
    source,
    span,
    `there is no file ${path} to include`,
    "paths are relative to the script's folder, or to one that -I names",
  );
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
  const found = folders
    .map((folder) => resolve(folder, path))
    .find((place) => statSync(place, { throwIfNoEntry: false })?.isFile());
  return found === undefined ? undefined : realpathSync(found);
}

/** Behind C definitions, among config and other imports: the language allows them nowhere else. */
function importsOf(source: Source, imported: boolean): Import[] {
  const { text } = preprocess(source.text);
  const imports: Import[] = [];
  let at = 0;
  for (;;) {
    const token = scan(text, at);
    if (token.kind !== "identifier") return imports;
    switch (token.text) {
      case "import": {
        const path = scan(text, token.end);
        if (path.kind !== "string") return imports; // the parser says what is wrong
        const behind = scan(text, path.end);
        at = behind.text === ";" ? behind.end : path.end;
        imports.push({ path, start: token.start, end: at });
        break;
      }
      case "config":
        if (imported)
          throw refusal(
            source,
            token,
            "an imported script cannot have a config block",
            "put it into the script that is run",
          );
        at = behindBraces(text, token.end);
        break;
      case "struct":
      case "union":
      case "enum":
      case "typedef":
        at = behindBraces(text, token.end);
        break;
      default:
        return imports;
    }
    while (scan(text, at).text === ";") at = scan(text, at).end;
  }
}

/** Behind the `}` of the next block, or a `;` before there is one. */
function behindBraces(text: string, from: number): number {
  let depth = 0;
  for (let token = scan(text, from); token.kind !== "end"; token = scan(text, token.end)) {
    if (token.text === "{") depth++;
    else if (token.text === "}" && --depth <= 0) return token.end;
    else if (token.text === ";" && depth === 0) return token.end;
  }
  return text.length;
}

/** What a path means: a file, or all in a folder, by their real paths. */
function filesOf(source: Source, path: Token, from: string): string[] {
  const place = resolve(from, path.text);
  let directory: boolean;
  try {
    directory = statSync(place).isDirectory();
  } catch {
    throw refusal(
      source,
      path,
      `unable to find suitable path for import: ${place}`,
      "paths are relative to the script's folder",
    );
  }
  const folder = directory ? place : dirname(place);
  // In a folder such as /tmp (sticky) nobody replaces another's file, but anybody may add one.
  const { mode } = statSync(folder);
  if ((mode & 0o002) !== 0 && (directory || (mode & 0o1000) === 0)) {
    throw refusal(
      source,
      path,
      `everybody may write into ${folder}: nothing is imported from there`,
      "take that right away (chmod o-w), or put the file elsewhere",
    );
  }
  const files = directory
    ? readdirSync(place)
        .filter((name) => /\.(bt|h)$|\.bpf\.c$/.test(name))
        .sort()
        .map((name) => join(place, name))
    : [place];
  return files.map((file) => {
    if (file.endsWith(".bpf.c"))
      throw refusal(
        source,
        path,
        `${file} is C, which strobe does not compile`,
        "write what it does as functions: fn name($x: int64): int64 { … }",
      );
    if (!/\.(bt|h)$/.test(file)) throw refusal(source, path, `${file} is neither a script (.bt) nor a header (.h)`);
    return realpathSync(file);
  });
}

function refusal(source: Source, { start, end }: Span, message: string, help?: string): ScriptError {
  const diagnostic: Diagnostic = {
    severity: "error",
    code: "name",
    span: { start, end },
    message,
    ...(help === undefined ? {} : { help }),
  };
  return new ScriptError(source, [diagnostic]);
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
