import { writeFileSync } from "node:fs";
import type { Source } from "../language/diagnostic.ts";
import type { Language } from "../language/language.ts";
import { languageOf } from "../language/registry.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { errorText, useColor } from "./errors.ts";
import { during, print, readText } from "./files.ts";
import { commands } from "../messages/commands.ts";
import { UsageError } from "./usage-error.ts";
import { spellingOf } from "../providers/registry.ts";
import { attempts } from "../messages/on-demand.ts";

/**
 * `strobe fmt`: rewrites the files that are laid out otherwise, and names them; with `--check` it only names them.
 * Without a file, from standard input to standard output. The exit code is 1 when a file does not parse or, with
 * `--check`, would change.
 */
export function formatFiles(argv: readonly string[]): number {
  const check = argv.includes("--check");
  const files = argv.filter((word) => word !== "--check");
  const option = files.find((word) => word.startsWith("-") && word !== "-");
  if (option !== undefined) throw new UsageError(commands.fmtHasNoOption(option));
  if (files.length === 0 || files[0] === "-") return formatInput();
  let exitCode = 0;
  for (const file of files) {
    const before = readText(file);
    const after = formatted({ name: file, text: before }, languageOf(file, before));
    if (after === undefined) exitCode = 1;
    if (after === undefined || after === before) continue;
    print(`${file}\n`);
    if (check) exitCode = 1;
    else
      during(
        () => attempts().writeTo(file),
        () => writeFileSync(file, after),
      );
  }
  return exitCode;
}

function formatInput(): number {
  const source = { name: "stdin", text: readText(0) };
  return formatText(source, languageOf(source.name, source.text));
}

/** `--fmt`: to standard output. */
export function formatText(source: Source, language: Language): number {
  const after = formatted(source, language);
  if (after !== undefined) print(after);
  return after === undefined ? 1 : 0;
}

function formatted(source: Source, { format, title }: Language): string | undefined {
  if (format === undefined) throw new UsageError(commands.fmtWithout(source.name, title));
  try {
    const { text: after, diagnostics } = format(source, spellingOf);
    for (const diagnostic of diagnostics)
      process.stderr.write(renderDiagnostic(source, diagnostic, { color: useColor() }));
    return after;
  } catch (error) {
    // One file that strobe is at fault with keeps none of the others from being formatted.
    process.stderr.write(errorText(error, false));
    return undefined;
  }
}
