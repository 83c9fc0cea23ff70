import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { ScriptOptions } from "../api/compile.ts";
import type { Source } from "../language/diagnostic.ts";
import type { Language } from "../language/language.ts";
import { languageOf } from "../language/registry.ts";
import { during, readText } from "./files.ts";
import { type Options } from "./options.ts";
import { commandLine, attempts } from "../messages/on-demand.ts";
import { UsageError } from "./usage-error.ts";
import { lazy } from "../base/lazy.ts";

// Loaded where a script may import something.
const imports = lazy<typeof import("./imports.ts")>(() => require("./imports.ts"));

/** The script, and the words that are its positional parameters. */
export interface Script {
  readonly source: Source;
  readonly language: Language;
  readonly positional: readonly string[];
}

/** `whole`: with what it imports. @throws UsageError */
export function readScript(options: Options, whole = true): Script {
  const script = (read: Source, folder: string, positional: readonly string[]): Script => {
    const source = options.appended === undefined ? read : { ...read, text: `${read.text}\n${options.appended}` };
    const language = options.language ?? languageOf(source.name, source.text);
    if (language.parse === undefined)
      throw new UsageError(
        options.language === undefined
          ? commandLine().isProgram(source.name, language.title)
          : commandLine().noScriptsOfItsOwn(language.name, language.title),
      );
    const some = options.headers.files.length > 0 || /import|include/.test(source.text);
    return {
      language,
      positional,
      source: whole && some ? imports().withImports(source, folder, language, options.headers) : source,
    };
  };
  if (options.script !== undefined) return script(options.script, ".", options.words);
  if (options.execute !== undefined) return script({ name: "-e", text: options.execute }, ".", options.words);
  const [file, ...positional] = options.words;
  if (file === undefined) throw new UsageError(commandLine().nothingToRun());
  if (file === "-") return script({ name: "stdin", text: readText(0) }, ".", positional);
  if (
    during(
      () => attempts().readFile(file),
      () => statSync(file, { throwIfNoEntry: false }),
    ) === undefined
  )
    throw new UsageError(commandLine().noSuchScript(file));
  return script({ name: file, text: readText(file) }, dirname(file), positional);
}

/** What a script is compiled with, but for its parameters. */
export function compileOptions(options: Options): ScriptOptions {
  const { switches, pid, only, command, target, maxOverhead, probeFilter, stamp, vmlinux, debuginfo, types, engine } =
    options;
  const { settings: languageSettings, definitions, library } = options;
  const machine = { vmlinux, debuginfo, types };
  const given = { command, target, languageSettings, definitions, library };
  const atBoot = options.boot !== undefined;
  return { ...switches, pid, only, ...given, maxOverhead, probeFilter, stamp, engine, atBoot, ...machine };
}
