// The command. What runs a script is here; each of the other branches imports its own.
import { writeFileSync } from "node:fs";
import { version } from "../../package.json";
import { print, tell } from "./files.ts";
import { run } from "./run.ts";
import { readOptions, type Options } from "./options.ts";
import { commandLine } from "../messages/on-demand.ts";
import { UsageError } from "./usage-error.ts";
import { subcommands } from "./subcommands.ts";
import { wordsOf } from "./words-of.ts";
import { lazy } from "../base/lazy.ts";

const warming = lazy<typeof import("./warm-up.ts")>(() => require("./warm-up.ts"));
const descriptions = lazy<typeof import("../machine/values/descriptions.ts")>(() =>
  require("../machine/values/descriptions.ts"),
);

// Loaded for what may be a tool's name.
const tools = lazy<typeof import("./tools.ts")>(() => require("./tools.ts"));

// Loaded for the first error.
const errors = lazy<typeof import("./errors.ts")>(() => require("./errors.ts"));

export { exitNow } from "../linux/ffi.ts";

export interface Outcome {
  readonly exitCode: number;
  /** A script ran to its end. */
  readonly traced: boolean;
}

/** See warm-up.ts. */
export function warmUp(): Promise<void> {
  return warming().warmUp();
}

/**
 * Runs a command line to its end. Never throws: errors are written to standard error. `build` is another for every
 * change of strobe's code; without one no plan is kept.
 */
export async function main(argv: readonly string[], build?: string): Promise<Outcome> {
  try {
    return await carryOut(argv, build);
  } catch (error) {
    return { exitCode: await report(error, argv), traced: false };
  }
}

/** As main(), but what goes wrong is thrown. */
export async function carryOut(given: readonly string[], build?: string): Promise<Outcome> {
  const argv = nameFirst(given);
  const [word, ...rest] = argv;
  if (word?.endsWith(".strobe")) return { exitCode: await (await import("./replay.ts")).replay(argv), traced: false };
  if (word === "complete")
    return { exitCode: (await import("./completion.ts")).complete(rest, Object.keys(subcommands)), traced: false };
  // stap's are its own; -h is DTrace's for a header.
  const helps = word === "stap" ? [] : word === "dtrace" ? ["--help"] : ["--help", "-h"];
  if (Object.hasOwn(subcommands, word ?? "") && helps.includes(rest[0]))
    return { exitCode: write((await import("./help.ts")).subcommandHelp(subcommands[word])), traced: false };
  const known = Object.hasOwn(subcommands, word ?? "") ? await subcommands[word].run(rest) : undefined;
  if (typeof known === "number") return { exitCode: known, traced: false };
  const tool = known === undefined && isToolName(word) ? tools().findTool(word) : undefined;
  if (tool?.kind === "program")
    return { exitCode: await (await import("./run-program.ts")).runProgram([tool.path, ...rest]), traced: false };
  const options = known ?? (tool === undefined ? readOptions(argv) : readOptions(rest, tools().openTool(tool)));
  if (tool !== undefined && options.help) return { exitCode: write(tools().toolHelp(tool)), traced: false };
  nameThread(word === "dtrace" ? word : "strobe");
  // What is wrong with them is said at once.
  if (options.types !== undefined) descriptions().readDescriptions(options.types);
  const exitCode = await dispatch(options, build);
  return { exitCode, traced: exitCode === 0 && traces(options) };
}

/** `strobe -q opens` as `strobe opens -q`: options before the name of a subcommand or a tool are its own. */
export function nameFirst(argv: readonly string[]): readonly string[] {
  const [first = ""] = argv;
  if (!first.startsWith("-")) return argv;
  const at = firstPlainWord(argv);
  if (at === undefined || !isToolName(argv[at])) return argv;
  if (!Object.hasOwn(subcommands, argv[at]) && tools().findTool(argv[at]) === undefined) return argv;
  return [argv[at], ...argv.slice(0, at), ...argv.slice(at + 1)];
}

/** Where what is to be run stands, if no option before it says so. What is wrong with an option is said when it is read. */
function firstPlainWord(argv: readonly string[]): number | undefined {
  try {
    for (const word of wordsOf(argv)) {
      if (word.kind === "plain") return word.at;
      if (word.kind !== "flag" || ["execute", "sql", "list", "recording"].includes(word.name)) return undefined;
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
  }
  return undefined;
}

/** `opens`: what has neither an ending nor a folder. A file of that name is `./opens`. */
function isToolName(word: string | undefined): word is string {
  return word !== undefined && /^[a-z][a-z-]*$/.test(word);
}

/**
 * So that scripts know strobe's own doings by `comm`, not those of a Node. (process.title would take the arguments away
 * from ps.) Scripts in D leave out what calls itself dtrace.
 */
function nameThread(name: string): void {
  try {
    writeFileSync("/proc/self/comm", name);
  } catch {
    // Without /proc it stays "node".
  }
}

/** Whether these options run a script. */
function traces({ help, version, fmt, info, list, emit, suite, debug }: Options): boolean {
  return !(help || version || fmt || info || list || emit || suite) && debug.every((stage) => stage === "verifier");
}

async function dispatch(options: Options, build: string | undefined): Promise<number> {
  if (options.help) return write((await import("./help.ts")).helpText(subcommands));
  if (options.version) return write(`strobe v${version}\n`);
  if (options.fmt) {
    const { readScript } = await import("./script.ts");
    const { source, language } = readScript(options, false);
    return (await import("./format.ts")).formatText(source, language);
  }
  if (options.info) return (await import("./info.ts")).info();
  // `strobe -q run.strobe -e …` as `strobe run.strobe -q -e …`.
  const [first, ...words] = options.words;
  if (first?.endsWith(".strobe")) return (await import("./replay.ts")).replayFile(first, { ...options, words });
  if (options.recording !== undefined) return (await import("./replay.ts")).replayFile(options.recording, options);
  if (options.from !== undefined || options.to !== undefined) throw new UsageError(commandLine().timesOfRecordings());
  if (options.list) return (await import("./list.ts")).list(options);
  if (options.suite) return (await import("./suites.ts")).runSuite(options, options.suite);
  if (options.emit) return (await import("./emit.ts")).emit(options, options.emit);
  return run(options, build);
}

function write(text: string): number {
  print(text);
  return 0;
}

/** Anything thrown, as a message and an exit code. */
async function report(error: unknown, argv: readonly string[]): Promise<number> {
  if (error instanceof UsageError) {
    const [word] = argv;
    const helps = isToolName(word) && tools().findTool(word) !== undefined ? `${word} --help` : "-h";
    tell(`strobe: ${error.message}\n(strobe ${helps} shows the options)\n`);
    return 1;
  }
  process.stderr.write(
    errors().errorText(
      error,
      argv.some((word) => word === "--verbose" || /^-[a-z]*v$/.test(word)),
    ),
  );
  return 1;
}
