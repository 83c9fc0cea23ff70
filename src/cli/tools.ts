// `strobe opens`: the scripts and programs of `tools/`, by their names.
import { parseScript } from "../api/compile.ts";
import type { Source } from "../language/diagnostic.ts";
import type { ScriptOption } from "../language/program.ts";
import { languageOf } from "../language/registry.ts";
import { print } from "./files.ts";
import type { Tool } from "./words-of.ts";
import { ownPath, ownText, toolFiles } from "./own-files.ts";
import { aboutProgram, aboutText, optionLines } from "./script-help.ts";

export interface FoundTool {
  readonly name: string;
  /** `program`: in TypeScript, for `strobe run`. */
  readonly kind: "script" | "program";
  readonly path: string;
  readonly text: string;
}

export function findTool(name: string): FoundTool | undefined {
  return allTools().find((tool) => tool.name === name);
}

export function toolNames(): readonly string[] {
  return allTools().map(({ name }) => name);
}

/** In alphabetical order. */
function allTools(): readonly FoundTool[] {
  return toolFiles().flatMap((file) => {
    const [, name, ending] = /^([a-z-]+)\.(bt|ts)$/.exec(file) ?? [];
    if (name === undefined) return [];
    const path = `tools/${file}`;
    return [
      { name, kind: ending === "bt" ? "script" : "program", path: ownPath(path), text: ownText(path) ?? "" } as const,
    ];
  });
}

/** A script, and what it asks for. */
export function openTool({ name, text }: FoundTool): Tool {
  return { source: { name, text }, options: optionsOf({ name, text }) };
}

function optionsOf(source: Source): readonly ScriptOption[] {
  return parseScript(source, { positional: [] }, languageOf(`${source.name}.bt`, source.text)).program.options ?? [];
}

/** `strobe tools`. */
export function listTools(): number {
  const tools = allTools();
  const width = Math.max(0, ...tools.map(({ name }) => name.length));
  const lines = tools.map((tool) => `${tool.name.padEnd(width)}  ${question(tool)}\n`);
  print(`${lines.join("")}\nstrobe NAME runs one, strobe NAME --help says more.\n`);
  return 0;
}

/** What stands behind the name in the first line of its comment. */
function question({ text }: FoundTool): string {
  return aboutText(text)[0].replace(/^[a-z-]+: /, "");
}

/** `strobe NAME --help`: a script's first comment, and its options. */
export function toolHelp(tool: FoundTool): string {
  const about = aboutProgram(tool.text);
  const options = optionsOf({ name: tool.name, text: tool.text });
  const own = options.length === 0 ? "" : `\nOptions of its own:\n${optionLines(options)}`;
  return `${about}${own}\nstrobe's options (strobe -h) work as for any script: -p, -c, --for, -f, -o and the others.\n`;
}
