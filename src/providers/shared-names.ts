// Which functions of the kernel share a name, kept on disk: telling that takes all of the kernel's symbols, which take longer to
// read than all else that a probe at one function needs.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { cacheFolder } from "../linux/cache-folder.ts";
import type { Kallsyms } from "../linux/kallsyms.ts";
import { runningKernel } from "../linux/running-kernel.ts";

/**
 * The names, of the kernel and its modules as they are loaded now. `kallsyms` is called where they are not known yet.
 * Symbols that are hidden from us share no names.
 */
export function sharedNames(kallsyms: () => Kallsyms, folder = cacheFolder()): ReadonlySet<string> {
  const path = `${folder}/shared-names`;
  const key = keyOfKernel();
  const known = key === undefined ? undefined : read(path, key);
  if (known !== undefined) return known;
  const symbols = kallsyms();
  const names = new Set(symbols.sharedFunctions().keys());
  if (key !== undefined && symbols.size > 0) write(folder, path, `${key}\n${[...names].join("\n")}\n`);
  return names;
}

function keyOfKernel(): string | undefined {
  const kernel = runningKernel();
  return kernel && process.getBuiltinModule("node:crypto").createHash("sha1").update(`shared names 1\n${kernel}`).digest("hex");
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

function read(path: string, key: string): ReadonlySet<string> | undefined {
  const [found, ...names] = textOf(path)?.split("\n") ?? [];
  // What was cut short does not end with a line's end.
  return found === key && names.pop() === "" ? new Set(names) : undefined;
}

function write(folder: string, path: string, text: string): void {
  // Without it the next start reads all symbols again.
  try {
    mkdirSync(folder, { recursive: true });
  } catch {
    return;
  }
  const partial = `${path}.${process.pid}`;
  try {
    writeFileSync(partial, text, "latin1");
    renameSync(partial, path);
  } catch {
    rmSync(partial, { force: true });
  }
}
