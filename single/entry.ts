// What starts in the single file: the command, from V8's compiled code for it, as src/cli/launch.ts does it from files.
// (A snapshot of the heap has no compiled code in it, and starts later.)
import { writeFileSync } from "node:fs";
import { Parts } from "../src/cli/parts.ts";
import { isProgram } from "../src/language/typescript/endings.ts";
import { asset, requireAsset } from "./assets.ts";
import { importUnpacked, unpackedTool } from "./unpack.ts";

/**
 * The folder that compiled code is to be written to: in the file that is made to make it, else empty. build.mjs knows.
 */
declare const KEEP: string;
/** The parts by their contents. */
declare const BUILD: string;
/** Tools in TypeScript, by their files' names. */
declare const PROGRAMS: readonly string[];

async function startCommand(): Promise<void> {
  const parts = new Parts(
    (name) => ({
      // esbuild writes ASCII only, which is read fastest as what it is.
      source: asset(`${name}.js`).toString("latin1"),
      filename: process.execPath,
      folder: "/",
      compiled: KEEP === "" ? asset(`${name}.cache`) : undefined,
    }),
    requireAsset,
    importUnpacked,
  );
  const { exitNow, main, nameFirst } = parts.command;
  const [name, ...args] = nameFirst(words);
  if (PROGRAMS.includes(`${name}.ts`)) return startProgram(unpackedTool(`${name}.ts`), args);
  const { exitCode, traced } = await main(words, BUILD);
  if (KEEP !== "") await parts.keep((name, compiled) => writeFileSync(`${KEEP}/${name}.cache`, compiled));
  else if (traced) exitNow(exitCode);
  process.exit(exitCode);
}

async function startProgram(file: string, args: readonly string[]): Promise<void> {
  const { runFile } = (await importUnpacked("run-file.mjs")) as typeof import("../src/cli/run-file.ts");
  await runFile(file, args);
}

const words = process.argv.slice(2);
const [word, file, ...args] = words;
if (word === "run" && file !== undefined && isProgram(file)) void startProgram(file, args);
else if (PROGRAMS.includes(`${word}.ts`)) void startProgram(unpackedTool(`${word}.ts`), words.slice(1));
else void startCommand();
