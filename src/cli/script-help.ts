// What `--help` says of scripts and programs: their first comment, and their options.
import type { ScriptOption } from "../language/program.ts";

/** What a script tells of its own options, for `-- --help`. */
export function scriptHelp(name: string, options: readonly ScriptOption[]): string {
  if (options.length === 0) return `${name} asks for no options.\n`;
  return `What ${name} asks for, behind a lone --:\n${optionLines(options)}`;
}

/** A line for each. */
export function optionLines(options: readonly ScriptOption[]): string {
  const forms = options.map(
    ({ name: option, takes }) => `  --${option}${takes === "number" ? "=NUMBER" : takes === "text" ? "=TEXT" : ""}`,
  );
  const width = Math.max(...forms.map((form) => form.length));
  const lines = options.map(({ description, fallback, takes }, i) => {
    const otherwise = fallback === "" || (takes === "truth" && fallback === "false") ? "" : `${fallback} unless given`;
    return `${forms[i].padEnd(width)}  ${[description, otherwise].filter((part) => part !== undefined && part !== "").join("; ")}`.trimEnd();
  });
  return `${lines.join("\n")}\n`;
}

/** The first comment of a script or program, for who asks on a command line. */
export function aboutProgram(text: string): string {
  const lines = aboutText(text).map((line) =>
    line.replaceAll(/strobe (?:run )?tools\/([a-z-]+)\.(?:bt|ts)(?: --(?= ))?/g, "strobe $1").trimEnd(),
  );
  return `${columns(lines).join("\n")}\n`;
}

/** Command lines with what they do, one below the other. */
function columns(lines: readonly string[]): readonly string[] {
  const parts = lines.map((line) => /^( {2}strobe .*?) {2,}(\S.*)$/.exec(line));
  const width = Math.max(...parts.map((part) => part?.[1].length ?? 0));
  return lines.map((line, i) => {
    const part = parts[i];
    return part === null ? line : `${part[1].padEnd(width)}  ${part[2]}`;
  });
}

/** The lines of the first comment. */
export function aboutText(text: string): readonly string[] {
  const lines = text.split("\n").filter((line) => !line.startsWith("#!"));
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, ""));
}
