// Command lines of programs in TypeScript: their own options beside those of strobe's that say what is traced, with the
// same words and the same errors as those of scripts.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { startDryRun } from "../api/dry-run.ts";
import type { ProbeOptions } from "../api/probe-trace.ts";
import { lazy } from "../base/lazy.ts";
import type { ScriptOption } from "../language/program.ts";
import { commandLine } from "../messages/on-demand.ts";
import { programOptionMessages as messages } from "../messages/program-options.ts";
import type { FlagName } from "./flags.ts";
import type { Options } from "./options.ts";
import { UsageError } from "./usage-error.ts";

// Loaded by programs that have options.
const options = lazy<typeof import("./options.ts")>(() => require("./options.ts"));
const table = lazy<typeof import("./flags.ts")>(() => require("./flags.ts"));
const values = lazy<typeof import("./option-values.ts")>(() => require("./option-values.ts"));
const quantities = lazy<typeof import("./quantities.ts")>(() => require("./quantities.ts"));
const scriptHelp = lazy<typeof import("./script-help.ts")>(() => require("./script-help.ts"));
const flagHelp = lazy<typeof import("./help.ts")>(() => require("./help.ts"));

/** An option of a program's own. */
export interface ProgramOption {
  /** What it is where it is not given, and of which type: a switch is `false`. Without one it is text, or absent. */
  readonly fallback?: string | number | boolean;
  /** The texts that it takes, and no others. */
  readonly choices?: readonly string[];
  /** It is a time ("1s", "500ms", "5m"), given as milliseconds. */
  readonly time?: boolean;
  /** A line for the help. */
  readonly about: string;
}

/** What an option's value is. */
type ValueOf<O extends ProgramOption> = O extends { readonly time: true }
  ? O extends { readonly fallback: string }
    ? number
    : number | undefined
  : O extends { readonly choices: readonly (infer Choice)[] }
    ? O extends { readonly fallback: string }
      ? Choice
      : Choice | undefined
    : O extends { readonly fallback: number }
      ? number
      : O extends { readonly fallback: boolean }
        ? boolean
        : O extends { readonly fallback: string }
          ? string
          : string | undefined;

export interface ProgramOptions<Own extends Readonly<Record<string, ProgramOption>>> {
  /** By the option's name. */
  readonly values: { readonly [Name in keyof Own]: ValueOf<Own[Name]> };
  /** Words that are no options, where the program takes some; a command's. */
  readonly words: readonly string[];
  /** What strobe's options said, for trace(): processes, a command, a time to run, … */
  readonly tracing: ProbeOptions;
  /** -o, where the program takes it. */
  readonly output: string | undefined;
  /** --top, where the program takes it. */
  readonly top: number | undefined;
  /** Ends the program with what is wrong with its command line. */
  readonly refuse: (message: string) => never;
}

export interface ProgramTakes {
  /**
   * Which processes it can be asked to trace: "any" by all of strobe's options; "one" that runs (-p) or is started (-c);
   * "command": only one that it starts. The words behind the options of the latter two are a command. "any" unless given.
   */
  readonly processes?: "any" | "one" | "command";
  /** Words that are no options. */
  readonly words?: boolean;
  /** Writes to the file of -o. */
  readonly output?: boolean;
  /** Shows so many rows as --top says. */
  readonly top?: boolean;
}

const everywhere: readonly FlagName[] = [
  "duration",
  "engine",
  "maxOverhead",
  "unsafe",
  "warnings",
  "vmlinux",
  "debuginfo",
  "types",
  "dryRun",
  "help",
  "quiet",
];
const ofProcesses: Readonly<Record<NonNullable<ProgramTakes["processes"]>, readonly FlagName[]>> = {
  any: ["pid", "comm", "user", "cgroup", "follow", "command"],
  one: ["pid", "command"],
  command: [],
};

/**
 * Reads the program's command line (`process.argv`): its own options, by name, and those of strobe's that it takes. What
 * is wrong with it is written to standard error, and the process ends with 1; --help is answered with the first comment
 * of the program's file and its options.
 */
export function programOptions<const Own extends Readonly<Record<string, ProgramOption>>>(
  own: Own,
  takes: ProgramTakes = {},
): ProgramOptions<Own> {
  try {
    return read(own, takes);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return refuse(error.message);
  }
}

function refuse(message: string): never {
  process.stderr.write(`strobe: ${message}\n(--help shows the options)\n`);
  process.exit(1);
}

/** As who started it knows it. */
function name(): string {
  return basename(process.argv[1] ?? "").replace(/\.[cm]?[jt]s$/, "");
}

function read<Own extends Readonly<Record<string, ProgramOption>>>(own: Own, takes: ProgramTakes): ProgramOptions<Own> {
  const { processes = "any" } = takes;
  const isCommand = processes !== "any";
  const ownOptions = asScriptOptions(own);
  const given = options().readOptions(process.argv.slice(2), {
    source: { name: name(), text: "" },
    options: ownOptions,
    endsAtWord: isCommand,
  });
  const taken = [
    ...ofProcesses[processes],
    ...everywhere,
    ...(takes.output === true ? (["output"] as const) : []),
    ...(takes.top === true ? (["top"] as const) : []),
  ];
  // Behind a lone --.
  const unknown = [...given.named.keys()].find((option) => !Object.hasOwn(own, option));
  if (unknown !== undefined) throw new UsageError(commandLine().unknownOption(`--${unknown}`, undefined));
  const refused = [...given.given].find((flag) => !taken.includes(flag));
  if (refused !== undefined) throw new UsageError(messages.takesNo(name(), table().flagText(refused)));
  if (given.help) {
    process.stdout.write(helpText(ownOptions, taken));
    process.exit(0);
  }
  const { words } = given;
  if (words.length > 0 && !isCommand && takes.words !== true)
    throw new UsageError(messages.takesNoWords(name(), words[0]));
  if (given.dryRun) startDryRun({ print: (text) => process.stdout.write(text), ended: () => process.exit(0) });
  return {
    values: Object.fromEntries(
      Object.entries(own).map(([option, one]) => [option, valueOf(option, one, given.named.get(option))]),
    ) as ProgramOptions<Own>["values"],
    words,
    tracing: tracingOf(given, isCommand ? words : []),
    output: given.output,
    top: given.top,
    refuse,
  };
}

/** @throws UsageError */
function valueOf(
  option: string,
  { fallback, choices, time }: ProgramOption,
  given: string | true | undefined,
): string | number | boolean | undefined {
  if (typeof fallback === "boolean") {
    if (given === undefined || given === true) return given ?? fallback;
    return values().oneOf(`--${option}`, given, ["true", "false"]) === "true";
  }
  if (given === true) throw new UsageError(commandLine().needsValue(`--${option}`));
  const text = given ?? fallback;
  if (text === undefined) return undefined;
  if (time === true) return quantities().readDuration(`--${option}`, String(text)) / 1e6;
  if (choices !== undefined) return values().oneOf(`--${option}`, String(text), choices);
  if (typeof fallback !== "number") return text;
  if (!/^-?\d+(?:\.\d+)?$/.test(String(text))) throw new UsageError(messages.noNumber(option, String(text)));
  return Number(text);
}

function tracingOf(
  { pid, only, command, duration, maxOverhead, engine, vmlinux, debuginfo, types, switches }: Options,
  words: readonly string[],
): ProbeOptions {
  if (words.length > 0 && (pid !== undefined || command !== undefined))
    throw new UsageError(messages.wordsAreCommand(words[0], pid === undefined ? "-c" : "-p"));
  const said = {
    pid,
    only,
    command: words.length === 0 ? command : words.map(quoted).join(" "),
    duration,
    maxOverhead,
    engine,
    vmlinux,
    debuginfo,
    types,
    ...switches,
  };
  // What was not said takes nothing away from what the program has beside it: { command: "ls", ...tracing }.
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** For a shell, as one word. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function helpText(own: readonly ScriptOption[], taken: readonly FlagName[]): string {
  const { aboutProgram, optionLines } = scriptHelp();
  const { flags } = table();
  const ownText = own.length === 0 ? "" : `\nOptions of its own:\n${optionLines(own)}`;
  const about = aboutProgram(readFileSync(process.argv[1], "utf8"));
  return `${about}${ownText}\nOf strobe's options:\n${flagHelp().flagLines(taken.map((flag) => flags[flag]))}`;
}

/** As those of scripts are told. */
function asScriptOptions(own: Readonly<Record<string, ProgramOption>>): readonly ScriptOption[] {
  return Object.entries(own).map(([name, { fallback, choices, about }]) => ({
    name,
    takes: typeof fallback === "boolean" ? "truth" : typeof fallback === "number" ? "number" : "text",
    fallback: String(fallback ?? ""),
    description: choices === undefined ? about : `${about}: ${choices.join(", ")}`,
  }));
}
