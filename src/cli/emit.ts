import { writeFileSync } from "node:fs";
import { translateToTypeScript } from "../api/translate.ts";
import { during, print } from "./files.ts";
import type { Options } from "./options.ts";
import { readScript } from "./script.ts";

/** `--emit ts`: the script as a TypeScript program, for `strobe run`. @throws ScriptError */
export function emit(options: Options): number {
  const { source, positional } = readScript(options);
  const text = translateToTypeScript(source, { positional, named: options.named });
  if (options.output === undefined) print(text);
  else {
    const { output } = options;
    during(`write to "${output}"`, () => writeFileSync(output, text));
  }
  return 0;
}
