#!/usr/bin/env node
// The entry. Compiling the command anew would take longer than all that a short script does, so V8's compiled code is kept
// in files beside the command's, for the next start. They are CommonJS for that, and because Node starts those fastest.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { pathToFileURL } from "node:url";
import { constants, Script } from "node:vm";
import { isProgram } from "./program-name.ts";
import { ownFolder } from "../rewrite/kept-modules.ts";

/** The command's files, named after their contents: parts.mjs knows. What every script runs, and the rest. */
declare const FIRST: string;
declare const REST: string;

type Modules = Readonly<Record<string, () => unknown>>;
type Command = typeof import("./main.ts") & { readonly modules: Modules };

const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (folder: string) => unknown };

// import() of a script's own is an experiment still, and warns.
const importModule = (url: string): Promise<unknown> => import(url);

/** Nor would V8 take what was made under a debugger or a profiler: runs with flags of their own leave the cache alone. */
const plain = process.execArgv.length === 0 && !process.env["NODE_OPTIONS"] && !process.env["NODE_V8_COVERAGE"];

/** A file of the command. */
class Part<Exports> {
  readonly exports: Exports;
  readonly #script: Script;
  // V8 takes a cache only of its own version and flags; it has no idea of what the code is.
  readonly #cachePath: string;
  readonly #known: boolean;

  constructor(name: string, requireFrom: (name: string) => unknown) {
    const path = `${__dirname}/${name}`;
    this.#cachePath = `${path}.${process.version}-${process.arch}.cache`;
    const cachedData = compiledBefore(this.#cachePath);
    // esbuild writes ASCII only, which is read fastest as what it is.
    this.#script = new Script(readFileSync(path, "latin1"), {
      filename: path, cachedData, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    this.#known = cachedData !== undefined && !this.#script.cachedDataRejected;
    const module: { exports: Partial<Exports> } = { exports: {} };
    this.#script.runInThisContext()(module.exports, requireFrom, module, path, __dirname, importModule);
    this.exports = module.exports as Exports;
  }

  /** Functions that have run are in the cache, others are compiled when they are first called: so it is made at the end. */
  keep(): void {
    if (this.#known) return;
    try {
      const unfinished = `${this.#cachePath}.${process.pid}`;
      // V8 trusts what is behind the header: the name must never stand for half a file, not even after a power cut.
      writeFileSync(unfinished, this.#script.createCachedData(), { flag: "wx", flush: true });
      renameSync(unfinished, this.#cachePath);
    } catch {
      // A folder that is not ours to write: the next start compiles again.
    }
  }

  get known(): boolean {
    return this.#known;
  }
}

function compiledBefore(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

let rest: Part<{ readonly modules: Modules }> | undefined;
const asked = new Map<string, unknown>();

/** `strobe:PATH` is a module of the command, in the part that did not ask for it. */
function requireFrom(name: string): unknown {
  if (!name.startsWith("strobe:")) return require(name);
  let module = asked.get(name);
  if (module === undefined) {
    const path = name.slice("strobe:".length);
    const load = first.exports.modules[path] ?? (rest ??= new Part(REST, requireFrom)).exports.modules[path];
    asked.set(name, (module = load()));
  }
  return module;
}

let first: Part<Command>;

function startCommand(): void {
  first = new Part(FIRST, requireFrom);
  const { exitNow, main, warmUp } = first.exports;
  void main(process.argv.slice(2)).then(({ exitCode, traced }) => {
    if (traced && plain) {
      if (!first.known) warmUp();
      first.keep();
      rest?.keep();
      // All is written and let go of: taking the heap apart would only take time.
      // (A profiler's report would be lost.)
      exitNow(exitCode);
    }
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
