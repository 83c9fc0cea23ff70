#!/usr/bin/env node
// The entry. Compiling the command anew would take longer than all that a short script does, so V8's compiled code is kept
// in a file beside the command, for the next start. It is a CommonJS bundle for that, and because Node starts those fastest.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { pathToFileURL } from "node:url";
import { constants, Script } from "node:vm";
import { isProgram } from "./program-name.ts";
import { ownFolder } from "../rewrite/kept-modules.ts";

/** The command's file, named after its contents: build.mjs knows. */
declare const COMMAND: string;

const path = `${__dirname}/${COMMAND}`;
// V8 takes a cache only of its own version and flags; it has no idea of what the code is.
const cachePath = `${path}.${process.version}-${process.arch}.cache`;

type Command = typeof import("./main.ts");

const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (folder: string) => unknown };

function compiledBefore(): Buffer | undefined {
  try {
    return readFileSync(cachePath);
  } catch {
    return undefined;
  }
}

/** Nor would V8 take what was made under a debugger or a profiler: runs with flags of their own leave the cache alone. */
const plain = process.execArgv.length === 0 && !process.env["NODE_OPTIONS"] && !process.env["NODE_V8_COVERAGE"];

/** Functions that have run are in the cache, others are compiled when they are first called: so it is made at the end. */
function keep(script: Script, warmUp: () => void): void {
  try {
    warmUp();
    const unfinished = `${cachePath}.${process.pid}`;
    // V8 trusts what is behind the header: the name must never stand for half a file, not even after a power cut.
    writeFileSync(unfinished, script.createCachedData(), { flag: "wx", flush: true });
    renameSync(unfinished, cachePath);
  } catch {
    // A folder that is not ours to write: the next start compiles again.
  }
}

// import() of a script's own is an experiment still, and warns.
const importModule = (url: string): Promise<unknown> => import(url);

function startCommand(): void {
  const cachedData = compiledBefore();
  // esbuild writes ASCII only, which is read fastest as what it is.
  const script = new Script(`(function (exports, require, module, __filename, __dirname, importModule) {${readFileSync(path, "latin1")}\n})`, {
    filename: path, cachedData, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const command: { exports: Partial<Command> } = { exports: {} };
  script.runInThisContext()(command.exports, require, command, path, __dirname, importModule);
  const { exitNow, main, warmUp } = command.exports as Command;
  void main(process.argv.slice(2)).then(({ exitCode, traced }) => {
    if (traced && plain && (cachedData === undefined || script.cachedDataRejected)) keep(script, warmUp);
    // All is written and let go of: taking the heap apart would only take time.
    // (A profiler's report would be lost.)
    if (traced && plain) exitNow(exitCode);
    process.exit(exitCode);
  });
}

/** `strobe run FILE`: the command, which programs are no part of, need not be started. */
async function startProgram(file: string, args: readonly string[]): Promise<void> {
  // Node from 22.1 on keeps what it compiles of modules: the library's, and the program's.
  const compiled = plain && enableCompileCache ? ownFolder("compiled") : undefined;
  if (compiled !== undefined) enableCompileCache?.(compiled);
  const { runFile } = (await importModule(pathToFileURL(`${__dirname}/run-file.mjs`).href)) as typeof import("./run-file.ts");
  await runFile(file, args);
}

const [word, file, ...args] = process.argv.slice(2);
if (word === "run" && file !== undefined && isProgram(file)) void startProgram(file, args);
else startCommand();
