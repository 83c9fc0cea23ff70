// Scripts as files.
import type { Reason } from "../base/failure.ts";
import { reason, says, type Message, type Shown } from "./message.ts";

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
  /** Only of TypeScript files with more than types in them, as enums are. */
  moreThanTypes: (what: string): Message =>
    says(
      "feature",
      `TypeScript's ${what} is more than a type, and only types are stripped`,
      "write it in JavaScript (an object of constants, fields, modules), or compile the file before (tsx, esbuild)",
    ),
  /** Only of TypeScript files that do not parse: in the words of what strips their types. */
  notStripped: (code: "syntax" | "feature", message: string): Message => says(code, message),
  /** Only of TypeScript files. */
  awaitAsName: (): Message => says("syntax", "await is no name of a variable"),
  /** Only of scripts as files: a header in angle brackets that no folder of the machine has. */
  headerNotFound: (path: string): Message =>
    says("name", `'${path}' file not found`, "-I names the folder that it is in"),
  /** Only of scripts as files. */
  noFileToInclude: (path: string): Message =>
    says(
      "name",
      `there is no file ${path} to include`,
      "paths are relative to the script's folder, or to one that -I names",
    ),
  /** Only of scripts as files. */
  noFileToImport: (path: string): Message =>
    says("name", `unable to find suitable path for import: ${path}`, "paths are relative to the script's folder"),
  /** Only of scripts as files. */
  openFolder: (folder: string): Message =>
    says(
      "name",
      `everybody may write into ${folder}: nothing is imported from there`,
      "take that right away (chmod o-w), or put the file elsewhere",
    ),
  /** Only of scripts as files. */
  writtenInC: (file: string): Message =>
    says(
      "name",
      `${file} is C, which strobe does not compile`,
      "write what it does as functions: fn name($x: int64): int64 { … }",
    ),
  /** Only of scripts as files. */
  neitherScriptNorHeader: (file: string, scriptEndings: readonly string[], headerEndings: readonly string[]): Message =>
    says(
      "name",
      `${file} is neither a script (${scriptEndings.join(", ")}) nor a header (${headerEndings.join(", ")})`,
    ),
  /** Only of scripts as files. */
  configOfImported: (): Message =>
    says("name", "an imported script cannot have a config block", "put it into the script that is run"),
  /** Only of the language server, where it may not see what a script names. */
  hiddenFromServer: (why: Reason): Message =>
    says(
      "feature",
      why,
      "run the language server as root to see everything (in an editor's settings, as the command `sudo strobe lsp`)",
    ),
};

/** Only of the language server, of a machine that shows what it traces to root alone. */
export const scriptReasons = {
  rootAlone: (): Reason => reason("this machine shows it to root alone, so it cannot be checked here"),
};
