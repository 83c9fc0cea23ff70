// Scripts as files.
import { says, type Message, type Shown } from "./message.ts";

export const scripts = {
  /** Only on the command line: `strobe -e 'begin { }' -- --all`. */
  scriptAsksNoOption: (name: Shown, value: Shown, hinted: unknown): Message =>
    says(
      "name",
      `the script has no option --${name}`,
      hinted ? "it has no getopt(): parameters without dashes are $1, $2, …" : `it asks for ${value}`,
    ),
  /** Only of TypeScript files whose types are stripped. */
  fileNestedTooDeeplyTypes: (): Message =>
    says(
      "limit",
      "this file is nested too deeply to have its types stripped",
      "divide what is nested, or compile the file before (tsx, esbuild)",
    ),
};
