// Which machine a folder of declarations is of: its files' first line tells.
import { readFileSync } from "node:fs";
import { machine, release, version } from "node:os";
import { join } from "node:path";
import { runningBuildId } from "../machine/kernel/kernel-build.ts";

export const title = "// Declarations by strobe types:";

/** The kernel that runs, and which build of it: two may have one version, and reproducible ones even one date. */
export function kernelName(): string {
  const build = runningBuildId();
  return `Linux ${release()} ${machine()}, ${version()}${build === undefined ? "" : `, build ${build}`}`;
}

/** The first line of a folder's index; undefined where there is none. */
export function aboutFolder(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, "index.d.ts"), "utf8").split("\n", 1)[0];
  } catch {
    return undefined;
  }
}

/** What to tell a person whose declarations are of another kernel than the one that runs. */
export function ofAnotherKernel(folder: string): string | undefined {
  const about = aboutFolder(folder);
  if (about === undefined || !about.startsWith(title) || about.startsWith(`${title} ${kernelName()};`))
    return undefined;
  const theirs = /Linux \S+/.exec(about)?.[0] ?? "another kernel";
  const here = `Linux ${release()}`;
  return `${folder} is of ${theirs === here ? "another build of " : ""}${theirs}${theirs === here ? "" : `, and this is ${here}`}; \`strobe types\` writes it anew`;
}
