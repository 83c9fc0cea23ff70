import { ScriptError, type Source } from "../language/diagnostic.ts";
import type { Language } from "../language/language.ts";
import { languageOf } from "../language/registry.ts";
import { typescript } from "../language/typescript/language.ts";
import { constructorNames, spellingOf } from "../providers/registry.ts";
import { parseScript, type ScriptOptions } from "./compile.ts";
import { InternalError } from "../base/internal-error.ts";

/**
 * A script in another language, as a program that traces the same; its parameters are those of now. The machine is not
 * asked: what is probed need not exist here.
 * @throws ScriptError for what does not parse, and for what the other language has no words for
 */
export function translate(
  source: Source,
  to: Language,
  {
    positional = [],
    named: given = {},
    language = languageOf(source.name, source.text),
  }: Pick<ScriptOptions, "positional" | "named" | "language"> = {},
): string {
  if (to.translate === undefined) throw new InternalError(`nothing is translated to ${to.title}`);
  const named = given instanceof Map ? given : new Map(Object.entries(given));
  const { program, diagnostics } = parseScript(source, { positional, named, translated: true }, language);
  if (diagnostics.some(({ severity }) => severity === "error")) throw new ScriptError(source, diagnostics);
  const translated = to.translate(program, { find: spellingOf, constructors: constructorNames() });
  if (translated.diagnostics.length > 0) throw new ScriptError(source, translated.diagnostics);
  return translated.text;
}

/** A script as a program in TypeScript. @throws ScriptError */
export function translateToTypeScript(
  source: Source,
  options: Pick<ScriptOptions, "positional" | "named" | "language"> = {},
): string {
  return translate(source, typescript, options);
}
