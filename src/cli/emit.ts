import { writeFileSync } from "node:fs";
import { translate } from "../api/translate.ts";
import type { Language } from "../language/language.ts";
import { during, print } from "./files.ts";
import type { Options } from "./options.ts";
import { readScript } from "./script.ts";
import { attempts } from "../messages/on-demand.ts";

/** `--emit ts`: the script as a program in another language. @throws ScriptError */
export function emit(options: Options, to: Language): number {
  const { source, positional, language } = readScript(options);
  const text = translate(source, to, { positional, named: options.named, language });
  if (options.output === undefined) print(text);
  else {
    const { output } = options;
    during(
      () => attempts().writeTo(output),
      () => writeFileSync(output, text),
    );
  }
  return 0;
}
