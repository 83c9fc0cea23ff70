// What starts in the single file: the command, from V8's compiled code for it, as src/cli/launch.ts does it from files. (A
// snapshot of the heap has no compiled code in it, and starts later.)
import { writeFileSync } from "node:fs";
import { getRawAsset } from "node:sea";
import { Script } from "node:vm";

/** Where the compiled code is to be written: in the file that is made to make it, else empty. build.mjs knows. */
declare const KEEP: string;

type Command = typeof import("../src/cli/main.ts");

// esbuild writes ASCII only, which is read fastest as what it is.
const source = Buffer.from(getRawAsset("command.js") as ArrayBuffer).toString("latin1");
const cachedData = KEEP === "" ? Buffer.from(getRawAsset("command.cache") as ArrayBuffer) : undefined;
const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, { filename: "strobe", cachedData });
const command: { exports: Partial<Command> } = { exports: {} };
script.runInThisContext()(command.exports, require, command, process.execPath, "/");
const { exitNow, main, warmUp } = command.exports as Command;

void main(process.argv.slice(2)).then(({ exitCode, traced }) => {
  if (KEEP !== "") {
    warmUp();
    writeFileSync(KEEP, script.createCachedData());
  } else if (traced) exitNow(exitCode);
  process.exit(exitCode);
});
