import { parse } from "../language/bpftrace/parse.ts";
import { ScriptError, type Source } from "../language/diagnostic.ts";
import { typescriptOf } from "../language/typescript/from-tree/program.ts";
import type { ScriptOptions } from "./compile.ts";

/**
 * A bpftrace script as a TypeScript program that traces the same; its parameters are those of now. The machine is not asked: what
 * is probed need not exist here.
 * @throws ScriptError for what does not parse, and for what TypeScript has no words for
 */
export function translateToTypeScript(
  source: Source,
  { positional = [], named: given = {} }: Pick<ScriptOptions, "positional" | "named"> = {},
): string {
  const named = given instanceof Map ? given : new Map(Object.entries(given));
  const { program, diagnostics } = parse(source, { positional, named });
  if (diagnostics.some(({ severity }) => severity === "error")) throw new ScriptError(source, diagnostics);
  const translated = typescriptOf(program);
  if (translated.diagnostics.length > 0) throw new ScriptError(source, translated.diagnostics);
  return translated.text;
}
