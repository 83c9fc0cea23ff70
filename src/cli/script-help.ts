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
    const otherwise = takes === "truth" && fallback === "false" ? "" : `${fallback} unless given`;
    return `${forms[i].padEnd(width)}  ${[description, otherwise].filter((part) => part !== undefined && part !== "").join("; ")}`.trimEnd();
  });
  return `${lines.join("\n")}\n`;
}
