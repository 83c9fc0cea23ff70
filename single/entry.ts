// What starts in the single file: the command, from V8's compiled code for it, as src/cli/launch.ts does it from files.
// (A snapshot of the heap has no compiled code in it, and starts later.)
import { writeFileSync } from "node:fs";
import { getRawAsset } from "node:sea";
import { Parts } from "../src/cli/parts.ts";
import { requireAsset } from "./assets.ts";

/**
 * The folder that compiled code is to be written to: in the file that is made to make it, else empty. build.mjs knows.
 */
declare const KEEP: string;
/** The parts by their contents. */
declare const BUILD: string;

const asset = (name: string): Buffer => Buffer.from(getRawAsset(name) as ArrayBuffer);
const parts = new Parts(
  (name) => ({
    // esbuild writes ASCII only, which is read fastest as what it is.
    source: asset(`${name}.js`).toString("latin1"),
    filename: process.execPath,
    folder: "/",
    compiled: KEEP === "" ? asset(`${name}.cache`) : undefined,
  }),
  requireAsset,
);
const { exitNow, main } = parts.command;

void main(process.argv.slice(2), BUILD).then(async ({ exitCode, traced }) => {
  if (KEEP !== "") await parts.keep((name, compiled) => writeFileSync(`${KEEP}/${name}.cache`, compiled));
  else if (traced) exitNow(exitCode);
  process.exit(exitCode);
});
