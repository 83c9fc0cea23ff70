import { readFileSync } from "node:fs";
import type { Source } from "../language/diagnostic.ts";
import { UsageError, type Options } from "./options.ts";

/** The script, and the words that are its positional parameters. */
export interface Script { readonly source: Source; readonly positional: readonly string[] }

export function readScript(options: Options): Script {
  if (options.execute !== undefined) return { source: { name: "-e", text: options.execute }, positional: options.words };
  const [file, ...positional] = options.words;
  if (file === undefined) throw new UsageError("nothing to run: give a script's path, or a program behind -e");
  if (file === "-") return { source: { name: "stdin", text: readFileSync(0, "utf8") }, positional };
  try {
    return { source: { name: file, text: readFileSync(file, "utf8") }, positional };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new UsageError(code === "ENOENT" ? `no such file: ${file} (a program goes behind -e)` : `cannot read ${file}: ${code}`);
  }
}
