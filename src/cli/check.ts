// `strobe check`: what is wrong with scripts, for this machine, without running them.
import { compileScript } from "../api/compile.ts";
import type { LibraryFile } from "../language/language.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { errorText, useColor } from "./errors.ts";
import { readOptions, type Options } from "./options.ts";
import { isProgram } from "../language/typescript/endings.ts";
import { commands } from "../messages/commands.ts";
import { UsageError } from "./usage-error.ts";
import { compileOptions, readScript } from "./script.ts";

/** What starts the command gives it: see parts.ts. */
declare const importModule: (name: string) => Promise<unknown>;

/** The exit code: 1 when a script has an error. Takes the options that a script is run with, those behind `--` included. */
export async function checkFiles(
  argv: readonly string[],
  library?: readonly LibraryFile[],
  further: Pick<Options, "settings" | "appended"> = {},
): Promise<number> {
  const lone = argv.indexOf("--");
  const options = { ...readOptions(lone < 0 ? argv : argv.slice(0, lone)), ...further };
  const { words: positional, named } = readOptions(lone < 0 ? [] : argv.slice(lone));
  const files = options.execute === undefined ? options.words : [undefined];
  if (files.length === 0) throw new UsageError(commands.nothingToCheck());
  let wrong = false;
  for (const file of files) {
    try {
      if (file !== undefined && options.language === undefined && isProgram(file)) {
        const { checkProgram } = (await importModule("check-program.mjs")) as typeof import("./check-program.ts");
        const library = (await importModule("index.mjs")) as Readonly<Record<string, unknown>>;
        if (!checkProgram(library, file, compileOptions(options), !(options.quiet || options.noWarnings))) wrong = true;
        continue;
      }
      const { source, language } = readScript({ ...options, words: file === undefined ? [] : [file] });
      const given = { ...compileOptions(options), language, positional, named, library };
      const { diagnostics, plan, program } = compileScript(source, given);
      for (const diagnostic of diagnostics)
        if (diagnostic.severity === "error" || !(options.quiet || options.noWarnings))
          process.stderr.write(
            renderDiagnostic(program.source, diagnostic, { color: useColor(), mistakes: program.rules.mistakes }),
          );
      if (plan === undefined) wrong = true;
    } catch (error) {
      // What is wrong with one file keeps none of the others from being checked.
      if (error instanceof UsageError) throw error;
      process.stderr.write(errorText(error, options.verbose));
      wrong = true;
    }
  }
  return wrong ? 1 : 0;
}
