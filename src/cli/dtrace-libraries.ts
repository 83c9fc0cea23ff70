// `dtrace -L FOLDER`: a script's own libraries of declarations, each behind those that it depends on.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RunError } from "../base/run-error.ts";
import { preprocessingReasons } from "../messages/d-preprocessor.ts";
import type { DtraceProgram } from "./dtrace-voice.ts";

/** A library that another one needs is not there. */
export class LibraryError extends RunError {}

const dependence = /^[ \t]*#[ \t]*pragma[ \t]+D[ \t]+depends_on[ \t]+(\w+)[ \t]+(\S+)[^\n]*$/gm;

/**
 * The folder's files `*.d`, in the order in which they are read; of a folder that is not there none. What depends on a
 * module that the kernel does not have is left out. @throws LibraryError
 */
export function librariesIn(folder: string): readonly DtraceProgram[] {
  const texts = new Map<string, string>();
  for (const file of existsSync(folder) ? readdirSync(folder).sort() : [])
    if (file.endsWith(".d")) texts.set(file, readFileSync(join(folder, file), "utf8"));
  const placed = new Map<string, DtraceProgram>();
  const place = (file: string, within: ReadonlySet<string>): void => {
    const text = texts.get(file)!;
    if (placed.has(file) || within.has(file)) return;
    for (const [, kind, name] of text.matchAll(dependence)) {
      if (kind === "module" && name !== "vmlinux" && !existsSync(`/sys/module/${name}`)) return;
      if (kind !== "library") continue;
      if (!texts.has(name))
        throw new LibraryError(preprocessingReasons.library(join(folder, file), join(folder, name)));
      place(name, new Set([...within, file]));
    }
    placed.set(file, { letter: "L", name: join(folder, file), text: text.replaceAll(dependence, "") });
  };
  for (const file of texts.keys()) place(file, new Set());
  return [...placed.values()];
}
