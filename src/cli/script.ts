import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Source } from "../language/diagnostic.ts";
import { withImports } from "./imports.ts";
import { UsageError, type Options } from "./options.ts";

/** The script, and the words that are its positional parameters. */
export interface Script { readonly source: Source; readonly positional: readonly string[] }

export function readScript(options: Options): Script {
  if (options.execute !== undefined) return { source: withImports({ name: "-e", text: options.execute }, "."), positional: options.words };
  const [file, ...positional] = options.words;
  if (file === undefined) throw new UsageError("nothing to run: give a script's path, or a program behind -e");
  if (file === "-") return { source: withImports({ name: "stdin", text: readFileSync(0, "utf8") }, "."), positional };
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new UsageError(code === "ENOENT" ? `no such file: ${file} (a program goes behind -e)` : `cannot read ${file}: ${code}`);
  }
  return { source: withImports({ name: file, text }, dirname(file)), positional };
}
