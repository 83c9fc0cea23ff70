// Which functions of the kernel share a name, kept on disk: telling that takes all of the kernel's symbols, which take longer to
// read than all else that a probe at one function needs.
import { cacheFolder } from "../linux/cache-folder.ts";
import type { Kallsyms } from "../linux/kallsyms.ts";
import { KeptFiles } from "../linux/kept-files.ts";
import { runningKernel } from "../linux/running-kernel.ts";

const file = "of-running-kernel";

/**
 * The names, of the kernel and its modules as they are loaded now. `kallsyms` is called where they are not known yet.
 * Symbols that are hidden from us share no names.
 */
export function sharedNames(kallsyms: () => Kallsyms, folder = cacheFolder("shared-names")): ReadonlySet<string> {
  const kept = new KeptFiles(folder, { files: 1 });
  const kernel = runningKernel();
  const key = kernel && JSON.stringify(kernel);
  const [found, ...known] = (key && kept.read(file)?.toString("latin1").split("\n")) || [];
  // What was cut short does not end with a line's end.
  if (found !== undefined && found === key && known.pop() === "") return new Set(known);
  const symbols = kallsyms();
  const names = new Set(symbols.sharedFunctions().keys());
  if (key !== undefined && symbols.size > 0) kept.write(file, `${key}\n${[...names].join("\n")}\n`);
  return names;
}
