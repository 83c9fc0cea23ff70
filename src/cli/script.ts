import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Source } from "../language/diagnostic.ts";
import { during, readText } from "./files.ts";
import { UsageError, type Options } from "./options.ts";
import { lazy } from "../base/lazy.ts";

// Loaded where a script may import something.
const imports = lazy<typeof import("./imports.ts")>(() => require("./imports.ts"));

/** The script, and the words that are its positional parameters. */
export interface Script {
  readonly source: Source;
  readonly positional: readonly string[];
}

/** `whole`: with what it imports. */
export function readScript(options: Options, whole = true): Script {
  const complete = (source: Source, folder: string): Source => {
    const some = options.headers.files.length > 0 || /import|include/.test(source.text);
    return whole && some ? imports().withImports(source, folder, options.headers) : source;
  };
  if (options.execute !== undefined)
    return { source: complete({ name: "-e", text: options.execute }, "."), positional: options.words };
  const [file, ...positional] = options.words;
  if (file === undefined) throw new UsageError("nothing to run: give a script's path, or a program behind -e");
  if (file === "-") return { source: complete({ name: "stdin", text: readText(0) }, "."), positional };
  if (during(`read ${file}`, () => statSync(file, { throwIfNoEntry: false })) === undefined)
    throw new UsageError(`failed to open file '${file}': no such file (a program goes behind -e)`);
  return { source: complete({ name: file, text: readText(file) }, dirname(file)), positional };
}
