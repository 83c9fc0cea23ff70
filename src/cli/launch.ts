#!/usr/bin/env node
// The entry. Compiling the command anew would take longer than all that a short script does, so V8's compiled code is
// kept for the next start: see store/kept-code.ts. They are CommonJS for that, and because Node starts those fastest.
import { readFileSync } from "node:fs";
import { KeptCode } from "../store/kept-code.ts";
import { storePath } from "../store/place.ts";
import { Parts, type PartName } from "./parts.ts";
import { isProgram } from "../language/typescript/endings.ts";

/** The files of the command's parts, named after their contents: parts.mjs knows. */
declare const PARTS: Readonly<Record<PartName, string>>;

/**
 * Nor would V8 take what was made under a debugger or a profiler: runs with flags of their own leave the cache alone.
 */
const plain = process.execArgv.length === 0 && !process.env["NODE_OPTIONS"] && !process.env["NODE_V8_COVERAGE"];

const fileOf = (name: PartName): string => `${__dirname}/${PARTS[name]}`;
const kept = new KeptCode(__dirname);

const importModule = (name: string): Promise<unknown> =>
  import(process.getBuiltinModule("node:url").pathToFileURL(`${__dirname}/${name}`).href);

function startCommand(): void {
  const parts = new Parts(
    (name) => ({
      // esbuild writes ASCII only, which is read fastest as what it is.
      source: readFileSync(fileOf(name), "latin1"),
      filename: fileOf(name),
      folder: __dirname,
      compiled: kept.read(PARTS[name]),
    }),
    require,
    importModule,
  );
  const { exitNow, main } = parts.command;
  void main(words, Object.values(PARTS).join(" ")).then(async ({ exitCode, traced }) => {
    if (traced && plain) {
      await parts.keep((name, code) => kept.write(PARTS[name], code));
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
  const { enableCompileCache } = process.getBuiltinModule("node:module") as {
    readonly enableCompileCache?: (folder: string) => unknown;
  };
  const compiled = plain && enableCompileCache ? storePath("compiled") : undefined;
  if (compiled !== undefined) enableCompileCache?.(compiled);
  const { runFile } = (await importModule("run-file.mjs")) as typeof import("./run-file.ts");
  await runFile(file, args);
}

/** A link named after another tool is that subcommand. */
const tool = ["stap", "dtrace"].filter((name) => process.argv[1].endsWith(`/${name}`));
const words = [...tool, ...process.argv.slice(2)];
const [word, file, ...args] = words;
if (word === "run" && file !== undefined && isProgram(file)) void startProgram(file, args);
else startCommand();
