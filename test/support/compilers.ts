// Programs of several compilers, for tests that hold for whatever made them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Of tools whose older versions do not compile the tests' programs: std::hint::black_box is of Rust 1.66. */
const oldest: Readonly<Record<string, readonly [major: number, minor: number]>> = { rustc: [1, 66] };

/** Why a test is skipped that needs a tool. */
export function missing(tool: string): string | false {
  const { status, stdout } = spawnSync(tool, ["--version"], { encoding: "utf8" });
  if (status !== 0) return `needs ${tool}`;
  const least = oldest[tool];
  if (least === undefined) return false;
  const [, major = 0, minor = 0] = (/ (\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
  return major > least[0] || (major === least[0] && minor >= least[1])
    ? false
    : `needs ${tool} ${least.join(".")} or later, and this is ${major}.${minor}`;
}

export function runTool(folder: string, command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

/** Compiles a source of the folder, with debug information; gives the program's path. */
export function compileWith(
  compiler: string,
  folder: string,
  source: string,
  name: string,
  ...flags: readonly string[]
): string {
  const path = join(folder, name);
  runTool(folder, compiler, [...flags, "-g", "-o", path, source]);
  return path;
}
