// `strobe run FILE`: starts what runs beside the library, which the command, one file for speed, is no part of.
// (launch.ts does it by itself where the command line has nothing wrong.)
import { commands } from "../messages/commands.ts";
import { UsageError } from "./usage-error.ts";
import { isProgram } from "../language/typescript/endings.ts";

type Entry = typeof import("./run-file.ts");

/** What starts the command gives it: see parts.ts. */
declare const importModule: (name: string) => Promise<unknown>;

/** Ends as the program ends: the process has its exit code then, so this never resolves. */
export async function runProgram([first, ...rest]: readonly string[]): Promise<number> {
  const dry = first === "--dry-run";
  const [file, ...args] = dry ? rest : [first, ...rest];
  if (file === undefined) throw new UsageError(commands.nothingToRun());
  if (file.startsWith("-")) throw new UsageError(commands.runHasNoOption(file));
  if (!isProgram(file)) throw new UsageError(commands.runTakesProgram(file));
  const { runFile } = (await importModule("run-file.mjs")) as Entry;
  return runFile(file, args, dry);
}
