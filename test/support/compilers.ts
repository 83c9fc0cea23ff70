// Programs of several compilers, for tests that hold for whatever made them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Why a test is skipped that needs a tool. */
export function missing(tool: string): string | false {
  return spawnSync(tool, ["--version"]).status === 0 ? false : `needs ${tool}`;
}

export function runTool(folder: string, command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

/** Compiles a source of the folder, with debug information; gives the program's path. */
export function compileWith(compiler: string, folder: string, source: string, name: string, ...flags: readonly string[]): string {
  const path = join(folder, name);
  runTool(folder, compiler, [...flags, "-g", "-o", path, source]);
  return path;
}
