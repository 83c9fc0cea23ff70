// `strobe dtrace …`: DTrace's options as strobe's. What has no meaning here is said, and the script runs all the same.
import { accessSync, constants, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { lazy } from "../base/lazy.ts";
import { findProgram, programOf } from "../linux/processes/child.ts";
import { isProcess } from "../linux/processes/procfs.ts";
import type { Source } from "../language/diagnostic.ts";
import type { SourcePart } from "../language/source-parts.ts";
import { openOutput, print, tell } from "./files.ts";
import { defaultOptions, readOption } from "../language/d/options.ts";
import { readOptions, type Options } from "./options.ts";
import { DtraceVoice, type DtraceProgram } from "./dtrace-voice.ts";
import { dCommandReasons } from "../messages/d-command.ts";
import { RunError } from "../base/run-error.ts";

// Loaded for -L.
const libraries = lazy<typeof import("./dtrace-libraries.ts")>(() => require("./dtrace-libraries.ts"));

// Loaded for -C.
const preprocess = lazy<typeof import("./dtrace-preprocess.ts")>(() => require("./dtrace-preprocess.ts"));

/** With a value, or without. */
const valued = "bcDfiILmnopPsUxX";
const plain = "aABCeFGhHlqSvVwZ";

const usage = `Usage: dtrace [-CeFhHlqSvVwZ] [-b bufsz] [-c cmd] [-D name[=def]] [-I path] [-L path]
	[-o output] [-p pid] [-s script] [-U name] [-x opt[=val]] [-X a|c|s|t]
	[-P provider [[ predicate ] action ]]
	[-m [ provider: ] module [[ predicate ] action ]]
	[-f [[ provider: ] module: ] func [[ predicate ] action ]]
	[-n [[[ provider: ] module: ] func: ] name [[ predicate ] action ]]
	[-i probe-id [[ predicate ] action ]] [ args ... ]
`;

/** What a letter's description lacks at its right, so that all have four parts. */
const rest: Readonly<Record<string, readonly [most: number, behind: string]>> = {
  P: [1, ":::"],
  m: [2, "::"],
  f: [3, ":"],
  n: [4, ""],
};

/** A command line that makes no sense: said, with the usage, and the exit status is 2. */
class Unusable extends RunError {}

/** An option that does not exist, or a value that it does not take: said, and the exit status is 1. */
class Unsettable extends RunError {}

/** Gives the exit status, or what to run. */
export async function dtraceOptions(argv: readonly string[]): Promise<number | Options> {
  try {
    return await read(argv);
  } catch (error) {
    if (error instanceof Unsettable) {
      tell(`dtrace: ${error.message}\n`);
      return 1;
    }
    if (!(error instanceof Unusable)) throw error;
    tell(error.message === "" ? usage : `dtrace: ${error.message}\n${usage}`);
    return 2;
  }
}

async function read(argv: readonly string[]): Promise<number | Options> {
  const programs: DtraceProgram[] = [];
  const words: string[] = [];
  const settings = environment();
  const definitions = new Map<string, string>();
  const undefinitions: string[] = [];
  const includes: string[] = [];
  const folders: string[] = [];
  const flags = new Set<string>();
  const ours: string[] = ["--lang", "d"];
  let output: string | undefined;
  /** What letters say is looked at when all of them have been read. */
  const later: (readonly [letter: string, value: string])[] = [];

  const take = (letter: string, value: string): void => {
    switch (letter) {
      case "n":
      case "P":
      case "m":
      case "f":
      case "i":
        programs.push({ letter, name: value, text: value });
        return;
      case "s":
        programs.push({ letter, name: value, text: "" });
        return;
      case "x":
        setting(settings, value);
        if (value.startsWith("define=")) take("D", value.slice(7));
        if (value.startsWith("undef=")) take("U", value.slice(6));
        if (value.startsWith("incdir=")) take("I", value.slice(7));
        return;
      case "b":
        if (readOption({ name: "bufsize", value, span: { start: 0, end: 0 } }, defaultOptions()) === "invalid")
          throw new Unsettable(dCommandReasons.optionValue(`-b ${value}`));
        settings.set("bufsize", value);
        return;
      case "D":
        definitions.set(value.split("=", 1)[0], value.includes("=") ? value.slice(value.indexOf("=") + 1) : "1");
        return;
      case "U":
        definitions.delete(value);
        undefinitions.push(value);
        return;
      case "X":
        if (!/^[acst]$/.test(value)) throw new Unsettable(dCommandReasons.optionValue(`-X ${value}`));
        settings.set("stdc", value);
        return;
      case "I":
        includes.push(value);
        return;
      case "c":
        if (!canRun(value)) throw new Unsettable(dCommandReasons.noProcess());
        ours.push("-c", value);
        return;
      case "p":
        if (!/^-?\d+$/.test(value)) throw new Unsettable(dCommandReasons.invalidPid(value));
        if (!isProcess(Number(value))) throw new Unsettable(dCommandReasons.noProcess());
        ours.push("--target", value);
        return;
      case "o":
        output = value;
        return;
      case "L":
        folders.push(value);
        return;
      default:
        return;
    }
  };

  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === "--") {
      words.push(...argv.slice(at + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    if (word === "-32" || word === "-64") continue;
    if (/^-\d\d/.test(word)) throw new Unusable(dCommandReasons.illegalLetters(word.slice(1)));
    for (let i = 1; i < word.length; i++) {
      const letter = word[i];
      if (valued.includes(letter)) {
        const value = i + 1 < word.length ? word.slice(i + 1) : argv[++at];
        if (value === undefined) throw new Unusable(dCommandReasons.needsArgument(letter));
        later.push([letter, value]);
        break;
      }
      if (!plain.includes(letter)) throw new Unusable(dCommandReasons.unknownLetter(letter));
      flags.add(letter);
    }
  }
  if (flags.has("V")) {
    print("dtrace: D 2.0.7\n");
    return 0;
  }
  if (argv.length === 0) throw new Unusable(dCommandReasons.nothing());
  for (const [letter, value] of later) take(letter, value);
  const refused = [...flags].find((letter) => "Gh".includes(letter));
  if (refused !== undefined) throw new Unsettable(dCommandReasons.notSupported(refused));
  settings.set("command", programs.find(({ letter }) => letter === "s")?.name ?? "dtrace");
  // `$pgid` and `$sid`.
  const [, pgid = "0", sid = "0"] = /^.*\) \S+ \d+ (\d+) (\d+)/s.exec(readFileSync("/proc/self/stat", "latin1")) ?? [];
  settings.set("pgid", pgid);
  settings.set("sid", sid);
  // So that tests of scripts print the same on any CPU.
  if (process.env["_DTRACE_TESTING"] !== undefined) settings.set("blankids", "");
  if (flags.has("Z")) settings.set("zdefs", "");
  if (flags.has("C")) settings.set("cpp", "");
  if (flags.has("q")) settings.set("quiet", "");
  if (flags.has("F")) settings.set("flowindent", "");
  if (flags.has("w")) settings.set("destructive", "");
  for (const { letter, text } of programs) {
    const [most, ,] = rest[letter] ?? [4, ""];
    const [description] = text.split(/[{/]/, 1);
    if (description.split(":").length > most && letter !== "n")
      throw new Unsettable(dCommandReasons.overspecified(text, description.trim()));
  }
  if (programs.length === 0 && !flags.has("l")) throw new Unsettable(dCommandReasons.noProbes());
  for (const program of programs) if (program.letter === "i" && !(await identified(program))) return 1;
  const byC = (text: string, name: string): string =>
    preprocess().preprocessedByC(text, name, {
      definitions,
      undefined: undefinitions,
      folders: includes,
      standard: settings.get("stdc") ?? "a",
      path: settings.get("cpppath") ?? "cpp",
      args: settings.get("cppargs")?.split(" ") ?? [],
      names: flags.has("H") || settings.has("cpphdrs"),
    });
  if (folders.length > 0 && !withLibraries(programs, folders)) return 1;
  const source = joined(programs, settings.has("cpp") ? byC : undefined);
  if (source === undefined) return 1;
  if (output !== undefined && !flags.has("e") && !isWritable(output)) return 1;
  const options = readOptions([...ours, ...(output === undefined ? [] : ["-o", output]), "--", ...words]);
  const voice = new DtraceVoice(programs, settings, flags);
  if (flags.has("l")) {
    const file = output;
    const into = file === undefined ? print : (text: string): void => writeFileSync(openOutput(file, true), text);
    const { listDtrace } = await import("./dtrace-list.ts");
    const asked = { command: options.command, target: options.target, languageSettings: settings };
    return listDtrace(programs, (...mistakes) => voice.wrong(...mistakes), asked, flags.has("v"), into);
  }
  return {
    ...options,
    script: source,
    headers: { folders: includes, files: [] },
    settings,
    // They are the preprocessor's, which only files go through.
    definitions: settings.has("cpp") && programs.some(({ letter }) => letter === "s") ? definitions : new Map(),
    voice,
    // It says itself what was matched.
    announces: false,
    appends: true,
    switches: {
      ...options.switches,
      ...(settings.has("destructive") || isDestructive(source) ? { unsafe: true } : {}),
    },
  };
}

/** `DTRACE_OPT_STRSIZE=5`; what is none is left alone, as an option of the compiler is, which takes no value. */
function environment(): Map<string, string> {
  return new Map(
    Object.entries(process.env).flatMap(([name, value = ""]) => {
      const [, option = ""] = /^DTRACE_OPT_([A-Z]+)$/.exec(name) ?? [];
      const given = { name: option.toLowerCase(), value, span: { start: 0, end: 0 } };
      const isOption = value !== "" && typeof readOption(given, defaultOptions()) !== "string";
      return isOption ? [[given.name, value] as const] : [];
    }),
  );
}

/** @throws Unsettable */
function setting(settings: Map<string, string>, text: string): void {
  const [, name, value] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const option = { name, ...(value === undefined ? {} : { value }), span: { start: 0, end: 0 } };
  const read = readOption(option, defaultOptions());
  if (read === "unknown") throw new Unsettable(dCommandReasons.unknownOption(name));
  if (read === "invalid") throw new Unsettable(dCommandReasons.optionValue(`-x ${name}`));
  if (name === "version" && value !== "2.0.7") throw new Unsettable(dCommandReasons.noVersion());
  settings.set(name, value ?? "");
}

/** Whether the script says so itself. */
function isDestructive({ text }: Source): boolean {
  return /^[ \t]*#[ \t]*pragma[ \t]+D[ \t]+option[ \t]+destructive[ \t]*$/m.test(text);
}

/** Whether the program of a command is there. */
function canRun(command: string): boolean {
  if (command.trim() === "") return false;
  const program = programOf(command);
  return program === undefined || findProgram(program, process.env["PATH"]?.split(":")) !== undefined;
}

/** Whether the file of -o can be made, which is said where it cannot. */
function isWritable(path: string): boolean {
  try {
    if (!existsSync(path)) accessSync(dirname(path), constants.W_OK);
    return true;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    tell(
      `dtrace: failed to open output file '${path}': ${missing ? "No such file or directory" : "Permission denied"}\n`,
    );
    return false;
  }
}

/** All programs as one text, each a part of it that goes by its name. undefined: one cannot be read, which is said. */
function joined(
  programs: DtraceProgram[],
  byC: ((text: string, name: string) => string) | undefined,
): Source | undefined {
  let text = "";
  const parts: SourcePart[] = [];
  for (const program of programs) {
    if (program.letter === "s") {
      try {
        program.text = readFileSync(openSync(program.name, "r"), "utf8");
      } catch (error) {
        const isFolder = (error as NodeJS.ErrnoException).code === "EISDIR";
        const why = isFolder
          ? `failed to compile script ${program.name}: Error occurred while reading from input stream`
          : `failed to open ${program.name}: No such file or directory`;
        tell(`dtrace: ${why}\n`);
        return undefined;
      }
      try {
        program.text = byC?.(program.text, program.name) ?? program.text;
      } catch (error) {
        if (!(error instanceof preprocess().PreprocessingError)) throw error;
        tell(`dtrace: failed to compile script ${program.name}: ${error.message}\n`);
        return undefined;
      }
    } else if (program.letter !== "L") program.text = described(program);
    program.start = text.length;
    parts.push({ name: program.name, start: text.length });
    text += `${program.text}\n`;
  }
  return { name: programs[0]?.name ?? "dtrace", text, parts };
}

/** The folders' libraries in front of the programs; false: one of them lacks another, which is said. */
function withLibraries(programs: DtraceProgram[], folders: readonly string[]): boolean {
  const [{ letter, name }] = programs;
  try {
    programs.unshift(...folders.flatMap((folder) => libraries().librariesIn(folder)));
    return true;
  } catch (error) {
    if (!(error instanceof libraries().LibraryError)) throw error;
    const what = letter === "s" ? `failed to compile script ${name}` : `invalid probe specifier ${name}`;
    tell(`dtrace: ${what}: ${error.message}\n`);
    return false;
  }
}

/** The probes' descriptions instead of their ids; false: there is no such probe, which is said. */
async function identified(program: DtraceProgram): Promise<boolean> {
  const [, description = "", behind] = /^([^{/]*)([^]*)$/.exec(program.text) ?? [];
  const { probeOfId } = await import("./dtrace-list.ts");
  const ids = description.trim() === "" ? [] : description.trim().split(/\s*,\s*/);
  const found: string[] = [];
  for (const id of ids) {
    const isNumber = /^(?:0x[0-9a-f]+|\d+)$/i.test(id);
    // What is no number is the name of a probe, behind a number in front.
    const probe = isNumber ? probeOfId(/^0[0-7]+$/.test(id) ? Number.parseInt(id, 8) : Number(id)) : idless(id);
    if (probe === undefined) {
      tell(
        `dtrace: invalid probe specifier ${program.name}: invalid probe identifier ${id}: Unknown probe identifier\n`,
      );
      return false;
    }
    found.push(probe);
  }
  program.text = found.length === 0 ? program.text : `${found.join(", ")} ${behind}`;
  return true;
}

function idless(text: string): string {
  return text.includes(":") ? text : text.replace(/^\d+/, "");
}

/** A description of four parts in front of the predicate and the body. */
function described({ letter, text }: DtraceProgram): string {
  const [, description, behind] = /^([^{/]*)([^]*)$/.exec(text) ?? [];
  const own = description.trim();
  // A program of nothing, or none that begins so.
  if (own === "") return text;
  // The default action.
  const closed = behind === "" ? "{}" : "";
  if (letter === "i") return `${own} ${behind}${closed}`;
  const [most, right] = rest[letter];
  const given = own.split(":").length;
  const left = letter === "n" || given >= most ? "" : ":".repeat(most - given);
  return `${left}${own}${right} ${behind}${closed}`;
}
