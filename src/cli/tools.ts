// `strobe opens`: the scripts and programs of `tools/`, by their names.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseScript } from "../api/compile.ts";
import type { Source } from "../language/diagnostic.ts";
import type { ScriptOption } from "../language/program.ts";
import { languageOf } from "../language/registry.ts";
import { print } from "./files.ts";
import type { Tool } from "./options.ts";
import { optionLines } from "./script-help.ts";

/** The texts of the scripts by their files' names, where they are part of the command's own file (single/build.mjs). */
declare const TOOLS: Readonly<Record<string, string>> | undefined;

export interface FoundTool {
  readonly name: string;
  /** `program`: in TypeScript, for `strobe run`. */
  readonly kind: "script" | "program";
  readonly path: string;
  readonly text: string;
}

/** Beside the folder that the command's files are in. */
const folder = (): string => join(dirname(import.meta.url), "..", "tools");

export function findTool(name: string): FoundTool | undefined {
  return allTools().find((tool) => tool.name === name);
}

export function toolNames(): readonly string[] {
  return allTools().map(({ name }) => name);
}

/** In alphabetical order. */
function allTools(): readonly FoundTool[] {
  return fileNames().flatMap((file) => {
    const [, name, ending] = /^([a-z-]+)\.(bt|ts)$/.exec(file) ?? [];
    if (name === undefined) return [];
    return [{ name, kind: ending === "bt" ? "script" : "program", path: join(folder(), file), text: textOf(file) }];
  });
}

function fileNames(): readonly string[] {
  if (typeof TOOLS !== "undefined") return Object.keys(TOOLS).sort();
  try {
    return readdirSync(folder()).sort();
  } catch (error) {
    // Installed without them.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function textOf(file: string): string {
  return typeof TOOLS === "undefined" ? readFileSync(join(folder(), file), "utf8") : TOOLS[file];
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
  const about = columns(
    aboutText(tool.text).map((line) =>
      line.replaceAll(/strobe (?:run )?tools\/([a-z-]+)\.(?:bt|ts)(?: --(?= ))?/g, "strobe $1").trimEnd(),
    ),
  ).join("\n");
  const options = optionsOf({ name: tool.name, text: tool.text });
  const own = options.length === 0 ? "" : `\nOptions of its own:\n${optionLines(options)}`;
  return `${about}\n${own}\nstrobe's options (strobe -h) work as for any script: -p, -c, --for, -f, -o and the others.\n`;
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

function aboutText(text: string): readonly string[] {
  const lines = text.split("\n").filter((line) => !line.startsWith("#!"));
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, ""));
}
